//! Compares two outputs, and shows the first difference.

/// Fields of JSON that only the newer program prints.
pub(crate) struct Ignored(Vec<String>);

impl Ignored {
    /// Fields by name, separated by commas.
    pub(crate) fn fields(names: &str) -> Self {
        Ignored(names.split(',').filter(|name| !name.is_empty()).map(|name| format!(",\"{name}\":")).collect())
    }

    /// A line without these fields.
    fn stripped(&self, line: &str) -> String {
        self.0.iter().fold(line.to_owned(), |line, key| {
            let mut out = String::with_capacity(line.len());
            let mut rest = line.as_str();
            while let Some((before, after)) = rest.split_once(key.as_str()) {
                out.push_str(before);
                rest = &after[value_length(after)..];
            }
            out + rest
        })
    }
}

/// Length in bytes of the JSON value at the beginning of a text.
fn value_length(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => depth -= 1,
            // The end of the object or list around the value, or the next field.
            b'}' | b']' | b',' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// The first line in which two outputs differ, as both have it.
pub(crate) fn first_difference(old: &[u8], new: &[u8], ignored: &Ignored) -> Option<String> {
    // Nearly all outputs are equal, and need no splitting into lines.
    if old == new {
        return None;
    }
    let (old, new) = (without_run(&String::from_utf8_lossy(old)), without_run(&String::from_utf8_lossy(new)));
    let (mut old_lines, mut new_lines) = (old.lines(), new.lines());
    for number in 1_usize.. {
        let pair = (old_lines.next(), new_lines.next());
        if pair == (None, None) {
            break;
        }
        let stripped = |line: Option<&str>| line.map(|line| ignored.stripped(line));
        let (old, new) = (stripped(pair.0), stripped(pair.1));
        if old != new {
            let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
            // One may be the beginning of the other: then they differ at its end.
            let at = old.bytes().zip(new.bytes()).position(|(old, new)| old != new).unwrap_or(old.len().min(new.len()));
            return Some(format!("  line {number}, byte {at}\n  - {}\n  + {}", around(&old, at), around(&new, at)));
        }
    }
    None
}

/// The text around a place in a line.
fn around(line: &str, at: usize) -> String {
    // A line of JSON may be megabytes long.
    let start = line.floor_char_boundary(at.saturating_sub(60));
    let end = line.floor_char_boundary((at + 100).min(line.len()));
    line.get(start..end).unwrap_or_default().to_owned()
}

/// An output without what belongs to one run of a program: versions of sessions, how long reading took, where the demo was laid out.
fn without_run(page: &str) -> String {
    let hex = |letter: char| letter.is_ascii_hexdigit();
    let timed = |letter: char| letter.is_ascii_digit() || letter == '.';
    let page = [("v=", &hex as &dyn Fn(char) -> bool), ("data-v=\"", &hex), ("read in ", &timed), ("ready in ", &timed)]
        .iter()
        .fold(page.to_owned(), |page, (key, run)| without_after(&page, key, run));
    let page = without_fingerprints(&page);
    without_before(&page, "/demo/.", |letter| !matches!(letter, '"' | '>' | ' ' | ';'))
}

/// A page without the fingerprints in the names of its scripts and style sheets: one changed script would hide all other differences.
fn without_fingerprints(page: &str) -> String {
    let mut pieces = page.split("/assets/");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |page, piece| {
        let name = piece.split(['"', ' ', '>']).next().unwrap_or_default();
        let plain = name.rsplit_once('-').map_or(name, |(plain, _)| plain);
        page + "/assets/" + plain + &piece[name.len()..]
    })
}

/// A text without the letters that follow each `key`.
fn without_after(text: &str, key: &str, run: impl Fn(char) -> bool) -> String {
    let mut pieces = text.split(key);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + key + piece.trim_start_matches(&run))
}

/// A text without the letters that stand before each `key`.
fn without_before(text: &str, key: &str, run: impl Fn(char) -> bool) -> String {
    let mut pieces = text.split(key).peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(piece) = pieces.next() {
        match pieces.peek() {
            Some(_) => out.extend([piece.trim_end_matches(&run), key]),
            None => out.push_str(piece),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_fields_are_no_difference() {
        let ignored = Ignored::fields("about,inner");
        let (old, new) = (r#"{"a":1,"b":[2]}"#, r#"{"a":1,"about":"x,\"}","inner":{"c":[1,2]},"b":[2],"inner":null}"#);
        assert_eq!(first_difference(old.as_bytes(), new.as_bytes(), &ignored), None);
        assert!(first_difference(old.as_bytes(), new.as_bytes(), &Ignored::fields("about")).is_some());
    }

    #[test]
    fn the_first_difference_is_shown() {
        let shown = first_difference(b"same\none", b"same\ntwo", &Ignored::fields("")).unwrap();
        assert!(shown.contains("line 2, byte 0") && shown.contains("- one") && shown.contains("+ two"));
        assert!(first_difference(b"a\n", b"a\nb\n", &Ignored::fields("")).is_some());
    }

    #[test]
    fn two_runs_of_a_server_look_the_same() {
        let page =
            |version: &str, place: &str| format!("<a data-v=\"{version}\" href=\"/s/x?v={version}&a\" title=\"/tmp/{place}/demo/.x\">");
        assert_eq!(without_run(&page("09af", "one")), without_run(&page("7", "two/three")));
        assert_ne!(without_run(&page("09af", "one")), without_run("<a>"));
    }
}
