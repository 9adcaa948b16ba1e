//! The configuration file: `config.toml`, whose keys stand in [`KEYS`]. A file that is missing changes nothing.
//!
//! An unknown key is an error that names its line and the key that was probably meant: a policy that is not read must not look as if it
//! held. To add a key: a line in [`KEYS`], a field of [`Config`], and a line in docs/config.md.

mod aliases;
mod values;

pub(crate) use aliases::expanded;
pub(crate) use values::{check, patterns};

use crate::cli::LogArgs;
use crate::directories;
use crate::times::TimeStyle;
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use tooltrail_model::session_verdict::policy::VerifyPolicy;
use tooltrail_server::DefaultTheme;
use values::{choice, flag, paths, text, texts, time};

/// The largest file that is read.
const LARGEST: u64 = 1 << 20;

/// What the file configures.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    /// Directories laid out like a home directory, read in place of the person's own.
    pub(crate) roots: Vec<PathBuf>,
    /// How tables on a terminal write times.
    pub(crate) time: Option<TimeStyle>,
    /// Whether times are in UTC.
    pub(crate) utc: bool,
    /// The pager; an empty one is the usual one.
    pub(crate) pager: Option<String>,
    /// The theme of pages for which the person has chosen none.
    pub(crate) theme: DefaultTheme,
    /// The columns of `calls`; none for all.
    pub(crate) calls_columns: Vec<String>,
    /// The columns of `list`; none for all.
    pub(crate) list_columns: Vec<String>,
    /// The policy of `verify`.
    pub(crate) verify: VerifyPolicy,
    /// Command lines by the name of their alias.
    pub(crate) aliases: BTreeMap<String, Vec<String>>,
    /// The keys that are set, as they are written.
    pub(crate) written: BTreeMap<String, String>,
}

/// A key: its table, its name, its default, what it is for, and what its value does.
pub(crate) struct ConfigKey {
    pub(crate) table: &'static str,
    pub(crate) name: &'static str,
    pub(crate) usual: &'static str,
    pub(crate) about: &'static str,
    set: fn(&mut Config, &DeValue<'_>) -> Result<(), String>,
}

/// The table of aliases, whose keys anybody may choose.
pub(crate) const ALIAS: &str = "alias";

/// All keys, by table.
pub(crate) const KEYS: &[ConfigKey] = &[
    ConfigKey {
        table: "logs",
        name: "roots",
        usual: "[]",
        about: "directories laid out like a home directory, read instead of yours; as --root",
        set: |config, value| paths(value).map(|all| config.roots = all),
    },
    ConfigKey {
        table: "display",
        name: "time",
        usual: "\"relative\"",
        about: "times in tables on a terminal: \"relative\", \"local\" or \"iso\"; as --time",
        set: |config, value| time(value).map(|style| config.time = Some(style)),
    },
    ConfigKey {
        table: "display",
        name: "utc",
        usual: "false",
        about: "times in UTC instead of the local time zone; as --utc",
        set: |config, value| flag(value).map(|on| config.utc = on),
    },
    ConfigKey {
        table: "display",
        name: "pager",
        usual: "\"\"",
        about: "the pager instead of $PAGER and less; \"cat\" for none",
        set: |config, value| text(value).map(|pager| config.pager = Some(pager)),
    },
    ConfigKey {
        table: "display",
        name: "theme",
        usual: "\"auto\"",
        about: "the theme of the page until you choose one there: \"auto\", \"light\" or \"dark\"",
        set: |config, value| choice(value, DefaultTheme::of_word, "`auto`, `light` or `dark`").map(|theme| config.theme = theme),
    },
    ConfigKey {
        table: "columns",
        name: "calls",
        usual: "[]",
        about: "the columns of `calls`, in this order; as its --columns",
        set: |config, value| texts(value).map(|all| config.calls_columns = all),
    },
    ConfigKey {
        table: "columns",
        name: "list",
        usual: "[]",
        about: "the columns of `list`, in this order; as its --columns",
        set: |config, value| texts(value).map(|all| config.list_columns = all),
    },
    ConfigKey {
        table: "verify",
        name: "require",
        usual: "[\"test\"]",
        about: "checks that `verify` requires in every session that edited files; without it, those that the session gives a reason for",
        set: |config, value| values::checks(value).map(|all| config.verify.require = Some(all)),
    },
    ConfigKey {
        table: "verify",
        name: "reported",
        usual: "false",
        about: "whether an output that says that a check passed is enough",
        set: |config, value| flag(value).map(|on| config.verify.reported = on),
    },
    ConfigKey {
        table: "verify",
        name: "ignore",
        usual: "[]",
        about: "files whose edits need no check, as in [\"docs\", \"*.md\"]",
        set: |config, value| patterns(&texts(value)?).map(|all| config.verify.ignore = all),
    },
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

    /// Adds it to the arguments of a command, which come before it.
    pub(crate) fn apply(self, args: &mut LogArgs) {
        // Roots on the command line come before those of the file, and the demo has logs of its own.
        if args.root.is_empty() && !args.demo {
            args.root.clone_from(&self.roots);
            // Paths together with `--root` are a mistake, but with roots from the file they are not: nobody typed both.
            args.is_root_configured = !self.roots.is_empty();
        }
        args.utc |= self.utc;
        args.config = Arc::new(self);
    }

    /// Reads a text.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        let root = DeTable::parse(text).map_err(|error| match error.span() {
            Some(span) => anyhow::anyhow!("line {}: {}", line(text, span.start), error.message()),
            None => anyhow::anyhow!("{}", error.message()),
        })?;
        let mut config = Config::default();
        // Tables and their keys are checked by name before any value is read.
        for (table, value) in root.get_ref() {
            let DeValue::Table(own) = value.get_ref() else { bail!(unknown(text, table, "", table.get_ref())) };
            if table.get_ref() != ALIAS && !KEYS.iter().any(|key| key.table == table.get_ref()) {
                bail!(unknown(text, table, "", table.get_ref()));
            }
            for (name, value) in own {
                let key = KEYS.iter().find(|key| key.table == table.get_ref() && key.name == name.get_ref());
                let set = match key {
                    Some(key) => (key.set)(&mut config, value.get_ref()),
                    None if table.get_ref() == ALIAS => aliases::set(&mut config, name.get_ref(), value.get_ref()),
                    None => bail!(unknown(text, name, table.get_ref(), name.get_ref())),
                };
                let full = format!("{}.{}", table.get_ref(), name.get_ref());
                set.map_err(|wrong| anyhow::anyhow!("line {}: `{full}` {wrong}", line(text, value.span().start)))?;
                // Kept as it is written, so that `tooltrail config` shows what the person wrote.
                config.written.insert(full, text.get(value.span()).unwrap_or_default().to_owned());
            }
        }
        Ok(config)
    }
}

/// The text of a file, up to a limit.
fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    // `TOOLTRAIL_CONFIG` may name anything, such as a device that never ends.
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
    // Tables too: a misspelt table is found before any of its keys.
    let known = KEYS.iter().flat_map(|key| [key.table.to_owned(), full(key.table, key.name)]);
    // A third of the letters may be wrong; beyond that a suggestion would be a guess.
    let near = known.map(|key| (distance(&key, &own), key)).filter(|(distance, key)| *distance <= key.len() / 3 + 1).min();
    let meant = near.map(|(_, key)| format!("; did you mean `{key}`?")).unwrap_or_default();
    format!("line {}: unknown key `{own}`{meant}", line(text, place.span().start))
}

/// Number of letters to insert, delete or replace between two words.
fn distance(one: &str, other: &str) -> usize {
    // A name in the file may have any length, and the work grows with it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use tooltrail_model::session_verdict::CheckKind;

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
