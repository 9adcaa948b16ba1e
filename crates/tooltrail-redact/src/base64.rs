//! Decoding of base64, both alphabets, with or without padding, as far as it goes.

/// The bytes that base64 stands for; `None` where another character is among them.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0u32, 0u32);
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}

/// Letters of base64, without its padding.
pub(crate) fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn both_alphabets_are_decoded() {
        assert_eq!(decode(b"YW5uYTpodW50ZXIy").as_deref(), Some(&b"anna:hunter2"[..]));
        assert_eq!(decode(b"_-8=").as_deref(), decode(b"/+8").as_deref());
        assert_eq!(decode(b"a b"), None);
    }
}
