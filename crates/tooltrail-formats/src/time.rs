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

/// Eight characters of a timestamp: their digits as numbers, if they are digits where `0` stands in the template and its characters elsewhere.
#[inline(always)]
fn eight(text: [u8; 8], template: &[u8; 8]) -> Option<[i64; 8]> {
    // All at once: a digit becomes its value, and a character that is as it must be becomes zero.
    let values = u64::from_le_bytes(text) ^ u64::from_le_bytes(*template);
    // What is added makes the highest bit of a byte appear if its value is above nine, or above zero.
    let above = u64::from_le_bytes(template.map(|mark| if mark == b'0' { 0x80 - 10 } else { 0x80 - 1 }));
    // A byte with that bit is wrong itself; without any, no sum reaches the next byte.
    let wrong = (values | values.wrapping_add(above)) & 0x8080_8080_8080_8080;
    (wrong == 0).then(|| values.to_le_bytes().map(i64::from))
}

/// The spelling that nearly every record uses, `2026-03-04T10:00:03.000Z`.
fn parse(text: &[u8]) -> Option<Time> {
    let &[date, clock, rest] = text.as_chunks::<8>().0 else { return None };
    if text.len() != 24 {
        return None;
    }
    let [y1, y2, y3, y4, _, mo1, mo2, _] = eight(date, b"0000-00-")?;
    let [d1, d2, _, h1, h2, _, mi1, mi2] = eight(clock, b"00T00:00")?;
    let [_, s1, s2, _, ms1, ms2, ms3, _] = eight(rest, b":00.000Z")?;
    let (year, month, day) = (((y1 * 10 + y2) * 10 + y3) * 10 + y4, mo1 * 10 + mo2, d1 * 10 + d2);
    let (hour, minute, second) = (h1 * 10 + h2, mi1 * 10 + mi2, s1 * 10 + s2);
    let milli = (ms1 * 10 + ms2) * 10 + ms3;
    // Odd dates and leap seconds are left to the full parser.
    let plain = (1..=12).contains(&month) && (1..=28).contains(&day) && hour < 24 && minute < 60 && second < 60;
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
    fn the_quick_way_takes_no_other_character() {
        for at in 0..24 {
            for byte in 0..=u8::MAX {
                let mut text = *b"2026-03-04T10:00:03.125Z";
                let digit = text[at].is_ascii_digit();
                text[at] = byte;
                let full = std::str::from_utf8(&text).ok().and_then(|text| text.parse::<Time>().ok());
                assert!(parse(&text).is_none_or(|quick| Some(quick) == full), "{text:?}");
                assert!(!digit || byte.is_ascii_digit() || parse(&text).is_none(), "{text:?}");
            }
        }
        assert_eq!(parse(b"2026-03-04T10:00:03.125Zx"), None);
        assert_eq!(parse(b"2026-03-04T10:00:03.125"), None);
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
