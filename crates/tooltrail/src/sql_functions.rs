//! Functions that `sql` adds to those of SQLite: `percentile`, as `stats` computes it, and `regexp`, which is the operator `REGEXP`.

use regex::{Regex, RegexBuilder};
use rusqlite::Connection;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;

/// The largest compiled regular expression.
const LARGEST: usize = 4 << 20;

/// Adds the functions to a connection.
pub(crate) fn add(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_aggregate_function("percentile", 2, flags, Percentile)?;
    connection.create_scalar_function("regexp", 2, flags, matches)
}

/// `percentile(x, p)`: the smallest value that at least `p` percent of the values do not exceed. NULL values do not count.
struct Percentile;

/// The values of a group, and the percentage.
#[derive(Default)]
struct Values {
    values: Vec<f64>,
    percent: f64,
}

impl Aggregate<Values, Option<f64>> for Percentile {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<Values> {
        Ok(Values::default())
    }

    fn step(&self, context: &mut Context<'_>, state: &mut Values) -> rusqlite::Result<()> {
        let percent = context.get::<f64>(1)?;
        if !(0.0..=100.0).contains(&percent) {
            return Err(user_error("the second argument of percentile() is a number from 0 to 100"));
        }
        state.percent = percent;
        match context.get_raw(0) {
            ValueRef::Integer(number) => state.values.push(number as f64),
            ValueRef::Real(number) if !number.is_nan() => state.values.push(number),
            ValueRef::Null => {}
            _ => return Err(user_error("the first argument of percentile() is a number")),
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, state: Option<Values>) -> rusqlite::Result<Option<f64>> {
        let Some(Values { mut values, percent }) = state else { return Ok(None) };
        values.sort_unstable_by(f64::total_cmp);
        // Truncation is meant: the rank is between 1 and the number of values.
        let rank = (values.len() as f64 * percent / 100.0).ceil().max(1.0) as usize;
        Ok(values.get(rank - 1).copied())
    }
}

/// `regexp(pattern, text)`, also written `text REGEXP pattern`. Ignores case like filters do; `(?-i)` turns that off.
fn matches(context: &Context<'_>) -> rusqlite::Result<Option<bool>> {
    // Compiled once per statement, however many rows are looked at.
    let pattern = context.get_or_create_aux(0, |pattern| -> Result<Regex, Box<dyn std::error::Error + Send + Sync + 'static>> {
        let pattern = pattern.as_str()?;
        Ok(RegexBuilder::new(pattern).case_insensitive(true).multi_line(true).size_limit(LARGEST).build()?)
    })?;
    match context.get_raw(1) {
        ValueRef::Text(bytes) => Ok(Some(pattern.is_match(&String::from_utf8_lossy(bytes)))),
        ValueRef::Integer(number) => Ok(Some(pattern.is_match(&number.to_string()))),
        // As SQLite's own operators: what is not known matches neither way.
        _ => Ok(None),
    }
}

fn user_error(message: &str) -> rusqlite::Error {
    rusqlite::Error::UserFunctionError(message.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(sql: &str) -> Result<String, String> {
        let connection = Connection::open_in_memory().unwrap();
        add(&connection).unwrap();
        connection.execute_batch("CREATE TABLE t(x); INSERT INTO t VALUES (40), (10), (NULL), (30), (20), (50.5)").unwrap();
        let value = connection.query_row(sql, [], |row| row.get::<_, rusqlite::types::Value>(0));
        value.map(|value| format!("{value:?}")).map_err(|error| error.to_string())
    }

    #[test]
    fn percentiles_are_values_of_the_group() {
        for (percent, expected) in [("0", 10.0), ("20", 10.0), ("21", 20.0), ("50", 30.0), ("95", 50.5), ("100", 50.5)] {
            assert_eq!(one(&format!("SELECT percentile(x, {percent}) FROM t")), Ok(format!("Real({expected:?})")), "{percent}");
        }
        assert_eq!(one("SELECT percentile(x, 50) FROM t WHERE x > 99"), Ok("Null".to_owned()));
        assert!(one("SELECT percentile(x, 101) FROM t").unwrap_err().contains("from 0 to 100"));
        assert!(one("SELECT percentile('a', 50)").unwrap_err().contains("is a number"));
    }

    #[test]
    fn expressions_match_like_those_of_filters() {
        assert_eq!(one("SELECT 'Cargo test' REGEXP '^cargo (test|build)$'"), Ok("Integer(1)".to_owned()));
        assert_eq!(one("SELECT regexp('(?-i)cargo', 'CARGO')"), Ok("Integer(0)".to_owned()));
        assert_eq!(one("SELECT count(*) FROM t WHERE x REGEXP '^.0$'"), Ok("Integer(4)".to_owned()));
        assert_eq!(one("SELECT NULL REGEXP 'a'"), Ok("Null".to_owned()));
        assert!(one("SELECT 'a' REGEXP '('").unwrap_err().contains("unclosed group"));
    }
}
