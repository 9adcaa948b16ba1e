//! Details of one call: times, origin, cost, and the lines of the log that record it.
//!
//! Facts stand below the call's line, which has its tool, status, exit code and reference; those are not repeated.

use crate::head::{WAITS, count, counted, took};
use crate::outcome::{place, short_time};
use crate::pieces::task_state;
use crate::{Block, Class, Line, hooks};
use tooltrail_model::event::InputFrom;
use tooltrail_model::row::CallNumber;
use tooltrail_model::transcript::Story;
use tooltrail_model::usage::Tokens;

/// Details of a call as names and values.
pub(crate) fn blocks(call: &Story<'_>) -> Vec<Block> {
    let mut fields = CallFields::default();
    outcome(call, &mut fields);
    times(call, &mut fields);
    origin(call, &mut fields);
    cost(call, &mut fields);
    evidence(call, &mut fields);
    hooks_of(call, &mut fields);
    vec![Block::Fields { fields: fields.0 }]
}

/// Names and values, in order.
#[derive(Default)]
struct CallFields(Vec<(Line, Line)>);

impl CallFields {
    fn add(&mut self, name: &str, value: Option<impl Into<Line>>) {
        if let Some(value) = value {
            self.0.push((Line::of(Class::Dim, name), value.into()));
        }
    }
}

fn outcome(call: &Story<'_>, fields: &mut CallFields) {
    let row = &call.row;
    fields.add("exit code of", row.exit_of.as_deref());
    // Commands of a pipeline whose own exit code is unknown.
    fields.add("outcome unknown of", (!row.masked.is_empty()).then(|| row.masked.join(", ")));
    fields.add("input", (row.input_from != InputFrom::Request).then(|| format!("replaced by the {}", row.input_from.word())));
    if let Some(task) = &row.background {
        let exit = task.exit_code.map(|code| format!(", exit code {code}")).unwrap_or_default();
        let ended = task.ended_at.map(|time| format!(", at {}", short_time(time))).unwrap_or_default();
        let name = task.id.map(|id| format!("{id}: ")).unwrap_or_default();
        fields.add("background task", Some(format!("{name}{}{exit}{ended}", task_state(task.state))));
        fields.add("line of its end", Some(&task.evidence).filter(|at| Some(*at) != row.result.as_ref()).map(path));
    }
}

fn times(call: &Story<'_>, fields: &mut CallFields) {
    let row = &call.row;
    fields.add("requested at", row.requested_at.map(short_time));
    fields.add("completed at", row.completed_at.map(short_time));
    let waits = if row.may_wait { format!(", {WAITS}") } else { String::new() };
    fields.add("duration", row.duration_ms.map(|millis| Line::from(took(millis)).with(Class::Dim, &waits)));
    fields.add(
        "run time",
        row.run_ms.filter(|millis| *millis > 0).map(|millis| Line::from(took(millis)).with(Class::Dim, ", as the tool reports")),
    );
}

fn origin(call: &Story<'_>, fields: &mut CallFields) {
    let row = &call.row;
    fields.add("call", Some(row.call));
    // The line above shows the short name of an MCP tool.
    fields.add("tool", row.server.map(|_| row.tool));
    fields.add("agent", Some(row.agent));
    fields.add("session", Some(row.session));
    fields.add("subagent", row.agent_id);
    fields.add(if row.is_inner() { "in the script" } else { "started by" }, row.parent_call);
    fields.add("started session", row.child_session);
    fields.add("directory", row.cwd.map(|cwd| Line::of(Class::Path, cwd)));
    fields.add("model", row.model);
    fields.add("asks about", call.polls.of.map(|number| format!("#{number}")));
    fields.add("its output goes on in", goes_on_in(&call.polls.later));
    fields.add("message", row.message);
    fields.add("API request", call.message.request.as_deref());
    fields.add("ran", call.message.by_service.then_some("on the API"));
    fields.add("stopped", call.message.stopped.as_deref());
    let others = u64::from(row.parallel).saturating_sub(1);
    fields.add("made together with", (others > 0).then(|| counted(others, "other call")));
}

/// Most calls that are named where the output of a command goes on.
const NAMED: usize = 6;

/// The calls in which the output of a command goes on: `#20, #21`.
fn goes_on_in(later: &[CallNumber]) -> Option<String> {
    let named: Vec<String> = later.iter().take(NAMED).map(|number| format!("#{number}")).collect();
    let more = later.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| named.join(", ") + &rest)
}

fn cost(call: &Story<'_>, fields: &mut CallFields) {
    fields.add("tokens of the message", call.tokens.as_ref().map(tokens));
    // The standard tier is the default and says nothing.
    fields.add("service tools", crate::settings::server_tools(call.message.server_tools.map(u64::from)));
    fields.add("service tier", call.tier.as_deref().filter(|tier| *tier != "standard"));
    let result = call.row.result_bytes.map(|bytes| format!(", result {}", counted(bytes, "byte"))).unwrap_or_default();
    fields.add("size", Some(format!("input {}{result}", counted(call.row.input_bytes, "byte"))));
}

/// `1,200 in, 340 out, cache: 10,000 read, 500 written`.
fn tokens(tokens: &Tokens) -> String {
    let written = tokens.cache_write_5m.saturating_add(tokens.cache_write_1h);
    let (input, output, read) = (count(tokens.input), count(tokens.output), count(tokens.cache_read));
    format!("{input} in, {output} out, cache: {read} read, {} written", count(written))
}

fn evidence(call: &Story<'_>, fields: &mut CallFields) {
    let row = &call.row;
    fields.add("request line", Some(path(&row.request)));
    fields.add("result line", row.result.as_ref().map(path));
    // Where the result itself is the evidence, its line is not repeated.
    let told = row.result.as_ref() == Some(&row.evidence);
    fields.add("evidence", Some(&row.evidence).filter(|_| !told).map(path));
    fields.add("copy of", row.copy_of.as_ref().map(path));
}

fn path(at: &tooltrail_model::row::Place<'_>) -> Line {
    Line::of(Class::Path, &place(at))
}

/// Each hook, and the line that records it where that is not the result's.
fn hooks_of(call: &Story<'_>, fields: &mut CallFields) {
    let stories = hooks::all(call);
    let places = call.row.hooks.iter().map(|hook| Some(&hook.evidence)).chain(std::iter::repeat(None));
    // The two lists match only if they are equally long.
    let paired = stories.len() == call.row.hooks.len();
    for (hook, at) in stories.iter().zip(places) {
        fields.add("hook", Some(hooks::line(hook, Some(call.row.status))));
        fields.add("its line", at.filter(|at| paired && Some(*at) != call.row.result.as_ref()).map(path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::story;
    use tooltrail_model::detail::Detail;
    use tooltrail_model::event::HookOutcome;
    use tooltrail_model::transcript::HookStory;
    use tooltrail_model::{Kind, Reason, Status};

    #[test]
    fn a_life_tells_times_cost_and_places() {
        let mut call = story("Bash", Kind::Shell, Status::Failed, Detail::Other);
        call.row.reason = Some(Reason::ExitCode);
        call.row.exit_code = Some(101);
        call.row.completed_at = "2026-03-04T10:00:09.120Z".parse().ok();
        call.row.duration_ms = Some(6120);
        call.tokens = Some(Tokens { input: 1200, output: 340, cache_read: 10_000, cache_write_1h: 500, ..Tokens::default() });
        call.hooks = vec![HookStory { name: Some("h".into()), outcome: Some(HookOutcome::Ok), ..HookStory::default() }];
        let blocks = blocks(&call);
        let [Block::Fields { fields }] = blocks.as_slice() else { panic!("{blocks:?}") };
        let of = |name: &str| fields.iter().find(|(known, _)| known.text() == name).map(|(_, value)| value.text()).unwrap_or_default();
        assert_eq!((of("status"), of("exit code"), of("tool")), Default::default());
        assert_eq!(of("requested at"), "2026-03-04T10:00:03Z");
        assert_eq!(of("completed at"), "2026-03-04T10:00:09.120Z");
        assert_eq!(of("duration"), "6.1 s");
        assert_eq!(of("tokens of the message"), "1,200 in, 340 out, cache: 10,000 read, 500 written");
        assert_eq!((of("request line"), of("evidence")), ("/logs/a.jsonl:40".to_owned(), "/logs/a.jsonl:42".to_owned()));
        assert_eq!(of("hook"), "h: ok");
    }

    #[test]
    fn a_duration_says_that_it_may_include_a_wait() {
        let mut call = story("Bash", Kind::Shell, Status::Succeeded, Detail::Other);
        (call.row.duration_ms, call.row.may_wait) = (Some(6120), true);
        let blocks = blocks(&call);
        let [Block::Fields { fields }] = blocks.as_slice() else { panic!("{blocks:?}") };
        let duration = fields.iter().find(|(name, _)| name.text() == "duration").map(|(_, value)| value.text());
        assert_eq!(duration.as_deref(), Some("6.1 s, includes waiting for approval, if any"));
    }
}
