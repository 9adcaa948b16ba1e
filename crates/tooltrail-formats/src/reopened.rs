//! Records of formats that have no typed record of their own: they are read again for each question.

use crate::changes::Backup;
use crate::value::Payloads;
use crate::{OpenRecords, Opened, Record, Sink, TypedRecord};
use tooltrail_model::transcript::{HookStory, LoggedRequest, LoggedResult, Parts};

/// A record that was whole when it was decoded.
pub(crate) struct Reopened<'r, F: ?Sized> {
    pub(crate) format: &'r F,
    pub(crate) record: Record<'r>,
}

impl<F: ?Sized> Reopened<'_, F> {
    fn opened<'o>(&'o self, payloads: Payloads<'o>) -> Opened<'o> {
        Opened { line: self.record.at.line, bytes: self.record.bytes, payloads }
    }
}

impl<F: OpenRecords + ?Sized> TypedRecord for Reopened<'_, F> {
    fn facts(&self, out: &mut Sink<'_>) {
        // It was decoded when it was opened, so it is whole.
        let _ = self.format.decode(self.record, out);
    }

    fn parts(&self, payloads: Payloads<'_>) -> Parts {
        self.format.parts(self.opened(payloads))
    }

    fn request(&self, call: &str, payloads: Payloads<'_>) -> Option<LoggedRequest> {
        self.format.request(self.opened(payloads), call)
    }

    fn result(&self, call: &str, payloads: Payloads<'_>) -> Option<LoggedResult> {
        let mut answered = self.format.result(self.opened(payloads), call)?;
        payloads.together(&mut answered.seen);
        Some(answered)
    }

    fn hooks(&self, payloads: Payloads<'_>) -> Vec<HookStory> {
        self.format.hooks(self.opened(payloads))
    }

    fn backups(&self) -> Vec<Backup> {
        self.format.backups(self.opened(Payloads::default()))
    }
}
