//! A conversation that another program sent as JSON in place of a prompt: `[{"role":"user","content":…},…]`, as Roo Code does with its own
//! history. The person's words stand inside, between tool results and descriptions of the editor.

use tooltrail_skim::{Skim, Torn};

/// Tags around the words of the person, in texts that hold more than these.
const WORDS: &[&str] = &["task", "feedback", "user_message", "answer"];

/// Beginnings of texts that the other program wrote in the person's name.
const PROGRAM: &[&str] = &["<environment_details>", "[ERROR]", "[TASK RESUMPTION]", "<conversation_summary>"];

/// The last words of the person in a text that is such a conversation as a whole; empty where the person wrote nothing.
pub(super) fn last_words(text: &str) -> Option<String> {
    let text = text.trim();
    if !may_be(text) {
        return None;
    }
    let mut skim = Skim::new(text.as_bytes());
    let (mut words, mut spoken) = (String::new(), false);
    skim.array(|message| {
        let (mut texts, mut role) = (Vec::new(), None);
        message.object(|key, value| {
            match key.as_bytes() {
                b"role" => role = value.string().map(|role| role.text().into_owned()),
                b"content" => texts = contents(value)?,
                _ => {}
            }
            Ok(())
        })?;
        spoken |= role.is_some();
        if role.as_deref() == Some("user") {
            texts.iter().filter_map(|text| own(text)).for_each(|own| words = own.to_owned());
        }
        Ok(())
    })
    .ok()?;
    // Words behind the JSON mean that a person has pasted it.
    (skim.finished() && spoken).then_some(words)
}

/// Whether a text may be a conversation, from its beginning. Nearly none is, and only these are decoded as a whole.
pub(super) fn may_be(text: &str) -> bool {
    let object = text.trim_start().strip_prefix('[').and_then(|inner| inner.trim_start().strip_prefix('{'));
    object.is_some_and(|inner| inner.trim_start().starts_with("\"role\""))
}

/// The texts of a message: one, or a list of blocks.
fn contents(value: &mut Skim<'_>) -> Result<Vec<String>, Torn> {
    if let Some(text) = value.string() {
        return Ok(vec![text.text().into_owned()]);
    }
    let mut texts = Vec::new();
    value.array(|block| {
        block.object(|key, value| {
            if key.as_bytes() == b"text" {
                texts.extend(value.string().map(|text| text.text().into_owned()));
            }
            Ok(())
        })
    })?;
    Ok(texts)
}

/// The person's words in a text: those between their tags, else all of it, unless the other program wrote it.
fn own(text: &str) -> Option<&str> {
    let tagged = WORDS.iter().find_map(|name| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(words, _)| words.trim())
    });
    let text = text.split("<environment_details>").next().unwrap_or(text).trim();
    // `[read_file for 'a.rs'] Result:` is the answer to a call.
    let result = text.starts_with('[') && text.lines().next().is_some_and(|line| line.contains("] Result:"));
    let program = result || PROGRAM.iter().any(|beginning| text.starts_with(beginning));
    tagged.or(Some(text).filter(|_| !program)).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_persons_last_words_are_found_inside() {
        let task = r#"{"role":"user","content":[{"type":"text","text":"<task>\nmend the \"roof\"\n</task>"},{"type":"text","text":"<environment_details>\n# Open tabs\n</environment_details>"}]}"#;
        let result = r#"{"role":"user","content":[{"type":"text","text":"[read_file for 'a.rs'] Result:"},{"type":"text","text":"<environment_details>x</environment_details>"}]}"#;
        let feedback =
            r#"{"role":"user","content":[{"type":"text","text":"[attempt_completion] Result:\n\n<feedback>\nand the door\n</feedback>"}]}"#;
        let words = |messages: &[&str]| last_words(&format!("[{}]", messages.join(",")));
        assert_eq!(words(&[task]).as_deref(), Some("mend the \"roof\""));
        assert_eq!(words(&[task, r#"{"role":"assistant","content":"ok"}"#, result]).as_deref(), Some("mend the \"roof\""));
        assert_eq!(words(&[task, result, feedback]).as_deref(), Some("and the door"));
        assert_eq!(words(&[r#"{"role":"user","content":"plain words"}"#]).as_deref(), Some("plain words"));
        assert_eq!(words(&[result]).as_deref(), Some(""));
    }

    #[test]
    fn pasted_or_torn_json_is_the_persons_own() {
        for text in
            ["[{\"role\":\"user\",\"content\":\"a\"}] what is this?", "[{\"role\":\"user\",\"content\":\"a\"", "[{\"role\"", "[1]", "words"]
        {
            assert_eq!(last_words(text), None, "{text}");
        }
    }
}
