//! A digest as rows that every output shows its own way: a label, and facts made of words and of the calls that prove them.
//!
//! ```text
//! Proof    ! #37 cargo test: exit 0 is that of tail -5, its own was not recorded · 2 edits since
//!            hint: the output says “test result: FAILED”
//! Changed  3 files +128 −44 · 4 commands may have changed more #4 #9 #12 #20
//!            src/parser.rs +80 −9 #12 #15
//! ```
//!
//! What the facts are is decided in the model; here they get words, are cut to what can be read at a glance, and nothing is judged.

use crate::cut::{ending, one_line as line, short as cut};
use crate::head::{Tone, counted, look, outcome, took};
use crate::line::{Class, Line};
use crate::render::words;
use crate::{head, place};
use tooltrail_model::digest::{Changed, ChangedFile, Cited, Digest, Open, Outcome, Quote, Run, Shipped, Times};
use tooltrail_model::row::CallRow;
use tooltrail_model::transcript::Transcript;
use tooltrail_model::{Kind, Reason, Status};

/// What a digest says about one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is about: `Proof`.
    pub label: &'static str,
    /// What there is to say, a line each.
    pub facts: Vec<Fact>,
}

/// One thing that is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fact {
    /// A sign before it, one column wide, and its colour.
    pub sign: Option<(&'static str, Tone)>,
    /// Whether it belongs to the fact before it.
    pub below: bool,
    /// What is said.
    pub pieces: Vec<Piece>,
}

/// A piece of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Words.
    Words(Line),
    /// A call that proves it.
    Call(Proof),
}

/// A call that proves something.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// Its name beside the others of its session: `#12`.
    pub name: String,
    /// Its name everywhere: `3f2a:12`.
    pub r#ref: String,
    /// Its place in `Transcript::calls`.
    pub index: usize,
}

impl Fact {
    /// Words of one class: commands and names are strong.
    pub(crate) fn of(class: Class, text: &str) -> Self {
        Fact::default().say(class, text)
    }

    /// Adds words.
    fn say(mut self, class: Class, text: &str) -> Self {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Words(line)) => line.push(class, text),
            _ => self.pieces.push(Piece::Words(Line::of(class, text))),
        }
        self
    }

    /// Its text, calls by their names.
    pub fn text(&self) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Words(line) => line.text(),
            Piece::Call(proof) => proof.name.clone(),
        };
        self.pieces.iter().map(text).collect()
    }
}

/// The most files that are named, and the most open calls of one sort.
const FILES: usize = 8;
const OPEN: usize = 6;
/// The most calls beside a fact, and the most commits and the like of one sort.
const CALLS: usize = 4;
const SHIPPED: usize = 3;
/// The most letters of what was asked, of what was said, of a command and of a message.
const ASKED: usize = 200;
const SAID: usize = 240;
const WHAT: usize = 90;
const WHY: usize = 80;
/// The most letters of a path.
const PATH: usize = 160;

/// A digest of a transcript, as rows. What has nothing to say has no row.
pub fn rows(digest: &Digest, transcript: &Transcript<'_>) -> Vec<Row> {
    let teller = Teller::new(transcript);
    let rows = [
        ("Asked", digest.asked.iter().map(|quote| said(quote, ASKED)).collect()),
        ("Said", digest.said.iter().map(|quote| said(quote, SAID)).collect()),
        ("State", state(digest).into_iter().collect()),
        ("Proof", teller.proof(digest)),
        ("Changed", teller.changed(&digest.changed)),
        ("Shipped", teller.shipped(&digest.shipped).into_iter().collect()),
        ("Open", teller.open(digest)),
        ("Time", time(&digest.time).into_iter().collect()),
    ];
    rows.into_iter().map(|(label, facts): (_, Vec<Fact>)| Row { label, facts }).filter(|row| !row.facts.is_empty()).collect()
}

/// The files that changed, all of them, a fact each.
pub(crate) fn files(changed: &Changed, transcript: &Transcript<'_>) -> Vec<Fact> {
    let teller = Teller::new(transcript);
    changed.files.iter().map(|file| teller.file(file)).collect()
}

/// Calls that are left open, a fact each.
pub(crate) fn left_open(open: &[&Open], transcript: &Transcript<'_>) -> Vec<Fact> {
    let teller = Teller::new(transcript);
    open.iter().map(|open| teller.left(open)).collect()
}

/// Words that somebody said, on one line.
fn said(quote: &Quote, most: usize) -> Fact {
    let (all, shown) = (words(&quote.text), cut(&words(&quote.text), most));
    let more = if quote.cut && all == shown { " …" } else { "" };
    Fact::of(Class::Plain, &format!("{shown}{more}"))
}

/// What the session is doing.
fn state(digest: &Digest) -> Option<Fact> {
    let (state, why) = state_words(digest.state, digest.state_reason)?;
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    Some(Fact::of(Class::Plain, &format!("{state}{why}")))
}

/// What a session is doing, and what tells so, in words.
pub fn state_words(state: Option<&'static str>, reason: Option<&'static str>) -> Option<(&'static str, Option<&'static str>)> {
    let state = match state? {
        "your_turn" => "your turn",
        "asks" => "asks you",
        "waiting" => "waits for you",
        other => other,
    };
    let why = reason.map(|reason| match reason {
        "quiet" => "nothing was written for a while",
        "question" => "a question is open",
        "plan" => "a plan is shown",
        "permission" => "a call needs permission",
        "registry" => "its agent says so",
        "idle" => "its agent is idle",
        "call" => "a call is running",
        "model" => "the model is at work",
        "answered" => "it has answered",
        "interrupted" => "it was interrupted",
        "api_error" => "the model's service failed",
        "nothing_asked" => "nothing was asked yet",
        other => other,
    });
    Some((state, why))
}

/// Where the time went.
fn time(time: &Times) -> Option<Fact> {
    let parts = [
        ("model", time.model_ms),
        ("tools", time.tools_ms),
        ("hooks", time.hooks_ms),
        ("you", time.person_ms),
        ("unknown", time.unknown_ms),
    ];
    // What is less than a hundredth of it would only be in the way.
    let counts = |millis: u64| millis > 0 && millis >= time.wall_ms / 100;
    let parts: Vec<String> =
        parts.iter().filter(|(_, millis)| counts(*millis)).map(|(name, millis)| format!("{name} {}", about(*millis))).collect();
    let fact = (time.wall_ms > 0).then(|| Fact::of(Class::Plain, &about(time.wall_ms)))?;
    Some(if parts.is_empty() { fact } else { fact.say(Class::Dim, ": ").say(Class::Plain, &parts.join(", ")) })
}

/// A duration for comparing: `0.4 s`, `12 s`, `5 m`, `1 h 04 m`. The space within it does not break.
fn about(millis: u64) -> String {
    let text = match millis {
        0..950 => format!("0.{} s", (millis.max(50) + 50) / 100),
        950..59_500 => format!("{} s", (millis + 500) / 1000),
        59_500..3_570_000 => format!("{} m", (millis + 30_000) / 60_000),
        _ => took(millis),
    };
    text.replace(' ', "\u{a0}")
}

/// Tells facts about the calls of a transcript.
struct Teller<'t> {
    transcript: &'t Transcript<'t>,
    /// Whether numbers name calls: they do within one session.
    numbers: bool,
}

impl<'t> Teller<'t> {
    fn new(transcript: &'t Transcript<'t>) -> Self {
        let session = transcript.calls.first().map(|call| call.row.session);
        let numbers = transcript.calls.iter().all(|call| Some(call.row.session) == session);
        Teller { transcript, numbers }
    }

    fn row(&self, cited: &Cited) -> Option<&CallRow<'t>> {
        self.transcript.calls.get(cited.index).map(|call| &call.row)
    }

    fn piece(&self, cited: &Cited) -> Piece {
        let name = if self.numbers { format!("#{}", cited.number) } else { cited.r#ref.clone() };
        Piece::Call(Proof { name, r#ref: cited.r#ref.clone(), index: cited.index })
    }

    /// A fact that begins with its call.
    fn about(&self, sign: (&'static str, Tone), cited: &Cited) -> Fact {
        Fact { sign: Some(sign), below: false, pieces: vec![self.piece(cited)] }.say(Class::Plain, " ")
    }

    /// Adds the calls that prove a fact.
    fn prove<'c>(&self, mut fact: Fact, calls: impl ExactSizeIterator<Item = &'c Cited>) -> Fact {
        let total = calls.len();
        for cited in calls.take(if total > CALLS { CALLS - 1 } else { CALLS }) {
            fact = fact.say(Class::Plain, " ");
            fact.pieces.push(self.piece(cited));
        }
        if total > CALLS { fact.say(Class::Dim, &format!(" and {}", more(total - CALLS + 1))) } else { fact }
    }

    /// The last test, build and lint run, and whether anything was edited since.
    fn proof(&self, digest: &Digest) -> Vec<Fact> {
        let runs: Vec<&Run> = [&digest.test, &digest.build, &digest.lint].into_iter().flatten().collect();
        let mut facts = Vec::new();
        if !digest.changed.files.is_empty() && digest.test.is_none() {
            let none = if runs.is_empty() { "no tests, builds or lint runs" } else { "no tests were run" };
            // What is not looked at may have been tests.
            facts.push(match digest.scripts {
                0 => Fact::of(Class::Plain, none),
                scripts => Fact::of(Class::Plain, &format!("{none} outside {}", counted(scripts, "script")))
                    .say(Class::Dim, ", whose commands are not looked at"),
            });
        }
        for run in runs {
            facts.push(self.run(run));
            let hint = run.hint.as_ref().filter(|_| run.outcome != Outcome::Failed);
            let hint = hint.map(|hint| Fact::of(Class::Dim, "hint: the output says ").say(Class::Plain, &format!("“{}”", line(hint, WHY))));
            facts.extend(hint.map(|fact| Fact { below: true, ..fact }));
        }
        facts
    }

    fn run(&self, run: &Run) -> Fact {
        let row = self.row(&run.cited);
        let sign = match run.outcome {
            Outcome::Passed => ("✓", Tone::Ok),
            Outcome::Failed => ("✗", Tone::Error),
            Outcome::Masked => ("!", Tone::Stopped),
            Outcome::Unknown => ("?", Tone::Missing),
        };
        let fact = self.about(sign, &run.cited).say(Class::Strong, &line(&run.command, WHAT));
        let fact = match run.outcome {
            Outcome::Passed => fact.say(Class::Good, " passed"),
            Outcome::Failed => fact.say(Class::Bad, " failed"),
            Outcome::Masked => fact.say(Class::Plain, &format!(": {}", masked(run, row))),
            Outcome::Unknown => fact.say(Class::Plain, &format!(": {}", unknown(row))),
        };
        let commands = counted(run.commands_after, "command");
        match (run.edits_after, run.commands_after) {
            (0, 0) => fact.say(Class::Dim, " · no edits since"),
            (0, _) => fact.say(Class::Dim, " · no edits since, but ").say(Class::Plain, &format!("{commands} that may have changed files")),
            (edits, _) => fact.say(Class::Dim, " · ").say(Class::Plain, &format!("{} since", counted(edits, "edit"))),
        }
    }

    fn changed(&self, changed: &Changed) -> Vec<Fact> {
        let files = changed.files.as_slice();
        let mut head = match files {
            [] => Fact::default(),
            [only] => Fact { below: false, ..self.file(only) },
            _ => Fact::of(Class::Plain, &counted(files.len() as u64, "file")),
        };
        if let Some(lines) = changed.lines().filter(|_| files.len() > 1) {
            head = sizes(head, lines);
        }
        let commands = counted(changed.commands.len() as u64, "command");
        head = match (files, changed.commands.is_empty()) {
            ([], true) => return Vec::new(),
            (_, true) => head,
            ([], false) => self
                .prove(head.say(Class::Plain, &format!("no files by edits · {commands} may have changed some")), changed.commands.iter()),
            (_, false) => self.prove(head.say(Class::Plain, &format!(" · {commands} may have changed more")), changed.commands.iter()),
        };
        let shown = fits(files.len(), FILES);
        let listed = files.iter().take(shown).filter(|_| files.len() > 1).map(|file| self.file(file));
        std::iter::once(head).chain(listed).chain(rest(files.len() - shown)).collect()
    }

    fn file(&self, file: &ChangedFile) -> Fact {
        let row = file.calls.first().and_then(|cited| self.row(cited));
        let fact = Fact { below: true, ..Fact::of(Class::Path, &ending(self.relative(&file.path, row), PATH)) };
        let fact = file.lines.map_or(fact.clone(), |lines| sizes(fact, lines));
        self.prove(fact, file.calls.iter())
    }

    /// A path within the project, or within the directory of a call.
    fn relative<'p>(&self, path: &'p str, row: Option<&CallRow<'_>>) -> &'p str {
        let inside = |folder: Option<&str>| folder.and_then(|folder| place::within(folder, path));
        inside(self.transcript.session.project).or_else(|| inside(row.and_then(|row| row.cwd))).unwrap_or(path)
    }

    /// What left the working directory: of each sort the last.
    fn shipped(&self, shipped: &[Shipped]) -> Option<Fact> {
        let mut sorts: Vec<&str> = Vec::new();
        for one in shipped {
            if !sorts.contains(&one.what.as_str()) {
                sorts.push(&one.what);
            }
        }
        let mut fact = Fact::default();
        for sort in sorts {
            let all: Vec<&Shipped> = shipped.iter().filter(|one| one.what == sort).collect();
            let name = sort.replace('_', " ");
            let name = match all.len() {
                1 => name,
                number if number <= SHIPPED => format!("{}:", counted(number as u64, &name)),
                number => format!("{}, the last:", counted(number as u64, &name)),
            };
            let stop = if fact.pieces.is_empty() { "" } else { " · " };
            fact = fact.say(Class::Dim, stop).say(Class::Plain, &name);
            for (place, one) in all.iter().skip(all.len().saturating_sub(SHIPPED)).enumerate() {
                fact = fact.say(Class::Dim, if place > 0 { "," } else { "" });
                if !one.which.trim().is_empty() {
                    fact = fact.say(Class::Plain, " ").say(Class::Strong, &line(&one.which, WHAT));
                }
                fact = self.prove(fact, std::iter::once(&one.cited));
            }
        }
        (!fact.pieces.is_empty()).then_some(fact)
    }

    /// What is left open, sort by sort.
    fn open(&self, digest: &Digest) -> Vec<Fact> {
        let mut facts = Vec::new();
        for sort in [&digest.failures, &digest.rejected, &digest.blocked, &digest.unanswered] {
            let shown = fits(sort.len(), OPEN);
            facts.extend(sort.iter().take(shown).map(|open| self.left(open)));
            let status = sort.first().map_or(Status::Failed, |open| open.status);
            facts.extend(
                rest(sort.len() - shown).map(|fact| Fact { below: false, ..fact.say(Class::Dim, &format!(" {}", look(status).word)) }),
            );
        }
        facts
    }

    fn left(&self, open: &Open) -> Fact {
        let look = look(open.status);
        let row = self.row(&open.cited);
        let what = match row.map(|row| row.kind) {
            _ if open.what.trim().is_empty() => open.tool.clone(),
            Some(Kind::Shell | Kind::Mcp) => open.what.clone(),
            _ => format!("{} {}", open.tool, self.relative(&open.what, row)),
        };
        let fact = self.about((look.glyph, look.tone), &open.cited).say(Class::Strong, &line(&what, WHAT));
        let ended = row.map(outcome).filter(|words| !words.is_empty()).unwrap_or_else(|| look.word.to_owned());
        // What an agent says about a permission that is not there is what the reason says, at length.
        let said = !matches!(open.reason, Some(Reason::PermissionRule | Reason::NotGranted));
        let why = open.why.as_deref().filter(|_| said).map(|why| line(why, WHY)).filter(|why| !why.is_empty() && !ended.contains(why));
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

/// What became of a run whose own exit code nobody recorded.
fn masked(run: &Run, row: Option<&CallRow<'_>>) -> String {
    let Some(other) = &run.exit_of else { return "its exit code was not recorded".to_owned() };
    let recorded = match (run.exit_code, row.map(|row| row.status)) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(Status::Succeeded)) => "the success".to_owned(),
        _ => "the outcome".to_owned(),
    };
    format!("{recorded} is that of {}, its own was not recorded", line(other, WHAT))
}

/// What became of a run that has no outcome.
fn unknown(row: Option<&CallRow<'_>>) -> String {
    let Some(row) = row else { return "how it ended was not recorded".to_owned() };
    let words = match row.status {
        _ if row.background.is_some() => "it went on in the background; how it ended was not recorded",
        Status::Failed => "the line failed; which of its commands did was not recorded",
        Status::Succeeded => "the line succeeded; whether this was run was not recorded",
        Status::Answered => "how it ended was not recorded",
        _ => return outcome(row),
    };
    words.to_owned()
}

/// Lines that came and lines that went.
fn sizes(fact: Fact, (came, went): (u64, u64)) -> Fact {
    fact.say(Class::Good, &format!(" +{}", head::count(came))).say(Class::Bad, &format!(" −{}", head::count(went)))
}

/// How many of a list are shown: one more is no reason to cut it.
fn fits(total: usize, most: usize) -> usize {
    if total <= most + 1 { total } else { most }
}

/// That there is more than what is shown.
fn rest(left: usize) -> Option<Fact> {
    (left > 0).then(|| Fact { below: true, ..Fact::of(Class::Dim, &format!("and {}", more(left))) })
}

fn more(left: usize) -> String {
    format!("{} more", head::count(left as u64))
}

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
