//! `export`: a session as one file to share.

use super::show::{check_turns, turns};
use crate::cli::LogArgs;
use crate::logs::Logs;
use crate::output_file::{self, Existing};
use crate::refs::Target;
use crate::{logs, out, picker, table};
use anyhow::{Context, anyhow, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::cell::OnceCell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tooltrail_formats::changes::report::{CallSelection, SessionEdits};
use tooltrail_formats::transcript::{Private, SessionBook};
use tooltrail_formats::value::RedactFn;
use tooltrail_model::book::{Book, Selection};
use tooltrail_model::link::Linked;
use tooltrail_model::visible::neutral_path;
use tooltrail_redact::Redactor;
use tooltrail_view::render::markdown;
use tooltrail_view::render::outputs::{self, Export, ExportOptions, OUTPUTS, Output, OutputSource, TerminalRule};

const EXAMPLES: &str = "\
Examples:
  tooltrail export last -o session.html        one file that works offline
  tooltrail export 3f2a -o session.html.gz     the same, compressed
  tooltrail export 3f2a --to md > session.md
  tooltrail export last --to pr | gh pr edit --body-file -
  tooltrail export 3f2a --turns 3..5 -o part.html
  tooltrail export session.jsonl --to json -o session.json
  tooltrail export 3f2a -o session.patch      its changes, for `git apply`
  tooltrail export 3f2a --no-redact -o all.html";

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    /// A session: its id or a prefix of it, `last` (the newest of this directory's project), or a file (`help refs`)
    #[arg(value_name = "REF", required_unless_present = "pick")]
    wanted: Option<String>,
    /// Choose the session from a list
    #[arg(short = 'i', long, conflicts_with = "wanted")]
    pick: bool,
    /// Output format [default: from the file name, else HTML]
    #[arg(long, value_name = "FORMAT", value_parser = output_parser())]
    to: Option<&'static Output>,
    /// Output file, replaced if it exists; `-` for standard output
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only these turns, as in `3` or `3..5`
    #[arg(long, value_name = "N..M", value_parser = turns)]
    turns: Option<(usize, usize)>,
    /// HTML without scripts and without compressed parts
    #[arg(long)]
    plain: bool,
    /// Markdown: which calls to show in full
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Bodies::Telling)]
    bodies: Bodies,
    /// With `--to pr`: the maximum number of characters, from 2,000 to 60,000 [default: 8,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2_000..=60_000).map(|number| number as usize))]
    max: Option<usize>,
    /// Do not redact keys, tokens, passwords, e-mail addresses and home directories
    #[arg(long)]
    no_redact: bool,
}

/// Parser for the name of an output. `--help` lists the names from the table of outputs.
fn output_parser() -> impl TypedValueParser<Value = &'static Output> {
    let known = OUTPUTS.iter().map(|output| PossibleValue::new(output.name).help(output.description));
    PossibleValuesParser::new(known).try_map(|name| Output::named(&name).ok_or("unknown format"))
}

/// Which calls are shown in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Bodies {
    /// All of them.
    All,
    /// Failures and edits.
    Telling,
    /// None.
    None,
}

pub(crate) fn run(args: &LogArgs, own: &ExportArgs) -> anyhow::Result<ExitCode> {
    let to = wanted_output(args, own)?;
    if own.max.is_some() && to.name != "pr" {
        bail!("--max is for `--to pr`; other formats have the whole session");
    }
    let output = output_file::path(own.output.as_deref());
    // Before any log is read: reading may take seconds.
    if output.is_none() && to.terminal == TerminalRule::Refuse && io::stdout().is_terminal() {
        bail!("refusing to print HTML to a terminal; use `-o session.{}`", to.ending());
    }
    let wanted = own.wanted.as_deref().unwrap_or("last");
    let Some(reference) = picker::reference(args, wanted, own.pick)? else { return Ok(ExitCode::from(130)) };
    let logs = logs::open_for(args, &reference)?;
    logs.require_any()?;
    let linked = logs.link();
    let sessions = match reference.find(&linked, &logs.now)? {
        Target::Sessions(sessions) => sessions,
        Target::Call(..) => bail!("`{wanted}` is a call; give its session, or use `tooltrail show {wanted} --json`"),
    };
    let redactor = redactor();
    let change = |text: String| redactor.text(text);
    let redaction: Option<&RedactFn<'_>> = if own.no_redact { None } else { Some(&change) };
    let read = |private| SessionBook::read(&linked, &sessions, &logs.now, logs.disk(), private);
    if redaction.is_some() {
        learn(&redactor, &linked, &sessions, &logs).context("cannot read the session")?;
    }
    let words = typed_arena::Arena::new();
    // Changes are computed from the original texts and redacted afterwards: a redacted text may not match the edits that follow it. The
    // original session is read only if the output needs it.
    let whole = OnceCell::new();
    let original = || whole.get_or_init(|| read(None));
    let redacted;
    let book: &SessionBook<'_> = match to.source {
        OutputSource::Changes => original(),
        OutputSource::Session => {
            redacted = read(redaction.map(|change| Private { change, words: &words }));
            &redacted
        }
    };
    let options = options(own);
    check_turns(book, &options.selection)?;
    let which = CallSelection { selection: options.selection.clone(), call: None };
    let changes = SessionEdits { book: &original, which: &which, change: redaction };
    let export = Export { book, changes: &changes, options: &options };
    let ExportSize { length, file } = write(to, &export, output)?;
    let is_patch = to.source == OutputSource::Changes;
    if length == 0 && is_patch {
        out::remark(&"the patch is empty: no successful edit changed a file; commands may have, see `tooltrail show`");
    }
    report(book, output.zip(file), &redactor, own.no_redact);
    if is_patch && !own.no_redact && !redactor.taken().is_empty() {
        out::remark(&"a redacted patch may not apply; --no-redact leaves it unchanged");
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows the redactor every text of the session before the first is written: a secret that is recognised at one place is redacted at
/// all others, in those before it and in titles too.
fn learn(redactor: &Redactor, linked: &Linked<'_>, sessions: &[usize], logs: &Logs) -> io::Result<()> {
    let (words, change) = (typed_arena::Arena::new(), |text: String| redactor.text(text));
    let private = Private { change: &change, words: &words };
    outputs::read_through(&SessionBook::read(linked, sessions, &logs.now, logs.disk(), Some(private)))?;
    redactor.restart_counts();
    Ok(())
}

/// The redactor for this machine: besides secrets it removes the home directory and the user's name, which no pattern can know.
fn redactor() -> Redactor {
    let home = std::env::home_dir().map(|home| home.to_string_lossy().into_owned());
    // `USERNAME` is the variable on Windows.
    let user = std::env::var("USER").or_else(|_| std::env::var("USERNAME")).ok();
    Redactor::new(home.as_deref(), user.as_deref())
}

/// The output of `--to`, else the one for the ending of the file name.
fn wanted_output(args: &LogArgs, own: &ExportArgs) -> anyhow::Result<&'static Output> {
    if let Some(to) = own.to {
        return Ok(to);
    }
    let name = own.output.as_ref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    // `session.html.gz` is HTML; the file is compressed when it is written.
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let ending = if args.json { "json" } else { name.rsplit_once('.').map_or("html", |(_, ending)| ending) };
    Output::of_ending(ending).ok_or_else(|| {
        let known: Vec<String> = OUTPUTS.iter().map(|output| format!("`--to {}`", output.name)).collect();
        let (last, others) = known.split_last().map_or(("", &known[..]), |(last, others)| (last.as_str(), others));
        anyhow!("unknown format `.{ending}`; use {} or {last}", others.join(", "))
    })
}

/// Options of the output according to the arguments.
fn options(own: &ExportArgs) -> ExportOptions {
    let bodies = match own.bodies {
        Bodies::All => markdown::ShownBodies::All,
        Bodies::Telling => markdown::ShownBodies::Telling,
        Bodies::None => markdown::ShownBodies::None,
    };
    ExportOptions { selection: Selection { turns: own.turns }, plain: own.plain, bodies, note: note(own), most: own.max }
}

/// The size of an export.
struct ExportSize {
    /// Bytes of the output.
    length: u64,
    /// Bytes of the file, which may be compressed; `None` for standard output.
    file: Option<u64>,
}

/// Writes an output into a file or to standard output.
fn write(to: &Output, export: &Export<'_>, path: Option<&Path>) -> anyhow::Result<ExportSize> {
    let (mut length, mut file) = (0, None);
    let mut write = |out: &mut dyn Write| {
        let mut out = Counting { out, written: &mut length };
        (to.write)(export, &mut out)
    };
    match path {
        Some(path) => file = Some(to_file(path, write).with_context(|| format!("cannot write `{}`", neutral_path(path)))?),
        // A patch contains texts of the session unchanged, and a terminal would act on control characters in them.
        None if to.terminal == TerminalRule::Neutralise && io::stdout().is_terminal() => {
            let mut patch = Vec::new();
            write(&mut patch)?;
            out::data().write_all(tooltrail_view::line::neutral_text(&String::from_utf8_lossy(&patch)).as_bytes())?;
        }
        None => {
            let mut out = BufWriter::with_capacity(256 * 1024, out::data());
            write(&mut out)?;
            out.flush()?;
        }
    }
    Ok(ExportSize { length, file })
}

/// A writer that counts bytes, so that an empty output is noticed.
struct Counting<'o> {
    out: &'o mut dyn Write,
    written: &'o mut u64,
}

impl Write for Counting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.out.write(bytes)?;
        *self.written += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Note about redaction for the shared file.
fn note(own: &ExportArgs) -> Option<String> {
    (!own.no_redact).then(|| "Secrets, e-mail addresses and home directories were redacted.".to_owned())
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
        // Dropping the encoder would finish it too, but hide an error such as a full disk.
        packer.finish()?;
        Ok(())
    })
}

/// A number of redacted items with the right plural: `2 passwords in urls`, `3 basic credentials`.
fn several(number: u64, what: &str) -> String {
    match what.split_once(" in ") {
        Some((what, place)) => format!("{} in {place}{}", several(number, what), if number == 1 { "" } else { "s" }),
        None if what.ends_with("credentials") => format!("{} {what}", table::count(number)),
        None => tooltrail_view::head::counted(number, what),
    }
}

/// Reports on standard error what was written and redacted. Standard output may be the export itself.
fn report(book: &dyn Book, written: Option<(&Path, u64)>, redactor: &Redactor, kept: bool) {
    if let Some((path, bytes)) = written {
        let calls = table::counted(book.transcript().calls.len() as u64, "call");
        out::remark(&format!("wrote {} ({calls}, {})", neutral_path(path), tooltrail_view::head::size(bytes)));
    }
    let taken: Vec<String> = redactor.taken().into_iter().map(|(what, count)| several(count, what)).collect();
    if kept {
        out::remark(&"nothing was redacted; review the file before you share it");
    } else if taken.is_empty() {
        out::remark(&"found nothing to redact; review the file before you share it");
    } else {
        out::remark(&format!("redacted: {}; review the file before you share it; --no-redact turns redaction off", taken.join(", ")));
    }
}
