//! Commits, pushes and pull requests of a command: as the agent noted them, else as `git` and `gh` print them.
//!
//! A fetch prints lines like those of a push, and agents note them as such; only a command that pushes counts.

use super::call_effect::CallEffect;
use super::polls::PolledOutput;
use super::{Shipped, served_request};
use crate::Status;
use crate::command::{CommandLine, CommandOutcome, Purpose, SimpleCommand};
use crate::detail::Shell;
use crate::row::CallRow;
use crate::text::headline;
use std::collections::HashSet;

/// The longest address that is kept.
const TEXT: usize = 240;

/// Something that a command shipped.
#[derive(Debug)]
pub(super) struct ShippedItem {
    /// The kind: `commit`, `push`, `pull_request`.
    pub(super) what: &'static str,
    /// The hash, branch or address.
    pub(super) which: Option<String>,
    /// The poll that printed it, by its place in `Transcript::calls`.
    pub(super) poll: Option<usize>,
}

impl ShippedItem {
    /// An item that the call's own records tell.
    pub(super) fn new(what: &'static str, which: &str) -> Self {
        let which = headline(which, TEXT);
        ShippedItem { what, which: Some(which).filter(|which| !which.is_empty()), poll: None }
    }

    /// An item that a part of the output names.
    fn printed(what: &'static str, which: &str, output: &PolledOutput) -> Self {
        ShippedItem { poll: output.poll_of(which), ..ShippedItem::new(what, which) }
    }
}

/// What a session shipped, in order. A pull request and a commit count once, however many calls name them.
pub(super) fn of_session(effects: &[CallEffect]) -> Vec<Shipped> {
    let mut seen: HashSet<(&str, &str)> = HashSet::new();
    let all = effects.iter().flat_map(|effect| &effect.shipped);
    // A branch may be pushed again, so its name does not make a push a repetition.
    let first = all.filter(|one| one.what == "push" || one.which.as_deref().is_none_or(|which| seen.insert((&one.what, which))));
    first.cloned().collect()
}

/// Whether a command line may ship something.
pub(super) fn may_ship(line: &CommandLine) -> bool {
    line.commands.iter().any(|command| commits(command) || pushes(command) || opens_request(command))
}

/// What a command shipped.
pub(super) fn of_command(
    row: &CallRow<'_>,
    shell: &Shell,
    ran: Option<(&CommandLine, &[CommandOutcome])>,
    output: &PolledOutput,
) -> Vec<ShippedItem> {
    if !matches!(row.status, Status::Succeeded | Status::Answered) {
        return Vec::new();
    }
    if !shell.git.is_empty() {
        let pushed = ran.map_or(shell.command.contains("push"), |(line, _)| line.commands.iter().any(pushes));
        return shell.git.iter().filter_map(|(what, words)| noted(what, words, pushed)).collect();
    }
    let Some((line, outcomes)) = ran else { return Vec::new() };
    let proven = |is: &dyn Fn(&SimpleCommand) -> bool| {
        let all = line.commands.iter().zip(outcomes);
        all.into_iter().find(|(command, outcome)| is(command) && **outcome == CommandOutcome::Succeeded).map(|(command, _)| command)
    };
    let text = output.text();
    let mut found = Vec::new();
    if line.commands.iter().any(commits) {
        let hashes: Vec<&str> = text.lines().filter_map(commit).collect();
        found.extend(hashes.iter().map(|hash| ShippedItem::printed("commit", hash, output)));
        // `git commit -q` prints no hash; its own exit code proves the commit all the same.
        if hashes.is_empty() && proven(&commits).is_some() {
            found.push(ShippedItem::new("commit", ""));
        }
    }
    if line.commands.iter().any(pushes) {
        let branches = pushed(output);
        // `git push -q` prints nothing. Other programs succeed as well where there was nothing to send.
        let by_git = |command: &SimpleCommand| command.family == "git" && pushes(command);
        let quiet = proven(&by_git).filter(|_| branches.is_empty() && !text.contains("Everything up-to-date"));
        found.extend(quiet.map(|command| ShippedItem::new("push", branch_of(&command.text).unwrap_or_default())));
        found.extend(branches);
    }
    if line.commands.iter().any(opens_request) {
        // `gh pr create` prints the address on a line of its own.
        let opened = |line: &&str| served_request::is_address(line);
        found.extend(
            text.lines().map(str::trim).filter(opened).take(1).map(|address| ShippedItem::printed("pull_request", address, output)),
        );
    }
    found
}

/// The branches that a push updated, as its output says. A poll may print again what was printed before.
fn pushed(output: &PolledOutput) -> Vec<ShippedItem> {
    let mut found: Vec<ShippedItem> = Vec::new();
    for branch in pushed_branches(output.text()) {
        let item = ShippedItem::printed("push", branch, output);
        if !found.iter().any(|known| known.which == item.which && known.poll != item.poll) {
            found.push(item);
        }
    }
    found
}

/// The branch that a `git push` names: the one reference behind the repository, by its name there.
fn branch_of(command: &str) -> Option<&str> {
    /// Options whose value is a word of its own.
    const WITH_VALUE: &[&str] = &["-o", "--push-option", "--repo", "--receive-pack", "--exec"];
    let mut words = command.split_whitespace().skip_while(|word| *word != "push").skip(1);
    let mut named: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "--all" | "--branches" | "--tags" | "--mirror" | "--delete" | "-d" => return None,
            _ if WITH_VALUE.contains(&word) => drop(words.next()),
            _ if word.starts_with('-') => {}
            _ => named.push(word),
        }
    }
    let [_, reference] = named.as_slice() else { return None };
    let reference = reference.trim_matches(['"', '\'']).trim_start_matches('+');
    let (from, to) = reference.split_once(':').unwrap_or((reference, reference));
    let branch = to.strip_prefix("refs/heads/").unwrap_or(to);
    // What the shell fills in is not known, nor is where `HEAD` was; an empty source deletes.
    let literal = branch.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+@#".contains(&byte) || !byte.is_ascii());
    (literal && !from.is_empty() && !matches!(branch, "" | "HEAD" | "@")).then_some(branch)
}

fn commits(command: &SimpleCommand) -> bool {
    command.purpose == Some(Purpose::Commit) && !command.text.contains("--dry-run")
}

/// Whether a command sends commits to another repository.
fn pushes(command: &SimpleCommand) -> bool {
    let mut words = command.text.split_whitespace();
    let sends = match command.family.as_str() {
        // `git stash push` stays here.
        "git" => words.any(|word| word == "push") && !command.text.contains("stash push"),
        "jj" | "hg" | "sl" => words.any(|word| word == "push"),
        "gt" => words.any(|word| matches!(word, "submit" | "ss")),
        _ => false,
    };
    sends && !command.text.contains("--dry-run")
}

/// Whether a command opens a pull request.
fn opens_request(command: &SimpleCommand) -> bool {
    let opens = ["pr create", "mr create"].iter().any(|words| command.text.contains(words));
    opens && matches!(command.family.as_str(), "gh" | "glab" | "hub") && !command.text.contains("--dry-run")
}

/// An agent's note about a commit, a push or a pull request. Notes about branches that were merged or rebased here are about nothing that
/// left the machine.
fn noted(what: &str, words: &str, pushed: bool) -> Option<ShippedItem> {
    match what {
        "commit" => Some(ShippedItem::new("commit", &which(words))),
        "push" => pushed.then(|| ShippedItem::new("push", &which(words))),
        // A request that was only edited or commented was opened before.
        "pr" => {
            let only_named = words.split_whitespace().any(|word| matches!(word, "edited" | "commented" | "closed" | "viewed" | "reviewed"));
            (!only_named).then(|| ShippedItem::new("pull_request", &which(words)))
        }
        _ => None,
    }
}

/// The branches that a push updated, one for each repository it went to: `9f3c2ab..1d2e3f4  main -> main` below `To …`.
fn pushed_branches(output: &str) -> Vec<&str> {
    let (mut found, mut fetching, mut counted): (Vec<&str>, bool, bool) = (Vec::new(), false, false);
    for line in output.lines().map(str::trim) {
        if line.starts_with("To ") || line.starts_with("From ") {
            (fetching, counted) = (line.starts_with("From "), false);
        }
        let Some((from, to)) = updated(line).filter(|_| !fetching && !counted) else { continue };
        // Without the line above it, a fetch is known by the remote before the branch.
        if to != "FETCH_HEAD" && !to.strip_suffix(from).is_some_and(|remote| remote.ends_with('/')) {
            found.push(to);
            counted = true;
        }
    }
    found
}

/// The two names in a line about an updated reference; `None` for other lines and for a rejected update.
fn updated(line: &str) -> Option<(&str, &str)> {
    let (before, after) = line.split_once(" -> ")?;
    let from = before.trim_end().rsplit(' ').next()?;
    let to = after.split(' ').next()?;
    let sign = before.trim_start_matches(['*', '+', ' ']);
    let range = sign
        .split(' ')
        .next()
        .is_some_and(|range| range.split("..").all(|end| is_hash(end.trim_start_matches('.'))) && range.contains(".."));
    (range || sign.starts_with("[new ")).then_some((from, to))
}

/// The identifying word of an agent's note about a commit or pull request: an address, a hash, else the last word.
fn which(words: &str) -> String {
    let all = || words.split_whitespace();
    let address = all().find(|word| word.starts_with("https://"));
    address.or_else(|| all().find(|word| is_hash(word))).or_else(|| all().last()).unwrap_or_default().to_owned()
}

fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The hash in `[main 9f3c2ab] message`, which git prints for a commit.
fn commit(line: &str) -> Option<&str> {
    let (head, _) = line.trim().strip_prefix('[')?.split_once(']')?;
    let hash = head.rsplit(' ').next()?;
    // Without a branch before the hash it is some other bracketed word, such as a log level.
    let branch = head.contains(' ');
    (branch && is_hash(hash)).then_some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_read_from_what_git_prints() {
        assert_eq!(commit("[main 9f3c2ab] fix the lexer"), Some("9f3c2ab"));
        assert_eq!(commit("[main (root-commit) 9f3c2ab] first"), Some("9f3c2ab"));
        assert_eq!(commit("[detached HEAD 9f3c2ab1] x"), Some("9f3c2ab1"));
        for other in ["[9f3c2ab] x", "[main fix] x", "[ok]", "main 9f3c2ab", "[2026-03-04 10:00:00] started"] {
            assert_eq!(commit(other), None, "{other}");
        }
    }

    #[test]
    fn pushes_are_read_from_what_git_prints() {
        let to = "To github.com:acme/api.git\n";
        let from = "From github.com:acme/api\n";
        for (output, branches) in [
            (format!("{to}   9f3c2ab..1d2e3f4  main -> main"), vec!["main"]),
            (format!("{to} * [new branch]      fix -> fix\nbranch 'fix' set up to track 'origin/fix'."), vec!["fix"]),
            (format!("{to} + 9f3c2ab...1d2e3f4 fix -> fix (forced update)"), vec!["fix"]),
            (format!("{to}   9f3c2ab..1d2e3f4  main -> main\n * [new tag] v1 -> v1"), vec!["main"]),
            (format!("{to}   9f3c2ab..1d2e3f4  a -> a\n{to}   9f3c2ab..1d2e3f4  b -> b"), vec!["a", "b"]),
            ("   9f3c2ab..1d2e3f4  HEAD -> main".to_owned(), vec!["main"]),
            (format!("{from}   9f3c2ab..1d2e3f4  main -> origin/main\n{to}   9f3c2ab..1d2e3f4  fix -> fix"), vec!["fix"]),
            (format!("{from} * branch            main -> FETCH_HEAD\n   9f3c2ab..1d2e3f4  main -> origin/main"), vec![]),
            ("   9f3c2ab..1d2e3f4  main       -> origin/main".to_owned(), vec![]),
            (format!("{to} ! [rejected]        main -> main (fetch first)"), vec![]),
            ("Everything up-to-date".to_owned(), vec![]),
            ("fn a() -> String".to_owned(), vec![]),
        ] {
            assert_eq!(pushed_branches(&output), branches, "{output}");
        }
    }

    #[test]
    fn only_commands_that_push_count() {
        let told = |family: &str, text: &str| SimpleCommand { text: text.into(), family: family.into(), purpose: None, writes: false };
        for (family, text, wanted) in [
            ("git", "git push -u origin main", true),
            ("git", "git -C api push", true),
            ("gt", "gt submit --stack", true),
            ("jj", "jj git push", true),
            ("git", "git fetch origin", false),
            ("git", "git stash push -m x", false),
            ("git", "git push --dry-run", false),
            ("echo", "echo git push", false),
        ] {
            assert_eq!(pushes(&told(family, text)), wanted, "{text}");
        }
    }

    #[test]
    fn a_quiet_push_is_named_by_its_command() {
        for (command, branch) in [
            ("git push -q -u origin codex/fix-lexer", Some("codex/fix-lexer")),
            ("git -C api push --force-with-lease origin HEAD:refs/heads/fix", Some("fix")),
            ("git push -o ci.skip origin +fix", Some("fix")),
            ("git push origin \"fix\"", Some("fix")),
            ("git push", None),
            ("git push origin", None),
            ("git push origin HEAD", None),
            ("git push origin $BRANCH", None),
            ("git push origin :old", None),
            ("git push origin --delete old", None),
            ("git push origin a b", None),
            ("git push origin --tags", None),
        ] {
            assert_eq!(branch_of(command), branch, "{command}");
        }
    }

    #[test]
    fn notes_of_an_agent_give_a_hash_or_an_address() {
        assert_eq!(which("committed 4ce076c main"), "4ce076c");
        assert_eq!(which("created 236 https://example.org/o/r/pull/236"), "https://example.org/o/r/pull/236");
        assert_eq!(which("release/v1"), "release/v1");
        assert_eq!(which(""), "");
        let kept = |what, words, pushed| noted(what, words, pushed).map(|item| item.what);
        assert_eq!(kept("push", "main", true), Some("push"));
        assert_eq!(kept("push", "main", false), None);
        assert_eq!(kept("pr", "created 236 https://example.org/o/r/pull/236", false), Some("pull_request"));
        assert_eq!(kept("pr", "edited 236 https://example.org/o/r/pull/236", false), None);
        assert_eq!(kept("branch", "rebased origin/main", false), None);
    }
}
