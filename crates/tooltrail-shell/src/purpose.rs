//! The purpose of a simple command, by its program and the words that say what it does.
//!
//! The rules are here, the lists of programs in `purpose_tables`. A command without a known purpose has none: a wrong one would put a
//! deploy among the tests.

use crate::interpreters;
use crate::purpose_tables::{BY_PROGRAM, BY_WORD, MAKERS, NOT_VALUED, PRINTING, SCRIPTS, VALUED, VERBOSE_V, VERSION_BY_V, listed};
use crate::wrappers::{is_assignment, program};
use tooltrail_model::command::Purpose;
use tooltrail_model::command::Purpose::{Build, Format, Install, Lint, Test};

/// The purpose of a command, given its words behind wrappers.
pub(crate) fn of(words: &[String]) -> Option<Purpose> {
    if prints(words) { None } else { by_program(words) }
}

/// The purpose that a command would have if it did not only print a setting, a list, its version or its help; `None` for all others.
pub(crate) fn of_printing(words: &[String]) -> Option<Purpose> {
    if prints(words) { by_program(words) } else { None }
}

/// Whether a command only prints something about itself or its settings: such a run checks and makes nothing.
fn prints(words: &[String]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let name = program(first);
    // With a value behind it, `--version` says which one to install.
    if rest.first().is_some_and(|word| listed("--version --help -version", word)) {
        return true;
    }
    match rest.last().map(String::as_str) {
        Some("--version" | "--help" | "-version" | "-h") => return true,
        Some("-V") if !listed(VERBOSE_V, name) => return true,
        Some("-v") if rest.len() == 1 && listed(VERSION_BY_V, name) => return true,
        _ => {}
    }
    rest.iter().filter(|word| word.starts_with('-')).any(|word| {
        let option = word.split_once('=').map_or(word.as_str(), |(option, _)| option);
        PRINTING.iter().any(|(programs, options)| listed(options, option) && (programs.is_empty() || listed(programs, name)))
    })
}

/// The purpose of a command by its program, whatever it prints.
fn by_program(words: &[String]) -> Option<Purpose> {
    let (first, rest) = words.split_first()?;
    let name = program(first);
    // `cargo +nightly test`: the toolchain is neither an option nor what to do.
    let said: Vec<&str> = said_words(name, rest).filter(|word| !word.starts_with('+')).collect();
    // Both run what their environments are named after, and tests where nothing is named.
    if matches!(name, "tox" | "nox") {
        return said.iter().find_map(|word| named(word, None)).or(Some(Test));
    }
    if let Some(purpose) = BY_PROGRAM.get(name) {
        return Some(*purpose);
    }
    if listed(MAKERS, name) {
        // A dry run makes nothing.
        if name == "make" && rest.iter().any(|word| listed("-n -q -qp -p --dry-run --question", word)) {
            return None;
        }
        return maker(name, &said);
    }
    // Before the package managers: `bun x.test.ts` runs a file.
    if let Some(purpose) = interpreters::purpose(name, rest) {
        return Some(purpose);
    }
    if listed(SCRIPTS, name) {
        return script(name, rest, &said);
    }
    of_its_own(name, first, rest, &said)
}

/// The purpose of a program that takes its words in a way of its own.
fn of_its_own(name: &str, first: &str, rest: &[String], said: &[&str]) -> Option<Purpose> {
    let has = |wanted: &str| rest.iter().any(|word| word == wanted);
    match (name, said) {
        ("node" | "tsx", _) => has("--test").then_some(Test),
        // `python -m build`.
        ("build", _) if first == "build" => Some(Build),
        ("cmake", _) if has("--build") => {
            if said.contains(&"test") {
                Some(Test)
            } else {
                Some(Build)
            }
        }
        ("cmake", _) => has("--install").then_some(Install),
        ("cargo", ["xtask" | "make" | "hack" | "insta", told, ..]) => by_word("cargo", told).or_else(|| named(told, Some(Test))),
        ("cargo", ["test" | "t", ..]) if has("--no-run") => Some(Build),
        ("zig", ["build", targets @ ..]) => {
            if targets.contains(&"test") {
                Some(Test)
            } else {
                Some(Build)
            }
        }
        ("deno", ["task", told, ..]) | ("mise" | "vp", ["run" | "r", told, ..]) => named(told, Some(Lint)),
        ("bash" | "sh" | "zsh", [path, ..]) => project_script(path),
        ("mvn" | "mvnw" | "xcodebuild" | "sbt", [_, ..]) => said.iter().filter_map(|word| by_word(name, word)).min(),
        ("bundle", []) => Some(Install),
        ("xcodebuild" | "hugo", []) => Some(Build),
        ("pacman" | "yay", _) => rest.iter().find_map(|word| by_word(name, word)),
        _ => {
            let introduces = |word: &&&str| listed("compose tool pip buildx image pub component target toolchain", word);
            let told = said.iter().find(|word| !introduces(word));
            told.and_then(|told| by_word(name, told)).or_else(|| project_script(first))
        }
    }
}

/// The purpose of a script of the project, by its name: `./scripts/test.sh`.
fn project_script(path: &str) -> Option<Purpose> {
    let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.strip_suffix(".sh");
    let among_scripts = || listed("scripts script ci", directory.rsplit('/').next().unwrap_or_default()) && !file.contains('.');
    named(stem.or_else(|| among_scripts().then_some(file))?, None)
}

/// The purpose of one word of a program with several purposes.
fn by_word(name: &str, word: &str) -> Option<Purpose> {
    BY_WORD.get(name)?.iter().find(|(_, words)| listed(words, word)).map(|(purpose, _)| *purpose)
}

/// The purpose of a maker's targets; without a target it builds.
fn maker(name: &str, said: &[&str]) -> Option<Purpose> {
    let targets =
        said.iter().filter(|word| !is_assignment(word) && !listed("run run-many affected exec", word) && word.parse::<u64>().is_err());
    let mut targets = targets.peekable();
    if targets.peek().is_none() {
        return matches!(name, "make" | "gmake" | "ninja").then_some(Build);
    }
    targets.filter_map(|target| named(target, Some(Test)).or_else(|| listed("all release debug", target).then_some(Build))).min()
}

/// The purpose of a package's script, of a command of the package manager, or of a program that a package brings.
fn script(name: &str, rest: &[String], said: &[&str]) -> Option<Purpose> {
    let mut said = said.iter().copied().peekable();
    // `yarn workspace web test`, `yarn workspaces foreach run test`.
    while let Some(word) = said.next_if(|word| listed("workspace workspaces foreach recursive multi", word)) {
        if word == "workspace" {
            said.next();
        }
    }
    let Some(first) = said.next() else { return (name == "yarn").then_some(Install) };
    if listed("run run-script rum", first) {
        return said.next().and_then(|script| named(script, Some(Lint)));
    }
    if let Some(purpose) = by_word(name, first) {
        return Some(purpose);
    }
    if listed("exec dlx x create init publish audit outdated why list ls view info remove uninstall rm link pack config store cache", first)
    {
        return None;
    }
    let at = rest.iter().position(|word| word == first)?;
    named(first, Some(Lint)).or_else(|| of(rest.get(at..)?))
}

/// The purpose of a name that a project chose: `test:unit`, `lint-fix`, `testDebugUnitTest`. `check` is the meaning of that word here, which
/// differs between tools.
fn named(name: &str, check: Option<Purpose>) -> Option<Purpose> {
    // A file for an interpreter is not the name of a script.
    if [".ts", ".js", ".mjs", ".tsx", ".py", ".cjs"].iter().any(|ending| name.ends_with(ending)) {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split([':', '-', '_', '.', '/']).filter(|part| !part.is_empty()).collect();
    if parts.first().is_some_and(|part| listed("start dev serve generate gen deploy clean migrate seed preview watch fix", part)) {
        return None;
    }
    if listed("typecheck checktypes typescheck tsccheck", &parts.concat()) {
        return Some(Build);
    }
    let known = |part: &&str| {
        const NAMES: &[(Purpose, &str)] = &[
            (Test, "test tests testing spec specs unit e2e integration jest vitest pytest playwright cypress coverage nextest rspec"),
            (Build, "build builds compile bundle tsc typecheck assemble package dist"),
            (Lint, "lint lints linter eslint clippy mypy ruff biome pyright vet shellcheck"),
            (Format, "format fmt prettier spotlessapply spotlesscheck formatting"),
            (Install, "install deps bootstrap"),
        ];
        NAMES.iter().find(|(_, names)| listed(names, part)).map(|(purpose, _)| *purpose)
    };
    // Gradle writes names in camel case: `assembleDebug`, `connectedAndroidTest`.
    let camel = || {
        let last = name.rsplit(':').next().unwrap_or(name);
        let starts =
            |wanted: &[&str]| wanted.iter().any(|start| last.strip_prefix(start).is_some_and(|rest| rest.starts_with(char::is_uppercase)));
        if last.contains("Test") || starts(&["test"]) {
            Some(Test)
        } else if starts(&["assemble", "compile", "bundle", "build", "boot"]) || last == "jar" {
            Some(Build)
        } else if starts(&["lint", "ktlint", "checkstyle"]) || last == "detekt" {
            Some(Lint)
        } else {
            None
        }
    };
    let generic = || parts.iter().any(|part| listed("check checks verify", part)).then_some(check).flatten();
    parts.iter().find_map(known).or_else(camel).or_else(generic)
}

/// The words of a program that are neither options nor their values.
pub(crate) fn said_words<'w>(program: &str, words: &'w [String]) -> impl Iterator<Item = &'w str> {
    let free = NOT_VALUED.iter().find(|(programs, _)| listed(programs, program)).map_or("", |(_, options)| options);
    let mut words = words.iter().map(String::as_str);
    std::iter::from_fn(move || {
        loop {
            let word = words.next()?;
            if !word.starts_with('-') {
                return Some(word);
            }
            if listed(VALUED, word) && !listed(free, word) {
                words.next();
            }
        }
    })
}
