//! Completed items of type `Extension`: calls of tools that extensions of Codex bring along, told apart by `kind`.
//!
//! `web.search`, `image_gen.generation`, `clock.sleep`, and others such as `workflow.result_read`. Where the model called the tool itself, the
//! item has the id of that call and only reports its end. Where a script called it, the item is the only record. What is claimed here rests on
//! the agent's open source; an item of an unknown kind is a call as well, shown by its fields.

use super::fields::{FieldSpan, PayloadFields};
use super::items;
use super::record::CodexRecord;
use tooltrail_model::verdict::{LoggedOutcome, Signals};

/// The type of such an item.
pub(super) const TYPE: &str = "Extension";

/// The kind of an extension's item, as `<extension>.<item>`. The dot keeps it apart from the types of other items.
pub(super) fn kind<'r>(item: &PayloadFields<'r>) -> Option<std::borrow::Cow<'r, str>> {
    item.text(item.kind).filter(|kind| kind.contains('.'))
}

/// The input of a call, as far as the item repeats it.
pub(super) fn input(kind: &str, item: &PayloadFields<'_>) -> FieldSpan {
    match kind {
        "web.search" => item.first(&[item.action, item.query]),
        "image_gen.generation" => item.first(&[item.revised_prompt_camel, item.revised_prompt]),
        "clock.sleep" => item.duration_ms_camel,
        _ => FieldSpan::default(),
    }
}

/// What the tool produced.
pub(super) fn content(kind: &str, item: &PayloadFields<'_>) -> FieldSpan {
    match kind {
        "web.search" => item.results,
        "image_gen.generation" => item.result,
        _ => FieldSpan::default(),
    }
}

/// The outcome. Searches and pauses have no status: their item is only written once they have come to their end.
pub(super) fn signals(kind: &str, item: &PayloadFields<'_>) -> Signals {
    if item.some(item.failure).is_some() {
        return Signals { outcome: LoggedOutcome::Error, ..items::status(item) };
    }
    match kind {
        "web.search" | "clock.sleep" if !item.status.is_some() => Signals { outcome: LoggedOutcome::Worked, ..Signals::default() },
        _ => items::status(item),
    }
}

/// The run time by the clock of the event that carries the item.
pub(super) fn run_ms(record: &CodexRecord<'_>) -> Option<u64> {
    let event = record.event()?;
    let (start, end) = (event.int(event.started_at_ms)?, event.int(event.completed_at_ms)?);
    u64::try_from(end.checked_sub(start)?).ok()
}
