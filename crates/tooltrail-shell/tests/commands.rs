//! Commands of the shapes that agents write, and what is understood of each.

#![allow(clippy::unwrap_used)] // a panic is the report

use Purpose::{Build, Commit, Format, Install, Lint, Test};
use tooltrail_shell::{Purpose, understand};

/// A command line; its simple commands; the family of the one that tells what it is for (the last where none does); what it is for;
/// whose exit code a success and a failure would be; whose nobody records. Commands are named by their place, `N` is nobody.
type Row = (&'static str, &'static [&'static str], &'static str, Option<Purpose>, [usize; 2], &'static [usize]);

const N: usize = usize::MAX;

#[rustfmt::skip]
const ONE: &[Row] = &[
    ("cargo test", &["cargo test"], "cargo", Some(Test), [0, 0], &[]),
    ("cargo test > out.txt 2>&1", &["cargo test"], "cargo", Some(Test), [0, 0], &[]),
    ("cargo test 2>/dev/null -- --nocapture", &["cargo test -- --nocapture"], "cargo", Some(Test), [0, 0], &[]),
    ("cargo test &> log", &["cargo test"], "cargo", Some(Test), [0, 0], &[]),
    ("RUST_LOG=debug cargo test -p parser", &["RUST_LOG=debug cargo test -p parser"], "cargo", Some(Test), [0, 0], &[]),
    ("cargo test \\\n  --workspace \\\n  --all-features", &["cargo test --workspace --all-features"], "cargo", Some(Test), [0, 0], &[]),
    ("# run it all\ncargo test", &["cargo test"], "cargo", Some(Test), [0, 0], &[]),
    ("A=1", &[], "", None, [N, N], &[]),
    ("export A=1", &[], "", None, [N, N], &[]),
    ("set -x", &[], "", None, [N, N], &[]),
    ("", &[], "", None, [N, N], &[]),
    ("   \n\t\n", &[], "", None, [N, N], &[]),
    ("# nothing but this", &[], "", None, [N, N], &[]),
    ("ls -la", &["ls -la"], "ls", None, [0, 0], &[]),
    ("echo 'cargo test; make | tail'", &["echo 'cargo test; make | tail'"], "echo", None, [0, 0], &[]),
    ("grep -rn \"a && b || c\" src", &["grep -rn \"a && b || c\" src"], "grep", None, [0, 0], &[]),
    ("python - <<'EOF'\nimport os; print('a | b')\nEOF", &["python -"], "python", None, [0, 0], &[]),
    ("python3 <<'EOF' > out.json\nprint(1)\nEOF", &["python3"], "python3", None, [0, 0], &[]),
    ("cat > src/a.rs <<'EOF'\nfn main() { let x = \"it's\"; }\nEOF", &["cat"], "cat", None, [0, 0], &[]),
    ("git commit -m \"$(cat <<'EOF'\nfix: don't; stop | here\n\nBody.\nEOF\n)\"", &["git commit -m \"$(cat <<'EOF'\nfix: don't; stop | here\n\nBody.\nEOF\n)\""], "git", Some(Commit), [0, 0], &[]),
    ("bash script.sh", &["bash script.sh"], "bash", None, [0, 0], &[]),
    ("./scripts/test.sh --fast", &["./scripts/test.sh --fast"], "test.sh", Some(Test), [0, 0], &[]),
    ("C:\\tools\\node.exe C:\\app\\x.js", &["C:\\tools\\node.exe C:\\app\\x.js"], "C:toolsnode", None, [0, 0], &[]),
    ("diff <(sort a) <(sort b)", &["diff <(sort a) <(sort b)"], "diff", None, [0, 0], &[]),
    ("oxlint --print-config a.ts && oxfmt --check", &["oxlint --print-config a.ts", "oxfmt --check"], "oxfmt", Some(Format), [1, N], &[]),
    ("tsc --showConfig; astro check", &["tsc --showConfig", "astro check"], "astro", Some(Lint), [1, 1], &[0]),
    ("command -v pytest", &["command -v pytest"], "command", None, [0, 0], &[]),
    ("pytest --version", &["pytest --version"], "pytest", None, [0, 0], &[]),
    ("source .venv/bin/activate", &["source .venv/bin/activate"], "source", None, [0, 0], &[]),
    ("trap 'rm -f x' EXIT", &["trap 'rm -f x' EXIT"], "trap", None, [0, 0], &[]),
];

#[rustfmt::skip]
const WRAPPED: &[Row] = &[
    ("timeout 60 cargo test", &["timeout 60 cargo test"], "cargo", Some(Test), [0, 0], &[]),
    ("timeout -k 5 5m npm run test:e2e", &["timeout -k 5 5m npm run test:e2e"], "npm", Some(Test), [0, 0], &[]),
    ("sudo -u deploy env A=1 make build", &["sudo -u deploy env A=1 make build"], "make", Some(Build), [0, 0], &[]),
    ("sudo apt-get install -y jq", &["sudo apt-get install -y jq"], "apt-get", Some(Install), [0, 0], &[]),
    ("env -u CI -i PATH=/bin pytest -q", &["env -u CI -i PATH=/bin pytest -q"], "pytest", Some(Test), [0, 0], &[]),
    ("nice -n 10 make -j8", &["nice -n 10 make -j8"], "make", Some(Build), [0, 0], &[]),
    ("time cargo test", &["cargo test"], "cargo", Some(Test), [0, 0], &[]),
    ("/usr/bin/time -v cargo build", &["/usr/bin/time -v cargo build"], "cargo", Some(Build), [0, 0], &[]),
    ("rtk git commit -m x", &["rtk git commit -m x"], "git", Some(Commit), [0, 0], &[]),
    ("rtk test cargo test", &["rtk test cargo test"], "cargo", Some(Test), [0, 0], &[]),
    ("rtk -v cargo build", &["rtk -v cargo build"], "cargo", Some(Build), [0, 0], &[]),
    ("npx --yes eslint@9 .", &["npx --yes eslint@9 ."], "eslint", Some(Lint), [0, 0], &[]),
    ("npx -y -p typescript tsc --noEmit", &["npx -y -p typescript tsc --noEmit"], "tsc", Some(Build), [0, 0], &[]),
    ("npx @biomejs/biome check src", &["npx @biomejs/biome check src"], "biome", Some(Lint), [0, 0], &[]),
    ("uvx ruff format .", &["uvx ruff format ."], "ruff", Some(Format), [0, 0], &[]),
    ("uv run --with pytest-xdist python -m pytest -n auto", &["uv run --with pytest-xdist python -m pytest -n auto"], "pytest", Some(Test), [0, 0], &[]),
    ("poetry run pytest -x", &["poetry run pytest -x"], "pytest", Some(Test), [0, 0], &[]),
    ("poetry -C api run mypy .", &["poetry -C api run mypy ."], "mypy", Some(Lint), [0, 0], &[]),
    ("coverage run -m pytest", &["coverage run -m pytest"], "pytest", Some(Test), [0, 0], &[]),
    ("bundle exec rspec spec/a_spec.rb", &["bundle exec rspec spec/a_spec.rb"], "rspec", Some(Test), [0, 0], &[]),
    ("docker compose run --rm app pytest", &["docker compose run --rm app pytest"], "pytest", Some(Test), [0, 0], &[]),
    ("docker compose -f dev.yml exec -T api npm test", &["docker compose -f dev.yml exec -T api npm test"], "npm", Some(Test), [0, 0], &[]),
    ("docker run --rm -v \"$PWD\":/app -w /app node:20 npm run build", &["docker run --rm -v \"$PWD\":/app -w /app node:20 npm run build"], "npm", Some(Build), [0, 0], &[]),
    ("kubectl exec -n prod web-0 -c app -- pytest -q", &["kubectl exec -n prod web-0 -c app -- pytest -q"], "pytest", Some(Test), [0, 0], &[]),
    ("ssh host 'cd app && pytest'", &["ssh host 'cd app && pytest'"], "ssh", Some(Test), [0, 0], &[]),
    ("ssh -p 22 host 'pytest | tail -5'", &["ssh -p 22 host 'pytest | tail -5'"], "ssh", None, [0, 0], &[]),
    ("find . -name '*.rs' -exec rustfmt {} +", &["find . -name '*.rs' -exec rustfmt {} +"], "find", None, [0, 0], &[]),
    ("git ls-files '*.py' | xargs -n 20 ruff check", &["git ls-files '*.py'", "xargs -n 20 ruff check"], "ruff", Some(Lint), [1, 1], &[0]),
    ("eval 'make test'", &["eval 'make test'"], "eval", Some(Test), [0, 0], &[]),
    ("xvfb-run -a npm run cypress", &["xvfb-run -a npm run cypress"], "npm", Some(Test), [0, 0], &[]),
    ("mise exec -- cargo nextest run", &["mise exec -- cargo nextest run"], "cargo", Some(Test), [0, 0], &[]),
    ("nohup npm run dev > log 2>&1 &", &["nohup npm run dev"], "npm", None, [N, N], &[0]),
];

#[rustfmt::skip]
const LISTS: &[Row] = &[
    // Commands that need each other.
    ("cd api && cargo test", &["cd api", "cargo test"], "cargo", Some(Test), [1, N], &[]),
    ("git add -A && git commit -m 'x; y | z' && git push", &["git add -A", "git commit -m 'x; y | z'", "git push"], "git", Some(Commit), [2, N], &[]),
    ("npm ci && npm run build && npm test", &["npm ci", "npm run build", "npm test"], "npm", Some(Test), [2, N], &[]),
    ("cargo fmt --check && cargo clippy", &["cargo fmt --check", "cargo clippy"], "cargo", Some(Lint), [1, N], &[]),
    ("export RUST_BACKTRACE=1 && cargo test", &["cargo test"], "cargo", Some(Test), [0, 0], &[]),
    ("A=1 && cargo test", &["cargo test"], "cargo", Some(Test), [0, 0], &[]),
    ("A=$(cat x) && cargo test", &["cargo test"], "cargo", Some(Test), [0, N], &[]),
    ("[ -f Makefile ] && make test", &["[ -f Makefile ]", "make test"], "make", Some(Test), [1, N], &[]),
    ("[[ -f x ]] && cargo build", &["cargo build"], "cargo", Some(Build), [0, N], &[]),
    ("source venv/bin/activate && pytest", &["source venv/bin/activate", "pytest"], "pytest", Some(Test), [1, N], &[]),
    ("cd x &&\n  make &&\n  make test", &["cd x", "make", "make test"], "make", Some(Test), [2, N], &[]),
    // One after the other.
    ("cargo test; echo $?", &["cargo test", "echo $?"], "cargo", Some(Test), [1, 1], &[0]),
    ("cargo test; export A=1", &["cargo test"], "cargo", Some(Test), [N, N], &[0]),
    ("cargo build\ncargo test", &["cargo build", "cargo test"], "cargo", Some(Test), [1, 1], &[0]),
    ("cargo test > log 2>&1; tail -20 log", &["cargo test", "tail -20 log"], "cargo", Some(Test), [1, 1], &[0]),
    ("pnpm build > /tmp/b.log 2>&1; echo \"exit=$?\"; tail -6 /tmp/b.log", &["pnpm build", "echo \"exit=$?\"", "tail -6 /tmp/b.log"], "pnpm", Some(Build), [2, 2], &[0, 1]),
    ("a && b; c", &["a", "b", "c"], "c", None, [2, 2], &[0, 1]),
    ("echo --; ls; echo --; ls", &["echo --", "ls", "echo --", "ls"], "ls", None, [3, 3], &[0, 1, 2]),
    ("A=1; cargo test", &["cargo test"], "cargo", Some(Test), [0, 0], &[]),
    ("OUT=$(cargo test 2>&1); echo \"$OUT\"", &["echo \"$OUT\""], "echo", None, [0, 0], &[]),
    ("cd api\nnpm test 2>&1 | tail -30\n", &["cd api", "npm test", "tail -30"], "npm", Some(Test), [2, 2], &[0, 1]),
    ("make test; exit 0", &["make test", "exit 0"], "make", Some(Test), [1, 1], &[0]),
    ("trap 'kill $P' EXIT; npm test", &["trap 'kill $P' EXIT", "npm test"], "npm", Some(Test), [1, 1], &[0]),
    // Stopping at the first failure.
    ("set -e; cargo build; cargo test", &["cargo build", "cargo test"], "cargo", Some(Test), [1, N], &[]),
    ("set -e\ncargo test", &["cargo test"], "cargo", Some(Test), [0, 0], &[]),
    ("set -e; cargo test; A=1", &["cargo test"], "cargo", Some(Test), [N, 0], &[]),
    ("set -eux\nmake\nmake test", &["make", "make test"], "make", Some(Test), [1, N], &[]),
    ("set -o errexit; make lint; echo ok", &["make lint", "echo ok"], "make", Some(Lint), [1, N], &[]),
    ("set -e\nmake\nset +e\nmake test\necho done", &["make", "make test", "echo done"], "make", Some(Test), [2, N], &[1]),
    ("set -e; cargo test | tail -3; echo ok", &["cargo test", "tail -3", "echo ok"], "cargo", Some(Test), [2, N], &[0]),
    ("set -e; cargo test && echo passed; echo done", &["cargo test", "echo passed", "echo done"], "cargo", Some(Test), [2, N], &[0]),
    ("set -e; (make; make test); ls", &["make", "make test", "ls"], "make", Some(Test), [2, N], &[]),
    ("set -e; for t in a b; do cargo test $t; done", &["cargo test $t"], "cargo", Some(Test), [0, 0], &[]),
    // One or the other.
    ("cargo test || true", &["cargo test", "true"], "cargo", Some(Test), [N, 1], &[0]),
    ("cargo test || exit 1", &["cargo test", "exit 1"], "cargo", Some(Test), [N, 1], &[0]),
    ("test -f x && cat x || echo none", &["test -f x", "cat x", "echo none"], "echo", None, [N, 2], &[0, 1]),
    ("a || b && c", &["a", "b", "c"], "c", None, [2, N], &[0]),
    ("make test || (echo failed; exit 1)", &["make test", "echo failed", "exit 1"], "make", Some(Test), [N, 2], &[0, 1]),
    ("npm test || { npm ci && npm test; }", &["npm test", "npm ci", "npm test"], "npm", Some(Test), [N, N], &[0]),
    ("uv run ruff check . && echo OK || echo BAD", &["uv run ruff check .", "echo OK", "echo BAD"], "ruff", Some(Lint), [N, 2], &[0, 1]),
    ("pkill -f serve || true && sleep 2", &["pkill -f serve", "true", "sleep 2"], "sleep", None, [2, N], &[0]),
    // In the background.
    ("npm run dev &", &["npm run dev"], "npm", None, [N, N], &[0]),
    ("npm run dev & sleep 2 && curl localhost", &["npm run dev", "sleep 2", "curl localhost"], "curl", None, [2, N], &[0]),
    ("cargo test & cargo clippy & wait", &["cargo test", "cargo clippy", "wait"], "cargo", Some(Test), [2, 2], &[0, 1]),
    ("cd x && npm start > log 2>&1 &\nsleep 3\ncurl -s localhost", &["cd x", "npm start", "sleep 3", "curl -s localhost"], "curl", None, [3, 3], &[0, 1, 2]),
    ("source v/bin/activate && nohup python s.py > l 2>&1 & echo $!", &["source v/bin/activate", "nohup python s.py", "echo $!"], "echo", None, [2, 2], &[0, 1]),
    ("coproc make test", &["make test"], "make", Some(Test), [N, N], &[0]),
];

#[rustfmt::skip]
const PIPES: &[Row] = &[
    ("cd api && cargo test 2>&1 | tail -5", &["cd api", "cargo test", "tail -5"], "cargo", Some(Test), [2, N], &[1]),
    ("cargo test | tee log | tail", &["cargo test", "tee log", "tail"], "cargo", Some(Test), [2, 2], &[0, 1]),
    ("cargo test |& tee log", &["cargo test", "tee log"], "cargo", Some(Test), [1, 1], &[0]),
    ("time cargo test | tail -1", &["cargo test", "tail -1"], "cargo", Some(Test), [1, 1], &[0]),
    ("set -o pipefail; cargo test | tail", &["cargo test", "tail"], "cargo", Some(Test), [1, N], &[]),
    ("set -o pipefail && cargo test | tail", &["cargo test", "tail"], "cargo", Some(Test), [1, N], &[]),
    ("set -euo pipefail && cargo test | tail", &["cargo test", "tail"], "cargo", Some(Test), [1, N], &[]),
    ("set -euo pipefail\ncd x\ncargo test | tail", &["cd x", "cargo test", "tail"], "cargo", Some(Test), [2, N], &[]),
    ("set -o pipefail; (cargo test | tail -5)", &["cargo test", "tail -5"], "cargo", Some(Test), [1, N], &[]),
    ("set -o pipefail; set +o pipefail; cargo test | tail", &["cargo test", "tail"], "cargo", Some(Test), [1, 1], &[0]),
    ("set -o pipefail; cargo test | tail -5; echo ok", &["cargo test", "tail -5", "echo ok"], "cargo", Some(Test), [2, 2], &[0, 1]),
    ("(set -o pipefail; make | cat); make test | cat", &["make", "cat", "make test", "cat"], "make", Some(Test), [3, 3], &[0, 1, 2]),
    ("cat <<'EOF' | psql\nselect 1;\nEOF", &["cat", "psql"], "psql", None, [1, 1], &[0]),
    ("npm test 2>&1 | grep -E 'pass|fail' | head -20", &["npm test", "grep -E 'pass|fail'", "head -20"], "npm", Some(Test), [2, 2], &[0, 1]),
    ("cargo test | tail; echo done", &["cargo test", "tail", "echo done"], "cargo", Some(Test), [2, 2], &[0, 1]),
    ("cargo test | tail || true", &["cargo test", "tail", "true"], "cargo", Some(Test), [N, 2], &[0, 1]),
    ("pytest -q | tail -3 && git commit -am x", &["pytest -q", "tail -3", "git commit -am x"], "pytest", Some(Test), [2, N], &[0]),
    ("yes | npx create-x app", &["yes", "npx create-x app"], "create-x", None, [1, 1], &[0]),
    ("! cargo test | tail", &["cargo test", "tail"], "cargo", Some(Test), [N, N], &[0]),
    ("! grep -q TODO src", &["grep -q TODO src"], "grep", None, [N, N], &[]),
    ("(cd web; npm test) | cat", &["cd web", "npm test", "cat"], "npm", Some(Test), [2, 2], &[0, 1]),
    ("{ make; make test; } 2>&1 | tee log", &["make", "make test", "tee log"], "make", Some(Test), [2, 2], &[0, 1]),
    ("gh pr checks | while read l; do echo $l; done", &["gh pr checks", "read l", "echo $l"], "echo", None, [N, N], &[0, 1, 2]),
];

#[rustfmt::skip]
const NESTED: &[Row] = &[
    // Shells in shells.
    ("bash -lc 'cd x && pytest -q | tail -3'", &["cd x", "pytest -q", "tail -3"], "pytest", Some(Test), [2, N], &[1]),
    ("bash -c 'grep -E \"a|b\" x'", &["grep -E \"a|b\" x"], "grep", None, [0, 0], &[]),
    ("bash -euo pipefail -c 'cargo test | tail'", &["cargo test", "tail"], "cargo", Some(Test), [1, N], &[]),
    ("bash -o pipefail -c \"cargo test | tail\"", &["cargo test", "tail"], "cargo", Some(Test), [1, N], &[]),
    ("bash -ec 'make; make test'", &["make", "make test"], "make", Some(Test), [1, N], &[]),
    ("set -o pipefail; bash -c 'cargo test | tail'", &["cargo test", "tail"], "cargo", Some(Test), [1, 1], &[0]),
    ("sh -c 'make test' | tail", &["make test", "tail"], "make", Some(Test), [1, 1], &[0]),
    ("timeout 60 bash -c 'cargo test | tail'", &["cargo test", "tail"], "cargo", Some(Test), [1, 1], &[0]),
    ("docker exec app sh -c 'cd /app && pytest'", &["cd /app", "pytest"], "pytest", Some(Test), [1, N], &[]),
    ("bash -c 'bash -c \"cargo test; ls\"'", &["cargo test", "ls"], "cargo", Some(Test), [1, 1], &[0]),
    ("zsh -ic 'nvm use 20 && npm test'", &["nvm use 20", "npm test"], "npm", Some(Test), [1, N], &[]),
    ("bash <<'EOF'\nset -e\nmake\nmake test\nEOF", &["make", "make test"], "make", Some(Test), [1, N], &[]),
    ("bash -n deploy.sh", &["bash -n deploy.sh"], "bash", Some(Lint), [0, 0], &[]),
    ("find . -name x | xargs -I{} sh -c 'cat {} | head'", &["find . -name x", "xargs -I{} sh -c 'cat {} | head'"], "sh", None, [1, 1], &[0]),
    // Groups.
    ("(cd web && npm test)", &["cd web", "npm test"], "npm", Some(Test), [1, N], &[]),
    ("{ make; make test; } 2>&1", &["make", "make test"], "make", Some(Test), [1, 1], &[0]),
    ("(cd a && make) && (cd b && make test)", &["cd a", "make", "cd b", "make test"], "make", Some(Test), [3, N], &[]),
    // Loops and choices.
    ("for i in 1 2; do cargo test; done", &["cargo test"], "cargo", Some(Test), [0, 0], &[0]),
    ("for d in a b; do (cd $d && npm test); done", &["cd $d", "npm test"], "npm", Some(Test), [1, N], &[0, 1]),
    ("for f in *.py; do python -m py_compile $f || exit 1; done", &["python -m py_compile $f", "exit 1"], "py_compile", Some(Lint), [N, 1], &[0, 1]),
    ("while ! curl -s x; do sleep 1; done", &["curl -s x", "sleep 1"], "sleep", None, [N, N], &[0, 1]),
    ("until pg_isready; do sleep 1; done && npm test", &["pg_isready", "sleep 1", "npm test"], "npm", Some(Test), [2, N], &[0, 1]),
    ("if cargo test; then echo ok; else echo bad; fi", &["cargo test", "echo ok", "echo bad"], "cargo", Some(Test), [N, N], &[0]),
    ("if ! make lint; then exit 1; fi", &["make lint", "exit 1"], "make", Some(Lint), [N, N], &[0]),
    ("if [ -f x ]; then make test | tail; fi", &["[ -f x ]", "make test", "tail"], "make", Some(Test), [N, N], &[0, 1]),
    ("case $1 in a) make;; b) make test;; esac", &["make", "make test"], "make", Some(Test), [N, N], &[]),
    ("for ((i=0;i<3;i++)); do go test ./...; done", &["go test ./..."], "go", Some(Test), [0, 0], &[0]),
    // Functions.
    ("t() { cargo test; }; t", &["t"], "t", Some(Test), [0, 0], &[]),
    ("function b { make; }\nb && echo ok", &["b", "echo ok"], "b", Some(Build), [1, N], &[]),
    ("t() { cargo test; }", &[], "", None, [N, N], &[]),
];

/// One command each, which is its own success and failure and hides nobody: what it is for.
#[rustfmt::skip]
const PURPOSES: &[(&str, &str, Option<Purpose>)] = &[
    ("cargo clippy --all-targets -- -D warnings", "cargo", Some(Lint)),
    ("cargo +nightly fmt", "cargo", Some(Format)),
    ("cargo xtask test", "cargo", Some(Test)),
    ("cargo test --no-run", "cargo", Some(Build)),
    ("cargo run --release", "cargo", None),
    ("cargo add serde", "cargo", Some(Install)),
    ("pnpm --filter web test:unit", "pnpm", Some(Test)),
    ("pnpm -r build", "pnpm", Some(Build)),
    ("pnpm -w test", "pnpm", Some(Test)),
    ("pnpm playwright test", "pnpm", Some(Test)),
    ("pnpm exec vitest run", "vitest", Some(Test)),
    ("pnpm astro check", "pnpm", Some(Lint)),
    ("yarn workspace web test", "yarn", Some(Test)),
    ("yarn", "yarn", Some(Install)),
    ("npm run check-types", "npm", Some(Build)),
    ("npm run lint:fix", "npm", Some(Lint)),
    ("npm run format:check", "npm", Some(Format)),
    ("npm --prefix web run build", "npm", Some(Build)),
    ("npm run dev", "npm", None),
    ("npm run start:test", "npm", None),
    ("bun test", "bun", Some(Test)),
    ("deno task test", "deno", Some(Test)),
    ("node --test", "node", Some(Test)),
    ("./node_modules/.bin/jest", "jest", Some(Test)),
    ("node node_modules/.bin/eslint src", "eslint", Some(Lint)),
    ("python -m pytest tests/", "pytest", Some(Test)),
    ("python manage.py test", "manage.py", Some(Test)),
    ("python -m build", "build", Some(Build)),
    ("python -m pip install -e .", "pip", Some(Install)),
    ("uv pip install requests", "uv", Some(Install)),
    ("ruff check .", "ruff", Some(Lint)),
    ("tox -e lint", "tox", Some(Lint)),
    ("pre-commit run --all-files", "pre-commit", Some(Lint)),
    ("go test ./...", "go", Some(Test)),
    ("go vet ./...", "go", Some(Lint)),
    ("make -C build -j 8 test", "make", Some(Test)),
    ("make -j lint", "make", Some(Lint)),
    ("make check-web", "make", Some(Test)),
    ("make", "make", Some(Build)),
    ("make -n test", "make", None),
    ("mise run test:unit", "mise", Some(Test)),
    ("mise x node@20 -- npm test", "npm", Some(Test)),
    ("just build-and-test", "just", Some(Build)),
    ("cmake --build build", "cmake", Some(Build)),
    ("cmake -B build", "cmake", None),
    ("ninja -C build test", "ninja", Some(Test)),
    ("./gradlew check", "gradlew", Some(Test)),
    ("./gradlew :app:testDebugUnitTest", "gradlew", Some(Test)),
    ("./gradlew clean assembleDebug", "gradlew", Some(Build)),
    ("mvn -q test", "mvn", Some(Test)),
    ("mvn clean package -DskipTests", "mvn", Some(Build)),
    ("swift test", "swift", Some(Test)),
    ("zig build test", "zig", Some(Test)),
    ("mix test", "mix", Some(Test)),
    ("mix deps.get", "mix", Some(Install)),
    ("dotnet test --no-build", "dotnet", Some(Test)),
    ("xcodebuild -scheme App -destination 'platform=macOS' test", "xcodebuild", Some(Test)),
    ("flutter analyze", "flutter", Some(Lint)),
    ("nx affected -t test", "nx", Some(Test)),
    ("turbo run build --filter=web", "turbo", Some(Build)),
    ("docker build -t app .", "docker", Some(Build)),
    ("docker compose up -d", "docker", None),
    ("terraform fmt -recursive", "terraform", Some(Format)),
    ("apt-get update", "apt-get", None),
    ("git -C web -c user.name=x commit -m y", "git", Some(Commit)),
    ("git status", "git", None),
    ("git push", "git", None),
    ("npx prettier --write .", "prettier", Some(Format)),
    ("which pytest", "which", None),
    ("vim tests/test_a.py", "vim", None),
    // Files that are tests by their names.
    ("python test_agent.py", "python", Some(Test)),
    ("python3.12 -u tests/parser_test.py -v", "python3.12", Some(Test)),
    ("uv run python run_tests.py", "python", Some(Test)),
    ("node test_queue.js", "node", Some(Test)),
    ("node --enable-source-maps dist/queue.test.mjs", "node", Some(Test)),
    ("tsx src/queue.spec.ts", "tsx", Some(Test)),
    ("bun src/queue.test.ts", "bun", Some(Test)),
    ("deno run -A test.ts", "deno", Some(Test)),
    ("ruby -Itest test/queue_test.rb", "ruby", Some(Test)),
    ("bash test.sh", "bash", Some(Test)),
    ("bash tests/test_install.sh", "bash", Some(Test)),
    ("python latest.py", "python", None),
    ("python contest_data.py", "python", None),
    ("python tests/generate_data.py", "python", None),
    ("python -c 'import test_agent'", "python", None),
    ("python train.py --name test_a.py", "python", None),
    ("node server.js test.js", "node", None),
    ("node -e 'require(\"./test.js\")'", "node", None),
    ("cat test_agent.py", "cat", None),
    // Checks of the syntax.
    ("node --check src/app.js", "node", Some(Lint)),
    ("node -c src/app.js", "node", Some(Lint)),
    ("python -m py_compile src/app.py", "py_compile", Some(Lint)),
    ("python3 -W error -m compileall src", "compileall", Some(Lint)),
    ("python -u -m pytest", "pytest", Some(Test)),
    ("sh -n install.sh", "sh", Some(Lint)),
    ("php -l index.php", "php", Some(Lint)),
    ("ruby -wc app.rb", "ruby", Some(Lint)),
    ("bash -x deploy.sh", "bash", None),
    // R.
    ("Rscript -e 'devtools::test()'", "Rscript", Some(Test)),
    ("Rscript --vanilla -e \"testthat::test_dir('tests')\"", "Rscript", Some(Test)),
    ("Rscript -e 'library(testthat); test_local()'", "Rscript", Some(Test)),
    ("R -q -e 'devtools::check(args = \"--no-manual\")'", "R", Some(Test)),
    ("Rscript -e 'devtools::document()'", "Rscript", Some(Build)),
    ("Rscript -e 'lintr::lint_package()'", "Rscript", Some(Lint)),
    ("Rscript -e 'styler::style_pkg()'", "Rscript", Some(Format)),
    ("Rscript -e 'install.packages(\"dplyr\")'", "Rscript", Some(Install)),
    ("Rscript -e 'my_test_dir(1)'", "Rscript", None),
    ("Rscript -e 'print(1)'", "Rscript", None),
    ("Rscript tests/testthat.R", "Rscript", Some(Test)),
    ("Rscript analysis.R test.R", "Rscript", None),
    ("R CMD check --as-cran pkg_1.0.tar.gz", "R", Some(Test)),
    ("R CMD build .", "R", Some(Build)),
    ("R CMD INSTALL .", "R", Some(Install)),
    // Windows.
    ("./gradlew.bat test", "gradlew", Some(Test)),
    (".\\gradlew.bat assembleDebug", "gradlew", Some(Build)),
    ("cmd /c gradlew.bat test --info", "gradlew", Some(Test)),
    ("cmd.exe /c \"gradlew.bat test\"", "cmd", Some(Test)),
    ("mvnw.cmd -q verify", "mvnw", Some(Test)),
    // Runners of several checks.
    ("vp test run", "vp", Some(Test)),
    ("vp run typecheck", "vp", Some(Build)),
    ("vp check --fix", "vp", Some(Lint)),
    ("hk check --all", "hk", Some(Lint)),
    // What only prints settings, lists, versions or help is no check.
    ("oxlint --print-config src/a.ts", "oxlint", None),
    ("npx eslint --print-config src/a.ts", "eslint", None),
    ("pnpm eslint --print-config src/a.ts", "pnpm", None),
    ("eslint --env-info", "eslint", None),
    ("npx tsc --showConfig -p tsconfig.build.json", "tsc", None),
    ("tsc --listFilesOnly", "tsc", None),
    ("tsc --listFiles --noEmit", "tsc", Some(Build)),
    ("tsc -b --dry", "tsc", None),
    ("tsc -v", "tsc", None),
    ("tsc -h", "tsc", None),
    ("prettier --find-config-path src/a.ts", "prettier", None),
    ("prettier --list-different src", "prettier", Some(Format)),
    ("rustfmt --print-config current .", "rustfmt", None),
    ("ruff check --show-settings src", "ruff", None),
    ("ruff check --show-files", "ruff", None),
    ("ruff check -h", "ruff", None),
    ("isort --show-config", "isort", None),
    ("pytest --collect-only -q", "pytest", None),
    ("python -m pytest --co tests", "pytest", None),
    ("pytest -v", "pytest", Some(Test)),
    ("npx jest --showConfig", "jest", None),
    ("npm test -- --listTests", "npm", None),
    ("npx playwright test --list", "playwright", None),
    ("cargo test -- --list", "cargo", None),
    ("cargo install --list", "cargo", None),
    ("cargo install ripgrep --version 14.1.0", "cargo", Some(Install)),
    ("cargo --version --verbose", "cargo", None),
    ("cargo test --help", "cargo", None),
    ("cargo clippy --explain needless_borrow", "cargo", None),
    ("cargo build -v", "cargo", Some(Build)),
    ("rustc -vV", "rustc", None),
    ("rustc --print=sysroot", "rustc", None),
    ("rustc src/main.rs", "rustc", Some(Build)),
    ("gcc -dumpmachine", "gcc", None),
    ("clang -v", "clang", None),
    ("gcc -v main.c", "gcc", Some(Build)),
    ("go test -list=. ./...", "go", None),
    ("go test -v ./...", "go", Some(Test)),
    ("go list -f x", "go", None),
    ("ctest -N", "ctest", None),
    ("ctest -V", "ctest", Some(Test)),
    ("ctest --test-dir build -V", "ctest", Some(Test)),
    ("mvn test -V", "mvn", Some(Test)),
    ("mypy -V", "mypy", None),
    ("make -v", "make", None),
    ("yarn -v", "yarn", None),
    ("xcodebuild -list", "xcodebuild", None),
    ("xcodebuild -scheme App -showBuildSettings build", "xcodebuild", None),
    ("javac -h include src/A.java", "javac", Some(Build)),
    ("shellcheck --list-optional", "shellcheck", None),
];

#[test]
fn commands_are_understood() {
    let mut wrong = Vec::new();
    let rows = || [ONE, WRAPPED, LISTS, PIPES, NESTED].into_iter().flatten();
    for &(command, commands, family, purpose, exit_of, masked) in rows() {
        let Some(script) = understand(command) else {
            wrong.push(format!("{command:?} is not read"));
            continue;
        };
        let telling = script.commands.iter().find(|command| purpose.is_some() && command.purpose == purpose).or(script.commands.last());
        let texts: Vec<&str> = script.commands.iter().map(|command| command.text.as_str()).collect();
        let found = (
            texts,
            telling.map_or("", |command| &command.family),
            script.purpose(),
            [script.exit_of(true), script.exit_of(false)],
            script.masked_texts().collect::<Vec<_>>(),
        );
        let named = |place: &usize| commands.get(*place).copied();
        let wanted =
            (commands.to_vec(), family, purpose, exit_of.map(|place| named(&place)), masked.iter().filter_map(named).collect::<Vec<_>>());
        if found != wanted {
            wrong.push(format!("{command:?}\n   is {found:?}\n  not {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows().count(), wrong.join("\n"));
    assert!(rows().count() >= 150, "{}", rows().count());
}

#[test]
fn purposes_are_told() {
    let mut wrong = Vec::new();
    for &(command, family, purpose) in PURPOSES {
        let script = understand(command).unwrap_or_else(|| panic!("`{command}` is not read"));
        let [only] = script.commands.as_slice() else { panic!("`{command}` is one command") };
        if (only.family.as_str(), only.purpose) != (family, purpose) {
            wrong.push(format!("{command:?} is {:?}, not {:?}", (&only.family, only.purpose), (family, purpose)));
        }
        assert_eq!(
            (script.exit_of(true), script.exit_of(false), script.masked_texts().collect::<Vec<_>>().len()),
            (Some(command), Some(command), 0)
        );
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), PURPOSES.len(), wrong.join("\n"));
}

#[test]
fn what_cannot_be_read_is_unknown_and_takes_no_time() {
    assert!(understand("for f in a b\n  echo $f\nend").is_none());
    assert!(understand("if (Test-Path x) { Remove-Item x } else { echo 'no").is_none());
    assert!(understand("bash -c 'if then'").is_none());
    for opening in ["(", "{ ", "$(", "((", "`", "if a; then ", "case x in x) ", "! ", "a && ", "[[ ( ", "\"$(", "${a:-", "<(", "while "] {
        for count in [9, 30, 10_000] {
            let _ = understand(&opening.repeat(count));
        }
    }
    for nested in ["$(a ", "bash -c \"", "<(cat ", "`x "] {
        let _ = understand(&format!("echo {}", nested.repeat(2_000)));
    }
    assert!(understand(&"a;".repeat(100_000)).is_none());
}
