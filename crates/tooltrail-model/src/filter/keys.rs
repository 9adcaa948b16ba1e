//! The keys of the language, and how the value of each is read. To add one: a line in `KEYS`, a variant of `Test`, an arm in `ask`.

use super::lex::{Letter, Piece};
use super::mistake::{Mistake, nearest};
use super::names::{Fit, Glyph, Name, Place};
use super::parse::is_absolute;
use super::{Has, Is, Pattern, Setting, Spelling, Test, times, values};
use crate::command::Purpose;
use crate::{Kind, Reason, Status};

/// A key of the language.
pub(super) struct Key {
    /// What stands before the colon.
    pub(super) name: &'static str,
    /// Reads what stands behind it.
    pub(super) read: fn(&Reader<'_, '_>) -> Result<Test, Mistake>,
}

/// All of them, in the order they are documented. `not:` is no key of its own: it stands before a whole term.
pub(super) const KEYS: &[Key] = &[
    Key { name: "tool", read: |value| value.names(Fit::Whole).map(Test::Tool) },
    Key { name: "server", read: |value| value.names(Fit::Whole).map(Test::Server) },
    Key { name: "kind", read: |value| value.some_of("kinds are", Kind::ALL, Kind::word).map(Test::Kind) },
    Key { name: "status", read: |value| value.some_of("statuses are", Status::ALL, Status::word).map(Test::Status) },
    Key { name: "reason", read: |value| value.some_of("reasons are", Reason::ALL, Reason::word).map(Test::Reason) },
    Key { name: "agent", read: agent },
    Key { name: "project", read: project },
    Key { name: "branch", read: |value| value.names(Fit::Whole).map(Test::Branch) },
    Key { name: "model", read: |value| value.names(Fit::Part).map(Test::Model) },
    Key { name: "session", read: |value| value.names(Fit::Start).map(Test::Session) },
    Key { name: "file", read: file },
    Key { name: "command", read: |value| value.names(Fit::Words).map(Test::Command) },
    Key { name: "purpose", read: |value| value.some_of("purposes are", Purpose::ALL, Purpose::word).map(Test::Purpose) },
    Key { name: "hook", read: |value| value.names(Fit::Part).map(Test::Hook) },
    Key { name: "exit", read: values::exit },
    Key { name: "took", read: values::took },
    Key { name: "since", read: |value| times::read(value).map(|time| Test::Since(time.start)) },
    Key { name: "until", read: |value| times::read(value).map(|time| Test::Until(time.end)) },
    Key { name: "has", read: |value| value.some_of("`has:` takes", Has::ALL, Has::word).map(Test::Has) },
    Key { name: "is", read: |value| value.some_of("`is:` takes", Is::ALL, Is::word).map(Test::Is) },
    Key { name: "re", read: |value| value.expression(&value.value, false) },
    Key { name: "case", read: cased },
];

/// What is needed to read the value of a term.
pub(super) struct Reader<'q, 't> {
    /// The whole query.
    pub(super) query: &'q str,
    /// What the one who asks knows.
    pub(super) setting: &'q Setting<'q>,
    /// The key.
    pub(super) key: &'static str,
    /// What stands behind the key: `:`, `<` or `>`.
    pub(super) sign: char,
    /// What stands behind that.
    pub(super) value: Piece<'t>,
    /// The term.
    pub(super) word: Piece<'t>,
}

impl<'t> Reader<'_, 't> {
    /// A mistake in a part of the query.
    pub(super) fn mistake(&self, piece: &Piece<'_>, message: impl Into<String>) -> Mistake {
        Mistake::new(self.query, piece.at.clone(), message)
    }

    /// The values, of which one must fit. Only these keys know more and less: `took>30s`.
    pub(super) fn values(&self) -> Result<Vec<Piece<'t>>, Mistake> {
        if self.sign != ':' {
            let right = format!("{}:{}", self.key, super::render::bare(&self.value.text(), &[]));
            return Err(self.mistake(&self.word, format!("`{}` has no more or less", self.key)).suggest(right));
        }
        self.alternatives()
    }

    /// The values, whatever stands before them.
    pub(super) fn alternatives(&self) -> Result<Vec<Piece<'t>>, Mistake> {
        let pieces = self.value.alternatives();
        match pieces.iter().find(|piece| piece.letters.is_empty()) {
            Some(_) if pieces.len() == 1 => Err(self.mistake(&self.word, format!("`{}{}` needs a value", self.key, self.sign))),
            Some(empty) => Err(self.mistake(empty, "a value is missing beside the comma")),
            None => Ok(pieces),
        }
    }

    /// The one value that there may be.
    pub(super) fn single(&self) -> Result<Piece<'t>, Mistake> {
        self.values()?;
        Ok(self.value.clone())
    }

    fn names(&self, fit: Fit) -> Result<Vec<Name>, Mistake> {
        self.values()?.iter().map(|piece| self.name(piece, glyphs(piece), fit)).collect()
    }

    fn name(&self, piece: &Piece<'_>, glyphs: Vec<Glyph>, fit: Fit) -> Result<Name, Mistake> {
        Name::new(glyphs, fit).map_err(|_| self.mistake(piece, "this is too long to look for"))
    }

    /// Values of a closed list. `what`: how a list of them begins.
    fn some_of<T: Copy>(&self, what: &str, all: &[T], word: fn(T) -> &'static str) -> Result<Vec<T>, Mistake> {
        let words = || all.iter().map(|one| word(*one));
        let one = |piece: &Piece<'t>| {
            let text = piece.text();
            let found = all.iter().copied().find(|one| word(*one).eq_ignore_ascii_case(&text));
            found.ok_or_else(|| self.no_such(piece, what, words().collect::<Vec<_>>().as_slice()))
        };
        if self.value.letters.is_empty() {
            return Err(self.mistake(&self.word, format!("`{}:` needs a value: {}", self.key, listed(words()))));
        }
        self.values()?.iter().map(one).collect()
    }

    fn no_such(&self, piece: &Piece<'_>, what: &str, words: &[&str]) -> Mistake {
        let text = piece.text();
        let near = nearest(&text, words.iter().copied()).map(str::to_owned);
        self.mistake(piece, format!("`{}:{text}`: {what} {}", self.key, listed(words.iter().copied()))).suggest(near)
    }

    /// A regular expression.
    fn expression(&self, piece: &Piece<'_>, cased: bool) -> Result<Test, Mistake> {
        if piece.letters.is_empty() || self.sign != ':' {
            return Err(self.mistake(&self.word, "`re:` needs a regular expression, as in `re:time.*out`"));
        }
        regular(&piece.text(), cased || self.setting.words.cased).map_err(|why| self.mistake(piece, why))
    }

    /// A path with `~`, `.` and `..` at its beginning made absolute, as far as what they mean is known.
    fn path(&self, piece: &Piece<'_>) -> Vec<Glyph> {
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
        let Some(directory) = directory else { return rest.into_iter().skip(1).collect() };
        let directory = directory.trim_end_matches(['/', '\\']);
        let root = if directory.is_empty() && rest.is_empty() { "/" } else { directory };
        root.chars().map(|sign| Glyph { sign, wild: false }).chain(rest).collect()
    }
}

/// A value letter by letter. What is not in quotes may stand for anything.
fn glyphs(piece: &Piece<'_>) -> Vec<Glyph> {
    let glyph = |letter: &Letter| Glyph { sign: letter.sign, wild: !letter.quoted && matches!(letter.sign, '*' | '?') };
    piece.letters.iter().map(glyph).collect()
}

/// The same without the slashes at its end.
fn trimmed(mut glyphs: Vec<Glyph>) -> Vec<Glyph> {
    while glyphs.last().is_some_and(|glyph| matches!(glyph.sign, '/' | '\\')) {
        glyphs.pop();
    }
    glyphs
}

/// Words as a list to read.
pub(super) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn agent(value: &Reader<'_, '_>) -> Result<Test, Mistake> {
    let agents = value.setting.agents;
    for piece in value.values()? {
        let name = value.name(&piece, glyphs(&piece), Fit::Whole)?;
        if !agents.is_empty() && !agents.iter().any(|agent| name.fits(agent)) {
            return Err(value.no_such(&piece, "agents are", agents));
        }
    }
    value.names(Fit::Whole).map(Test::Agent)
}

fn project(value: &Reader<'_, '_>) -> Result<Test, Mistake> {
    let place = |piece: &Piece<'_>| {
        let path = value.path(piece);
        let text: String = path.iter().map(|glyph| glyph.sign).collect();
        match () {
            () if is_absolute(&text) => Ok(Place::At { directory: text, home: value.setting.home.map(str::to_owned) }),
            () if path.is_empty() => Err(value.mistake(piece, "nobody knows which directory this is; write the directory itself")),
            () => Ok(Place::Named(value.name(piece, trimmed(path), Fit::Tail)?)),
        }
    };
    value.values()?.iter().map(place).collect::<Result<_, _>>().map(Test::Project)
}

fn file(value: &Reader<'_, '_>) -> Result<Test, Mistake> {
    let name = |piece: &Piece<'_>| {
        let path = value.path(piece);
        match trimmed(path.clone()) {
            // The root, or nobody knows what: everything lies there.
            short if short.is_empty() => {
                value.name(piece, "/**".chars().map(|sign| Glyph { sign, wild: sign == '*' }).collect(), Fit::Path)
            }
            path => value.name(piece, path, Fit::Path),
        }
    };
    value.values()?.iter().map(name).collect::<Result<_, _>>().map(Test::File)
}

/// A regular expression, or why it is none.
pub(super) fn regular(source: &str, cased: bool) -> Result<Test, String> {
    Pattern::new(source, Spelling { regex: true, cased }).map(Test::Text).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "this regular expression is too large".to_owned(),
        // Its last line says what is wrong; those before it show where.
        error => format!("this is no regular expression: {}", reason(&error.to_string())),
    })
}

fn cased(value: &Reader<'_, '_>) -> Result<Test, Mistake> {
    let piece = &value.value;
    if piece.letters.is_empty() || value.sign != ':' {
        return Err(value.mistake(&value.word, "`case:` needs a text, as in `case:README`"));
    }
    if piece.to(3).text().eq_ignore_ascii_case("re:") && piece.to(3).letters.iter().all(|letter| !letter.quoted) {
        return value.expression(&piece.from(3), true);
    }
    if value.setting.words.regex && !piece.letters.iter().any(|letter| letter.quoted) {
        return value.expression(piece, true);
    }
    let pattern = Pattern::new(&piece.text(), Spelling { regex: false, cased: true });
    pattern.map(Test::Text).map_err(|_| value.mistake(piece, "this is too long to look for"))
}

fn reason(text: &str) -> &str {
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last)
}
