//! A point in time of a log, small enough to store a few for every call.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroI64;
use std::str::FromStr;

/// Microseconds since 1970, shifted so that no date is zero: an optional time takes no extra memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(NonZeroI64);

/// More than all microseconds from the year 9999 before Christ to 1970.
const SHIFT: i64 = 1 << 59;

impl Time {
    /// The first moment of 1970.
    pub const UNIX_EPOCH: Time = Time(NonZeroI64::new(SHIFT).expect("the shift is not zero"));

    /// The last possible time; entries without a time sort here.
    pub const MAX: Time = Time(NonZeroI64::MAX);

    /// A time from milliseconds since 1970, if the calendar has it.
    pub fn from_millisecond(millis: i64) -> Option<Time> {
        Timestamp::from_millisecond(millis).ok().map(Time::from)
    }

    /// Milliseconds since 1970.
    pub fn as_millisecond(self) -> i64 {
        self.micros().div_euclid(1000)
    }

    /// Microseconds since 1970.
    pub fn as_microsecond(self) -> i64 {
        self.micros()
    }

    /// A time from microseconds since 1970, if the calendar has it.
    pub fn from_microsecond(micros: i64) -> Option<Time> {
        Timestamp::from_microsecond(micros).ok().map(Time::from)
    }

    /// Time from this moment to another; negative if that one is earlier.
    pub fn micros_until(self, later: Time) -> i64 {
        later.0.get().saturating_sub(self.0.get())
    }

    /// The time for the calendar library.
    pub fn timestamp(self) -> Timestamp {
        // `Time::MAX` is beyond the calendar.
        Timestamp::from_microsecond(self.micros()).unwrap_or(Timestamp::MAX)
    }

    fn micros(self) -> i64 {
        self.0.get() - SHIFT
    }
}

impl From<Timestamp> for Time {
    fn from(time: Timestamp) -> Time {
        // Never zero: the shift is larger than any time before 1970.
        Time(NonZeroI64::new(time.as_microsecond() + SHIFT).unwrap_or(NonZeroI64::MIN))
    }
}

impl FromStr for Time {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Time, jiff::Error> {
        text.parse::<Timestamp>().map(Time::from)
    }
}

/// Spelling in all outputs: UTC, to the millisecond, finer only where the log is.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.timestamp();
        if self.micros() % 1000 == 0 { write!(f, "{time:.3}") } else { write!(f, "{time:.6}") }
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_their_order_and_spelling() {
        let spelled = [
            "-009999-01-02T01:59:59.000Z",
            "1970-01-01T00:00:00.000Z",
            "2026-03-04T10:00:03.000Z",
            "2026-03-04T10:00:03.000500Z",
            "9999-12-30T22:00:00.000Z",
        ];
        let times: Vec<Time> = spelled.iter().map(|text| text.parse().unwrap()).collect();
        assert!(times.is_sorted() && times[4] < Time::MAX);
        assert_eq!(times.iter().map(ToString::to_string).collect::<Vec<_>>(), spelled);
        assert_eq!(size_of::<Option<Time>>(), 8);
    }
}
