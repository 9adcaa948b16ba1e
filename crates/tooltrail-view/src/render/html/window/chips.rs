//! Chips: filters that leave only some rows visible. Every row matches some of them, and a section that is not loaded says
//! how many of its rows do.

use super::super::call::bad;
use crate::head::{count, look};
use maud::{Markup, html};
use std::fmt::Write;
use tooltrail_model::transcript::EntryKind;
use tooltrail_model::{Kind, Status};

/// A chip: its word in an address, its letters in a count, and the selector of rows that match it.
struct Chip {
    word: &'static str,
    code: &'static str,
    selector: &'static str,
}

const fn chip(word: &'static str, code: &'static str, selector: &'static str) -> Chip {
    Chip { word, code, selector }
}

/// All chips. A set of them is a number with a bit for each, so the order must not change the first twelve: statuses, then
/// the chips outside of the menu.
const CHIPS: &[Chip] = &[
    chip("failed", "f", ".s-failed"),
    chip("timed_out", "t", ".s-timed_out"),
    chip("rejected", "r", ".s-rejected"),
    chip("blocked", "b", ".s-blocked"),
    chip("interrupted", "i", ".s-interrupted"),
    chip("cancelled", "c", ".s-cancelled"),
    chip("unanswered", "u", ".s-unanswered"),
    chip("running", "g", ".s-running"),
    chip("edits", "e", ":is(.k-edit, .k-write)"),
    chip("prompts", "p", ".m-person"),
    chip("text", "x", ".m-model"),
    chip("thinking", "h", ".m-thought"),
    chip("shell", "sh", ".k-shell"),
    chip("read", "rd", ".k-read"),
    chip("write", "wr", ".k-write"),
    chip("edit", "ed", ".k-edit"),
    chip("search", "se", ".k-search"),
    chip("list", "ls", ".k-list"),
    chip("todo", "td", ".k-todo"),
    chip("plan", "pl", ".k-plan"),
    chip("subagent", "sa", ".k-subagent"),
    chip("task", "tk", ".k-task"),
    chip("question", "qu", ".k-question"),
    chip("web_search", "ws", ".k-web_search"),
    chip("web_fetch", "wf", ".k-web_fetch"),
    chip("skill", "sk", ".k-skill"),
    chip("script", "sc", ".k-script"),
    chip("mcp", "mc", ".k-mcp"),
    chip("image", "im", ".k-image"),
    chip("other", "ot", ".k-other"),
    chip("important", "vi", ":is(.imp, .m-person, .m-model, .m-trouble)"),
];

/// The chip of rows that a reader in a hurry wants, which stands before all others.
const IMPORTANT: &str = "important";

/// Number of chips for outcomes of calls, which come first.
const STATUSES: usize = 8;

/// A set of chips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ChipSet(u32);

impl ChipSet {
    /// Chips that a row matches.
    pub(super) fn of(what: EntryKind, call: Option<(Status, Kind)>) -> Self {
        let mut set = ChipSet::default();
        match what {
            EntryKind::Call(_) => {}
            // A slash command is typed by the person like a prompt.
            EntryKind::Prompt | EntryKind::Command => {
                set.add("prompts");
                set.add(IMPORTANT);
            }
            EntryKind::Text => {
                set.add("text");
                set.add(IMPORTANT);
            }
            EntryKind::Thinking => set.add("thinking"),
            _ => {}
        }
        if let Some((status, kind)) = call {
            // Succeeded calls have no chip of their status: nearly all rows would match.
            if bad(status) || status == Status::Running {
                set.add(status.word());
            }
            set.add(kind.word());
            if matches!(kind, Kind::Edit | Kind::Write) {
                set.add("edits");
            }
        }
        set
    }

    /// The chips of an address: words with commas between them. Others are left out.
    pub(super) fn read(words: &str) -> Self {
        let mut set = ChipSet::default();
        words.split(',').for_each(|word| set.add(word));
        set
    }

    /// The same with the chip of rows that a reader in a hurry wants.
    pub(super) fn with_important(mut self) -> Self {
        self.add(IMPORTANT);
        self
    }

    fn add(&mut self, word: &str) {
        // An unknown word adds no bit: addresses are typed by hand and outlive renamed chips.
        self.0 |= CHIPS.iter().position(|chip| chip.word == word).map_or(0, |place| 1 << place);
    }

    /// Both together.
    pub(super) fn and(self, other: ChipSet) -> Self {
        ChipSet(self.0 | other.0)
    }

    /// Chips in both sets.
    pub(super) fn within(self, other: ChipSet) -> Self {
        ChipSet(self.0 & other.0)
    }

    /// Only the chips for outcomes of calls.
    pub(super) fn statuses(self) -> Self {
        ChipSet(self.0 & ((1 << STATUSES) - 1))
    }

    /// Whether the set has no chips.
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn chips(self) -> impl Iterator<Item = (usize, &'static Chip)> {
        CHIPS.iter().enumerate().filter(move |(place, _)| self.0 >> place & 1 == 1)
    }

    /// Words of the chips, separated by spaces; `None` for an empty set.
    pub(super) fn words(self) -> Option<String> {
        (!self.is_empty()).then(|| self.chips().map(|(_, chip)| chip.word).collect::<Vec<_>>().join(" "))
    }
}

/// Number of rows that match each chip.
#[derive(Clone, Debug, Default)]
pub(super) struct ChipCounts([u32; CHIPS.len()]);

impl ChipCounts {
    /// Counts a row.
    pub(super) fn add(&mut self, set: ChipSet) {
        for (place, _) in set.chips() {
            if let Some(count) = self.0.get_mut(place) {
                *count += 1;
            }
        }
    }

    /// Upper bound of the rows that match any of these chips.
    pub(super) fn of(&self, set: ChipSet) -> u32 {
        // A row that matches two chips is counted twice; callers only need to know whether there are any.
        set.chips().filter_map(|(place, _)| self.0.get(place)).sum()
    }

    /// The counts as written into a section: `f2p1sh40`.
    pub(super) fn code(&self) -> String {
        let mut code = String::new();
        // Letters and digits alternate, so the script can split the text without separators.
        for (chip, count) in CHIPS.iter().zip(self.0).filter(|(_, count)| *count > 0) {
            _ = write!(code, "{}{count}", chip.code);
        }
        code
    }
}

/// The chips that have rows in this session; `on` are the selected ones.
pub(super) fn bar(counts: &ChipCounts, on: ChipSet) -> Markup {
    let all: Vec<(usize, &Chip, u32)> = CHIPS
        .iter()
        .zip(counts.0)
        .enumerate()
        .map(|(place, (chip, count))| (place, chip, count))
        .filter(|(_, _, count)| *count > 0)
        .collect();
    let chosen = |place: usize| (on.0 >> place & 1 == 1).then_some("true");
    // Statuses and the four chips after them stand in the bar; kinds of tools would not fit and go into a menu.
    let (important, all): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, chip, _)| chip.word == IMPORTANT);
    let (first, kinds): (Vec<_>, Vec<_>) = all.into_iter().partition(|(place, ..)| *place < STATUSES + 4);
    // A closed menu must show that something in it is selected.
    let in_menu = kinds.iter().any(|(place, ..)| chosen(*place).is_some());
    html! {
        div.chips #tt-filters role="group" aria-label="Filters" {
            // A plain link without the parameter: clearing works without a script too.
            a.chip href="?" data-show="" aria-current=[on.is_empty().then_some("true")] { "All" }
            @for (place, chip, number) in important {
                a.chip href={ "?show=" (chip.word) } data-show=(chip.word) data-code=(chip.code) aria-current=[chosen(place)] aria-keyshortcuts="i"
                    title={ (count(number.into())) " rows: prompts, answers, problems, edits, checks, questions, subagents (i)" } { "Important" }
            }
            @for (place, chip, number) in first {
                @let status = Status::of_word(chip.word).filter(|_| place < STATUSES);
                a class={ "chip" @if status.is_some_and(bad) { " bad" } @if let Some(status) = status { " s-" (status.word()) } }
                    href={ "?show=" (chip.word) } data-show=(chip.word) data-code=(chip.code) aria-current=[chosen(place)]
                    title=[status.map(|status| format!("{} {}", count(number.into()), look(status).word))] {
                    @if let Some(status) = status { span.sign aria-hidden="true" { (look(status).glyph) } span.vh { (look(status).word) " " } (count(number.into())) }
                    @else { (label(chip.word)) span.di { (count(number.into())) } }
                }
            }
            @if !kinds.is_empty() {
                details.menu.kinds {
                    summary aria-current=[in_menu.then_some("true")] { "Tools" }
                    div.pop { @for (place, chip, number) in kinds {
                        a.chip href={ "?show=" (chip.word) } data-show=(chip.word) data-code=(chip.code) aria-current=[chosen(place)] {
                            (chip.word.replace('_', " ")) span.di { (count(number.into())) }
                        }
                    } }
                }
            }
        }
    }
}

/// Label of a chip that is no status.
fn label(word: &str) -> &'static str {
    match word {
        "edits" => "Edits",
        "prompts" => "Prompts",
        "text" => "Text",
        _ => "Thinking",
    }
}

/// Style rules by which selected chips leave only their rows: all are hidden, and each chip brings its own back.
pub(crate) fn style() -> String {
    let mut css = String::from("#tt-rows[data-show] :is(.row, .turn, .nr) { display: none; }\n");
    for Chip { word, selector, .. } in CHIPS {
        let within = format!("#tt-rows[data-show~=\"{word}\"]");
        let rows = format!(":is(.row{selector}, [data-in~=\"{word}\"])");
        // Only rows have these classes, so a selector that begins with `:` needs no `.row` before it.
        let rows = if selector.starts_with(':') { format!(":is({}, [data-in~=\"{word}\"])", selector) } else { rows };
        _ = writeln!(css, "{within} {rows}, {within} .nr:has(+ {rows}) {{ display: block; }}");
        _ = writeln!(css, "{within} .turn[data-has~=\"{word}\"] {{ display: flex; }}");
    }
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_and_kind_that_is_asked_for_has_a_chip() {
        for status in Status::ALL.iter().filter(|status| bad(**status)) {
            assert!(!ChipSet::read(status.word()).is_empty(), "{status:?}");
        }
        for kind in Kind::ALL {
            assert!(!ChipSet::read(kind.word()).is_empty(), "{kind:?}");
        }
        let codes: std::collections::HashSet<&str> = CHIPS.iter().map(|chip| chip.code).collect();
        assert_eq!(codes.len(), CHIPS.len(), "two chips count with the same letters");
        assert!(CHIPS.len() <= 32);
    }

    #[test]
    fn rows_answer_to_their_chips() {
        let edit = ChipSet::of(EntryKind::Call(0), Some((Status::Failed, Kind::Edit)));
        assert_eq!(edit.words().as_deref(), Some("failed edits edit"));
        assert_eq!(ChipSet::of(EntryKind::Thinking, None).words().as_deref(), Some("thinking"));
        assert_eq!(ChipSet::of(EntryKind::Notice, None).words(), None);
        assert_eq!(ChipSet::of(EntryKind::Text, None).words().as_deref(), Some("text important"));
        assert_eq!(edit.with_important().words().as_deref(), Some("failed edits edit important"));
        assert_eq!(ChipSet::read("failed,nonsense,edits"), ChipSet::read("edits,failed"));
        let mut counts = ChipCounts::default();
        counts.add(edit);
        counts.add(ChipSet::of(EntryKind::Call(0), Some((Status::Succeeded, Kind::Shell))));
        assert_eq!(counts.code(), "f1e1sh1ed1");
        assert_eq!(counts.of(ChipSet::read("failed,shell")), 2);
    }
}
