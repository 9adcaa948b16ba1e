//! A command line as its shell runs it: its simple commands, and what they are to each other.

use super::effect::{self, Role};
use super::outcome::{self, Flags, Node};
use super::plain::pieces;
use super::purpose::{self, Purpose};
use super::words::{Given, given, substitutions, unquote};
use brush_parser::ast::{
    AndOrList, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList, FunctionDefinition, IoFileRedirectKind,
    IoFileRedirectTarget, IoRedirect, Pipeline, PipelineOperator, SeparatorOperator, SimpleCommand,
};
use brush_parser::{ParserOptions, Token, parse_tokens, uncached_tokenize_str};

/// The longest command line that is read, in bytes.
const LONGEST: usize = 64 * 1024;
/// The deepest nesting of brackets and choices that is read: the time that the parser takes doubles with each.
const DEEPEST: usize = 10;
/// The deepest nesting of brackets of any kind, quoted or not: what is run to make a word is cut out by recursion.
const STACKED: usize = 100;
/// How often the text of a `bash -c` may hold another.
const SHELLS: usize = 4;

/// A command line.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Its simple commands, in order.
    pub commands: Vec<Simple>,
    tree: Node,
    /// Something beside the simple commands may change files: what is run to make a word, or a redirection of several commands.
    writes: bool,
    /// What the functions that it defines are for, and whether they may change files.
    functions: Vec<(String, Option<Purpose>, bool)>,
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
    pub(super) role: Role,
}

/// What is known of the outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed,
    /// Nobody recorded it.
    Masked,
    /// It may not have run, or one of several decided.
    Unknown,
}

/// Reads a command line; nothing where it cannot be read.
pub fn read(command: &str) -> Option<Script> {
    Script::parsed(command, 0)
}

impl Script {
    /// What it is for: the first purpose in their order that any of its commands has.
    pub fn purpose(&self) -> Option<Purpose> {
        self.commands.iter().filter_map(|command| command.purpose).min()
    }

    /// The command whose exit code the recorded one is, if that can be told from whether it was a success.
    pub fn exit_of(&self, success: bool) -> Option<&str> {
        let index = outcome::decides(&self.tree, success)?;
        self.commands.get(index).map(|command| command.text.as_str())
    }

    /// The commands whose outcome nobody recorded, in order.
    pub fn masked(&self) -> Vec<&str> {
        self.unrecorded().map(|command| command.text.as_str()).collect()
    }

    /// Those of them that are for something, each once: what a reader would like to know the outcome of.
    pub fn masked_runs(&self) -> Vec<&Simple> {
        let mut runs: Vec<&Simple> = Vec::new();
        for command in self.unrecorded().filter(|command| command.purpose.is_some()) {
            if !runs.contains(&command) {
                runs.push(command);
            }
        }
        runs
    }

    /// What is known of the outcome of each command, if the whole was a success or not; `None` where that is not known itself.
    pub fn fates(&self, success: Option<bool>) -> Vec<Fate> {
        let mut fates = vec![Fate::Unknown; self.commands.len()];
        if let Some(success) = success {
            let proven = outcome::proven(&self.tree, success, fates.len());
            for (fate, proven) in fates.iter_mut().zip(proven) {
                *fate = proven.map_or(Fate::Unknown, |worked| if worked { Fate::Succeeded } else { Fate::Failed });
            }
        }
        for index in outcome::masked(&self.tree) {
            fates.iter_mut().skip(index).take(1).for_each(|fate| *fate = Fate::Masked);
        }
        fates
    }

    fn unrecorded(&self) -> impl Iterator<Item = &Simple> {
        outcome::masked(&self.tree).into_iter().filter_map(|index| self.commands.get(index))
    }

    /// Whether any of it may change files that are the person's: not a device, not what lies in a directory for temporary files, and not
    /// what tests, builds and commits leave behind.
    pub fn may_change_files(&self) -> bool {
        self.writes || self.commands.iter().any(|command| command.writes)
    }

    /// The commands by which it is recognised when it is run again: without going somewhere, saying something and waiting, and without
    /// the filters at the end of a pipe. All of them where nothing would be left.
    pub fn essence(&self) -> Vec<&str> {
        let filter = |index: usize| self.commands.get(index).is_some_and(|command| command.role == Role::Filter);
        let filters = outcome::at_the_end_of_pipes(&self.tree, &filter);
        let matters = |(index, command): &(usize, &Simple)| command.role != Role::Aside && !filters.contains(index);
        let found: Vec<&str> = self.commands.iter().enumerate().filter(matters).map(|(_, command)| command.text.as_str()).collect();
        if found.is_empty() { self.commands.iter().map(|command| command.text.as_str()).collect() } else { found }
    }

    /// A command line of its own, `depth` command lines deep.
    fn parsed(text: &str, depth: usize) -> Option<Script> {
        let mut script = Script::default();
        script.tree = script.parse(text, depth)?;
        Some(script)
    }

    fn parse(&mut self, text: &str, depth: usize) -> Option<Node> {
        if text.len() > LONGEST || depth > SHELLS || brackets(text) > STACKED {
            return None;
        }
        match pieces(text) {
            Some(pieces) => self.plain(&pieces, depth),
            None => self.parse_all(text, depth),
        }
    }

    /// Any command line, read with the parser.
    pub(super) fn parse_all(&mut self, text: &str, depth: usize) -> Option<Node> {
        // The parser is somebody else's and the text anybody's; if they fall out, nothing is known of the command.
        let parsed = std::panic::catch_unwind(|| {
            let tokens = uncached_tokenize_str(text, &ParserOptions::default().tokenizer_options()).ok()?;
            if nesting(&tokens) > DEEPEST { None } else { parse_tokens(&tokens, &ParserOptions::default()).ok() }
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
        Some(chain(links))
    }

    fn pipeline(&mut self, pipeline: &Pipeline, depth: usize) -> Option<Node> {
        let node = pipe(pipeline.seq.iter().map(|command| self.command(command, depth)).collect::<Option<_>>()?);
        Some(if pipeline.bang { Node::Not(Box::new(node)) } else { node })
    }

    fn command(&mut self, command: &Command, depth: usize) -> Option<Node> {
        match command {
            Command::Simple(simple) => self.simple(simple, depth),
            Command::Compound(compound, redirects) => {
                self.writes |= redirects.iter().flat_map(|list| &list.0).any(into_a_file);
                self.compound(compound, depth)
            }
            Command::Function(function) => self.define(function, depth),
            Command::ExtendedTest(..) => Some(Node::Unsure),
        }
    }

    /// A function: what it is for is what its body is for, once it is called.
    fn define(&mut self, function: &FunctionDefinition, depth: usize) -> Option<Node> {
        let mut body = Script { functions: self.functions.clone(), ..Script::default() };
        body.tree = body.compound(&function.body.0, depth)?;
        // The exit code of a call stands for what the body runs only if nothing hides that.
        let purpose = body.purpose().filter(|_| body.masked().is_empty());
        self.functions.push((function.fname.value.clone(), purpose, body.may_change_files()));
        Some(Node::Sure)
    }

    fn compound(&mut self, command: &CompoundCommand, depth: usize) -> Option<Node> {
        Some(match command {
            CompoundCommand::BraceGroup(group) => self.group(&group.list, depth)?,
            CompoundCommand::Subshell(shell) => Node::Shell(None, Box::new(self.group(&shell.list, depth)?)),
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
            CompoundCommand::Coprocess(process) => Node::List(vec![(self.command(&process.body, depth)?, true)]),
            CompoundCommand::Arithmetic(_) => Node::Unsure,
        })
    }

    fn simple(&mut self, simple: &SimpleCommand, depth: usize) -> Option<Node> {
        let before = || simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let behind = || simple.suffix.iter().flat_map(|suffix| &suffix.0);
        self.writes |= before().chain(behind()).any(|item| matches!(item, Item::IoRedirect(redirect) if into_a_file(redirect)));
        let made: Vec<String> = before().chain(behind()).filter_map(written).collect();
        let runs = made.iter().any(|word| !substitutions(word).is_empty());
        self.writes |= runs && made.iter().any(|word| made_by_writing(word, depth));
        let Some(name) = &simple.word_or_name else { return Some(if runs { Node::Unsure } else { Node::Sure }) };

        let assigned: Vec<String> = before().filter_map(written).collect();
        let others: Vec<String> = behind().filter_map(written).collect();
        let words: Vec<&str> = std::iter::once(name.value.as_str()).chain(others.iter().map(String::as_str)).collect();
        self.run(&assigned, &words, before().chain(behind()).find_map(document), depth)
    }

    /// A simple command by the assignments before it, its words, and the document that it is given to read.
    pub(super) fn run(&mut self, assigned: &[String], words: &[&str], document: Option<&str>, depth: usize) -> Option<Node> {
        let plain: Vec<String> = words.iter().map(|word| unquote(word)).collect();
        match plain.first().map(String::as_str) {
            Some("set") => return Some(Node::Set(Flags::of(plain.get(1..).unwrap_or_default()))),
            Some("export") => return Some(Node::Sure),
            _ => {}
        }
        let own = purpose::behind_wrappers(&plain);
        match given(&plain, own, document) {
            Given::InPlace(flags, text) => {
                let inner = self.parse(text, depth + 1)?;
                return Some(Node::Shell(Some(flags), Box::new(inner)));
            }
            Given::Elsewhere(text) => self.push(assigned, words, own, Script::parsed(text, depth + 1)),
            Given::Nothing => self.push(assigned, words, own, None),
        }
        Some(Node::Simple(self.commands.len() - 1))
    }

    /// Adds a simple command; `inner` is the command line that it runs somewhere else.
    fn push(&mut self, assigned: &[String], words: &[&str], own: &[String], inner: Option<Script>) {
        let text = assigned.iter().map(String::as_str).chain(words.iter().copied()).collect::<Vec<_>>().join(" ");
        let family = own.first().map(|word| purpose::program(word).to_owned()).unwrap_or_default();
        let function = own.first().and_then(|name| self.functions.iter().rev().find(|(function, _, _)| function == name));
        let (purpose, writes) = match (function, inner) {
            (Some((_, purpose, writes)), _) => (*purpose, *writes),
            // Its exit code stands for what it ran only if nothing hides that.
            (None, Some(inner)) => (inner.purpose().filter(|_| inner.masked().is_empty()), inner.may_change_files()),
            (None, None) => {
                let purpose = purpose::of(own);
                (purpose, effect::writes(own, assigned, purpose))
            }
        };
        self.commands.push(Simple { text, family, purpose, writes, role: effect::role(own) });
    }
}

/// Commands of which each may decide whether the next one runs.
pub(super) fn chain(mut links: Vec<(bool, Node)>) -> Node {
    if links.len() == 1 { links.remove(0).1 } else { Node::Chain(links) }
}

/// Commands of which each reads what the one before it writes.
pub(super) fn pipe(mut parts: Vec<Node>) -> Node {
    if parts.len() == 1 { parts.remove(0) } else { Node::Pipe(parts) }
}

/// Whether what is run to make a word may change files.
fn made_by_writing(word: &str, depth: usize) -> bool {
    substitutions(word).into_iter().any(|text| Script::parsed(text, depth + 1).is_none_or(|inner| inner.may_change_files()))
}

/// Whether a redirection writes into a file that is somebody's.
fn into_a_file(redirect: &IoRedirect) -> bool {
    let target = match redirect {
        IoRedirect::File(_, IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput, _) => return false,
        IoRedirect::File(_, _, IoFileRedirectTarget::Filename(word)) | IoRedirect::OutputAndError(word, _) => word,
        _ => return false,
    };
    !effect::is_scratch(&unquote(&target.value))
}

/// The text of a document that a command is given to read.
fn document(item: &Item) -> Option<&str> {
    match item {
        Item::IoRedirect(IoRedirect::HereDocument(None | Some(0), document)) => Some(&document.doc.value),
        _ => None,
    }
}

/// A word as it is written; redirections are none.
fn written(item: &Item) -> Option<String> {
    match item {
        Item::IoRedirect(_) => None,
        Item::Word(word) | Item::AssignmentWord(_, word) => Some(word.value.clone()),
        Item::ProcessSubstitution(kind, shell) => Some(format!("{kind}({})", shell.list)),
    }
}

/// How deep the brackets of a text nest, at most, whatever they mean.
fn brackets(text: &str) -> usize {
    let (mut open, mut deepest) = (0usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' => open += 1,
            b')' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// How deep commands nest, by their brackets and the words that open a clause: at most, wherever those words stand.
fn nesting(tokens: &[Token]) -> usize {
    let (mut brackets, mut clauses, mut negations) = (0usize, 0usize, 0usize);
    let (mut deepest, mut most) = (0, 0);
    for token in tokens {
        let word = token.to_str();
        negations = if word == "!" { negations + 1 } else { 0 };
        match word {
            "(" | "{" => brackets += 1,
            ")" | "}" => brackets = brackets.saturating_sub(1),
            "case" | "if" | "while" | "until" | "for" | "select" | "[[" => clauses += 1,
            "esac" | "fi" | "done" | "]]" => clauses = clauses.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(brackets);
        most = most.max(clauses + negations);
    }
    deepest + most
}
