//! Whether commands may change files, which of them are the same when run again, and the words of a failure in their outputs.

#![allow(clippy::unwrap_used)] // a panic is the report

use tooltrail_model::shell::{hint, read};

#[test]
fn commands_that_may_change_files() {
    let wrong = |commands: &[&str], wanted: bool| {
        let told = |command: &&&str| read(command).unwrap_or_else(|| panic!("`{command}`")).may_change_files();
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
        assert_eq!(read(command).unwrap().essence(), essence, "{command}");
    }
}

#[test]
fn the_words_of_a_failure_are_found() {
    for (output, line) in [
        (
            "running 3 tests\ntest a ... FAILED\n\ntest result: FAILED. 2 passed; 1 failed; 0 ignored\n",
            "test result: FAILED. 2 passed; 1 failed; 0 ignored",
        ),
        ("error[E0308]: mismatched types\n --> src/a.rs:1:1\n", "error[E0308]: mismatched types"),
        (
            "   Compiling x\nerror: could not compile `x` (lib) due to 2 previous errors",
            "error: could not compile `x` (lib) due to 2 previous errors",
        ),
        ("Tests:       2 failed, 40 passed, 42 total\nTime: 3 s", "Tests:       2 failed, 40 passed, 42 total"),
        (" Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 9 passed (11)", "Tests  2 failed | 9 passed (11)"),
        ("===== 1 failed, 12 passed in 0.42s =====", "===== 1 failed, 12 passed in 0.42s ====="),
        ("FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed in 0.1s", "1 failed in 0.1s"),
        ("--- FAIL: TestX (0.00s)\nFAIL\nFAIL\texample.org/x\t0.01s\nFAIL", "FAIL"),
        ("npm ERR! code ELIFECYCLE", "npm ERR! code ELIFECYCLE"),
        (" ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL  web@1.0.0 test: `vitest`", "ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL  web@1.0.0 test: `vitest`"),
        (" ELIFECYCLE  Command failed with exit code 1.", "ELIFECYCLE  Command failed with exit code 1."),
        ("Command failed with exit code 2: tsc", "Command failed with exit code 2: tsc"),
        ("make: *** [Makefile:3: test] Error 2", "make: *** [Makefile:3: test] Error 2"),
        ("src/a.ts(3,5): error TS2322: Type 'x' is not", "src/a.ts(3,5): error TS2322: Type 'x' is not"),
        ("main.c:3:5: error: expected ';'", "main.c:3:5: error: expected ';'"),
        ("thread 'main' panicked at src/main.rs:3:5:", "thread 'main' panicked at src/main.rs:3:5:"),
        ("Traceback (most recent call last):\n  File", "Traceback (most recent call last):"),
        ("BUILD FAILED in 3s", "BUILD FAILED in 3s"),
        ("✖ 3 problems (2 errors, 1 warning)", "✖ 3 problems (2 errors, 1 warning)"),
        ("  ✗ 2 failed", "✗ 2 failed"),
        ("Found 6 errors.", "Found 6 errors."),
        ("Found 1 error in 1 file (checked 3 source files)", "Found 1 error in 1 file (checked 3 source files)"),
        ("12 examples, 2 failures", "12 examples, 2 failures"),
        ("Tests run: 5, Failures: 1, Errors: 0, Skipped: 0", "Tests run: 5, Failures: 1, Errors: 0, Skipped: 0"),
        ("  3 passing (20ms)\n  1 failing\n", "1 failing"),
        ("\u{1b}[31mFAIL\u{1b}[0m src/a.test.ts", "FAIL src/a.test.ts"),
        ("FAILED (failures=1)", "FAILED (failures=1)"),
        ("5 errors, 0 warnings, 0 informations", "5 errors, 0 warnings, 0 informations"),
        ("error: Recipe `test` failed on line 3 with exit code 101", "error: Recipe `test` failed on line 3 with exit code 101"),
    ] {
        assert_eq!(hint(output).as_deref(), Some(line));
    }
}

#[test]
fn what_only_looks_like_a_failure_is_none() {
    for output in [
        "",
        "ok",
        "test result: ok. 12 passed; 0 failed; 0 ignored",
        "0 errors, 0 warnings, 0 informations",
        "✖ 0 problems",
        "Tests: 42 passed, 42 total",
        "Found 0 errors.",
        "No errors found",
        "no errors",
        "error: 0",
        "Error: none",
        "errors: 0, failures: 0",
        "Tests run: 5, Failures: 0, Errors: 0, Skipped: 0",
        "test error_is_told ... ok",
        "test parse::failed_calls ... ok",
        "tests/test_errors.py::test_failed PASSED",
        "src/error.rs:12:    Failed(String),",
        "   Compiling thiserror v1.0.0",
        "12 examples, 0 failures",
        "  3 passing (20ms)",
        "= 12 passed, 1 xfailed in 0.2s =",
        "exit code 0",
        "finished with exit code 0: no error",
        "277 |             raise ValueError(\"Tool params must be\")",
        "298 |             return ToolValidateError(str(e))",
        "warning: unused variable: `error`",
        "✓ fails with an error when nothing is found",
        "PASS src/failed.test.ts",
        "All checks passed!",
        "BUILD SUCCESSFUL in 3s",
        "6:42:11 failed",
    ] {
        assert_eq!(hint(output), None, "{output}");
    }
}

#[test]
fn huge_outputs_are_looked_at_from_both_ends() {
    let filler = "a line that says nothing\n".repeat(20_000);
    assert_eq!(hint(&format!("{filler}BUILD FAILED\n")).as_deref(), Some("BUILD FAILED"));
    assert_eq!(hint(&format!("error: first\n{filler}")).as_deref(), Some("error: first"));
    assert_eq!(hint(&format!("{filler}BUILD FAILED\n{filler}")), None);
    assert_eq!(hint(&format!("error: {}", "é".repeat(500))).unwrap().chars().count(), 200);
    let _ = hint(&"é".repeat(200_000));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2_000))]

    /// Pieces of commands in any order: what comes out fits together, and nothing falls over.
    #[test]
    fn whatever_is_written_is_read_or_not(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..12), tail in ".{0,8}") {
        let text = pieces.concat() + &tail;
        let _ = hint(&text);
        if let Some(script) = read(&text) {
            let texts: Vec<&str> = script.commands.iter().map(|command| command.text.as_str()).collect();
            for told in script.masked().into_iter().chain(script.essence()).chain(script.exit_of(true)).chain(script.exit_of(false)) {
                assert!(texts.contains(&told), "{text:?}: {told:?}");
            }
            assert!(script.masked_runs().len() <= script.masked().len());
            let _ = script.may_change_files();
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
