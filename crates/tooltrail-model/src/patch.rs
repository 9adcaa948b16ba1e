//! Changes of a call to files, independent of how its agent records them.

/// Change to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// The file, as the agent names it.
    pub path: String,
    /// Its new name, where it is moved.
    pub moved_to: Option<String>,
    /// Kind of change.
    pub change: FileChange,
    /// The hunks; an added or deleted file is one hunk.
    pub hunks: Vec<Hunk>,
    /// The whole added or deleted text, where the log has it exactly.
    pub content: Option<String>,
}

/// Kind of change to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Created.
    Add,
    /// Deleted.
    Delete,
    /// Edited.
    Update,
}

/// A group of adjacent changed lines with their context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// First line before the change, counted from 1; `None` where the log does not say.
    pub old_start: Option<u32>,
    /// The first line after the change.
    pub new_start: Option<u32>,
    /// Lines that identify the place, such as the head of a function.
    pub context: Vec<String>,
    /// The lines, in order.
    pub lines: Vec<PatchLine>,
    /// Whether it is at the end of the file.
    pub at_end: bool,
    /// Whether the last line before the change had no line feed, according to the log.
    pub old_unended: bool,
    /// Whether the last line after the change has none.
    pub new_unended: bool,
}

impl Hunk {
    /// Adds a line of a patch. `\ No newline at end of file` is not one: it refers to the line before it.
    pub fn take(&mut self, line: &str) {
        if !line.starts_with('\\') {
            self.lines.push(PatchLine::parse(line));
            return;
        }
        match self.lines.last() {
            Some(PatchLine::Same(_)) => (self.old_unended, self.new_unended) = (true, true),
            Some(PatchLine::Removed(_)) => self.old_unended = true,
            Some(PatchLine::Added(_)) => self.new_unended = true,
            // Without a line before it, the remark refers to nothing.
            None => {}
        }
    }
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchLine {
    /// Kept.
    Same(String),
    /// Removed.
    Removed(String),
    /// Added.
    Added(String),
}

impl PatchLine {
    /// Parses a line of a patch: a sign and the text. A line without a sign is kept; some writers leave out the space.
    pub fn parse(line: &str) -> Self {
        match line.split_at_checked(1) {
            Some(("+", text)) => PatchLine::Added(text.to_owned()),
            Some(("-", text)) => PatchLine::Removed(text.to_owned()),
            Some((" ", text)) => PatchLine::Same(text.to_owned()),
            _ => PatchLine::Same(line.to_owned()),
        }
    }
}

/// The hunks of a unified diff, with their line numbers.
pub fn unified(diff: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    // A carriage return before the line feed belongs to the line.
    for line in diff.split_terminator('\n') {
        if let Some(rest) = line.strip_prefix("@@") {
            hunks.push(head(rest));
            continue;
        }
        // Lines before the first hunk name the files.
        if let Some(hunk) = hunks.last_mut() {
            hunk.take(line);
        }
    }
    hunks
}

/// Parses the head of a hunk: ` -9,2 +9,6 @@ fn main()`.
fn head(rest: &str) -> Hunk {
    // A head without the second `@@` is tolerated; it may still have line numbers.
    let (ranges, context) = rest.split_once("@@").unwrap_or((rest, ""));
    let start = |sign: char| {
        let range = ranges.split_whitespace().find_map(|word| word.strip_prefix(sign))?;
        range.split(',').next()?.parse().ok()
    };
    let context = Some(context.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
    Hunk { old_start: start('-'), new_start: start('+'), context: context.into_iter().collect(), ..Hunk::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unified_diffs_keep_their_line_numbers() {
        let hunks = unified(
            "--- a\n+++ b\n@@ -9,2 +9,3 @@ fn main()\n same\n-old\n+new\n+more\n\\ No newline at end of file\n@@ -40 +41 @@\n-x\n+y\n",
        );
        assert_eq!(hunks.len(), 2);
        assert_eq!((hunks[0].old_start, hunks[0].new_start), (Some(9), Some(9)));
        assert_eq!(hunks[0].context, ["fn main()"]);
        assert_eq!(hunks[0].lines.len(), 4);
        assert_eq!((hunks[0].old_unended, hunks[0].new_unended), (false, true));
        assert_eq!((hunks[1].old_start, hunks[1].new_start), (Some(40), Some(41)));
        assert_eq!(hunks[1].lines, [PatchLine::Removed("x".into()), PatchLine::Added("y".into())]);
        assert!(unified("no diff").is_empty());
        assert_eq!(unified("@@ -1 +1 @@\n-x\r\n+y\n")[0].lines, [PatchLine::Removed("x\r".into()), PatchLine::Added("y".into())]);
    }
}
