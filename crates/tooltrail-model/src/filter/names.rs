//! Names of tools, branches, models, directories and files. Case is ignored; `*` and `?` are wildcards.

use super::parse::is_absolute;
use super::pattern::compile;
use regex::Regex;

/// A character of a name. A `wild` asterisk or question mark matches anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Glyph {
    pub(super) sign: char,
    pub(super) wild: bool,
}

/// A name pattern.
#[derive(Clone, Debug)]
pub struct NamePattern {
    glyphs: Vec<Glyph>,
    regex: Regex,
}

/// Part of a name that has to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// All of it.
    Whole,
    /// Its beginning.
    Start,
    /// Any part of it.
    Part,
    /// Whole words. Command lines contain asterisks of their own, so here they are literal.
    Words,
    /// The last parts of a path: `api`, `shop/api`.
    Tail,
    /// Parts of a path, or everything below them: `src`, `src/**/mod.rs`, `/srv/app`. `*` stays within a part, `**` does
    /// not.
    Path,
}

impl NamePattern {
    /// A name.
    pub(super) fn new(mut glyphs: Vec<Glyph>, fit: Fit) -> Result<Self, regex::Error> {
        if fit == Fit::Words {
            glyphs.iter_mut().for_each(|glyph| glyph.wild = false);
        }
        let text: String = glyphs.iter().map(|glyph| glyph.sign).collect();
        let inner = expression(&glyphs, fit);
        // A boundary makes sense only next to a word character: `--release` begins with none.
        let edge = |letter: Option<char>| if letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_') { r"\b" } else { "" };
        let source = match fit {
            Fit::Whole => format!(r"\A(?:{inner})\z"),
            Fit::Start => format!(r"\A(?:{inner})"),
            Fit::Part => inner,
            Fit::Words => format!("{}{inner}{}", edge(text.chars().next()), edge(text.chars().next_back())),
            Fit::Tail => format!(r"(?:\A|[/\\]){inner}[/\\]*\z"),
            // An absolute path is compared from its start, any other one from any of its parts.
            Fit::Path if is_absolute(&text) => format!(r"\A{inner}(?:[/\\]|\z)"),
            Fit::Path => format!(r"(?:\A|[/\\]){inner}(?:[/\\]|\z)"),
        };
        // `s`, because a command line may contain line feeds, and a wildcard matches them too.
        Ok(NamePattern { glyphs, regex: compile(&format!("(?s){source}"))? })
    }

    /// A pattern for paths, as `file:` takes it: `docs`, `*.md`, `src/**/mod.rs`.
    pub fn path(text: &str) -> Result<Self, regex::Error> {
        NamePattern::new(text.chars().map(|sign| Glyph { sign, wild: matches!(sign, '*' | '?') }).collect(), Fit::Path)
    }

    /// Whether a name matches.
    pub fn fits(&self, name: &str) -> bool {
        self.regex.is_match(name)
    }

    /// Its characters.
    pub(super) fn glyphs(&self) -> &[Glyph] {
        &self.glyphs
    }
}

/// Two names are equal if they match the same.
impl PartialEq for NamePattern {
    fn eq(&self, other: &Self) -> bool {
        self.regex.as_str() == other.regex.as_str()
    }
}

/// A name as a regular expression. In paths either slash matches any slash.
fn expression(glyphs: &[Glyph], fit: Fit) -> String {
    let path = matches!(fit, Fit::Tail | Fit::Path);
    let mut out = String::new();
    let mut rest = glyphs;
    while let Some((first, tail)) = rest.split_first() {
        let star = |place: usize| rest.get(place).is_some_and(|glyph| glyph.wild && glyph.sign == '*');
        let slash = |place: usize| rest.get(place).is_some_and(|glyph| matches!(glyph.sign, '/' | '\\'));
        let mut taken = 1;
        match first.sign {
            // `**/` also matches no directory at all: `src/**/mod.rs` finds `src/mod.rs`.
            '*' if path && star(0) && star(1) && slash(2) => {
                out.push_str(r"(?:.*[/\\])?");
                taken = 3;
            }
            '*' if path && star(0) && star(1) => {
                out.push_str(".*");
                taken = 2;
            }
            '*' if first.wild => out.push_str(if path { r"[^/\\]*" } else { ".*" }),
            '?' if first.wild => out.push_str(if path { r"[^/\\]" } else { "." }),
            '/' | '\\' if path => out.push_str(r"[/\\]"),
            sign => out.push_str(&regex::escape(sign.encode_utf8(&mut [0; 4]))),
        }
        rest = tail.get(taken - 1..).unwrap_or_default();
    }
    out
}

/// A project pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum ProjectPattern {
    /// The last parts of its directory.
    Named(NamePattern),
    /// A directory: the project is inside of it, or it is inside of the project.
    At {
        /// The directory.
        directory: String,
        /// The home directory. A session started there, or above, may be about anything, so it does not match a directory
        /// below.
        home: Option<String>,
    },
}

impl ProjectPattern {
    /// Whether a project's directory matches.
    pub fn fits(&self, project: &str) -> bool {
        match self {
            ProjectPattern::Named(name) => name.fits(project),
            // Everything is inside of the root, so naming it means sessions started there.
            ProjectPattern::At { directory, .. } if parts(directory).next().is_none() => parts(project).next().is_none(),
            ProjectPattern::At { directory, home } => {
                let anywhere = home.as_deref().is_some_and(|home| is_in(home, project)) || parts(project).next().is_none();
                is_in(project, directory) || (!anywhere && is_in(directory, project))
            }
        }
    }
}

/// The parts of a path.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".")
}

/// Whether a path is inside of a directory, or equal to it.
fn is_in(path: &str, directory: &str) -> bool {
    // Part by part, so that `/srv/app` is not inside of `/srv/ap`.
    let mut path = parts(path);
    parts(directory).all(|part| path.next().is_some_and(|other| other.to_lowercase() == part.to_lowercase()))
}
