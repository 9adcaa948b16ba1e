//! The configuration file: `config.toml`, whose keys stand in [`KEYS`]. A file that is missing changes nothing.
//!
//! An unknown key is an error that names its line and the key that was probably meant: a policy that is not read must not look as if it
//! held. To add a key: a line in [`KEYS`], a field of [`Config`], and a line in docs/verify.md or the page of what it configures.

use crate::directories;
use anyhow::{Context, bail};
use std::io::{ErrorKind, Read};
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use tooltrail_model::filter::NamePattern;
use tooltrail_model::session_verdict::CheckKind;
use tooltrail_model::session_verdict::policy::VerifyPolicy;

/// The largest file that is read.
const LARGEST: u64 = 1 << 20;

/// What the file configures.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// The policy of `verify`.
    pub(crate) verify: VerifyPolicy,
}

/// A key: its table, its name, and what its value does.
struct ConfigKey {
    table: &'static str,
    name: &'static str,
    set: fn(&mut Config, &DeValue<'_>) -> Result<(), String>,
}

/// All keys.
const KEYS: &[ConfigKey] = &[
    ConfigKey { table: "verify", name: "require", set: |config, value| checks(value).map(|all| config.verify.require = Some(all)) },
    ConfigKey { table: "verify", name: "reported", set: |config, value| flag(value).map(|on| config.verify.reported = on) },
    ConfigKey { table: "verify", name: "ignore", set: |config, value| patterns(&texts(value)?).map(|all| config.verify.ignore = all) },
];

impl Config {
    /// Reads the file of this user.
    pub(crate) fn read() -> anyhow::Result<Self> {
        let Some(path) = directories::config() else { return Ok(Config::default()) };
        match read(&path) {
            Ok(text) => Config::parse(&text).with_context(|| format!("cannot use `{}`", path.display())),
            // A file that was named has to be there.
            Err(error) if error.kind() == ErrorKind::NotFound && directories::variable("TOOLTRAIL_CONFIG").is_none() => {
                Ok(Config::default())
            }
            Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
        }
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let root = DeTable::parse(text).map_err(|error| match error.span() {
            Some(span) => anyhow::anyhow!("line {}: {}", line(text, span.start), error.message()),
            None => anyhow::anyhow!("{}", error.message()),
        })?;
        let mut config = Config::default();
        // Tables and their keys are checked by name before any value is read.
        for (table, value) in root.get_ref() {
            let DeValue::Table(own) = value.get_ref() else { bail!(unknown(text, table, "", table.get_ref())) };
            if !KEYS.iter().any(|key| key.table == table.get_ref()) {
                bail!(unknown(text, table, "", table.get_ref()));
            }
            for (name, value) in own {
                let key = KEYS.iter().find(|key| key.table == table.get_ref() && key.name == name.get_ref());
                let Some(key) = key else { bail!(unknown(text, name, table.get_ref(), name.get_ref())) };
                (key.set)(&mut config, value.get_ref())
                    .map_err(|wrong| anyhow::anyhow!("line {}: `{}.{}` {wrong}", line(text, value.span().start), key.table, key.name))?;
            }
        }
        Ok(config)
    }
}

/// The text of a file, up to a limit.
fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(LARGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// The line of a place, counted from 1.
fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// The message for a key that there is not.
fn unknown<T>(text: &str, place: &Spanned<T>, table: &str, name: &str) -> String {
    let full = |table: &str, name: &str| if table.is_empty() { name.to_owned() } else { format!("{table}.{name}") };
    let own = full(table, name);
    let known = KEYS.iter().flat_map(|key| [key.table.to_owned(), full(key.table, key.name)]);
    // A third of the letters may be wrong; beyond that a suggestion would be a guess.
    let near = known.map(|key| (distance(&key, &own), key)).filter(|(distance, key)| *distance <= key.len() / 3 + 1).min();
    let meant = near.map(|(_, key)| format!("; did you mean `{key}`?")).unwrap_or_default();
    format!("line {}: unknown key `{own}`{meant}", line(text, place.span().start))
}

/// Number of letters to insert, delete or replace between two words.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(80).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut next = vec![at + 1];
        for (column, sign) in other.iter().enumerate() {
            let replaced = row.get(column).copied().unwrap_or(usize::MAX) + usize::from(letter != *sign);
            let deleted = row.get(column + 1).copied().unwrap_or(usize::MAX).saturating_add(1);
            let inserted = next.last().copied().unwrap_or(usize::MAX).saturating_add(1);
            next.push(replaced.min(deleted).min(inserted));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

fn flag(value: &DeValue<'_>) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| "is `true` or `false`".to_owned())
}

fn texts(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let wrong = || "is a list of texts, as in `[\"test\"]`".to_owned();
    let all = value.as_array().ok_or_else(wrong)?.iter();
    all.map(|value| value.get_ref().as_str().map(str::to_owned).ok_or_else(wrong)).collect()
}

fn checks(value: &DeValue<'_>) -> Result<Vec<CheckKind>, String> {
    texts(value)?.iter().map(|name| check(name)).collect()
}

/// A kind of check by its name.
pub(crate) fn check(name: &str) -> Result<CheckKind, String> {
    CheckKind::of_word(name).ok_or_else(|| format!("names `{name}`; checks are `test`, `build` and `lint`"))
}

/// Patterns for paths.
pub(crate) fn patterns(texts: &[String]) -> Result<Vec<NamePattern>, String> {
    texts.iter().map(|text| NamePattern::path(text).map_err(|_| format!("has `{text}`, which is too long for a pattern"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read() {
        let config =
            Config::parse("# policy\n[verify]\nrequire = [\"test\", \"lint\"]\nreported = true\nignore = [\"docs\", \"*.md\"]\n").unwrap();
        assert_eq!(config.verify.require, Some(vec![CheckKind::Test, CheckKind::Lint]));
        assert!(config.verify.reported && config.verify.ignore.iter().any(|pattern| pattern.fits("/srv/app/README.md")));
        let empty = Config::parse("").unwrap();
        assert!(empty.verify.require.is_none() && !empty.verify.reported);
    }

    #[test]
    fn mistakes_name_their_line_and_what_was_meant() {
        let wrong = |text: &str| Config::parse(text).unwrap_err().to_string();
        assert_eq!(wrong("\n[verify]\nrequires = []"), "line 3: unknown key `verify.requires`; did you mean `verify.require`?");
        assert_eq!(wrong("[verfy]\nrequire = []"), "line 1: unknown key `verfy`; did you mean `verify`?");
        assert_eq!(wrong("color = 1"), "line 1: unknown key `color`");
        assert_eq!(
            wrong("[verify]\nrequire = [\"tests\"]"),
            "line 2: `verify.require` names `tests`; checks are `test`, `build` and `lint`"
        );
        assert_eq!(wrong("[verify]\nreported = 1"), "line 2: `verify.reported` is `true` or `false`");
        assert_eq!(wrong("[verify]\nrequire = \"test\""), "line 2: `verify.require` is a list of texts, as in `[\"test\"]`");
        assert!(wrong("[verify]\nreported = ").starts_with("line 2: "));
    }
}
