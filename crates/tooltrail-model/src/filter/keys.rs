//! The keys of the filter language, and how the value of each is read. To add one: a line in `KEYS`, a variant of `Test`,
//! an arm in `ask`.

use super::lex::{Letter, WordPart};
use super::mistake::{Mistake, nearest};
use super::names::{Fit, Glyph, NamePattern, ProjectPattern};
use super::parse::is_absolute;
use super::{Has, Is, Pattern, Setting, Spelling, Test, times, values};
use crate::command::Purpose;
use crate::{Kind, Reason, Status};

/// A key of the filter language.
pub(super) struct FilterKey {
    /// Name before the colon.
    pub(super) name: &'static str,
    /// Reads the value behind it.
    pub(super) read: fn(&TermReader<'_, '_>) -> Result<Test, Mistake>,
}

/// All keys, in the order of the documentation. `not:` is no key of its own: it stands before a whole term.
pub(super) const KEYS: &[FilterKey] = &[
    FilterKey { name: "tool", read: |value| value.names(Fit::Whole).map(Test::Tool) },
    FilterKey { name: "server", read: |value| value.names(Fit::Whole).map(Test::Server) },
    FilterKey { name: "kind", read: |value| value.some_of("kinds are", Kind::ALL, Kind::word).map(Test::Kind) },
    FilterKey { name: "status", read: |value| value.some_of("statuses are", Status::ALL, Status::word).map(Test::Status) },
    FilterKey { name: "reason", read: |value| value.some_of("reasons are", Reason::ALL, Reason::word).map(Test::Reason) },
    FilterKey { name: "agent", read: agent },
    FilterKey { name: "project", read: project },
    FilterKey { name: "branch", read: |value| value.names(Fit::Whole).map(Test::Branch) },
    FilterKey { name: "model", read: |value| value.names(Fit::Part).map(Test::Model) },
    FilterKey { name: "session", read: |value| value.names(Fit::Start).map(Test::Session) },
    FilterKey { name: "file", read: file },
    FilterKey { name: "command", read: |value| value.names(Fit::Words).map(Test::Command) },
    FilterKey { name: "purpose", read: |value| value.some_of("purposes are", Purpose::ALL, Purpose::word).map(Test::Purpose) },
    FilterKey { name: "hook", read: |value| value.names(Fit::Part).map(Test::Hook) },
    FilterKey { name: "exit", read: values::exit },
    FilterKey { name: "took", read: values::took },
    FilterKey { name: "since", read: |value| times::read(value).map(|time| Test::Since(time.start)) },
    FilterKey { name: "until", read: |value| times::read(value).map(|time| Test::Until(time.end)) },
    FilterKey { name: "has", read: |value| value.some_of("`has:` takes", Has::ALL, Has::word).map(Test::Has) },
    FilterKey { name: "is", read: |value| value.some_of("`is:` takes", Is::ALL, Is::word).map(Test::Is) },
    FilterKey { name: "re", read: |value| value.expression(&value.value, false) },
    FilterKey { name: "case", read: cased },
];

/// The names of all keys, for completion.
pub fn key_names() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name)
}

/// The values of a key that takes only certain words; empty for all others.
pub fn key_values(key: &str) -> Vec<&'static str> {
    fn words<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> Vec<&'static str> {
        all.iter().map(|one| word(*one)).collect()
    }
    match key {
        "kind" => words(Kind::ALL, Kind::word),
        "status" => words(Status::ALL, Status::word),
        "reason" => words(Reason::ALL, Reason::word),
        "purpose" => words(Purpose::ALL, Purpose::word),
        "has" => words(Has::ALL, Has::word),
        "is" => words(Is::ALL, Is::word),
        "since" | "until" => vec!["today", "yesterday", "7d"],
        "exit" => vec!["nonzero"],
        _ => Vec::new(),
    }
}

/// Context for reading the value of a term.
pub(super) struct TermReader<'q, 't> {
    /// The whole query.
    pub(super) query: &'q str,
    /// Directory, clock and other settings of the person who asks.
    pub(super) setting: &'q Setting<'q>,
    /// The key.
    pub(super) key: &'static str,
    /// Sign behind the key: `:`, `<` or `>`.
    pub(super) sign: char,
    /// Value behind the sign.
    pub(super) value: WordPart<'t>,
    /// The term.
    pub(super) word: WordPart<'t>,
}

impl<'t> TermReader<'_, 't> {
    /// A mistake in a part of the query.
    pub(super) fn mistake(&self, piece: &WordPart<'_>, message: impl Into<String>) -> Mistake {
        Mistake::new(self.query, piece.at.clone(), message)
    }

    /// The values, of which one must match. Only a few keys accept more and less: `took>30s`.
    pub(super) fn values(&self) -> Result<Vec<WordPart<'t>>, Mistake> {
        if self.sign != ':' {
            let right = format!("{}:{}", self.key, super::render::bare(&self.value.text(), &[]));
            return Err(self.mistake(&self.word, format!("`{}` cannot be compared with `<` or `>`", self.key)).suggest(right));
        }
        self.alternatives()
    }

    /// The values, whatever the sign before them.
    pub(super) fn alternatives(&self) -> Result<Vec<WordPart<'t>>, Mistake> {
        let pieces = self.value.alternatives();
        match pieces.iter().find(|piece| piece.letters.is_empty()) {
            Some(_) if pieces.len() == 1 => Err(self.mistake(&self.word, format!("`{}{}` needs a value", self.key, self.sign))),
            Some(empty) => Err(self.mistake(empty, "a value is missing next to the comma")),
            None => Ok(pieces),
        }
    }

    /// The only allowed value.
    pub(super) fn single(&self) -> Result<WordPart<'t>, Mistake> {
        self.values()?;
        Ok(self.value.clone())
    }

    fn names(&self, fit: Fit) -> Result<Vec<NamePattern>, Mistake> {
        self.values()?.iter().map(|piece| self.name(piece, glyphs(piece), fit)).collect()
    }

    fn name(&self, piece: &WordPart<'_>, glyphs: Vec<Glyph>, fit: Fit) -> Result<NamePattern, Mistake> {
        NamePattern::new(glyphs, fit).map_err(|_| self.mistake(piece, "this text is too long"))
    }

    /// Values of a closed list. `what` begins the list in a message.
    fn some_of<T: Copy>(&self, what: &str, all: &[T], word: fn(T) -> &'static str) -> Result<Vec<T>, Mistake> {
        let words = || all.iter().map(|one| word(*one));
        let one = |piece: &WordPart<'t>| {
            let text = piece.text();
            let found = all.iter().copied().find(|one| word(*one).eq_ignore_ascii_case(&text));
            found.ok_or_else(|| self.no_such(piece, what, words().collect::<Vec<_>>().as_slice()))
        };
        if self.value.letters.is_empty() {
            return Err(self.mistake(&self.word, format!("`{}:` needs a value: {}", self.key, listed(words()))));
        }
        self.values()?.iter().map(one).collect()
    }

    fn no_such(&self, piece: &WordPart<'_>, what: &str, words: &[&str]) -> Mistake {
        let text = piece.text();
        let near = nearest(&text, words.iter().copied()).map(str::to_owned);
        self.mistake(piece, format!("`{}:{text}`: {what} {}", self.key, listed(words.iter().copied()))).suggest(near)
    }

    /// A regular expression.
    fn expression(&self, piece: &WordPart<'_>, cased: bool) -> Result<Test, Mistake> {
        if piece.letters.is_empty() || self.sign != ':' {
            return Err(self.mistake(&self.word, "`re:` needs a regular expression, as in `re:time.*out`"));
        }
        regular(&piece.text(), cased || self.setting.words.cased).map_err(|why| self.mistake(piece, why))
    }

    /// A path with `~`, `.` and `..` at its beginning made absolute, as far as their meaning is known.
    fn path(&self, piece: &WordPart<'_>) -> Vec<Glyph> {
        // Only a whole part counts: `~name` and `.git` are names, not directories.
        let slash = |place: usize| place == piece.letters.len() || piece.has(place, '/') || piece.has(place, '\\');
        let dots = (0..2).take_while(|&place| piece.has(place, '.')).count();
        let above =
            || self.setting.here.and_then(|here| here.trim_end_matches(['/', '\\']).rsplit_once(['/', '\\'])).map(|(above, _)| above);
        let (directory, taken) = match () {
            () if piece.has(0, '~') && slash(1) => (self.setting.home, 1),
            () if dots == 1 && slash(1) => (self.setting.here, 1),
            () if dots == 2 && slash(2) => (above(), 2),
            () => return glyphs(piece),
        };
        let rest = glyphs(&piece.from(taken));
        // Without knowing the directory, only the rest of the path can be searched.
        let Some(directory) = directory else { return rest.into_iter().skip(1).collect() };
        let directory = directory.trim_end_matches(['/', '\\']);
        let root = if directory.is_empty() && rest.is_empty() { "/" } else { directory };
        root.chars().map(|sign| Glyph { sign, wild: false }).chain(rest).collect()
    }
}

/// A value character by character. Unquoted `*` and `?` are wildcards.
fn glyphs(piece: &WordPart<'_>) -> Vec<Glyph> {
    let glyph = |letter: &Letter| Glyph { sign: letter.sign, wild: !letter.quoted && matches!(letter.sign, '*' | '?') };
    piece.letters.iter().map(glyph).collect()
}

/// Characters without trailing slashes.
fn trimmed(mut glyphs: Vec<Glyph>) -> Vec<Glyph> {
    while glyphs.last().is_some_and(|glyph| matches!(glyph.sign, '/' | '\\')) {
        glyphs.pop();
    }
    glyphs
}

/// Words as a readable list.
pub(super) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn agent(value: &TermReader<'_, '_>) -> Result<Test, Mistake> {
    let agents = value.setting.agents;
    for piece in value.values()? {
        let name = value.name(&piece, glyphs(&piece), Fit::Whole)?;
        // Where the agents are known, an unknown name is a mistake rather than an empty result.
        if !agents.is_empty() && !agents.iter().any(|agent| name.fits(agent)) {
            return Err(value.no_such(&piece, "agents are", agents));
        }
    }
    value.names(Fit::Whole).map(Test::Agent)
}

fn project(value: &TermReader<'_, '_>) -> Result<Test, Mistake> {
    let place = |piece: &WordPart<'_>| {
        let path = value.path(piece);
        let text: String = path.iter().map(|glyph| glyph.sign).collect();
        match () {
            // An absolute path means everything inside of it, not a name that ends like it.
            () if is_absolute(&text) => Ok(ProjectPattern::At { directory: text, home: value.setting.home.map(str::to_owned) }),
            () if path.is_empty() => Err(value.mistake(piece, "the current directory is unknown; write its path")),
            () => Ok(ProjectPattern::Named(value.name(piece, trimmed(path), Fit::Tail)?)),
        }
    };
    value.values()?.iter().map(place).collect::<Result<_, _>>().map(Test::Project)
}

fn file(value: &TermReader<'_, '_>) -> Result<Test, Mistake> {
    let name = |piece: &WordPart<'_>| {
        let path = value.path(piece);
        match trimmed(path.clone()) {
            // The root, or an unknown directory: everything is inside of it.
            short if short.is_empty() => {
                value.name(piece, "/**".chars().map(|sign| Glyph { sign, wild: sign == '*' }).collect(), Fit::Path)
            }
            path => value.name(piece, path, Fit::Path),
        }
    };
    value.values()?.iter().map(name).collect::<Result<_, _>>().map(Test::File)
}

/// A regular expression, or why it is invalid.
pub(super) fn regular(source: &str, cased: bool) -> Result<Test, String> {
    Pattern::new(source, Spelling { regex: true, cased }).map(Test::Text).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "this regular expression is too large to run in time: repeat less in `{n}`, or say `[a-z]` where you mean no other letters than these".to_owned(),
        // Its last line says what is wrong; the lines before show where.
        error => format!("invalid regular expression: {}", reason(&error.to_string())),
    })
}

fn cased(value: &TermReader<'_, '_>) -> Result<Test, Mistake> {
    let piece = &value.value;
    if piece.letters.is_empty() || value.sign != ':' {
        return Err(value.mistake(&value.word, "`case:` needs a text, as in `case:README`"));
    }
    if piece.to(3).text().eq_ignore_ascii_case("re:") && piece.to(3).letters.iter().all(|letter| !letter.quoted) {
        return value.expression(&piece.from(3), true);
    }
    // Quotes switch off regular expressions, also where they are the default.
    if value.setting.words.regex && !piece.letters.iter().any(|letter| letter.quoted) {
        return value.expression(piece, true);
    }
    let pattern = Pattern::new(&piece.text(), Spelling { regex: false, cased: true });
    pattern.map(Test::Text).map_err(|_| value.mistake(piece, "this text is too long"))
}

fn reason(text: &str) -> &str {
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last)
}
