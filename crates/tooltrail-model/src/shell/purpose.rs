//! What a simple command is for, by its program and its first words.

use crate::Map;
use crate::status::words;
use std::sync::LazyLock;

words! {
    /// What a command is for. Of several, the first in this order counts.
    Purpose {
        /// Runs tests.
        Test => "test",
        /// Makes something that runs.
        Build => "build",
        /// Looks for faults without running anything.
        Lint => "lint",
        /// Changes how the source looks.
        Format => "format",
        /// Records changes.
        Commit => "commit",
        /// Gets what is needed.
        Install => "install",
    }
}

use Purpose::{Build, Commit, Format, Install, Lint, Test};

/// Programs that are for one thing, whatever they are told.
const PROGRAMS: &[(Purpose, &str)] = &[
    (
        Test,
        "pytest py.test jest vitest mocha ava tap karma cypress phpunit pest rspec ctest tox nox nose2 behave cucumber bats busted prove
         cargo-nextest gotestsum ginkgo unittest doctest web-test-runner wtr c8 nyc elm-test",
    ),
    (
        Build,
        "tsc vue-tsc webpack rollup esbuild swc tsup tsdown parcel gcc g++ cc c++ clang clang++ rustc javac kotlinc scalac ghc wasm-pack
         msbuild protoc sphinx-build latexmk pdflatex electron-builder",
    ),
    (
        Lint,
        "eslint eslint_d flake8 pylint mypy dmypy pyright basedpyright pyre pycodestyle pydocstyle pyflakes shellcheck golangci-lint
         staticcheck revive stylelint oxlint tslint xo standard rubocop standardrb erb_lint clang-tidy cppcheck hadolint yamllint
         markdownlint markdownlint-cli2 tflint ktlint swiftlint phpstan psalm phpcs vale actionlint ansible-lint detekt bandit vulture
         svelte-check cargo-clippy cargo-deny typos codespell cspell knip luacheck semgrep lint-staged commitlint textlint",
    ),
    (
        Format,
        "rustfmt prettier black isort gofmt gofumpt goimports clang-format shfmt dprint autopep8 yapf stylua swiftformat swift-format
         ktfmt nixfmt alejandra oxfmt ocamlformat buildifier",
    ),
];

/// Programs that do different things, by the word that says which.
const WORDS: &[(&str, &[(Purpose, &str)])] = &[
    (
        "cargo",
        &[
            (Test, "test t nextest llvm-cov tarpaulin miri mutants"),
            (Build, "build b check c rustc zigbuild"),
            (Lint, "clippy deny audit machete udeps semver-checks"),
            (Format, "fmt"),
            (Install, "install add fetch binstall"),
        ],
    ),
    ("npm pnpm yarn bun", &[(Test, "test t tst"), (Build, "build"), (Install, "install i ci add in update up upgrade")]),
    ("deno", &[(Test, "test"), (Build, "check compile bundle"), (Lint, "lint"), (Format, "fmt"), (Install, "install add")]),
    ("go", &[(Test, "test"), (Build, "build"), (Lint, "vet"), (Format, "fmt"), (Install, "get install")]),
    ("git jj hg svn sl", &[(Commit, "commit ci")]),
    ("mvn mvnw", &[(Test, "test verify integration-test"), (Build, "compile package install test-compile"), (Lint, "checkstyle:check")]),
    ("bazel bazelisk buck2 pants", &[(Test, "test"), (Build, "build"), (Lint, "lint"), (Format, "fmt")]),
    ("swift", &[(Test, "test"), (Build, "build"), (Format, "format"), (Install, "resolve")]),
    ("zig", &[(Test, "test"), (Build, "build build-exe build-lib"), (Format, "fmt")]),
    (
        "mix",
        &[(Test, "test"), (Build, "compile"), (Lint, "credo dialyzer"), (Format, "format"), (Install, "deps.get deps.update deps.install")],
    ),
    ("flutter dart", &[(Test, "test"), (Build, "build compile"), (Lint, "analyze"), (Format, "format"), (Install, "get")]),
    ("dotnet", &[(Test, "test vstest"), (Build, "build publish msbuild pack"), (Format, "format"), (Install, "restore add")]),
    ("xcodebuild", &[(Test, "test test-without-building"), (Build, "build build-for-testing archive analyze")]),
    (
        "meson dune stack cabal gleam forge anchor hardhat crystal sbt lein rebar3 moon mdbook",
        &[(Test, "test runtest spec eunit ct"), (Build, "build compile install check"), (Format, "fmt format")],
    ),
    ("hatch pdm rye pixi", &[(Test, "test"), (Build, "build"), (Lint, "lint"), (Format, "fmt"), (Install, "install add sync update")]),
    ("vite next nuxt astro remix gatsby hugo jekyll tauri eas sam", &[(Build, "build"), (Lint, "lint check")]),
    ("ng ember", &[(Test, "test"), (Build, "build"), (Lint, "lint")]),
    ("docker podman docker-compose buildah", &[(Build, "build")]),
    ("playwright", &[(Test, "test"), (Install, "install")]),
    ("ruff biome ty sqlfluff trunk", &[(Lint, "check lint ci"), (Format, "format fmt"), (Build, "build")]),
    ("pre-commit lefthook prek", &[(Lint, "run"), (Install, "install")]),
    ("buf helm taplo", &[(Build, "build package"), (Lint, "lint check"), (Format, "format fmt")]),
    ("terraform tofu", &[(Lint, "validate"), (Format, "fmt")]),
    ("dbt", &[(Test, "test"), (Build, "build run compile")]),
    ("rails artisan manage.py", &[(Test, "test spec")]),
    ("setup.py", &[(Test, "test"), (Build, "build sdist bdist_wheel build_ext"), (Install, "install develop")]),
    ("composer", &[(Install, "install require update")]),
    ("uv", &[(Build, "build"), (Format, "format"), (Install, "sync add install")]),
    (
        "pip pip3 pipx poetry pipenv conda mamba micromamba bundle gem apt apt-get brew dnf yum zypper winget choco scoop pod rustup mise
         asdf nvm volta opam luarocks",
        &[(Build, "build"), (Install, "install add sync create reinstall")],
    ),
    ("apk", &[(Install, "add")]),
    ("pacman yay", &[(Install, "-S -Sy -Syu -U")]),
];

/// Programs whose words are names that a project gives: targets, tasks, scripts. Whether `check` means its tests or a linter differs.
const MAKERS: &str = "make gmake ninja just task mage rake invoke inv earthly xtask gradle gradlew nx turbo lerna poe moonrepo";
const SCRIPTS: &str = "npm pnpm yarn bun composer";

/// Wrappers that stand before a command: their own words, how many more follow that are not the command, and the options that take a word.
const WRAPPERS: &[(&str, usize, &str)] = &[
    ("sudo", 0, "-u -g -h -p -C -r -t -T -U -D --user --group --chdir"),
    ("doas", 0, "-u -C"),
    ("env", 0, "-u -C --unset --chdir"),
    ("nice", 0, "-n --adjustment"),
    ("ionice", 0, "-c -n -p"),
    ("time", 0, "-f -o --format --output"),
    ("nohup", 0, ""),
    ("command", 0, ""),
    ("builtin", 0, ""),
    ("exec", 0, "-a"),
    ("setsid", 0, ""),
    ("stdbuf", 0, "-i -o -e"),
    ("unbuffer", 0, ""),
    ("chronic", 0, ""),
    ("winpty", 0, ""),
    ("arch", 0, ""),
    ("caffeinate", 0, "-t -w"),
    ("timeout", 1, "-s -k --signal --kill-after"),
    ("gtimeout", 1, "-s -k --signal --kill-after"),
    ("xargs", 0, "-n -P -I -L -d -a -s -E --max-args --max-procs --delimiter --arg-file"),
    ("npx", 0, "-p --package -w --workspace --prefix"),
    ("bunx", 0, "-p --package"),
    ("pnpx", 0, "-p --package"),
    ("uvx", 0, "--from --with -p --python --index"),
    ("corepack", 0, ""),
    ("dotenv", 0, "-e -f -v"),
    ("cross-env", 0, ""),
    ("xvfb-run", 0, "-n -s -w -e -f --server-num --server-args"),
    ("c8", 0, "-r --reporter"),
    ("nyc", 0, "-r --reporter"),
    ("strace", 0, "-o -e -p"),
    ("valgrind", 0, ""),
    (
        "uv run",
        0,
        "--with --with-requirements --extra --group --only-group --no-group --python -p --directory --project --env-file --package --index",
    ),
    ("uv tool run", 0, "--from --with -p --python"),
    ("pipx run", 0, "--spec --python"),
    ("poetry run", 0, "-C -P --directory --project"),
    ("pipenv run", 0, ""),
    ("pdm run", 0, "-p --project"),
    ("rye run", 0, "--pyproject"),
    ("conda run", 0, "-n --name -p --prefix --cwd"),
    ("mamba run", 0, "-n --name -p --prefix"),
    ("coverage run", 0, "--source --rcfile --data-file --omit --include"),
    ("bundle exec", 0, "--gemfile"),
    ("npm exec", 0, "-p --package -w --workspace --prefix -C"),
    ("npm x", 0, "-p --package -w --workspace --prefix -C"),
    ("pnpm exec", 0, "--filter -F -C --dir"),
    ("pnpm dlx", 0, "--package"),
    ("yarn dlx", 0, "-p --package"),
    ("yarn exec", 0, "--cwd"),
    ("bun x", 0, "-p --package --cwd"),
    ("mise exec", 0, "-C --cd"),
    ("mise x", 0, "-C --cd"),
    ("direnv exec", 1, ""),
    ("op run", 0, "--env-file"),
    ("doppler run", 0, "-p -c"),
    ("nix develop", 0, ""),
    ("docker exec", 1, "-e --env -u --user -w --workdir --env-file"),
    ("podman exec", 1, "-e --env -u --user -w --workdir --env-file"),
    ("docker compose exec", 1, "-f --file -p --project-name --profile --env-file -e --env -u --user -w --workdir --index"),
    (
        "docker compose run",
        1,
        "-f --file -p --project-name --profile --env-file -e --env -u --user -w --workdir -v --volume --name --entrypoint",
    ),
    ("docker-compose exec", 1, "-f --file -p --project-name -e --env -u --user -w --workdir --index"),
    ("docker-compose run", 1, "-f --file -p --project-name -e --env -u --user -w --workdir -v --volume --name --entrypoint"),
    (
        "docker run",
        1,
        "-e --env -u --user -w --workdir --env-file -v --volume --name -p --publish --network --net --mount --entrypoint --platform --cpus
         -m --memory -h --hostname -l --label --add-host --gpus --shm-size --ulimit --cap-add --security-opt --pull",
    ),
    ("kubectl exec", 1, "-n --namespace -c --container --context"),
];

/// Options of programs that take the word behind them and may stand before the word that says what to do.
const VALUED: &str = "
    -C -c -F -f -w -p -pl -n --filter --prefix --cwd --dir --directory --workspace --project --project-dir --manifest-path --file --makefile
    --namespace --context --config --git-dir --work-tree --package --target-dir --profile --color -scheme -destination -workspace -project
    -configuration -sdk --justfile --working-directory";
/// Those of them that take none with some programs.
const NOT_VALUED: &[(&str, &str)] = &[("pnpm yarn bun", "-w -p -n"), ("make gmake ninja just", "-n -w -p -F"), ("git", "-p -n")];

/// A table of lists of words, found by a word: nearly every command asks all of them.
pub(super) fn table<T: Copy>(lists: impl Iterator<Item = (T, &'static str)>) -> Map<&'static str, T> {
    let mut table = Map::default();
    for (value, words) in lists {
        for word in words.split_ascii_whitespace() {
            table.entry(word).or_insert(value);
        }
    }
    table
}

/// What programs are for that are for one thing.
static BY_PROGRAM: LazyLock<Map<&str, Purpose>> = LazyLock::new(|| table(PROGRAMS.iter().copied()));
/// What the words of a program are for.
static BY_WORD: LazyLock<Map<&str, &[(Purpose, &str)]>> =
    LazyLock::new(|| table(WORDS.iter().map(|(programs, words)| (*words, *programs))));
/// Programs that wrappers begin with.
static WRAPPING: LazyLock<Map<&str, ()>> =
    LazyLock::new(|| WRAPPERS.iter().filter_map(|(wrapper, _, _)| Some((wrapper.split(' ').next()?, ()))).collect());

/// Whether a list of words has a word.
pub(super) fn listed(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|listed| listed == word)
}

/// The name of a program without its directory, its ending and the version that a package runner was asked for.
pub(super) fn program(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name = [".exe", ".cmd", ".bat"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    name.split_once('@').map_or(name, |(before, _)| if before.is_empty() { name } else { before })
}

/// The words of the command that a wrapped command line is really about.
pub(super) fn behind_wrappers(words: &[String]) -> &[String] {
    let mut words = words;
    for _ in 0..8 {
        let inner = behind_one(words).unwrap_or_default();
        if inner.is_empty() {
            break;
        }
        words = inner;
    }
    words
}

fn behind_one(words: &[String]) -> Option<&[String]> {
    let (first, rest) = words.split_first()?;
    let name = program(first);
    match (name, rest.first().map(String::as_str)) {
        // It asks what a command is, and runs none.
        ("command", Some("-v" | "-V")) => return None,
        (_, Some("-m")) if name == "py" || name.starts_with("python") => return rest.get(1..),
        // A program of the project that an interpreter is given.
        ("node" | "php" | "python" | "python3" | "ruby" | "bun", Some(path)) if is_tool(path) => return Some(rest),
        _ => {}
    }
    if !WRAPPING.contains_key(name) {
        return None;
    }
    let found = WRAPPERS.iter().filter(|(wrapper, _, _)| wrapper.split(' ').next() == Some(name));
    let mut behind = found.filter_map(|(wrapper, own, valued)| past(rest, wrapper.strip_prefix(name)?, *own, valued));
    let behind = behind.next()?;
    // Names of tools may stand before the command: `mise exec node@20 -- npm test`.
    let command = behind.iter().position(|word| word == "--").filter(|_| matches!(name, "mise" | "op" | "doppler"));
    command.map_or(Some(behind), |at| behind.get(at + 1..))
}

/// What stands behind a wrapper's words, its options and assignments, and `own` words more; nothing if its words are not there.
fn past<'w>(words: &'w [String], wrapper: &str, own: usize, valued: &str) -> Option<&'w [String]> {
    let mut wanted = wrapper.split_ascii_whitespace().peekable();
    let (mut own, mut at) = (own, 0);
    while let Some(word) = words.get(at) {
        if word == "--" && wanted.peek().is_none() {
            return words.get(at + 1..);
        }
        if word.starts_with('-') {
            at += if listed(valued, word) { 2 } else { 1 };
        } else if wanted.peek().is_some() {
            if wanted.next() != Some(word) {
                return None;
            }
            at += 1;
        } else if is_assignment(word) {
            at += 1;
        } else if own > 0 {
            own -= 1;
            at += 1;
        } else {
            break;
        }
    }
    if wanted.peek().is_some() { None } else { words.get(at..) }
}

fn is_assignment(word: &str) -> bool {
    let name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    word.split_once('=').is_some_and(|(before, _)| name(before))
}

/// Whether a path that an interpreter is given is a tool with a name of its own.
fn is_tool(path: &str) -> bool {
    !path.starts_with('-')
        && (path.contains("/bin/") || path.contains(".bin/") || matches!(program(path), "manage.py" | "setup.py" | "artisan"))
}

/// What a command is for.
pub(super) fn of(words: &[String]) -> Option<Purpose> {
    let (first, rest) = words.split_first()?;
    if rest.last().is_some_and(|word| listed("--version --help -V -version --list-tests", word)) {
        return None;
    }
    let name = program(first);
    let said: Vec<&str> = said_words(name, rest).filter(|word| !word.starts_with('+')).collect();
    if matches!(name, "tox" | "nox") {
        return said.iter().find_map(|word| named(word, None)).or(Some(Test));
    }
    if let Some(purpose) = BY_PROGRAM.get(name) {
        return Some(*purpose);
    }
    if listed(MAKERS, name) {
        // It only says what it would make.
        if name == "make" && rest.iter().any(|word| listed("-n -q -qp -p --dry-run --question", word)) {
            return None;
        }
        return maker(name, &said);
    }
    if listed(SCRIPTS, name) {
        return script(name, rest, &said);
    }
    of_its_own(name, first, rest, &said)
}

/// Programs with a way of their own to be told what to do.
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
        ("deno", ["task", told, ..]) | ("mise", ["run" | "r", told, ..]) => named(told, Some(Lint)),
        ("bash" | "sh" | "zsh", [path, ..]) => project_script(path),
        ("mvn" | "mvnw" | "xcodebuild" | "sbt", [_, ..]) => said.iter().filter_map(|word| by_word(name, word)).min(),
        ("bundle", []) => Some(Install),
        ("xcodebuild" | "hugo", []) if !has("-list") => Some(Build),
        ("pacman" | "yay", _) => rest.iter().find_map(|word| by_word(name, word)),
        _ => {
            let introduces = |word: &&&str| listed("compose tool pip buildx image pub component target toolchain", word);
            let told = said.iter().find(|word| !introduces(word));
            told.and_then(|told| by_word(name, told)).or_else(|| project_script(first))
        }
    }
}

/// What a script of the project is for, by its name: `./scripts/test.sh`.
fn project_script(path: &str) -> Option<Purpose> {
    let (directory, file) = path.rsplit_once('/').unwrap_or_default();
    let stem = file.strip_suffix(".sh");
    let among_scripts = || listed("scripts script ci", directory.rsplit('/').next().unwrap_or_default()) && !file.contains('.');
    named(stem.or_else(|| among_scripts().then_some(file))?, None)
}

fn by_word(name: &str, word: &str) -> Option<Purpose> {
    BY_WORD.get(name)?.iter().find(|(_, words)| listed(words, word)).map(|(purpose, _)| *purpose)
}

/// What the targets of a maker are for; without one it builds.
fn maker(name: &str, said: &[&str]) -> Option<Purpose> {
    let targets =
        said.iter().filter(|word| !is_assignment(word) && !listed("run run-many affected exec", word) && word.parse::<u64>().is_err());
    let mut targets = targets.peekable();
    if targets.peek().is_none() {
        return matches!(name, "make" | "gmake" | "ninja").then_some(Build);
    }
    targets.filter_map(|target| named(target, Some(Test)).or_else(|| listed("all release debug", target).then_some(Build))).min()
}

/// What a script of a package is for, or a command of its package manager, or a program of its packages.
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

/// What a name that a project gives is for: `test:unit`, `lint-fix`, `testDebugUnitTest`; `check` means different things to different ones.
fn named(name: &str, check: Option<Purpose>) -> Option<Purpose> {
    // A file that an interpreter runs is no name of a script.
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
    // Gradle writes its names in one: `assembleDebug`, `connectedAndroidTest`.
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

/// Words of a program that are neither options nor their values.
pub(super) fn said_words<'w>(program: &str, words: &'w [String]) -> impl Iterator<Item = &'w str> {
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
