//! Records of formats that have no typed record of their own: read by the decoder for facts, and as a tree of values for a reader.

use crate::changes::Backup;
use crate::value::{self, Payloads};
use crate::{OpenRecords, Opened, Record, Sink, TypedRecord};
use serde_json::Value;
use tooltrail_model::transcript::{Answered, Asked, HookStory, Parts};

/// A record as a tree of values.
pub(crate) struct TreeRecord<'r, F: ?Sized> {
    format: &'r F,
    record: Record<'r>,
    value: Value,
}

impl<'r, F: OpenRecords + ?Sized> TreeRecord<'r, F> {
    /// Reads a record that is whole.
    pub(crate) fn new(format: &'r F, record: Record<'r>) -> Self {
        TreeRecord { format, record, value: value::read(record.bytes) }
    }

    fn opened(&self) -> Opened<'_> {
        Opened::new(self.record, &self.value)
    }
}

impl<F: OpenRecords + ?Sized> TypedRecord for TreeRecord<'_, F> {
    fn facts(&self, out: &mut Sink<'_>) {
        // It was decoded when it was opened, so it is whole.
        let _ = self.format.decode(self.record, out);
    }

    fn parts(&self, payloads: Payloads<'_>) -> Parts {
        let mut parts = self.format.parts(self.opened());
        parts.parts.iter_mut().for_each(|part| payloads.part(part));
        parts
    }

    fn request(&self, call: &str, payloads: Payloads<'_>) -> Option<Asked> {
        let mut asked = self.format.request(self.opened(), call)?;
        payloads.tree(&mut asked.input);
        Some(asked)
    }

    fn result(&self, call: &str, payloads: Payloads<'_>) -> Option<Answered> {
        let mut answered = self.format.result(self.opened(), call)?;
        payloads.answer(&mut answered);
        Some(answered)
    }

    fn hooks(&self, payloads: Payloads<'_>) -> Vec<HookStory> {
        let mut hooks = self.format.hooks(self.opened());
        hooks.iter_mut().for_each(|hook| payloads.hook(hook));
        hooks
    }

    fn backups(&self) -> Vec<Backup> {
        self.format.backups(self.opened())
    }
}
