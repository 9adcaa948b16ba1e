//! What a simple command is for, by its program and its first words.

use serde::Serialize;

/// What a command is for. Of several, the first in this order counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Purpose {
    Test,
    Build,
    Lint,
    Format,
    Commit,
    Install,
}

use Purpose::{Build, Commit, Format, Install, Lint, Test};

impl Purpose {
    /// The word used in output and in filters.
    pub fn word(self) -> &'static str {
        match self {
            Test => "test",
            Build => "build",
            Lint => "lint",
            Format => "format",
            Commit => "commit",
            Install => "install",
        }
    }
}

/// Programs that are for one thing, whatever they are told.
const PROGRAMS: &[(Purpose, &[&str])] = &[
    (
        Test,
        &[
            "pytest",
            "py.test",
            "jest",
            "vitest",
            "mocha",
            "ava",
            "tap",
            "karma",
            "cypress",
            "phpunit",
            "pest",
            "rspec",
            "ctest",
            "tox",
            "nox",
            "nose2",
            "behave",
            "cucumber",
            "bats",
            "busted",
            "nextest",
            "cargo-nextest",
            "go-test",
            "gotestsum",
            "trybuild",
            "minitest",
        ],
    ),
    (
        Build,
        &[
            "tsc",
            "webpack",
            "rollup",
            "esbuild",
            "swc",
            "tsup",
            "parcel",
            "gcc",
            "g++",
            "cc",
            "c++",
            "clang",
            "clang++",
            "rustc",
            "javac",
            "kotlinc",
            "scalac",
            "ghc",
            "ninja",
            "meson",
            "msbuild",
            "xcodebuild",
            "wasm-pack",
            "trunk",
            "tsdown",
        ],
    ),
    (
        Lint,
        &[
            "eslint",
            "flake8",
            "pylint",
            "mypy",
            "pyright",
            "basedpyright",
            "shellcheck",
            "golangci-lint",
            "staticcheck",
            "stylelint",
            "oxlint",
            "rubocop",
            "clang-tidy",
            "cppcheck",
            "hadolint",
            "yamllint",
            "markdownlint",
            "markdownlint-cli2",
            "tflint",
            "ktlint",
            "swiftlint",
            "phpstan",
            "psalm",
            "phpcs",
            "vale",
            "actionlint",
            "ansible-lint",
            "checkstyle",
            "detekt",
            "credo",
            "bandit",
            "vulture",
            "svelte-check",
            "vue-tsc",
            "cargo-clippy",
            "cargo-deny",
            "typos",
            "knip",
        ],
    ),
    (
        Format,
        &[
            "rustfmt",
            "prettier",
            "black",
            "isort",
            "gofmt",
            "goimports",
            "clang-format",
            "shfmt",
            "dprint",
            "autopep8",
            "yapf",
            "taplo",
            "stylua",
        ],
    ),
];

/// Programs that do different things, by the word that says which.
const WORDS: &[Words] = &[
    (
        &["cargo"],
        &[
            (Test, &["test", "t", "nextest", "llvm-cov", "tarpaulin", "miri"]),
            (Build, &["build", "b", "check", "c", "rustc"]),
            (Lint, &["clippy", "deny", "audit", "machete"]),
            (Format, &["fmt"]),
            (Install, &["install", "add", "fetch", "binstall"]),
        ],
    ),
    (
        &["npm", "pnpm", "yarn", "bun", "deno"],
        &[
            (Test, &["test", "t", "tst"]),
            (Build, &["build", "compile", "typecheck", "type-check", "check-types", "tsc", "bundle"]),
            (Lint, &["lint", "eslint"]),
            (Format, &["format", "fmt", "prettier"]),
            (Install, &["install", "i", "ci", "add", "in"]),
        ],
    ),
    (&["go"], &[(Test, &["test"]), (Build, &["build"]), (Lint, &["vet"]), (Format, &["fmt"]), (Install, &["get", "install"])]),
    (&["git", "jj", "hg"], &[(Commit, &["commit", "ci"])]),
    (
        &[
            "make",
            "just",
            "task",
            "mage",
            "rake",
            "invoke",
            "inv",
            "bazel",
            "buck2",
            "earthly",
            "nx",
            "turbo",
            "moon",
            "xtask",
            "rails",
            "mix",
            "lein",
            "sbt",
            "stack",
            "cabal",
            "zig",
            "swift",
            "flutter",
            "dart",
            "dotnet",
            "gradle",
            "gradlew",
            "mvn",
            "mvnw",
            "ant",
            "cmake",
            "hatch",
            "pdm",
            "composer",
            "ember",
            "ng",
            "vite",
            "next",
            "nuxt",
            "astro",
            "docker",
            "podman",
            "playwright",
            "biome",
            "ruff",
            "forge",
            "hardhat",
            "anchor",
            "php",
            "artisan",
            "bundle",
            "gem",
            "pip",
            "pip3",
            "pipx",
            "poetry",
            "pipenv",
            "uv",
            "conda",
            "mamba",
            "apt",
            "apt-get",
            "apk",
            "brew",
            "dnf",
            "yum",
            "pacman",
            "zypper",
            "nix-env",
            "rustup",
            "terraform",
            "buf",
        ],
        &[
            (Test, &["test", "tests", "check", "spec", "test:unit", "verify", "unit", "e2e", "integration"]),
            (
                Build,
                &["build", "all", "compile", "assemble", "package", "dist", "bundle", "publish", "--build", "bootJar", "release", "debug"],
            ),
            (Lint, &["lint", "analyze", "clippy", "credo", "vet", "typecheck", "checkstyleMain", "validate"]),
            (Format, &["format", "fmt", "spotlessApply"]),
            (Install, &["install", "add", "sync", "update", "restore", "get", "deps.get", "-S", "fetch", "require", "ci"]),
        ],
    ),
];

/// Words that mean another thing for one program than for its like.
const EXCEPTIONS: &[(&str, &str, Option<Purpose>)] = &[
    ("ruff", "check", Some(Lint)),
    ("biome", "check", Some(Lint)),
    ("biome", "ci", Some(Lint)),
    ("deno", "check", Some(Build)),
    ("zig", "check", Some(Build)),
    ("uv", "build", Some(Build)),
    ("git", "ci", None),
    ("brew", "update", None),
    ("apt", "update", None),
    ("apt-get", "update", None),
    ("docker", "update", None),
    ("rustup", "check", None),
    ("next", "dev", None),
    ("mvn", "verify", Some(Test)),
    ("go", "install", Some(Install)),
];

/// Runners that run another program: the word behind which it stands, if any.
const RUNNERS: &[(&str, &str)] = &[
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("rye", "run"),
    ("conda", "run"),
    ("bundle", "exec"),
    ("npm", "exec"),
    ("pnpm", "exec"),
    ("pnpm", "dlx"),
    ("yarn", "dlx"),
    ("yarn", "exec"),
    ("bun", "x"),
    ("mise", "exec"),
    ("nix", "develop"),
    ("docker", "exec"),
];

/// Wrappers that stand before a command, with how many words of their own follow their options.
const WRAPPERS: &[(&str, usize)] = &[
    ("sudo", 0),
    ("doas", 0),
    ("env", 0),
    ("nice", 0),
    ("nohup", 0),
    ("time", 0),
    ("command", 0),
    ("exec", 0),
    ("builtin", 0),
    ("stdbuf", 0),
    ("setsid", 0),
    ("ionice", 0),
    ("caffeinate", 0),
    ("timeout", 1),
    ("gtimeout", 1),
    ("xargs", 0),
    ("npx", 0),
    ("bunx", 0),
    ("pnpx", 0),
    ("uvx", 0),
    ("dotenv", 0),
    ("cross-env", 0),
    ("xvfb-run", 0),
];

/// Options of wrappers and runners that take the word behind them.
const WITH_VALUE: &[&str] = &[
    "-u",
    "-n",
    "-g",
    "-s",
    "-k",
    "-I",
    "-P",
    "-L",
    "-p",
    "--package",
    "--with",
    "--group",
    "-C",
    "--directory",
    "--python",
    "--filter",
    "-F",
    "--prefix",
    "--cwd",
    "-w",
    "--workspace",
    "--project",
    "--manifest-path",
    "-c",
];

/// Whether a list of words has a word.
pub(super) fn listed(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|listed| listed == word)
}

/// The name of a program without its directory.
pub(super) fn program(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").or_else(|| name.strip_suffix(".cmd")).unwrap_or(name)
}

/// The words of the command that a wrapped command line is really about.
pub(super) fn behind_wrappers(words: &[String]) -> &[String] {
    let mut words = words;
    for _ in 0..8 {
        let Some(first) = words.first() else { return words };
        let name = program(first);
        let wrapper = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name).map(|(_, own)| *own);
        let runner = RUNNERS.iter().find(|(runner, word)| *runner == name && words.get(1).is_some_and(|second| second == word));
        let inner = match (wrapper, runner, name) {
            (Some(own), _, _) => behind(&words[1..], own),
            (None, Some(_), _) => behind(&words[2..], 0),
            (None, None, "python" | "python3" | "py") if words.get(1).is_some_and(|word| word == "-m") => &words[2..],
            _ => return words,
        };
        if inner.is_empty() {
            return words;
        }
        words = inner;
    }
    words
}

/// What stands behind the options, assignments and own words of a wrapper.
fn behind(words: &[String], mut own: usize) -> &[String] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word == "--" {
            return words.get(at + 1..).unwrap_or_default();
        }
        if word.starts_with('-') {
            at += if WITH_VALUE.contains(&word.as_str()) { 2 } else { 1 };
        } else if word
            .split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
        {
            at += 1;
        } else if own > 0 {
            own -= 1;
            at += 1;
        } else {
            break;
        }
    }
    words.get(at..).unwrap_or_default()
}

/// A program, and its words by what they make it do.
type Words = (&'static [&'static str], &'static [(Purpose, &'static [&'static str])]);

/// What a command is for.
pub(super) fn of(words: &[String]) -> Option<Purpose> {
    let (first, rest) = words.split_first()?;
    let name = program(first).trim_end_matches(".sh").trim_end_matches(".py");
    if let Some((purpose, _)) = PROGRAMS.iter().find(|(_, programs)| programs.contains(&name)) {
        return Some(*purpose);
    }
    match name {
        "python" | "python3" | "node" | "ruby" => return None,
        "unittest" | "doctest" => return Some(Test),
        _ => {}
    }
    let group = WORDS.iter().find(|(programs, _)| programs.contains(&name)).map(|(_, words)| *words)?;
    let said = said(name, rest);
    if said.is_empty() {
        return alone(name);
    }
    let told = said.iter().find_map(|word| {
        if let Some((_, _, purpose)) = EXCEPTIONS.iter().find(|(program, other, _)| *program == name && other == word) {
            return *purpose;
        }
        // Scripts and targets have names such as `test:unit` and `lint-fix`.
        let stem = word.split([':', '-', '.', '/']).next().unwrap_or(word);
        let known = |wanted: &str| group.iter().find(|(_, words)| words.contains(&wanted)).map(|(purpose, _)| *purpose);
        known(word).or_else(|| known(stem).filter(|_| !stem.is_empty() && is_runner(name)))
    });
    // What is no script of the project is a program of its packages.
    let local = matches!(name, "npm" | "pnpm" | "yarn" | "bun")
        .then(|| rest.iter().position(|word| said.first() == Some(&word.as_str())))
        .flatten();
    told.or_else(|| of(rest.get(local?..)?))
}

/// Programs whose words are names that a project gives.
fn is_runner(name: &str) -> bool {
    matches!(
        name,
        "npm"
            | "pnpm"
            | "yarn"
            | "bun"
            | "deno"
            | "make"
            | "just"
            | "task"
            | "rake"
            | "nx"
            | "turbo"
            | "moon"
            | "mage"
            | "invoke"
            | "inv"
            | "gradle"
            | "gradlew"
            | "bazel"
    )
}

/// A program that does something when it is told nothing.
fn alone(name: &str) -> Option<Purpose> {
    match name {
        "make" | "ninja" => Some(Build),
        "yarn" => Some(Install),
        _ => None,
    }
}

/// Words that are neither options nor their values.
pub(super) fn said_words(words: &[String]) -> impl Iterator<Item = &str> {
    let mut words = words.iter().map(String::as_str);
    std::iter::from_fn(move || {
        loop {
            let word = words.next()?;
            if !word.starts_with('-') {
                return Some(word);
            }
            if WITH_VALUE.contains(&word) {
                words.next();
            }
        }
    })
}

/// The words that say what a program is to do: the first that is no option, for some programs more.
fn said<'w>(name: &str, words: &'w [String]) -> Vec<&'w str> {
    let mut found = Vec::new();
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        if word.starts_with('-') {
            if word == "--build" && name == "cmake" {
                found.push(word);
            }
            if WITH_VALUE.contains(&word) {
                words.next();
            }
            continue;
        }
        // A toolchain, an assignment, or a word that only introduces the next one.
        let introduces = matches!(word, "run" | "run-script" | "compose" | "tool" | "pip" | "workspace" | "exec")
            || word.starts_with('+')
            || word.contains('=');
        if introduces {
            continue;
        }
        found.push(word);
        // One word tells what most programs do; of targets there may be several.
        if !matches!(name, "make" | "just" | "gradle" | "gradlew" | "mvn" | "mvnw" | "turbo" | "nx" | "rake") {
            break;
        }
    }
    found
}
