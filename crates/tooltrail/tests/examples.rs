//! Every example in README.md, in docs/ and in `--help` is run, on the logs of the demo. An example that does not parse, names an option that
//! is gone or shows output that is not printed fails here.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, where a panic is the report

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Copies a directory.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() { copy(&entry.path(), &target) } else { assert!(fs::copy(entry.path(), target).is_ok()) }
    }
}

/// A home directory with the logs of the demo, and the files that examples name.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo");
    copy(&demo.join("projects"), &home.path().join(".claude/projects"));
    copy(&demo.join("codex"), &home.path().join(".codex"));
    let log = demo.join("projects/-srv-orbit/3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13.jsonl");
    fs::copy(log, home.path().join("session.jsonl")).unwrap();
    fs::write(home.path().join("report.sql"), "SELECT count(*) AS calls FROM calls").unwrap();
    fs::create_dir_all(home.path().join("logs")).unwrap();
    fs::create_dir_all(home.path().join("src/scheduler")).unwrap();
    home
}

/// What examples name and the demo has under another name, or not at all.
const INSTEAD: &[(&str, &str)] = &[
    ("3f2a:41", "3f2a:5"),
    ("last:last", "3f2a:5"),
    ("--version 3", "--version 1"),
    ("session.jsonl:42", "session.jsonl:11"),
    ("--turns 3..5", "--turns 1"),
    ("--turns 3", "--turns 1"),
    ("/mnt/backup/home", "."),
    ("--root DIR", "--root ."),
    ("/tmp/logs", "logs"),
    ("project:api", "project:orbit"),
    ("src/main.rs", "src/scheduler/backoff.rs"),
];

/// Commands that go on until they are ended, or open a browser. Only their arguments are checked.
const ENDLESS: &[&str] = &[
    "tooltrail board --json",
    "tooltrail serve",
    "tooltrail open",
    "tooltrail tail",
    "tooltrail show -i",
    "tooltrail keep schedule --install",
];

/// Runs an example as a shell would.
fn run(home: &Path, example: &str) -> Output {
    let mut line = example.to_owned();
    for (from, to) in INSTEAD {
        line = line.replace(from, to);
    }
    if ENDLESS.iter().any(|start| line.starts_with(start)) {
        line = format!("{} --help", line.split(" # ").next().unwrap_or_default());
    }
    let program = Path::new(env!("CARGO_BIN_EXE_tooltrail")).parent().unwrap().to_owned();
    let path = std::env::join_paths([program, "/usr/bin".into(), "/bin".into()]).unwrap();
    let mut command = Command::new("bash");
    command.args(["-c", &line]).env_clear().env("HOME", home).env("PATH", path).env("TZ", "UTC").current_dir(home);
    // Help is wrapped to the terminal, and an example that is broken off cannot be run.
    command.env("COLUMNS", "1000");
    command.stdin(Stdio::null()).output().unwrap()
}

/// The part of an example before a pipe or a comment: what comes behind is another program.
fn own(line: &str) -> String {
    let (mut quote, mut out) = (None, String::new());
    for letter in line.chars() {
        match (quote, letter) {
            (None, '|') => break,
            (None, '#') if out.ends_with(' ') => break,
            // In `--help` and in lists the explanation stands behind two spaces.
            (None, ' ') if out.ends_with(' ') => break,
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            _ => {}
        }
        out.push(letter);
    }
    out.trim().to_owned()
}

/// Runs an example that has to work: found (0) or not found (1), but understood.
fn works(home: &Path, from: &str, line: &str) {
    let example = own(line);
    let output = run(home, &example);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{from}: `{example}` exits with {:?}: {error}", output.status.code());
    assert!(!error.contains("panicked"), "{from}: `{example}`: {error}");
}

/// The blocks of code in a document: language and lines.
fn blocks(document: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in document.lines() {
        match line.trim_start().strip_prefix("```") {
            Some(language) if !inside => {
                found.push((language.to_owned(), Vec::new()));
                inside = true;
            }
            Some(_) => inside = false,
            None if inside => found.last_mut().unwrap().1.push(line.to_owned()),
            None => {}
        }
    }
    found
}

/// README.md and the documents of docs/, but those that are measured or have tests of their own.
fn documents() -> Vec<(String, String)> {
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    paths.retain(|path| !path.ends_with("performance.md"));
    paths.push(root().join("README.md"));
    paths.sort();
    paths.into_iter().map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap())).collect()
}

#[test]
fn commands_in_documents_work() {
    let mut count = 0;
    for (name, document) in documents() {
        // One home for a document: its examples may build on each other.
        let home = home();
        for (language, lines) in blocks(&document) {
            if !matches!(language.as_str(), "sh" | "" | "text") {
                continue;
            }
            for line in lines.iter().filter(|line| line.starts_with("tooltrail")) {
                works(home.path(), &name, line);
                count += 1;
            }
        }
    }
    assert!(count > 60, "{count}");
}

#[test]
fn examples_of_help_work() {
    let bare = tempfile::tempdir().unwrap();
    let text = |example: &str| String::from_utf8(run(bare.path(), example).stdout).unwrap();
    let help = text("tooltrail --help");
    let commands = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = commands
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    let mut count = 0;
    for command in commands.iter().map(|command| format!("{command} ")).chain([String::new()]) {
        let home = home();
        // `keep restore` needs something that is kept.
        run(home.path(), "tooltrail keep now");
        let help = text(&format!("tooltrail {command}--help"));
        let examples = help.lines().skip_while(|line| !line.starts_with("Examples:")).skip(1);
        for line in examples.filter(|line| line.starts_with("  tooltrail")) {
            works(home.path(), "--help", line.trim_start());
            count += 1;
        }
    }
    assert!(count > 80, "{count}");
}

/// The words of a line; what is cut ends the comparison.
fn tokens(line: &str) -> Vec<&str> {
    line.split_whitespace().take_while(|word| !word.contains('…')).collect()
}

#[test]
fn shown_output_is_printed() {
    let mut count = 0;
    for (name, document) in documents() {
        for (_, lines) in blocks(&document) {
            let Some((command, shown)) = lines.split_first().and_then(|(first, rest)| Some((first.strip_prefix("$ ")?, rest))) else {
                continue;
            };
            if !command.starts_with("tooltrail") {
                continue;
            }
            // As on a terminal, where times are relative.
            let output = run(home().path(), &format!("{} --time relative", own(command)));
            let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
            let printed: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
            for line in shown.iter().filter(|line| !line.trim().is_empty()) {
                let wanted = tokens(line);
                let found = printed.iter().any(|own| own.len() >= wanted.len() && own[..wanted.len()] == wanted[..]);
                assert!(found, "{name}: `{command}` does not print\n{line}\nbut\n{text}");
                count += 1;
            }
        }
    }
    assert!(count > 25, "{count}");
}

#[test]
fn statements_in_documents_work() {
    let home = home();
    let document = fs::read_to_string(root().join("docs/catalogue.md")).unwrap();
    let mut count = 0;
    for (_, lines) in blocks(&document).into_iter().filter(|(language, _)| language == "sql") {
        for statement in lines.join("\n").split(";\n") {
            let statement = statement.trim().trim_end_matches(';');
            fs::write(home.path().join("statement.sql"), statement).unwrap();
            let output = run(home.path(), "tooltrail sql --csv - < statement.sql");
            let (text, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
            assert!(output.status.success(), "{statement}\n{error}");
            // The demo has everything that they ask for.
            assert!(text.lines().count() > 1, "{statement}\nfinds nothing in the demo");
            count += 1;
        }
    }
    assert!(count >= 6, "{count}");
}

#[test]
fn topics_of_help_are_the_documents() {
    let home = tempfile::tempdir().unwrap();
    for (topic, document) in [("filters", "docs/filter.md"), ("refs", "docs/refs.md"), ("json", "docs/json.md")] {
        let printed = run(home.path(), &format!("tooltrail help {topic}"));
        assert_eq!(String::from_utf8(printed.stdout).unwrap(), fs::read_to_string(root().join(document)).unwrap());
    }
    let help = |example: &str| String::from_utf8(run(home.path(), example).stdout).unwrap();
    assert_eq!(help("tooltrail help calls"), help("tooltrail calls --help"));
    assert_eq!(run(home.path(), "tooltrail help nothing").status.code(), Some(2));
}

#[test]
fn manual_pages_are_written_for_all_commands() {
    let home = tempfile::tempdir().unwrap();
    assert!(run(home.path(), "tooltrail man pages").status.success());
    let page = |name: &str| fs::read_to_string(home.path().join("pages").join(name)).unwrap();
    assert!(page("tooltrail.1").contains(".TH") && page("tooltrail-calls.1").contains("status:failed"));
    assert!(fs::read_dir(home.path().join("pages")).unwrap().count() > 15);
}

#[test]
fn completions_know_refs_keys_and_values() {
    let home = home();
    let words = |line: &str| {
        let output = run(home.path(), &format!("tooltrail __complete -- {line}"));
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(words("calls stat"), ["status:"]);
    assert_eq!(words("calls status:fa"), ["status:failed"]);
    assert_eq!(words("list not:status:failed,bl"), ["not:status:failed,blocked"]);
    assert_eq!(words("stats project:orb"), ["project:orbit"]);
    assert_eq!(words("calls tool:Ba"), ["tool:Bash"]);
    assert!(words("show 3f").iter().any(|line| line.starts_with("3f2a\t")));
    assert!(words("export la").contains(&"last:all".to_owned()));
    assert_eq!(words("check st"), [""; 0]);
    // As bash does it: the word is cut at its colons.
    let script = "source <(tooltrail completions bash); COMP_LINE='tooltrail calls status:fa'; COMP_POINT=${#COMP_LINE}; \
                  COMP_WORDS=(tooltrail calls status : fa); COMP_CWORD=4; _tooltrail_words tooltrail fa : 2>/dev/null; echo \"${COMPREPLY[*]}\"";
    let output = run(home.path(), script);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "failed\n", "{}", String::from_utf8_lossy(&output.stderr));
}
