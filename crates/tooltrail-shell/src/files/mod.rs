//! Effects of a command line on files: which files its simple commands write, with which text, and whether they surely ran.
//!
//! The walk follows the tree of the parser in the order in which a shell would run it, with the directory that literal `cd`s lead to.
//! `programs` says what each program does to the files that it names, `literal` which words every shell takes the same way, `printed` what
//! `echo` and `printf` print, `diffs` takes patches apart. Whatever is not certain is left out, and [`ShellFiles::complete`] says so.

mod diffs;
mod literal;
mod printed;
mod programs;
mod redirects;

use crate::exit_codes::ShellOptions;
use crate::limits;
use crate::plain::{PlainToken, tokenize};
use crate::purpose_tables::listed;
use crate::understand;
use crate::words::{substitutions, unquote};
use crate::wrappers::program;
use brush_parser::ast::{
    AndOrList, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList, Pipeline, PipelineOperator, Program,
    SeparatorOperator, SimpleCommand as ParsedCommand,
};
use brush_parser::{ParserOptions, parse_tokens, uncached_tokenize_str};
use literal::{is_rooted, joined, literal};
use redirects::{CommandInput, Redirects};
use tooltrail_model::changes::{Certainty, FedText, FileOp, ShellEffect, ShellFiles};

/// The most effects of one command line that are kept.
const MOST: usize = 2000;

/// The effects of a command line on files, if it succeeds; `None` where it cannot be read.
pub fn files(command: &str) -> Option<ShellFiles> {
    // Most lines are plain and name no such program; the parser would take many times as long to say so.
    let concerns = |tokens: Vec<PlainToken<'_>>| tokens.iter().filter_map(PlainToken::word).any(|word| listed(PROGRAMS, program(word)));
    if tokenize(command).is_some_and(|tokens| !concerns(tokens)) {
        let complete = understand(command).is_some_and(|line| !line.may_change_files);
        return Some(ShellFiles { complete, ..ShellFiles::default() });
    }
    let mut walk = FileWalk { files: ShellFiles { complete: true, ..ShellFiles::default() }, ..FileWalk::default() };
    walk.text(command, Certainty::Proven, 0)?;
    let mut files = walk.files;
    if walk.commands != 1 {
        files.prints = None;
    }
    Some(files)
}

/// Programs that matter to a line without redirections.
const PROGRAMS: &str = "cat tee sed gsed perl ruby rm unlink mv cp touch truncate git patch bash sh zsh dash apply_patch applypatch";
/// Programs that print a message when they fail, so that silence is a sign of success.
const LOUD: &[&str] =
    &["cd", "mkdir", "rm", "mv", "cp", "touch", "chmod", "ln", "cat", "tee", "echo", "printf", "true", ":", "sed", "export", "ls", "pwd"];

/// A walk over a command line.
#[derive(Default)]
struct FileWalk {
    files: ShellFiles,
    shell: ShellState,
    /// The number of simple commands that do more than change the directory.
    commands: usize,
}

/// State of a shell, which ends with it.
#[derive(Clone, Debug)]
struct ShellState {
    /// The directory that it changed to; empty at the beginning, `None` where it cannot be known.
    directory: Option<String>,
    /// Whether it surely is in that directory.
    arrived: Certainty,
    errexit: bool,
    /// Whether redirections refuse to overwrite files.
    keeps: bool,
    /// Whether it may have ended already.
    ended: bool,
    /// Whether its end is not that of the command line.
    inner: bool,
    /// Whether messages of its commands are not in the output of the command line.
    silent: bool,
    functions: Vec<String>,
}

impl Default for ShellState {
    fn default() -> Self {
        ShellState {
            directory: Some(String::new()),
            arrived: Certainty::Proven,
            errexit: false,
            keeps: false,
            ended: false,
            inner: false,
            silent: false,
            functions: Vec::new(),
        }
    }
}

/// A simple command, ready to be looked at.
struct SimpleRun<'r> {
    /// Its words as written.
    written: Vec<String>,
    /// The words behind wrappers such as `sudo`; `None` for one that a shell would expand.
    words: Vec<Option<String>>,
    redirects: Redirects,
    /// The text on its standard input.
    input: CommandInput,
    /// Certainty that its redirections happened.
    opened: Certainty,
    /// Certainty that it did what it does.
    certainty: Certainty,
    depth: usize,
    /// The command, for evidence.
    text: &'r str,
}

impl FileWalk {
    fn text(&mut self, text: &str, certainty: Certainty, depth: usize) -> Option<()> {
        let program = parsed(text, depth)?;
        let last = program.complete_commands.len().saturating_sub(1);
        for (place, list) in program.complete_commands.iter().enumerate() {
            self.list(list, certainty, place == last, depth);
        }
        Some(())
    }

    /// Walks a list. `last` says whether nothing follows it that decides about the outcome.
    fn list(&mut self, list: &CompoundList, certainty: Certainty, last: bool, depth: usize) {
        for (place, item) in list.0.iter().enumerate() {
            if matches!(item.1, SeparatorOperator::Async) {
                self.apart(|walk| walk.chain(&item.0, Certainty::Maybe, depth));
                continue;
            }
            let decides = last && place + 1 == list.0.len();
            // Under `set -e` every single command has to succeed.
            let stops = self.shell.errexit && item.0.additional.is_empty();
            let certainty = if decides || stops { certainty } else { certainty.min(Certainty::Ran) };
            self.chain(&item.0, certainty, depth);
        }
    }

    fn chain(&mut self, list: &AndOrList, certainty: Certainty, depth: usize) {
        let links: Vec<(bool, &Pipeline)> =
            list.into_iter().map(|(operator, pipeline)| (matches!(operator, PipelineOperator::Or), pipeline)).collect();
        let (mut links, mut certainty) = (&*links, certainty);
        // `cd x || exit 1`: the line succeeded, so that the left side did.
        if let Some(((true, last), before)) = links.split_last()
            && !self.shell.inner
            && certainty != Certainty::Maybe
            && before.iter().skip(1).all(|(or, _)| !or)
            && ends_with_failure(last)
        {
            (links, certainty) = (before, Certainty::Proven);
        }
        let or = |(or, _): &(bool, &Pipeline)| *or;
        let (first, last) = (links.iter().skip(1).position(or).map(|at| at + 1), links.iter().skip(1).rposition(or).map(|at| at + 1));
        let mut loud = true;
        for (place, (_, pipeline)) in links.iter().enumerate() {
            let reached = if place == 0 || loud { certainty.min(Certainty::Ran) } else { Certainty::Maybe };
            let own = match (first, last) {
                _ if certainty == Certainty::Maybe => Certainty::Maybe,
                (None, _) | (_, None) if certainty == Certainty::Proven => Certainty::Proven,
                (None, _) | (_, None) => reached,
                (Some(first), _) if place < first => reached,
                // Behind the last `||` all links have succeeded, if the chain has.
                (_, Some(last)) if place > last && certainty == Certainty::Proven => Certainty::Proven,
                _ => Certainty::Maybe,
            };
            loud &= is_loud(pipeline);
            self.pipeline(pipeline, own, depth);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, certainty: Certainty, depth: usize) {
        // A negated command succeeded by failing.
        let certainty = if pipeline.bang { Certainty::Maybe } else { certainty };
        let [only] = &*pipeline.seq else {
            let last = pipeline.seq.len().saturating_sub(1);
            let mut input = CommandInput::Unknown;
            for (place, command) in pipeline.seq.iter().enumerate() {
                let own = if place == last { certainty } else { certainty.min(Certainty::Ran) };
                let given = if place == 0 { CommandInput::None } else { std::mem::replace(&mut input, CommandInput::Unknown) };
                let printed = self.apart(|walk| {
                    // A message in a pipe may not come out of it.
                    walk.shell.silent |= place != last && merges_errors(command);
                    walk.command(command, given, own, depth)
                });
                input = printed.map_or(CommandInput::Unknown, CommandInput::Text);
            }
            self.commands += 1;
            return;
        };
        self.command(only, CommandInput::None, certainty, depth);
    }

    /// Walks something that runs in a shell of its own.
    fn apart<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.shell.clone();
        self.shell.inner = true;
        let done = walk(self);
        self.shell = outer;
        done
    }

    /// Walks a command, and gives the text that it surely prints.
    fn command(&mut self, command: &Command, input: CommandInput, certainty: Certainty, depth: usize) -> Option<String> {
        let certainty = if self.shell.ended { Certainty::Maybe } else { certainty };
        match command {
            Command::Simple(simple) => return self.simple(simple, input, certainty, depth),
            Command::Compound(compound, redirects) => {
                let redirects = Redirects::of(redirects.iter().flat_map(|list| &list.0));
                self.files.complete &= redirects.certain;
                let silent = self.shell.silent;
                self.shell.silent |= redirects.hide_errors();
                self.compound(compound, certainty, depth);
                self.shell.silent = silent;
                for target in redirects.outputs.iter().chain(&redirects.others) {
                    self.touch(target.path.as_deref(), certainty, "");
                }
                self.commands += 1;
            }
            Command::Function(function) => {
                self.shell.functions.push(function.fname.value.clone());
                let body = &function.body.0;
                self.apart(|walk| walk.compound(body, Certainty::Maybe, depth));
            }
            Command::ExtendedTest(..) => self.commands += 1,
        }
        None
    }

    fn compound(&mut self, command: &CompoundCommand, certainty: Certainty, depth: usize) {
        // The bodies of loops and choices may run or not.
        let maybe = |walk: &mut Self, list: &CompoundList| {
            let before = walk.shell.directory.clone();
            walk.list(list, Certainty::Maybe, false, depth);
            if walk.shell.directory != before {
                walk.shell.directory = None;
            }
        };
        match command {
            CompoundCommand::BraceGroup(group) => self.list(&group.list, certainty, true, depth),
            CompoundCommand::Subshell(shell) => self.apart(|walk| walk.list(&shell.list, certainty, true, depth)),
            CompoundCommand::ForClause(clause) => maybe(self, &clause.body.list),
            CompoundCommand::ArithmeticForClause(clause) => maybe(self, &clause.body.list),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                maybe(self, &clause.0);
                maybe(self, &clause.1.list);
            }
            CompoundCommand::IfClause(clause) => {
                maybe(self, &clause.condition);
                maybe(self, &clause.then);
                for other in clause.elses.iter().flatten() {
                    other.condition.iter().for_each(|condition| maybe(self, condition));
                    maybe(self, &other.body);
                }
            }
            CompoundCommand::CaseClause(clause) => {
                clause.cases.iter().filter_map(|case| case.cmd.as_ref()).for_each(|body| maybe(self, body));
            }
            CompoundCommand::Coprocess(process) => {
                self.apart(|walk| walk.command(&process.body, CommandInput::Unknown, Certainty::Maybe, depth));
            }
            CompoundCommand::Arithmetic(_) => {}
        }
    }

    fn simple(&mut self, simple: &ParsedCommand, input: CommandInput, certainty: Certainty, depth: usize) -> Option<String> {
        let before = || simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let behind = || simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let redirects = Redirects::of(before().chain(behind()).filter_map(|item| match item {
            Item::IoRedirect(redirect) => Some(redirect),
            _ => None,
        }));
        let word = |item: &Item| match item {
            Item::IoRedirect(_) => None,
            Item::Word(word) | Item::AssignmentWord(_, word) => Some(word.value.clone()),
            Item::ProcessSubstitution(kind, shell) => Some(format!("{kind}({})", shell.list)),
        };
        let assigned: Vec<String> = before().filter_map(word).collect();
        let written: Vec<String> = simple.word_or_name.iter().map(|name| name.value.clone()).chain(behind().filter_map(word)).collect();
        let substitutes = assigned.iter().chain(&written).flat_map(|word| substitutions(word));
        self.files.complete &= redirects.certain && !substitutes.into_iter().any(|text| may_write(text, depth));
        let text = written.join(" ");
        let plain: Vec<String> = written.iter().map(|word| unquote(word)).collect();
        let own = programs::behind(&plain);
        let hidden = plain.len() - own.map_or(plain.len(), <[String]>::len);
        let words = written.iter().skip(hidden).map(|word| literal(word)).collect();
        let input = if matches!(redirects.input, CommandInput::None) { input } else { redirects.input.clone() };
        // If a failure would leave no message, its absence proves nothing.
        let hidden = certainty == Certainty::Ran && (self.shell.silent || redirects.hide_errors());
        let opened = if self.shell.silent && hidden { Certainty::Maybe } else { certainty };
        let certainty = if hidden { Certainty::Maybe } else { certainty };
        let run = SimpleRun { written, words, redirects, input, opened, certainty, depth, text: &text };
        // Wrappers that are not known hide what runs, and where.
        let known = own.is_some() && !self.shadows(&run);
        self.run(&run, known, &assigned)
    }

    fn shadows(&self, run: &SimpleRun<'_>) -> bool {
        let name = run.words.first().and_then(Option::as_deref);
        name.is_some_and(|name| self.shell.functions.iter().any(|function| function == name))
    }

    /// Adds an effect on a file.
    fn add(&mut self, path: &str, op: FileOp, certainty: Certainty, command: &str) {
        let certainty = if self.shell.ended { Certainty::Maybe } else { certainty };
        // A directory is no file, and a device has no text.
        if path.is_empty() || path.ends_with('/') || path.starts_with("/dev/") || self.files.effects.len() >= MOST {
            return;
        }
        let rooted =
            |path: &str| if is_rooted(path) { Some(path.to_owned()) } else { Some(joined(self.shell.directory.as_deref()?, path)) };
        let op = match op {
            FileOp::Move { to } => rooted(&to).map(|to| FileOp::Move { to }),
            FileOp::Copy { from } => rooted(&from).map(|from| FileOp::Copy { from }),
            FileOp::Patch(mut patch) => {
                patch.moved_to = patch.moved_to.and_then(|to| rooted(&to));
                Some(FileOp::Patch(patch))
            }
            op => Some(op),
        };
        let (Some(whole), Some(op)) = (rooted(path), op) else {
            self.files.complete = false;
            return;
        };
        let certainty = if is_rooted(path) { certainty } else { certainty.min(self.shell.arrived) };
        self.files.complete &= certainty != Certainty::Maybe && op != FileOp::Doubt;
        self.files.effects.push(ShellEffect { path: whole, op, certainty, command: command.to_owned() });
    }

    /// Adds a change to a text that the line does not have; `None` for a file that it does not name.
    fn touch(&mut self, path: Option<&str>, certainty: Certainty, command: &str) {
        match path {
            Some(path) => self.add(path, FileOp::Touch, certainty, command),
            None => self.files.complete = false,
        }
    }

    /// Adds a text that is fed to a program that only formats know.
    fn feed(&mut self, run: &SimpleRun<'_>, program: &str, words: &[Option<String>]) {
        let words: Option<Vec<String>> = words.iter().cloned().collect();
        self.files.complete = false;
        if let (CommandInput::Text(text), Some(words), Some(directory)) = (&run.input, words, &self.shell.directory) {
            self.files.fed.push(FedText {
                program: program.to_owned(),
                words,
                text: text.clone(),
                directory: directory.clone(),
                certainty: run.certainty.min(self.shell.arrived),
                place: self.files.effects.len(),
            });
        }
    }

    /// Takes options of `set` over.
    fn set(&mut self, words: &[String]) {
        self.shell.errexit = ShellOptions::of(words).errexit.unwrap_or(self.shell.errexit);
        self.shell.keeps |= words.iter().any(|word| word == "noclobber" || (word.starts_with('-') && word.contains('C')));
    }
}

/// The tree of a command line, within limits.
fn parsed(text: &str, depth: usize) -> Option<Program> {
    if !limits::allows_text(text, depth) {
        return None;
    }
    // As in `parser`: a panic of the parser costs what is known of this command, and nothing else.
    let parsed = std::panic::catch_unwind(|| {
        let tokens = uncached_tokenize_str(text, &ParserOptions::default().tokenizer_options()).ok()?;
        if limits::allows_tokens(&tokens) { parse_tokens(&tokens, &ParserOptions::default()).ok() } else { None }
    });
    parsed.ok()?
}

/// Whether a substitution may change files.
fn may_write(text: &str, depth: usize) -> bool {
    depth > 0 || understand(text).is_none_or(|line| line.may_change_files)
}

/// Whether a pipeline is `exit` with a code of failure.
fn ends_with_failure(pipeline: &Pipeline) -> bool {
    let [Command::Simple(simple)] = &*pipeline.seq else { return false };
    let words = simple.suffix.iter().flat_map(|suffix| &suffix.0).filter_map(|item| match item {
        Item::Word(word) => Some(word.value.as_str()),
        _ => None,
    });
    let codes: Vec<&str> = words.collect();
    let exits = simple.word_or_name.as_ref().is_some_and(|name| name.value == "exit");
    exits && matches!(&*codes, [code] if code.parse::<u8>().is_ok_and(|code| code != 0))
}

/// Whether a pipeline would print a message if it failed.
fn is_loud(pipeline: &Pipeline) -> bool {
    let [Command::Simple(simple)] = &*pipeline.seq else { return false };
    let items = simple.prefix.iter().flat_map(|prefix| &prefix.0).chain(simple.suffix.iter().flat_map(|suffix| &suffix.0));
    let redirects = Redirects::of(items.filter_map(|item| if let Item::IoRedirect(redirect) = item { Some(redirect) } else { None }));
    let known = simple.word_or_name.as_ref().is_none_or(|name| LOUD.contains(&name.value.as_str()));
    known && !pipeline.bang && !redirects.hide_errors()
}

/// Whether a command sends its messages where its output goes.
fn merges_errors(command: &Command) -> bool {
    let of = |redirects: Redirects| redirects.merged || redirects.silent;
    match command {
        Command::Simple(simple) => {
            let items = simple.prefix.iter().flat_map(|prefix| &prefix.0).chain(simple.suffix.iter().flat_map(|suffix| &suffix.0));
            of(Redirects::of(items.filter_map(|item| if let Item::IoRedirect(redirect) = item { Some(redirect) } else { None })))
        }
        Command::Compound(_, redirects) => of(Redirects::of(redirects.iter().flat_map(|list| &list.0))),
        _ => false,
    }
}
