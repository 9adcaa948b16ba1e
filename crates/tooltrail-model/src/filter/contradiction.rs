//! Terms that exclude each other, such as `status:failed status:succeeded`. An empty list would be a true answer, and leave
//! you to guess why.

use super::mistake::Mistake;
use super::values::NumberRange;
use super::{NamePattern, Setting, Term, Test};
use crate::command::Purpose;
use crate::{Kind, Reason, Status};
use std::ops::Range;

/// A term and its position.
type Placed = (Term, Range<usize>);

/// Fails where nothing can fulfil all terms.
pub(super) fn check(query: &str, terms: &[Placed], setting: &Setting<'_>) -> Result<(), Mistake> {
    let found = opposite(terms).or_else(|| if setting.apart { None } else { excluded(terms, setting) });
    let Some(((before, first), (term, second))) = found else { return Ok(()) };
    let written = |at: &Range<usize>| query.get(at.clone()).unwrap_or_default();
    let both = format!("`{}` and `{}` can never both hold", written(first), written(second));
    // Of several values one must match, which is probably what was meant.
    let is_time = matches!(term.test, Test::Since(_) | Test::Until(_));
    let message = match before.not || term.not || is_time {
        true => both,
        false => format!("{both}; `{} OR {}` takes either", written(first), written(second)),
    };
    Err(Mistake::new(query, second.clone(), message))
}

/// A term and its negation.
fn opposite(terms: &[Placed]) -> Option<(&Placed, &Placed)> {
    terms.iter().enumerate().find_map(|(number, placed)| {
        let before = terms.iter().take(number).find(|(before, _)| before.not != placed.0.not && before.test == placed.0.test)?;
        Some((before, placed))
    })
}

/// Two terms about something of which a call has only one: a status, an exit code.
fn excluded<'t>(terms: &'t [Placed], setting: &Setting<'_>) -> Option<(&'t Placed, &'t Placed)> {
    closed(terms, Status::ALL, |test| if let Test::Status(of) = test { Some(of) } else { None })
        .or_else(|| closed(terms, Reason::ALL, |test| if let Test::Reason(of) = test { Some(of) } else { None }))
        .or_else(|| closed(terms, Kind::ALL, |test| if let Test::Kind(of) = test { Some(of) } else { None }))
        .or_else(|| closed(terms, Purpose::ALL, |test| if let Test::Purpose(of) = test { Some(of) } else { None }))
        .or_else(|| ranges(terms, |test| if let Test::Exit(of) = test { Some(of) } else { None }))
        .or_else(|| ranges(terms, |test| if let Test::Took(of) = test { Some(of) } else { None }))
        .or_else(|| agents(terms, setting.agents))
        .or_else(|| times(terms))
}

/// Terms of one key whose values leave none of a closed list.
fn closed<'t, T: Copy + PartialEq + 't>(
    terms: &'t [Placed],
    all: &[T],
    values: fn(&'t Test) -> Option<&'t Vec<T>>,
) -> Option<(&'t Placed, &'t Placed)> {
    let mut left = all.to_vec();
    let mut before: Option<&Placed> = None;
    let mut is_required = false;
    for placed in terms {
        let Some(values) = values(&placed.0.test) else { continue };
        left.retain(|one| values.contains(one) != placed.0.not);
        is_required |= !placed.0.not;
        // A message has no status, so terms that only exclude leave messages.
        if let (true, true, Some(before)) = (left.is_empty(), is_required, before) {
            return Some((before, placed));
        }
        before = Some(placed);
    }
    None
}

/// Terms of one key whose ranges do not overlap.
fn ranges<'t, T: Copy + PartialOrd + 't>(
    terms: &'t [Placed],
    values: fn(&'t Test) -> Option<&'t Vec<NumberRange<T>>>,
) -> Option<(&'t Placed, &'t Placed)> {
    let required = || terms.iter().filter(|(term, _)| !term.not).filter_map(|placed| Some((placed, values(&placed.0.test)?)));
    let ends = |least: Option<T>, most: Option<T>| least.zip(most).is_none_or(|(least, most)| least <= most);
    let overlap = |one: &NumberRange<T>, other: &NumberRange<T>| ends(one.least, other.most) && ends(other.least, one.most);
    required().enumerate().find_map(|(number, (placed, own))| {
        let apart = |(_, other): &(&Placed, &Vec<NumberRange<T>>)| !own.iter().any(|one| other.iter().any(|range| overlap(one, range)));
        let (before, _) = required().take(number).find(apart)?;
        Some((before, placed))
    })
}

/// Terms about agents that take none of those there are.
fn agents<'t>(terms: &'t [Placed], agents: &[&str]) -> Option<(&'t Placed, &'t Placed)> {
    let fits = |names: &[NamePattern], agent: &str| names.iter().any(|name| name.fits(agent));
    let mut left = agents.to_vec();
    let mut before: Option<&Placed> = None;
    for placed in terms {
        let Test::Agent(names) = &placed.0.test else { continue };
        left.retain(|agent| fits(names, agent) != placed.0.not);
        if let (true, false, Some(before)) = (left.is_empty(), agents.is_empty(), before) {
            return Some((before, placed));
        }
        before = Some(placed);
    }
    None
}

/// A time that ends before it begins. A session may last beyond both, so it counts only where calls are meant.
fn times(terms: &[Placed]) -> Option<(&Placed, &Placed)> {
    if !terms.iter().any(|(term, _)| !term.not && term.test.is_of_calls()) {
        return None;
    }
    let required = || terms.iter().filter(|(term, _)| !term.not);
    let turned = |one: &Test, other: &Test| match (one, other) {
        (Test::Since(since), Test::Until(until)) | (Test::Until(until), Test::Since(since)) => since >= until,
        _ => false,
    };
    required().enumerate().find_map(|(number, placed)| {
        let before = required().take(number).find(|(before, _)| turned(&before.test, &placed.0.test))?;
        Some((before, placed))
    })
}
