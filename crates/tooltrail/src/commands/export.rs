//! `export`: a session as one file to share.

use super::show::{check_turns, turns};
use crate::changes::{self, Which};
use crate::cli::LogArgs;
use crate::output_file::{self, Existing};
use crate::refs::{Target, Wanted};
use crate::{logs, out, table};
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use std::cell::Cell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tooltrail_formats::transcript::{Private, SessionBook};
use tooltrail_formats::value::Change;
use tooltrail_model::book::{Book, Selection};
use tooltrail_view::redact::Redactor;
use tooltrail_view::render::markdown::{self, pr};
use tooltrail_view::render::{html, json};

const EXAMPLES: &str = "\
Examples:
  tooltrail export last -o session.html        one file that works offline
  tooltrail export 3f2a -o session.html.gz     the same, compressed
  tooltrail export 3f2a --to md > session.md
  tooltrail export last --to pr | gh pr edit --body-file -
  tooltrail export 3f2a --turns 3..5 -o part.html
  tooltrail export session.jsonl --to json -o session.json
  tooltrail export 3f2a -o session.patch      what it changed, for `git apply`
  tooltrail export 3f2a --no-redact -o all.html";

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    /// A session: its id or the beginning of it, `last`, or a file
    #[arg(value_name = "REF")]
    wanted: String,
    /// The format [default: by the name of the file, else HTML]
    #[arg(long, value_name = "FORMAT", value_enum)]
    to: Option<To>,
    /// The file to write, replaced if it is there; `-` for standard output
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only these turns, as in `3` or `3..5`
    #[arg(long, value_name = "N..M", value_parser = turns)]
    turns: Option<(usize, usize)>,
    /// HTML without scripts, never packed
    #[arg(long)]
    plain: bool,
    /// Markdown: which calls are shown in full
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Bodies::Telling)]
    bodies: Bodies,
    /// Keep keys, tokens, passwords, e-mail addresses and home directories, which are taken out otherwise
    #[arg(long)]
    no_redact: bool,
}

/// A format to share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum To {
    /// One file for a browser.
    Html,
    /// Text for a document or a comment.
    Md,
    /// Markdown for a pull request: the digest, prompts, changes and failures, the rest folded; under 60,000 characters.
    Pr,
    /// For programs.
    Json,
    /// What it changed in files, for `git apply` or `patch -p1`.
    Patch,
}

/// Which calls are shown in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Bodies {
    /// All of them.
    All,
    /// What went wrong, and edits.
    Telling,
    /// None.
    None,
}

pub(crate) fn run(args: &LogArgs, own: &ExportArgs) -> anyhow::Result<ExitCode> {
    let to = format(args, own)?;
    let output = output_file::path(own.output.as_deref());
    if output.is_none() && to == To::Html && io::stdout().is_terminal() {
        bail!("a page is no text for a terminal; add `-o session.html`");
    }
    let wanted = Wanted::parse(&own.wanted);
    let logs = logs::open_for(args, &wanted)?;
    logs.require_any()?;
    let linked = logs.link();
    let sessions = match wanted.find(&linked, &logs.now)? {
        Target::Sessions(sessions) => sessions,
        Target::Call(..) => bail!("`{}` is a call; name its session, or use `tooltrail show {} --json`", own.wanted, own.wanted),
    };
    let home = std::env::home_dir().map(|home| home.to_string_lossy().into_owned());
    let user = std::env::var("USER").or_else(|_| std::env::var("USERNAME")).ok();
    let redactor = Redactor::new(home.as_deref(), user.as_deref());
    let change = |text: String| redactor.text(text);
    let words = typed_arena::Arena::new();
    // A patch is made of texts as they are; what should not be seen is taken out of it afterwards.
    let private = (!own.no_redact && to != To::Patch).then_some(Private { change: &change, words: &words });
    let book = SessionBook::read(&linked, &sessions, &logs.now, logs.shelf(), private);
    let selection = Selection { turns: own.turns };
    check_turns(&book, &selection)?;
    let which = Which { selection: selection.clone(), call: None };
    let taking: Option<&Change<'_>> = if own.no_redact { None } else { Some(&change) };
    let empty = Cell::new(false);
    let write = |out: &mut dyn Write| match to {
        To::Patch => changes::patch(&book, &which, taking, out).map(|any| empty.set(!any)),
        To::Pr => {
            // Changes are found in texts as they are, like those of a patch.
            let whole = SessionBook::read(&linked, &sessions, &logs.now, logs.shelf(), None);
            let options = pr::PullRequestOptions { selection: selection.clone(), note: note(own) };
            changes::sections(&whole, &which, taking, &pr::CHANGE, |changes| pr::session(&book, changes, &options, out))
        }
        to => write(&book, to, own, selection.clone(), out),
    };
    let mut written = None;
    match output {
        Some(path) => {
            let bytes = to_file(path, write).with_context(|| format!("cannot write `{}`", path.display()))?;
            written = Some((path, bytes));
        }
        // A terminal acts on what it is sent, and a patch is made of texts as they are.
        None if to == To::Patch && io::stdout().is_terminal() => {
            let mut patch = Vec::new();
            write(&mut patch)?;
            io::stdout().lock().write_all(tooltrail_view::line::neutral_text(&String::from_utf8_lossy(&patch)).as_bytes())?;
        }
        None => {
            let mut out = BufWriter::with_capacity(256 * 1024, io::stdout().lock());
            write(&mut out)?;
            out.flush()?;
        }
    }
    if empty.get() {
        out::remark(&"the patch is empty: no edit that succeeded changed a file; commands may have, and `tooltrail show` lists them");
    }
    report(&book, written, &redactor, own.no_redact);
    if to == To::Patch && !own.no_redact && !redactor.taken().is_empty() {
        out::remark(&"a patch that something was taken out of may not apply; --no-redact keeps it whole");
    }
    Ok(ExitCode::SUCCESS)
}

/// The format that was asked for, or that the name of the file means.
fn format(args: &LogArgs, own: &ExportArgs) -> anyhow::Result<To> {
    if let Some(to) = own.to {
        return Ok(to);
    }
    if args.json {
        return Ok(To::Json);
    }
    let name = own.output.as_ref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html" | "htm") | None => Ok(To::Html),
        Some("md" | "markdown") => Ok(To::Md),
        Some("json") => Ok(To::Json),
        Some("patch" | "diff") => Ok(To::Patch),
        Some(other) => bail!("`.{other}` is no format that is known; say `--to html`, `--to md`, `--to pr`, `--to json` or `--to patch`"),
    }
}

fn write(book: &dyn Book, to: To, own: &ExportArgs, selection: Selection, out: &mut dyn Write) -> io::Result<()> {
    match to {
        To::Html => html::session(book, &html::HtmlOptions { selection, plain: own.plain, note: note(own) }, out),
        To::Md => {
            let bodies = match own.bodies {
                Bodies::All => markdown::ShownBodies::All,
                Bodies::Telling => markdown::ShownBodies::Telling,
                Bodies::None => markdown::ShownBodies::None,
            };
            markdown::session(book, &markdown::MarkdownOptions { selection, bodies }, out)
        }
        To::Json => json::session(book, &json::JsonOptions { selection, ..json::JsonOptions::default() }, out),
        // Written from texts as they are.
        To::Patch | To::Pr => Ok(()),
    }
}

/// What a shared file says about secrets.
fn note(own: &ExportArgs) -> Option<String> {
    (!own.no_redact).then(|| "Secrets, e-mail addresses and home directories were taken out before this was written.".to_owned())
}

/// Writes a session to a file, compressed if its name says so.
fn to_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<u64> {
    let compressed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    output_file::write(path, Existing::Replace, |out| {
        if !compressed {
            return write(out);
        }
        let mut packer = flate2::write::GzEncoder::new(out, flate2::Compression::default());
        write(&mut packer)?;
        packer.finish()?;
        Ok(())
    })
}

/// So many of what was taken out: `2 passwords in urls`, `3 basic credentials`.
fn several(number: u64, what: &str) -> String {
    match what.split_once(" in ") {
        Some((what, place)) => format!("{} in {place}{}", several(number, what), if number == 1 { "" } else { "s" }),
        None if what.ends_with("credentials") => format!("{} {what}", table::count(number)),
        None => tooltrail_view::head::counted(number, what),
    }
}

/// Says what was written and what was taken out of it, beside the output.
fn report(book: &dyn Book, written: Option<(&Path, u64)>, redactor: &Redactor, kept: bool) {
    if let Some((path, bytes)) = written {
        let calls = table::counted(book.transcript().calls.len() as u64, "call");
        out::remark(&format!("wrote {} ({calls}, {})", path.display(), tooltrail_view::head::size(bytes)));
    }
    let taken: Vec<String> = redactor.taken().into_iter().map(|(what, count)| several(count, what)).collect();
    if kept {
        out::remark(&"nothing was redacted; look through it before you share it");
    } else if taken.is_empty() {
        out::remark(&"found nothing to redact; look through it before you share it");
    } else {
        out::remark(&format!("redacted: {}; look through it before you share it, or keep all with --no-redact", taken.join(", ")));
    }
}
