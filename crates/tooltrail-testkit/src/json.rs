//! Writes JSON from text that is already escaped.
//!
//! The corpus must be written at memory speed, so its text is escaped once, in pools, and only copied here. Nothing is
//! checked: the tests of `corpus` parse the result.

/// An object being written; keys appear in the order of the calls.
pub(crate) struct Object<'o> {
    out: &'o mut String,
    empty: bool,
}

/// Appends one object to `out`.
pub(crate) fn object(out: &mut String, fill: impl FnOnce(&mut Object<'_>)) {
    out.push('{');
    // Written straight into the buffer: an object per record in memory would halve the speed.
    fill(&mut Object { out: &mut *out, empty: true });
    out.push('}');
}

/// One object as a string of its own.
pub(crate) fn text_of(fill: impl FnOnce(&mut Object<'_>)) -> String {
    let mut out = String::new();
    object(&mut out, fill);
    out
}

/// A string value: `escaped` between quotes.
pub(crate) fn quoted(escaped: &str) -> String {
    format!("\"{escaped}\"")
}

/// An array of JSON values.
pub(crate) fn list<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> String {
    let mut out = String::from("[");
    // Values are JSON already; only the commas are missing.
    for (index, value) in values.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(value.as_ref());
    }
    out.push(']');
    out
}

impl Object<'_> {
    fn key(&mut self, key: &str) {
        // A comma before every key but the first.
        if !std::mem::replace(&mut self.empty, false) {
            self.out.push(',');
        }
        self.out.push('"');
        self.out.push_str(key);
        self.out.push_str("\":");
    }

    /// A string, already escaped.
    pub(crate) fn text(&mut self, key: &str, escaped: &str) -> &mut Self {
        self.key(key);
        self.out.push('"');
        self.out.push_str(escaped);
        self.out.push('"');
        self
    }

    /// Any value that is already JSON.
    pub(crate) fn raw(&mut self, key: &str, json: &str) -> &mut Self {
        self.key(key);
        self.out.push_str(json);
        self
    }

    pub(crate) fn number(&mut self, key: &str, value: usize) -> &mut Self {
        self.raw(key, &value.to_string())
    }

    pub(crate) fn flag(&mut self, key: &str, value: bool) -> &mut Self {
        self.raw(key, if value { "true" } else { "false" })
    }

    /// A string or `null`.
    pub(crate) fn maybe(&mut self, key: &str, escaped: Option<&str>) -> &mut Self {
        match escaped {
            Some(escaped) => self.text(key, escaped),
            None => self.raw(key, "null"),
        }
    }

    /// An object inside this one.
    pub(crate) fn object(&mut self, key: &str, fill: impl FnOnce(&mut Object<'_>)) -> &mut Self {
        self.key(key);
        object(self.out, fill);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_every_kind_of_value() {
        let written = text_of(|o| {
            o.text("a", "x\\n")
                .number("b", 3)
                .flag("c", true)
                .maybe("d", None)
                .maybe("e", Some("y"))
                .raw("f", &list([quoted("z"), "1".to_owned()]))
                .object("g", |_| ());
        });
        assert_eq!(written, r#"{"a":"x\n","b":3,"c":true,"d":null,"e":"y","f":["z",1],"g":{}}"#);
    }
}
