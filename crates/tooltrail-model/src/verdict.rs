//! From signals to a status: the only place that decides the outcome of a call.
//!
//! Formats report what they saw ([`Signals`]); assembling reports what came later ([`Sequel`]). The two functions here turn
//! that into a [`Status`] and a [`Reason`]. They are plain tables, tested as such.

use crate::event::HookStage;
use crate::position::At;
use crate::{Kind, Reason, Status};
use serde::{Deserialize, Serialize};

/// Signals of a call's outcome in a result record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signals {
    /// Whether the result is marked as an error, or known not to be one.
    pub outcome: LoggedOutcome,
    /// Whether the tool's own output is nothing but the message of an error, which counts as much as a mark.
    pub error_output: bool,
    /// The refuser, where a field names it.
    pub denial: Option<Denial>,
    /// Known beginning of the text.
    pub marker: Option<Marker>,
    /// Whether the structured result says that it was interrupted.
    pub interrupted: bool,
    /// Whether the work goes on in the background.
    pub backgrounded: bool,
    /// Whether a field says that the tool reached its own time limit.
    pub timed_out: bool,
    /// Exit code in a field.
    pub exit_field: Option<i64>,
    /// Exit code at the beginning of the text.
    pub exit_head: Option<i64>,
    /// Exit code at the end of the text.
    pub exit_tail: Option<i64>,
    /// Whether the log remarks that the exit code is no error, such as that of a search without matches.
    pub exit_excused: bool,
    /// Statements in the words of a server's tool.
    pub served: ServedWords,
}

/// Statements about a call in the words that tools of MCP servers use. Any text may contain such words, so they count only for a tool that
/// a server offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedWords {
    /// Exit code of the command.
    pub exit: Option<i64>,
    /// Whether the command reached its time limit.
    pub timed_out: bool,
    /// Whether the command was stopped.
    pub stopped: bool,
    /// Whether the command goes on as a process that the text names.
    pub launched: bool,
    /// Whether a change of a file failed.
    pub unchanged: bool,
    /// Whether a file could not be read.
    pub unread: bool,
}

impl ServedWords {
    /// The statements that a tool of this kind can make.
    fn of_kind(self, kind: Kind) -> Self {
        let none = ServedWords::default();
        match kind {
            Kind::Shell => ServedWords { unchanged: false, unread: false, ..self },
            // A question about a process, which is answered whatever became of the process.
            Kind::Task => ServedWords { exit: self.exit, ..none },
            Kind::Write | Kind::Edit => ServedWords { unchanged: self.unchanged, ..none },
            Kind::Read => ServedWords { unread: self.unread, ..none },
            _ => none,
        }
    }
}

impl Signals {
    /// Whether the log says that it was an error, by a mark or by the tool's own output.
    pub fn says_error(&self) -> bool {
        self.outcome == LoggedOutcome::Error || self.error_output
    }

    /// The signals of a call of a tool of this kind. `served` says whether a server offers the tool: then what its text states in words of
    /// its own counts as if fields said so.
    pub fn of_tool(&self, kind: Kind, served: bool) -> Signals {
        let words = if served { self.served.of_kind(kind) } else { ServedWords::default() };
        let mut own = Signals { served: words, ..*self };
        own.exit_field = own.exit_field.or(words.exit);
        own.timed_out |= words.timed_out;
        own.interrupted |= words.stopped;
        if words.unchanged || words.unread {
            own.outcome = LoggedOutcome::Error;
        } else if words.exit.is_some() && own.outcome == LoggedOutcome::Nothing {
            own.outcome = LoggedOutcome::Worked;
        }
        own
    }
}

/// The log's own statement about the outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoggedOutcome {
    /// Success, stated or implied by the format.
    Worked,
    /// An error.
    Error,
    /// Nothing.
    #[default]
    Nothing,
}

/// Refuser of a call, according to a field of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Denial {
    /// The person.
    User,
    /// A permission rule, or a hook speaking through one.
    Rule,
    /// A hook.
    Hook,
    /// The automatic mode.
    AutoMode,
    /// Interrupted, not refused.
    Interrupted,
    /// Cancelled, not refused.
    Cancelled,
    /// Nobody: permission was asked for and not given.
    NotGranted,
}

/// Signs in a progress record that a call will get no result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgressSigns {
    /// Time since the call began.
    pub elapsed_ms: Option<u64>,
    /// Time that the call may take.
    pub limit_ms: Option<u64>,
    /// Whether the server that runs it reports a failure.
    pub failed: bool,
}

/// Known meaning of an error's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Marker {
    /// The person refused.
    Rejected,
    /// The person refused, with a reason.
    RejectedWithFeedback,
    /// The person refused an earlier call.
    AfterRejection,
    /// Stopped by the person.
    Interrupted,
    /// The process or task was stopped; by whom is not said.
    Stopped,
    /// Permission was not granted.
    NotGranted,
    /// A rule forbids it.
    PermissionRule,
    /// The automatic mode forbids it.
    AutoMode,
    /// A hook forbids it.
    Hook,
    /// The sandbox forbids it.
    Sandbox,
    /// A parallel call failed.
    SiblingFailed,
    /// The answer was discarded.
    StreamDiscarded,
    /// The arguments are not valid.
    InvalidInput,
    /// There is no such tool.
    UnknownTool,
    /// A precondition was not met.
    Precondition,
    /// Too large to give.
    TooLarge,
    /// An MCP server's error.
    Mcp,
    /// The time limit.
    Timeout,
    /// The model's service failed, said in place of an answer.
    ServiceFailed,
}

/// Outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The status.
    pub status: Status,
    /// Reason.
    pub reason: Option<Reason>,
}

impl Verdict {
    fn of(status: Status, reason: Reason) -> Self {
        Verdict { status, reason: Some(reason) }
    }
}

/// Circumstances of the call that affect its outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// Whether a hook refused this call.
    pub hook_blocked: bool,
    /// Whether the person gave a reason with the refusal.
    pub feedback: bool,
    /// Whether the session was handed over right after.
    pub handover: bool,
    /// Whether an MCP server offers the tool.
    pub served: bool,
}

/// Outcome of a call with a result.
pub fn with_result(kind: Kind, signals: &Signals, around: Circumstances) -> Verdict {
    let signals = &signals.of_tool(kind, around.served);
    // Fields come first: texts may quote anything.
    if let Some(verdict) = denied(signals, around) {
        return verdict;
    }
    match signals.outcome {
        _ if signals.error_output => error(kind, signals, around),
        // A command that was moved to the background is not stopped, whatever else its result says.
        LoggedOutcome::Worked if signals.interrupted && !signals.backgrounded => interrupted(around),
        LoggedOutcome::Worked if signals.timed_out => Verdict::of(Status::TimedOut, Reason::Timeout),
        // Without a mark of an error, a command failed by the exit code that its result states.
        LoggedOutcome::Worked if kind == Kind::Shell && !signals.exit_excused && exit_code(kind, signals).is_some_and(|code| code != 0) => {
            Verdict::of(Status::Failed, Reason::ExitCode)
        }
        // An agent that could not reach its model answers with the failure instead.
        LoggedOutcome::Worked if kind == Kind::Subagent && signals.marker == Some(Marker::ServiceFailed) => {
            Verdict::of(Status::Failed, Reason::ToolError)
        }
        LoggedOutcome::Worked => Verdict { status: Status::Succeeded, reason: None },
        LoggedOutcome::Nothing => Verdict::of(Status::Answered, Reason::NoOutcomeRecorded),
        LoggedOutcome::Error => error(kind, signals, around),
    }
}

fn denied(signals: &Signals, around: Circumstances) -> Option<Verdict> {
    Some(match signals.denial? {
        Denial::User if signals.marker == Some(Marker::AfterRejection) => Verdict::of(Status::Rejected, Reason::AfterRejection),
        Denial::User => rejected(signals, around),
        // Some agents record a hook's refusal as a permission rule; the hook's own record corrects that.
        Denial::Rule if around.hook_blocked || signals.marker == Some(Marker::Hook) => Verdict::of(Status::Blocked, Reason::Hook),
        Denial::Rule => Verdict::of(Status::Blocked, Reason::PermissionRule),
        Denial::Hook => Verdict::of(Status::Blocked, Reason::Hook),
        Denial::AutoMode => Verdict::of(Status::Blocked, Reason::AutoMode),
        Denial::Interrupted => interrupted(around),
        Denial::Cancelled if signals.marker == Some(Marker::StreamDiscarded) => Verdict::of(Status::Cancelled, Reason::StreamDiscarded),
        Denial::Cancelled => Verdict::of(Status::Cancelled, Reason::SiblingFailed),
        Denial::NotGranted => Verdict::of(Status::Blocked, Reason::NotGranted),
    })
}

/// Whether a hook at this stage can prevent a call from running. A hook without a known event may.
pub fn may_refuse(stage: HookStage, has_event: bool) -> bool {
    match stage {
        HookStage::Before | HookStage::Permission => true,
        HookStage::After => false,
        HookStage::Other => !has_event,
    }
}

/// The end of a call that a progress record proves.
pub fn progress_end(signs: ProgressSigns, at: At) -> Option<Sequel> {
    if signs.failed {
        return Some(Sequel::ServerFailed(at));
    }
    // Whole seconds in some logs: a call that has just reached its limit may still end in time.
    let over = signs.elapsed_ms.zip(signs.limit_ms).is_some_and(|(elapsed, limit)| limit > 0 && elapsed > limit);
    over.then_some(Sequel::OverLimit(at))
}

fn rejected(signals: &Signals, around: Circumstances) -> Verdict {
    let said_why = around.feedback || signals.marker == Some(Marker::RejectedWithFeedback);
    Verdict::of(Status::Rejected, if said_why { Reason::UserFeedback } else { Reason::User })
}

fn interrupted(around: Circumstances) -> Verdict {
    Verdict::of(Status::Interrupted, if around.handover { Reason::Handover } else { Reason::User })
}

fn error(kind: Kind, signals: &Signals, around: Circumstances) -> Verdict {
    use Marker as M;
    let (status, reason) = match signals.marker {
        Some(M::Rejected | M::RejectedWithFeedback) => return rejected(signals, around),
        Some(M::AfterRejection) => (Status::Rejected, Reason::AfterRejection),
        Some(M::Interrupted | M::Stopped) => return interrupted(around),
        Some(M::NotGranted) => (Status::Blocked, Reason::NotGranted),
        Some(M::PermissionRule) => (Status::Blocked, Reason::PermissionRule),
        Some(M::AutoMode) => (Status::Blocked, Reason::AutoMode),
        Some(M::Hook) => (Status::Blocked, Reason::Hook),
        Some(M::Sandbox) => (Status::Blocked, Reason::Sandbox),
        Some(M::SiblingFailed) => (Status::Cancelled, Reason::SiblingFailed),
        Some(M::StreamDiscarded) => (Status::Cancelled, Reason::StreamDiscarded),
        Some(M::Timeout) => (Status::TimedOut, Reason::Timeout),
        None if signals.timed_out => (Status::TimedOut, Reason::Timeout),
        // After the markers that explain a refusal, before those of an ordinary failure.
        _ if signals.interrupted && !signals.backgrounded => return interrupted(around),
        Some(M::InvalidInput) => (Status::Failed, Reason::InvalidInput),
        Some(M::UnknownTool) => (Status::Failed, Reason::UnknownTool),
        Some(M::Precondition) => (Status::Failed, Reason::Precondition),
        Some(M::TooLarge) => (Status::Failed, Reason::TooLarge),
        // The exit code says more than the server's flag.
        Some(M::Mcp) if kind == Kind::Shell && exit_code(kind, signals).is_some_and(|code| code != 0) => (Status::Failed, Reason::ExitCode),
        Some(M::Mcp) => (Status::Failed, Reason::McpError),
        Some(M::ServiceFailed) => (Status::Failed, Reason::ToolError),
        // A refusal by a hook may leave only the hook's own words; then its record decides.
        None if around.hook_blocked => (Status::Blocked, Reason::Hook),
        // The exit code is more specific than "the tool reported an error".
        None if exit_code(kind, signals).is_some_and(|code| code != 0) => (Status::Failed, Reason::ExitCode),
        None if kind == Kind::Mcp || around.served => (Status::Failed, Reason::McpError),
        None => (Status::Failed, Reason::ToolError),
    };
    Verdict::of(status, reason)
}

/// Signals of a script that came to its end, by the outcomes of its calls: whether all are known and worked, and the signals of the first
/// that failed. A command that failed does not stop the script that ran it.
pub fn script(all_worked: bool, failed: Option<Signals>) -> Signals {
    match failed {
        Some(failed) => {
            Signals { outcome: LoggedOutcome::Error, exit_field: failed.exit_field.filter(|code| *code != 0), ..Signals::default() }
        }
        None if all_worked => Signals { outcome: LoggedOutcome::Worked, ..Signals::default() },
        None => Signals::default(),
    }
}

/// The exit code of a result, from the most reliable source. A code that contradicts the outcome is not the command's.
pub fn exit_code(kind: Kind, signals: &Signals) -> Option<i64> {
    // A text that begins like an exit code proves nothing unless the result is an error.
    let head = signals.exit_head.filter(|_| signals.says_error());
    // Any text may end in these words; only a shell's result means them.
    let tail = signals.exit_tail.filter(|_| kind == Kind::Shell);
    let code = signals.exit_field.or(head).or(tail)?;
    // The error is that of the tool around the command, and a command that goes on has not ended.
    let contradicts = kind == Kind::Shell && if signals.says_error() { code == 0 } else { signals.backgrounded };
    (!contradicts).then_some(code)
}

/// Event after a call without a result, in its own conversation; the first one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sequel {
    /// The person interrupted.
    Interrupted(At),
    /// The session was handed over.
    Handover(At),
    /// A hook refused.
    Blocked(At),
    /// A record other than a hook's says who refused.
    Refused(At, Denial),
    /// The server that ran it reported a failure.
    ServerFailed(At),
    /// It ran longer than its own limit.
    OverLimit(At),
    /// The model's service failed.
    ApiError(At),
    /// The result's line is damaged.
    Truncated(At),
    /// The conversation went on.
    MovedOn(At),
    /// No event: this is the source's last record.
    Ends(At),
}

/// Whether the session of a call without a result may still be active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Life {
    /// No sign of life.
    #[default]
    Dead,
    /// Written to recently, or registered as running.
    Alive,
    /// Alive, and known to wait for a permission.
    AwaitsPermission,
}

impl Sequel {
    /// Whether it only shows that no result came. A record that proves how the call ended says more.
    pub fn is_weak(self) -> bool {
        matches!(self, Sequel::ApiError(_) | Sequel::Truncated(_) | Sequel::MovedOn(_) | Sequel::Ends(_))
    }

    /// Whether the call may still be running: no later record says otherwise.
    pub fn is_open(self) -> bool {
        // A torn last line of a live log is a result being written.
        matches!(self, Sequel::Truncated(_) | Sequel::Ends(_))
    }
}

/// Outcome of a call that may still be running; `None` if its session is dead.
pub fn at_work(life: Life) -> Option<Verdict> {
    match life {
        Life::Dead => None,
        Life::Alive => Some(Verdict::of(Status::Running, Reason::AwaitingResult)),
        Life::AwaitsPermission => Some(Verdict::of(Status::Running, Reason::AwaitingPermission)),
    }
}

/// Outcome of a refused call, as if its result had named the refuser.
fn refused(denial: Denial) -> Verdict {
    let signals = Signals { denial: Some(denial), ..Signals::default() };
    denied(&signals, Circumstances::default()).unwrap_or(Verdict::of(Status::Blocked, Reason::NotGranted))
}

/// Outcome of a call without a result, and the record that proves it.
pub fn without_result(sequel: Sequel, life: Life) -> (Verdict, At) {
    let running = at_work(life).filter(|_| sequel.is_open());
    match sequel {
        Sequel::Interrupted(at) => (Verdict::of(Status::Interrupted, Reason::User), at),
        Sequel::Handover(at) => (Verdict::of(Status::Interrupted, Reason::Handover), at),
        Sequel::Blocked(at) => (Verdict::of(Status::Blocked, Reason::Hook), at),
        Sequel::Refused(at, denial) => (refused(denial), at),
        Sequel::ServerFailed(at) => (Verdict::of(Status::Failed, Reason::McpError), at),
        Sequel::OverLimit(at) => (Verdict::of(Status::TimedOut, Reason::Timeout), at),
        Sequel::ApiError(at) => (Verdict::of(Status::Unanswered, Reason::ApiError), at),
        Sequel::MovedOn(at) => (Verdict::of(Status::Unanswered, Reason::ConversationMovedOn), at),
        Sequel::Truncated(at) => (running.unwrap_or(Verdict::of(Status::Unanswered, Reason::LogTruncated)), at),
        Sequel::Ends(at) => (running.unwrap_or(Verdict::of(Status::Unanswered, Reason::LogEnds)), at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(kind: Kind, signals: Signals, around: Circumstances) -> (&'static str, &'static str) {
        let verdict = with_result(kind, &signals, around);
        (verdict.status.word(), verdict.reason.map_or("-", Reason::word))
    }

    #[test]
    fn results_without_error_succeed_unless_interrupted() {
        let worked = Signals { outcome: LoggedOutcome::Worked, ..Signals::default() };
        assert_eq!(judged(Kind::Shell, worked, Circumstances::default()), ("succeeded", "-"));
        // Words in a result that is no error prove nothing.
        let quoting = Signals { marker: Some(Marker::Rejected), ..worked };
        assert_eq!(judged(Kind::Read, quoting, Circumstances::default()), ("succeeded", "-"));
        let stopped = Signals { interrupted: true, ..worked };
        assert_eq!(judged(Kind::Shell, stopped, Circumstances::default()), ("interrupted", "user"));
        let moved = Signals { backgrounded: true, ..stopped };
        assert_eq!(judged(Kind::Shell, moved, Circumstances::default()), ("succeeded", "-"));
        assert_eq!(judged(Kind::Shell, Signals::default(), Circumstances::default()), ("answered", "no_outcome_recorded"));
    }

    #[test]
    fn fields_weigh_more_than_words() {
        let error = Signals { outcome: LoggedOutcome::Error, ..Signals::default() };
        let hook = Circumstances { hook_blocked: true, ..Circumstances::default() };
        let table = [
            (Signals { denial: Some(Denial::User), ..error }, Circumstances::default(), ("rejected", "user")),
            (
                Signals { denial: Some(Denial::User), ..error },
                Circumstances { feedback: true, ..Circumstances::default() },
                ("rejected", "user_feedback"),
            ),
            (Signals { denial: Some(Denial::Rule), ..error }, Circumstances::default(), ("blocked", "permission_rule")),
            (Signals { denial: Some(Denial::Rule), ..error }, hook, ("blocked", "hook")),
            (
                Signals { denial: Some(Denial::Interrupted), ..error },
                Circumstances { handover: true, ..Circumstances::default() },
                ("interrupted", "handover"),
            ),
            (Signals { denial: Some(Denial::Cancelled), ..error }, Circumstances::default(), ("cancelled", "sibling_failed")),
            (
                Signals { denial: Some(Denial::AutoMode), marker: Some(Marker::Precondition), ..error },
                Circumstances::default(),
                ("blocked", "auto_mode"),
            ),
            (error, hook, ("blocked", "hook")),
        ];
        for (signals, around, expected) in table {
            assert_eq!(judged(Kind::Shell, signals, around), expected, "{signals:?}");
        }
    }

    #[test]
    fn exit_codes_come_from_the_best_place() {
        let all =
            Signals { outcome: LoggedOutcome::Error, exit_field: Some(1), exit_head: Some(2), exit_tail: Some(3), ..Signals::default() };
        assert_eq!(exit_code(Kind::Shell, &all), Some(1));
        assert_eq!(exit_code(Kind::Shell, &Signals { exit_field: None, ..all }), Some(2));
        let fine = Signals { outcome: LoggedOutcome::Worked, exit_field: None, ..all };
        assert_eq!(exit_code(Kind::Shell, &fine), Some(3));
        assert_eq!(exit_code(Kind::Read, &fine), None);
        assert_eq!(judged(Kind::Shell, Signals { exit_field: None, ..all }, Circumstances::default()), ("failed", "exit_code"));
        assert_eq!(
            judged(Kind::Mcp, Signals { outcome: LoggedOutcome::Error, ..Signals::default() }, Circumstances::default()),
            ("failed", "mcp_error")
        );
    }

    #[test]
    fn exit_codes_and_outcomes_agree() {
        let coded = |code| Signals { outcome: LoggedOutcome::Worked, exit_field: Some(code), ..Signals::default() };
        let tail = Signals { outcome: LoggedOutcome::Worked, exit_tail: Some(1), ..Signals::default() };
        let table = [
            (Kind::Shell, coded(0), ("succeeded", "-"), Some(0)),
            (Kind::Shell, coded(2), ("failed", "exit_code"), Some(2)),
            (Kind::Shell, tail, ("failed", "exit_code"), Some(1)),
            (Kind::Shell, Signals { exit_excused: true, ..coded(1) }, ("succeeded", "-"), Some(1)),
            (Kind::Shell, Signals { backgrounded: true, ..coded(1) }, ("succeeded", "-"), None),
            (Kind::Shell, Signals { interrupted: true, ..coded(130) }, ("interrupted", "user"), Some(130)),
            (Kind::Shell, Signals { outcome: LoggedOutcome::Error, ..coded(0) }, ("failed", "tool_error"), None),
            (Kind::Shell, Signals { outcome: LoggedOutcome::Error, exit_excused: true, ..coded(1) }, ("failed", "exit_code"), Some(1)),
            // The code of a task that was asked about is the task's.
            (Kind::Task, coded(9), ("succeeded", "-"), Some(9)),
            (Kind::Read, tail, ("succeeded", "-"), None),
        ];
        for (kind, signals, expected, code) in table {
            assert_eq!((judged(kind, signals, Circumstances::default()), exit_code(kind, &signals)), (expected, code), "{signals:?}");
        }
    }

    #[test]
    fn progress_proves_a_failure_or_a_time_limit() {
        let at = At::default();
        let after = |elapsed_ms, limit_ms| ProgressSigns { elapsed_ms, limit_ms, failed: false };
        let table = [
            (ProgressSigns { failed: true, ..after(Some(9), None) }, Some(Sequel::ServerFailed(at))),
            (after(Some(121_000), Some(120_000)), Some(Sequel::OverLimit(at))),
            (after(Some(120_000), Some(120_000)), None),
            (after(Some(900_000), None), None),
            // A limit of 0 is no limit.
            (after(Some(1), Some(0)), None),
        ];
        for (signs, expected) in table {
            assert_eq!(progress_end(signs, at), expected, "{signs:?}");
        }
    }

    #[test]
    fn an_output_that_is_an_error_counts_like_a_mark() {
        let said = Signals { outcome: LoggedOutcome::Worked, error_output: true, ..Signals::default() };
        let table = [
            (Kind::Write, said, ("failed", "tool_error")),
            (Kind::Mcp, said, ("failed", "mcp_error")),
            (Kind::Edit, Signals { marker: Some(Marker::Precondition), ..said }, ("failed", "precondition")),
            (Kind::Shell, Signals { exit_head: Some(3), ..said }, ("failed", "exit_code")),
        ];
        for (kind, signals, expected) in table {
            assert_eq!(judged(kind, signals, Circumstances::default()), expected, "{signals:?}");
        }
    }

    #[test]
    fn a_record_that_proves_the_end_decides_without_a_result() {
        let at = At::default();
        let table = [
            (Sequel::Refused(at, Denial::User), ("rejected", "user")),
            (Sequel::Refused(at, Denial::Rule), ("blocked", "permission_rule")),
            (Sequel::Refused(at, Denial::AutoMode), ("blocked", "auto_mode")),
            (Sequel::Refused(at, Denial::NotGranted), ("blocked", "not_granted")),
            (Sequel::ServerFailed(at), ("failed", "mcp_error")),
            (Sequel::OverLimit(at), ("timed_out", "timeout")),
        ];
        for (sequel, expected) in table {
            for life in [Life::Dead, Life::Alive] {
                let (verdict, _) = without_result(sequel, life);
                assert_eq!((verdict.status.word(), verdict.reason.map_or("-", Reason::word)), expected, "{sequel:?}");
            }
            assert!(!sequel.is_weak() && !sequel.is_open());
        }
    }

    #[test]
    fn nothing_is_running_without_a_sign_of_life() {
        let at = At::default();
        let judge = |sequel, life| {
            let (verdict, _) = without_result(sequel, life);
            (verdict.status.word(), verdict.reason.map_or("-", Reason::word))
        };
        assert_eq!(judge(Sequel::Ends(at), Life::Dead), ("unanswered", "log_ends"));
        assert_eq!(judge(Sequel::Ends(at), Life::Alive), ("running", "awaiting_result"));
        assert_eq!(judge(Sequel::Ends(at), Life::AwaitsPermission), ("running", "awaiting_permission"));
        assert_eq!(judge(Sequel::MovedOn(at), Life::Alive), ("unanswered", "conversation_moved_on"));
        assert_eq!(judge(Sequel::Truncated(at), Life::Dead), ("unanswered", "log_truncated"));
        assert_eq!(judge(Sequel::ApiError(at), Life::Alive), ("unanswered", "api_error"));
    }
}
