//! A position in a text where a rule looks, and the match it returns. Also the helpers that all rules share: runs of bytes,
//! and edges of words in logs, where JSON within strings, URLs and colours put characters of their own before a word.

use std::borrow::Cow;

/// A position where a trigger of a rule stands.
#[derive(Clone, Copy)]
pub(crate) struct TriggerSpot<'t> {
    pub(crate) text: &'t [u8],
    /// Start of the trigger.
    pub(crate) at: usize,
    /// End of the trigger.
    pub(crate) end: usize,
    /// Bytes before this are already redacted.
    pub(crate) floor: usize,
}

/// Range to be replaced. Both ends must be character boundaries.
#[derive(Debug, PartialEq)]
pub(crate) struct Take {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// What stands there afterwards.
    pub(crate) by: Replacement,
}

/// What replaces a match.
#[derive(Debug, PartialEq)]
pub(crate) enum Replacement {
    /// A label with the name of the rule, or with this name.
    Label(Option<&'static str>),
    /// This text; nothing is numbered.
    Text(Cow<'static, str>),
}

impl Take {
    /// Replaces this part by a label with the name of the rule.
    pub(crate) fn mark(from: usize, to: usize) -> Take {
        Take { from, to, by: Replacement::Label(None) }
    }

    /// Replaces this part by a label with this name.
    pub(crate) fn named(kind: &'static str, from: usize, to: usize) -> Take {
        Take { from, to, by: Replacement::Label(Some(kind)) }
    }

    /// Replaces this part by a text.
    pub(crate) fn by(from: usize, to: usize, text: impl Into<Cow<'static, str>>) -> Take {
        Take { from, to, by: Replacement::Text(text.into()) }
    }
}

impl<'t> TriggerSpot<'t> {
    /// The byte at this place.
    pub(crate) fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    /// The bytes of a range; none of them where the range is not in the text.
    pub(crate) fn bytes(&self, from: usize, to: usize) -> &'t [u8] {
        self.text.get(from..to).unwrap_or_default()
    }

    /// Bytes before this position that are not redacted yet, at most so many.
    pub(crate) fn before(&self, at: usize, most: usize) -> &'t [u8] {
        self.bytes(self.floor.max(at.saturating_sub(most)), at)
    }

    /// End of the run of such bytes that begins here, at most so many bytes on.
    pub(crate) fn run(&self, from: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        from + rest.iter().take(most).take_while(|byte| of(**byte)).count()
    }

    /// Whether a word may begin here.
    pub(crate) fn begins(&self, at: usize) -> bool {
        // 16 bytes are enough for the longest escape, a colour with several numbers.
        let before = self.before(at, 16);
        before.last().is_none_or(|last| !is_word(*last)) || after_escape(before)
    }

    /// Whether a word may end here.
    pub(crate) fn ends(&self, at: usize) -> bool {
        self.byte(at).is_none_or(|next| !is_word(next))
    }
}

/// Letters, digits and the underscore.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether the last characters belong to an escape and not to the word that follows: `\n`, `%3D`, `\u0026`, or a colour.
pub(crate) fn after_escape(before: &[u8]) -> bool {
    let hex = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
    match before {
        [.., b'\\', b'n' | b't' | b'r'] => true,
        [.., b'%', a, b] if hex(&[*a, *b]) => true,
        [.., b'\\', b'u', a, b, c, d] if hex(&[*a, *b, *c, *d]) => true,
        // `ESC [ 1 ; 31 m`: the `m` is the end of a colour.
        [head @ .., b'm'] => {
            let digits = head.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
            head.len() > digits && head[head.len() - digits - 1] == b'['
        }
        _ => false,
    }
}

/// Whether the bytes begin with this, whatever the case.
pub(crate) fn starts_folded(bytes: &[u8], with: &[u8]) -> bool {
    bytes.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with))
}

/// Whether the bytes end with this, whatever the case.
pub(crate) fn ends_folded(bytes: &[u8], with: &[u8]) -> bool {
    bytes.len().checked_sub(with.len()).is_some_and(|from| bytes[from..].eq_ignore_ascii_case(with))
}

/// Whether this occurs anywhere in the bytes, ignoring case. For short inputs.
pub(crate) fn holds_folded(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len()).any(|window| window.eq_ignore_ascii_case(what))
}

/// Letters, digits, the underscore and the dash.
pub(crate) fn is_url(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

/// Blanks within a line.
pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}
