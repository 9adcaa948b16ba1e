//! Results as texts: the wrapping that the program puts around a tool's own words, and the messages of failures.

use super::super::markers;
use super::fields::FieldTaker;
use tooltrail_model::content::Content;
use tooltrail_model::detail::Saved;
use tooltrail_model::verdict::Marker;

/// The tool's own words: without reminders behind them, and without the wrapping of an output that was too large.
pub(super) fn own_words(text: &str) -> &str {
    let text = without_reminders(text);
    match preview(text) {
        Some((_, preview)) => preview,
        None => text,
    }
}

/// A text without the reminders that the program puts behind it.
pub(super) fn without_reminders(text: &str) -> &str {
    // One after the other from the end: several hooks and reminders may have added theirs.
    let mut rest = text;
    loop {
        let trimmed = rest.trim_end();
        let cut = trimmed.strip_suffix("</system-reminder>").and_then(|inner| inner.rfind("<system-reminder>"));
        match cut {
            Some(at) => rest = trimmed[..at].trim_end_matches(['\n', '\r']),
            None => return rest,
        }
    }
}

/// The reminder that is all of a text.
pub(super) fn only_reminder(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("<system-reminder>")?.strip_suffix("</system-reminder>")?;
    // Two reminders with words between them begin and end like one.
    (!inner.contains("<system-reminder>")).then_some(inner.trim())
}

/// The head and the preview in `<persisted-output>`.
fn preview(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim().strip_prefix("<persisted-output>")?;
    // A result that was cut may have lost the closing tag.
    let inner = inner.strip_suffix("</persisted-output>").unwrap_or(inner);
    let (head, rest) = inner.split_once("Preview (").unwrap_or((inner, ""));
    let preview = rest.split_once(":\n").map_or("", |(_, preview)| preview);
    Some((head, preview.strip_suffix('\n').unwrap_or(preview)))
}

/// The file that has the whole output.
pub(super) fn saved(text: &str, produced: &mut FieldTaker<'_>) -> Option<Saved> {
    if let Some(path) = produced.string("persistedOutputPath") {
        return Some(Saved { path, bytes: produced.number("persistedOutputSize") });
    }
    let text = text.trim();
    if let Some((head, _)) = preview(text) {
        let path = line_after(head, "Full output saved to: ")?;
        let size = head.split_once("too large (").and_then(|(_, rest)| rest.split_once(')')).and_then(|(size, _)| bytes(size));
        return Some(Saved { path: path.to_owned(), bytes: size });
    }
    // Answers of MCP servers, and of tasks whose output is cut.
    let mcp = text.contains("exceeds maximum allowed tokens").then(|| line_after(text, "Output has been saved to ")).flatten();
    let path = mcp.map(|path| path.trim_end_matches('.')).or_else(|| line_after(text, "[Truncated. Full output: ")?.strip_suffix(']'))?;
    Some(Saved { path: path.to_owned(), bytes: None })
}

/// The rest of the line behind a mark.
fn line_after<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(mark)?;
    let line = rest.lines().next()?.trim();
    (!line.is_empty()).then_some(line)
}

/// `80.4KB` as a number of bytes, within its precision.
fn bytes(size: &str) -> Option<u64> {
    let units = [("GB", 1024.0 * 1024.0 * 1024.0), ("MB", 1024.0 * 1024.0), ("KB", 1024.0), ("B", 1.0)];
    let (number, factor) = units.iter().find_map(|(unit, factor)| Some((size.trim().strip_suffix(unit)?, factor)))?;
    let number: f64 = number.trim().parse().ok()?;
    (number >= 0.0 && number.is_finite()).then_some((number * factor).round() as u64)
}

/// The message of a failure, without the program's words around it for the model. `None` if there is nothing else.
pub(super) fn error(text: &str) -> Option<String> {
    let bare = unwrapped(text);
    let own = match markers::of(bare) {
        // The status says it already, and the person's words are kept as feedback.
        Some(Marker::Rejected | Marker::RejectedWithFeedback | Marker::AfterRejection) => return None,
        Some(Marker::Interrupted) if bare.starts_with("[Request interrupted") => return None,
        Some(Marker::Hook) => markers::hook_error(bare).map_or(bare, |(_, _, words)| words),
        _ => markers::exit_code(bare).map_or(bare, |(_, rest)| rest),
    };
    let own = own.trim_matches(['\n', '\r']).trim_end();
    (!own.is_empty()).then(|| own.to_owned())
}

/// The code of an error that a tool on the service's side gives as an object.
pub(super) fn error_code(seen: &[Content]) -> Option<&str> {
    seen.iter().find_map(|content| if let Content::Other { value } = content { value.get("error_code")?.as_str() } else { None })
}

/// A text without `<tool_use_error>` and `Error: ` around it.
pub(super) fn unwrapped(text: &str) -> &str {
    // Only line feeds are taken off in front: the first line may be indented.
    let text = text.trim_end().trim_start_matches(['\n', '\r']);
    let text = text.strip_prefix("<tool_use_error>").map_or(text, |rest| rest.strip_suffix("</tool_use_error>").unwrap_or(rest).trim());
    text.strip_prefix("Error: ").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_in_their_own_words() {
        let table = [
            ("<tool_use_error>Error: No such tool available: X</tool_use_error>", Some("No such tool available: X")),
            ("Exit code 2\nls: no such file\n", Some("ls: no such file")),
            ("Exit code 1", None),
            ("PreToolUse:Bash hook error: [guard.sh]: no rm here", Some("no rm here")),
            ("The user doesn't want to proceed with this tool use. The tool use was rejected. … the user said:\nuse rg", None),
            ("[Request interrupted by user for tool use]", None),
        ];
        for (text, expected) in table {
            assert_eq!(error(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn large_outputs_say_where_they_are() {
        let text = "<persisted-output>\nOutput too large (80.5KB). Full output saved to: /h/x.txt\n\nPreview (first 2KB):\none\ntwo\n</persisted-output>";
        assert_eq!(own_words(text), "one\ntwo");
        assert_eq!(saved(text, &mut FieldTaker::default()), Some(Saved { path: "/h/x.txt".into(), bytes: Some(82_432) }));
        assert_eq!(saved("plain", &mut FieldTaker::default()), None);
    }

    #[test]
    fn reminders_behind_a_text_are_left_out() {
        assert_eq!(own_words("a\n\n<system-reminder>\nx\n</system-reminder>\n<system-reminder>y</system-reminder>\n"), "a");
        assert_eq!(own_words("a <system-reminder> b"), "a <system-reminder> b");
        assert_eq!(only_reminder("<system-reminder>empty</system-reminder>"), Some("empty"));
    }
}
