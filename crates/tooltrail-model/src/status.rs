//! The ten statuses of a tool call and their reasons: two closed lists.

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$item:meta])* $variant:ident => $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$item])* $variant,)+ }

        impl $name {
            /// All of them, in the order they are documented.
            pub const ALL: &[$name] = &[$($name::$variant,)+];

            /// The word used in output and in filters.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// The value for a word.
            pub fn of_word(word: &str) -> Option<Self> {
                match word { $($word => Some($name::$variant),)+ _ => None }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                // The word for people and programs; a number, which is smaller, in storage that only this program reads.
                if serializer.is_human_readable() { serializer.serialize_str(self.word()) } else { serializer.serialize_u8(*self as u8) }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let known = if deserializer.is_human_readable() {
                    $name::of_word(&String::deserialize(deserializer)?)
                } else {
                    // The number of a value is its place in the list, since both have one order.
                    $name::ALL.get(usize::from(u8::deserialize(deserializer)?)).copied()
                };
                known.ok_or_else(|| serde::de::Error::custom(concat!("unknown ", stringify!($name))))
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Outcome of a tool call.
    Status {
        /// A result, and the log says or implies by convention that it worked.
        Succeeded => "succeeded",
        /// A result that is an error.
        Failed => "failed",
        /// A result whose outcome the agent did not record.
        Answered => "answered",
        /// The person refused.
        Rejected => "rejected",
        /// A program refused.
        Blocked => "blocked",
        /// Never ran, because of something else.
        Cancelled => "cancelled",
        /// Stopped while running.
        Interrupted => "interrupted",
        /// The tool's own limit was reached.
        TimedOut => "timed_out",
        /// No result yet, and the session is alive.
        Running => "running",
        /// No result, and there will be none.
        Unanswered => "unanswered",
    }
}

words! {
    /// Reason of a call's status.
    Reason {
        /// The tool reported an error.
        ToolError => "tool_error",
        /// A command ended with a code other than 0.
        ExitCode => "exit_code",
        /// The arguments were not valid.
        InvalidInput => "invalid_input",
        /// There is no such tool.
        UnknownTool => "unknown_tool",
        /// A precondition was not met; the tool never ran.
        Precondition => "precondition",
        /// The answer was too large to give.
        TooLarge => "too_large",
        /// An MCP server reported an error.
        McpError => "mcp_error",
        /// The agent did not record the outcome.
        NoOutcomeRecorded => "no_outcome_recorded",
        /// By the person.
        User => "user",
        /// By the person, with a reason.
        UserFeedback => "user_feedback",
        /// An earlier call of the same message was rejected.
        AfterRejection => "after_rejection",
        /// A hook refused it.
        Hook => "hook",
        /// A permission rule refused it.
        PermissionRule => "permission_rule",
        /// The automatic mode's classifier refused it.
        AutoMode => "auto_mode",
        /// No person was there to grant permission.
        NotGranted => "not_granted",
        /// The sandbox refused it.
        Sandbox => "sandbox",
        /// A parallel call failed first.
        SiblingFailed => "sibling_failed",
        /// The answer it belonged to was discarded.
        StreamDiscarded => "stream_discarded",
        /// The session was handed over to another process.
        Handover => "handover",
        /// The tool's own limit.
        Timeout => "timeout",
        /// The tool is running, as far as the log says.
        AwaitingResult => "awaiting_result",
        /// Permission has to be granted first.
        AwaitingPermission => "awaiting_permission",
        /// No records follow in the log.
        LogEnds => "log_ends",
        /// The conversation went on without a result.
        ConversationMovedOn => "conversation_moved_on",
        /// The model's service failed before a result could be used.
        ApiError => "api_error",
        /// The log is damaged where the result should be.
        LogTruncated => "log_truncated",
    }
}
