//! Tables of programs and the words that say what they do: data for `purpose`, which has the rules.
//!
//! A list is one text of words, because it is read more often than it is asked; [`table`] makes a map of the large ones.

use crate::Map;
use std::sync::LazyLock;
use tooltrail_model::command::Purpose;
use tooltrail_model::command::Purpose::{Build, Commit, Format, Install, Lint, Test};

/// Programs with one purpose, whatever their words.
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
         svelte-check py_compile compileall cargo-clippy cargo-deny typos codespell cspell knip luacheck semgrep lint-staged commitlint textlint",
    ),
    (
        Format,
        "rustfmt prettier black isort gofmt gofumpt goimports clang-format shfmt dprint autopep8 yapf stylua swiftformat swift-format
         ktfmt nixfmt alejandra oxfmt ocamlformat buildifier",
    ),
];

/// Programs with several purposes, by the word that says which.
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
    ("vp", &[(Test, "test"), (Build, "build pack"), (Lint, "lint check"), (Format, "fmt"), (Install, "install add")]),
    ("ng ember", &[(Test, "test"), (Build, "build"), (Lint, "lint")]),
    ("docker podman docker-compose buildah", &[(Build, "build")]),
    ("playwright", &[(Test, "test"), (Install, "install")]),
    ("ruff biome ty sqlfluff trunk", &[(Lint, "check lint ci"), (Format, "format fmt"), (Build, "build")]),
    ("pre-commit lefthook prek", &[(Lint, "run"), (Install, "install")]),
    ("hk", &[(Lint, "check run"), (Format, "fix"), (Install, "install")]),
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

/// Programs whose words are names that a project chose: targets and tasks. Their `check` usually runs the tests.
pub(crate) const MAKERS: &str = "make gmake ninja just task mage rake invoke inv earthly xtask gradle gradlew nx turbo lerna poe moonrepo";
/// Package managers whose words may be scripts of the project. Their `check` usually runs a linter.
pub(crate) const SCRIPTS: &str = "npm pnpm yarn bun composer";

/// Options that take the next word as their value and may stand before the word that says what to do.
pub(crate) const VALUED: &str = "
    -C -c -F -f -w -p -pl -n --filter --prefix --cwd --dir --directory --workspace --project --project-dir --manifest-path --file --makefile
    --namespace --context --config --git-dir --work-tree --package --target-dir --profile --color -scheme -destination -workspace -project
    -configuration -sdk --justfile --working-directory";
/// Programs with which some of these options take no value.
pub(crate) const NOT_VALUED: &[(&str, &str)] = &[("pnpm yarn bun", "-w -p -n"), ("make gmake ninja just", "-n -w -p -F"), ("git", "-p -n")];

/// Options with which a program only prints its settings or lists what it would look at, and the programs; none for options that mean so
/// everywhere, behind scripts of a package too.
pub(crate) const PRINTING: &[(&str, &str)] = &[
    (
        "",
        "--print-config --showConfig --showconfig --show-config --show-settings --env-info --file-info --find-config-path --support-info
         --listFilesOnly --listfilesonly --listTests --list-tests --collect-only",
    ),
    ("tsc vue-tsc", "--all --dry"),
    ("rustc cargo", "-vV --explain"),
    // `cargo test -- --list`, `cargo install --list`.
    ("cargo playwright", "--list"),
    ("rustc", "--print"),
    (
        "gcc g++ cc c++ clang clang++",
        "-dumpversion -dumpfullversion -dumpmachine -dumpspecs -print-search-dirs -print-file-name -print-prog-name -print-sysroot
         --print-search-dirs --print-file-name --print-prog-name",
    ),
    ("xcodebuild", "-list -showBuildSettings -showsdks -showdestinations"),
    ("pytest py.test", "--co --fixtures --fixtures-per-test --markers --setup-plan"),
    ("ctest", "-N --show-only --print-labels"),
    ("go", "-list"),
    ("ruff isort", "--show-files"),
    ("clang-format clang-tidy", "-dump-config --dump-config -list-checks --list-checks"),
    ("pylint", "--list-msgs --list-msgs-enabled --help-msg --generate-rcfile"),
    ("rubocop", "--show-cops --list-target-files"),
    ("yamllint", "--list-files"),
    ("shellcheck", "--list-optional"),
];
/// Programs with which `-v` alone asks for the version. With others it is a run that says more.
pub(crate) const VERSION_BY_V: &str = "
    tsc vue-tsc eslint eslint_d stylelint prettier webpack rollup tsup jest vitest cypress rspec rubocop bats yapf npm pnpm yarn bun make gmake
    gcc g++ cc c++ clang clang++";
/// Programs with which `-V` says more about a run, and does not ask for the version alone.
pub(crate) const VERBOSE_V: &str = "ctest mvn mvnw gradle gradlew";

/// Makes a map from each word of some lists to its list's value. Nearly every command is looked up in all of them.
pub(crate) fn table<T: Copy>(lists: impl Iterator<Item = (T, &'static str)>) -> Map<&'static str, T> {
    let mut table = Map::default();
    for (value, words) in lists {
        for word in words.split_ascii_whitespace() {
            // A word in two lists belongs to the first, as a search through the lists would find it.
            table.entry(word).or_insert(value);
        }
    }
    table
}

/// [`PROGRAMS`] by program.
pub(crate) static BY_PROGRAM: LazyLock<Map<&str, Purpose>> = LazyLock::new(|| table(PROGRAMS.iter().copied()));
/// [`WORDS`] by program.
pub(crate) static BY_WORD: LazyLock<Map<&str, &[(Purpose, &str)]>> =
    LazyLock::new(|| table(WORDS.iter().map(|(programs, words)| (*words, *programs))));
/// Whether a list of words contains a word.
pub(crate) fn listed(words: &str, word: &str) -> bool {
    // By bytes, because this is asked some ten times for every command of a listing.
    words.as_bytes().split(u8::is_ascii_whitespace).any(|listed| !listed.is_empty() && listed == word.as_bytes())
}
