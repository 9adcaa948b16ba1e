//! Claude Code: one JSON object a line, under `projects/` of its configuration directory.
//!
//! The claims here rest on the vendor's published types and open transcript reader, and on counts in real logs of versions 1.0 to 2.1. A
//! record is read once, as a `ClaudeRecord`; facts, parts, requests and results are taken from it. Unknown types, fields and kinds are kept
//! and counted, never an error.
//!
//! | file | knows |
//! |---|---|
//! | `record`, `message` | a record and its message, typed: envelope, content blocks, tokens, ids |
//! | `author` | who wrote a text: a person, another agent, or the program |
//! | `facts` | the facts of every type of record, for a scan |
//! | `prompts`, `calls`, `usage` | facts of texts, of calls and results, of tokens |
//! | `attached` | facts of attachments |
//! | `hooks`, `progress`, `tasks` | hooks, signs of work, background tasks |
//! | `outcome` | `toolUseResult`, and the meaning of a result's text (`markers`) |
//! | `parts` | the content of a record for a reader |
//! | `answers`, `content` | requests and results for a reader, and what they are made of |
//! | `backups` | the copies that it keeps of files it changes |
//! | `places` | where logs lie, what their paths say, the registry of running sessions |
//! | `workflows` | the ends of workflows and their members, from files beside the logs |
//! | `desktop` | Claude Desktop: its places, and its descriptions of sessions |
//! | `tools` | the tools' names and families, and each tool's calls in neutral form |

mod answers;
mod attached;
mod author;
mod backups;
mod calls;
mod commands;
mod content;
mod conversation;
mod desktop;
mod facts;
mod hooks;
mod markers;
mod message;
mod outcome;
mod parts;
mod places;
mod progress;
mod prompts;
mod record;
mod settings;
mod tasks;
mod tools;
mod usage;
mod workflows;

use crate::changes::Backup;
use crate::value::Payloads;
use crate::{Decode, DetailRequest, LogFiles, OpenRecords, Places, Record, Registered, Sink, TypedRecord};
use record::ClaudeRecord;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tooltrail_model::Kind;
use tooltrail_model::assemble::SourceOrigin;
use tooltrail_model::detail::Detailed;
use tooltrail_model::transcript::{HookStory, LoggedRequest, LoggedResult, Parts, ProgressStory};
use tooltrail_skim::{Skim, Torn, Type};

/// Claude Code.
pub(crate) struct ClaudeCode;

/// The family of a tool of this agent, for agents that have tools of the same names.
pub(crate) fn tool_kind(tool: &str) -> Option<Kind> {
    tools::known_kind(tool)
}

/// A call of such a tool in neutral form.
pub(crate) fn tool_detail(ask: &DetailRequest<'_>) -> Detailed {
    tools::detail(ask)
}

impl Decode for ClaudeCode {
    fn agent(&self) -> &'static str {
        "claude"
    }

    fn display_name(&self) -> &'static str {
        "Claude Code"
    }

    fn short_model<'m>(&self, model: &'m str) -> &'m str {
        model.strip_prefix("claude-").unwrap_or(model)
    }

    fn sniff(&self, line: &[u8]) -> Option<bool> {
        let mut skim = Skim::new(line);
        if skim.peek() != Some(Type::Object) {
            return None;
        }
        let (mut known, mut ours, mut foreign) = (false, false, false);
        // A line that breaks off still shows its beginning.
        let _ = skim.object(|key, value| {
            match key.as_bytes() {
                b"type" => known |= value.string().is_some_and(|name| facts::is_known(&name.text())),
                b"sessionId" | b"parentUuid" | b"leafUuid" | b"snapshot" | b"isSidechain" => ours = true,
                // Codex; and Qwen Code, whose envelope is the same otherwise.
                b"payload" | b"systemPayload" => foreign = true,
                b"message" => value.object(|key, _| {
                    match key.as_bytes() {
                        b"content" => ours = true,
                        b"parts" => foreign = true,
                        _ => {}
                    }
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        });
        // Foreign fields win: an agent with the same envelope has our fields as well.
        if foreign { Some(false) } else { (known && ours).then_some(true) }
    }

    fn is_whole_record(&self, line: &[u8]) -> bool {
        // Progress records contain whole messages; only records themselves have a session, or what metadata has instead.
        let mut anchored = false;
        let _ = Skim::new(line).object(|key, _| {
            anchored |= matches!(key.as_bytes(), b"sessionId" | b"leafUuid" | b"snapshot");
            Ok(())
        });
        anchored && self.sniff(line) == Some(true)
    }

    fn decode(&self, record: Record<'_>, out: &mut Sink<'_>) -> Result<usize, Torn> {
        // Filled in place: a scan does this for every line, and the record is large.
        let mut record = ClaudeRecord::unread(record);
        record.fill()?;
        facts::facts(&record, out);
        Ok(record.depth)
    }

    fn is_document(&self, head: &[u8]) -> bool {
        desktop::is_document(head)
    }

    fn document(&self, bytes: &[u8]) -> (Vec<std::ops::Range<usize>>, bool) {
        desktop::document(bytes)
    }

    fn mentions<'r>(&self, damaged: &'r [u8]) -> Vec<Cow<'r, str>> {
        let key = b"\"tool_use_id\":\"";
        // Bounded: a damaged line may be megabytes of results.
        let found = memchr::memmem::find_iter(damaged, key).take(16).filter_map(|at| {
            let rest = &damaged[at + key.len()..];
            let end = memchr::memchr(b'"', rest)?;
            Some(String::from_utf8_lossy(&rest[..end]))
        });
        found.collect()
    }
}

impl LogFiles for ClaudeCode {
    fn variables(&self) -> &'static [&'static str] {
        places::VARIABLES
    }

    fn moved(&self, places: &Places) -> Vec<(PathBuf, &'static str)> {
        places::moved(places)
    }

    fn roots(&self, places: &Places) -> Vec<PathBuf> {
        let xdg = places.variable(places::XDG_CONFIG).map(Path::new);
        places::roots(places).into_iter().map(|root| root.join("projects")).chain(desktop::roots(places, xdg)).collect()
    }

    fn is_log_name(&self, path: &Path) -> bool {
        desktop::is_description(path)
    }

    fn is_foreign(&self, path: &Path) -> bool {
        desktop::is_foreign(path)
    }

    fn origin(&self, path: &Path) -> SourceOrigin {
        places::origin(path)
    }

    fn sidecar_places(&self, path: &Path) -> Vec<PathBuf> {
        places::sidecar_places(path)
    }

    fn sidecars(&self, path: &Path) -> Vec<PathBuf> {
        places::sidecars(path)
    }

    fn decode_sidecar(&self, path: &Path, bytes: &[u8], out: &mut Sink<'_>) {
        places::decode_sidecar(path, bytes, out);
    }

    fn side_directory(&self, path: &Path) -> Option<PathBuf> {
        // Only the log itself has a directory of its name beside it.
        (path.extension()? == "jsonl").then(|| path.with_extension(""))
    }

    fn backup_directory(&self, path: &Path) -> Option<PathBuf> {
        places::backups(path)
    }

    fn settings(&self, root: &Path) -> Option<PathBuf> {
        // Other roots are those of the desktop application, which has no such setting.
        let root = root.parent().filter(|_| root.file_name().is_some_and(|name| name == "projects"))?;
        Some(root.join("settings.json"))
    }

    fn lifetime(&self, settings: Option<&[u8]>) -> Option<Duration> {
        places::lifetime(settings)
    }

    fn registry(&self, places: &Places) -> Vec<PathBuf> {
        places::registry(places)
    }

    fn registered(&self, bytes: &[u8]) -> Option<Registered> {
        places::registered(bytes)
    }

    fn resume(&self, session: &str) -> Option<Vec<String>> {
        Some(["claude", "--resume", session].map(str::to_owned).to_vec())
    }
}

impl OpenRecords for ClaudeCode {
    fn open<'r>(&'r self, record: Record<'r>) -> Result<Box<dyn TypedRecord + 'r>, Torn> {
        Ok(Box::new(ClaudeRecord::read(record)?))
    }

    fn composed(&self) -> &'static [&'static str] {
        // A command and its arguments stand in tags of their own; `!` is put before a command line.
        &["<command-name>", "<bash-input>"]
    }

    fn saved(&self, answered: &LoggedResult) -> Option<String> {
        tools::saved(answered)
    }

    fn saved_marks(&self) -> &'static [&'static str] {
        // From `persistedOutputPath`, and from the words for the model. They begin with rare letters, which are found faster.
        &["OutputPath", "Full output", "Output has been saved"]
    }

    fn has_plain_inputs(&self) -> bool {
        true
    }

    fn detail(&self, ask: &DetailRequest<'_>) -> Detailed {
        tools::detail(ask)
    }

    fn may_hold_observed(&self, record: &[u8]) -> bool {
        memchr::memmem::find(record, b"bashEditDiff").is_some()
    }

    fn may_hold_backups(&self, record: &[u8]) -> bool {
        backups::may_hold(record)
    }
}

impl TypedRecord for ClaudeRecord<'_> {
    fn facts(&self, out: &mut Sink<'_>) {
        facts::facts(self, out);
    }

    fn parts(&self, payloads: Payloads<'_>) -> Parts {
        parts::parts(self, payloads)
    }

    fn request(&self, call: &str, payloads: Payloads<'_>) -> Option<LoggedRequest> {
        answers::request(self, call, payloads)
    }

    fn result(&self, call: &str, payloads: Payloads<'_>) -> Option<LoggedResult> {
        answers::result(self, call, payloads)
    }

    fn hooks(&self, payloads: Payloads<'_>) -> Vec<HookStory> {
        parts::hooks::hooks(self, payloads)
    }

    fn progress(&self, payloads: Payloads<'_>) -> Option<ProgressStory> {
        parts::progress::progress(self, payloads)
    }

    fn backups(&self) -> Vec<Backup> {
        backups::of(self)
    }
}
