//! Points in time: `7d` ago, `today`, a day, a month, or a time of day.

use super::keys::TermReader;
use super::mistake::{Mistake, nearest};
use super::values::millis;
use crate::Time;
use jiff::civil::{Date, DateTime};
use jiff::{SignedDuration, Timestamp, ToSpan};

/// Meaning of a time word: a moment, or a whole day, month or year.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    /// Beginning.
    pub(super) start: Time,
    /// End, exclusive; equal to the beginning for a moment.
    pub(super) end: Time,
}

const HOW: &str = "a time is written `7d`, `2h`, `today`, `2026-03-01`, `2026-03` or `2026-03-01T10:00`";

/// Reads the time of a term.
pub(super) fn read(value: &TermReader<'_, '_>) -> Result<Stretch, Mistake> {
    let piece = value.single()?;
    let text = piece.text();
    let near = || nearest(&text, ["today", "yesterday", "now"]).map(str::to_owned);
    stretch(value, &text).ok_or_else(|| value.mistake(&piece, format!("`{text}` is not a time; {HOW}")).suggest(near()))
}

fn stretch(value: &TermReader<'_, '_>, text: &str) -> Option<Stretch> {
    let setting = value.setting;
    let now = setting.now.timestamp();
    let moment = |time: Timestamp| Some(Stretch { start: time.into(), end: time.into() });
    // Days begin at midnight of the person's time zone, which may not be 00:00 on a day of change.
    let start = |date: Date| date.to_zoned(setting.zone.clone()).ok().map(|time| Time::from(time.timestamp()));
    let dates = |from: Date, to: Date| Some(Stretch { start: start(from)?, end: start(to)? });
    let today = || now.to_zoned(setting.zone.clone()).date();
    match text.to_ascii_lowercase().as_str() {
        "now" => return moment(now),
        "today" => return dates(today(), today().tomorrow().ok()?),
        "yesterday" => return dates(today().yesterday().ok()?, today()),
        _ => {}
    }
    // Durations before dates: `2026` has no unit, so it cannot be one.
    if let Some(ago) = millis(text) {
        return moment(now.checked_sub(SignedDuration::from_millis(i64::try_from(ago).ok()?)).ok()?);
    }
    // A year or a month alone.
    let mut parts = text.split('-');
    let year = parts.next().filter(|year| year.len() == 4 && is_digits(year)).and_then(|year| year.parse::<i16>().ok());
    let month = parts.next().filter(|month| month.len() == 2 && is_digits(month));
    match (year, month, parts.next()) {
        (Some(year), None, _) if text.len() == 4 => {
            let first = Date::new(year, 1, 1).ok()?;
            return dates(first, first.checked_add(1.year()).ok()?);
        }
        (Some(year), Some(month), None) => {
            let first = Date::new(year, month.parse().ok()?, 1).ok()?;
            return dates(first, first.checked_add(1.month()).ok()?);
        }
        _ => {}
    }
    if text.len() == 10
        && let Ok(date) = text.parse::<Date>()
    {
        return dates(date, date.tomorrow().ok()?);
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return moment(time);
    }
    // A time of day without a zone is local time. A date alone was handled above.
    let time: DateTime = text.contains(['T', 't', ' ']).then(|| text.parse().ok())??;
    moment(time.to_zoned(setting.zone.clone()).ok()?.timestamp())
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}
