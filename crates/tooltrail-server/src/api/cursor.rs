//! Cursors: the end of a page, encoded in an opaque word. A cursor identifies the last row itself, not its position, so
//! rows that are added or removed meanwhile neither hide nor repeat others.

use super::error::{ApiError, Code};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Version of the encoding; cursors of another version are refused.
const FORM: u8 = 1;

/// Content of a cursor.
#[derive(Serialize, Deserialize)]
struct Sealed<T> {
    form: u8,
    /// Fingerprint of the request that it belongs to.
    mark: u64,
    at: T,
}

/// Encodes the end of a page.
pub(super) fn seal<T: Serialize>(at: &T, mark: u64) -> String {
    // Encoding numbers and texts cannot fail.
    URL_SAFE_NO_PAD.encode(postcard::to_stdvec(&Sealed { form: FORM, mark, at }).unwrap_or_default())
}

/// Decodes a cursor. It comes from outside and may be anything.
pub(super) fn open<T: DeserializeOwned>(text: &str, mark: u64) -> Result<T, ApiError> {
    let wrong = |say: &str| ApiError::about(Code::BadCursor, "after", say);
    let none = "`after` is not a cursor: use the unchanged `next` of the previous page.";
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| wrong(none))?;
    let sealed: Sealed<T> = match postcard::take_from_bytes(&bytes) {
        // Bytes that are left over mean that it was made for another type or was tampered with.
        Ok((sealed, [])) => sealed,
        _ => return Err(wrong(none)),
    };
    if sealed.form != FORM || sealed.mark != mark {
        return Err(wrong("`after` belongs to another request: keep the other parameters unchanged, or start without it."));
    }
    Ok(sealed.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_sealed_for_a_question_opens() {
        let sealed = seal(&("x".to_owned(), 7_u32), 5);
        assert_eq!(open::<(String, u32)>(&sealed, 5).unwrap(), ("x".to_owned(), 7));
        assert!(open::<(String, u32)>(&sealed, 6).is_err() && open::<(String, u32, u32)>(&sealed, 5).is_err());
        for text in ["", "x", "AAAA", "%%", &format!("{sealed}AAAA"), &sealed[1..], &"A".repeat(10_000)] {
            assert!(open::<(String, u32)>(text, 5).is_err(), "{text}");
            assert!(open::<Vec<u64>>(text, 0).is_err(), "{text}");
        }
    }
}
