//! State of a call without a result: the output and the activity that its last progress record holds.
//!
//! ```text
//! ▾ output so far, after 12.0 s
//!   Compiling parser v0.1.0
//! ```

use crate::head::took;
use crate::pieces::{notice, section, terminal};
use crate::{Block, Limits};
use tooltrail_model::Status;
use tooltrail_model::transcript::{Level, Story};

/// Blocks for the last progress of a call; nothing where it has a result.
pub(crate) fn blocks(call: &Story<'_>, limits: &Limits) -> Vec<Block> {
    let Some(progress) = call.progress.as_ref().filter(|_| call.answer.is_none()) else { return Vec::new() };
    let after = progress.elapsed_ms.map(|elapsed| format!(", after {}", took(elapsed))).unwrap_or_default();
    let mut blocks: Vec<Block> = progress.note.as_deref().map(|note| notice(Level::Info, note)).into_iter().collect();
    let running = call.row.status == Status::Running;
    match &progress.output {
        Some(output) => {
            let label = if running { "output so far" } else { "partial output" };
            blocks.push(section(format!("{label}{after}"), true, vec![Block::Terminal(terminal(output, limits))]));
        }
        // A remark about the time alone; where the time ran out, that is said above.
        None if blocks.is_empty() && !after.is_empty() && call.row.status != Status::TimedOut => {
            blocks.push(notice(Level::Info, format!("No output{}{after}.", if running { " yet" } else { "" })));
        }
        None => {}
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{answered, story, text_of};
    use tooltrail_model::Kind;
    use tooltrail_model::detail::Detail;
    use tooltrail_model::transcript::ProgressStory;

    fn at_work(status: Status, progress: ProgressStory) -> Story<'static> {
        Story { progress: Some(progress), ..story("Bash", Kind::Shell, status, Detail::Other) }
    }

    #[test]
    fn output_so_far_is_shown_until_there_is_a_result() {
        let progress = ProgressStory { output: Some("half".into()), elapsed_ms: Some(12_000), ..ProgressStory::default() };
        let said = |status| text_of(&blocks(&at_work(status, progress.clone()), &Limits::PAGE));
        assert_eq!(said(Status::Running), "output so far, after 12.0 s\nhalf\n");
        assert_eq!(said(Status::Unanswered), "partial output, after 12.0 s\nhalf\n");
        let done = answered(at_work(Status::Succeeded, progress), "all");
        assert!(blocks(&done, &Limits::PAGE).is_empty());
    }

    #[test]
    fn activity_without_output_is_said() {
        let silent = ProgressStory { elapsed_ms: Some(3_000), ..ProgressStory::default() };
        assert_eq!(text_of(&blocks(&at_work(Status::Running, silent), &Limits::PAGE)), "No output yet, after 3.0 s.\n");
        let note = ProgressStory { note: Some("searches for “rust”".into()), ..ProgressStory::default() };
        assert_eq!(text_of(&blocks(&at_work(Status::Running, note), &Limits::PAGE)), "searches for “rust”\n");
    }
}
