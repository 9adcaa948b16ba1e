//! Codex: rollouts of one JSON object a line, under `sessions/YYYY/MM/DD/` of its home directory.
//!
//! `archived_sessions/` holds the same files flat. A thread may go on in further files (`…-<thread>_<rollout>.jsonl`), and cold
//! ones may be compressed (`.jsonl.zst`). Before September 2025 lines had no envelope, and before June 2025 a session was one JSON
//! document. What is claimed here rests on the agent's open source (to August 2026) and on published logs.
//!
//! A record is read once, by `record`, with its `fields` where they stand. From it alone a scan takes its `facts`, with `items` (the
//! conversation), `events` (what happened beside it) and `ends` (how calls ended; those of extensions in `extension`), and a reader takes the `parts` of the record and the
//! `request` and `result` of a call, whose `content` becomes values only here. `prompt` says who wrote a text, and `output`, with
//! `header` and `markers`, what an output holds. `tools` puts a call into neutral form, and `patch` the files that it changes.

mod content;
mod document;
mod ends;
mod events;
mod extension;
mod facts;
mod fields;
mod header;
mod items;
mod markers;
mod output;
mod parts;
pub(crate) mod patch;
mod prompt;
mod record;
mod request;
mod result;
mod script;
mod settings;
mod sniff;
mod titles;
mod tools;
mod usage;

use self::record::CodexRecord;
use crate::value::Payloads;
use crate::{Decode, DetailRequest, LogFiles, OpenRecords, Places, Record, SessionTitle, Sink, TypedRecord};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use tooltrail_model::assemble::SourceOrigin;
use tooltrail_model::content::Content;
use tooltrail_model::detail::Detailed;
use tooltrail_model::transcript::{HookStory, LoggedRequest, LoggedResult, Parts};
use tooltrail_skim::Torn;

/// The variable that names its home directory.
const HOME: &str = "CODEX_HOME";

/// Codex.
pub(crate) struct Codex;

impl Decode for Codex {
    fn agent(&self) -> &'static str {
        "codex"
    }

    fn display_name(&self) -> &'static str {
        "Codex"
    }

    fn sniff(&self, line: &[u8]) -> Option<bool> {
        sniff::line(line).then_some(true)
    }

    fn is_whole_record(&self, line: &[u8]) -> bool {
        sniff::envelope(line)
    }

    fn decode(&self, record: Record<'_>, out: &mut Sink<'_>) -> Result<usize, Torn> {
        let record = CodexRecord::read(record);
        // Checked in place: the record is too large to be moved for every line of a scan.
        if let Some(torn) = record.torn {
            return Err(torn);
        }
        facts::emit(&record, out);
        Ok(record.depth)
    }

    fn is_document(&self, head: &[u8]) -> bool {
        document::sniff(head)
    }

    fn document(&self, bytes: &[u8]) -> (Vec<Range<usize>>, bool) {
        document::records(bytes)
    }

    fn mentions<'r>(&self, damaged: &'r [u8]) -> Vec<Cow<'r, str>> {
        // A call names its id as well; only outputs count.
        if memchr::memmem::find(damaged, b"_output\"").is_none() {
            return Vec::new();
        }
        let key = b"\"call_id\":\"";
        let found = memchr::memmem::find_iter(damaged, key).take(16).filter_map(|at| {
            let rest = &damaged[at + key.len()..];
            let end = memchr::memchr(b'"', rest)?;
            Some(String::from_utf8_lossy(&rest[..end]))
        });
        found.collect()
    }
}

impl LogFiles for Codex {
    fn variables(&self) -> &'static [&'static str] {
        &[HOME]
    }

    fn moved(&self, places: &Places) -> Vec<(PathBuf, &'static str)> {
        places.variable(HOME).map(|path| (PathBuf::from(path), ".codex")).into_iter().collect()
    }

    fn roots(&self, places: &Places) -> Vec<PathBuf> {
        let home = places.variable(HOME).map(PathBuf::from).or_else(|| places.home.as_ref().map(|home| home.join(".codex")));
        home.into_iter().flat_map(|home| [home.join("sessions"), home.join("archived_sessions")]).collect()
    }

    fn is_log_name(&self, path: &Path) -> bool {
        // Other names are found by their ending; old documents end like any JSON file.
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        name.starts_with("rollout-") && name.ends_with(".json")
    }

    fn origin(&self, path: &Path) -> SourceOrigin {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = [".jsonl.zst", ".jsonl", ".json"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        SourceOrigin { agent: Some("codex"), session: thread(stem).unwrap_or(stem).to_owned(), ..SourceOrigin::default() }
    }

    fn twin(&self, path: &Path) -> Option<(PathBuf, u8)> {
        let name = path.file_name()?.to_str()?;
        let (plain, packed) = name.strip_suffix(".zst").map_or((name, false), |plain| (plain, true));
        if !plain.ends_with(".jsonl") {
            return None;
        }
        let place = |name: &str| path.ancestors().skip(1).find(|above| above.file_name().is_some_and(|last| last == name));
        let archived = place("archived_sessions");
        // An archived session keeps its name, not its place.
        let named = plain.starts_with("rollout-");
        let home = if named { archived.or_else(|| place("sessions")).and_then(Path::parent) } else { None };
        // Plain before compressed, and in its own place before archived.
        Some((home.or(path.parent())?.join(plain), u8::from(packed) + 2 * u8::from(archived.is_some())))
    }

    fn home(&self, path: &Path) -> Option<PathBuf> {
        titles::home(path)
    }

    fn title_files(&self, home: &Path) -> Vec<PathBuf> {
        titles::files(home)
    }

    fn titles(&self, home: &Path) -> HashMap<String, SessionTitle> {
        titles::read(home)
    }

    fn resume(&self, session: &str) -> Option<Vec<String>> {
        Some(["codex", "resume", session].map(str::to_owned).to_vec())
    }
}

impl OpenRecords for Codex {
    fn open<'r>(&'r self, record: Record<'r>) -> Result<Box<dyn TypedRecord + 'r>, Torn> {
        let record = Box::new(CodexRecord::read(record));
        match record.torn {
            Some(torn) => Err(torn),
            None => Ok(record),
        }
    }

    fn composed(&self) -> &'static [&'static str] {
        // Commands run by hand: the words of a list, `!` before them. Texts in a script have escapes of their own.
        &["user_shell", "userShell", "tools"]
    }

    fn detail(&self, ask: &DetailRequest<'_>) -> Detailed {
        tools::detail(ask)
    }

    fn printed_by(&self, program: &str, number: usize, seen: &[Content]) -> Option<Vec<Content>> {
        script::printed_by(program, number, seen)
    }
}

impl TypedRecord for CodexRecord<'_> {
    fn facts(&self, out: &mut Sink<'_>) {
        facts::emit(self, out);
    }

    fn parts(&self, payloads: Payloads<'_>) -> Parts {
        parts::of(self, payloads)
    }

    fn request(&self, call: &str, payloads: Payloads<'_>) -> Option<LoggedRequest> {
        request::of(self, call, payloads)
    }

    fn result(&self, call: &str, payloads: Payloads<'_>) -> Option<LoggedResult> {
        result::of(self, call, payloads)
    }

    fn inner_calls(&self, call: &str) -> Vec<String> {
        script::inner_calls(self, call)
    }

    fn hooks(&self, payloads: Payloads<'_>) -> Vec<HookStory> {
        result::hook(self, payloads).into_iter().collect()
    }
}

/// The thread in `rollout-2026-07-02T09-00-00-<thread>` or `…-<thread>_<rollout>`.
fn thread(stem: &str) -> Option<&str> {
    let rest = stem.strip_prefix("rollout-")?;
    // The date and time take six groups.
    let id = rest.match_indices('-').nth(4).map(|(at, _)| &rest[at + 1..]).filter(|id| !id.is_empty());
    let id = id.filter(|_| rest.as_bytes().get(10) == Some(&b'T')).or_else(|| rest.get(11..))?;
    Some(id.split('_').next().unwrap_or(id)).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_name_holds_the_thread() {
        let id = "019f4514-5313-73c0-8197-b0eb2be99ed3";
        assert_eq!(thread(&format!("rollout-2026-07-09T04-13-55-{id}")), Some(id));
        assert_eq!(thread(&format!("rollout-2026-07-09T04-13-55-{id}_01a0")), Some(id));
        assert_eq!(thread(&format!("rollout-2025-05-01-{id}")), Some(id));
        assert_eq!(thread("notes"), None);
        assert_eq!(thread("rollout-"), None);
        let origin = Codex.origin(Path::new("/x/rollout-2026-07-09T04-13-55-abc.jsonl.zst"));
        assert_eq!(origin.session, "abc");
    }
}
