//! Text made once, escaped once and copied ever after: prose, source files, console output, base64.
//!
//! Sessions quote from these pools, which lets the generator write at the speed of a copy.

use super::words::Words;
use crate::rng::Rng;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const EXTENSIONS: &[&str] = &["rs", "ts", "py", "go", "java", "md", "toml", "sql"];

/// A line break inside of a JSON string.
pub(super) const BREAK: &str = "\\n";

/// All texts that the sessions quote.
pub(super) struct Pool {
    pub(super) words: Words,
    prose: String,
    /// Positions where `prose` may be cut: before a word, never inside an escape.
    cuts: Vec<usize>,
    pub(super) files: Vec<SourceFile>,
    console: EscapedLines,
    coloured: EscapedLines,
    base64: String,
}

/// A source file of the imagined projects.
pub(super) struct SourceFile {
    pub(super) path: String,
    pub(super) plain: EscapedLines,
    /// Lines as the Read tool shows them, each after its number.
    pub(super) numbered: EscapedLines,
}

/// Escaped lines; any run of them is one slice.
#[derive(Default)]
pub(super) struct EscapedLines {
    text: String,
    starts: Vec<usize>,
}

impl EscapedLines {
    fn push(&mut self, escaped: &str) {
        self.starts.push(self.text.len());
        self.text.push_str(escaped);
        self.text.push_str(BREAK);
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Up to `count` lines from `from` on, joined by escaped breaks.
    pub(super) fn run(&self, from: usize, count: usize) -> &str {
        let end = |line: usize| self.starts.get(line).copied().unwrap_or(self.text.len());
        // Offsets of whole lines, so that a run never cuts an escape.
        let (start, end) = (end(from), end(from.saturating_add(count)));
        self.text[start..end].strip_suffix(BREAK).unwrap_or("")
    }

    /// The longest run of `count` lines or fewer that has no more than `bytes`.
    fn run_within(&self, from: usize, count: usize, bytes: usize) -> &str {
        let limit = self.starts[from] + bytes;
        let fitting = self.starts.partition_point(|start| *start <= limit);
        self.run(from, count.min(fitting.saturating_sub(from + 1)))
    }
}

impl Pool {
    /// Pools large enough for a corpus of `bytes`, and small enough to be made quickly for a small one.
    pub(super) fn new(bytes: u64, rng: &mut Rng) -> Self {
        let words = Words::new(rng);
        // Bounded on both sides: a small corpus still needs variety, a large one must not wait for its pools.
        let scale = |per: u64, low: usize, high: usize| ((bytes / per) as usize).clamp(low, high);
        let (prose, cuts) = prose(&words, rng, scale(500, 20_000, 400_000));
        let files = (0..scale(400_000, 60, 1200)).map(|_| file(&words, rng)).collect();
        let mut console = EscapedLines::default();
        let mut coloured = EscapedLines::default();
        for _ in 0..scale(50_000, 1500, 12_000) {
            let line = console_line(&words, rng);
            console.push(&line);
            coloured.push(&format!("\\u001b[{}m{line}\\u001b[0m", rng.pick(&[31, 32, 33, 36])));
        }
        let base64 = (0..1 << 20).map(|_| rng.pick(BASE64) as char).collect();
        Self { words, prose, cuts, files, console, coloured, base64 }
    }

    /// Between `low` and `high` words of prose.
    pub(super) fn prose(&self, rng: &mut Rng, low: usize, high: usize) -> &str {
        let count = rng.between(low, high).min(self.cuts.len() - 1);
        let from = rng.below(self.cuts.len() - count);
        self.prose[self.cuts[from]..self.cuts[from + count]].trim_end()
    }

    /// A short phrase without any escape, for titles and descriptions.
    pub(super) fn phrase(&self, rng: &mut Rng) -> String {
        let count = rng.between(3, 6);
        self.words.joined(rng, count, " ")
    }

    pub(super) fn file(&self, rng: &mut Rng) -> &SourceFile {
        &self.files[rng.below(self.files.len())]
    }

    /// Up to `lines` lines of command output, at most 30 kB: the agent cuts there.
    pub(super) fn console(&self, rng: &mut Rng, lines: usize) -> &str {
        let from = if rng.chance(0.3) { &self.coloured } else { &self.console };
        from.run_within(rng.below(from.len()), lines, 30_000)
    }

    /// `len` characters of base64.
    pub(super) fn base64(&self, rng: &mut Rng, len: usize) -> String {
        let mut out = String::with_capacity(len);
        while out.len() < len {
            let part = (len - out.len()).min(1 << 16);
            // Overlapping parts of one pool; that they repeat does not matter for base64.
            let from = rng.below(self.base64.len() - part);
            out.push_str(&self.base64[from..from + part]);
        }
        out
    }
}

fn prose(words: &Words, rng: &mut Rng, count: usize) -> (String, Vec<usize>) {
    let (mut text, mut cuts) = (String::new(), Vec::with_capacity(count));
    while cuts.len() < count {
        let length = rng.between(5, 15);
        // Some sentences have escapes, lists or characters of several bytes, as real prose does.
        let (before, after) = rng.weighted(&[
            (66, ("", ".")),
            (10, ("`", "`")),
            (8, ("\\n- ", ";")),
            (6, ("\\n\\n", ":")),
            (4, ("\\\"", "\\\"")),
            (3, ("→ ", " ✓")),
            (2, ("測定 ", " 🚢")),
            (1, ("« ", " »…")),
        ]);
        for place in 0..length {
            cuts.push(text.len());
            // Marks stand at the first and last word, so a cut between them leaves them unbalanced, as quoted prose often
            // is.
            if place == 0 {
                text.push_str(before);
            }
            text.push_str(words.word(rng));
            if place + 1 == length {
                text.push_str(after);
            }
            text.push(' ');
        }
    }
    (text, cuts)
}

fn file(words: &Words, rng: &mut Rng) -> SourceFile {
    let depth = rng.between(1, 3);
    let path = format!("/home/sam/src/{}/{}.{}", words.joined(rng, depth, "/"), words.name(rng), rng.pick(EXTENSIONS));
    let (mut plain, mut numbered) = (EscapedLines::default(), EscapedLines::default());
    for number in 1..=rng.long_tailed(124.0, 0.82).min(1200) + 12 {
        let line = code_line(words, rng);
        numbered.push(&format!("{number:6}→{line}"));
        plain.push(&line);
    }
    SourceFile { path, plain, numbered }
}

/// One escaped line of code, in no particular language.
pub(super) fn code_line(words: &Words, rng: &mut Rng) -> String {
    // Tabs are escaped in JSON, so some files must have them.
    let indent = if rng.chance(0.15) { "\\t".repeat(rng.between(1, 3)) } else { "    ".repeat(rng.run(0.6).min(5)) };
    let (a, b) = (words.name(rng), words.name(rng));
    let number = rng.below(10_000);
    let body = match rng.below(20) {
        // Empty lines have no indentation either.
        0 | 1 => return String::new(),
        2..=4 => format!("# {}", words.joined(rng, 7, " ")),
        5..=7 => format!("const {a} = {b}.load({number}, \\\"{}\\\");", words.word(rng)),
        8 | 9 => format!("{a}.{b}[{number}] += {};", words.name(rng)),
        10 | 11 => "}".to_owned(),
        12 | 13 => format!("when {a} > {number} and not {b}:"),
        14 | 15 => format!("{a} = \\\"{}\\\"", words.joined(rng, 3, " ")),
        16 | 17 => format!("def {a}({b}: int, {}: str) -> {}:", words.word(rng), words.word(rng)),
        18 => format!("log.debug('{a} %d\\\\n', {b})"),
        _ => format!("raise {a}(\\\"{}\\\", cause={b})", words.joined(rng, 4, " ")),
    };
    indent + &body
}

/// One escaped line as builds and tests print.
fn console_line(words: &Words, rng: &mut Rng) -> String {
    let (name, number) = (words.name(rng), rng.below(90_000));
    match rng.below(10) {
        0..=3 => format!("ok {number} - {name}::{} ({} ms)", words.name(rng), rng.below(400)),
        4 | 5 => format!("-rw-r--r--  1 sam  staff  {number:>7} {name}.{}", rng.pick(EXTENSIONS)),
        6 => format!("warning: `{name}` is set but {}", words.joined(rng, 6, " ")),
        7 => format!("  {number} | \\\"{}\\\"", words.joined(rng, 5, " ")),
        8 => format!("[{:02}:{:02}] {}", number / 3600 % 24, number % 60, words.joined(rng, 9, " ")),
        _ => format!("+ {name} {}", words.joined(rng, 4, "/")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_lines_joined_by_breaks() {
        let mut lines = EscapedLines::default();
        for line in ["one", "two", "three"] {
            lines.push(line);
        }
        assert_eq!(lines.run(0, 2), "one\\ntwo");
        assert_eq!(lines.run(1, 99), "two\\nthree");
        assert_eq!(lines.run(3, 1), "");
        assert_eq!(lines.run_within(0, 3, 9), "one");
    }

    #[test]
    fn every_cut_of_prose_is_a_json_string() {
        let mut rng = Rng::new(4);
        let pool = Pool::new(0, &mut rng);
        for _ in 0..500 {
            let cut = pool.prose(&mut rng, 1, 40);
            let value: Result<String, _> = serde_json::from_str(&format!("\"{cut}\""));
            assert!(value.is_ok(), "{cut}");
        }
    }
}
