//! Commands that may change files, commands that are the same when run again, and settings that would have recorded an exit code.

#![allow(clippy::unwrap_used)] // a panic is the report

use tooltrail_shell::{CommandLine, understand};

#[test]
fn commands_that_may_change_files() {
    let wrong = |commands: &[&str], wanted: bool| {
        let told = |command: &&&str| understand(command).unwrap_or_else(|| panic!("`{command}`")).may_change_files;
        commands.iter().filter(|command| told(command) != wanted).map(ToString::to_string).collect::<Vec<_>>()
    };
    let changing = [
        "rm -rf build",
        "echo x > notes.txt",
        "cat <<'EOF' > src/main.rs\nfn main() {}\nEOF",
        "{ echo a; echo b; } >> log.txt",
        "cmd &> out.log",
        "sed -i 's/a/b/' x",
        "sed -i.bak s/a/b/ x",
        "grep -l foo -r src | xargs sed -i s/foo/bar/",
        "find . -name '*.pyc' -delete",
        "find . -name '*.rs' -exec sed -i s/a/b/ {} +",
        "python fix.py",
        "python - <<'EOF'\nprint(1)\nEOF",
        "node -e 'x'",
        "cargo fmt",
        "cargo clippy --fix --allow-dirty",
        "npx eslint . --fix",
        "rustfmt --print-config default rustfmt.toml",
        "npm run lint:fix",
        "npx jest -u",
        "pytest --snapshot-update",
        "INSTA_UPDATE=always cargo test",
        "npx prettier --write src",
        "npm install left-pad",
        "git checkout main",
        "git stash",
        "git switch -c work origin/main",
        "git stash pop",
        "git reset --hard",
        "git pull --rebase",
        "git apply fix.patch",
        "cd x && git merge main",
        "mv a b",
        "cp /tmp/a src/a",
        "tee src/x.txt < y",
        "curl -o tool.tar.gz https://example.org/x",
        "curl -LO https://example.org/x",
        "perl -pi -e s/a/b/ x",
        "X=$(rm -v a)",
        "echo \"$(touch made)\"",
        "bash -c 'rm x'",
        "gh pr checkout 12",
        "sudo tee /etc/hosts",
        "./deploy.sh",
    ];
    assert_eq!(wrong(&changing, true), [""; 0]);
    let reading = [
        "ls -la && cat README.md | head -20",
        "cargo test 2>&1 | tail -5",
        "cargo test > /dev/null 2>&1",
        "cargo test > /tmp/out.log 2>&1; tail /tmp/out.log",
        "cargo build --release",
        "npx tsc --noEmit",
        "cargo fmt --all --check",
        "npm run format:check",
        "prettier --check src",
        "git add -A && git commit -m \"$(cat <<'EOF'\nfix: don't (yet) > x\nEOF\n)\" && git push",
        "git -C web log --oneline -5",
        "git stash list",
        "git checkout -b work",
        "curl -s x | python3 -m json.tool",
        "git diff HEAD~1 -- src | grep '^+'",
        "find . -name '*.rs' -exec grep -l foo {} \\;",
        "find . -type f | xargs wc -l",
        "sed -n 1,20p x",
        "awk '{print $1}' x > /dev/null",
        "curl -s localhost:8080/health | jq .",
        "curl -s -o /dev/null -w '%{http_code}' localhost",
        "gh pr view 12 --json title",
        "docker compose logs -f api",
        "kubectl -n prod get pods",
        "mkdir -p /tmp/work && rm -f /tmp/work/x",
        "X=$(git rev-parse HEAD); echo $X",
        "for f in *.rs; do wc -l $f; done",
        "if [ -f x ]; then cat x; fi",
        "rustc --version; node -v 2>&1",
        "oxlint --print-config src/a.ts; npx tsc --showConfig -p web",
        "pytest tests --collect-only -q",
        "sleep 5 && ps aux | grep node",
        "timeout 5 env A=1 pytest -q",
        "echo 'rm -rf x > y'",
        "export A=1",
        "command -v jq",
        "",
    ];
    assert_eq!(wrong(&reading, false), [""; 0]);
}

#[test]
fn the_same_command_again() {
    for (command, essence) in [
        ("cargo test", &["cargo test"][..]),
        ("cd api && cargo test 2>&1 | tail -5", &["cargo test"]),
        ("cd api; cargo test > log 2>&1; echo $?", &["cargo test"]),
        ("cargo test | grep -v ok | sort | head", &["cargo test"]),
        ("bash -lc 'cd x && cargo test | sed -n 1,5p'", &["cargo test"]),
        ("sleep 2 && npm run build && npm test", &["npm run build", "npm test"]),
        ("cat x | grep y", &["cat x"]),
        ("grep y x", &["grep y x"]),
        ("cat a | psql | tail -1", &["cat a", "psql"]),
        ("cd x && echo done", &["cd x", "echo done"]),
        ("(cd web && npm test) | cat", &["npm test"]),
        ("for i in 1 2; do cargo test | tail -1; done", &["cargo test"]),
        ("", &[]),
    ] {
        assert_eq!(understand(command).unwrap().essence_texts(), essence, "{command}");
    }
}

/// The setting that unmasks, found the long way: by understanding the command again with each setting written before it.
fn unmasked_by(text: &str, line: &CommandLine) -> Option<&'static str> {
    let shows = |setting: &&str| understand(&format!("{setting}\n{text}")).is_some_and(|line| line.masked_runs().is_empty());
    ["set -o pipefail", "set -e", "set -eo pipefail"].into_iter().find(shows).filter(|_| !line.masked_runs().is_empty())
}

#[test]
fn the_setting_that_would_have_recorded_an_exit_code() {
    for (command, setting) in [
        ("cargo test | tail -5", Some("set -o pipefail")),
        ("make; make test; ls", Some("set -e")),
        ("make | cat; make test | cat; ls", Some("set -eo pipefail")),
        ("make test || true", None),
        ("cargo test", None),
        ("ls | tail", None),
    ] {
        assert_eq!(understand(command).unwrap().unmasked_by, setting, "{command}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2_000))]

    /// Pieces of commands in any order: what comes out fits together, and nothing falls over.
    #[test]
    fn whatever_is_written_is_read_or_not(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..12), tail in ".{0,8}") {
        let text = pieces.concat() + &tail;
        if let Some(line) = understand(&text) {
            let texts: Vec<&str> = line.commands.iter().map(|command| command.text.as_str()).collect();
            for told in line.masked_texts().chain(line.essence_texts()).chain(line.exit_of(true)).chain(line.exit_of(false)) {
                assert!(texts.contains(&told), "{text:?}: {told:?}");
            }
            assert!(line.masked_runs().len() <= line.masked.len());
            assert_eq!(line.unmasked_by, unmasked_by(&text, &line), "{text:?}");
        }
    }
}

#[rustfmt::skip]
/// What commands are made of.
const PIECES: &[&str] = &[
    "cargo test", "a", " ", " | ", " && ", " || ", "; ", " & ", "\n", "(", ")", "{ ", "; }", "\"", "'", "`", "$(", "\\", " > x", " 2>&1", "<<EOF\n",
    "EOF\n", "if ", "; then ", "; fi", "for x in 1; do ", "; done", "! ", "set -e; ", "set -o pipefail; ", "bash -c '", "timeout 5 ", "sudo -u ",
    "docker run ", "-m", "--", "xargs ", "find . -exec ", "\u{e9}", "$'", "[[ x ]]", "((1))", "case x in x) ", ";; esac", "f() { ", "ssh h ", "eval ",
    "make ", "npm run ", "yarn workspace", "git -C", "=", "error: ", "FAILED", "1 failed", "\r", "\u{1b}[31m", "coproc ",
];
