//! Numbers: exit codes and durations, alone or as a range.

use super::Test;
use super::keys::TermReader;
use super::lex::WordPart;
use super::mistake::Mistake;

/// A range of numbers, both ends included; an end may be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberRange<T> {
    /// The least.
    pub least: Option<T>,
    /// The most.
    pub most: Option<T>,
}

impl<T: PartialOrd + Copy> NumberRange<T> {
    /// Whether a number is in the range.
    pub fn has(&self, number: T) -> bool {
        self.least.is_none_or(|least| least <= number) && self.most.is_none_or(|most| number <= most)
    }
}

/// `exit:nonzero`, `exit:2`, `exit:1..5`, `exit>0`.
pub(super) fn exit(value: &TermReader<'_, '_>) -> Result<Test, Mistake> {
    let mut spans = Vec::new();
    for piece in value.alternatives()? {
        let text = piece.text();
        match text.to_ascii_lowercase().as_str() {
            // Two ranges, because codes of killed processes may be negative.
            "nonzero" if value.sign == ':' => {
                spans.push(NumberRange { least: None, most: Some(-1) });
                spans.push(NumberRange { least: Some(1), most: None });
            }
            _ => spans.push(span(value, &piece, &code, "a code is a number, as in `exit:2`, `exit:1..5`, or `exit:nonzero`")?),
        }
    }
    Ok(Test::Exit(spans))
}

fn code(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// `took:30s..`, `took:..2s`, `took:1s..5s`, `took>30s`.
pub(super) fn took(value: &TermReader<'_, '_>) -> Result<Test, Mistake> {
    let mut spans = Vec::new();
    for piece in value.alternatives()? {
        let text = piece.text();
        let alone = value.sign == ':' && !text.contains("..") && !text.starts_with(['<', '>']);
        if alone && millis(&text).is_some() {
            // Hardly any call takes exactly so long.
            let message = "a single time needs `>`, `<` or `..`";
            return Err(value.mistake(&piece, message).suggest(format!("{text}..")));
        }
        spans.push(span(value, &piece, &millis, "a time is written `500ms`, `30s`, `2m` or `1h30m`, as in `took:30s..` or `took:1s..5s`")?);
    }
    Ok(Test::Took(spans))
}

/// A number with a successor and a predecessor.
trait Count: Copy + PartialOrd {
    fn next(self) -> Option<Self>;
    fn last(self) -> Option<Self>;
}

impl Count for i64 {
    fn next(self) -> Option<Self> {
        self.checked_add(1)
    }
    fn last(self) -> Option<Self> {
        self.checked_sub(1)
    }
}

impl Count for u64 {
    fn next(self) -> Option<Self> {
        self.checked_add(1)
    }
    fn last(self) -> Option<Self> {
        self.checked_sub(1)
    }
}

/// A range: `2`, `1..5`, `1..`, `..5`; or `>`, `>=`, `<`, `<=` before a number, behind the key or behind its colon.
fn span<T: Count>(
    value: &TermReader<'_, '_>,
    piece: &WordPart<'_>,
    number: &dyn Fn(&str) -> Option<T>,
    how: &str,
) -> Result<NumberRange<T>, Mistake> {
    let wrong = || value.mistake(piece, format!("`{}` is not valid here; {how}", piece.text()));
    let text = piece.text();
    let (sign, rest) = match text.strip_prefix(['<', '>']) {
        Some(rest) if value.sign == ':' => (text.chars().next(), rest),
        _ => (Some(value.sign).filter(|sign| *sign != ':'), text.as_str()),
    };
    if let Some(sign) = sign {
        let (equal, rest) = rest.strip_prefix('=').map_or((false, rest), |rest| (true, rest));
        let number = number(rest).ok_or_else(wrong)?;
        let nothing = || value.mistake(piece, "no number lies beyond this");
        return Ok(match sign {
            // A range includes its ends, so "more than" begins at the next number.
            '>' => NumberRange { least: Some(if equal { number } else { number.next().ok_or_else(nothing)? }), most: None },
            _ => NumberRange { least: None, most: Some(if equal { number } else { number.last().ok_or_else(nothing)? }) },
        });
    }
    let Some((least, most)) = rest.split_once("..") else {
        let number = number(rest).ok_or_else(wrong)?;
        return Ok(NumberRange { least: Some(number), most: Some(number) });
    };
    let end = |text: &str| if text.is_empty() { Ok(None) } else { number(text).map(Some).ok_or_else(wrong) };
    let span = NumberRange { least: end(least)?, most: end(most)? };
    match (span.least, span.most) {
        (None, None) => Err(wrong()),
        // An empty range would silently match nothing.
        (Some(least), Some(most)) if least > most => {
            Err(value.mistake(piece, "the first number is larger than the second").suggest(turned(rest)))
        }
        _ => Ok(span),
    }
}

fn turned(text: &str) -> Option<String> {
    text.split_once("..").map(|(least, most)| format!("{most}..{least}"))
}

/// Units of time in milliseconds, the longer spelling first.
const UNITS: &[(&str, u64)] = &[("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000)];

/// A duration in milliseconds: `500ms`, `1.5s`, `2m`, `1h30m`, `7d`, `2w`.
pub(super) fn millis(text: &str) -> Option<u64> {
    let mut sum: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, tail) = rest.split_at(digits);
        let unit = tail.find(|letter: char| letter.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        // Compared as a whole, so that `ms` is not read as minutes.
        let (_, each) = UNITS.iter().find(|(name, _)| *name == unit)?;
        sum = sum.checked_add(product(number, *each)?)?;
        rest = tail;
    }
    (!text.is_empty()).then_some(sum)
}

/// A decimal number times a unit, exactly.
fn product(number: &str, each: u64) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = whole.parse::<u64>().ok()?.checked_mul(each)?;
    if !number.contains('.') {
        return Some(whole);
    }
    // More digits than nanoseconds have are a mistake, and could overflow.
    if part.is_empty() || part.len() > 9 {
        return None;
    }
    // Rounded down: durations are compared in whole milliseconds.
    let scaled = part.parse::<u64>().ok()?.checked_mul(each)? / 10u64.pow(u32::try_from(part.len()).ok()?);
    whole.checked_add(scaled)
}

/// A duration in its largest whole unit; weeks and days are not used.
pub(super) fn spelled(millis: u64) -> String {
    let units = UNITS.iter().rev().filter(|(_, each)| *each <= 3_600_000);
    let fits = units.into_iter().find(|(_, each)| millis > 0 && millis.is_multiple_of(*each));
    fits.map_or_else(|| format!("{millis}ms"), |(unit, each)| format!("{}{unit}", millis / each))
}
