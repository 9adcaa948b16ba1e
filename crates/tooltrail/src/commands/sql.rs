//! `sql`: the catalogue, asked in SQL.

use crate::catalogue::{self, Ready};
use crate::cli::{LogArgs, duration};
use crate::out::{self, DIM};
use crate::pager::PagedOutput;
use crate::sql_functions;
use crate::table::{self, Align, Cell, Table};
use anyhow::{Context, bail};
use clap::Args;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement};
use serde_json::Value;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  tooltrail sql                     list the views and their columns
  tooltrail sql \"SELECT tool, count(*) AS calls FROM calls GROUP BY tool ORDER BY calls DESC\"
  tooltrail sql \"SELECT ref, exit_code, requested_at FROM calls WHERE purpose = 'test' AND status = 'failed'\"
  tooltrail sql --csv \"SELECT project, sum(output) AS tokens FROM sessions GROUP BY project\" > tokens.csv
  tooltrail sql --json \"SELECT * FROM calls WHERE duration_ms > 60000\" | jq .ref

The views are explained in docs/catalogue.md. Queries are read-only.";

/// Arguments of `sql`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SqlArgs {
    /// A single read-only statement, or `-` to read it from standard input [default: list the views and their columns]
    #[arg(value_name = "SELECT", allow_hyphen_values = true)] // it may begin with a comment
    statement: Option<String>,
    /// Print CSV with a header line
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// How long the statement may take, as in `30s` or `10m`; `0s` for as long as it takes
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration)]
    timeout: Duration,
}

/// Query that lists the views and their columns, for `sql` without a statement.
const VIEWS: &str = "
SELECT v.name AS \"view\", group_concat(c.name, ', ') AS columns
FROM main.sqlite_master v, pragma_table_info(v.name) c WHERE v.type = 'view' GROUP BY v.name";

pub(crate) fn run(args: &LogArgs, own: &SqlArgs) -> anyhow::Result<ExitCode> {
    let sql = match own.statement.as_deref() {
        Some("-") => from_input()?,
        statement => statement.unwrap_or(VIEWS).to_owned(),
    };
    let ready = if asks_details(&sql) { with_details(args)? } else { catalogue::ready(args)? };
    let Ready { library, now, .. } = ready;
    let catalogue = library.catalogue();
    let mut connection = catalogue.ask(&now)?;
    limit(&mut connection, own.timeout);
    sql_functions::add(&connection)?;
    let mut statement = prepare(&connection, &sql)?;
    let printed = match (own.csv, args.json) {
        (true, _) => csv(&mut statement),
        (_, true) => json(&mut statement),
        _ => print(&mut statement, args),
    };
    if printed.as_ref().is_err_and(is_interrupted) {
        bail!("the statement took longer than {:?} and was stopped; what is printed is not everything (--timeout)", own.timeout);
    }
    printed.map(|()| ExitCode::SUCCESS)
}

/// The catalogue, with all details.
fn with_details(args: &LogArgs) -> anyhow::Result<Ready> {
    let mut ready = catalogue::ready(args)?;
    // A log that was written a moment ago is read once more when the catalogue is opened again, and its details are made once more. An agent
    // that writes all the time must not keep the statement waiting.
    for _ in 0..ATTEMPTS {
        let listing = ready.list()?;
        let all: Vec<usize> = (0..listing.rows().len()).collect();
        if ready.library.fill(&listing, &all, ready.threads, &|| true)? == 0 {
            break;
        }
        drop(listing);
        // Opened again: a library answers from the state that the file had when it was first asked.
        ready = catalogue::ready(args)?;
    }
    Ok(ready)
}

/// How often details are made before a statement that names them.
const ATTEMPTS: usize = 4;

/// Whether a statement names what is stored later than rows. One that only seems to takes longer, and nothing else. `*` names nothing: it is
/// what people type to see what there is, and has to answer at once.
fn asks_details(sql: &str) -> bool {
    const LATER: [&str; 5] = ["error", "failure", "follow_up", "requests", "digests"];
    let sql = sql.to_ascii_lowercase();
    let mut words = sql.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.any(|word| LATER.contains(&word))
}

/// Steps of SQLite's machine between two looks at the clock: a fraction of a millisecond.
const STEPS: i32 = 10_000;

/// Stops statements of a connection that take too long.
fn limit(connection: &mut Connection, timeout: Duration) {
    let deadline = Instant::now().checked_add(timeout).filter(|_| !timeout.is_zero());
    if let Some(deadline) = deadline {
        let _ = connection.progress_handler(STEPS, Some(move || Instant::now() >= deadline));
    }
}

/// Whether a statement was stopped.
fn is_interrupted(error: &anyhow::Error) -> bool {
    let code = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
    code == Some(rusqlite::ErrorCode::OperationInterrupted)
}

/// The statement on standard input.
fn from_input() -> anyhow::Result<String> {
    // More than any statement has; a log piped in by mistake should not be read whole.
    const LONGEST: u64 = 1 << 20;
    let mut text = String::new();
    io::stdin().lock().take(LONGEST + 1).read_to_string(&mut text).context("cannot read the statement from standard input")?;
    if text.len() as u64 > LONGEST {
        bail!("the statement on standard input is longer than 1 MB");
    }
    Ok(text)
}

fn prepare<'c>(connection: &'c Connection, sql: &str) -> anyhow::Result<Statement<'c>> {
    let statement = match connection.prepare(sql) {
        Ok(statement) => statement,
        // Only the first of several would be checked below, so they are refused.
        Err(rusqlite::Error::MultipleStatement) => bail!("only a single statement is allowed"),
        Err(error) => bail!("{error}\n`tooltrail sql` lists the views and their columns"),
    };
    // `readonly` is SQLite's own judgement of the compiled statement, so no clever spelling gets around it. Statements without columns,
    // such as ATTACH, count as reading, but are of no use here.
    if !statement.readonly() || statement.column_count() == 0 {
        bail!("only read-only statements such as SELECT are allowed");
    }
    Ok(statement)
}

/// The names of the columns.
fn names(statement: &Statement<'_>) -> Vec<String> {
    statement.column_names().map(str::to_owned).collect()
}

fn print(statement: &mut Statement<'_>, args: &LogArgs) -> anyhow::Result<()> {
    let names = names(statement);
    let mut cells: Vec<Vec<Cell>> = Vec::new();
    // A column is aligned to the right if all of its values are numbers; SQLite has no types of columns to rely on.
    let mut numbers = vec![true; names.len()];
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut line = Vec::with_capacity(names.len());
        for (column, numbers) in numbers.iter_mut().enumerate() {
            let value = row.get_ref(column)?;
            *numbers &= matches!(value, ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Null);
            line.push(if value == ValueRef::Null { Cell::styled("null", DIM) } else { text(value).into() });
        }
        cells.push(line);
    }
    let align = |numbers: &bool| if *numbers { Align::Right } else { Align::Fill };
    let heads: Vec<(&str, Align)> = names.iter().map(String::as_str).zip(numbers.iter().map(align)).collect();
    let mut table = Table::new(&heads);
    cells.into_iter().for_each(|line| table.row(line));
    let mut out = PagedOutput::open(args);
    table.print(&mut out, table::terminal_width())?;
    out.flush()?;
    Ok(())
}

/// A value as text; bytes in hexadecimal.
fn text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::Blob(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

fn csv(statement: &mut Statement<'_>) -> anyhow::Result<()> {
    let stdout = out::data();
    // Into a pipe too: what reads it may print it, and a line feed would begin another line there. `--json` gives values unchanged.
    let safe = |text: String| table::printable(&text);
    let mut out = io::BufWriter::new(stdout);
    let names = names(statement);
    let line: Vec<String> = names.iter().map(|name| quoted(&safe(name.clone()))).collect();
    writeln!(out, "{}", line.join(","))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let line = (0..names.len()).map(|column| Ok(quoted(&safe(text(row.get_ref(column)?)))));
        writeln!(out, "{}", line.collect::<rusqlite::Result<Vec<_>>>()?.join(","))?;
    }
    out.flush()?;
    Ok(())
}

/// A field of comma-separated values, quoted where needed (RFC 4180).
fn quoted(field: &str) -> String {
    let plain = !field.contains(['"', ',', '\n', '\r']);
    if plain { field.to_owned() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
}

fn json(statement: &mut Statement<'_>) -> anyhow::Result<()> {
    // Two columns may have the same name, as in a join, and the second would overwrite the first.
    let names = distinct(names(statement));
    let mut out = io::BufWriter::new(out::data());
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut object = serde_json::Map::new();
        for (column, name) in names.iter().enumerate() {
            let value = match row.get_ref(column)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => number.into(),
                ValueRef::Real(number) => number.into(),
                value => text(value).into(),
            };
            object.insert(name.clone(), value);
        }
        serde_json::to_writer(&mut out, &object)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// Names made unique, as keys of one JSON object: `a`, `a_2`.
fn distinct(mut names: Vec<String>) -> Vec<String> {
    for index in 0..names.len() {
        let mut number = 1;
        let own = names[index].clone();
        // A loop, because `a_2` may be the name of a column too.
        while names[..index].contains(&names[index]) {
            number += 1;
            names[index] = format!("{own}_{number}");
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_statement_that_reads_is_run() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t(a)").unwrap();
        assert!(prepare(&connection, "SELECT a FROM t").is_ok());
        for (sql, why) in [
            ("DELETE FROM t", "only read-only statements"),
            ("INSERT INTO t VALUES (1) RETURNING a", "only read-only statements"),
            ("VACUUM INTO 'x.db'", "only read-only statements"),
            ("BEGIN", "only read-only statements"),
            ("ATTACH 'x.db' AS x", "only read-only statements"),
            ("SELECT 1; SELECT 2", "single statement"),
            ("SELECT missing FROM t", "no such column"),
            ("", "only read-only statements"),
        ] {
            let error = prepare(&connection, sql).map(drop).unwrap_err().to_string();
            assert!(error.contains(why), "{sql}: {error}");
        }
    }

    #[test]
    fn a_statement_without_end_is_stopped() {
        let mut connection = Connection::open_in_memory().unwrap();
        limit(&mut connection, Duration::from_millis(1));
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        let error = json(&mut prepare(&connection, endless).unwrap()).unwrap_err();
        assert!(is_interrupted(&error), "{error}");
    }

    #[test]
    fn fields_and_names_are_unmistakable() {
        assert_eq!((quoted("a b").as_str(), quoted("a,\"b\"\n").as_str()), ("a b", "\"a,\"\"b\"\"\n\""));
        let names = ["a", "b", "a", "a"].map(str::to_owned).to_vec();
        assert_eq!(distinct(names), ["a", "b", "a_2", "a_3"]);
    }
}
