//! Histories of shell edits: a real bash runs invented commands in a real git repository, the logs say what agents would log, and git has
//! to agree with every text that is said to be known.

use super::histories::{Tally as PatchTally, patched};
use super::world::{PROJECT, World};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tooltrail_formats::changes::{SessionChanges, history};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::Book;
use tooltrail_model::changes::{FileText, How, Moved, Step, Strength};
use tooltrail_model::{Now, Time};

/// How many commands a history has.
const COMMANDS: usize = 150;
const NAMES: &[&str] = &["a.rs", "b.txt", "src/c.rs", "src/d.json", "docs/read me.md", "Makefile", "docs/größe.md"];

/// A repository on the disk, and the trees that git has of it: before and after each call.
struct Repository {
    directory: tempfile::TempDir,
    trees: BTreeMap<String, [String; 2]>,
    texts: BTreeMap<(String, String), Option<String>>,
    /// Files that another process changed during a call, where the agent did not see it.
    meanwhile: BTreeSet<(String, String)>,
}

impl Repository {
    fn new() -> Self {
        let own = Repository {
            directory: tempfile::tempdir().unwrap(),
            trees: BTreeMap::new(),
            texts: BTreeMap::new(),
            meanwhile: BTreeSet::new(),
        };
        own.git(&["init", "-q"]);
        own
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    fn git(&self, words: &[&str]) -> String {
        let set = ["-c", "core.autocrlf=false", "-c", "core.safecrlf=false", "-c", "core.quotepath=false"];
        let output =
            Command::new("git").args(set).args(words).current_dir(self.root()).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The tree of all files, as git has it now.
    fn tree(&self) -> String {
        self.git(&["add", "-A", "-f"]);
        self.git(&["write-tree"]).trim().to_owned()
    }

    /// Runs a command line as an agent would.
    fn bash(&self, line: &str) -> Output {
        let line = line.replace(PROJECT, &self.root().to_string_lossy());
        Command::new("bash").args(["-c", &line]).current_dir(self.root()).env("LC_ALL", "C.UTF-8").output().unwrap()
    }

    /// The text that git has of a file in a tree.
    fn text(&mut self, tree: &str, path: &str) -> Option<String> {
        let path = path.strip_prefix(PROJECT).map(|path| path.trim_start_matches('/'))?;
        let key = (tree.to_owned(), path.to_owned());
        if !self.texts.contains_key(&key) {
            let there = !self.git(&["ls-tree", "-r", "--name-only", tree, "--", path]).is_empty();
            let text = there.then(|| self.git(&["cat-file", "blob", &format!("{tree}:{path}")]));
            self.texts.insert(key.clone(), text);
        }
        self.texts[&key].clone()
    }
}

/// A word as a person would type it.
fn word(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{text}'") }
}

/// One thing that a command line does.
fn atom(world: &mut World, repository: &Repository) -> String {
    let name = world.rng.pick(NAMES);
    let file = word(name);
    let other = word(world.rng.pick(NAMES));
    let text = world.text().replace('\r', "");
    let body = if text.ends_with('\n') { text.clone() } else { format!("{text}\n") };
    let number = world.next();
    match world.rng.below(34) {
        0..4 => format!("cat > {file} <<'EOF'\n{body}EOF"),
        4 => format!("cat <<\"END\" > {file}\n{body}END"),
        5 => format!("cat > {file} <<-'EOF'\n\t{}\tEOF", body.replace('\n', "\n\t").trim_end_matches('\t')),
        6 | 7 => format!("cat >> {file} <<'EOF'\n{body}EOF"),
        8 => format!("tee {file} <<'EOF'\n{body}EOF"),
        9 => format!("cat <<'EOF' | tee -a {file} > /dev/null\n{body}EOF"),
        10 => format!("cat > {file} <<EOF\nplain {number}\n$HOME `echo {number}`\nEOF"),
        11 => format!("cat > {file} <<EOF\nplain {number}\nlines\nEOF"),
        12 => format!("printf '%s\\n' 'one {number}' \"two\" >> {file}"),
        13 => format!("printf 'a\\tb {number}' > {file}"),
        14 => format!("echo 'number {number}' >> {file}"),
        15 => format!("echo -n {number} > {file}"),
        16 => format!("date +%N > {file}"),
        17 | 18 => format!("sed -i 's/line/row {number}/' {file}"),
        19 => format!("perl -pi -e 's/all/every {number}/' {file}"),
        20 => format!("mv {file} {other}"),
        21 => format!("cp {file} {other}"),
        22 => format!("rm {file}"),
        23 => format!("rm -f {file}"),
        24 => format!("touch {file}"),
        25 => format!("truncate -s {} {file}", world.rng.pick(&["0", "5"])),
        26 | 27 => diff(world, repository, name).unwrap_or_else(|| format!("cat {file}")),
        28 => format!("cat > nowhere/{number} <<'EOF'\n{body}EOF"),
        29 => format!("git mv {file} {other} 2>/dev/null"),
        30 => format!("python3 -c \"open('{name}', 'a').write('python {number}')\""),
        31 => "ls".to_owned(),
        32 => format!("printf '%s\\n' {number} {number} | sort -u > {file}"),
        _ => format!("cat {file}"),
    }
}

/// A patch of a file, made by git.
fn diff(world: &mut World, repository: &Repository, name: &str) -> Option<String> {
    let before = fs::read_to_string(repository.root().join(name)).ok();
    let after = match &before {
        Some(_) if world.rng.chance(0.15) => None,
        Some(text) => {
            let at = text.find('\n').map_or(0, |at| at + 1);
            Some(format!("{}{}\n{}", &text[..at], world.line().replace('\r', ""), &text[at..]))
        }
        None => Some(world.text().replace('\r', "")),
    };
    let directory = tempfile::tempdir().unwrap();
    for (side, text) in [("a", &before), ("b", &after)] {
        let path = directory.path().join(side).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if let Some(text) = text {
            fs::write(path, text).unwrap();
        }
    }
    let made = Command::new("git")
        .args(["-c", "core.quotepath=false", "diff", "--no-index", "--no-prefix", "a", "b"])
        .current_dir(directory.path())
        .output()
        .unwrap();
    let patch = String::from_utf8(made.stdout).unwrap();
    if patch.is_empty() || patch.contains("Binary files") {
        return None;
    }
    let program = world.rng.pick(&["git apply", "git apply -", "patch -p1 -s"]);
    Some(format!("{program} <<'PATCH'\n{patch}PATCH"))
}

/// A command line of a few things, joined as agents and hostile logs join them.
fn line(world: &mut World, repository: &Repository) -> String {
    let one = atom(world, repository);
    match world.rng.below(20) {
        0 => format!("{one}\nfalse"),
        1 => format!("false || {one}"),
        2 => format!("false && {one}"),
        3 => format!("if [ -f a.rs ]; then\n{one}\nfi"),
        4 => format!("cd src && {}", one.replace("src/", "")),
        5 => format!("cd nowhere; {one}"),
        6 => format!("set -e\n{one}\n{}", atom(world, repository)),
        7 | 8 => format!("{one}\n{}", atom(world, repository)),
        9 => format!("{one}\n{}\n{}", atom(world, repository), atom(world, repository)),
        10 => format!("cd nowhere 2>/dev/null || exit 1\n{one}"),
        11 => format!("(cd docs; {})", one.replace("docs/", "") + "\n"),
        12 => format!("mkdir -p deep/er && {one}"),
        13 => format!("f() {{\n{one}\n}}\n{}", world.rng.pick(&["f", "true"])),
        14 => format!("for i in 1 2; do\n{one}\ndone"),
        15 => format!("cd {PROJECT} && {one}"),
        16 => format!("exit 0\n{one}"),
        _ => one,
    }
}

/// The change of two trees as the agent would log it.
fn observed(repository: &mut Repository, before: &str, after: &str, world: &mut World) -> Value {
    let names = repository.git(&["diff-tree", "-r", "--name-only", "-z", before, after]);
    let names: Vec<String> = names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let (mut files, mut more) = (Vec::new(), 0);
    for name in &names {
        let path = format!("{PROJECT}/{name}");
        if world.rng.chance(0.15) {
            more += 1;
            continue;
        }
        let diff = repository.git(&["diff-tree", "-r", "-p", "--no-renames", before, after, "--", name]);
        let mut hunks: Vec<Value> = Vec::new();
        for line in diff.split_terminator('\n') {
            if let Some(head) = line.strip_prefix("@@ -") {
                let mut ranges = head.split(" @@").next().unwrap().split(" +").map(|range| {
                    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
                    (start.parse::<u32>().unwrap(), count.parse::<u32>().unwrap())
                });
                let (old, new) = (ranges.next().unwrap(), ranges.next().unwrap());
                hunks.push(json!({"oldStart": old.0, "oldLines": old.1, "newStart": new.0, "newLines": new.1, "lines": []}));
            } else if let Some(hunk) = hunks.last_mut() {
                hunk["lines"].as_array_mut().unwrap().push(json!(line));
            }
        }
        let mut file = json!({"filePath": path, "hunks": hunks});
        let (old, new) = (repository.text(before, &path), repository.text(after, &path));
        if old.is_none() {
            file["created"] = json!(true);
        }
        if new.is_none() {
            file["deleted"] = json!(true);
        }
        files.push(file);
    }
    let all: Vec<String> = names.iter().map(|name| format!("{PROJECT}/{name}")).collect();
    json!({"files": files, "moreFiles": more, "changedFiles": all})
}

/// Runs a command line and logs it.
fn call(world: &mut World, repository: &mut Repository, log: usize, line: &str) {
    let codex = world.logs[log].agent == Some("codex");
    let before = repository.tree();
    let id = if codex {
        let id = format!("call_{:04}", world.next());
        let arguments = json!({"command": ["bash", "-lc", line], "workdir": PROJECT}).to_string();
        world.item(log, "response_item", json!({"type": "function_call", "call_id": id, "name": "shell", "arguments": arguments}));
        id
    } else {
        world.ask(log, "Bash", &json!({"command": line, "description": "change files"}))
    };
    let output = repository.bash(line);
    // Somebody else is at work, too.
    let meanwhile = world.rng.chance(0.1).then(|| world.rng.pick(NAMES));
    if let Some(name) = meanwhile {
        let text = world.text().replace('\r', "");
        fs::write(repository.root().join(name), text).unwrap();
    }
    let after = repository.tree();
    let code = output.status.code().unwrap_or(1);
    let root = repository.root().to_string_lossy().into_owned();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&root, PROJECT);
    let mut seen = Value::Null;
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    if codex {
        let both = json!({"output": format!("{out}{err}"), "metadata": {"exit_code": code, "duration_seconds": 0.1}}).to_string();
        world.item(log, "response_item", json!({"type": "function_call_output", "call_id": id, "output": both}));
    } else if code == 0 {
        let mut produced = json!({"stdout": out.trim_end(), "stderr": err.trim_end(), "interrupted": false, "isImage": false});
        if world.rng.chance(0.4) {
            seen = observed(repository, &before, &after, world);
            produced["bashEditDiff"] = seen.clone();
        }
        world.answer(log, &id, out.trim_end(), false, Some(produced));
    } else {
        let words = format!("Exit code {code}\n{}", err.trim_end());
        world.answer(log, &id, &words, true, Some(json!(format!("Error: {words}"))));
    }
    if let Some(path) = meanwhile.map(|name| format!("{PROJECT}/{name}"))
        && !seen["files"].as_array().is_some_and(|files| files.iter().any(|file| file["filePath"] == json!(path)))
    {
        repository.meanwhile.insert((id.clone(), path));
    }
    repository.trees.insert(id, [before, after]);
}

/// Claims that were found to hold, by strength of evidence.
#[derive(Debug, Default)]
struct ShellTally {
    known: BTreeMap<&'static str, usize>,
    unknown: BTreeMap<&'static str, usize>,
    reads: usize,
    before: usize,
    stale: usize,
    changed: usize,
    named: usize,
}

/// Files whose text changed since it was told last, without a word in any log.
type Stale = BTreeSet<String>;

fn known(text: &Option<String>) -> FileText {
    text.as_deref().map_or(FileText::Absent, FileText::text)
}

/// Compares the steps of files with git. Each call comes with what it says about all of its files.
fn check(steps: &[(String, Step)], repository: &mut Repository, order: &[String], tally: &mut ShellTally) {
    let mut stale = Stale::new();
    for (place, id) in order.iter().enumerate() {
        let [before, after] = repository.trees[id].clone();
        // Others were at work between two calls.
        if let Some(last) = place.checked_sub(1).map(|last| repository.trees[&order[last]][1].clone())
            && last != before
        {
            let names = repository.git(&["diff-tree", "-r", "--name-only", "-z", &last, &before]);
            stale.extend(names.split('\0').filter(|name| !name.is_empty()).map(|name| format!("{PROJECT}/{name}")));
        }
        let own: Vec<&Step> = steps.iter().filter(|(call, _)| call == id).map(|(_, step)| step).collect();
        let names = repository.git(&["diff-tree", "-r", "--name-only", "-z", &before, &after]);
        let changed: BTreeSet<String> = names.split('\0').filter(|name| !name.is_empty()).map(|name| format!("{PROJECT}/{name}")).collect();
        let was = stale.clone();
        for path in NAMES.iter().map(|name| format!("{PROJECT}/{name}")) {
            let told: Vec<&&Step> = own.iter().filter(|step| step.path == path).collect();
            tally.changed += usize::from(changed.contains(&path));
            tally.named += usize::from(changed.contains(&path) && !told.is_empty());
            let (Some(first), Some(last)) = (told.first(), told.last()) else {
                if changed.contains(&path) {
                    stale.insert(path);
                }
                continue;
            };
            let (old, new) = (known(&repository.text(&before, &path)), known(&repository.text(&after, &path)));
            let said = format!("{path} by {id}: {told:?}\nold {old:?}\nnew {new:?}\nstale {}", stale.contains(&path));
            if first.before.is_known() && !stale.contains(&path) {
                assert_eq!(first.before, old, "before, {said}");
                tally.before += 1;
            }
            tally.stale += usize::from(stale.contains(&path));
            // A text that was moved or copied here is as good as it was there.
            let carried = told.iter().any(|step| match &step.moved {
                Some(Moved::From(from)) => was.contains(from),
                _ => step.how == How::Copied && !was.is_empty(),
            });
            // What another process did in the same moment is in no log, unless the agent looked.
            let doubtful = repository.meanwhile.contains(&(id.clone(), path.clone()));
            let word = if last.changes { last.strength.word() } else { "read" };
            if last.after.is_known() {
                let sure = !last.replayed && !doubtful;
                if sure || (!stale.contains(&path) && !carried && !doubtful) {
                    assert_eq!(last.after, new, "after, {said}");
                    *tally.known.entry(word).or_default() += 1;
                }
            } else {
                *tally.unknown.entry(word).or_default() += 1;
            }
            tally.reads += usize::from(!last.changes && last.after.is_known());
            if last.after == new || !last.after.is_known() {
                stale.remove(&path);
            } else {
                stale.insert(path);
            }
        }
    }
}

fn histories(seed: u64) -> ShellTally {
    let mut world = World::new(seed);
    let mut repository = Repository::new();
    for name in ["src", "docs"] {
        fs::create_dir(repository.root().join(name)).unwrap();
    }
    for name in &NAMES[..4] {
        let text = world.text().replace('\r', "");
        fs::write(repository.root().join(name), text).unwrap();
    }
    let claude = world.claude("11111111-0000-4000-8000-000000000000");
    let codex = world.codex("019cb900-0000-7000-8000-000000000003");
    let mut order: Vec<String> = Vec::new();
    for _ in 0..COMMANDS {
        let log = world.rng.pick(&[claude, claude, codex]);
        match world.rng.below(16) {
            0 if log == claude => world.prompt(log),
            0 => world.say(log),
            1 => {
                let path = repository.root().join(world.rng.pick(NAMES));
                let text = world.text().replace('\r', "");
                fs::write(path, text).unwrap();
            }
            _ => {
                let line = line(&mut world, &repository);
                let known: BTreeSet<String> = repository.trees.keys().cloned().collect();
                call(&mut world, &mut repository, log, &line);
                order.extend(repository.trees.keys().find(|id| !known.contains(*id)).cloned());
            }
        }
    }
    compare(&world, &mut repository, &order)
}

fn compare(world: &World, repository: &mut Repository, order: &[String]) -> ShellTally {
    let disk = world.disk();
    let linker = disk.linker();
    let linked = linker.link();
    let now = Now::at("2026-03-06T00:00:00Z".parse::<Time>().unwrap());
    let mut tally = ShellTally::default();
    for index in 0..linked.sessions.len() {
        let book = SessionBook::read(&linked, &[index], &now, &disk, None);
        let calls = &book.transcript().calls;
        let changes = SessionChanges::read(&book);
        let steps: Vec<(String, Step)> = changes.steps().flatten().map(|step| (calls[step.by].row.call.to_owned(), step)).collect();
        let own: Vec<String> = order.iter().filter(|id| calls.iter().any(|call| call.row.call == **id)).cloned().collect();
        check(&steps, repository, &own, &mut tally);
        let mut patches = PatchTally::default();
        for files in changes.nets(|_| true) {
            patched(&files, true, &mut patches);
        }
    }
    // The same from all logs together.
    let mut steps: Vec<(String, Step)> = Vec::new();
    for name in NAMES {
        let history = history(&linked, &now, &disk, &format!("{PROJECT}/{name}"));
        steps.extend(history.steps.iter().map(|step| (history.evidence[step.by].call.clone().unwrap(), step.clone())));
    }
    check(&steps, repository, order, &mut tally);
    tally
}

#[test]
fn git_agrees_with_every_known_text() {
    let mut all = ShellTally::default();
    for seed in 0..6 {
        let own = histories(seed);
        for (word, count) in own.known {
            *all.known.entry(word).or_default() += count;
        }
        for (word, count) in own.unknown {
            *all.unknown.entry(word).or_default() += count;
        }
        all.before += own.before;
        all.stale += own.stale;
        all.changed += own.changed;
        all.named += own.named;
        all.reads += own.reads;
    }
    println!("{all:#?}");
    let of = |strength: Strength| all.known.get(strength.word()).copied().unwrap_or_default();
    assert!(of(Strength::Written) > 200 && of(Strength::Observed) > 20 && of(Strength::Touched) > 15, "{all:?}");
    assert!(all.reads > 10 && all.before > 200 && all.named * 10 > all.changed * 6, "{all:?}");
}
