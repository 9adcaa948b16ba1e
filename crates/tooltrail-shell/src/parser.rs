//! Parsing: a command line becomes a syntax tree, with its simple commands listed beside it.
//!
//! The tree keeps only what decides exit codes (`exit_codes`). `plain` makes the same tree of simple lines without the parser. What a
//! tree means is put together in [`SyntaxTree::into_command_line`].

use crate::effect::{self, CommandRole};
use crate::exit_codes::{self, ShellOptions, SyntaxNode};
use crate::limits;
use crate::plain::tokenize;
use crate::words::{InnerScript, inner_script, substitutions, unquote};
use crate::{purpose, wrappers};
use brush_parser::ast::{
    AndOrList, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList, FunctionDefinition, IoFileRedirectKind,
    IoFileRedirectTarget, IoRedirect, Pipeline, PipelineOperator, SeparatorOperator, SimpleCommand as ParsedCommand,
};
use brush_parser::{ParserOptions, parse_tokens, uncached_tokenize_str};
use tooltrail_model::changes::is_scratch;
use tooltrail_model::command::{CommandLine, CommandOutcome, ExitMeaning, Purpose, SimpleCommand};

/// Shell settings that could record a masked exit code, the least intrusive first.
const SETTINGS: &[(&str, ShellOptions)] = &[
    ("set -o pipefail", ShellOptions { errexit: None, pipefail: Some(true) }),
    ("set -e", ShellOptions { errexit: Some(true), pipefail: None }),
    ("set -eo pipefail", ShellOptions { errexit: Some(true), pipefail: Some(true) }),
];

/// The syntax tree of a command line.
#[derive(Debug, Default)]
pub(crate) struct SyntaxTree {
    /// Its simple commands in order, with their roles.
    commands: Vec<(SimpleCommand, CommandRole)>,
    root: SyntaxNode,
    /// Something beside the simple commands may change files: a substitution in a word, or a redirection of several commands.
    writes: bool,
    /// The functions defined so far.
    functions: Vec<Function>,
}

/// A function that a command line defines: a call of it counts as what its body does.
#[derive(Clone, Debug)]
struct Function {
    name: String,
    purpose: Option<Purpose>,
    writes: bool,
}

impl SyntaxTree {
    /// Parses a command line that stands `depth` command lines deep inside others.
    pub(crate) fn parse(text: &str, depth: usize) -> Option<SyntaxTree> {
        let mut tree = SyntaxTree::default();
        tree.root = tree.parse_into(text, depth)?;
        Some(tree)
    }

    /// Everything that is understood of the command line, as data.
    pub(crate) fn into_command_line(self) -> CommandLine {
        let masked = self.masked(ShellOptions::default());
        let (success, failure) = (self.meaning(true, &masked), self.meaning(false, &masked));
        let runs =
            |masked: &[usize]| masked.iter().any(|&place| self.commands.get(place).is_some_and(|(command, _)| command.purpose.is_some()));
        let shows = |options: ShellOptions| !runs(&self.masked(options));
        // The advice is only given where a masked test or build matters, and only if the setting unmasks all of them.
        let setting = if runs(&masked) { SETTINGS.iter().find(|(_, options)| shows(*options)) } else { None };
        CommandLine {
            success,
            failure,
            essence: self.essence(),
            may_change_files: self.may_change_files(),
            unmasked_by: setting.map(|(setting, _)| *setting),
            masked,
            commands: self.commands.into_iter().map(|(command, _)| command).collect(),
        }
    }

    fn masked(&self, options: ShellOptions) -> Vec<usize> {
        exit_codes::masked(&self.root, options)
    }

    fn meaning(&self, success: bool, masked: &[usize]) -> ExitMeaning {
        let proven = exit_codes::proven(&self.root, success, self.commands.len());
        let outcome = |(place, proven): (usize, Option<bool>)| match proven {
            // A command that ran several times may be both masked and proven once. Masked is the safer claim.
            _ if masked.contains(&place) => CommandOutcome::Masked,
            Some(true) => CommandOutcome::Succeeded,
            Some(false) => CommandOutcome::Failed,
            None => CommandOutcome::Unknown,
        };
        ExitMeaning { exit_of: exit_codes::decides(&self.root, success), outcomes: proven.into_iter().enumerate().map(outcome).collect() }
    }

    /// The commands by which the line is recognised when it runs again.
    fn essence(&self) -> Vec<usize> {
        let filter = |place: usize| self.commands.get(place).is_some_and(|(_, role)| *role == CommandRole::Filter);
        let filters = exit_codes::at_the_end_of_pipes(&self.root, &filter);
        let matters =
            |place: &usize| self.commands.get(*place).is_some_and(|(_, role)| *role != CommandRole::Aside) && !filters.contains(place);
        let all = 0..self.commands.len();
        // A line such as `cd x && echo done` consists of asides only; then all of them are the essence.
        let essence: Vec<usize> = all.clone().filter(matters).collect();
        if essence.is_empty() { all.collect() } else { essence }
    }

    fn may_change_files(&self) -> bool {
        self.writes || self.commands.iter().any(|(command, _)| command.writes)
    }

    /// The purpose that its exit code stands for: none where a masked command hides what was run.
    fn exposed_purpose(&self) -> Option<Purpose> {
        let purpose = self.commands.iter().filter_map(|(command, _)| command.purpose).min();
        purpose.filter(|_| self.masked(ShellOptions::default()).is_empty())
    }

    fn parse_into(&mut self, text: &str, depth: usize) -> Option<SyntaxNode> {
        if !limits::allows_text(text, depth) {
            return None;
        }
        // Plain lines take the fast path; it gives up on anything unusual.
        match tokenize(text) {
            Some(tokens) => self.plain(&tokens, depth),
            None => self.parse_all(text, depth),
        }
    }

    /// Parses any command line with the parser, however it is written.
    pub(crate) fn parse_all(&mut self, text: &str, depth: usize) -> Option<SyntaxNode> {
        // The parser is a third party's and the text is hostile. A panic in it costs what is known of this command, and nothing else.
        let parsed = std::panic::catch_unwind(|| {
            let tokens = uncached_tokenize_str(text, &ParserOptions::default().tokenizer_options()).ok()?;
            if limits::allows_tokens(&tokens) { parse_tokens(&tokens, &ParserOptions::default()).ok() } else { None }
        });
        let program = parsed.ok()??;
        let lists = program.complete_commands.iter().map(|list| self.list(list, depth));
        let items: Option<Vec<Vec<(SyntaxNode, bool)>>> = lists.collect();
        Some(SyntaxNode::List(items?.into_iter().flatten().collect()))
    }

    fn list(&mut self, list: &CompoundList, depth: usize) -> Option<Vec<(SyntaxNode, bool)>> {
        list.0.iter().map(|item| Some((self.chain(&item.0, depth)?, matches!(item.1, SeparatorOperator::Async)))).collect()
    }

    fn group(&mut self, list: &CompoundList, depth: usize) -> Option<SyntaxNode> {
        Some(SyntaxNode::List(self.list(list, depth)?))
    }

    fn chain(&mut self, list: &AndOrList, depth: usize) -> Option<SyntaxNode> {
        let mut links = Vec::new();
        for (operator, pipeline) in list {
            links.push((matches!(operator, PipelineOperator::Or), self.pipeline(pipeline, depth)?));
        }
        Some(chain(links))
    }

    fn pipeline(&mut self, pipeline: &Pipeline, depth: usize) -> Option<SyntaxNode> {
        let node = pipe(pipeline.seq.iter().map(|command| self.command(command, depth)).collect::<Option<_>>()?);
        Some(if pipeline.bang { SyntaxNode::Not(Box::new(node)) } else { node })
    }

    fn command(&mut self, command: &Command, depth: usize) -> Option<SyntaxNode> {
        match command {
            Command::Simple(simple) => self.simple(simple, depth),
            Command::Compound(compound, redirects) => {
                self.writes |= redirects.iter().flat_map(|list| &list.0).any(into_a_file);
                self.compound(compound, depth)
            }
            Command::Function(function) => self.define(function, depth),
            Command::ExtendedTest(..) => Some(SyntaxNode::Unsure),
        }
    }

    /// Notes a function. Its body counts where it is called, not here.
    fn define(&mut self, function: &FunctionDefinition, depth: usize) -> Option<SyntaxNode> {
        // Parsed into a tree of its own, so that its commands do not count as run. It may call functions defined before it.
        let mut body = SyntaxTree { functions: self.functions.clone(), ..SyntaxTree::default() };
        body.root = body.compound(&function.body.0, depth)?;
        self.functions.push(Function {
            name: function.fname.value.clone(),
            purpose: body.exposed_purpose(),
            writes: body.may_change_files(),
        });
        Some(SyntaxNode::Sure)
    }

    fn compound(&mut self, command: &CompoundCommand, depth: usize) -> Option<SyntaxNode> {
        Some(match command {
            CompoundCommand::BraceGroup(group) => self.group(&group.list, depth)?,
            CompoundCommand::Subshell(shell) => SyntaxNode::Shell(None, Box::new(self.group(&shell.list, depth)?)),
            CompoundCommand::ForClause(clause) => SyntaxNode::Loop(Box::new(self.group(&clause.body.list, depth)?)),
            CompoundCommand::ArithmeticForClause(clause) => SyntaxNode::Loop(Box::new(self.group(&clause.body.list, depth)?)),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                // The condition runs before every round, and only ever decides whether there is another one.
                let condition = self.group(&clause.0, depth)?;
                SyntaxNode::Choice(vec![condition], vec![SyntaxNode::Loop(Box::new(self.group(&clause.1.list, depth)?))])
            }
            CompoundCommand::IfClause(clause) => {
                let (mut deciding, mut bodies) = (vec![self.group(&clause.condition, depth)?], vec![self.group(&clause.then, depth)?]);
                for other in clause.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        deciding.push(self.group(condition, depth)?);
                    }
                    bodies.push(self.group(&other.body, depth)?);
                }
                SyntaxNode::Choice(deciding, bodies)
            }
            CompoundCommand::CaseClause(clause) => {
                let bodies = clause.cases.iter().filter_map(|case| case.cmd.as_ref());
                SyntaxNode::Choice(Vec::new(), bodies.map(|body| self.group(body, depth)).collect::<Option<_>>()?)
            }
            // A coprocess runs in the background.
            CompoundCommand::Coprocess(process) => SyntaxNode::List(vec![(self.command(&process.body, depth)?, true)]),
            CompoundCommand::Arithmetic(_) => SyntaxNode::Unsure,
        })
    }

    fn simple(&mut self, simple: &ParsedCommand, depth: usize) -> Option<SyntaxNode> {
        let before = || simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let behind = || simple.suffix.iter().flat_map(|suffix| &suffix.0);
        self.writes |= before().chain(behind()).any(|item| matches!(item, Item::IoRedirect(redirect) if into_a_file(redirect)));
        // Substitutions run before the command does, so what they write counts although the command may not.
        let made: Vec<String> = before().chain(behind()).filter_map(written).collect();
        let runs = made.iter().any(|word| !substitutions(word).is_empty());
        self.writes |= runs && made.iter().any(|word| made_by_writing(word, depth));
        let Some(name) = &simple.word_or_name else { return Some(if runs { SyntaxNode::Unsure } else { SyntaxNode::Sure }) };

        let assigned: Vec<String> = before().filter_map(written).collect();
        let others: Vec<String> = behind().filter_map(written).collect();
        let words: Vec<&str> = std::iter::once(name.value.as_str()).chain(others.iter().map(String::as_str)).collect();
        self.run(&assigned, &words, before().chain(behind()).find_map(document), depth)
    }

    /// Adds a simple command, given the assignments before it, its words, and the heredoc that it reads.
    pub(crate) fn run(&mut self, assigned: &[String], words: &[&str], document: Option<&str>, depth: usize) -> Option<SyntaxNode> {
        let plain: Vec<String> = words.iter().map(|word| unquote(word)).collect();
        match plain.first().map(String::as_str) {
            // Neither counts as a command: `set` changes the rules for those after it, `export` cannot fail.
            Some("set") => return Some(SyntaxNode::Set(ShellOptions::of(plain.get(1..).unwrap_or_default()))),
            Some("export") => return Some(SyntaxNode::Sure),
            _ => {}
        }
        let own = wrappers::behind(&plain);
        match inner_script(&plain, own, document) {
            InnerScript::InPlace(flags, text) => {
                let inner = self.parse_into(text, depth + 1)?;
                return Some(SyntaxNode::Shell(Some(flags), Box::new(inner)));
            }
            // A remote text that cannot be parsed still leaves a command that can: `ssh` itself.
            InnerScript::Elsewhere(text) => self.push(assigned, words, own, SyntaxTree::parse(text, depth + 1)),
            InnerScript::None => self.push(assigned, words, own, None),
        }
        Some(SyntaxNode::Simple(self.commands.len() - 1))
    }

    /// Lists a simple command; `inner` is the command line that it runs elsewhere.
    fn push(&mut self, assigned: &[String], words: &[&str], own: &[String], inner: Option<SyntaxTree>) {
        let text = assigned.iter().map(String::as_str).chain(words.iter().copied()).collect::<Vec<_>>().join(" ");
        let family = own.first().map(|word| wrappers::program(word).to_owned()).unwrap_or_default();
        let function = own.first().and_then(|name| self.functions.iter().rev().find(|function| function.name == *name));
        let (purpose, writes) = match (function, inner) {
            // A function shadows a program of the same name; the last definition holds.
            (Some(function), _) => (function.purpose, function.writes),
            (None, Some(inner)) => (inner.exposed_purpose(), inner.may_change_files()),
            (None, None) => {
                let purpose = purpose::of(own);
                (purpose, effect::writes(own, assigned, purpose))
            }
        };
        self.commands.push((SimpleCommand { text, family, purpose, writes }, effect::role(own)));
    }
}

/// A chain of `&&` and `||`; a single link needs no node of its own.
pub(crate) fn chain(mut links: Vec<(bool, SyntaxNode)>) -> SyntaxNode {
    if links.len() == 1 { links.remove(0).1 } else { SyntaxNode::Chain(links) }
}

/// A pipe; a single part needs no node of its own.
pub(crate) fn pipe(mut parts: Vec<SyntaxNode>) -> SyntaxNode {
    if parts.len() == 1 { parts.remove(0) } else { SyntaxNode::Pipe(parts) }
}

/// Whether a substitution in a word may change files. One that cannot be read may.
fn made_by_writing(word: &str, depth: usize) -> bool {
    substitutions(word).into_iter().any(|text| SyntaxTree::parse(text, depth + 1).is_none_or(|inner| inner.may_change_files()))
}

/// Whether a redirection writes into a file of the user.
fn into_a_file(redirect: &IoRedirect) -> bool {
    let target = match redirect {
        // Reading, and duplicating descriptors such as `2>&1`, changes no file.
        IoRedirect::File(_, IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput, _) => return false,
        IoRedirect::File(_, _, IoFileRedirectTarget::Filename(word)) | IoRedirect::OutputAndError(word, _) => word,
        _ => return false,
    };
    !is_scratch(&unquote(&target.value))
}

/// The text of a heredoc on standard input.
fn document(item: &Item) -> Option<&str> {
    match item {
        Item::IoRedirect(IoRedirect::HereDocument(None | Some(0), document)) => Some(&document.doc.value),
        _ => None,
    }
}

/// A word as written; `None` for redirections, which say nothing about what runs.
fn written(item: &Item) -> Option<String> {
    match item {
        Item::IoRedirect(_) => None,
        Item::Word(word) | Item::AssignmentWord(_, word) => Some(word.value.clone()),
        Item::ProcessSubstitution(kind, shell) => Some(format!("{kind}({})", shell.list)),
    }
}
