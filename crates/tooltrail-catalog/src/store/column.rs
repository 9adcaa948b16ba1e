//! Columns as values of the model. A value that this crate would not write is an error: something else changed the file.

use rusqlite::types::{FromSqlError, Type};
use rusqlite::{Error, Result, Row};
use serde::de::DeserializeOwned;
use tooltrail_model::Time;
use tooltrail_model::link::SessionPlace;

/// A number of something.
pub(super) fn count(row: &Row<'_>, column: usize) -> Result<u64> {
    // SQLite has signed integers only. Counts are never negative, so a changed file may at worst show a 0.
    Ok(row.get::<_, i64>(column)?.max(0).cast_unsigned())
}

/// A number of something that may be missing.
pub(super) fn maybe_count(row: &Row<'_>, column: usize) -> Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(|number| number.max(0).cast_unsigned()))
}

/// A moment, stored in microseconds.
pub(super) fn time(row: &Row<'_>, column: usize) -> Result<Option<Time>> {
    Ok(row.get::<_, Option<i64>>(column)?.and_then(Time::from_microsecond))
}

/// A moment, stored as the contracts spell it.
pub(super) fn spelled_time(row: &Row<'_>, column: usize) -> Result<Option<Time>> {
    maybe_text(row, column)?.map(|text| text.parse().map_err(|error: jiff::Error| wrong(column, error))).transpose()
}

/// A text that may be missing.
pub(super) fn maybe_text<'a>(row: &'a Row<'_>, column: usize) -> Result<Option<&'a str>> {
    row.get_ref(column)?.as_str_or_null().map_err(|error| wrong(column, error))
}

/// A text.
pub(super) fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a str> {
    row.get_ref(column)?.as_str().map_err(|error| wrong(column, error))
}

/// A word of a closed list.
pub(super) fn word<T>(row: &Row<'_>, column: usize, of_word: fn(&str) -> Option<T>) -> Result<T> {
    of_word(text(row, column)?).ok_or_else(|| wrong(column, FromSqlError::InvalidType))
}

/// A word of a closed list that may be missing.
pub(super) fn optional<T>(row: &Row<'_>, column: usize, of_word: fn(&str) -> Option<T>) -> Result<Option<T>> {
    match maybe_text(row, column)? {
        // An unknown word is an error, not an absent value: a wrong status would be worse than a rebuilt catalogue.
        Some(_) => word(row, column, of_word).map(Some),
        None => Ok(None),
    }
}

/// A value that is stored as JSON; what is missing is empty.
pub(super) fn json<T: DeserializeOwned + Default>(row: &Row<'_>, column: usize) -> Result<T> {
    match maybe_text(row, column)? {
        Some(text) => serde_json::from_str(text).map_err(|error| wrong(column, error)),
        None => Ok(T::default()),
    }
}

/// The place of a session, in three columns: its project, what that is without a checkout if it has one, and the name of the repository.
pub(super) fn place(row: &Row<'_>, first: usize) -> Result<SessionPlace> {
    let text = |column| maybe_text(row, column).map(|text| text.map(Box::from));
    let (project, stand_in, repository) = (text(first)?, text(first + 1)?, text(first + 2)?);
    Ok(SessionPlace { stand_in: stand_in.is_some(), project: stand_in.or(project), repository })
}

fn wrong(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}
