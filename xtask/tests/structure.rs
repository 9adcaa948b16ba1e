//! The repository tests itself: which crate may use which, that what is in a registry's folder is registered, that
//! ARCHITECTURE.md lists the crates there are, and the few rules of form that a reader relies on. [`words`] measures how easily
//! the sources read.
//!
//! Every rule is a function over text that returns what is wrong and what to do about it; the tests at the end show
//! each of them failing.

#[path = "structure/words.rs"]
mod words;

use std::fs;
use std::path::{Path, PathBuf};

/// Which crates of the workspace each crate may use. Tests and benches may use any.
const EDGES: &[(&str, &[&str])] = &[
    ("tooltrail-skim", &[]),
    ("tooltrail-model", &[]),
    ("tooltrail-shell", &["tooltrail-model"]),
    ("tooltrail-script", &["tooltrail-model"]),
    ("tooltrail-formats", &["tooltrail-skim", "tooltrail-model", "tooltrail-shell", "tooltrail-script"]),
    ("tooltrail-redact", &[]),
    ("tooltrail-view", &["tooltrail-model"]),
    ("tooltrail-catalog", &["tooltrail-model", "tooltrail-formats"]),
    ("tooltrail-server", &["tooltrail-model", "tooltrail-formats", "tooltrail-redact", "tooltrail-view", "tooltrail-catalog"]),
    (
        "tooltrail",
        &[
            "tooltrail-skim",
            "tooltrail-model",
            "tooltrail-formats",
            "tooltrail-redact",
            "tooltrail-view",
            "tooltrail-catalog",
            "tooltrail-server",
        ],
    ),
    ("tooltrail-testkit", &[]),
    ("xtask", &[]),
];

/// Folders whose every entry must be declared and listed in one file.
const REGISTRIES: &[Registry] = &[
    Registry {
        folder: "crates/tooltrail/src/commands",
        entries: Entries::Files,
        file: "crates/tooltrail/src/commands/mod.rs",
        list: "COMMANDS",
    },
    Registry {
        folder: "crates/tooltrail-formats/src",
        entries: Entries::Folders,
        file: "crates/tooltrail-formats/src/lib.rs",
        list: "FORMATS",
    },
    Registry {
        folder: "crates/tooltrail-view/src/tools",
        entries: Entries::Files,
        file: "crates/tooltrail-view/src/tools/mod.rs",
        list: "TOOLS",
    },
    Registry {
        folder: "crates/tooltrail-view/src/render/outputs",
        entries: Entries::Files,
        file: "crates/tooltrail-view/src/render/outputs/mod.rs",
        list: "OUTPUTS",
    },
    Registry {
        folder: "crates/tooltrail-server/src/pages",
        entries: Entries::Files,
        file: "crates/tooltrail-server/src/pages/mod.rs",
        list: "PAGES",
    },
];

struct Registry {
    folder: &'static str,
    entries: Entries,
    file: &'static str,
    list: &'static str,
}

enum Entries {
    Files,
    Folders,
}

const MOST_LINES: usize = 800;

/// Crates whose source knows no agent's spelling: what differs between agents is asked of `crates/tooltrail-formats`.
const NEUTRAL: &[&str] = &[
    "tooltrail-skim",
    "tooltrail-model",
    "tooltrail-shell",
    "tooltrail-script",
    "tooltrail-redact",
    "tooltrail-view",
    "tooltrail-catalog",
    "tooltrail-server",
    "tooltrail",
];

/// Names of agents, of their files and of their variables.
const SPELLINGS: &[&str] = &[
    "claude",
    "Claude",
    "CLAUDE",
    "codex",
    "Codex",
    "CODEX",
    "opencode",
    "OpenCode",
    "rollout-",
    "tool-results",
    "\"projects\"",
    "projects/",
];

/// Files of these crates that may spell an agent: demo data, examples of documents, and logins that are no person's.
const SPELLED: &[&str] = &["tooltrail/src/demo.rs", "tooltrail-server/src/api/openapi/rows.rs", "tooltrail-redact/src/paths.rs"];

#[test]
fn the_repository_keeps_its_rules() {
    // Asked when the test runs: checkouts that share a target directory may share this test's program too.
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("run this test with `cargo test`");
    let root = Path::new(&own).join("..");
    let mut wrong = Vec::new();
    let crates = names(&root.join("crates"), &Entries::Folders);
    assert!(!crates.is_empty(), "no crates below {}", root.display());
    let members = crates.iter().map(|name| format!("crates/{name}"));
    for member in members.chain(["xtask".to_owned()]) {
        let manifest = format!("{member}/Cargo.toml");
        let name = member.rsplit('/').next().unwrap_or_default();
        let text = read(&root.join(&manifest));
        wrong.extend(edges(name, &text).into_iter().chain(lints(&text)).map(|what| format!("{manifest}: {what}")));
        for file in sources(&root.join(&member)) {
            let shown = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
            let text = read(&file);
            let in_src = shown.starts_with(&format!("{member}/src/"));
            let opening = if in_src { opens(&text) } else { None };
            let neutral = in_src && NEUTRAL.contains(&name) && !SPELLED.iter().any(|file| shown.ends_with(file));
            let spelled = if neutral && !is_of_tests(&file) { spellings(&text) } else { Vec::new() };
            wrong.extend(opening.into_iter().chain(length(&text)).chain(spelled).map(|what| format!("{shown}: {what}")));
        }
    }
    for registry in REGISTRIES {
        let entries = names(&root.join(registry.folder), &registry.entries);
        let text = read(&root.join(registry.file));
        wrong.extend(registered(&entries, &text, registry.list).into_iter().map(|what| format!("{}: {what}", registry.file)));
    }
    let agents = names(&root.join("crates/tooltrail-formats/tests/fixtures"), &Entries::Folders);
    wrong.extend(agents.iter().filter_map(|agent| unspelled(agent)));
    let text = read(&root.join("ARCHITECTURE.md"));
    wrong.extend(listed(&crates, &text).into_iter().map(|what| format!("ARCHITECTURE.md: {what}")));
    assert!(wrong.is_empty(), "{} rules broken:\n  {}", wrong.len(), wrong.join("\n  "));
}

/// A missing file reads as an empty one, and breaks the rules that want something in it.
fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The names of a folder's folders, or the stems of its Rust files other than `mod.rs`, sorted; none where it is missing.
fn names(folder: &Path, entries: &Entries) -> Vec<String> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut names: Vec<String> = found
        .filter(|path| match entries {
            Entries::Folders => path.is_dir(),
            Entries::Files => path.extension().is_some_and(|extension| extension == "rs"),
        })
        .filter_map(|path| path.file_stem()?.to_str().map(str::to_owned))
        .filter(|name| name != "mod")
        .collect();
    names.sort();
    names
}

/// Every Rust file below `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Crates of the workspace that `name` uses and must not.
fn edges(name: &str, manifest: &str) -> Vec<String> {
    let Some((_, allowed)) = EDGES.iter().find(|(known, _)| *known == name) else {
        return vec![format!("`{name}` is not in EDGES; add it there with the crates it may use")];
    };
    let members = || EDGES.iter().map(|(member, _)| *member);
    let used = dependencies(manifest).into_iter().filter(|used| members().any(|member| member == used));
    used.filter(|used| !allowed.contains(&used.as_str()))
        .map(|used| format!("`{name}` must not use `{used}`; move the code to where it may, or change EDGES and ARCHITECTURE.md"))
        .collect()
}

/// The packages in the manifest's `[dependencies]` and `[build-dependencies]`, also those of one target only.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            let own = |part: &&str| matches!(*part, "dependencies" | "build-dependencies");
            // `[dependencies.name]` names one itself; `[target.'cfg(unix)'.dependencies]` is a list like any other.
            let (before, last) = header.rsplit_once('.').unwrap_or(("", header));
            inside = own(&last) && !header.starts_with("workspace");
            if before.rsplit('.').next().is_some_and(|part| own(&part)) {
                found.push(last.trim_matches('"').to_owned());
            }
        } else if inside && let Some((key, value)) = line.split_once('=') {
            let renamed = value.split_once("package = \"").and_then(|(_, rest)| rest.split('"').next());
            let key = key.trim().trim_end_matches(".workspace").trim_matches('"');
            found.push(renamed.unwrap_or(key).to_owned());
        }
    }
    found
}

/// Whether the crate takes the workspace's lints.
fn lints(manifest: &str) -> Option<String> {
    let lines: Vec<&str> = manifest.lines().map(str::trim).collect();
    let taken = lines.windows(2).any(|pair| pair == ["[lints]", "workspace = true"]);
    (!taken).then(|| "the workspace's lints do not apply; add `[lints]` and below it `workspace = true`".to_owned())
}

/// Entries of a registry's folder that its file does not both declare and list.
fn registered(entries: &[String], text: &str, list: &str) -> Vec<String> {
    let missing = entries.iter().filter(|entry| count(text, entry) < 2);
    missing.map(|entry| format!("`{entry}` is not both declared and listed; write `mod {entry};` and add it to `{list}`")).collect()
}

/// How often `word` stands in `text` by itself.
fn count(text: &str, word: &str) -> usize {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|found| *found == word).count()
}

/// Differences between the crates there are and those that ARCHITECTURE.md names.
fn listed(crates: &[String], text: &str) -> Vec<String> {
    let named: Vec<&str> = text
        .split('`')
        .filter_map(|part| part.strip_prefix("crates/"))
        .map(|name| name.trim_end_matches('/'))
        .filter(|name| !name.contains(['/', ' ', '<', '*', '\n']))
        .collect();
    let unnamed = crates.iter().filter(|name| !named.contains(&name.as_str()));
    let gone = named.iter().filter(|name| !crates.iter().any(|known| known == *name));
    unnamed
        .map(|name| format!("`crates/{name}` is missing from the list of crates; add it, in backticks"))
        .chain(gone.map(|name| format!("`crates/{name}` does not exist; take it off the list of crates")))
        .collect()
}

/// Whether a source file says what it owns.
fn opens(text: &str) -> Option<String> {
    (!text.starts_with("//! ")).then(|| "does not open with `//!`; begin with what the file owns".to_owned())
}

/// Whether a source file is a module of tests, or holds their data.
fn is_of_tests(file: &Path) -> bool {
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem == "tests" || stem == "sheet" || stem.starts_with("sample")
}

/// Lines of a source file that spell an agent. Comments, modules of tests and examples of filters may.
fn spellings(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let spelled = |(at, line): (usize, &str)| {
        let line = line.trim_start();
        let own = if line.starts_with("//") { "" } else { line.split(" // ").next().unwrap_or_default() };
        let own = own.replace("agent:codex", "").replace("agent:claude", "");
        let found = SPELLINGS.iter().find(|spelling| own.contains(**spelling))?;
        let way = "ask `crates/tooltrail-formats` for it through a method of `format.rs`";
        Some(format!("line {}: `{}` is an agent's spelling; {way}", at + 1, found.trim_matches('"')))
    };
    code.lines().enumerate().filter_map(spelled).collect()
}

/// Whether an agent's name could stand anywhere unnoticed.
fn unspelled(agent: &str) -> Option<String> {
    let first = agent.split('_').next().unwrap_or_default();
    (!SPELLINGS.contains(&first)).then(|| format!("`{first}` is not in SPELLINGS; add it, and the names of its files and variables"))
}

/// Whether a source file is too long.
fn length(text: &str) -> Option<String> {
    let lines = text.lines().count();
    (lines > MOST_LINES).then(|| format!("has {lines} lines, more than {MOST_LINES}; split it by what it owns"))
}

mod rules {
    use super::*;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn an_edge_against_the_direction_is_found() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\nmemchr = { workspace = true }\n\
                        tooltrail-formats = { workspace = true }\n[dev-dependencies]\ntooltrail-testkit.workspace = true\n";
        assert_eq!(edges("tooltrail", manifest), Vec::<String>::new());
        assert!(edges("tooltrail-model", manifest)[0].contains("must not use `tooltrail-formats`"));
        assert!(edges("tooltrail-new", manifest)[0].contains("not in EDGES"));
    }

    #[test]
    fn dependencies_are_found_in_every_spelling() {
        let manifest = "[dependencies]\na.workspace = true\nb = \"1\"\nc = { package = \"real\", version = \"1\" }\n\
                        [dependencies.d]\nversion = \"1\"\n[target.'cfg(unix)'.dependencies]\ne = \"1\"\n\
                        [build-dependencies]\nf = \"1\"\n[dev-dependencies]\ng = \"1\"\n[dev-dependencies.h]\nversion = \"1\"\n";
        assert_eq!(dependencies(manifest), ["a", "b", "real", "d", "e", "f"]);
    }

    #[test]
    fn lints_must_be_the_workspaces() {
        assert_eq!(lints("[lints]\nworkspace = true\n"), None);
        assert!(lints("[lints.rust]\nunsafe_code = \"deny\"\n").is_some());
        assert!(lints("[lints]\nworkspace = false\n").is_some());
    }

    #[test]
    fn what_is_declared_and_not_listed_is_found() {
        let text = "mod stats;\nmod calls;\npub const COMMANDS: &[Command] = &[stats::COMMAND];\nmod callsite;\n";
        let wrong = registered(&owned(&["calls", "stats"]), text, "COMMANDS");
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].contains("`calls`"));
    }

    #[test]
    fn the_list_of_crates_is_true_both_ways() {
        let text = "| `crates/a` | what it does, see `crates/a/src/lib.rs` |\n| `crates/old/` | gone |";
        let wrong = listed(&owned(&["a", "b"]), text);
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        assert!(wrong[0].contains("`crates/b` is missing"));
        assert!(wrong[1].contains("`crates/old` does not exist"));
        assert_eq!(listed(&owned(&["a"]), ""), ["`crates/a` is missing from the list of crates; add it, in backticks"]);
    }

    #[test]
    fn an_agents_spelling_outside_of_formats_is_found() {
        let clean = "//! Knows Codex by name only.\nlet all = 1; // as in `rollout-1`\nlet example = \"agent:codex\";\n\
                     #[cfg(test)]\nmod tests { const LOG: &str = \".claude/projects/\"; }\n";
        assert_eq!(spellings(clean), Vec::<String>::new());
        for line in [
            "model.strip_prefix(\"claude-\")",
            "std::env::var(\"CODEX_HOME\")",
            "name.starts_with(\"rollout-\")",
            "root.join(\"projects\")",
        ] {
            let wrong = spellings(&format!("//! Owns this.\n{line}\n"));
            assert!(wrong.len() == 1 && wrong[0].starts_with("line 2: "), "{line}: {wrong:?}");
        }
        assert!(is_of_tests(Path::new("src/waterfall/tests.rs")) && is_of_tests(Path::new("src/sample_files.rs")));
        assert!(!is_of_tests(Path::new("src/demo.rs")));
    }

    #[test]
    fn files_open_with_what_they_own_and_end_in_time() {
        assert_eq!(opens("//! Owns this.\n"), None);
        assert!(opens("use std::fs;\n").is_some());
        assert!(opens("//!\n").is_some());
        assert_eq!(length(&"x\n".repeat(MOST_LINES)), None);
        assert!(length(&"x\n".repeat(MOST_LINES + 1)).is_some());
    }
}
