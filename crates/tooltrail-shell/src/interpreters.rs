//! The purpose of a run of an interpreter: a test file (`python test_x.py`), a check of the syntax (`bash -n`), an expression of R.
//!
//! An interpreter runs anything, so only names that are reserved for tests and options that run nothing give it a purpose.

use crate::purpose_tables::listed;
use tooltrail_model::command::Purpose;
use tooltrail_model::command::Purpose::{Build, Format, Install, Lint, Test};

/// Interpreters: their names, the options that check the syntax and run nothing, the endings of their files.
const INTERPRETERS: &[(&str, &str, &str)] = &[
    ("node tsx ts-node bun deno", "--check -c", "js mjs cjs jsx ts mts cts tsx"),
    ("python python2 python3 py pypy pypy3", "", "py"),
    ("ruby", "-c -wc -cw", "rb"),
    ("perl", "-c -wc -cw", "pl t"),
    ("php", "-l --syntax-check", "php"),
    ("lua luajit", "", "lua"),
    ("bash sh zsh dash ksh", "-n", "sh bash zsh bats"),
];

/// Functions of R packages and what they are for, by the beginning of a call.
const R_FUNCTIONS: &[(Purpose, &str)] = &[
    (
        Test,
        "testthat:: devtools::test( devtools::test_ devtools::check( devtools::run_examples( rcmdcheck:: tinytest:: covr:: test_dir( \
         test_file( test_local( test_package( test_check( rcmdcheck( shinytest2::test_",
    ),
    (Lint, "lintr:: lint_dir( lint_package( goodpractice::"),
    (Format, "styler::"),
    (
        Build,
        "devtools::build( devtools::document( pkgbuild:: roxygen2:: roxygenise( roxygenize( pkgdown::build rmarkdown::render( quarto::",
    ),
    (Install, "install.packages( devtools::install remotes::install pak:: renv::restore( renv::install( BiocManager::install("),
];

/// The purpose of an interpreter's run, given the words behind its name; `None` if it is no interpreter, or it runs something else.
pub(crate) fn purpose(name: &str, rest: &[String]) -> Option<Purpose> {
    if matches!(name, "R" | "Rscript" | "Rterm") {
        return r(rest);
    }
    // `python3.12` is one of several versions.
    let name = if name.starts_with("python3.") { "python3" } else { name };
    let (_, checks, endings) = INTERPRETERS.iter().find(|(names, ..)| listed(names, name))?;
    let options: Vec<&str> = rest.iter().map(String::as_str).take_while(|word| word.starts_with('-')).collect();
    if options.iter().any(|option| listed(checks, option)) {
        return Some(Lint);
    }
    // With a text as its program (`-c`, `-e`), the first operand is no file.
    if options.iter().any(|option| listed("-c -e -p -m --eval --print -r", option)) && name != "bun" {
        return None;
    }
    let mut operands = rest.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
    let file = operands.find(|word| *word != "run")?;
    is_test_file(file, endings).then_some(Test)
}

/// Whether a file is a test by its name, as runners find tests: `test_x.py`, `x_test.rb`, `x.test.js`, `x.spec.ts`, `tests.py`.
fn is_test_file(path: &str, endings: &str) -> bool {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let Some((stem, ending)) = file.rsplit_once('.') else { return false };
    if !listed(endings, ending) {
        return false;
    }
    let stem = stem.to_ascii_lowercase();
    let mut parts = stem.split(['_', '-', '.']).filter(|part| !part.is_empty());
    let (first, last) = (parts.next().unwrap_or_default(), parts.next_back());
    let reserved = |part: &str| listed("test tests spec testthat runtests", part);
    // `run_tests.py` ends like a test and is one; so does `clean_test.py`, which runners would take for one as well.
    reserved(first) || last.is_some_and(reserved)
}

/// The purpose of a run of R: `R CMD check`, an expression, a test file.
fn r(rest: &[String]) -> Option<Purpose> {
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    if let Some(at) = words.iter().position(|word| *word == "CMD") {
        return match words.get(at + 1).copied()? {
            "check" => Some(Test),
            "build" | "Rd2pdf" | "SHLIB" => Some(Build),
            "INSTALL" => Some(Install),
            "BATCH" => words.get(at + 2..)?.iter().find(|word| !word.starts_with('-')).and_then(|file| r_file(file)),
            _ => None,
        };
    }
    let expressions: Vec<&str> = words.windows(2).filter(|pair| pair[0] == "-e").map(|pair| pair[1]).collect();
    if expressions.is_empty() {
        let file = words
            .iter()
            .position(|word| *word == "-f")
            .and_then(|at| words.get(at + 1))
            .or(words.iter().find(|word| !word.starts_with('-')));
        return file.and_then(|file| r_file(file));
    }
    let calls = |function: &str| expressions.iter().any(|text| calls(text, function));
    R_FUNCTIONS.iter().find(|(_, functions)| functions.split_ascii_whitespace().any(calls)).map(|(purpose, _)| *purpose)
}

fn r_file(path: &str) -> Option<Purpose> {
    is_test_file(path, "R r").then_some(Test)
}

/// Whether an expression calls a function, and not one whose name only ends alike.
fn calls(text: &str, function: &str) -> bool {
    let before = |at: usize| text.get(..at).and_then(|before| before.chars().next_back());
    let apart = |letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '.'));
    text.match_indices(function).any(|(at, _)| before(at).is_none_or(apart))
}
