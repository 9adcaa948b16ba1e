//! What polls of a command printed: it belongs to the output of that command.

use crate::book::{Book, Loaded};
use crate::detail::Detail;
use crate::polls::PollIndex;
use crate::transcript::Story;
use std::collections::{HashMap, VecDeque};

/// Most polls of one command whose output is read: the last ones, because the end of a command says most.
const MOST_POLLS: usize = 200;
/// Most bytes that several polls of one command may have printed together.
const MOST_BYTES: usize = 1 << 20;

/// Output of a command, followed by what polls of it printed.
#[derive(Debug, Default)]
pub(super) struct PolledOutput {
    text: String,
    /// Beginning of the output of each poll, with its place in `Transcript::calls`.
    polls: Vec<(usize, usize)>,
}

/// Adds what the polls of a call printed to its output.
pub(super) fn add(polls: &PollIndex, book: &dyn Book, call: usize, story: &Story<'_>, output: &mut PolledOutput) {
    let all = polls.all(call);
    // Waiting for a script tells what the program printed, and only the program says what of that is the output of a command.
    let mut programs: HashMap<usize, Option<String>> = HashMap::from([(call, program(story))]);
    let (mut texts, mut bytes): (VecDeque<(usize, String)>, usize) = (VecDeque::new(), 0);
    for &(poll, polled) in all.get(all.len().saturating_sub(MOST_POLLS)..).unwrap_or_default() {
        let Loaded::Call(told) = book.call(poll) else { continue };
        let waited = programs.get(&polled).and_then(Option::as_deref).and_then(|program| book.printed_by(&told, program));
        if polls.is_polled(poll) {
            programs.insert(poll, program(&told));
        }
        let Some(text) = waited.or_else(|| printed(&told)).filter(|text| !text.is_empty()) else { continue };
        bytes += text.len();
        texts.push_back((poll, text));
        // What was printed last says most.
        while bytes > MOST_BYTES && texts.len() > 1 {
            bytes -= texts.pop_front().map_or(0, |(_, text)| text.len());
        }
    }
    texts.iter().for_each(|(poll, text)| output.push(*poll, text));
}

/// The program of a script that is one call.
fn program(story: &Story<'_>) -> Option<String> {
    story.row.unwrapped.and(story.program.clone())
}

/// What a poll printed.
fn printed(story: &Story<'_>) -> Option<String> {
    let Detail::TaskOutput(task) = &story.told.detail else { return None };
    let texts: Vec<&str> = task.stdout.iter().chain(&task.stderr).map(String::as_str).collect();
    Some(texts.join("\n"))
}

impl PolledOutput {
    /// Output of a command without that of any poll.
    pub(super) fn new(text: String) -> Self {
        PolledOutput { text, polls: Vec::new() }
    }

    /// The text: what each poll printed begins on a line of its own.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The poll that printed a part of the text; `None` where the command's own result has it.
    pub(super) fn poll_of(&self, part: &str) -> Option<usize> {
        // By address: several polls may print the same words, so a search could find the wrong one.
        let at = part.as_ptr().addr().checked_sub(self.text.as_ptr().addr())?;
        self.polls.iter().rev().find(|(start, _)| *start <= at).map(|(_, poll)| *poll)
    }

    fn push(&mut self, poll: usize, text: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.polls.push((self.text.len(), poll));
        self.text.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_an_output_is_of_the_poll_that_printed_it() {
        let mut output = PolledOutput::new("To origin".to_owned());
        output.push(4, "one\n");
        output.push(7, "two");
        assert_eq!(output.text(), "To origin\none\ntwo");
        let polls: Vec<Option<usize>> = output.text().lines().map(|line| output.poll_of(line)).collect();
        assert_eq!(polls, [None, Some(4), Some(7)]);
    }
}
