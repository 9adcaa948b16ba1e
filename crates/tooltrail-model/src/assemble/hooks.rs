//! Hooks: attached to the call they ran for, or to their turn. Several records about one run become one.

use super::{Assembler, Here};
use crate::event::{Hook, HookOutcome, Text};
use crate::summary::{HookRecord, LooseHook};
use crate::text::Names;

/// Characters of a hook's texts that are kept; the rest stays in the log.
const WORDS: usize = 500;

pub(super) fn record(hook: &Hook<'_>, here: &Here, names: &mut Names) -> HookRecord {
    let boxed = |text: &Option<Text<'_>>| text.as_deref().filter(|text| !text.is_empty()).map(|text| Box::from(cut(text)));
    let mut named = |text: &Option<Text<'_>>| text.as_deref().filter(|text| !text.is_empty()).map(|text| names.of(cut(text)));
    HookRecord {
        at: here.at,
        time: here.time,
        event: named(&hook.event),
        stage: hook.stage,
        name: named(&hook.name),
        command: named(&hook.command),
        outcome: hook.outcome,
        exit_code: hook.exit_code,
        duration_ms: hook.duration_ms,
        status: named(&hook.status),
        decision: named(&hook.decision),
        allows: hook.allows,
        reason: boxed(&hook.reason),
        context: boxed(&hook.context),
        output_bytes: hook.output.map_or(0, |span| span.len()),
        replacement: hook.replaces.then(|| Box::new(here.at)),
    }
}

fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(WORDS).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// Adds a record of a hook to those of a call: as a new run, or as more about a known run.
pub(super) fn add(hooks: &mut Vec<HookRecord>, new: HookRecord) {
    let same = |old: &&mut HookRecord| {
        let about = old.event == new.event && (old.name == new.name || old.name.is_none() || new.name.is_none());
        let command = old.command == new.command || old.command.is_none() || new.command.is_none();
        // Two records with both an outcome and a command are two runs, but a refusal is repeated by the call's result.
        let again = old.outcome == Some(HookOutcome::Blocked) && new.outcome == old.outcome;
        about && command && (again || old.outcome.is_none() || new.outcome.is_none() || old.command.is_none() || new.command.is_none())
    };
    let Some(old) = hooks.iter_mut().rev().take(32).find(same) else {
        // Nearly every call with hooks has exactly one.
        if hooks.is_empty() {
            hooks.reserve_exact(1);
        }
        hooks.push(new);
        return;
    };
    // A refusal outweighs everything else that is said about the same run.
    let blocked = Some(HookOutcome::Blocked);
    let tells_more = new.outcome.is_some() && (old.outcome.is_none() || (new.outcome == blocked && old.outcome != blocked));
    if tells_more {
        old.at = new.at;
        old.outcome = new.outcome;
    }
    old.name = old.name.take().or(new.name);
    old.command = old.command.take().or(new.command);
    old.exit_code = new.exit_code.or(old.exit_code);
    old.duration_ms = new.duration_ms.or(old.duration_ms);
    old.status = new.status.or(old.status.take());
    old.allows = new.allows.or(old.allows);
    old.decision = new.decision.or(old.decision.take());
    old.reason = new.reason.or(old.reason.take());
    old.context = new.context.or(old.context.take());
    old.output_bytes = old.output_bytes.max(new.output_bytes);
    old.replacement = new.replacement.or(old.replacement.take());
}

impl Assembler {
    pub(super) fn hook(&mut self, hook: &Hook<'_>) {
        self.count_hook(hook);
        let record = record(hook, &self.here, &mut self.out.names);
        let turn = self.out.turns.len().checked_sub(1).and_then(|turn| u32::try_from(turn).ok());
        let loose = LooseHook { session: self.here.session, turn, hook: record };
        match hook.call.as_deref() {
            None => self.out.hooks.push(loose),
            Some(id) => match self.calls.latest(id) {
                Some(index) => add(&mut self.out.calls[index].hooks, loose.hook),
                // The call may come later; otherwise the hook belongs to its turn.
                None => self.calls.early_hook(id, loose),
            },
        }
    }
}
