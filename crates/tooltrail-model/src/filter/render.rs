//! Writes a filter as a query again: for URLs, for links, for the field of a page.

use super::values::{NumberRange, spelled};
use super::{Filter, NamePattern, Pattern, ProjectPattern, Term, Test};
use std::fmt;

/// The filter as a query. Times and directories in it are absolute, so it means the same tomorrow and elsewhere.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms().iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{term}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = if self.not { "not:" } else { "" };
        write!(f, "{not}{}", self.test)
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |names: &[NamePattern]| joined(names, name);
        let (key, value) = match self {
            Test::Tool(of) => ("tool", names(of)),
            Test::Server(of) => ("server", names(of)),
            Test::Kind(of) => ("kind", joined(of, |one| one.word().to_owned())),
            Test::Status(of) => ("status", joined(of, |one| one.word().to_owned())),
            Test::Reason(of) => ("reason", joined(of, |one| one.word().to_owned())),
            Test::Agent(of) => ("agent", names(of)),
            Test::Project(of) => ("project", joined(of, place)),
            Test::Branch(of) => ("branch", names(of)),
            Test::Model(of) => ("model", names(of)),
            Test::Session(of) => ("session", names(of)),
            Test::File(of) => ("file", names(of)),
            Test::Command(of) => ("command", names(of)),
            Test::Purpose(of) => ("purpose", joined(of, |one| one.word().to_owned())),
            Test::Hook(of) => ("hook", names(of)),
            Test::Exit(of) => ("exit", joined(of, |span| spanned(span, |code| code.to_string()))),
            // Always a range: the parser refuses a duration alone.
            Test::Took(of) => ("took", joined(of, |span| ranged(span, |millis| spelled(*millis)))),
            Test::Since(time) => ("since", time.to_string()),
            Test::Until(time) => ("until", time.to_string()),
            Test::Has(of) => ("has", joined(of, |one| one.word().to_owned())),
            Test::Is(of) => ("is", joined(of, |one| one.word().to_owned())),
            Test::Text(pattern) => return f.write_str(&pattern_term(pattern)),
            Test::Any(of) => {
                let tests: Vec<String> = of.iter().map(Test::to_string).collect();
                return f.write_str(&tests.join(" OR "));
            }
        };
        write!(f, "{key}:{value}")
    }
}

fn joined<T>(values: &[T], value: impl Fn(&T) -> String) -> String {
    values.iter().map(value).collect::<Vec<_>>().join(",")
}

/// A name. Wildcards stand outside of quotes, the rest inside where it would otherwise mean something else.
fn name(name: &NamePattern) -> String {
    let mut out = String::new();
    for (index, run) in name.glyphs().chunk_by(|one, next| one.wild == next.wild).enumerate() {
        let text: String = run.iter().map(|glyph| glyph.sign).collect();
        let wild = run.first().is_some_and(|glyph| glyph.wild);
        // At the beginning `~` and `.` are directories.
        let telling = index == 0 && text.starts_with(['~', '.']);
        out.push_str(&if wild {
            text
        } else if telling {
            quoted(&text)
        } else {
            bare(&text, &[',', '*', '?'])
        });
    }
    out
}

fn place(place: &ProjectPattern) -> String {
    match place {
        ProjectPattern::Named(own) => name(own),
        ProjectPattern::At { directory, .. } => bare(directory, &[',']),
    }
}

/// A number alone, or a range.
fn spanned<T: PartialEq>(span: &NumberRange<T>, number: impl Fn(&T) -> String) -> String {
    match (&span.least, &span.most) {
        (Some(least), Some(most)) if least == most => number(least),
        _ => ranged(span, number),
    }
}

fn ranged<T>(span: &NumberRange<T>, number: impl Fn(&T) -> String) -> String {
    let end = |end: &Option<T>| end.as_ref().map(&number).unwrap_or_default();
    format!("{}..{}", end(&span.least), end(&span.most))
}

fn pattern_term(pattern: &Pattern) -> String {
    let source = pattern.source();
    match (pattern.is_literal(), pattern.is_cased()) {
        (true, false) => text(source),
        // `re:` behind `case:` has a meaning.
        (true, true) => format!("case:{}", text(source)),
        (false, false) => format!("re:{}", bare(source, &[])),
        (false, true) => format!("case:re:{}", bare(source, &[])),
    }
}

/// A text, in quotes only where it would otherwise mean something else.
fn text(text: &str) -> String {
    // These would be read as a key, a comparison, a negation or an alternative.
    let telling = text.contains([':', '<', '>']) || text.starts_with(['-', '!']) || text == super::either::OR;
    if telling { quoted(text) } else { bare(text, &[]) }
}

/// A value, in quotes only where necessary; `also` lists further characters that need them.
pub(super) fn bare(value: &str, also: &[char]) -> String {
    let special = |letter: char| letter.is_whitespace() || letter == '"' || also.contains(&letter);
    if value.is_empty() || value.contains(special) { quoted(value) } else { value.to_owned() }
}

/// A text in quotes, to be searched literally.
pub fn quoted(text: &str) -> String {
    // A backslash before the closing quote would escape it, so it stands behind.
    let inner = text.trim_end_matches('\\');
    let slashes = text.get(inner.len()..).unwrap_or_default();
    format!("\"{}\"{slashes}", inner.replace('"', "\\\""))
}
