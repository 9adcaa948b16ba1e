//! Problems that `check` reports: a closed list of codes, documented in `docs/check.md`.

use crate::status::words;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

words! {
    /// The kinds of problems a log can have.
    IssueCode {
        /// A call without a result.
        UnansweredCall => "unanswered_call",
        /// A result without its call.
        OrphanResult => "orphan_result",
        /// A second result for a call.
        DuplicateResult => "duplicate_result",
        /// An id that names two different calls.
        ReusedId => "reused_id",
        /// A result stamped before its call.
        ResultBeforeCall => "result_before_call",
        /// A line that is no record and could not be mended.
        UnparsedLine => "unparsed_line",
        /// The last line breaks off: a crash, or a log that is being written.
        TornTail => "torn_tail",
        /// Several records, or a broken and a whole one, on one line; whole ones were read.
        GluedRecords => "glued_records",
        /// A line longer than the limit; counted, not read.
        OversizedLine => "oversized_line",
        /// A line of NUL bytes, as left by a lost write.
        NulLine => "nul_line",
        /// The file begins with a byte order mark.
        ByteOrderMark => "byte_order_mark",
        /// A line contains bytes that are not UTF-8; they read as U+FFFD.
        InvalidUtf8 => "invalid_utf8",
        /// A record nests deeper than any agent writes.
        DeepNesting => "deep_nesting",
        /// A record that names itself, directly or not, as its parent.
        ParentCycle => "parent_cycle",
        /// The file could not be read to its end.
        ReadError => "read_error",
        /// A count of more tokens than a request or a conversation can have; not added up.
        AbsurdTokens => "absurd_tokens",
        /// The rest of the log was not read, because it holds more than a limit allows.
        LogLimit => "log_limit",
    }
}

/// One problem of one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Kind of problem.
    pub code: IssueCode,
    /// The record it concerns, by its number; zero for the source as a whole.
    pub line: u64,
    /// The row it concerns, in a source that is a part of a database. Known once the issue is reported.
    pub row: Option<String>,
    /// The call it concerns.
    pub call: Option<String>,
    /// Description.
    pub text: String,
}

impl Serialize for Issue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let more = usize::from(self.row.is_some()) + usize::from(self.call.is_some());
        let mut issue = serializer.serialize_struct("Issue", 3 + more)?;
        issue.serialize_field("code", &self.code)?;
        issue.serialize_field("line", &self.row.is_none().then_some(self.line))?;
        if let Some(row) = &self.row {
            issue.serialize_field("row", row)?;
        }
        if let Some(call) = &self.call {
            issue.serialize_field("call", call)?;
        }
        issue.serialize_field("text", &self.text)?;
        issue.end()
    }
}

/// Issues as they are stored. In JSON a field may be missing, which a format without field names cannot express.
pub(crate) mod whole {
    use super::{Issue, IssueCode};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(issues: &[Issue], serializer: S) -> Result<S::Ok, S::Error> {
        let issues: Vec<_> = issues.iter().map(|issue| (issue.code, issue.line, &issue.call, &issue.text)).collect();
        issues.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Issue>, D::Error> {
        let issues = Vec::<(IssueCode, u64, Option<String>, String)>::deserialize(deserializer)?;
        Ok(issues.into_iter().map(|(code, line, call, text)| Issue { code, line, row: None, call, text }).collect())
    }
}
