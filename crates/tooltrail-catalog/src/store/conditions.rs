//! Tests of columns as conditions of SQL.

use crate::queries::{Column, ColumnTest};
use rusqlite::types::Value;
use std::fmt::Write;

/// Conditions on the rows of calls, with the values of their parameters.
#[derive(Default)]
pub(super) struct Conditions {
    /// Text to follow a `WHERE` with other conditions: empty, or it begins with ` AND`.
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

impl Conditions {
    /// The conditions that rows meet which pass some tests.
    pub(super) fn of(tests: &[ColumnTest]) -> Self {
        let mut conditions = Conditions::default();
        tests.iter().for_each(|test| conditions.add(test));
        conditions
    }

    fn add(&mut self, test: &ColumnTest) {
        match test {
            ColumnTest::OneOf(column, words) => {
                let marks = vec!["?"; words.len()].join(", ");
                self.and(&format!("{} IN ({marks})", name(*column)));
                self.values.extend(words.iter().map(|word| Value::Text((*word).to_owned())));
            }
            ColumnTest::Within(column, ranges) => {
                let column = name(*column);
                let mut any = Vec::new();
                for (least, most) in ranges {
                    let mut both = vec![format!("{column} IS NOT NULL")];
                    for (sign, end) in [(">=", least), ("<=", most)] {
                        if let Some(end) = end {
                            both.push(format!("{column} {sign} ?"));
                            self.values.push(Value::Integer(*end));
                        }
                    }
                    any.push(format!("({})", both.join(" AND ")));
                }
                self.and(&format!("({})", if any.is_empty() { "0".to_owned() } else { any.join(" OR ") }));
            }
            ColumnTest::Between(column, from, to) => {
                if let Some(from) = from {
                    self.and(&format!("{} >= ?", name(*column)));
                    self.values.push(Value::Text(from.clone()));
                }
                if let Some(to) = to {
                    self.and(&format!("{} < ?", name(*column)));
                    // Behind all times of that second.
                    self.values.push(Value::Text(format!("{to}~")));
                }
            }
            ColumnTest::Present(column) => self.and(&format!("{} IS NOT NULL", name(*column))),
        }
    }

    fn and(&mut self, condition: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.sql, " AND {condition}");
    }
}

/// The name of a column of `call_rows`.
fn name(column: Column) -> &'static str {
    match column {
        Column::Kind => "kind",
        Column::Status => "status",
        Column::Purpose => "purpose",
        Column::ExitCode => "exit_code",
        Column::Duration => "duration_ms",
        Column::Time => "requested_at",
        Column::Hooks => "hooks",
        Column::Child => "child_session",
        Column::Background => "background",
        Column::Masked => "masked",
    }
}
