//! `verify`: whether a session's checks passed after its last edit, for people, CI and hooks.
//!
//! The model decides what is missing (`session_verdict::policy`); this command reads the session and speaks the protocol of whoever asks.

use crate::cli::LogArgs;
use crate::config::{self, Config};
use crate::refs::{Reference, Target};
use crate::{logs, out};
use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;
use std::io::{Read, Write};
use std::process::ExitCode;
use tooltrail_formats::stop_hook::StopHook;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::{Book, Selection};
use tooltrail_model::row::VERSION;
use tooltrail_model::session_verdict::policy::{Verification, VerifyGap, VerifyPolicy};
use tooltrail_model::session_verdict::{CheckKind, SessionVerdict};
use tooltrail_model::{Status, claims, digest};
use tooltrail_view::line::neutral;
use tooltrail_view::verdict::gap_text;

const EXAMPLES: &str = "\
Examples:
  tooltrail verify                      the newest session: did its tests pass after the last edit?
  tooltrail verify 3f2a                 the session whose id begins so
  tooltrail verify session.jsonl        a log, as in CI
  tooltrail verify --require test,lint  these checks, whether the agent ran them or not
  tooltrail verify --accept-reported    an output that says \"41 passed\" is enough
  tooltrail verify --ignore docs --ignore '*.md'
  tooltrail verify --stop-hook          as a Stop hook of an agent (docs/verify.md)
  tooltrail verify 3f2a --json | jq '.gaps[].text'";

/// The largest input of a hook that is read.
const HOOK_INPUT: u64 = 16 << 20;
/// Exit status by which a hook keeps an agent going, with the reason on standard error.
const KEEP_GOING: u8 = 2;

/// Arguments of `verify`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// A session: its id or the beginning of it, `last`, or a file; or a call of it
    #[arg(value_name = "REF", default_value = "last", conflicts_with = "stop_hook")]
    wanted: String,
    /// Require these checks in a session that edited files: `test`, `build`, `lint` [default: those that the session gives a reason for]
    #[arg(long, value_name = "CHECKS", value_delimiter = ',', value_parser = config::check)]
    require: Vec<CheckKind>,
    /// Accept a check whose output says that it passed, where its exit code was not recorded
    #[arg(long)]
    accept_reported: bool,
    /// Ignore edits of these files, as in `docs` or `*.md` (repeatable)
    #[arg(long, value_name = "PATTERN")]
    ignore: Vec<String>,
    /// Read the input of a Stop hook from standard input, and answer as a hook: exit 2 keeps the agent going
    #[arg(long)]
    stop_hook: bool,
}

/// The answer as JSON.
#[derive(Serialize)]
struct VerifyRow<'a> {
    v: u32,
    agent: &'a str,
    session: &'a str,
    title: Option<&'a str>,
    passed: bool,
    needed: &'a [CheckKind],
    gaps: Vec<GapRow<'a>>,
    verdict: &'a SessionVerdict,
}

/// A gap as JSON.
#[derive(Serialize)]
struct GapRow<'a> {
    text: String,
    #[serde(flatten)]
    gap: &'a VerifyGap,
}

pub(crate) fn run(args: &LogArgs, own: &VerifyArgs) -> anyhow::Result<ExitCode> {
    if !own.stop_hook {
        let policy = policy(own)?;
        let answer = verify(args, &Reference::parse(&own.wanted), None, &policy, |answer| answer.print(args))?;
        return Ok(if answer { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    // Exit status 2 would keep the agent going, so a hook that cannot do its work ends with 1, which agents show and go on.
    match policy(own).and_then(|policy| hook(args, &policy)) {
        Ok(code) => Ok(code),
        Err(error) => {
            out::complain(&error);
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The policy of the configuration file, with the arguments above it.
fn policy(own: &VerifyArgs) -> anyhow::Result<VerifyPolicy> {
    let mut policy = Config::read()?.verify;
    if !own.require.is_empty() {
        policy.require = Some(own.require.clone());
    }
    policy.reported |= own.accept_reported;
    policy.ignore.extend(config::patterns(&own.ignore).map_err(|wrong| anyhow::anyhow!("`--ignore` {wrong}"))?);
    Ok(policy)
}

/// Answers as a Stop hook.
fn hook(args: &LogArgs, policy: &VerifyPolicy) -> anyhow::Result<ExitCode> {
    let mut input = Vec::new();
    std::io::stdin().lock().take(HOOK_INPUT).read_to_end(&mut input).context("cannot read the input of the hook")?;
    let hook = StopHook::read(&input).context("standard input is no input of a Stop hook")?;
    let passed = verify(args, &Reference::File(hook.log), hook.said.as_deref(), policy, |answer| {
        answer.gaps.gaps.iter().for_each(|gap| out::remark(&format!("tooltrail verify: {}", gap_text(gap))));
        if !answer.gaps.passed() && !hook.again {
            out::remark(&"Run what is missing, so that its own exit code is recorded, before you say that it is done.");
        }
        Ok(())
    })?;
    // An agent that a hook has kept going once is let go, or it would never end where a check cannot be run.
    Ok(if passed || hook.again { ExitCode::SUCCESS } else { ExitCode::from(KEEP_GOING) })
}

/// Verifies a session and shows the answer; returns whether nothing is missing. `said`: its last answer, where the log may not have it yet.
fn verify(
    args: &LogArgs,
    wanted: &Reference,
    said: Option<&str>,
    policy: &VerifyPolicy,
    show: impl FnOnce(&VerifyAnswer<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<bool> {
    let logs = logs::open_for(args, wanted)?;
    logs.require_any()?;
    let linked = logs.link();
    let sessions = match wanted.find(&linked, &logs.now)? {
        Target::Sessions(sessions) => sessions,
        Target::Call(session, _) => vec![session],
    };
    if sessions.is_empty() {
        bail!("there is no session");
    }
    let book = SessionBook::read(&linked, &sessions, &logs.now, logs.disk(), None);
    let mut digest = digest::of(&book, &Selection::default());
    // An agent asks its hooks before the last answer is in the log.
    if let Some(said) = said {
        digest.claims = claims::find(said);
    }
    let verdict = SessionVerdict::of(&digest);
    let gaps = Verification::of(&digest, &verdict, policy);
    show(&VerifyAnswer { book: &book, verdict: &verdict, gaps: &gaps })?;
    Ok(gaps.passed())
}

/// The answer about a session.
struct VerifyAnswer<'a> {
    book: &'a dyn Book,
    verdict: &'a SessionVerdict,
    gaps: &'a Verification,
}

impl VerifyAnswer<'_> {
    fn print(&self, args: &LogArgs) -> anyhow::Result<()> {
        let session = &self.book.transcript().session;
        let passed = self.gaps.passed();
        if args.json {
            let gaps = self.gaps.gaps.iter().map(|gap| GapRow { text: gap_text(gap), gap }).collect();
            let (agent, title, needed) = (session.agent, session.title, self.gaps.needed.as_slice());
            let row = VerifyRow { v: VERSION, agent, session: session.session, title, passed, needed, gaps, verdict: self.verdict };
            return out::json_lines([row]);
        }
        let mut out = out::stdout(args.color.as_str());
        let (sign, style) = out::look(if passed { Status::Succeeded } else { Status::Failed });
        let dim = out::DIM;
        let title = neutral(session.title.unwrap_or_default());
        writeln!(
            out,
            "{style}{sign} {}{style:#}  {dim}{} {title}{dim:#}",
            if passed { "verified" } else { "not verified" },
            neutral(session.short)
        )?;
        for gap in &self.gaps.gaps {
            writeln!(out, "  {}", neutral(&gap_text(gap)))?;
        }
        if passed {
            writeln!(out, "  {}", neutral(&self.passed()))?;
        }
        let example = self.gaps.gaps.iter().find_map(|gap| gap.run.as_ref());
        if let Some(run) = example {
            writeln!(out, "{dim}#{} in full: tooltrail show {}{dim:#}", run.cited.number, neutral(&run.cited.r#ref))?;
        }
        out.flush()?;
        Ok(())
    }

    /// What passed, in words.
    fn passed(&self) -> String {
        let ran = |kind: &CheckKind| {
            let run = self.verdict.check(*kind).run.as_ref()?;
            Some(format!("`{}` passed: #{}", run.command, run.cited.number))
        };
        let ran: Vec<String> = self.gaps.needed.iter().filter_map(ran).collect();
        if ran.is_empty() { "nothing was edited that needs a check".to_owned() } else { ran.join(", ") }
    }
}
