//! Redaction: keys, tokens, passwords, addresses and names are removed from exports.
//!
//! Every string of an export passes through [`Redactor::text`], megabytes of output included. So the text is read once, for the few
//! letters a secret of each kind begins with or is named by (`finder.rs`); only there the exact rules look (`rules.rs` lists them).
//! Rules look a bounded way back and ahead, so the time is linear in the text whatever it holds.
//!
//! Redaction is best effort, not a guarantee: a password that looks like a word cannot be recognised. See
//! docs/redaction.md.

mod address;
mod assign;
mod finder;
mod guess;
mod options;
mod paths;
mod rules;
mod spot;
#[cfg(test)]
mod tests;
mod tokens;
mod url;

use std::sync::atomic::{AtomicU64, Ordering};

use finder::Finder;
use paths::MachineOwner;
use rules::{Check, RULES, Rule};
use spot::{Take, TriggerSpot};

/// Rounds of redaction: a removed secret may expose the edge of another beside it. Only crafted texts need more rounds than
/// this.
const ROUNDS: usize = 8;

/// Redacts secrets in texts, and counts them.
#[derive(Debug)]
pub struct Redactor {
    finder: Finder,
    owner: MachineOwner,
    /// One counter for each of `RULES`.
    counts: Vec<AtomicU64>,
}

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
                // These two rules have no fixed triggers: they look for values of this machine.
                Check::Home => owner.homes().for_each(|home| finder.add(home, false, index)),
                Check::User => owner.user().into_iter().for_each(|user| finder.add(user, false, index)),
                _ => {}
            }
        }
        Redactor { finder, owner, counts: RULES.iter().map(|_| AtomicU64::new(0)).collect() }
    }

    /// The text without secrets.
    pub fn text(&self, mut text: String) -> String {
        // Screenshots make up most bytes of many logs, and random letters would match rules by chance.
        if is_image(&text) {
            return text;
        }
        for _ in 0..ROUNDS {
            match self.round(&text) {
                Some(changed) => text = changed,
                None => break,
            }
        }
        text
    }

    /// Redacted secrets so far: kind and number.
    pub fn taken(&self) -> Vec<(&'static str, u64)> {
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed));
        let mut taken: Vec<(&'static str, u64)> = Vec::new();
        for (rule, count) in RULES.iter().zip(counts).filter(|(_, count)| *count > 0) {
            // Several rules share a name; their numbers are summed, in the order of the list.
            match taken.iter_mut().find(|(name, _)| *name == rule.name) {
                Some((_, sum)) => *sum += count,
                None => taken.push((rule.name, count)),
            }
        }
        taken
    }

    /// The text with all matches of one pass replaced; `None` where nothing matched.
    fn round(&self, text: &str) -> Option<String> {
        let mut changed: Option<String> = None;
        // Everything before `floor` has been copied or replaced: no rule may look back beyond it.
        let (mut floor, mut from) = (0, 0);
        while let Some(at) = self.finder.next(text.as_bytes(), from) {
            // Advances by one byte, not by the trigger: triggers may overlap.
            from = at + 1;
            let Some((rule, take)) = self.look(text, at, floor) else { continue };
            // Rules work on bytes; a match that would split a character is dropped.
            let (Some(kept), Some(_)) = (text.get(floor..take.from), text.get(take.to..)) else { continue };
            let out = changed.get_or_insert_with(|| String::with_capacity(text.len()));
            out.push_str(kept);
            match take.by {
                Some(by) => out.push_str(&by),
                None => out.extend(["[redacted: ", RULES[rule].name, "]"]),
            }
            self.counts[rule].fetch_add(1, Ordering::Relaxed);
            floor = take.to;
            from = from.max(take.to);
        }
        let mut out = changed?;
        out.push_str(text.get(floor..).unwrap_or_default());
        Some(out)
    }

    /// The match of the first rule that applies at a trigger's position.
    fn look(&self, text: &str, at: usize, floor: usize) -> Option<(usize, Take)> {
        self.finder.at(text.as_bytes(), at).find_map(|(rule, len)| {
            let spot = TriggerSpot { text: text.as_bytes(), at, end: at + len, floor };
            self.check(&RULES[rule], spot).filter(|take| take.from >= floor && take.to > take.from).map(|take| (rule, take))
        })
    }

    fn check(&self, rule: &Rule, spot: TriggerSpot<'_>) -> Option<Take> {
        match rule.check {
            Check::Token(token) => token.take(spot),
            Check::Named(strength) => assign::take(spot, strength),
            Check::Shape(shape) => shape(spot),
            Check::Home => self.owner.take_home(spot),
            Check::User => self.owner.take_user(spot),
        }
    }
}

/// Whether the text is the base64 of an image or a PDF: long, and without anything to find.
fn is_image(text: &str) -> bool {
    const LEAST: usize = 1024;
    // The first bytes of PNG, JPEG, GIF, WebP and PDF in base64.
    const MAGIC: [&str; 5] = ["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "JVBERi0"];
    text.len() >= LEAST
        && MAGIC.iter().any(|magic| text.starts_with(magic))
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
}
