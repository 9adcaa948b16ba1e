//! A command line as its shell runs it, and what its one exit code says about each command in it.

use super::effect::{self, Role};
use super::purpose::{self, Purpose};
use super::words::{substitutions, unquote};
use brush_parser::ast::{
    AndOrList, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList, IoFileRedirectKind, IoFileRedirectTarget,
    IoRedirect, Pipeline, PipelineOperator, SeparatorOperator, SimpleCommand,
};
use brush_parser::{ParserOptions, parse_tokens, uncached_tokenize_str};

/// The longest command line that is read, in bytes.
const LONGEST: usize = 64 * 1024;
/// The deepest nesting of brackets and choices that is read: the time that the parser takes doubles with each.
const DEEPEST: usize = 10;
/// How often the text of a `bash -c` may hold another.
const SHELLS: usize = 4;

/// A command line.
#[derive(Clone, Debug)]
pub struct Script {
    /// Its simple commands, in order.
    pub commands: Vec<Simple>,
    tree: Node,
    /// Something beside the simple commands may change files: what is run to make a word, or a redirection of several commands.
    writes: bool,
}

/// A simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simple {
    /// As it is written, without redirections.
    pub text: String,
    /// The program it is really about, behind `sudo`, `env` and the like: `cargo`, `git`.
    pub family: String,
    /// What it is for.
    pub purpose: Option<Purpose>,
    /// It may change files.
    pub writes: bool,
    role: Role,
}

/// What the parts of a command line are to each other; numbers are places in [`Script::commands`].
#[derive(Clone, Debug)]
enum Node {
    /// A simple command.
    Simple(usize),
    /// Something without a command of its own: a test, a definition, an assignment.
    Nothing,
    /// `set -e`, `set -o pipefail`: what it changes.
    Set(Flags),
    /// One after the other; whether each runs in the background.
    List(Vec<(Node, bool)>),
    /// `a && b || c`: the first, and each other with whether it needs what is before it to fail.
    Chain(Box<Node>, Vec<(bool, Node)>),
    /// `a | b`.
    Pipe(Vec<Node>),
    /// `! a`.
    Not(Box<Node>),
    /// In a shell of its own, whose settings end with it.
    Shell(Box<Node>),
    /// Once for each of several things.
    Loop(Box<Node>),
    /// A choice: what decides, and what may then run.
    Choice(Vec<Node>, Vec<Node>),
}

/// What a shell is set to; `None` stays as it is.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    errexit: Option<bool>,
    pipefail: Option<bool>,
}

/// Reads a command line; nothing where it cannot be read.
pub fn read(command: &str) -> Option<Script> {
    let mut script = Script { commands: Vec::new(), tree: Node::Nothing, writes: false };
    script.tree = script.parse(command, 0)?;
    Some(script)
}

impl Script {
    /// What it is for: the first purpose in their order that any of its commands has.
    pub fn purpose(&self) -> Option<Purpose> {
        self.commands.iter().filter_map(|command| command.purpose).min()
    }

    /// The command whose exit code the recorded one is, if that can be told from whether it was a success.
    pub fn exit_of(&self, success: bool) -> Option<&str> {
        let index = decides(&self.tree, success, &mut Settings::default())?;
        self.commands.get(index).map(|command| command.text.as_str())
    }

    /// The commands whose outcome nobody recorded.
    pub fn masked(&self) -> Vec<&str> {
        let mut found = Vec::new();
        masked(&self.tree, &mut Settings::default(), &mut found);
        found.sort_unstable();
        found.dedup();
        let texts = found.into_iter().filter_map(|index| self.commands.get(index)).map(|command| command.text.as_str());
        let mut out: Vec<&str> = Vec::new();
        texts.for_each(|text| {
            if !out.contains(&text) {
                out.push(text);
            }
        });
        out
    }

    /// Whether any of it may change files that are the person's: not a device, not what lies in a directory for temporary files, and not
    /// what tests, builds and commits leave behind.
    pub fn may_change_files(&self) -> bool {
        self.writes || self.commands.iter().any(|command| command.writes)
    }

    /// The commands by which it is recognised when it is run again: without going somewhere, saying something and waiting, and without
    /// the filters at the end of a pipe. All of them where nothing would be left.
    pub fn essence(&self) -> Vec<&str> {
        let mut filters = Vec::new();
        trailing_filters(&self.tree, &self.commands, &mut filters);
        let matters = |(index, command): &(usize, &Simple)| command.role != Role::Aside && !filters.contains(index);
        let found: Vec<&str> = self.commands.iter().enumerate().filter(matters).map(|(_, command)| command.text.as_str()).collect();
        if found.is_empty() { self.commands.iter().map(|command| command.text.as_str()).collect() } else { found }
    }

    fn parse(&mut self, text: &str, depth: usize) -> Option<Node> {
        if text.len() > LONGEST || depth > SHELLS || nesting(text) > DEEPEST {
            return None;
        }
        // The parser is somebody else's and the text anybody's; if they fall out, nothing is known of the command.
        let parsed = std::panic::catch_unwind(|| {
            let tokens = uncached_tokenize_str(text, &ParserOptions::default().tokenizer_options()).ok()?;
            parse_tokens(&tokens, &ParserOptions::default()).ok()
        });
        let program = parsed.ok()??;
        let lists = program.complete_commands.iter().map(|list| self.list(list, depth));
        let items: Option<Vec<Vec<(Node, bool)>>> = lists.collect();
        Some(Node::List(items?.into_iter().flatten().collect()))
    }

    fn list(&mut self, list: &CompoundList, depth: usize) -> Option<Vec<(Node, bool)>> {
        list.0.iter().map(|item| Some((self.chain(&item.0, depth)?, matches!(item.1, SeparatorOperator::Async)))).collect()
    }

    fn group(&mut self, list: &CompoundList, depth: usize) -> Option<Node> {
        Some(Node::List(self.list(list, depth)?))
    }

    fn chain(&mut self, list: &AndOrList, depth: usize) -> Option<Node> {
        let mut links = Vec::new();
        for (operator, pipeline) in list {
            links.push((matches!(operator, PipelineOperator::Or), self.pipeline(pipeline, depth)?));
        }
        let mut links = links.into_iter();
        let (_, first) = links.next()?;
        let rest: Vec<(bool, Node)> = links.collect();
        Some(if rest.is_empty() { first } else { Node::Chain(Box::new(first), rest) })
    }

    fn pipeline(&mut self, pipeline: &Pipeline, depth: usize) -> Option<Node> {
        let mut parts: Vec<Node> = pipeline.seq.iter().map(|command| self.command(command, depth)).collect::<Option<_>>()?;
        let node = if parts.len() == 1 { parts.remove(0) } else { Node::Pipe(parts) };
        Some(if pipeline.bang { Node::Not(Box::new(node)) } else { node })
    }

    fn command(&mut self, command: &Command, depth: usize) -> Option<Node> {
        match command {
            Command::Simple(simple) => self.simple(simple, depth),
            Command::Compound(compound, redirects) => {
                self.writes |= redirects.iter().flat_map(|list| &list.0).any(into_a_file);
                self.compound(compound, depth)
            }
            Command::Function(_) | Command::ExtendedTest(..) => Some(Node::Nothing),
        }
    }

    fn compound(&mut self, command: &CompoundCommand, depth: usize) -> Option<Node> {
        Some(match command {
            CompoundCommand::BraceGroup(group) => self.group(&group.list, depth)?,
            CompoundCommand::Subshell(shell) => Node::Shell(Box::new(self.group(&shell.list, depth)?)),
            CompoundCommand::ForClause(clause) => Node::Loop(Box::new(self.group(&clause.body.list, depth)?)),
            CompoundCommand::ArithmeticForClause(clause) => Node::Loop(Box::new(self.group(&clause.body.list, depth)?)),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                let condition = self.group(&clause.0, depth)?;
                Node::Choice(vec![condition], vec![Node::Loop(Box::new(self.group(&clause.1.list, depth)?))])
            }
            CompoundCommand::IfClause(clause) => {
                let (mut deciding, mut bodies) = (vec![self.group(&clause.condition, depth)?], vec![self.group(&clause.then, depth)?]);
                for other in clause.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        deciding.push(self.group(condition, depth)?);
                    }
                    bodies.push(self.group(&other.body, depth)?);
                }
                Node::Choice(deciding, bodies)
            }
            CompoundCommand::CaseClause(clause) => {
                let bodies = clause.cases.iter().filter_map(|case| case.cmd.as_ref());
                Node::Choice(Vec::new(), bodies.map(|body| self.group(body, depth)).collect::<Option<_>>()?)
            }
            CompoundCommand::Arithmetic(_) | CompoundCommand::Coprocess(_) => Node::Nothing,
        })
    }

    fn simple(&mut self, simple: &SimpleCommand, depth: usize) -> Option<Node> {
        let items = || simple.prefix.iter().flat_map(|prefix| &prefix.0).chain(simple.suffix.iter().flat_map(|suffix| &suffix.0));
        self.writes |= items().any(|item| matches!(item, Item::IoRedirect(redirect) if into_a_file(redirect)));
        self.writes |= items().filter_map(written).any(|word| self.made_by_writing(&word, depth));
        let Some(name) = &simple.word_or_name else { return Some(Node::Nothing) };
        let mut words = vec![name.value.clone()];
        words.extend(simple.suffix.iter().flat_map(|suffix| &suffix.0).filter_map(written));
        let plain: Vec<String> = words.iter().map(|word| unquote(word)).collect();
        match plain.first().map(String::as_str) {
            Some("set") => return Some(Node::Set(flags(&plain))),
            Some("export") => return Some(Node::Nothing),
            _ => {}
        }
        if let Some(text) = shell_text(&plain) {
            let inner = self.parse(text, depth + 1)?;
            return Some(Node::Shell(Box::new(inner)));
        }
        let assigned: Vec<String> = simple.prefix.iter().flat_map(|prefix| &prefix.0).filter_map(written).collect();
        let text = assigned.iter().chain(&words).map(String::as_str).collect::<Vec<_>>().join(" ");
        let own = purpose::behind_wrappers(&plain);
        let family = own.first().map(|word| purpose::program(word).to_owned()).unwrap_or_default();
        let purpose = purpose::of(own);
        let (writes, role) = (effect::writes(own, &assigned, purpose), effect::role(own));
        self.commands.push(Simple { text, family, purpose, writes, role });
        Some(Node::Simple(self.commands.len() - 1))
    }

    /// Whether what is run to make a word may change files.
    fn made_by_writing(&self, word: &str, depth: usize) -> bool {
        substitutions(word).into_iter().any(|text| {
            let mut inner = Script { commands: Vec::new(), tree: Node::Nothing, writes: false };
            inner.parse(text, depth + 1).is_none() || inner.may_change_files()
        })
    }
}

/// The filters at the end of each pipe.
fn trailing_filters(node: &Node, commands: &[Simple], out: &mut Vec<usize>) {
    match node {
        Node::Simple(_) | Node::Nothing | Node::Set(_) => {}
        Node::List(items) => items.iter().for_each(|(item, _)| trailing_filters(item, commands, out)),
        Node::Chain(first, rest) => {
            trailing_filters(first, commands, out);
            rest.iter().for_each(|(_, node)| trailing_filters(node, commands, out));
        }
        Node::Pipe(parts) => {
            let filter = |part: &Node| match part {
                Node::Simple(index) if commands.get(*index).is_some_and(|command| command.role == Role::Filter) => Some(*index),
                _ => None,
            };
            out.extend(parts.iter().skip(1).rev().map_while(filter));
            parts.iter().for_each(|part| trailing_filters(part, commands, out));
        }
        Node::Not(inner) | Node::Shell(inner) | Node::Loop(inner) => trailing_filters(inner, commands, out),
        Node::Choice(deciding, bodies) => deciding.iter().chain(bodies).for_each(|node| trailing_filters(node, commands, out)),
    }
}

/// Whether a redirection writes into a file that is somebody's.
fn into_a_file(redirect: &IoRedirect) -> bool {
    let target = match redirect {
        IoRedirect::File(_, kind, IoFileRedirectTarget::Filename(word))
            if !matches!(kind, IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput) =>
        {
            word
        }
        IoRedirect::OutputAndError(word, _) => word,
        _ => return false,
    };
    !effect::is_scratch(&unquote(&target.value))
}

/// A word as it is written; redirections are none.
fn written(item: &Item) -> Option<String> {
    match item {
        Item::IoRedirect(_) => None,
        Item::Word(word) | Item::AssignmentWord(_, word) => Some(word.value.clone()),
        Item::ProcessSubstitution(kind, shell) => Some(format!("{kind}({})", shell.list)),
    }
}

/// How deep a text nests, by its brackets and the words that open a clause: at most, whatever they mean.
fn nesting(text: &str) -> usize {
    let (mut brackets, mut deepest) = (0usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' => brackets += 1,
            b')' | b'}' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(brackets);
    }
    let (mut clauses, mut negations, mut most) = (0usize, 0, 0);
    for word in text.split_whitespace() {
        negations = if word == "!" { negations + 1 } else { 0 };
        match word.trim_end_matches(';') {
            "case" | "if" | "while" | "until" | "for" | "select" | "[[" => clauses += 1,
            "esac" | "fi" | "done" | "]]" => clauses = clauses.saturating_sub(1),
            _ => {}
        }
        most = most.max(clauses + negations);
    }
    deepest + most
}

/// The text that a shell is given to run: `bash -lc TEXT`.
fn shell_text(words: &[String]) -> Option<&str> {
    let (shell, rest) = words.split_first()?;
    if !matches!(purpose::program(shell), "bash" | "sh" | "zsh" | "dash") {
        return None;
    }
    let at = rest.iter().position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?;
    // Something else than an option before it is a script.
    if rest[..at].iter().any(|word| !word.starts_with('-')) { None } else { rest.get(at + 1).map(String::as_str) }
}

/// What `set` changes.
fn flags(words: &[String]) -> Flags {
    let mut flags = Flags::default();
    for (place, word) in words.iter().enumerate().skip(1) {
        let Some(on) = word.chars().next().filter(|sign| matches!(sign, '-' | '+')).map(|sign| sign == '-') else { continue };
        if word.contains('e') && !word.starts_with("--") {
            flags.errexit = Some(on);
        }
        if word.ends_with('o') {
            match words.get(place + 1).map(String::as_str) {
                Some("pipefail") => flags.pipefail = Some(on),
                Some("errexit") => flags.errexit = Some(on),
                _ => {}
            }
        }
    }
    flags
}

/// What a shell is set to while it runs.
#[derive(Clone, Copy, Debug, Default)]
struct Settings {
    errexit: bool,
    pipefail: bool,
}

impl Settings {
    fn take(&mut self, flags: Flags) {
        self.errexit = flags.errexit.unwrap_or(self.errexit);
        self.pipefail = flags.pipefail.unwrap_or(self.pipefail);
    }
}

/// The command whose exit code a node's is, if the node was a success or not.
fn decides(node: &Node, success: bool, settings: &mut Settings) -> Option<usize> {
    match node {
        Node::Simple(index) => Some(*index),
        Node::Nothing | Node::Not(_) | Node::Choice(..) => None,
        Node::Set(flags) => {
            settings.take(*flags);
            None
        }
        Node::List(items) => {
            let (last, before) = items.split_last()?;
            for (item, _) in before {
                set_by(item, settings);
            }
            // A shell that stops at the first failure may have stopped before the last command.
            let stopped = settings.errexit && !success && before.iter().any(|(item, _)| counts(item));
            if last.1 || stopped { None } else { decides(&last.0, success, settings) }
        }
        Node::Chain(first, rest) => {
            let after_or = rest.iter().rposition(|(or, _)| *or);
            let last = rest.last().map_or(&**first, |(_, node)| node);
            let sole = after_or == Some(rest.len() - 1);
            // The last one surely ran if all before it had to succeed and did, or had to fail and the whole did too.
            if success != sole { decides(last, success, settings) } else { None }
        }
        Node::Pipe(parts) => {
            let last = parts.last()?;
            if settings.pipefail && !success { None } else { decides(last, success, &mut settings.clone()) }
        }
        Node::Shell(inner) => decides(inner, success, &mut Settings::default()),
        Node::Loop(inner) => decides(inner, success, settings),
    }
}

/// Takes the settings that a node makes for those after it.
fn set_by(node: &Node, settings: &mut Settings) {
    match node {
        Node::Set(flags) => settings.take(*flags),
        Node::List(items) => items.iter().for_each(|(item, _)| set_by(item, settings)),
        Node::Chain(first, rest) => {
            set_by(first, settings);
            rest.iter().for_each(|(_, node)| set_by(node, settings));
        }
        _ => {}
    }
}

/// Whether a node has a command at all.
fn counts(node: &Node) -> bool {
    let mut found = Vec::new();
    every(node, &mut found);
    !found.is_empty()
}

/// The commands whose outcome nobody recorded.
fn masked(node: &Node, settings: &mut Settings, out: &mut Vec<usize>) {
    match node {
        Node::Simple(_) | Node::Nothing => {}
        Node::Set(flags) => settings.take(*flags),
        Node::Not(inner) => masked(inner, settings, out),
        Node::Shell(inner) => masked(inner, &mut Settings::default(), out),
        Node::List(items) => {
            for (place, (item, background)) in items.iter().enumerate() {
                let last = place + 1 == items.len();
                if *background || !(last || settings.errexit) {
                    every(item, out);
                    set_by(item, settings);
                } else {
                    masked(item, settings, out);
                }
            }
        }
        Node::Chain(first, rest) => {
            let or = rest.iter().rposition(|(or, _)| *or);
            let all = std::iter::once(&**first).chain(rest.iter().map(|(_, node)| node));
            for (place, part) in all.enumerate() {
                // What stands left of a `||` may have failed.
                if or.is_some_and(|or| place <= or) { every(part, out) } else { masked(part, settings, out) }
            }
        }
        Node::Pipe(parts) => {
            for (place, part) in parts.iter().enumerate() {
                let last = place + 1 == parts.len();
                if last || settings.pipefail { masked(part, &mut settings.clone(), out) } else { every(part, out) }
            }
        }
        // Only the last round is recorded.
        Node::Loop(inner) => every(inner, out),
        Node::Choice(deciding, bodies) => {
            deciding.iter().for_each(|node| every(node, out));
            bodies.iter().for_each(|node| masked(node, &mut settings.clone(), out));
        }
    }
}

/// All commands of a node.
fn every(node: &Node, out: &mut Vec<usize>) {
    match node {
        Node::Simple(index) => out.push(*index),
        Node::Nothing | Node::Set(_) => {}
        Node::Not(inner) | Node::Shell(inner) | Node::Loop(inner) => every(inner, out),
        Node::List(items) => items.iter().for_each(|(item, _)| every(item, out)),
        Node::Chain(first, rest) => {
            every(first, out);
            rest.iter().for_each(|(_, node)| every(node, out));
        }
        Node::Pipe(parts) => parts.iter().for_each(|part| every(part, out)),
        Node::Choice(deciding, bodies) => deciding.iter().chain(bodies).for_each(|node| every(node, out)),
    }
}
