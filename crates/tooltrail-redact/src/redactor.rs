//! The redactor: finds secrets in a text pass by pass, and replaces them by their labels.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::finder::Finder;
use crate::known::{KnownSecrets, Label};
use crate::paths::MachineOwner;
use crate::rules::{Check, EMAIL, MNEMONIC, OTHER_KINDS, RULES, Rule};
use crate::spot::{Replacement, Take, TriggerSpot};
use crate::view::{Depth, View};
use crate::{assign, base64, mnemonics, tokens};

/// Rounds of redaction: a removed secret may expose the edge of another beside it. Only crafted texts need more rounds than
/// this.
const ROUNDS: usize = 8;

/// Redacts secrets in the texts of one export, and counts them.
#[derive(Debug)]
pub struct Redactor {
    finder: Finder,
    owner: MachineOwner,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    known: KnownSecrets,
    counts: HashMap<&'static str, u64>,
}

/// A secret in a text: what it is and where, never its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of secret, as in `github token`.
    pub kind: &'static str,
    /// The first byte of the secret.
    pub from: usize,
    /// The end of the secret.
    pub to: usize,
}

/// A part of a text that is replaced.
struct Cut {
    from: usize,
    to: usize,
    kind: &'static str,
    by: CutBy,
}

/// What replaces a part of a text.
enum CutBy {
    /// The label of this value.
    Value(Vec<u8>),
    /// A label that is known already.
    Label(Label),
    Text(Cow<'static, str>),
}

/// How a text is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pass {
    View(Depth),
    /// What is encoded in the text.
    Base64,
}

const PASSES: [Pass; 4] = [Pass::View(Depth::Escapes), Pass::View(Depth::Percent), Pass::View(Depth::Wraps), Pass::Base64];

impl Default for Redactor {
    fn default() -> Self {
        Redactor::new(None, None)
    }
}

impl Redactor {
    /// A redactor that also replaces this home directory, and this user's name in paths.
    pub fn new(home: Option<&str>, user: Option<&str>) -> Self {
        let owner = MachineOwner::new(home, user);
        let mut finder = Finder::default();
        for (index, rule) in RULES.iter().enumerate() {
            rule.triggers.iter().for_each(|trigger| finder.add(trigger, rule.fold, index));
            match rule.check {
                // These rules have no fixed triggers: they look for values of this machine, or for any of many pairs of letters.
                Check::Home => owner.homes().for_each(|home| finder.add(home, false, index)),
                Check::User => owner.user().into_iter().for_each(|user| finder.add(user, false, index)),
                Check::Wif => wif_heads().for_each(|head| finder.add(&head, false, index)),
                _ => {}
            }
        }
        Redactor { finder, owner, state: Mutex::default() }
    }

    /// The text without secrets. A secret that was recognised in an earlier text is redacted wherever it stands.
    pub fn text(&self, mut text: String) -> String {
        // Screenshots make up most bytes of many logs, and random letters would match rules by chance.
        if is_image(&text) {
            return text;
        }
        for pass in PASSES {
            for _ in 0..ROUNDS {
                match self.round(&text, pass) {
                    Some(changed) => text = changed,
                    None => break,
                }
            }
        }
        text
    }

    /// Forgets how many secrets were redacted, and keeps which they are: what was learned from all texts before the export is
    /// written counts only where it is written.
    pub fn restart_counts(&self) {
        self.state().counts.clear();
    }

    /// Redacted secrets so far: kind and number.
    pub fn taken(&self) -> Vec<(&'static str, u64)> {
        let state = self.state();
        let mut taken: Vec<(&'static str, u64)> = Vec::new();
        for kind in RULES.iter().map(|rule| rule.name).chain(OTHER_KINDS.iter().copied()) {
            // Several rules share a name.
            if let Some(count) = state.counts.get(kind).filter(|_| !taken.iter().any(|(known, _)| *known == kind)) {
                taken.push((kind, *count));
            }
        }
        taken
    }

    /// The secrets in a text, without addresses and names of people. What is encoded counts where its code stands.
    pub fn find(&self, text: &str) -> Vec<Finding> {
        if is_image(text) {
            return Vec::new();
        }
        let mut found: Vec<Finding> = Vec::new();
        for pass in PASSES {
            // What a pass finds is in order and apart; only another pass may find it again.
            let known = found.len();
            for cut in self.cuts(text, pass) {
                let secret = matches!(cut.by, CutBy::Value(_) | CutBy::Label(_)) && cut.kind != EMAIL;
                let before = found.get(..known).unwrap_or_default();
                let next = before.partition_point(|finding| finding.to <= cut.from);
                if secret && before.get(next).is_none_or(|finding| finding.from >= cut.to) {
                    found.push(Finding { kind: cut.kind, from: cut.from, to: cut.to });
                }
            }
            found.sort_by_key(|finding| finding.from);
        }
        found
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic in between leaves counts and labels that are still true.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text with all matches of one pass replaced; `None` where nothing matched.
    fn round(&self, text: &str, pass: Pass) -> Option<String> {
        let mut cuts = self.cuts(text, pass);
        if cuts.is_empty() {
            cuts = self.known(text, pass);
        }
        if cuts.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut floor = 0;
        let mut state = self.state();
        for cut in cuts {
            // Rules work on bytes; a match that would split a character is dropped.
            let (Some(kept), Some(_)) = (text.get(floor..cut.from), text.get(cut.to..)) else { continue };
            out.push_str(kept);
            match cut.by {
                CutBy::Text(by) => out.push_str(&by),
                CutBy::Label(label) => out.push_str(&label.text()),
                CutBy::Value(value) => out.push_str(&state.known.label(cut.kind, &value).text()),
            }
            *state.counts.entry(cut.kind).or_default() += 1;
            floor = cut.to;
        }
        out.push_str(text.get(floor..).unwrap_or_default());
        (floor > 0).then_some(out)
    }

    /// What the rules find in one pass, in order.
    fn cuts(&self, text: &str, pass: Pass) -> Vec<Cut> {
        let Pass::View(depth) = pass else { return self.encoded(text) };
        match View::new(text, depth) {
            None if depth == Depth::Escapes => self.detect(text, depth),
            // Nothing that the pass before did not see.
            None => Vec::new(),
            Some(view) => {
                let mut cuts = self.detect(&view.text, depth);
                if depth != Depth::Escapes {
                    cuts.retain(|cut| view.differs(cut.from, cut.to) || depth == Depth::Percent);
                }
                for cut in &mut cuts {
                    (cut.from, cut.to) = view.origin(cut.from, cut.to);
                }
                cuts
            }
        }
    }

    /// Where secrets that are known already stand in the text.
    fn known(&self, text: &str, pass: Pass) -> Vec<Cut> {
        let Pass::View(depth) = pass else { return Vec::new() };
        let view = View::new(text, depth);
        if view.is_none() && depth != Depth::Escapes {
            // An earlier pass has searched this text as it is.
            return Vec::new();
        }
        let seen = view.as_ref().map_or(text, |view| &view.text);
        let found = self.state().known.find(seen.as_bytes());
        let origin = |from, to| view.as_ref().map_or((from, to), |view| view.origin(from, to));
        let cut = |(from, to, label): (usize, usize, Label)| {
            let (from, to) = origin(from, to);
            Cut { from, to, kind: label.kind, by: CutBy::Label(label) }
        };
        found.into_iter().map(cut).collect()
    }

    /// What the rules find in a text.
    fn detect(&self, text: &str, depth: Depth) -> Vec<Cut> {
        let mut cuts: Vec<Cut> = Vec::new();
        // Everything before `floor` has been copied or replaced: no rule may look back beyond it.
        let (mut floor, mut from) = (0, 0);
        let mut takes = Vec::new();
        let mut data = data_runs(text.as_bytes()).into_iter().peekable();
        while let Some(at) = self.finder.next(text.as_bytes(), from) {
            while data.next_if(|(_, end)| *end <= at).is_some() {}
            if let Some((_, end)) = data.peek().filter(|(start, _)| *start <= at) {
                from = *end;
                continue;
            }
            // Advances by one byte, not by the trigger: triggers may overlap.
            from = at + 1;
            let Some(rule) = self.look(text, at, floor, depth, &mut takes) else { continue };
            for take in takes.drain(..) {
                let whole = text.is_char_boundary(take.from) && text.is_char_boundary(take.to) && take.from >= floor && take.to > take.from;
                let Some(value) = text.as_bytes().get(take.from..take.to).filter(|_| whole) else { continue };
                let kind = if let Replacement::Label(Some(kind)) = take.by { kind } else { rule.name };
                let by = if let Replacement::Text(text) = take.by { CutBy::Text(text) } else { CutBy::Value(value.to_vec()) };
                cuts.push(Cut { from: take.from, to: take.to, kind, by });
                floor = take.to;
                from = from.max(take.to);
            }
        }
        if depth == Depth::Escapes {
            phrases(text, &mut cuts);
        }
        cuts
    }

    /// The first rule that applies at a trigger's position, with what it takes.
    fn look(&self, text: &str, at: usize, floor: usize, depth: Depth, takes: &mut Vec<Take>) -> Option<&'static Rule> {
        self.finder.at(text.as_bytes(), at).find_map(|(rule, len)| {
            let rule = RULES.get(rule)?;
            let spot = TriggerSpot { text: text.as_bytes(), at, end: at + len, floor };
            // Joined lines tell nothing about names.
            if depth == Depth::Wraps && !matches!(rule.check, Check::Token(_) | Check::Shape(_)) {
                return None;
            }
            takes.clear();
            match rule.check {
                Check::Several(several) => several(spot, takes),
                _ => takes.extend(self.check(rule, spot)),
            }
            takes.retain(|take| take.from >= floor && take.to > take.from);
            (!takes.is_empty()).then_some(rule)
        })
    }

    fn check(&self, rule: &Rule, spot: TriggerSpot<'_>) -> Option<Take> {
        match rule.check {
            Check::Token(token) => token.take(spot),
            Check::Named => assign::take(spot),
            Check::Shape(shape) => shape(spot),
            Check::Several(_) => None,
            Check::Wif => tokens::wif(spot),
            Check::Home => self.owner.take_home(spot),
            Check::User => self.owner.take_user(spot),
        }
    }

    /// Secrets in what base64 within the text stands for.
    fn encoded(&self, text: &str) -> Vec<Cut> {
        const LEAST: usize = 24;
        let bytes = text.as_bytes();
        let mut cuts = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            let len = rest.iter().take_while(|byte| base64::is_letter(**byte) || matches!(byte, b'-' | b'_')).count();
            if len >= LEAST
                && let Some(plain) = rest.get(..len).and_then(readable)
            {
                for cut in self.detect(&plain, Depth::Escapes) {
                    if matches!(cut.by, CutBy::Value(_)) && cut.kind != EMAIL {
                        // Groups of four letters stand for three bytes.
                        let end = (cut.to.div_ceil(3) * 4).min(len);
                        let padding = if end == len {
                            rest.get(len..).unwrap_or_default().iter().take(2).take_while(|byte| **byte == b'=').count()
                        } else {
                            0
                        };
                        let from = at + cut.from / 3 * 4;
                        let overlaps = cuts.last().is_some_and(|last: &Cut| last.to > from);
                        let from = if overlaps { from + 4 } else { from };
                        cuts.push(Cut { from, to: at + end + padding, ..cut });
                    }
                }
            }
            at += len.max(1);
        }
        cuts.retain(|cut| cut.from < cut.to);
        cuts
    }
}

/// The text that base64 stands for; `None` where it is no text.
fn readable(code: &[u8]) -> Option<String> {
    let printable =
        |plain: &[u8]| plain.iter().all(|byte| (b' '..0x7f).contains(byte) || matches!(byte, b'\n' | b'\r' | b'\t') || *byte >= 0x80);
    // Nearly all runs of letters are something else, and show it in the first bytes.
    base64::decode(code.get(..24)?).filter(|plain| printable(plain) && plain.is_ascii())?;
    let mut plain = base64::decode(code)?;
    // The last group may be cut off in the middle of a character.
    let whole = plain.iter().rposition(|byte| byte.is_ascii()).map_or(0, |at| at + 1);
    plain.truncate(whole);
    printable(&plain).then(|| String::from_utf8(plain).ok()).flatten()
}

/// Runs of base64 so long that they are pictures or archives: random letters match rules by chance.
fn data_runs(text: &[u8]) -> Vec<(usize, usize)> {
    const LEAST: usize = 4096;
    let mut runs = Vec::new();
    let mut at = 0;
    // Only every so many bytes: a run that long is met, and grown to both sides.
    while at + LEAST / 2 < text.len() {
        let is_letter = |byte: &&u8| base64::is_letter(**byte);
        let after = text.iter().skip(at).take_while(is_letter).count();
        if after < LEAST / 2 {
            at += LEAST / 2;
            continue;
        }
        let before = text.iter().take(at).rev().take_while(is_letter).count();
        if before + after >= LEAST {
            runs.push((at - before, at + after));
        }
        at += after.max(LEAST / 2);
    }
    runs
}

/// Adds seed phrases to what the rules found.
fn phrases(text: &str, cuts: &mut Vec<Cut>) {
    let found = mnemonics::find(text.as_bytes());
    if found.is_empty() {
        return;
    }
    for (from, to) in found {
        cuts.retain(|cut| cut.to <= from || cut.from >= to);
        let value = text.as_bytes().get(from..to).unwrap_or_default().to_vec();
        cuts.push(Cut { from, to, kind: MNEMONIC, by: CutBy::Value(value) });
    }
    cuts.sort_by_key(|cut| cut.from);
}

/// The first two letters of private keys of Bitcoin.
fn wif_heads() -> impl Iterator<Item = String> {
    let seconds = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    ['K', 'L']
        .into_iter()
        .flat_map(move |first| seconds.chars().map(move |second| format!("{first}{second}")))
        .chain(["5H", "5J", "5K"].map(str::to_owned))
}

/// Whether the text is the base64 of an image or a PDF: long, and without anything to find.
pub(crate) fn is_image(text: &str) -> bool {
    const LEAST: usize = 1024;
    // The first bytes of PNG, JPEG, GIF, WebP and PDF in base64.
    const MAGIC: [&str; 5] = ["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "JVBERi0"];
    text.len() >= LEAST
        && MAGIC.iter().any(|magic| text.starts_with(magic))
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
}
