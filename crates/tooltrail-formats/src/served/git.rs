//! Git servers. Their tools are told as the git commands that they stand for, so that commits are found like any others.

use super::ServedCall;
use super::shell::joined;
use tooltrail_model::detail::{Detail, Shell};

/// Names of the field that has the repository.
pub(super) const REPOSITORY: &[&str] = &["repo_path", "repoPath", "repository_path"];

/// How a server reports the hash of a commit.
const HASHES: &[&str] = &["Changes committed successfully with hash ", "Changes committed and signed successfully with hash "];

/// A git command.
pub(super) fn command(call: &mut ServedCall<'_>) -> Detail {
    let cwd = call.text(REPOSITORY);
    let name = call.name.to_ascii_lowercase().replace('-', "_");
    let mut line: Vec<String> = vec!["git".to_owned()];
    let verb: &[&str] = match name.strip_prefix("git_").unwrap_or(&name) {
        "diff_unstaged" => &["diff"],
        "diff_staged" => &["diff", "--cached"],
        "commit_signed" => &["commit", "-S"],
        "create_branch" => &["branch"],
        "status" => &["status"],
        "diff" => &["diff"],
        "commit" => &["commit"],
        "add" => &["add"],
        "reset" => &["reset"],
        "log" => &["log"],
        "checkout" => &["checkout"],
        "show" => &["show"],
        "branch" => &["branch"],
        "init" => &["init"],
        _ => &[],
    };
    line.extend(verb.iter().map(|word| (*word).to_owned()));
    line.extend(call.text(&["message"]).into_iter().flat_map(|text| ["-m".to_owned(), text]));
    line.extend(call.number(&["max_count"]).into_iter().flat_map(|count| ["-n".to_owned(), count.to_string()]));
    for field in ["target", "revision", "branch_name", "base_branch"] {
        line.extend(call.text(&[field]));
    }
    line.extend(call.texts(&["files"]).unwrap_or_default());
    let stdout = call.told().map(|text| text.into_owned());
    let hash = stdout.as_deref().and_then(|text| HASHES.iter().find_map(|beginning| text.trim().strip_prefix(beginning)));
    let git = hash.map(|hash| ("commit".to_owned(), hash.trim().to_owned())).into_iter().collect();
    Detail::Shell(Shell { command: joined(&line), cwd, stdout, git, ..Shell::default() })
}
