//! Shortens an overview, in the terminal and in Markdown: drops content that the line above already shows, and notes that
//! agents repeat.

use crate::block::{Block, Terminal};
use crate::messages::{MessageAuthor, MessageView};
use crate::{Class, Head, Line};
use std::collections::HashSet;
use tooltrail_model::Kind;
use tooltrail_model::transcript::{Entry, Transcript};

/// More folded messages than this in a row are named only.
const FEW: usize = 2;

/// Folded messages that are not written yet. Agents inject many notes, and repeat themselves.
#[derive(Debug, Default)]
pub(super) struct Folds {
    held: Vec<Folded>,
    said: HashSet<String>,
}

/// A folded message in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Folded {
    /// Name of the message, and how often it came.
    pub(super) label: String,
    /// Beginning of its text; empty where only names are listed.
    pub(super) gist: String,
    times: u64,
    thought: bool,
}

impl Folds {
    /// Starts a new turn, in which repeated messages are shown again.
    pub(super) fn turn(&mut self) {
        self.said.clear();
    }

    /// Keeps a message until another kind of row follows. Left out are thoughts that the log withholds, and messages that
    /// only differ in numbers from an earlier one of this turn.
    pub(super) fn hold(&mut self, message: &MessageView) {
        let thought = message.who == MessageAuthor::Thought;
        let (label, gist) = (message.label.text(), message.gist.text());
        if thought && gist.is_empty() {
            return;
        }
        // Counters such as remaining tokens change with every note; without digits they compare as equal.
        let words: String = format!("{label}\n{gist}").chars().filter(|letter| !letter.is_ascii_digit()).collect();
        // Thoughts are never dropped as repeated: each belongs to the step it precedes.
        if thought || self.said.insert(words) {
            self.held.push(Folded { label, gist, times: 1, thought });
        // Only a repetition directly after its original is counted; otherwise the number would stand at the wrong place.
        } else if let Some(last) = self.held.last_mut().filter(|last| last.label == label) {
            last.times += 1;
        }
    }

    /// Kept messages, to be written. More than a few in a row are only named.
    pub(super) fn release(&mut self) -> Vec<Folded> {
        let held = std::mem::take(&mut self.held);
        // Thoughts and notes alternate; grouping by kind keeps their order.
        held.chunk_by(|a, b| a.thought == b.thought)
            .flat_map(|run| if run.len() > FEW && !is_thought(run) { vec![crowd(run)] } else { run.iter().map(named).collect() })
            .collect()
    }
}

fn is_thought(run: &[Folded]) -> bool {
    run.iter().any(|folded| folded.thought)
}

/// A message with the number of times it came.
fn named(folded: &Folded) -> Folded {
    let label = if folded.times > 1 { format!("{} × {}", folded.times, folded.label) } else { folded.label.clone() };
    Folded { label, ..folded.clone() }
}

/// The names of many messages.
fn crowd(run: &[Folded]) -> Folded {
    let mut names: Vec<Folded> = Vec::new();
    for folded in run {
        match names.iter_mut().find(|known| known.label == folded.label) {
            Some(known) => known.times += folded.times,
            None => names.push(folded.clone()),
        }
    }
    let label = names.iter().map(|folded| named(folded).label).collect::<Vec<_>>().join(", ");
    Folded { label, gist: String::new(), times: 1, thought: false }
}

/// A retracted message in a turn that was not retracted: only its beginning is shown.
pub(super) fn taken_back(message: MessageView) -> MessageView {
    let label = Line::from("taken back, ").with(Class::Plain, &message.label.text());
    MessageView { folded: true, label, ..message }
}

/// Whether an entry was retracted alone. Where its whole turn was, the turn's heading says so.
pub(super) fn is_taken_back(transcript: &Transcript<'_>, entry: &Entry) -> bool {
    let turn = entry.turn.and_then(|turn| transcript.turns.get(turn));
    entry.abandoned && !turn.is_some_and(|turn| turn.abandoned)
}

/// Whether a message says no more than the heading of its turn.
pub(super) fn repeats(message: &MessageView, head: &str) -> bool {
    // A prompt with a picture or an attachment has more than its text, so it must be shown.
    let all = match message.body.as_slice() {
        [Block::Markdown { .. } | Block::Code(_)] => true,
        [Block::Terminal(terminal)] => terminal.lines.is_empty(),
        _ => false,
    };
    // A heading cut with `…` does not contain the whole prompt.
    all && message.who == MessageAuthor::Person && !message.folded && !head.ends_with('…') && message.gist.text() == head.trim()
}

/// Body of a call below its line. `whole` says whether the line has all of the title.
pub(super) fn body(head: &Head, kind: Kind, whole: bool, body: Vec<Block>) -> Vec<Block> {
    let title = head.title.text();
    body.into_iter().filter_map(|block| below(&title, kind, whole, block)).collect()
}

fn below(title: &str, kind: Kind, whole: bool, block: Block) -> Option<Block> {
    match block {
        Block::Terminal(terminal) if whole && is_title(&terminal.command, title) => {
            let rest = Terminal { command: Vec::new(), ..terminal };
            // A command without output would leave an empty box.
            (!rest.lines.is_empty() || rest.elided.is_some()).then_some(Block::Terminal(rest))
        }
        // A command's description and its full text would leave no space for its output.
        Block::Fields { .. } if kind == Kind::Shell => None,
        Block::Section { label, .. } if kind == Kind::Shell && label.text().starts_with("command, ") => None,
        Block::Fields { fields }
            // The title of an MCP call lists its arguments as `name=value`; only if all are visible may the table go.
            if whole && fields.iter().all(|(name, value)| title.contains(&format!("{}={}", name.text(), value.text()))) =>
        {
            None
        }
        block => Some(block),
    }
}

fn is_title(command: &[Line], title: &str) -> bool {
    matches!(command, [line] if line.text().trim() == title)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(who: MessageAuthor, label: &str, gist: &str) -> MessageView {
        MessageView { who, label: label.into(), folded: true, gist: gist.into(), body: Vec::new() }
    }

    fn told(folds: &mut Folds) -> Vec<String> {
        folds.release().into_iter().map(|folded| format!("{}: {}", folded.label, folded.gist)).collect()
    }

    #[test]
    fn a_few_are_told_and_a_crowd_is_named() {
        let mut folds = Folds::default();
        ["a", "b"].iter().for_each(|label| folds.hold(&message(MessageAuthor::Program, label, "text")));
        assert_eq!(told(&mut folds), ["a: text", "b: text"]);
        ["c", "d", "e"].iter().for_each(|label| folds.hold(&message(MessageAuthor::Program, label, "text")));
        folds.hold(&message(MessageAuthor::Event, "e", "other"));
        folds.hold(&message(MessageAuthor::Thought, "thinking", "hm"));
        assert_eq!(told(&mut folds), ["c, d, 2 × e: ", "thinking: hm"]);
    }

    #[test]
    fn what_differs_in_numbers_only_is_told_once_a_turn() {
        let mut folds = Folds::default();
        folds.hold(&message(MessageAuthor::Program, "tokens", "15000 left"));
        folds.hold(&message(MessageAuthor::Program, "tokens", "14000 left"));
        assert_eq!(told(&mut folds), ["2 × tokens: 15000 left"]);
        folds.hold(&message(MessageAuthor::Program, "tokens", "13000 left"));
        assert_eq!(told(&mut folds), Vec::<String>::new());
        // A new turn begins with a clean memory.
        folds.turn();
        folds.hold(&message(MessageAuthor::Program, "tokens", "12000 left"));
        assert_eq!(told(&mut folds), ["tokens: 12000 left"]);
        ["hm", "hm", "", "hm"].iter().for_each(|gist| folds.hold(&message(MessageAuthor::Thought, "thinking", gist)));
        assert_eq!(told(&mut folds).len(), 3);
    }

    #[test]
    fn the_line_above_is_not_repeated() {
        let head = Head { title: "ls -l".into(), ..Head::default() };
        let ran = |lines: Vec<Line>| Block::Terminal(Terminal { command: vec!["ls -l".into()], lines, ..Terminal::default() });
        assert_eq!(body(&head, Kind::Shell, true, vec![ran(Vec::new())]), []);
        let [Block::Terminal(rest)] = &body(&head, Kind::Shell, true, vec![ran(vec!["a".into()])])[..] else { panic!("no output") };
        assert!(rest.command.is_empty());
        assert_eq!(body(&head, Kind::Shell, false, vec![ran(Vec::new())]).len(), 1);

        let head = Head { title: "number=218".into(), ..Head::default() };
        let fields = |value: &str| Block::Fields { fields: vec![("number".into(), value.into())] };
        assert_eq!(body(&head, Kind::Mcp, true, vec![fields("218"), fields("9")]), [fields("9")]);
    }

    #[test]
    fn a_prompt_that_is_all_in_the_heading_is_not_repeated() {
        let prompt = |text: &str| MessageView {
            who: MessageAuthor::Person,
            folded: false,
            body: vec![Block::Markdown { text: text.into(), elided: None }],
            ..message(MessageAuthor::Person, "You", text)
        };
        assert!(repeats(&prompt("go on"), "go on"));
        assert!(!repeats(&prompt("go on …"), "go on …"));
        assert!(!repeats(&MessageView { who: MessageAuthor::Agent, ..prompt("go on") }, "go on"));
    }
}
