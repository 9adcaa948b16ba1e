//! Redirections of a command: the files that it writes, and the text that it reads.

use super::literal::literal;
use brush_parser::ast::{IoFileRedirectKind, IoFileRedirectTarget, IoHereDocument, IoRedirect};

/// The standard input of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum CommandInput {
    /// That of the line.
    #[default]
    None,
    /// A text that the line has.
    Text(String),
    /// Something else.
    Unknown,
}

/// A file that a redirection writes.
#[derive(Clone, Debug)]
pub(super) struct OutputTarget {
    /// The file; `None` for one that the shell computes.
    pub(super) path: Option<String>,
    pub(super) append: bool,
}

/// All redirections of a command.
#[derive(Clone, Debug)]
pub(super) struct Redirects {
    /// Targets of standard output.
    pub(super) outputs: Vec<OutputTarget>,
    /// Targets of anything else, such as `2>` and `&>`.
    pub(super) others: Vec<OutputTarget>,
    pub(super) input: CommandInput,
    /// Whether standard output also goes elsewhere, as with `>&2`.
    pub(super) moved: bool,
    /// Whether errors are not shown: `2>/dev/null`.
    pub(super) silent: bool,
    /// Whether errors go where the output goes: `2>&1`.
    pub(super) merged: bool,
    /// Whether every file that they write is known.
    pub(super) certain: bool,
}

impl Redirects {
    /// Whether a failure would leave no message in the output.
    pub(super) fn hide_errors(&self) -> bool {
        self.silent || (self.merged && !self.outputs.is_empty())
    }

    pub(super) fn of<'r>(redirects: impl Iterator<Item = &'r IoRedirect>) -> Self {
        let mut all = Redirects {
            outputs: Vec::new(),
            others: Vec::new(),
            input: CommandInput::None,
            moved: false,
            silent: false,
            merged: false,
            certain: true,
        };
        redirects.for_each(|redirect| all.take(redirect));
        all
    }

    fn take(&mut self, redirect: &IoRedirect) {
        match redirect {
            IoRedirect::File(fd, kind, target) => self.file(*fd, kind, target),
            IoRedirect::OutputAndError(word, append) => {
                self.others.push(OutputTarget { path: literal(&word.value), append: *append });
                self.silent = true;
            }
            IoRedirect::HereDocument(None | Some(0), document) => self.read(text(document)),
            IoRedirect::HereString(None | Some(0), word) => self.read(literal(&word.value).map(|text| text + "\n")),
            // Of another descriptor.
            IoRedirect::HereDocument(..) | IoRedirect::HereString(..) => {}
        }
    }

    /// Only a single source of input is certain.
    fn read(&mut self, text: Option<String>) {
        self.input = match (&self.input, text) {
            (CommandInput::None, Some(text)) => CommandInput::Text(text),
            _ => CommandInput::Unknown,
        };
    }

    fn file(&mut self, fd: Option<i32>, kind: &IoFileRedirectKind, target: &IoFileRedirectTarget) {
        use IoFileRedirectKind as Kind;
        let word = match target {
            IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => Some(word.value.as_str()),
            IoFileRedirectTarget::Fd(_) => Some("1"),
            IoFileRedirectTarget::ProcessSubstitution(..) => None,
        };
        match kind {
            Kind::Read if word == Some("/dev/null") => self.read(Some(String::new())),
            Kind::Read | Kind::DuplicateInput => {
                self.certain &= word.is_some();
                if fd.is_none_or(|fd| fd == 0) {
                    self.input = CommandInput::Unknown;
                }
            }
            Kind::DuplicateOutput if word.is_some_and(|word| word == "-" || word.bytes().all(|byte| byte.is_ascii_digit())) => {
                self.moved |= fd.is_none_or(|fd| fd == 1);
                self.merged |= fd == Some(2);
                self.silent |= fd == Some(2) && word == Some("-");
            }
            Kind::Write | Kind::Append | Kind::Clobber if fd.is_none_or(|fd| fd == 1) => {
                self.certain &= word.is_some();
                self.outputs.push(OutputTarget { path: word.and_then(literal), append: matches!(kind, Kind::Append) });
            }
            Kind::Write | Kind::Append | Kind::Clobber | Kind::ReadAndWrite | Kind::DuplicateOutput => {
                self.certain &= word.is_some();
                self.silent = true;
                self.others.push(OutputTarget { path: word.and_then(literal), append: true });
            }
        }
    }
}

/// The text of a heredoc, if no shell expands anything in it.
fn text(document: &IoHereDocument) -> Option<String> {
    let text = &document.doc.value;
    let certain = !document.requires_expansion || !text.contains(['$', '`', '\\']);
    certain.then(|| text.clone())
}
