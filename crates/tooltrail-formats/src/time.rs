//! Timestamps as logs spell them.

use tooltrail_model::Time;
use tooltrail_skim::Skim;

/// Reads a timestamp: RFC 3339 text, or a number of seconds or milliseconds, also one that is written as a text. Anything else is left
/// unread.
pub(crate) fn read(value: &mut Skim<'_>) -> Option<Time> {
    if let Some(raw) = value.string() {
        return parse(raw.bytes()).or_else(|| unusual(raw.text().trim()));
    }
    number(value.float()?)
}

/// A text in another spelling: anything that the full parser takes, or a number. A short number may be a year and is refused.
fn unusual(text: &str) -> Option<Time> {
    let since = || text.parse().ok().filter(|number| *number >= 1e8).and_then(number);
    text.parse().ok().or_else(since)
}

/// Seconds or milliseconds since 1970.
fn number(number: f64) -> Option<Time> {
    let number = Some(number).filter(|number| number.is_finite())?;
    // No log is from before 1973, so seconds stay below this and milliseconds above.
    let millis = if number.abs() < 1e11 { number * 1000.0 } else { number };
    Time::from_millisecond(millis as i64)
}

/// The spelling that nearly every record uses, `2026-03-04T10:00:03.000Z`.
fn parse(text: &[u8]) -> Option<Time> {
    let text: &[u8; 24] = text.try_into().ok()?;
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    if marks.iter().any(|&(at, mark)| text[at] != mark) {
        return None;
    }
    let mut good = true;
    let mut two = |at: usize| {
        let (tens, ones) = (text[at].wrapping_sub(b'0'), text[at + 1].wrapping_sub(b'0'));
        good &= tens < 10 && ones < 10;
        i64::from(tens) * 10 + i64::from(ones)
    };
    let (year, month, day) = (two(0) * 100 + two(2), two(5), two(8));
    let (hour, minute, second) = (two(11), two(14), two(17));
    // The last three digits as two and two that share the middle one.
    let milli = two(20) * 10 + two(21) % 10;
    // Odd dates and leap seconds are left to the full parser.
    let plain = good && (1..=12).contains(&month) && (1..=28).contains(&day) && hour < 24 && minute < 60 && second < 60;
    if !plain {
        return None;
    }
    // Days since 1970 by counting years from March, so that the leap day comes last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Time::from_millisecond((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + milli)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_written_as_texts() {
        let read = |text: &str| read(&mut Skim::new(text.as_bytes()));
        let noon = "2026-03-04T12:00:00.500Z".parse().ok();
        for spelled in ["1772625600.5", "\"1772625600.5\"", "1772625600500", "\" 1772625600500\""] {
            assert_eq!(read(spelled), noon, "{spelled}");
        }
        for none in ["\"2026\"", "\"inf\"", "\"NaN\"", "\"-1772625600\"", "\"\"", "null"] {
            assert_eq!(read(none), None, "{none}");
        }
    }

    #[test]
    fn the_quick_way_agrees_with_the_full_one() {
        for year in [1970, 1999, 2000, 2024, 2026, 2100] {
            for month in 1..=12 {
                for day in [1, 2, 27, 28, 29, 30, 31] {
                    let text = format!("{year:04}-{month:02}-{day:02}T23:59:07.089Z");
                    let quick = parse(text.as_bytes());
                    let full = text.parse::<Time>().ok();
                    assert!(quick.is_none() || quick == full, "{text}");
                    assert!(day > 28 || quick.is_some(), "{text}");
                }
            }
        }
    }

    #[test]
    fn other_spellings_are_read_too() {
        let read = |text: &str| super::read(&mut Skim::new(text.as_bytes())).map(|time| time.as_millisecond());
        assert_eq!(read(r#""2026-03-04T10:00:03Z""#), Some(1_772_618_403_000));
        assert_eq!(read(r#""2026-03-04T12:00:03.5+02:00""#), Some(1_772_618_403_500));
        assert_eq!(read("1772618403000"), Some(1_772_618_403_000));
        assert_eq!(read("1772618403.25"), Some(1_772_618_403_250));
        assert_eq!(read(r#""yesterday""#), None);
        assert_eq!(read("1e300"), None);
    }
}
