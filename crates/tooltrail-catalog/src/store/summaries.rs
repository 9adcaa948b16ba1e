//! Summaries of sources, and the ties that join them, as they are stored: packed, with a checksum in front.
//!
//! Bytes with a wrong checksum, or packed by another version, are no summary; the log is read again.

use tooltrail_formats::FORMATS;
use tooltrail_model::event::Id;
use tooltrail_model::link::{Source, Ties};
use tooltrail_model::{Summary, Time};
use xxhash_rust::xxh3::xxh3_64;

const SUM: usize = size_of::<u64>();

/// A reason why what is stored is no summary.
#[derive(Debug, thiserror::Error)]
pub enum SummaryError {
    /// The bytes are not those that were written.
    #[error("its checksum is wrong")]
    Checksum,
    /// The bytes are those that were written, by another version of this program.
    #[error("it cannot be decoded")]
    Decode(#[source] postcard::Error),
    /// It cannot be packed.
    #[error("it cannot be encoded")]
    Encode(#[source] postcard::Error),
    /// The agent is none that this version reads.
    #[error("no reader for the agent `{0}`")]
    Agent(String),
}

/// Packs a summary. Its agent is kept beside it.
pub(crate) fn pack(summary: &Summary) -> Result<Vec<u8>, SummaryError> {
    // Space for the checksum first, so that the body need not be moved or copied afterwards.
    let mut packed = postcard::to_extend(summary, vec![0; SUM]).map_err(SummaryError::Encode)?;
    if let Some((sum, body)) = packed.split_first_chunk_mut::<SUM>() {
        *sum = xxh3_64(body).to_le_bytes();
    }
    Ok(packed)
}

/// Unpacks a summary.
pub(crate) fn unpack(packed: &[u8], agent: Option<&str>) -> Result<Summary, SummaryError> {
    let (sum, body) = packed.split_first_chunk::<SUM>().ok_or(SummaryError::Checksum)?;
    if xxh3_64(body) != u64::from_le_bytes(*sum) {
        return Err(SummaryError::Checksum);
    }
    // The checksum comes first: decoding damaged bytes could succeed with wrong values.
    let mut summary: Summary = postcard::from_bytes(body).map_err(SummaryError::Decode)?;
    summary.agent = match agent {
        Some(name) => Some(self::agent(name).ok_or_else(|| SummaryError::Agent(name.to_owned()))?),
        None => None,
    };
    Ok(summary)
}

/// Whether a packed summary may have a record of the conversation. Quicker than to unpack it, and wrong in this direction only.
pub(crate) fn may_have(packed: &[u8], record: Id) -> bool {
    // Checked last and only where the record was not found, because it reads all bytes once more.
    let is_damaged = || packed.split_first_chunk::<SUM>().is_none_or(|(sum, body)| xxh3_64(body) != u64::from_le_bytes(*sum));
    // An id is packed the same way alone and inside a summary, so its bytes can be searched for. They may occur by chance,
    // hence "may".
    postcard::to_stdvec(&record).map_or(true, |bytes| memchr::memmem::find(packed, &bytes).is_some()) || is_damaged()
}

/// The agent of a name.
pub(crate) fn agent(name: &str) -> Option<&'static str> {
    FORMATS.iter().map(|format| format.agent()).find(|agent| *agent == name)
}

/// A source as it is stored.
pub(crate) struct Packed {
    pub(crate) path: String,
    pub(crate) agent: Option<String>,
    pub(crate) modified: Option<Time>,
    pub(crate) summary: Vec<u8>,
}

impl Packed {
    /// The source as it was when it was read, unless what is stored is damaged.
    pub(crate) fn unpack(&self) -> Result<Source, SummaryError> {
        let summary = unpack(&self.summary, self.agent.as_deref())?;
        Ok(Source { path: self.path.as_str().into(), modified: self.modified, summary })
    }
}

const WORD: usize = size_of::<u64>();

/// Packs the ties of a source: whole numbers, because all of them are looked through whenever a source has changed.
pub(crate) fn pack_ties(ties: &Ties) -> Vec<u8> {
    let leaves = ties.leaves.len() as u64;
    let words: Vec<u8> = [&leaves].into_iter().chain(&ties.leaves).chain(&ties.names).flat_map(|word| word.to_le_bytes()).collect();
    [&xxh3_64(&words).to_le_bytes(), &*words].concat()
}

/// Packs the ids of a source's records, apart from its summary: a title for a record of another log has to be found among those of all.
pub(crate) fn pack_nodes(nodes: &[Id]) -> Vec<u8> {
    let words: Vec<u8> = nodes.iter().flat_map(|node| node.to_le_bytes()).collect();
    [&xxh3_64(&words).to_le_bytes(), &*words].concat()
}

/// Unpacks the ids of a source's records; `None` if they are damaged.
pub(crate) fn unpack_nodes(packed: &[u8]) -> Option<impl Iterator<Item = Id>> {
    let (sum, body) = packed.split_first_chunk::<WORD>()?;
    let words = body.as_chunks::<WORD>();
    (xxh3_64(body) == u64::from_le_bytes(*sum)).then(|| words.0.iter().map(|word| Id::from_le_bytes(*word)))
}

/// Unpacks the ties of a source.
pub(crate) fn unpack_ties(packed: &[u8]) -> Option<Ties> {
    let (sum, body) = packed.split_first_chunk::<WORD>()?;
    if xxh3_64(body) != u64::from_le_bytes(*sum) {
        return None;
    }
    // The count of leaves stands first; everything after them is names.
    let mut words = body.as_chunks::<WORD>().0.iter().map(|word| u64::from_le_bytes(*word));
    let count = usize::try_from(words.next()?).ok()?;
    let leaves = words.by_ref().take(count).collect();
    Some(Ties { leaves, names: words.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_summary_is_none() {
        let packed = pack(&Summary { agent: Some("claude"), ..Summary::default() }).unwrap();
        assert_eq!(unpack(&packed, Some("claude")).unwrap().agent, Some("claude"));
        assert!(matches!(unpack(&packed, Some("nobody")), Err(SummaryError::Agent(name)) if name == "nobody"));
        assert!(unpack(&packed[..SUM - 1], None).is_err());
        for index in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[index] ^= 1;
            assert!(unpack(&damaged, Some("claude")).is_err(), "byte {index}");
        }
    }

    #[test]
    fn records_are_found_without_unpacking() {
        let nodes: Vec<Id> = (0..100).map(|number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let mut packed = pack(&Summary { nodes: nodes.clone(), ..Summary::default() }).unwrap();
        assert!(nodes.iter().all(|node| may_have(&packed, *node)));
        let others = nodes.iter().skip(1).map(|node| node.rotate_left(1) ^ 1 << 62);
        assert!(others.filter(|node| !nodes.contains(node)).all(|node| !may_have(&packed, node)));
        *packed.last_mut().unwrap() ^= 1;
        assert!(may_have(&packed, 12345 << 40), "what is damaged may have any");
    }

    #[test]
    fn ids_of_records_come_back() {
        for nodes in [vec![], vec![0, u64::MAX, 7]] {
            let mut packed = pack_nodes(&nodes);
            assert_eq!(unpack_nodes(&packed).map(Iterator::collect::<Vec<_>>), Some(nodes));
            *packed.last_mut().unwrap() ^= 1;
            assert!(unpack_nodes(&packed).is_none());
        }
        assert!(unpack_nodes(b"").is_none());
    }

    #[test]
    fn ties_come_back() {
        for ties in [Ties::default(), Ties { names: vec![1, u64::MAX], leaves: vec![7] }, Ties { names: vec![5], leaves: vec![] }] {
            let packed = pack_ties(&ties);
            assert_eq!(unpack_ties(&packed), Some(ties));
            let mut damaged = packed.clone();
            damaged[9] ^= 1;
            assert_eq!(unpack_ties(&damaged), None);
        }
        assert_eq!(unpack_ties(b""), None);
    }
}
