//! Pull requests that tools of MCP servers open: recognised by the name of the tool, and named by the address or number in its result.

use crate::content::words;
use crate::row::CallRow;
use crate::transcript::Story;
use crate::{Kind, Status};
use serde_json::Value;

/// Members of a result that hold its address, the best first: `url` may be that of an interface for programs.
const ADDRESSES: &[&str] = &["html_url", "web_url", "url", "display_url", "pull_request_url"];
/// Members that hold the number.
const NUMBERS: &[&str] = &["number", "pull_number", "iid"];
/// Members in which servers and agents wrap a result. Others may quote the addresses of other requests.
const WRAPPERS: &[&str] =
    &["structuredContent", "structured_content", "result", "Ok", "data", "pull_request", "pullRequest", "content", "text"];
/// How deep results are wrapped at most.
const DEEPEST: usize = 6;

/// Whether a call opened a pull request by a tool of a server, if its result names one.
pub(super) fn may_open(row: &CallRow<'_>) -> bool {
    let served = row.kind == Kind::Mcp || row.server.is_some();
    served && row.status == Status::Succeeded && creates(row.ran())
}

/// The address or the number of the pull request that a call opened.
pub(super) fn opened(story: &Story<'_>) -> Option<String> {
    if !may_open(&story.row) {
        return None;
    }
    let answer = story.answer.as_ref();
    let printed = answer.map(|answer| words(&answer.seen)).filter(|text| !text.trim().is_empty()).map(Value::String);
    let mut results: Vec<&Value> = story.told.rest_produced.iter().filter(|(name, _)| wraps(name)).map(|(_, value)| value).collect();
    results.extend(answer.and_then(|answer| answer.produced.as_ref()));
    // Last, because prose may quote other requests more often than structured results do.
    results.extend(&printed);
    // An address in any result is better than a number, which does not say of which repository it is.
    let address = results.iter().find_map(|result| named(result, DEEPEST, &address));
    address.or_else(|| results.iter().find_map(|result| named(result, DEEPEST, &number)))
}

/// Whether a tool creates pull requests, however its name is spelled: `github.create_pull_request`, `createPullRequest`.
fn creates(tool: &str) -> bool {
    let name: String = tool.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
    // The end counts: `create_pull_request_review` creates something else.
    name.ends_with("createpullrequest") || name.ends_with("createmergerequest")
}

fn wraps(name: &str) -> bool {
    WRAPPERS.contains(&name)
}

/// What names the request in a result, with `of` for a single object or text.
fn named(value: &Value, deep: usize, of: &dyn Fn(&Value) -> Option<String>) -> Option<String> {
    let deep = deep.checked_sub(1)?;
    match value {
        Value::Object(members) => {
            of(value).or_else(|| members.iter().filter(|(name, _)| wraps(name)).find_map(|(_, member)| named(member, deep, of)))
        }
        Value::Array(items) => items.iter().find_map(|item| named(item, deep, of)),
        // Servers may return JSON as a text inside of JSON.
        Value::String(text) => match serde_json::from_str(text.trim()).ok().filter(|inner: &Value| inner.is_object() || inner.is_array()) {
            Some(inner) => named(&inner, deep, of),
            None => of(value),
        },
        _ => None,
    }
}

/// The address in an object or a text.
fn address(value: &Value) -> Option<String> {
    match value {
        Value::Object(members) => {
            let texts = ADDRESSES.iter().filter_map(|name| members.get(*name)?.as_str());
            texts.map(str::trim).find(|text| is_address(text)).map(str::to_owned)
        }
        Value::String(text) => {
            only(text.split(|letter: char| letter.is_whitespace() || "()<>\"'[]`".contains(letter)).filter_map(|word| {
                let word = word.trim_end_matches(['.', ',', ';', ':', '!']);
                is_address(word).then_some(word)
            }))
        }
        _ => None,
    }
}

/// The number in an object, or in the first line of a text.
fn number(value: &Value) -> Option<String> {
    match value {
        Value::Object(members) => NUMBERS.iter().find_map(|name| members.get(*name)?.as_u64()).map(|number| format!("#{number}")),
        Value::String(text) => only(text.lines().next()?.split_whitespace().filter_map(|word| {
            let word = word.trim_end_matches(['.', ',', ';', ':', '!']);
            word.strip_prefix('#').is_some_and(is_number).then_some(word)
        })),
        _ => None,
    }
}

/// The one thing that all of these are: of several, none is sure to be the one that was opened.
fn only<'t>(mut all: impl Iterator<Item = &'t str>) -> Option<String> {
    let first = all.next()?;
    all.all(|other| other == first).then(|| first.to_owned())
}

/// Whether a text is the address of a pull request, as a browser shows it.
pub(super) fn is_address(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://") else { return false };
    let after = ["/pull/", "/merge_requests/", "/pull-requests/", "/pullrequest/"].iter().find_map(|mark| rest.split_once(mark));
    // `/pull/new/fix` is a page that only offers to open one.
    after.is_some_and(|(_, number)| is_number(number.trim_end_matches('/')))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() < 12 && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tools_that_create_are_known_by_their_names() {
        for (tool, wanted) in [
            ("mcp__codex_apps__github_create_pull_request", true),
            ("mcp__codex_apps__github.create_pull_request", true),
            ("github-create-pull-request", true),
            ("createPullRequest", true),
            ("mcp__gitlab__create_merge_request", true),
            ("mcp__github__create_pull_request_review", false),
            ("mcp__github__update_pull_request", false),
            ("mcp__github__create_issue", false),
        ] {
            assert_eq!(creates(tool), wanted, "{tool}");
        }
    }

    #[test]
    fn results_name_a_request_by_its_address_or_number() {
        let own = "https://github.com/acme/api/pull/7";
        let api = "https://api.github.com/repos/acme/api/pulls/7";
        let told = |value: &Value| named(value, DEEPEST, &address).or_else(|| named(value, DEEPEST, &number));
        for (value, wanted) in [
            (json!({"structuredContent": {"url": own, "number": 7, "body": "see https://github.com/acme/api/pull/3"}}), Some(own)),
            (
                json!({"result": {"Ok": {"content": [{"type": "text", "text": "Action completed."}], "structuredContent": {"url": own}}}}),
                Some(own),
            ),
            (json!(format!("{{\"url\": \"{api}\", \"html_url\": \"{own}\", \"number\": 7}}")), Some(own)),
            (json!([{"type": "text", "text": format!("{{\"id\": \"1\", \"url\": \"{own}\"}}")}]), Some(own)),
            (json!(format!("Opened {own}.")), Some(own)),
            (json!({"url": api, "number": 7}), Some("#7")),
            (json!("Created pull request #7: parser"), Some("#7")),
            (json!("Action completed."), None),
            (json!(format!("{own} follows https://github.com/acme/api/pull/3")), None),
            (json!("Visit https://github.com/acme/api/pull/new/fix"), None),
            (json!({"body": own, "invocation": {"url": own}}), None),
        ] {
            assert_eq!(told(&value).as_deref(), wanted, "{value}");
        }
    }
}
