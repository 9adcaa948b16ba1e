//! A secret of 256 random bits: made, written out, compared.

use std::fmt;

/// Number of random bytes.
const BYTES: usize = 32;

/// A secret as hexadecimal digits. Its `Debug` form does not show it, so that no log can.
#[derive(Clone)]
pub(crate) struct Secret(String);

impl Secret {
    /// A new secret from the system's random numbers.
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Secret(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The digits.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in constant time, so that the duration does not reveal how much of a guess is right.
    pub(crate) fn is(&self, guess: &str) -> bool {
        let (own, guess) = (self.0.as_bytes(), guess.as_bytes());
        // `black_box` keeps the compiler from leaving the loop at the first difference.
        own.len() == guess.len() && std::hint::black_box(own.iter().zip(guess).fold(0, |different, (a, b)| different | (a ^ b))) == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_256_bits_and_is_only_itself() {
        let (one, other) = (Secret::new().unwrap(), Secret::new().unwrap());
        assert!(one.reveal().len() == 64 && one.reveal().bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_ne!(one.reveal(), other.reveal());
        assert!(one.is(one.reveal()) && !one.is(other.reveal()));
        let digits = one.reveal();
        let last = if digits.ends_with('0') { '1' } else { '0' };
        for wrong in [
            "",
            &digits[..63],
            &format!("{digits}0"),
            &format!("{}{last}", &digits[..63]),
            &digits.to_uppercase().replace(|c: char| c.is_ascii_digit(), "A"),
        ] {
            assert!(!one.is(wrong), "{wrong}");
        }
        assert!(!format!("{one:?}").contains(digits));
    }
}
