//! The effect of each program on the files that it names.

use super::literal::{is_file, joined, name};
use super::redirects::CommandInput;
use super::{FileWalk, SimpleRun, diffs, may_write, printed};
use crate::purpose_tables::listed;
use crate::wrappers::{self, program};
use crate::{effect, purpose};
use tooltrail_model::changes::{Certainty, FileOp};
use tooltrail_model::command::Purpose;
use tooltrail_model::patch::{FileChange, FilePatch};

/// Wrappers that run a command here, as the shell would.
const WRAPPERS: &str = "sudo doas command builtin env nice ionice time timeout gtimeout stdbuf";
/// Programs that run a file that they are given, and do not change it.
const RUNNERS: &str = "python python3 node bash sh zsh ruby perl php deno bun tsx go rustc gcc cc g++ clang make chmod git ls npx";
/// Subcommands of git that put other texts into files.
const RESETS: &str = "checkout restore reset stash switch merge rebase pull cherry-pick revert clean am";

/// The words of a command behind wrappers that change nothing about it; `None` behind others.
pub(super) fn behind(words: &[String]) -> Option<&[String]> {
    let own = wrappers::behind(words);
    let before = words.len() - own.len();
    let wrapper = words.first().map(|word| program(word));
    (before == 0 || wrapper.is_some_and(|name| listed(WRAPPERS, name))).then_some(own)
}

/// Words of a command in their roles: options and operands.
struct Operands<'w> {
    options: Vec<&'w str>,
    /// `None` for one that a shell would expand.
    files: Vec<Option<&'w str>>,
}

impl<'w> Operands<'w> {
    /// Sorts words. Options in `valued` take the next word.
    fn of(words: &'w [Option<String>], valued: &str) -> Self {
        let mut sorted = Operands { options: Vec::new(), files: Vec::new() };
        let mut words = words.iter();
        let mut ended = false;
        while let Some(word) = words.next() {
            match word.as_deref() {
                Some("--") if !ended => ended = true,
                Some(option) if !ended && option.len() > 1 && option.starts_with('-') => {
                    sorted.options.push(option);
                    if listed(valued, option) {
                        words.next();
                    }
                }
                file => sorted.files.push(file),
            }
        }
        sorted
    }

    /// Whether an option is given: by one of its letters, bundled or not, or by its long name.
    fn has(&self, letters: &[char], long: &[&str]) -> bool {
        self.options.iter().any(|option| match option.strip_prefix("--") {
            Some(name) => long.contains(&name),
            None => option.contains(letters),
        })
    }
}

impl FileWalk {
    /// Takes the effects of a simple command, and gives the text that it surely prints.
    pub(super) fn run(&mut self, run: &SimpleRun<'_>, known: bool, assigned: &[String]) -> Option<String> {
        let first = run.words.first().and_then(Option::as_deref).map(program).unwrap_or_default();
        if !matches!(first, "cd" | "pushd" | "popd" | "set" | "export") {
            self.commands += 1;
        }
        // Without a program only the redirections happen, or the shell does something of its own.
        let rest = run.words.get(1..).unwrap_or_default();
        let printed = if known { self.printed(run, first, rest) } else { None };
        let done = run.written.is_empty() || (known && !first.is_empty() && self.program(run, first, rest, printed.as_deref()));
        self.outputs(run, printed.as_deref(), (first, rest));
        if !done {
            self.other(run, first, assigned);
        }
        // Redirected output is not printed any more.
        printed.filter(|_| run.redirects.outputs.is_empty() && run.redirects.others.is_empty() && !run.redirects.moved)
    }

    /// The text that a command prints, where the line has it.
    fn printed(&mut self, run: &SimpleRun<'_>, first: &str, rest: &[Option<String>]) -> Option<String> {
        let words = || rest.iter().cloned().collect::<Option<Vec<String>>>();
        let input = || if let CommandInput::Text(text) = &run.input { Some(text.clone()) } else { None };
        match first {
            "" if run.written.is_empty() => Some(String::new()),
            ":" | "true" => Some(String::new()),
            "echo" => printed::echo(&words()?),
            "printf" => printed::printf(&words()?),
            "cat" => match &*words()? {
                [] => input(),
                [only] if only == "-" => input(),
                [only] if only == "/dev/null" => Some(String::new()),
                [only] if !only.starts_with('-') => {
                    self.prints(run, only);
                    None
                }
                _ => None,
            },
            "tee" => input(),
            _ => None,
        }
    }

    /// Notes a file that is printed as a whole.
    fn prints(&mut self, run: &SimpleRun<'_>, path: &str) {
        let plain = run.redirects.outputs.is_empty() && run.redirects.others.is_empty() && !run.redirects.moved;
        let alone = plain && run.certainty == Certainty::Proven && !self.shell.inner && self.shell.arrived == Certainty::Proven;
        self.files.prints = self.shell.directory.as_deref().filter(|_| alone).map(|directory| joined(directory, path));
    }

    /// The files that standard output and errors are redirected to.
    fn outputs(&mut self, run: &SimpleRun<'_>, printed: Option<&str>, (first, rest): (&str, &[Option<String>])) {
        let keeps = self.shell.keeps;
        let certainty = if keeps { Certainty::Maybe } else { run.opened };
        for target in &run.redirects.others {
            self.touch(target.path.as_deref(), certainty, run.text);
        }
        let single = run.redirects.outputs.len() == 1 && !run.redirects.moved;
        for target in &run.redirects.outputs {
            let Some(path) = target.path.as_deref() else {
                self.files.complete = false;
                continue;
            };
            let op = match (printed.filter(|_| single), (first, rest), target.append) {
                (Some(text), _, true) => FileOp::Append(text.to_owned()),
                (Some(text), _, false) => FileOp::Write(text.to_owned()),
                (None, ("cat", [Some(from)]), false) if single && !from.starts_with('-') => FileOp::Copy { from: from.clone() },
                _ => FileOp::Touch,
            };
            self.add(path, op, certainty, run.text);
        }
    }

    /// Takes the effects of a known program; false where it may have others.
    fn program(&mut self, run: &SimpleRun<'_>, first: &str, rest: &[Option<String>], printed: Option<&str>) -> bool {
        match first {
            "cd" | "pushd" | "popd" => self.enter(run, first, rest),
            "exit" | "return" | "exec" => self.exit(first, rest),
            "set" => {
                let words: Vec<String> = rest.iter().flatten().cloned().collect();
                self.set(&words);
            }
            "tee" => return self.tee(run, rest, printed),
            "rm" | "unlink" => return self.remove(run, rest, first == "unlink"),
            "mv" => return self.relocate(run, rest, |path, to| (path.to_owned(), FileOp::Move { to })),
            "cp" => return self.relocate(run, rest, |path, to| (to, FileOp::Copy { from: path.to_owned() })),
            "touch" => {
                let operands = Operands::of(rest, "-d -t -r --date --reference");
                if !operands.has(&['c'], &["no-create"]) {
                    return self.each(run, &operands.files, || FileOp::Create);
                }
            }
            "truncate" => {
                let operands = Operands::of(rest, "-s -r --reference");
                let empties = rest.windows(2).any(|pair| matches!(pair, [Some(option), Some(size)] if option == "-s" && size == "0"));
                let empties = empties || operands.options.iter().any(|option| matches!(*option, "-s0" | "--size=0"));
                return self.each(run, &operands.files, || if empties { FileOp::Write(String::new()) } else { FileOp::Touch });
            }
            "sed" | "gsed" => return self.sed(run, rest),
            "perl" | "ruby" => return self.perl(run, rest),
            "git" => return self.git(run, rest),
            "patch" => return self.patch(run, rest),
            "bash" | "sh" | "zsh" | "dash" => return self.shell_text(run, rest),
            "apply_patch" | "applypatch" => self.feed(run, first, rest),
            _ => return false,
        }
        true
    }

    /// A command with effects that are not known: whether it may change files, and which of those that the line wrote before.
    fn other(&mut self, run: &SimpleRun<'_>, first: &str, assigned: &[String]) {
        let words: Vec<String> = run.written.iter().map(|word| crate::words::unquote(word)).collect();
        let own = wrappers::behind(&words);
        let purpose = purpose::of(own);
        let command = run.written.first().is_some_and(|word| self.shell.functions.iter().any(|function| function == word));
        if !command && !effect::writes(own, assigned, purpose) {
            return;
        }
        self.files.complete = false;
        let everything =
            purpose == Some(Purpose::Format) || command || (first == "git" && own.iter().skip(1).any(|word| listed(RESETS, word)));
        let before: Vec<String> = self.files.effects.iter().map(|effect| effect.path.clone()).collect();
        let named =
            |path: &str| own.iter().skip(1).any(|word| path == word || path.ends_with(&format!("/{}", word.trim_start_matches("./"))));
        for path in before {
            if everything || (!listed(RUNNERS, first) && named(&path)) {
                // The path is behind the directory already.
                let directory = self.shell.directory.replace(String::new());
                self.add(&path, FileOp::Doubt, Certainty::Maybe, run.text);
                self.shell.directory = directory;
            }
        }
    }

    fn enter(&mut self, run: &SimpleRun<'_>, first: &str, rest: &[Option<String>]) {
        let operands = Operands::of(rest, "");
        let to = match &*operands.files {
            [Some(path)] if first != "popd" && *path != "-" && operands.options.is_empty() => Some(*path),
            _ => None,
        };
        if self.shell.ended || run.certainty == Certainty::Maybe {
            self.shell.directory = None;
            return;
        }
        self.shell.directory =
            to.and_then(|to| if super::is_rooted(to) { Some(to.to_owned()) } else { Some(joined(self.shell.directory.as_deref()?, to)) });
        self.shell.arrived = if to.is_some_and(super::is_rooted) { run.certainty } else { self.shell.arrived.min(run.certainty) };
    }

    /// The shell ends here, or may end here. An end with a code of failure did not happen in a line that succeeded.
    fn exit(&mut self, first: &str, rest: &[Option<String>]) {
        let failure = matches!(rest, [Some(code)] if code.parse::<u8>().is_ok_and(|code| code != 0));
        // `exec` with redirections alone goes on.
        let goes_on = (first == "exec" && rest.is_empty()) || (first == "exit" && failure && !self.shell.inner);
        self.shell.ended |= !goes_on;
    }

    /// Adds one effect on each file.
    fn each(&mut self, run: &SimpleRun<'_>, files: &[Option<&str>], op: impl Fn() -> FileOp) -> bool {
        for file in files {
            match file {
                Some(path) => self.add(path, op(), run.certainty, run.text),
                None => self.files.complete = false,
            }
        }
        true
    }

    fn tee(&mut self, run: &SimpleRun<'_>, rest: &[Option<String>], printed: Option<&str>) -> bool {
        let operands = Operands::of(rest, "");
        let append = operands.has(&['a'], &["append"]);
        self.each(run, &operands.files, || match (printed, append) {
            (Some(text), true) => FileOp::Append(text.to_owned()),
            (Some(text), false) => FileOp::Write(text.to_owned()),
            (None, _) => FileOp::Touch,
        })
    }

    fn remove(&mut self, run: &SimpleRun<'_>, rest: &[Option<String>], unlink: bool) -> bool {
        let operands = Operands::of(rest, "");
        // One that asks may be told no.
        let asks = operands.has(&['i', 'I'], &["interactive"]);
        let force = !unlink && operands.has(&['f', 'r', 'R'], &["force", "recursive"]);
        self.each(run, &operands.files, || if asks { FileOp::Doubt } else { FileOp::Remove { force } })
    }

    /// `mv`, `cp` and `git mv`: what happens to a file, given its path and the new one.
    fn relocate(&mut self, run: &SimpleRun<'_>, rest: &[Option<String>], op: impl Fn(&str, String) -> (String, FileOp)) -> bool {
        let operands = Operands::of(rest, "-t -S --target-directory --suffix");
        let maybe = operands.has(&['n', 'i', 'u'], &["no-clobber", "interactive", "update"]);
        let whole = operands.has(&['r', 'R', 'a', 't', 'b'], &["recursive", "archive", "backup"])
            || operands.options.iter().any(|option| option.starts_with("--target") || option.starts_with("--backup"));
        let Some((target, sources)) = operands.files.split_last() else { return true };
        let certainty = if maybe { Certainty::Maybe } else { run.certainty };
        for source in sources {
            let (Some(source), Some(target)) = (source, target) else {
                self.files.complete = false;
                source.iter().chain(target).for_each(|path| self.add(path, FileOp::Doubt, certainty, run.text));
                continue;
            };
            let inside = joined(target, name(source));
            let to = match sources.len() {
                1 if !whole && is_file(target, source) => Some((*target).to_owned()),
                // Several files, or a path that ends with a slash, need a directory.
                1 if !target.ends_with('/') && !matches!(*target, "." | "..") => None,
                _ => Some(inside.clone()),
            };
            // Without an ending the source may be a directory.
            match to.filter(|_| !whole && is_file(source, target)) {
                Some(to) => {
                    let (path, op) = op(source, to);
                    self.add(&path, op, certainty, run.text);
                }
                None => {
                    self.files.complete = false;
                    [*target, &*inside, *source].into_iter().for_each(|path| self.add(path, FileOp::Doubt, certainty, run.text));
                }
            }
        }
        true
    }

    fn sed(&mut self, run: &SimpleRun<'_>, rest: &[Option<String>]) -> bool {
        let (mut in_place, mut script, mut ended) = (false, false, false);
        let mut files: Vec<Option<&str>> = Vec::new();
        let mut words = rest.iter().map(Option::as_deref).peekable();
        while let Some(word) = words.next() {
            match word {
                Some("--") if !ended => ended = true,
                Some(option) if !ended && option.starts_with("--") => {
                    in_place |= option.starts_with("--in-place");
                    script |= option.starts_with("--expression") || option.starts_with("--file");
                    if matches!(option, "--expression" | "--file") {
                        words.next();
                    }
                }
                Some(option) if !ended && option.len() > 1 && option.starts_with('-') => {
                    // The rest of a word behind `i` is a suffix, that behind `e` a script.
                    match option.char_indices().find(|(_, letter)| matches!(letter, 'i' | 'e' | 'f' | 'l')) {
                        Some((_, 'i')) => {
                            in_place = true;
                            // BSD takes the suffix as a word of its own.
                            words.next_if(|next| *next == Some(""));
                        }
                        Some((at, letter)) => {
                            script |= letter != 'l';
                            if at + 1 == option.len() {
                                words.next();
                            }
                        }
                        None => {}
                    }
                }
                file => files.push(file),
            }
        }
        if !script && !files.is_empty() {
            files.remove(0);
        }
        if in_place { self.each(run, &files, || FileOp::Touch) } else { false }
    }

    fn perl(&mut self, run: &SimpleRun<'_>, rest: &[Option<String>]) -> bool {
        let (mut in_place, mut script) = (false, false);
        let mut words = rest.iter().map(Option::as_deref).peekable();
        while let Some(option) = words.next_if(|word| word.is_some_and(|word| word.len() > 1 && word.starts_with('-'))).flatten() {
            for (at, letter) in option.char_indices().skip(1) {
                match letter {
                    'i' => in_place = true,
                    'e' | 'E' => {
                        script = true;
                        if at + 1 == option.len() {
                            words.next();
                        }
                    }
                    _ => {}
                }
                // What stands behind these letters is their value.
                if matches!(letter, 'i' | 'e' | 'E' | 'M' | 'm' | 'I' | 'F' | 'x') {
                    break;
                }
            }
        }
        let files: Vec<Option<&str>> = words.skip(usize::from(!script)).collect();
        if in_place { self.each(run, &files, || FileOp::Touch) } else { false }
    }

    fn git(&mut self, run: &SimpleRun<'_>, rest: &[Option<String>]) -> bool {
        let Some((Some(command), rest)) = rest.split_first() else { return false };
        match command.as_str() {
            "apply" => self.git_apply(run, rest),
            // It refuses to overwrite a file.
            "mv" if !Operands::of(rest, "").has(&['f', 'k'], &["force"]) => self.relocate(run, rest, |path, to| {
                let (path, hunks) = (path.to_owned(), Vec::new());
                (path.clone(), FileOp::Patch(FilePatch { path, moved_to: Some(to), change: FileChange::Update, hunks, content: None }))
            }),
            "rm" if !Operands::of(rest, "").has(&['n'], &["cached", "dry-run"]) => self.remove(run, rest, false),
            "checkout" | "restore" => {
                let paths = rest.iter().position(|word| word.as_deref() == Some("--")).map(|at| at + 1);
                let staged = Operands::of(rest, "").has(&['S', 'p'], &["staged", "patch"]);
                let restored = match paths.or((command == "restore").then_some(0)) {
                    Some(at) if !staged => rest.get(at..).unwrap_or_default(),
                    _ => return false,
                };
                let operands = Operands::of(restored, "-s --source");
                // A path without an ending may be a directory, and every file in it.
                if operands.files.iter().any(|file| !file.is_some_and(|file| is_file(file, ""))) {
                    return false;
                }
                self.each(run, &operands.files, || FileOp::Touch)
            }
            _ => false,
        }
    }

    fn git_apply(&mut self, run: &SimpleRun<'_>, rest: &[Option<String>]) -> bool {
        let operands = Operands::of(rest, "");
        let looks = operands.has(&[], &["check", "stat", "numstat", "summary", "cached"]);
        let apply = operands.has(&[], &["apply"]);
        if looks && !apply {
            return true;
        }
        // Other options change what is applied, or where.
        let harmless = |option: &&str| {
            matches!(*option, "-v" | "-q" | "--verbose" | "--quiet" | "--index" | "--recount" | "-p1" | "--unidiff-zero" | "--allow-empty")
                || option.starts_with("--whitespace=nowarn")
                || option.starts_with("--whitespace=warn")
        };
        let CommandInput::Text(text) = &run.input else { return false };
        let plain = operands.options.iter().all(harmless) && matches!(&*operands.files, [] | [Some("-")]);
        // In a directory below, git takes the names of its own diffs from the top of the repository.
        let top = self.shell.directory.as_deref() == Some("") || !text.contains("diff --git ");
        self.apply(run, diffs::files(text, 1).filter(|_| top), plain)
    }

    fn patch(&mut self, run: &SimpleRun<'_>, rest: &[Option<String>]) -> bool {
        let operands = Operands::of(rest, "-p -d -i --strip --directory --input");
        if operands.has(&[], &["dry-run"]) {
            return true;
        }
        let words: Vec<&str> = rest.iter().flatten().map(String::as_str).collect();
        let apart = words.windows(2).find(|pair| matches!(pair[0], "-p" | "--strip")).map(|pair| pair[1]);
        let strip = words.iter().find_map(|word| word.strip_prefix("-p").or(word.strip_prefix("--strip="))).filter(|text| !text.is_empty());
        let strip = strip.or(apart).and_then(|text| text.parse::<usize>().ok());
        let harmless = |option: &&str| {
            matches!(
                *option,
                "-p" | "--strip" | "-s" | "-N" | "-u" | "-E" | "--forward" | "--silent" | "--quiet" | "--no-backup-if-mismatch"
            ) || option.strip_prefix("-p").is_some_and(|rest| rest.parse::<usize>().is_ok())
                || option.starts_with("--strip=")
        };
        let (CommandInput::Text(text), Some(strip)) = (&run.input, strip) else { return false };
        let plain = operands.options.iter().all(harmless) && operands.files.is_empty();
        self.apply(run, diffs::files(text, strip), plain)
    }

    /// Adds the changes of a patch; without certainty about it the files are only touched.
    fn apply(&mut self, run: &SimpleRun<'_>, files: Option<Vec<FilePatch>>, plain: bool) -> bool {
        let Some(files) = files else { return false };
        for file in files {
            let path = file.path.clone();
            // A patch that failed in part left some files as they were.
            let op = if plain && run.certainty == Certainty::Proven { FileOp::Patch(file) } else { FileOp::Touch };
            self.add(&path, op, run.certainty, run.text);
        }
        true
    }

    /// `bash -c TEXT`, and a heredoc for a shell.
    fn shell_text(&mut self, run: &SimpleRun<'_>, rest: &[Option<String>]) -> bool {
        let words: Option<Vec<String>> = rest.iter().cloned().collect();
        let Some(words) = words else { return false };
        let options = words.iter().take_while(|word| word.starts_with('-')).count();
        let given = words.iter().take(options).any(|word| !word.starts_with("--") && word.contains('c'));
        let text = match (&run.input, words.get(options)) {
            (_, Some(text)) if given => text,
            (CommandInput::Text(text), None) if !given => text,
            _ => return false,
        };
        let options = words.get(..options).unwrap_or_default();
        // Its output is not this line's, if it is redirected.
        let walked = self.apart(|walk| {
            walk.shell.errexit = false;
            walk.shell.functions.clear();
            walk.set(options);
            walk.text(text, run.certainty, run.depth + 1)
        });
        self.files.complete &= walked.is_some() || !may_write(text, run.depth);
        true
    }
}
