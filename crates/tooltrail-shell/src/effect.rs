//! The effect of a simple command on files, and its role when command lines are compared: by its program and its words.
//!
//! An unknown program may change files. Only programs known to read are exempt, and the list is long because agents read a lot.

use crate::purpose_tables::{listed, table};
use crate::wrappers::{self, program};
use crate::{Map, purpose};
use std::sync::LazyLock;
use tooltrail_model::changes::is_scratch;
use tooltrail_model::command::Purpose;

/// The role of a command among the others of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandRole {
    /// Does what the line is there for.
    Work,
    /// Only changes directory, prints something or waits.
    Aside,
    /// Reads, and behind a pipe reads only what comes through it.
    Filter,
}

/// Programs that only read, whatever their words: about files and texts, the shell, the machine.
const READERS: &str = "
    ls ll dir tree exa eza cat bat head tail less more wc nl tac rev od xxd hexdump strings file stat du df grep egrep fgrep zgrep zcat rg
    ag ack awk gawk mawk jq uniq cut tr column paste comm join fold expand diff colordiff cmp md5sum shasum sha1sum sha256sum cksum base64
    basename dirname realpath readlink tokei cloc scc delta glow nm ldd objdump otool json.tool py_compile open mdfind

    cd pushd popd dirs pwd echo printf true false : test [ sleep which whereis type command env printenv read wait jobs exit return break
    continue shift local declare typeset readonly unset alias shopt trap ulimit umask hash history help source . man seq yes expr bc xargs
    clear tput time

    date uptime uname hostname whoami id groups who ps pgrep pstree top htop kill pkill killall lsof netstat ss ping dig nslookup host ip
    ifconfig free vmstat nproc lscpu lsblk getent locale journalctl dmesg nvidia-smi sw_vers nc";

/// Programs and the subcommands, of one or two words, with which they only read. An effect elsewhere, such as that of `git push`, changes
/// no files here.
const READING: &[(&str, &str)] = &[
    (
        "git",
        "status, log, diff, show, blame, branch, rev-parse, rev-list, ls-files, ls-tree, ls-remote, remote, describe, grep, shortlog, \
         reflog, cat-file, merge-base, name-rev, for-each-ref, show-ref, config, fetch, tag, add, commit, push, check-ignore, \
         count-objects, diff-tree, diff-index, cherry, whatchanged, var, version, fsck, gc, symbolic-ref, hash-object, stash list, \
         stash show, worktree list, worktree prune, submodule status, notes",
    ),
    (
        "gh glab",
        "pr view, pr list, pr status, pr diff, pr checks, pr create, pr comment, pr edit, pr merge, pr review, pr ready, pr close, \
         mr view, mr list, mr diff, issue view, issue list, issue status, issue create, issue comment, issue edit, issue close, \
         repo view, repo list, run view, run list, run watch, run rerun, release view, release list, workflow view, workflow list, \
         auth status, search, api, status, label list, gist view, gist list",
    ),
    (
        "docker podman",
        "ps, logs, images, image ls, inspect, stats, version, info, top, port, container ls, volume ls, network ls, context ls, pull, \
         start, stop, restart, kill, compose ps, compose logs, compose config, compose up, compose down, compose stop, \
         compose restart, compose start, compose pull",
    ),
    ("docker-compose", "ps, logs, config, up, down, stop, restart, start, pull"),
    ("kubectl oc", "get, describe, logs, explain, version, cluster-info, top, config, api-resources, api-versions, wait, diff"),
    ("systemctl service", "status, list-units, is-active, is-enabled, cat, show"),
    ("cargo", "metadata, tree, search, locate-project, pkgid, version, help, read-manifest, info, bench"),
    ("npm pnpm yarn bun", "ls, list, view, info, show, outdated, why, explain, root, bin, whoami, config, help"),
    ("pip pip3 uv", "list, show, freeze, check, tree, version, pip list, pip show, pip freeze, pip check, pip tree"),
    ("poetry pdm pipenv", "show, check, env, graph, version"),
    ("go", "list, version, env, doc, vet, help"),
    ("rustup", "show, which, doc"),
    ("brew apt apt-cache", "list, info, search, show, policy, deps"),
    ("terraform tofu", "plan, validate, show, output, version, state list"),
    ("aws", "sts, s3 ls"),
    ("gt", "log, ls, state, info, children, parent, trunk, submit"),
];

/// Options with which a test run or a linter also writes.
const FIXES: &str = "--fix --fix-only --write --apply --in-place --bless --accept -u --inplace";
/// Options with which a formatter only looks.
const CHECKS: &str = "--check --check-only --list-different --dry-run --diff -l -d -c --dry --lint --verify-no-changes";
/// Programs that change only the files that their words name.
const NAMED: &str = "mkdir rmdir rm touch chmod chown truncate mktemp mv ln tee unlink";

/// [`READERS`] as a set.
static ONLY_READS: LazyLock<Map<&str, ()>> = LazyLock::new(|| table([((), READERS)].into_iter()));
/// [`READING`] by program.
static READS: LazyLock<Map<&str, &str>> = LazyLock::new(|| table(READING.iter().map(|(programs, words)| (*words, *programs))));

/// Whether a command may change files, given its words behind wrappers, the assignments before it, and its purpose.
pub(crate) fn writes(words: &[String], assigned: &[String], purpose: Option<Purpose>) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    // Asking any program for its version or help changes nothing, unknown programs included.
    if matches!(rest, [only] if matches!(only.as_str(), "--version" | "-V" | "-v" | "--help" | "-h" | "version")) {
        return false;
    }
    // What would be a check and only prints changes no more than the check.
    match purpose.or_else(|| purpose::of_printing(words)) {
        // Build products and caches do not count as changes; snapshots and fixes, which land in the source, do.
        Some(Purpose::Test | Purpose::Build | Purpose::Lint) => {
            let updates = |name: &str| name.starts_with("UPDATE") || name.starts_with("INSTA_UPDATE") || name.starts_with("BLESS");
            return rest.iter().any(|word| fixes(word)) || assigned.iter().any(|word| updates(word));
        }
        Some(Purpose::Format) => return !rest.iter().any(|word| listed(CHECKS, word) || word.ends_with("check")),
        Some(Purpose::Commit) => return false,
        Some(Purpose::Install) => return true,
        None => {}
    }
    let name = program(first);
    if ONLY_READS.contains_key(name) {
        return false;
    }
    if name == "git" && opens_branch(rest) {
        return false;
    }
    if let Some(reading) = READS.get(name) {
        return !only_reads(name, reading, rest);
    }
    if listed(NAMED, name) {
        return operands(rest).any(|word| !is_scratch(word) && !is_mode(word));
    }
    by_options(name, rest)
}

/// Whether `git` starts a branch at the current commit: `checkout -b x`, `switch -c x`. With a start point it changes files.
fn opens_branch(rest: &[String]) -> bool {
    let opens = rest.iter().any(|word| listed("-b -B -c -C --create", word));
    opens && matches!(operands(rest).collect::<Vec<_>>().as_slice(), ["checkout" | "switch", _])
}

/// Whether a program writes, for those whose options decide.
fn by_options(name: &str, rest: &[String]) -> bool {
    let has = |wanted: &[&str]| rest.iter().any(|word| wanted.contains(&word.as_str()));
    let bundled = |letter: char| rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter));
    match name {
        // `bash -n` only checks the syntax; a script that is run may do anything.
        "bash" | "sh" | "zsh" => !has(&["-n"]),
        "sed" | "gsed" => rest.iter().any(|word| word.starts_with("-i") || word.starts_with("--in-place") || word == "-ni"),
        "perl" | "ruby" => bundled('i') || !(bundled('n') || bundled('p')),
        "yq" => has(&["-i", "--inplace"]),
        "sort" => has(&["-o"]) || rest.iter().any(|word| word.starts_with("--output")),
        "find" => find_writes(rest),
        "fd" | "fdfind" => has(&["-x", "-X", "--exec", "--exec-batch"]),
        "curl" | "http" => {
            let to = rest.iter().enumerate().filter(|(_, word)| matches!(word.as_str(), "-o" | "--output" | "-sSo" | "-so" | "-sLo"));
            let to_file = to.filter_map(|(at, _)| rest.get(at + 1)).any(|target| !is_scratch(target));
            to_file || has(&["--remote-name"]) || bundled('O')
        }
        "wget" => !(has(&["-O-", "--spider", "-qO-"]) || rest.windows(2).any(|pair| pair[0].ends_with('O') && is_scratch(&pair[1]))),
        // The last operand is the target; a copy into a temporary directory leaves the user's files alone.
        "cp" | "install" | "rsync" => operands(rest).last().is_none_or(|word| !is_scratch(word)),
        "tar" | "unzip" | "zip" => !(rest.first().is_some_and(|word| word.trim_start_matches('-').contains('t')) || has(&["-l", "--list"])),
        "crontab" => !has(&["-l"]),
        _ => true,
    }
}

/// Whether `find` deletes or runs something that writes.
fn find_writes(words: &[String]) -> bool {
    if words.iter().any(|word| word == "-delete" || word.starts_with("-fprint")) {
        return true;
    }
    let runs = words.iter().enumerate().filter(|(_, word)| matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"));
    runs.filter_map(|(at, _)| words.get(at + 1..)).any(|inner| {
        let end = inner.iter().position(|word| matches!(word.as_str(), ";" | "+")).unwrap_or(inner.len());
        let own = wrappers::behind(inner.get(..end).unwrap_or_default());
        writes(own, &[], purpose::of(own))
    })
}

/// Whether the subcommand of a program is among those that only read.
fn only_reads(name: &str, reading: &str, rest: &[String]) -> bool {
    let mut said = purpose::said_words(name, rest);
    let (first, second) = (said.next().unwrap_or_default(), said.next().unwrap_or_default());
    let both = format!("{first} {second}");
    // Without a subcommand such a program prints its usage.
    first.is_empty() || reading.split(", ").any(|words| words == first || words == both)
}

/// Whether an option makes a test run or a linter write.
fn fixes(word: &str) -> bool {
    listed(FIXES, word)
        || word.starts_with("--update")
        || word.starts_with("--fix=")
        || word.starts_with("--snapshot-update")
        || word.ends_with(":fix")
        // R writes its documentation and snapshots beside the source.
        || ["::document(", "roxygenise(", "roxygenize(", "snapshot_accept("].iter().any(|call| word.contains(call))
}

/// The words that are no options.
fn operands(words: &[String]) -> impl Iterator<Item = &str> {
    words.iter().map(String::as_str).filter(|word| !word.starts_with('-'))
}

/// Whether an operand is a mode, such as `755` or `+x`, and not a file.
fn is_mode(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit()) || word.starts_with('+')
}

/// The role of a command among the others of its line.
pub(crate) fn role(words: &[String]) -> CommandRole {
    let Some((first, rest)) = words.split_first() else { return CommandRole::Aside };
    match program(first) {
        "cd" | "pushd" | "popd" | "echo" | "printf" | "true" | ":" | "sleep" | "wait" | "source" | "." | "exit" | "pwd" | "date" => {
            CommandRole::Aside
        }
        "tail" | "head" | "grep" | "egrep" | "fgrep" | "rg" | "cat" | "tee" | "wc" | "sort" | "uniq" | "less" | "more" | "cut" | "tr"
        | "awk" | "column" | "nl" | "fold" | "tac" | "strings" | "bat" | "jq" => CommandRole::Filter,
        "sed" if !by_options("sed", rest) => CommandRole::Filter,
        _ => CommandRole::Work,
    }
}
