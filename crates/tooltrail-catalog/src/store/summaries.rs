//! Summaries as they are stored: packed, with a check sum before them.
//!
//! What does not check, or was packed by another version, is no summary; its log is read again.

use tooltrail_formats::FORMATS;
use tooltrail_model::Summary;
use xxhash_rust::xxh3::xxh3_64;

const SUM: usize = size_of::<u64>();

/// Packs a summary. Its agent is kept beside it.
pub(crate) fn pack(summary: &Summary) -> Option<Vec<u8>> {
    let mut packed = postcard::to_extend(summary, vec![0; SUM]).ok()?;
    let sum = xxh3_64(packed.get(SUM..)?);
    packed.get_mut(..SUM)?.copy_from_slice(&sum.to_le_bytes());
    Some(packed)
}

/// Unpacks a summary.
pub(crate) fn unpack(packed: &[u8], agent: Option<&str>) -> Option<Summary> {
    let (sum, body) = packed.split_first_chunk::<SUM>()?;
    if xxh3_64(body) != u64::from_le_bytes(*sum) {
        return None;
    }
    let mut summary: Summary = postcard::from_bytes(body).ok()?;
    summary.agent = match agent {
        Some(name) => Some(FORMATS.iter().find(|format| format.agent() == name)?.agent()),
        None => None,
    };
    Some(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_summary_is_none() {
        let packed = pack(&Summary { agent: Some("claude"), ..Summary::default() }).unwrap();
        assert_eq!(unpack(&packed, Some("claude")).unwrap().agent, Some("claude"));
        assert!(unpack(&packed, Some("nobody")).is_none());
        assert!(unpack(&packed[..SUM - 1], None).is_none());
        for index in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[index] ^= 1;
            assert!(unpack(&damaged, Some("claude")).is_none(), "byte {index}");
        }
    }
}
