//! Measures how easily the sources read: names of types, openings of doc comments, reasons beside the code, long functions and
//! copied lines.
//!
//! Every measure is a function over the texts of the sources that returns a share and the places that spoil it; the tests at the
//! end show each of them failing. `cargo test -p xtask --test structure -- --nocapture` prints the measures.

use super::{Entries, names, read, sources};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

/// Most types, in percent, that may share their name with another.
const MOST_SHARED_NAMES: f64 = 10.0;
/// Most doc comments, in percent, that may open with one of [`VAGUE`].
const MOST_VAGUE_OPENINGS: f64 = 5.0;
/// Fewest `//` lines per 100 lines of code.
const FEWEST_REASONS: f64 = 4.0;
/// Most windows of [`WINDOW`] lines, in percent, that may stand elsewhere too.
const MOST_COPIES: f64 = 0.5;

/// Openings of doc comments that make the reader wait for the thing itself.
const VAGUE: &[&str] = &["What", "Who", "It", "The same", "That", "Where"];
const LONGEST_FUNCTION: usize = 60;
const WINDOW: usize = 8;
/// Lines with fewer letters and digits, such as `})?;`, are no sign of a copy.
const FEWEST_LETTERS: usize = 3;

/// A source file: its path from the repository's root, and its text.
struct SourceText {
    path: String,
    text: String,
}

/// A count of the sources, and the places that raise it.
struct Measure {
    found: usize,
    of: usize,
    places: Vec<String>,
}

impl Measure {
    fn percent(&self) -> f64 {
        let count = |number: usize| u32::try_from(number).map_or(f64::MAX, f64::from);
        // Sources without a single type or comment break no rule.
        if self.of == 0 { 0.0 } else { 100.0 * count(self.found) / count(self.of) }
    }
}

#[test]
fn the_sources_stay_readable() {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("run this test with `cargo test`");
    let files = all_sources(&Path::new(&own).join(".."));
    assert!(!files.is_empty(), "no sources above {own}");
    let (shared, vague, reasons) = (shared_names(&files), vague_openings(&files), reasons(&files));
    let (long, copies) = (long_functions(&files), copies(&files));
    println!("types that share a name: {:.1} % ({} of {})", shared.percent(), shared.found, shared.of);
    println!("doc comments with a vague opening: {:.1} % ({} of {})", vague.percent(), vague.found, vague.of);
    println!("`//` lines per 100 lines of code: {:.2} ({} of {})", reasons.percent(), reasons.found, reasons.of);
    println!("functions over {LONGEST_FUNCTION} lines: {}", long.found);
    println!("copied windows of {WINDOW} lines: {:.2} % ({} of {})", copies.percent(), copies.found, copies.of);

    let mut wrong = String::new();
    let mut check = |kept: bool, rule: &str, measure: &Measure| {
        if !kept {
            let _ = write!(wrong, "\n{rule}:\n  {}", measure.places.join("\n  "));
        }
    };
    check(shared.percent() <= MOST_SHARED_NAMES, "too many types share a name; name each for what it is", &shared);
    check(vague.percent() <= MOST_VAGUE_OPENINGS, "too many doc comments open vaguely; open with the thing's noun or verb", &vague);
    check(reasons.percent() >= FEWEST_REASONS, "too few `//` lines; say why where a reader would wonder", &reasons);
    check(long.found == 0, "functions are too long; split them by their steps", &long);
    check(copies.percent() <= MOST_COPIES, "too much is copied; share it", &copies);
    assert!(wrong.is_empty(), "{wrong}");
}

/// Every source of the workspace's crates and of xtask, without tests, benches and examples beside `src/`.
fn all_sources(root: &Path) -> Vec<SourceText> {
    let crates = names(&root.join("crates"), &Entries::Folders);
    let members = crates.iter().map(|name| format!("crates/{name}/src")).chain(["xtask/src".to_owned()]);
    let paths = members.flat_map(|member| sources(&root.join(member)));
    paths.map(|path| SourceText { path: path.strip_prefix(root).unwrap_or(&path).display().to_string(), text: read(&path) }).collect()
}

/// Declared types whose name is declared somewhere else too.
fn shared_names(files: &[SourceText]) -> Measure {
    let mut declared: HashMap<&str, Vec<&str>> = HashMap::new();
    for file in files {
        for name in file.text.lines().filter_map(declared_type) {
            declared.entry(name).or_default().push(&file.path);
        }
    }
    let of = declared.values().map(Vec::len).sum();
    let shared = || declared.iter().filter(|(_, paths)| paths.len() > 1);
    let mut places: Vec<String> = shared().map(|(name, paths)| format!("{name}: {}", paths.join(", "))).collect();
    places.sort();
    Measure { found: shared().map(|(_, paths)| paths.len()).sum(), of, places }
}

/// The name of the type that a line declares.
fn declared_type(line: &str) -> Option<&str> {
    // An indented `type` belongs to a trait or its implementation, which choose its name.
    if line.starts_with(' ') && line.trim_start().starts_with("type ") {
        return None;
    }
    let line = line.trim_start();
    let declaration = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let (keyword, rest) = declaration.split_once(' ')?;
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (matches!(keyword, "struct" | "enum" | "trait" | "type" | "union") && !name.is_empty()).then_some(name)
}

/// Doc comments that open with one of [`VAGUE`].
fn vague_openings(files: &[SourceText]) -> Measure {
    let mut measure = Measure { found: 0, of: 0, places: Vec::new() };
    for file in files {
        let mut before = "";
        for (number, line) in file.text.lines().map(str::trim).enumerate() {
            // A comment begins where the line above is not of the same kind: `//!` may follow `///`.
            if let Some(kind @ ("///" | "//!")) = line.get(..3)
                && !before.starts_with(kind)
            {
                measure.of += 1;
                if opens_vaguely(line[3..].trim_start()) {
                    measure.found += 1;
                    measure.places.push(format!("{}:{}: {line}", file.path, number + 1));
                }
            }
            before = line;
        }
    }
    measure
}

fn opens_vaguely(comment: &str) -> bool {
    let rest = VAGUE.iter().filter_map(|word| comment.strip_prefix(word));
    // "Item" is not "It".
    rest.into_iter().any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// `//` lines and lines of code; doc comments and empty lines are neither. The places are the files with the fewest.
fn reasons(files: &[SourceText]) -> Measure {
    let mut measure = Measure { found: 0, of: 0, places: Vec::new() };
    let mut missing = Vec::new();
    for file in files {
        let lines = || file.text.lines().map(str::trim).filter(|line| !line.is_empty());
        let code = lines().filter(|line| !line.starts_with("//")).count();
        let reasons = lines().filter(|line| line.starts_with("//") && !line.starts_with("///") && !line.starts_with("//!")).count();
        measure.found += reasons;
        measure.of += code;
        missing.push((code.saturating_sub(reasons * 25), format!("{}: {reasons} in {code} lines", file.path)));
    }
    // Only the worst: nearly every file has a line that lacks a reason, and a list of all of them would hide these.
    missing.sort_by(|a, b| b.cmp(a));
    measure.places = missing.into_iter().take(20).map(|(_, place)| place).collect();
    measure
}

/// Functions longer than [`LONGEST_FUNCTION`] lines, signature and closing brace included.
fn long_functions(files: &[SourceText]) -> Measure {
    let mut measure = Measure { found: 0, of: 0, places: Vec::new() };
    for file in files {
        let lines: Vec<&str> = file.text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let Some(name) = declared_function(line) else { continue };
            measure.of += 1;
            let length = function_length(&lines[number..]);
            if length > LONGEST_FUNCTION {
                measure.found += 1;
                measure.places.push(format!("{}:{}: `{name}` has {length} lines", file.path, number + 1));
            }
        }
    }
    measure
}

/// The name of the function that a line declares.
fn declared_function(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let qualifier = |word: &str| {
        matches!(word, "const" | "async" | "unsafe" | "extern" | "default") || word.starts_with("pub") || word.starts_with('"')
    };
    // `pub(in some::path) fn` is not written here; any other word before `fn` means a comment, a string or a type.
    if !before.is_empty() && !before.ends_with(' ') || !before.split_whitespace().all(qualifier) {
        return None;
    }
    after.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
}

/// How many lines the function has that begins in the first line. The sources are formatted, so it ends at the next closing brace
/// that is indented as its first line is.
fn function_length(lines: &[&str]) -> usize {
    let first = lines[0];
    if first.ends_with(['}', ';']) {
        return 1;
    }
    let indent = first.len() - first.trim_start().len();
    let ends = |line: &&str| {
        let Some((before, own)) = line.split_at_checked(indent) else { return false };
        // A signature over several lines closes with `)`; without a body, the function ends there.
        before.trim().is_empty() && (own.starts_with('}') || own.starts_with(')') && own.ends_with(['}', ';']))
    };
    // A text in a string may look like a function without end: it is none.
    lines[1..].iter().position(ends).map_or(0, |place| place + 2)
}

/// Windows of [`WINDOW`] lines that also stand somewhere else. Indentation, comments and lines of punctuation do not count.
fn copies(files: &[SourceText]) -> Measure {
    let mut windows: HashMap<Vec<&str>, Vec<String>> = HashMap::new();
    for file in files {
        let telling = |line: &str| !line.starts_with("//") && line.chars().filter(|c| c.is_alphanumeric()).count() >= FEWEST_LETTERS;
        let lines = file.text.lines().map(str::trim).enumerate().filter(|(_, line)| telling(line));
        let lines: Vec<(usize, &str)> = lines.collect();
        for window in lines.windows(WINDOW) {
            let place = format!("{}:{}", file.path, window[0].0 + 1);
            windows.entry(window.iter().map(|(_, line)| *line).collect()).or_default().push(place);
        }
    }
    let of = windows.values().map(Vec::len).sum();
    let copied = || windows.values().filter(|places| places.len() > 1);
    let mut places: Vec<String> = copied().map(|places| places.join(" = ")).collect();
    places.sort();
    Measure { found: copied().map(Vec::len).sum(), of, places }
}

mod measures {
    use super::*;

    fn files(texts: &[&str]) -> Vec<SourceText> {
        let file = |(number, text): (usize, &&str)| SourceText { path: format!("{number}.rs"), text: (*text).to_owned() };
        texts.iter().enumerate().map(file).collect()
    }

    #[test]
    fn types_of_one_name_are_found() {
        let measure =
            shared_names(&files(&["pub struct Held;\nstruct Other<T>(T);\n", "    pub(super) enum Held {\n", "    type Item = u8;\n"]));
        assert_eq!((measure.found, measure.of), (2, 3));
        assert_eq!(measure.places, ["Held: 0.rs, 1.rs"]);
        assert!(shared_names(&files(&["struct A;", "struct B;\ntype C = u8;"])).places.is_empty());
    }

    #[test]
    fn only_declarations_name_types() {
        assert_eq!(declared_type("pub(crate) type Map<K, V> = X;"), Some("Map"));
        assert_eq!(declared_type("union Bits {"), Some("Bits"));
        assert_eq!(declared_type("public struct X;"), None);
        assert_eq!(declared_type("// struct X;"), None);
        assert_eq!(declared_type("    type Item = X;"), None);
        assert_eq!(declared_type("impl Map {"), None);
    }

    #[test]
    fn vague_openings_are_found() {
        let text = "//! Where it lies.\n\n/// A call.\n/// What it is about.\nstruct A;\n/// Item of a list.\nstruct B;\n    /// The same again.\n";
        let measure = vague_openings(&files(&[text]));
        assert_eq!((measure.found, measure.of), (2, 4));
        assert_eq!(measure.places, ["0.rs:1: //! Where it lies.", "0.rs:8: /// The same again."]);
    }

    #[test]
    fn missing_reasons_are_found() {
        let measure = reasons(&files(&["/// Doc.\nlet a = 1;\n\n    // Because.\nlet b = 2; // also\n", "//! Doc.\nlet c = 3;\n"]));
        assert_eq!((measure.found, measure.of), (1, 3));
        assert_eq!(measure.places[0], "1.rs: 0 in 1 lines");
    }

    #[test]
    fn long_functions_are_found() {
        let body = "        work();\n".repeat(LONGEST_FUNCTION - 2);
        let fits = format!("impl A {{\n    pub(crate) fn fits(self) {{\n{body}    }}\n}}\n");
        assert_eq!(long_functions(&files(&[&fits])).found, 0);
        let long = fits.replace("fits", "long").replacen("        work();\n", "        // Why.\n        work();\n", 1);
        let measure = long_functions(&files(&[&fits, &long]));
        assert_eq!((measure.found, measure.of), (1, 2));
        assert_eq!(measure.places, ["1.rs:2: `long` has 61 lines"]);
    }

    #[test]
    fn a_function_ends_where_its_braces_do() {
        let length = |text: &str| function_length(&text.lines().collect::<Vec<_>>());
        assert_eq!(length("fn a() {}\n}\n"), 1);
        assert_eq!(length("    fn a(\n        b: u8,\n    ) -> u8;\n    }\n"), 3);
        assert_eq!(length("fn a(\n    b: u8,\n) -> u8 {\n    b\n}\n"), 5);
        assert_eq!(length("fn in a string"), 0);
        assert_eq!(declared_function("    pub const fn one() {"), Some("one"));
        assert_eq!(declared_function("let run: fn () = x;"), None);
        assert_eq!(declared_function("// fn gone() {"), None);
    }

    #[test]
    fn copied_lines_are_found() {
        let lines: Vec<String> = (0..WINDOW).map(|number| format!("let value{number} = {number};\n")).collect();
        let (text, indented) = (lines.concat(), lines.join("    })?;\n    // Why.\n    "));
        let measure = copies(&files(&[&text, &indented, "let other = 1;\n"]));
        assert_eq!((measure.found, measure.of), (2, 2));
        assert_eq!(measure.places, ["0.rs:1 = 1.rs:1"]);
        assert_eq!(copies(&files(&[&text, &text.replace("value3", "changed")])).found, 0);
    }
}
