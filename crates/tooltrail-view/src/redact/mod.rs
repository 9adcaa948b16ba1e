//! Redaction: keys, tokens, passwords, addresses and names are taken out of what is shared.
//!
//! Every string of an export passes through [`Redactor::text`], megabytes of output included. So the text is read once, for the few
//! letters a secret of each kind begins with or is named by (`finder.rs`); only there the exact rules look (`rules.rs` lists them).
//! Rules look a bounded way back and ahead, so the time is linear in the text whatever it holds.
//!
//! It is help and no guarantee: a password that looks like a word cannot be told from one. See docs/redaction.md.

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
use paths::Owner;
use rules::{Check, RULES, Rule};
use spot::{Spot, Take};

/// What is taken out once may lay bare the edge of what stood beside it; texts that need more rounds than this are made up.
const ROUNDS: usize = 8;

/// Takes secrets out of texts, and counts what it took.
#[derive(Debug)]
pub struct Redactor {
    finder: Finder,
    owner: Owner,
    /// One for each of `RULES`.
    counts: Vec<AtomicU64>,
}

impl Default for Redactor {
    fn default() -> Self {
        Redactor::new(None, None)
    }
}

impl Redactor {
    /// A redactor that also takes out this home directory and this user's name in paths.
    pub fn new(home: Option<&str>, user: Option<&str>) -> Self {
        let owner = Owner::new(home, user);
        let mut finder = Finder::default();
        for (index, rule) in RULES.iter().enumerate() {
            rule.triggers.iter().for_each(|trigger| finder.add(trigger, rule.fold, index));
            match rule.check {
                Check::Home => owner.homes().for_each(|home| finder.add(home, false, index)),
                Check::User => owner.user().into_iter().for_each(|user| finder.add(user, false, index)),
                _ => {}
            }
        }
        Redactor { finder, owner, counts: RULES.iter().map(|_| AtomicU64::new(0)).collect() }
    }

    /// The text without secrets.
    pub fn text(&self, mut text: String) -> String {
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

    /// What was taken out so far: what it was, and how often.
    pub fn taken(&self) -> Vec<(&'static str, u64)> {
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed));
        let mut taken: Vec<(&'static str, u64)> = Vec::new();
        for (rule, count) in RULES.iter().zip(counts).filter(|(_, count)| *count > 0) {
            match taken.iter_mut().find(|(name, _)| *name == rule.name) {
                Some((_, sum)) => *sum += count,
                None => taken.push((rule.name, count)),
            }
        }
        taken
    }

    /// The text with everything replaced that the rules find in it as it is; none where they find nothing.
    fn round(&self, text: &str) -> Option<String> {
        let mut changed: Option<String> = None;
        let (mut floor, mut from) = (0, 0);
        while let Some(at) = self.finder.next(text.as_bytes(), from) {
            from = at + 1;
            let Some((rule, take)) = self.look(text, at, floor) else { continue };
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

    /// What the first rule that applies takes where one of the triggers may stand.
    fn look(&self, text: &str, at: usize, floor: usize) -> Option<(usize, Take)> {
        self.finder.at(text.as_bytes(), at).find_map(|(rule, len)| {
            let spot = Spot { text: text.as_bytes(), at, end: at + len, floor };
            self.check(&RULES[rule], spot).filter(|take| take.from >= floor && take.to > take.from).map(|take| (rule, take))
        })
    }

    fn check(&self, rule: &Rule, spot: Spot<'_>) -> Option<Take> {
        match rule.check {
            Check::Token(token) => token.take(spot),
            Check::Named(strength) => assign::take(spot, strength),
            Check::Shape(shape) => shape(spot),
            Check::Home => self.owner.take_home(spot),
            Check::User => self.owner.take_user(spot),
        }
    }
}

/// Whether the text is the base64 of an image: long, and there is nothing to find in it.
fn is_image(text: &str) -> bool {
    const LEAST: usize = 1024;
    const MAGIC: [&str; 5] = ["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "JVBERi0"];
    text.len() >= LEAST
        && MAGIC.iter().any(|magic| text.starts_with(magic))
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
}
