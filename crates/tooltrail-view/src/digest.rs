//! A digest as rows that every output shows in its own way: a label, and facts made of words and of the calls that prove
//! them.
//!
//! ```text
//! Proof    ! #37 cargo test: the success came from tail -5; its own exit code is unknown · 2 edits since
//!            hint: the output says “test result: FAILED”
//! Changed  3 files +128 −44 · 4 commands may have changed more #4 #9 #12 #20
//!            src/parser.rs +80 −9 #12 #15
//! ```
//!
//! The model decides about the facts; here they get words and are cut to what can be read at a glance.

use crate::cut::{ending, one_line as line, short as cut};
use crate::head::{Tone, counted, look, outcome, took};
use crate::line::{Class, Line};
use crate::render::words;
use crate::why::output_says;
use crate::{head, place};
use tooltrail_model::changes::Strength;
use tooltrail_model::digest::{
    ChangeSummary, ChangedFile, CheckRun, Cited, Digest, DigestHook, Quote, RunOutcome, Shipped, TimeBreakdown, UnresolvedCall,
};
use tooltrail_model::reported::ReportedOutcome;
use tooltrail_model::row::CallRow;
use tooltrail_model::transcript::Transcript;
use tooltrail_model::{Kind, Reason, Status};

/// One line of a digest: a label with its facts.
#[derive(Clone, Debug, PartialEq)]
pub struct DigestRow {
    /// The label, such as `Proof`.
    pub label: &'static str,
    /// The facts, one line each.
    pub facts: Vec<DigestFact>,
}

/// One fact of a digest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DigestFact {
    /// A sign before it, one column wide, and its colour.
    pub sign: Option<(&'static str, Tone)>,
    /// Whether it belongs to the fact before it.
    pub below: bool,
    /// Words and calls that the fact is made of.
    pub pieces: Vec<FactPart>,
}

/// Part of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum FactPart {
    /// Words.
    Words(Line),
    /// A call that proves it.
    Call(Proof),
}

/// A call that proves something.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// Number within its session: `#12`.
    pub name: String,
    /// Reference that is valid everywhere: `3f2a:12`.
    pub r#ref: String,
    /// Its place in `Transcript::calls`.
    pub index: usize,
}

impl DigestFact {
    /// Words of one class; commands and names are strong.
    pub(crate) fn of(class: Class, text: &str) -> Self {
        DigestFact::default().say(class, text)
    }

    /// Adds words.
    fn say(mut self, class: Class, text: &str) -> Self {
        match self.pieces.last_mut() {
            // Empty words would leave an empty piece behind.
            _ if text.is_empty() => {}
            Some(FactPart::Words(line)) => line.push(class, text),
            _ => self.pieces.push(FactPart::Words(Line::of(class, text))),
        }
        self
    }

    /// Its text, calls by their names.
    pub fn text(&self) -> String {
        let text = |piece: &FactPart| match piece {
            FactPart::Words(line) => line.text(),
            FactPart::Call(proof) => proof.name.clone(),
        };
        self.pieces.iter().map(text).collect()
    }
}

/// The label of changed files.
const CHANGES: &str = "Changes";
/// The most files that are listed, in a summary that is folded too, and the most open calls of one kind.
const FILES: usize = 8;
const MORE_FILES: usize = 40;
const OPEN: usize = 6;
/// The most calls beside a fact, and the most commits and the like of one kind.
const CALLS: usize = 4;
const SHIPPED: usize = 3;
/// The most characters of the prompt, of the answer, of a command and of a message.
const ASKED: usize = 200;
const SAID: usize = 240;
const WHAT: usize = 90;
const WHY: usize = 80;
/// The most letters of a path.
const PATH: usize = 160;

/// The digest of a transcript as rows. A topic without facts has no row.
pub fn rows(digest: &Digest, transcript: &Transcript<'_>) -> Vec<DigestRow> {
    let teller = FactWriter::new(transcript);
    let (first, last) = prompts(digest);
    let one_prompt = first.is_empty();
    let rows = [
        ("First prompt", first),
        (if one_prompt { "Prompt" } else { "Last prompt" }, last),
        ("Last answer", digest.said.iter().map(|quote| said(quote, SAID)).collect()),
        ("State", state(digest).into_iter().collect()),
        ("Checks", teller.proof(digest)),
        (CHANGES, teller.changed(&digest.changed)),
        ("Commits and PRs", teller.shipped(&digest.shipped).into_iter().collect()),
        ("Unresolved failures", teller.open(digest)),
        ("Hooks", teller.hooks(&digest.hooks)),
        ("Time", time(&digest.time).into_iter().collect()),
    ];
    rows.into_iter().map(|(label, facts): (_, Vec<DigestFact>)| DigestRow { label, facts }).filter(|row| !row.facts.is_empty()).collect()
}

/// The same with the files of the changes by path, and more of them, for a summary that is folded.
pub fn rows_by_path(digest: &Digest, transcript: &Transcript<'_>) -> Vec<DigestRow> {
    let mut sorted = digest.changed.clone();
    sorted.files.sort_by(|one, other| one.path.cmp(&other.path));
    let teller = FactWriter { files: MORE_FILES, ..FactWriter::new(transcript) };
    let changes = teller.changed(&sorted);
    let rows = rows(digest, transcript).into_iter();
    rows.map(|row| if row.label == CHANGES { DigestRow { facts: changes.clone(), ..row } } else { row }).collect()
}

/// The first and the last prompt; only the last where they are the same.
fn prompts(digest: &Digest) -> (Vec<DigestFact>, Vec<DigestFact>) {
    let quote = |quote: &Quote| vec![said(quote, ASKED)];
    match (&digest.asked_first, &digest.asked) {
        (Some(first), Some(last)) if first.text != last.text => (quote(first), quote(last)),
        (_, last) => (Vec::new(), last.iter().flat_map(quote).collect()),
    }
}

/// All changed files, a fact each.
pub(crate) fn files(changed: &ChangeSummary, transcript: &Transcript<'_>) -> Vec<DigestFact> {
    let teller = FactWriter::new(transcript);
    changed.files.iter().map(|file| teller.file(file)).collect()
}

/// Open calls, a fact each.
pub(crate) fn left_open(open: &[&UnresolvedCall], transcript: &Transcript<'_>) -> Vec<DigestFact> {
    let teller = FactWriter::new(transcript);
    open.iter().map(|open| teller.left(open)).collect()
}

/// A quote on one line, behind a label.
fn said(quote: &Quote, most: usize) -> DigestFact {
    let (all, shown) = (words(&quote.text), cut(&words(&quote.text), most));
    // The model may have cut the quote already; then a mark is needed even if it fits here.
    let more = if quote.cut && all == shown { " …" } else { "" };
    DigestFact::of(Class::Plain, &format!("{shown}{more}"))
}

/// State of the session.
fn state(digest: &Digest) -> Option<DigestFact> {
    let (state, why) = state_words(digest.state, digest.state_reason)?;
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    Some(DigestFact::of(Class::Plain, &format!("{state}{why}")))
}

/// State of a session and the reason for it, in words.
pub fn state_words(state: Option<&'static str>, reason: Option<&'static str>) -> Option<(&'static str, Option<&'static str>)> {
    let state = match state? {
        "your_turn" => "your turn",
        "asks" => "asks you",
        "waiting" => "waits for you",
        // A state that is not known here is shown as it is.
        other => other,
    };
    let why = reason.map(|reason| match reason {
        "quiet" => "no activity for a while",
        "question" => "a question is open",
        "plan" => "a plan is shown",
        "permission" => "a call needs permission",
        "registry" => "reported by the agent",
        "idle" => "the agent is idle",
        "call" => "a call is running",
        "model" => "the model is working",
        "answered" => "the model answered",
        "interrupted" => "interrupted",
        "api_error" => "API error",
        "nothing_asked" => "no prompt yet",
        other => other,
    });
    Some((state, why))
}

/// Distribution of the time.
fn time(time: &TimeBreakdown) -> Option<DigestFact> {
    let parts = [
        ("model", time.model_ms),
        ("tools", time.tools_ms),
        ("hooks", time.hooks_ms),
        ("you", time.person_ms),
        ("unknown", time.unknown_ms),
    ];
    // Parts below one percent would only distract.
    let counts = |millis: u64| millis > 0 && millis >= time.wall_ms / 100;
    let waits = if time.may_wait { " (includes waiting for approval)" } else { "" };
    let part = |(name, millis): &(&str, u64)| format!("{name} {}{}", about(*millis), if *name == "tools" { waits } else { "" });
    let parts: Vec<String> = parts.iter().filter(|(_, millis)| counts(*millis)).map(part).collect();
    let fact = (time.wall_ms > 0).then(|| DigestFact::of(Class::Plain, &about(time.wall_ms)))?;
    Some(if parts.is_empty() { fact } else { fact.say(Class::Dim, ": ").say(Class::Plain, &parts.join(", ")) })
}

/// A rounded duration for comparison: `0.4 s`, `12 s`, `5 m`, `1 h 04 m`. The space within it does not break.
fn about(millis: u64) -> String {
    let text = match millis {
        // Never `0.0 s`: something that took time took at least a tenth.
        0..950 => format!("0.{} s", (millis.max(50) + 50) / 100),
        950..59_500 => format!("{} s", (millis + 500) / 1000),
        59_500..3_570_000 => format!("{} m", (millis + 30_000) / 60_000),
        _ => took(millis),
    };
    text.replace(' ', "\u{a0}")
}

/// Words facts about the calls of a transcript.
struct FactWriter<'t> {
    transcript: &'t Transcript<'t>,
    /// Whether numbers identify calls, which they do within one session.
    numbers: bool,
    /// The most files that are listed.
    files: usize,
}

impl<'t> FactWriter<'t> {
    fn new(transcript: &'t Transcript<'t>) -> Self {
        let session = transcript.calls.first().map(|call| call.row.session);
        let numbers = transcript.calls.iter().all(|call| Some(call.row.session) == session);
        FactWriter { transcript, numbers, files: FILES }
    }

    fn row(&self, cited: &Cited) -> Option<&CallRow<'t>> {
        self.transcript.calls.get(cited.index).map(|call| &call.row)
    }

    fn piece(&self, cited: &Cited) -> FactPart {
        let name = if self.numbers { format!("#{}", cited.number) } else { cited.r#ref.clone() };
        FactPart::Call(Proof { name, r#ref: cited.r#ref.clone(), index: cited.index })
    }

    /// A fact that begins with its call.
    fn about(&self, sign: (&'static str, Tone), cited: &Cited) -> DigestFact {
        DigestFact { sign: Some(sign), below: false, pieces: vec![self.piece(cited)] }.say(Class::Plain, " ")
    }

    /// Adds the calls that prove a fact.
    fn prove<'c>(&self, mut fact: DigestFact, calls: impl ExactSizeIterator<Item = &'c Cited>) -> DigestFact {
        let total = calls.len();
        // One place is kept for "and n more".
        for cited in calls.take(if total > CALLS { CALLS - 1 } else { CALLS }) {
            fact = fact.say(Class::Plain, " ");
            fact.pieces.push(self.piece(cited));
        }
        if total > CALLS { fact.say(Class::Dim, &format!(" and {}", more(total - CALLS + 1))) } else { fact }
    }

    /// The last test, build and lint run, and whether anything was edited since.
    fn proof(&self, digest: &Digest) -> Vec<DigestFact> {
        let runs: Vec<&CheckRun> = [&digest.test, &digest.build, &digest.lint].into_iter().flatten().collect();
        let mut facts = Vec::new();
        // Changes without tests are worth a line of their own.
        if !digest.changed.files.is_empty() && digest.test.is_none() {
            let none = if runs.is_empty() { "no test, build or lint runs" } else { "no test runs" };
            // The commands of scripts are unknown and may have been tests.
            facts.push(match digest.scripts {
                0 => DigestFact::of(Class::Plain, none),
                scripts => DigestFact::of(Class::Plain, &format!("{none} outside {}", counted(scripts, "script")))
                    .say(Class::Dim, ", whose commands are not checked"),
            });
        }
        for run in runs {
            facts.push(self.run(run));
            let reported = run.reported.as_ref().map(|reported| DigestFact::of(Class::Dim, &output_says(&line(&reported.text, WHY))));
            facts.extend(reported.map(|fact| DigestFact { below: true, ..fact }));
            // A failed run needs no hint: its exit code says it, or the line of the output that sums it up.
            let told = run.reported.as_ref().is_some_and(|reported| reported.outcome == ReportedOutcome::Failed);
            let hint = run.hint.as_ref().filter(|_| run.outcome != RunOutcome::Failed && !told);
            let hint =
                hint.map(|hint| DigestFact::of(Class::Dim, "hint: the output says ").say(Class::Plain, &format!("“{}”", line(hint, WHY))));
            facts.extend(hint.map(|fact| DigestFact { below: true, ..fact }));
        }
        facts
    }

    fn run(&self, run: &CheckRun) -> DigestFact {
        let row = self.row(&run.cited);
        let sign = match run.outcome {
            RunOutcome::Passed => ("✓", Tone::Ok),
            RunOutcome::Failed => ("✗", Tone::Error),
            RunOutcome::Masked => ("!", Tone::Stopped),
            RunOutcome::Unknown => ("?", Tone::Missing),
        };
        let fact = self.about(sign, &run.cited).say(Class::Strong, &line(&run.command, WHAT));
        let fact = match run.outcome {
            RunOutcome::Passed => fact.say(Class::Good, " passed"),
            RunOutcome::Failed => fact.say(Class::Bad, " failed"),
            RunOutcome::Masked => fact.say(Class::Plain, &format!(": {}", masked(run, row))),
            RunOutcome::Unknown => fact.say(Class::Plain, &format!(": {}", unknown(row))),
        };
        let commands = counted(run.commands_after, "command");
        match (run.edits_after, run.commands_after) {
            (0, 0) => fact.say(Class::Dim, " · no edits since"),
            (0, _) => fact.say(Class::Dim, " · no edits since, but ").say(Class::Plain, &format!("{commands} that may have changed files")),
            (edits, _) => fact.say(Class::Dim, " · ").say(Class::Plain, &format!("{} since", counted(edits, "edit"))),
        }
    }

    fn changed(&self, changed: &ChangeSummary) -> Vec<DigestFact> {
        let files = changed.files.as_slice();
        let mut head = match files {
            [] => DigestFact::default(),
            // A single file stands on the first line itself.
            [only] => DigestFact { below: false, ..self.file(only) },
            _ => DigestFact::of(Class::Plain, &counted(files.len() as u64, "file")),
        };
        // Gaps are told of a single file too, so that its numbers are not taken for all of it.
        if let Some(size) = changed.size() {
            head = if files.len() > 1 { sizes(head, (size.added, size.removed)) } else { head };
            head = if size.incomplete > 0 { head.say(Class::Dim, " · diff incomplete") } else { head };
        }
        // Commands are listed separately, because the files they change are unknown.
        let commands = counted(changed.commands.len() as u64, "command");
        head = match (files, changed.commands.is_empty()) {
            ([], true) => return Vec::new(),
            (_, true) => head,
            ([], false) => {
                self.prove(head.say(Class::Plain, &format!("no edits · {commands} may have changed files")), changed.commands.iter())
            }
            (_, false) => self.prove(head.say(Class::Plain, &format!(" · {commands} may have changed more")), changed.commands.iter()),
        };
        let shown = fits(files.len(), self.files);
        let listed = files.iter().take(shown).filter(|_| files.len() > 1).map(|file| self.file(file));
        std::iter::once(head).chain(listed).chain(rest(files.len() - shown)).collect()
    }

    fn file(&self, file: &ChangedFile) -> DigestFact {
        let row = file.calls.first().and_then(|cited| self.row(cited));
        let fact = DigestFact { below: true, ..DigestFact::of(Class::Path, &ending(self.relative(&file.path, row), PATH)) };
        // A command that moves a file adds and removes no lines.
        let lines = file.lines.filter(|lines| file.strength != Strength::Touched || *lines != (0, 0));
        let fact = lines.map_or(fact.clone(), |lines| sizes(fact, lines));
        let fact = file.strength.label().map_or(fact.clone(), |label| fact.say(Class::Dim, &format!(" · {label}")));
        self.prove(fact, file.calls.iter())
    }

    /// A path relative to the project, or else to the directory of a call.
    fn relative<'p>(&self, path: &'p str, row: Option<&CallRow<'_>>) -> &'p str {
        let inside = |folder: Option<&str>| folder.and_then(|folder| place::within(folder, path));
        inside(self.transcript.session.project).or_else(|| inside(row.and_then(|row| row.cwd))).unwrap_or(path)
    }

    /// Commits, pushes and pull requests: the last ones of each kind.
    fn shipped(&self, shipped: &[Shipped]) -> Option<DigestFact> {
        // Kinds in order of first appearance, which is the order of the work.
        let mut sorts: Vec<&str> = Vec::new();
        for one in shipped {
            if !sorts.contains(&one.what.as_str()) {
                sorts.push(&one.what);
            }
        }
        let mut fact = DigestFact::default();
        for sort in sorts {
            let all: Vec<&Shipped> = shipped.iter().filter(|one| one.what == sort).collect();
            let name = sort.replace('_', " ");
            let name = match all.len() {
                1 => name,
                number if number <= SHIPPED => format!("{}:", counted(number as u64, &name)),
                number => format!("{}, latest:", counted(number as u64, &name)),
            };
            let stop = if fact.pieces.is_empty() { "" } else { " · " };
            fact = fact.say(Class::Dim, stop).say(Class::Plain, &name);
            // Only the last of each kind; earlier ones are usually superseded.
            for (place, one) in all.iter().skip(all.len().saturating_sub(SHIPPED)).enumerate() {
                fact = fact.say(Class::Dim, if place > 0 { "," } else { "" });
                if let Some(which) = one.which.as_deref().filter(|which| !which.trim().is_empty()) {
                    fact = fact.say(Class::Plain, " ").say(Class::Strong, &line(which, WHAT));
                }
                fact = self.prove(fact, std::iter::once(&one.cited));
            }
        }
        (!fact.pieces.is_empty()).then_some(fact)
    }

    /// Open calls, kind by kind.
    fn open(&self, digest: &Digest) -> Vec<DigestFact> {
        let mut facts = Vec::new();
        for sort in [&digest.failures, &digest.rejected, &digest.blocked, &digest.unanswered] {
            let shown = fits(sort.len(), OPEN);
            facts.extend(sort.iter().take(shown).map(|open| self.left(open)));
            let status = sort.first().map_or(Status::Failed, |open| open.status);
            facts.extend(
                rest(sort.len() - shown)
                    .map(|fact| DigestFact { below: false, ..fact.say(Class::Dim, &format!(" {}", look(status).word)) }),
            );
        }
        facts
    }

    /// Objections of hooks, each with its words.
    fn hooks(&self, hooks: &[DigestHook]) -> Vec<DigestFact> {
        let shown = fits(hooks.len(), OPEN);
        let told = hooks.iter().take(shown).map(|hook| {
            let sign = (look(Status::Blocked).glyph, Tone::Denied);
            let fact = match &hook.cited {
                Some(cited) => self.about(sign, cited),
                None => DigestFact { sign: Some(sign), ..DigestFact::default() },
            };
            let event = hook.event.as_deref().unwrap_or("hook");
            let by = hook.by.as_deref().filter(|by| !by.starts_with(event)).map(|by| format!(" {}", line(by, WHAT))).unwrap_or_default();
            let fact = fact.say(Class::Strong, &format!("{}{by}", line(event, WHAT))).say(Class::Plain, " blocked");
            match hook.why.as_deref().map(|why| line(why, WHY)).filter(|why| !why.is_empty()) {
                Some(why) => fact.say(Class::Dim, " · ").say(Class::Plain, &why),
                None => fact,
            }
        });
        told.chain(rest(hooks.len() - shown)).collect()
    }

    fn left(&self, open: &UnresolvedCall) -> DigestFact {
        let look = look(open.status);
        let row = self.row(&open.cited);
        // A command or an MCP call is clear without the tool's name.
        let what = match row.map(|row| row.kind) {
            _ if open.what.trim().is_empty() => open.tool.clone(),
            Some(Kind::Shell | Kind::Mcp) => open.what.clone(),
            _ => format!("{} {}", open.tool, self.relative(&open.what, row)),
        };
        let fact = self.about((look.glyph, look.tone), &open.cited).say(Class::Strong, &line(&what, WHAT));
        let ended = row.map(outcome).filter(|words| !words.is_empty()).unwrap_or_else(|| look.word.to_owned());
        // The agent's text about a missing permission only repeats the reason, at length.
        let said = !matches!(open.reason, Some(Reason::PermissionRule | Reason::NotGranted));
        let why = open.why.as_deref().filter(|_| said).map(|why| line(why, WHY)).filter(|why| !why.is_empty() && !ended.contains(why));
        // From the least to the most words: a reason alone, a quote, a hook with its message.
        match (why, open.reason) {
            (None, _) if open.by.is_some() => {
                let by = open.by.as_deref().map(|by| line(by, WHAT)).unwrap_or_default();
                fact.say(Class::Plain, &format!(": {} by {by}", look.word))
            }
            (None, _) => fact.say(Class::Plain, &format!(": {ended}")),
            (Some(why), _) if open.status == Status::Rejected => fact.say(Class::Plain, &format!(": {}: “{why}”", look.word)),
            (Some(why), _) if ended == look.word && open.status == Status::Failed => fact.say(Class::Plain, &format!(": {why}")),
            (Some(why), reason) if open.by.is_some() || reason == Some(Reason::Hook) => {
                let by = open.by.as_deref().map_or("a hook".to_owned(), |by| line(by, WHAT));
                fact.say(Class::Plain, &format!(": {} by {by}", look.word)).say(Class::Dim, " · ").say(Class::Plain, &why)
            }
            (Some(why), _) => fact.say(Class::Plain, &format!(": {ended}")).say(Class::Dim, " · ").say(Class::Plain, &why),
        }
    }
}

/// Outcome of a run whose own exit code was not recorded.
fn masked(run: &CheckRun, row: Option<&CallRow<'_>>) -> String {
    let Some(other) = &run.exit_of else { return "its exit code is unknown".to_owned() };
    let recorded = match (run.exit_code, row.map(|row| row.status)) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(Status::Succeeded)) => "the success".to_owned(),
        _ => "the outcome".to_owned(),
    };
    format!("{recorded} came from {}; its own exit code is unknown", line(other, WHAT))
}

/// Outcome of a run that has none.
fn unknown(row: Option<&CallRow<'_>>) -> String {
    let Some(row) = row else { return "outcome not recorded".to_owned() };
    let words = match row.status {
        _ if row.background.is_some() => "moved to the background; outcome not recorded",
        Status::Failed => "the command line failed; the log does not say which command",
        Status::Succeeded => "the command line succeeded; the log does not say whether this command ran",
        Status::Answered => "outcome not recorded",
        _ => return outcome(row),
    };
    words.to_owned()
}

/// Added and removed lines.
fn sizes(fact: DigestFact, (came, went): (u64, u64)) -> DigestFact {
    fact.say(Class::Good, &format!(" +{}", head::count(came))).say(Class::Bad, &format!(" −{}", head::count(went)))
}

/// Number of entries that are shown. One more than the limit is no reason to cut: the remark would take a line too.
fn fits(total: usize, most: usize) -> usize {
    if total <= most + 1 { total } else { most }
}

/// Remark that there are more.
fn rest(left: usize) -> Option<DigestFact> {
    (left > 0).then(|| DigestFact { below: true, ..DigestFact::of(Class::Dim, &format!("and {}", more(left))) })
}

fn more(left: usize) -> String {
    format!("{} more", head::count(left as u64))
}

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
