//! The values of keys, each with a message for one that does not fit.

use crate::directories;
use crate::times::TimeStyle;
use clap::ValueEnum;
use std::path::PathBuf;
use toml::de::DeValue;
use tooltrail_model::filter::NamePattern;
use tooltrail_model::session_verdict::CheckKind;

/// A text.
pub(super) fn text(value: &DeValue<'_>) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| "is a text in quotes".to_owned())
}

/// One of several words.
pub(super) fn choice<T>(value: &DeValue<'_>, of_word: fn(&str) -> Option<T>, words: &str) -> Result<T, String> {
    value.as_str().and_then(of_word).ok_or_else(|| format!("is {words}"))
}

/// How times are written.
pub(super) fn time(value: &DeValue<'_>) -> Result<TimeStyle, String> {
    choice(value, |word| TimeStyle::from_str(word, false).ok(), "`relative`, `local` or `iso`")
}

/// Directories. `~/` is the home directory.
pub(super) fn paths(value: &DeValue<'_>) -> Result<Vec<PathBuf>, String> {
    let whole = |text: String| match text.strip_prefix("~/") {
        Some(rest) => {
            directories::home().map(|home| home.join(rest)).ok_or_else(|| format!("has `{text}`, but there is no home directory"))
        }
        // The program may be started anywhere, so a relative path would be another directory each time.
        None if !PathBuf::from(&text).is_absolute() => Err(format!("has `{text}`; write a whole path, or one that begins with `~/`")),
        None => Ok(PathBuf::from(text)),
    };
    texts(value)?.into_iter().map(whole).collect()
}

pub(super) fn flag(value: &DeValue<'_>) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| "is `true` or `false`".to_owned())
}

pub(super) fn texts(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let wrong = || "is a list of texts, as in `[\"test\"]`".to_owned();
    let all = value.as_array().ok_or_else(wrong)?.iter();
    all.map(|value| value.get_ref().as_str().map(str::to_owned).ok_or_else(wrong)).collect()
}

pub(super) fn checks(value: &DeValue<'_>) -> Result<Vec<CheckKind>, String> {
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
