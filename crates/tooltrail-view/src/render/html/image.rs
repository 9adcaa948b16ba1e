//! Pictures: shown only where the bytes themselves say that they are one of a few harmless kinds. What the log says is not believed.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use tooltrail_model::content::Image;

/// The most bytes of a picture.
const MOST: usize = 24 << 20;

/// Decodes with or without padding.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent));

/// The picture as an address that holds it, or why it is not shown.
pub(super) fn address(image: &Image) -> Result<String, &'static str> {
    let data = image.data.as_deref().ok_or("the image is not in the log")?;
    // Checked before decoding, so that an oversized picture costs no memory.
    if data.len() / 4 * 3 > MOST {
        return Err("the image is too large to show");
    }
    // Some tools wrap base64 at 76 columns, which the decoder rejects.
    let data: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let bytes = BASE64.decode(data).map_err(|_| "the image is damaged")?;
    let media = kind(&bytes).ok_or("this image format is not supported")?;
    // Encoded again rather than copied: only base64 of bytes that were checked gets into the address.
    Ok(format!("data:{media};base64,{}", BASE64.encode(bytes)))
}

/// The kind of a picture by how it begins. Kinds that can hold programs are not among them.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(data: &[u8], media: &str) -> Result<String, &'static str> {
        address(&Image { media: media.into(), data: Some(BASE64.encode(data)), ..Image::default() })
    }

    #[test]
    fn bytes_are_believed_and_words_are_not() {
        // The declared type is ignored in both directions: a wrong one neither blocks a picture nor lets markup in.
        assert!(of(b"\x89PNG\r\n\x1a\nrest", "image/svg+xml").is_ok_and(|uri| uri.starts_with("data:image/png;base64,iVBOR")));
        assert!(of(b"<svg onload=alert(1)>", "image/png").is_err());
        assert!(of(b"GIF89a...", "x\" onerror=\"y").is_ok_and(|uri| uri.starts_with("data:image/gif;")));
        assert!(address(&Image { data: Some("no base64 \"<".into()), ..Image::default() }).is_err());
        assert!(address(&Image::default()).is_err());
    }
}
