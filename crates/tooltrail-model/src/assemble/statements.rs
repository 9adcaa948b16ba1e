//! Statements of records that stand outside of the conversation: tasks listed again, results seen in part, a session that goes on elsewhere.

use super::Assembler;
use crate::event::{Id, TaskNews, TaskState};
use crate::position::At;
use crate::summary::Ending;

/// Number of reports about tasks that are searched for an end that is known already.
const REPORTS: usize = 256;

impl Assembler {
    /// Takes in a task that is listed again. Lists also name tasks that ended before, so only an end that nothing else reported is news.
    pub(super) fn restated(&mut self, news: TaskNews<'_>, at: At) {
        let is_end = |state: TaskState| !matches!(state, TaskState::Running | TaskState::Unknown);
        let session = self.here.session;
        let mut reports = self.out.tasks.iter().rev().take(REPORTS);
        let known = reports.any(|known| known.session == session && known.id.as_deref() == news.id.as_deref() && is_end(known.state));
        if !is_end(news.state) || known {
            return;
        }
        self.task(news);
        // A file beside the log says that the task has ended, not when.
        if let Some(record) = self.out.tasks.last_mut().filter(|_| at.line == 0) {
            record.time = None;
        }
    }

    /// Notes that the model saw only a part of the result of a call.
    pub(super) fn seen_in_part(&mut self, call: &str) {
        let call = self.calls.latest(call).and_then(|index| self.out.calls.get_mut(index));
        if let Some(result) = call.and_then(|call| call.result.as_mut()) {
            result.truncated = true;
        }
    }

    /// Notes that the conversation goes on in another session, unless more of it follows here.
    pub(super) fn continued_in(&mut self, session: &str) {
        let name = self.out.names.of(session);
        self.session(self.here.session).continued_in = Some(name);
        self.ends_with(Ending::Continued);
    }

    /// Notes the skill that the subagent of this source runs: its prompt is the skill's text, which no call contains.
    pub(super) fn runs_skill(&mut self, skill: Id) {
        if self.subagent.is_some()
            && let Some(agent) = self.out.agents.first_mut()
        {
            agent.prompt = Some(skill);
        }
    }

    /// The call that started a task which is known by the directory of its run.
    pub(super) fn call_of_run(&self, run: &str) -> Option<Box<str>> {
        let claims = self.out.claims.iter().rev().filter(|claim| claim.by == crate::event::ClaimBy::Directory);
        claims.take(REPORTS).find(|claim| *claim.agent == *run).map(|claim| claim.call.clone())
    }

    /// Drops the session of a source that only says that its history is elsewhere.
    pub(super) fn settle_stub(&mut self) {
        if self.stub && self.out.tally.lines == 1 {
            self.out.sessions.clear();
        }
    }
}
