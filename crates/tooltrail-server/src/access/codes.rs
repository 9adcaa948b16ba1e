//! One-time codes: each opens one browser, once, within a minute. So an address that stays in a process list or a history is worth
//! nothing. The caller brings the clock.

use super::secret::Secret;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time in which a code can be used.
pub(crate) const LIFETIME: Duration = Duration::from_secs(60);
/// Number of codes that can be waiting; the oldest goes first.
const MOST: usize = 16;

/// Codes that have been issued and not used.
#[derive(Debug, Default)]
pub(crate) struct OneTimeCodes(Mutex<VecDeque<(Secret, Instant)>>);

impl OneTimeCodes {
    /// A new code.
    pub(crate) fn issue(&self, now: Instant) -> Result<String, getrandom::Error> {
        let code = Secret::new()?;
        let digits = code.reveal().to_owned();
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push_back((code, now));
        if waiting.len() > MOST {
            waiting.pop_front();
        }
        Ok(digits)
    }

    /// Whether a code is valid; it is not any more afterwards.
    pub(crate) fn redeem(&self, code: &str, now: Instant) -> bool {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|(_, issued)| now.saturating_duration_since(*issued) < LIFETIME);
        let before = waiting.len();
        waiting.retain(|(own, _)| !own.is(code));
        waiting.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_valid_once() {
        let (codes, now) = (OneTimeCodes::default(), Instant::now());
        let (one, other) = (codes.issue(now).unwrap(), codes.issue(now).unwrap());
        assert_ne!(one, other);
        assert!(codes.redeem(&one, now));
        assert!(!codes.redeem(&one, now));
        assert!(codes.redeem(&other, now), "another code is not used up with it");
    }

    #[test]
    fn a_code_expires() {
        let (codes, now) = (OneTimeCodes::default(), Instant::now());
        let (early, late) = (codes.issue(now).unwrap(), codes.issue(now).unwrap());
        let newer = codes.issue(now + Duration::from_secs(30)).unwrap();
        assert!(codes.redeem(&early, now + LIFETIME - Duration::from_millis(1)));
        assert!(!codes.redeem(&late, now + LIFETIME));
        assert!(codes.redeem(&newer, now + LIFETIME));
    }

    #[test]
    fn a_wrong_code_is_refused_and_uses_none_up() {
        let (codes, now) = (OneTimeCodes::default(), Instant::now());
        assert!(!codes.redeem("", now));
        let code = codes.issue(now).unwrap();
        for wrong in ["", "0", &code[1..], &format!("{code}0"), Secret::new().unwrap().reveal()] {
            assert!(!codes.redeem(wrong, now), "{wrong}");
        }
        assert!(codes.redeem(&code, now));
    }

    #[test]
    fn the_number_of_codes_is_bounded() {
        let (codes, now) = (OneTimeCodes::default(), Instant::now());
        let issued: Vec<String> = (0..=MOST).map(|_| codes.issue(now).unwrap()).collect();
        assert!(!codes.redeem(&issued[0], now));
        assert!(issued[1..].iter().all(|code| codes.redeem(code, now)));
    }
}
