//! Sizes as people write them: `500K`, `20M`, `1G`, or plain bytes. Powers of ten, as disks and the tables count.

/// Reads a size; the error says what a size looks like.
pub fn parse(text: &str) -> Result<u64, String> {
    // Units ignore case; anything else is taken as bytes and fails below if it is no number.
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000.0),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000.0),
        Some((at, 'g' | 'G')) => (&text[..at], 1_000_000_000.0),
        _ => (text, 1.0),
    };
    match digits.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok((number * unit) as u64),
        _ => Err(format!("`{text}` is not a size; write it like `1G`, `20M`, `1.5M` or `4096`")),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_units_and_refuses_the_rest() {
        assert_eq!(parse("4096"), Ok(4096));
        assert_eq!(parse("1.5M"), Ok(1_500_000));
        assert_eq!(parse("2g"), Ok(2_000_000_000));
        for bad in ["", "G", "-1", "inf", "10x", "1 G é"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
