//! Highlighting: code as lines whose words have classes.
//!
//! It processes one to two megabytes per second, so it runs only when a body is made, and only on the part that is shown. A few
//! languages are many times slower (`SLOW`). A block has a budget, and what lies beyond it is plain: neither a page nor an export waits
//! for colours. Languages are loaded on first use.

use crate::line::{Class, Line, lines as plain};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use syntect::parsing::{BasicScopeStackOp, ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// Longer lines stay plain: they are generated.
const LINE: usize = 2_000;
/// A longer text stays plain.
const TEXT: usize = 200_000;
/// Languages that take many times longer for a byte than others: how many times.
const SLOW: &[(&str, usize)] = &[("Markdown", 40)];

/// The budget of a block. What lies beyond it stays plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HighlightBudget {
    /// The most bytes, each counted as often as its language is slow: this decides nearly always, and the same on every machine.
    pub work: usize,
    /// The most time: some texts make some languages very slow.
    pub patience: Duration,
}

impl HighlightBudget {
    /// The budget of a block in pages and exports.
    pub const BLOCK: HighlightBudget = HighlightBudget { work: TEXT, patience: Duration::from_millis(500) };
}

static LANGUAGES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Language of a file, by its name or extension; `None` where that says nothing.
pub fn language(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    // The whole name first: `Makefile` and `Dockerfile` have no extension.
    [Some(name.to_owned()), ending]
        .into_iter()
        .flatten()
        .find(|token| LANGUAGES.find_syntax_by_extension(token).is_some_and(|syntax| syntax.name != "Plain Text"))
}

/// Lines of a text in a language: a name from [`language`], or as people write it. Plain if the language is unknown.
pub fn lines(language: &str, text: &str) -> Vec<Line> {
    lines_within(language, text, HighlightBudget::BLOCK)
}

/// Lines of a text in a language, of which as many are highlighted as a budget allows.
pub fn lines_within(language: &str, text: &str, budget: HighlightBudget) -> Vec<Line> {
    if text.len() > TEXT {
        return plain(Class::Plain, text);
    }
    match LANGUAGES.find_syntax_by_token(language) {
        Some(syntax) => Highlighter::new(syntax).lines(text, budget),
        None => plain(Class::Plain, text),
    }
}

/// State in the middle of a text.
struct Highlighter {
    state: ParseState,
    scopes: ScopeStack,
    /// Class of each open scope; `None` for a scope without one.
    classes: Vec<Option<Class>>,
    /// How many times slower the language is than most.
    weight: usize,
}

impl Highlighter {
    fn new(syntax: &SyntaxReference) -> Self {
        let weight = SLOW.iter().find(|(name, _)| *name == syntax.name).map_or(1, |(_, weight)| *weight);
        Highlighter { state: ParseState::new(syntax), scopes: ScopeStack::new(), classes: Vec::new(), weight }
    }

    fn lines(mut self, text: &str, budget: HighlightBudget) -> Vec<Line> {
        let (start, mut left) = (Instant::now(), budget.work);
        let mut lost = false;
        let mut out = Vec::new();
        for line in text.lines() {
            // Once a line is left out, all later ones are: the state of the language is not known behind it.
            let cost = line.len().saturating_add(1).saturating_mul(self.weight);
            lost = lost || cost > left || start.elapsed() >= budget.patience;
            left = left.saturating_sub(cost);
            let known = if lost || line.len() > LINE { None } else { self.line(line) };
            // A language that failed once cannot go on; a line that is too long is only skipped.
            lost = lost || (known.is_none() && line.len() <= LINE);
            out.push(known.unwrap_or_else(|| Line::of(Class::Plain, line)));
        }
        out
    }

    /// One line; `None` where the language fails.
    fn line(&mut self, line: &str) -> Option<Line> {
        // The grammars expect the line feed.
        let changes = self.state.parse_line(&format!("{line}\n"), &LANGUAGES).ok()?;
        let (mut out, mut text, mut from, mut class) = (Line::default(), String::new(), 0, self.class());
        for (at, change) in changes {
            text.push_str(line.get(from..at.min(line.len())).unwrap_or_default());
            from = at.max(from);
            let Self { scopes, classes, .. } = self;
            let step = |step: BasicScopeStackOp, _: &[Scope]| match step {
                BasicScopeStackOp::Push(scope) => classes.push(meaning(scope)),
                BasicScopeStackOp::Pop => drop(classes.pop()),
            };
            scopes.apply_with_hook(&change, step).ok()?;
            let next = self.class();
            // Runs end only where the class changes, so that neighbouring scopes of one class are one run.
            if next != class {
                out.push(class, &text);
                text.clear();
                class = next;
            }
        }
        text.push_str(line.get(from..).unwrap_or_default());
        out.push(class, &text);
        Some(out)
    }

    /// Class at the current position: that of the innermost scope that has one.
    fn class(&self) -> Class {
        self.classes.iter().rev().find_map(|class| *class).unwrap_or_default()
    }
}

/// Classes of scopes, more specific scopes first. `Plain` ends the class around it: code inside of a string.
static MEANINGS: LazyLock<Vec<(Scope, Class)>> = LazyLock::new(|| {
    let known = [
        ("comment", Class::Comment),
        ("string", Class::Text),
        ("constant.character", Class::Text),
        ("constant.other.symbol", Class::Text),
        ("constant", Class::Number),
        ("keyword.operator.word", Class::Keyword),
        ("keyword.operator.logical.python", Class::Keyword),
        ("keyword.operator", Class::Plain),
        ("keyword", Class::Keyword),
        ("storage.type.numeric", Class::Type),
        ("storage", Class::Keyword),
        ("entity.name.function", Class::Function),
        ("entity.name.macro", Class::Function),
        ("support.function", Class::Function),
        ("support.macro", Class::Function),
        ("variable.function", Class::Function),
        ("variable.language", Class::Keyword),
        ("entity.name.tag", Class::Keyword),
        ("entity.other.attribute-name", Class::Type),
        ("entity.name.type", Class::Type),
        ("entity.name.class", Class::Type),
        ("entity.name.struct", Class::Type),
        ("entity.name.enum", Class::Type),
        ("entity.name.union", Class::Type),
        ("entity.name.trait", Class::Type),
        ("entity.name.impl", Class::Type),
        ("entity.name.interface", Class::Type),
        ("entity.other.inherited-class", Class::Type),
        ("entity.name.section", Class::Strong),
        ("support.type", Class::Type),
        ("support.class", Class::Type),
        ("support.constant", Class::Number),
        ("markup.heading", Class::Strong),
        ("markup.bold", Class::Strong),
        ("markup.raw", Class::Text),
        ("markup.inserted", Class::Inserted),
        ("markup.deleted", Class::Deleted),
        ("meta.interpolation", Class::Plain),
        ("meta.template.expression", Class::Plain),
        ("source", Class::Plain),
    ];
    known.iter().filter_map(|(scope, class)| Some((Scope::new(scope).ok()?, *class))).collect()
});

/// The class of a scope.
fn meaning(scope: Scope) -> Option<Class> {
    MEANINGS.iter().find(|(known, _)| known.is_prefix_of(scope)).map(|(_, class)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a class in a text.
    fn words(language: &str, text: &str, class: Class) -> Vec<String> {
        let lines = lines(language, text);
        let runs = lines.iter().flat_map(Line::runs).filter(|run| run.class == class);
        runs.map(|run| run.text().trim().to_owned()).collect()
    }

    const RUST: &str = "/// Adds.\npub fn add(a: u8) -> Option<u8> {\n    let s = \"x\\n\"; // why\n    Some(a + 17)\n}\n";

    #[test]
    fn words_have_classes() {
        assert_eq!(words("rs", RUST, Class::Comment), ["/// Adds.", "// why"]);
        assert_eq!(words("rs", RUST, Class::Text), ["\"x\\n\""]);
        assert_eq!(words("rust", RUST, Class::Number), ["17"]);
        assert!(words("Rust", RUST, Class::Keyword).contains(&"fn".to_owned()));
        assert!(words("rs", RUST, Class::Function).contains(&"add".to_owned()));
        assert!(words("rs", RUST, Class::Type).contains(&"Option".to_owned()));
        assert!(words("py", "def f(x):\n    return f\"a {x} b\"\n", Class::Keyword).contains(&"return".to_owned()));
        assert!(words("sh", "if true; then echo \"$x\"; fi", Class::Keyword).contains(&"if".to_owned()));
    }

    #[test]
    fn no_text_is_changed() {
        for (language, text) in
            [("rs", RUST), ("nobody knows", RUST), ("html", "<p class='x'>a\n\n<script>let x = 1</script>"), ("json", "{\"a\": [1, tru")]
        {
            let shown: Vec<String> = lines(language, text).iter().map(Line::text).collect();
            assert_eq!(shown, text.lines().collect::<Vec<_>>(), "{language}");
        }
        let long = format!("fn a() {{}}\nlet x = {};\nfn b() {{}}\n", "1 + ".repeat(2_000));
        let shown = lines("rs", &long);
        assert_eq!(shown[1].runs().len(), 1);
        assert!(shown[2].runs().len() > 1);
        assert_eq!(lines("rs", &"fn a() {}\n".repeat(30_000))[0].runs().len(), 1);
    }

    #[test]
    fn a_budget_ends_highlighting_and_changes_no_text() {
        let colored = |lines: &[Line]| lines.iter().take_while(|line| line.runs().iter().any(|run| run.class != Class::Plain)).count();
        let code = "let a = \"b\";\n".repeat(100);
        let within = |work: usize, patience: Duration| lines_within("rs", &code, HighlightBudget { work, patience });
        let long = Duration::from_secs(3600);
        let line = code.lines().next().unwrap().len() + 1;
        for (work, expected) in [(0, 0), (line - 1, 0), (line, 1), (10 * line, 10), (usize::MAX, 100)] {
            let shown = within(work, long);
            assert_eq!(colored(&shown), expected, "{work}");
            assert_eq!(shown.len(), 100);
            assert!(shown.iter().all(|line| line.text() == "let a = \"b\";"));
        }
        assert_eq!(colored(&within(usize::MAX, Duration::ZERO)), 0);
        // A language that is 40 times slower gets a fortieth of the bytes.
        let prose = "# A **heading** with `code`\n".repeat(2000);
        let shown = lines("md", &prose);
        let bytes: usize = prose.lines().take(colored(&shown)).map(|line| line.len() + 1).sum();
        assert!((4_900..=5_000).contains(&bytes), "{bytes}");
        assert_eq!(shown.len(), 2000);
    }

    #[test]
    fn languages_are_told_by_name() {
        let known =
            ["src/a.rs", "a.TS", "x.tsx", "Dockerfile", "C:\\a\\b.py", "Makefile", "a.toml", "k.yaml", "v.vue", "m.go", "s.sh", "a.json"];
        for path in known {
            assert!(language(path).is_some(), "{path}");
        }
        assert_eq!(language("a.rs").as_deref(), Some("rs"));
        assert_eq!(language("notes.txt"), None);
        assert_eq!(language("LICENSE"), None);
        assert_eq!(language(""), None);
    }
}
