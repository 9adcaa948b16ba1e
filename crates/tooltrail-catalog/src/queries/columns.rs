//! Terms of a filter as tests of columns, which a database can decide for all rows at once.
//!
//! They only save work: a row that they exclude is one that the evaluator would not select, and what they leave is decided by that. So a
//! term that has no column, or whose column may say something else at the moment of asking, has no test.

use tooltrail_model::filter::{Filter, Has, Is, Test};
use tooltrail_model::{Kind, Status, Time};

/// A column of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Kind,
    Status,
    Purpose,
    ExitCode,
    Duration,
    Time,
    Hooks,
    Child,
    Background,
    Masked,
}

/// A test of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ColumnTest {
    /// The value is one of these words.
    OneOf(Column, Vec<&'static str>),
    /// The value is in one of these ranges, with both ends.
    Within(Column, Vec<(Option<i64>, Option<i64>)>),
    /// The value is a time in this range, as JSON spells times, to the second: from, and up to.
    Between(Column, Option<String>, Option<String>),
    /// There is a value.
    Present(Column),
}

/// The tests that all calls meet that a filter selects.
pub(crate) fn column_tests(filter: &Filter) -> Vec<ColumnTest> {
    // A call without a value meets a negated term, but no test of the column would find it.
    filter.terms().iter().filter(|term| !term.not).filter_map(|term| of_term(&term.test)).collect()
}

fn of_term(test: &Test) -> Option<ColumnTest> {
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    Some(match test {
        Test::Kind(kinds) => ColumnTest::OneOf(Column::Kind, kinds.iter().map(|kind| kind.word()).collect()),
        // A call without a result is stored as one of an ended session: it may be running now.
        Test::Status(statuses) if !statuses.contains(&Status::Running) => {
            ColumnTest::OneOf(Column::Status, statuses.iter().map(|status| status.word()).collect())
        }
        // Beside another word a call of another status may be selected too.
        Test::Is(all) if all.as_slice() == [Is::Failed] => ColumnTest::OneOf(Column::Status, vec![Status::Failed.word()]),
        Test::Purpose(purposes) => ColumnTest::OneOf(Column::Purpose, purposes.iter().map(|purpose| purpose.word()).collect()),
        Test::Command(_) => ColumnTest::OneOf(Column::Kind, vec![Kind::Shell.word()]),
        Test::Exit(ranges) => ColumnTest::Within(Column::ExitCode, ranges.iter().map(|range| (range.least, range.most)).collect()),
        Test::Took(ranges) => {
            ColumnTest::Within(Column::Duration, ranges.iter().map(|range| (range.least.map(whole), range.most.map(whole))).collect())
        }
        Test::Since(time) => ColumnTest::Between(Column::Time, Some(second(*time)?), None),
        Test::Until(time) => ColumnTest::Between(Column::Time, None, Some(second(*time)?)),
        Test::Has(all) => match all.as_slice() {
            [Has::Hooks] => ColumnTest::Present(Column::Hooks),
            [Has::Subagent] => ColumnTest::Present(Column::Child),
            [Has::Background] => ColumnTest::Present(Column::Background),
            [Has::Masked] => ColumnTest::Present(Column::Masked),
            [Has::Diff] => ColumnTest::OneOf(Column::Kind, vec![Kind::Edit.word(), Kind::Write.word()]),
            _ => return None,
        },
        _ => return None,
    })
}

/// A time as text, to the second: finer ones are spelled with more or fewer digits, which have no order as texts. Years before 0 have none
/// either.
fn second(time: Time) -> Option<String> {
    time.to_string().get(..19).filter(|text| !text.starts_with('-')).map(str::to_owned)
}
