//! Polls: which call a later one asks about, by the name of the background task or script that goes on.
//!
//! Commands and scripts that go on have names of their own, which may be alike. A name that both had proves nothing.

use super::{Assembler, ThreadIndex};
use crate::text::Name;

impl Assembler {
    /// Notes that a call goes on under a name: as a script, or as a command.
    pub(super) fn goes_on_as(&mut self, within: ThreadIndex, task: &str, call: Name, is_script: bool) {
        let before = self.calls.became_task(within, task, call).filter(|before| *before != call);
        let key = (within, Box::from(task));
        // What had the name before was a command, unless it is known as a script.
        if before.is_some() && is_script != self.scripts.cells.contains_key(&key) {
            self.calls.ambiguous.insert(key);
        }
    }

    /// The id of the call that goes on under this name, where that is proved.
    pub(super) fn polled(&self, within: ThreadIndex, task: &str) -> Option<Box<str>> {
        let call = self.calls.of_task(within, task)?;
        let proved = !self.calls.ambiguous.contains(&(within, Box::from(task)));
        proved.then(|| self.out.names.text(call).into())
    }
}
