//! Attachments with a meaning of their own: goals, budgets, tasks listed again, results seen in part, plans and skills.

use super::super::content::{kind, text};
use super::folded;
use serde_json::Value;
use tooltrail_model::transcript::{Level, Part};

/// The part for an attachment of one of these kinds.
pub(super) fn part(attached: &Value) -> Option<Part> {
    Some(match kind(attached) {
        "goal_status" => goal(attached),
        "budget_usd" => budget(attached),
        "task_status" => task(attached),
        "read_truncation_notice" => notice("the model saw only a part of this result", text(attached, "banner").map(str::to_owned)),
        "plan_file_reference" => {
            folded(labelled("plan", text(attached, "planFilePath")), text(attached, "planContent").unwrap_or_default())
        }
        "dynamic_skill" => skills(attached),
        _ => return None,
    })
}

fn notice(title: impl Into<String>, text: Option<String>) -> Part {
    Part::Notice { level: Level::Info, title: title.into(), text: text.filter(|text| !text.trim().is_empty()) }
}

fn labelled(name: &str, about: Option<&str>) -> String {
    about.map_or_else(|| name.to_owned(), |about| format!("{name}: {about}"))
}

/// Why a session goes on by itself, or stops: its goal, and whether that is met.
fn goal(attached: &Value) -> Part {
    let met = attached.get("met").and_then(Value::as_bool) == Some(true);
    let title = if met { "goal met" } else { "goal not met yet: the agent goes on" };
    let lines = [text(attached, "condition"), text(attached, "reason")];
    notice(title, Some(lines.into_iter().flatten().collect::<Vec<_>>().join("\n\n")))
}

/// The money spent, where a limit was set.
fn budget(attached: &Value) -> Part {
    let dollars = |key: &str| attached.get(key).and_then(Value::as_f64).map(|amount| format!("${amount:.2}"));
    let title = match (dollars("used"), dollars("total")) {
        (Some(used), Some(total)) => format!("budget: {used} of {total} used"),
        _ => "budget".to_owned(),
    };
    notice(title, dollars("remaining").map(|left| format!("{left} left")))
}

/// A background task, listed again.
fn task(attached: &Value) -> Part {
    let about = text(attached, "description").or(text(attached, "taskId")).unwrap_or_default();
    let title = format!("background task {}: {about}", text(attached, "status").unwrap_or("listed"));
    notice(title, text(attached, "deltaSummary").map(str::to_owned))
}

/// Skills that became available.
fn skills(attached: &Value) -> Part {
    let names = attached.get("skillNames").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let label = labelled("skills", text(attached, "displayPath").or(text(attached, "skillDir")));
    folded(label, names.collect::<Vec<_>>().join("\n"))
}

/// The words of an attachment as the model got them: a text, or messages and blocks with texts.
pub(super) fn rendered(value: &Value) -> Option<String> {
    let words = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().filter_map(rendered).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => ["text", "content", "message"].iter().find_map(|key| fields.get(*key).and_then(rendered))?,
        _ => return None,
    };
    Some(words).filter(|words| !words.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(attached: &Value) -> (String, String) {
        match part(attached) {
            Some(Part::Notice { title, text, .. }) => (title, text.unwrap_or_default()),
            Some(Part::Folded { label, text }) => (label, text),
            _ => Default::default(),
        }
    }

    #[test]
    fn attachments_with_a_meaning_are_put_into_words() {
        let goal = json!({"type": "goal_status", "met": false, "condition": "all tests pass", "reason": "two fail"});
        assert_eq!(shown(&goal), ("goal not met yet: the agent goes on".to_owned(), "all tests pass\n\ntwo fail".to_owned()));
        let budget = json!({"type": "budget_usd", "used": 1.5, "total": 5, "remaining": 3.5});
        assert_eq!(shown(&budget), ("budget: $1.50 of $5.00 used".to_owned(), "$3.50 left".to_owned()));
        let task = json!({"type": "task_status", "taskId": "b1", "status": "killed", "description": "npm run dev"});
        assert_eq!(shown(&task).0, "background task killed: npm run dev");
        let plan = json!({"type": "plan_file_reference", "planFilePath": "/p.md", "planContent": "1. do"});
        assert_eq!(shown(&plan), ("plan: /p.md".to_owned(), "1. do".to_owned()));
        let skills = json!({"type": "dynamic_skill", "skillDir": "/s", "skillNames": ["pdf", "xlsx"]});
        assert_eq!(shown(&skills), ("skills: /s".to_owned(), "pdf\nxlsx".to_owned()));
        assert!(part(&json!({"type": "file"})).is_none());
    }

    #[test]
    fn the_words_for_the_model_are_found_in_any_shape() {
        assert_eq!(rendered(&json!("be brief")).as_deref(), Some("be brief"));
        assert_eq!(
            rendered(&json!([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}])).as_deref(),
            Some("a\nb")
        );
        assert_eq!(rendered(&json!(true)), None);
    }
}
