//! Tokens of messages, as facts: one for the message, one for each other model that was asked on the way.

use super::facts::FactEmitter;
use super::message::ClaudeMessage;
use super::record::ClaudeRecord;
use tooltrail_model::Fact;
use tooltrail_model::event::{Id, Usage};
use tooltrail_skim::Raw;

/// Emits the tokens of a record's own message, which has this id.
pub(super) fn own<'r>(record: &ClaudeRecord<'r>, id: Option<Id>, emit: &mut FactEmitter<'_, 'r>) {
    // Without any id the record itself is recognised, so that a copy of the log does not count again.
    let request = || record.request.map_or_else(|| Raw::new(record.record.bytes).digest(), Raw::digest);
    tokens(&record.message, || id.unwrap_or_else(request), record.request, false, emit);
}

/// Emits the tokens of a subagent's message that its parent's log reports. They count only where no log has the message itself.
pub(super) fn reported<'r>(message: &ClaudeMessage<'r>, uuid: Option<Raw<'r>>, request: Option<Raw<'r>>, emit: &mut FactEmitter<'_, 'r>) {
    // A message that cannot be recognised may well be in a log.
    if let Some(id) = message.id.or(uuid) {
        tokens(message, || id.digest(), request, true, emit);
    }
}

fn tokens<'r>(message: &ClaudeMessage<'r>, id: impl Fn() -> Id, request: Option<Raw<'r>>, reported: bool, emit: &mut FactEmitter<'_, 'r>) {
    // A message that the program wrote in the model's place cost nothing.
    let Some(usage) = message.usage.as_ref().filter(|_| !message.is_synthetic()) else { return };
    let (id, request) = (id(), request.map(Raw::digest));
    emit.fact(Fact::Usage(Usage {
        message: id,
        request,
        model: message.model.map(Raw::decoded_bytes),
        tokens: usage.tokens,
        server_tools: usage.server_tools,
        tier: usage.tier.map(Raw::decoded_bytes),
        reported,
    }));
    // An advisor is another model, asked within the message: its tokens count as a request of its own.
    for (number, (model, tokens)) in (1..).zip(&usage.advisors) {
        emit.fact(Fact::Usage(Usage {
            message: id.rotate_left(number),
            request,
            model: Some(model.decoded_bytes()),
            tokens: *tokens,
            server_tools: [0; 2],
            tier: None,
            reported,
        }));
    }
}
