//! Commands of the shapes that agents write, and what is understood of each.

#![allow(clippy::unwrap_used)] // a panic is the report

use Purpose::{Build, Commit, Format, Install, Lint, Test};
use tooltrail_model::shell::{Purpose, read};

/// The command; whose exit code a success and a failure would be; whose nobody records; what it is for.
type Row = (&'static str, Option<&'static str>, Option<&'static str>, &'static [&'static str], Option<Purpose>);

const TABLE: &[Row] = &[
    // One command.
    ("cargo test", Some("cargo test"), Some("cargo test"), &[], Some(Test)),
    ("cargo test > out.txt 2>&1", Some("cargo test"), Some("cargo test"), &[], Some(Test)),
    (
        "RUST_LOG=debug cargo test -p parser",
        Some("RUST_LOG=debug cargo test -p parser"),
        Some("RUST_LOG=debug cargo test -p parser"),
        &[],
        Some(Test),
    ),
    ("timeout 60 cargo test", Some("timeout 60 cargo test"), Some("timeout 60 cargo test"), &[], Some(Test)),
    (
        "sudo -u deploy env A=1 make build",
        Some("sudo -u deploy env A=1 make build"),
        Some("sudo -u deploy env A=1 make build"),
        &[],
        Some(Build),
    ),
    ("./gradlew check", Some("./gradlew check"), Some("./gradlew check"), &[], Some(Test)),
    ("A=1", None, None, &[], None),
    ("export A=1", None, None, &[], None),
    ("", None, None, &[], None),
    // Lists that need each other.
    ("cd api && cargo test", Some("cargo test"), None, &[], Some(Test)),
    ("git add -A && git commit -m 'x; y | z' && git push", Some("git push"), None, &[], Some(Commit)),
    ("npm ci && npm run build && npm test", Some("npm test"), None, &[], Some(Test)),
    // Pipes.
    ("cd api && cargo test 2>&1 | tail -5", Some("tail -5"), None, &["cargo test"], Some(Test)),
    ("cargo test | tee log | tail", Some("tail"), Some("tail"), &["cargo test", "tee log"], Some(Test)),
    ("set -o pipefail; cargo test | tail", Some("tail"), None, &[], Some(Test)),
    ("set -euo pipefail && cargo test | tail", Some("tail"), None, &[], Some(Test)),
    ("cat <<'EOF' | psql\nselect 1;\nEOF", Some("psql"), Some("psql"), &["cat"], None),
    // One after the other.
    ("cargo test; echo $?", Some("echo $?"), Some("echo $?"), &["cargo test"], Some(Test)),
    ("cargo build\ncargo test", Some("cargo test"), Some("cargo test"), &["cargo build"], Some(Test)),
    ("set -e; cargo build; cargo test", Some("cargo test"), None, &[], Some(Test)),
    ("set -e\nmake\nset +e\nmake test\necho done", Some("echo done"), Some("echo done"), &["make test"], Some(Test)),
    ("a && b; c", Some("c"), Some("c"), &["a", "b"], None),
    // One or the other.
    ("cargo test || true", None, Some("true"), &["cargo test"], Some(Test)),
    ("cargo test || exit 1", None, Some("exit 1"), &["cargo test"], Some(Test)),
    ("test -f x && cat x || echo none", None, Some("echo none"), &["test -f x", "cat x"], None),
    ("a || b && c", Some("c"), None, &["a"], None),
    // In the background.
    ("npm run dev &", None, None, &["npm run dev"], None),
    ("npm run dev & sleep 2 && curl localhost", Some("curl localhost"), None, &["npm run dev"], None),
    // Shells in shells, groups, loops, choices.
    ("bash -lc 'cd x && pytest -q | tail -3'", Some("tail -3"), None, &["pytest -q"], Some(Test)),
    ("(cd web && npm test)", Some("npm test"), None, &[], Some(Test)),
    ("(cd web; npm test) | cat", Some("cat"), Some("cat"), &["cd web", "npm test"], Some(Test)),
    ("{ make; make test; } 2>&1", Some("make test"), Some("make test"), &["make"], Some(Test)),
    ("for i in 1 2; do cargo test; done", Some("cargo test"), Some("cargo test"), &["cargo test"], Some(Test)),
    ("if cargo test; then echo ok; else echo bad; fi", None, None, &["cargo test"], Some(Test)),
    ("while ! curl -s x; do sleep 1; done", None, None, &["curl -s x", "sleep 1"], None),
    ("! grep -q TODO src", None, None, &[], None),
    ("[[ -f x ]] && cargo build", Some("cargo build"), None, &[], Some(Build)),
    ("bash script.sh", Some("bash script.sh"), Some("bash script.sh"), &[], None),
    // What they are for.
    (
        "cargo clippy --all-targets -- -D warnings",
        Some("cargo clippy --all-targets -- -D warnings"),
        Some("cargo clippy --all-targets -- -D warnings"),
        &[],
        Some(Lint),
    ),
    ("cargo +nightly fmt", Some("cargo +nightly fmt"), Some("cargo +nightly fmt"), &[], Some(Format)),
    ("cargo nextest run", Some("cargo nextest run"), Some("cargo nextest run"), &[], Some(Test)),
    ("pnpm --filter web test:unit", Some("pnpm --filter web test:unit"), Some("pnpm --filter web test:unit"), &[], Some(Test)),
    ("pnpm playwright test", Some("pnpm playwright test"), Some("pnpm playwright test"), &[], Some(Test)),
    ("npx tsc --noEmit", Some("npx tsc --noEmit"), Some("npx tsc --noEmit"), &[], Some(Build)),
    ("npx eslint src", Some("npx eslint src"), Some("npx eslint src"), &[], Some(Lint)),
    ("python -m pytest tests/", Some("python -m pytest tests/"), Some("python -m pytest tests/"), &[], Some(Test)),
    ("uv run pytest", Some("uv run pytest"), Some("uv run pytest"), &[], Some(Test)),
    ("uv pip install requests", Some("uv pip install requests"), Some("uv pip install requests"), &[], Some(Install)),
    ("ruff check . && ruff format .", Some("ruff format ."), None, &[], Some(Lint)),
    ("go test ./...", Some("go test ./..."), Some("go test ./..."), &[], Some(Test)),
    ("go vet ./...", Some("go vet ./..."), Some("go vet ./..."), &[], Some(Lint)),
    ("make -C build -j8 test", Some("make -C build -j8 test"), Some("make -C build -j8 test"), &[], Some(Test)),
    ("make", Some("make"), Some("make"), &[], Some(Build)),
    ("cmake --build build", Some("cmake --build build"), Some("cmake --build build"), &[], Some(Build)),
    ("yarn", Some("yarn"), Some("yarn"), &[], Some(Install)),
    ("apt-get install -y jq", Some("apt-get install -y jq"), Some("apt-get install -y jq"), &[], Some(Install)),
    ("apt-get update", Some("apt-get update"), Some("apt-get update"), &[], None),
    ("git -C web commit -m x", Some("git -C web commit -m x"), Some("git -C web commit -m x"), &[], Some(Commit)),
    ("git status", Some("git status"), Some("git status"), &[], None),
    ("dotnet test --no-build", Some("dotnet test --no-build"), Some("dotnet test --no-build"), &[], Some(Test)),
    ("bundle exec rspec", Some("bundle exec rspec"), Some("bundle exec rspec"), &[], Some(Test)),
    ("./node_modules/.bin/jest", Some("./node_modules/.bin/jest"), Some("./node_modules/.bin/jest"), &[], Some(Test)),
    ("echo 'cargo test'", Some("echo 'cargo test'"), Some("echo 'cargo test'"), &[], None),
    ("grep -rn test src", Some("grep -rn test src"), Some("grep -rn test src"), &[], None),
];

#[test]
fn commands_are_understood() {
    let mut wrong = Vec::new();
    for &(command, success, failure, masked, purpose) in TABLE {
        let script = read(command).unwrap_or_else(|| panic!("`{command}` is not read"));
        let found = (script.exit_of(true), script.exit_of(false), script.masked(), script.purpose());
        if found != (success, failure, masked.to_vec(), purpose) {
            wrong.push(format!("{command:?}\n   is {found:?}\n  not {:?}", (success, failure, masked, purpose)));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), TABLE.len(), wrong.join("\n"));
}

#[test]
fn what_cannot_be_read_is_unknown_and_takes_no_time() {
    assert!(read("for f in a b\n  echo $f\nend").is_none());
    for opening in ["(", "{ ", "$(", "((", "`", "if a; then ", "case x in x) ", "! ", "a && ", "[[ ( ", "\"$(", "${a:-", "<(", "while "] {
        for count in [9, 30, 10_000] {
            let _ = read(&opening.repeat(count));
        }
    }
    assert!(read(&"a;".repeat(100_000)).is_none());
}
