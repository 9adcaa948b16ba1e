//! Things to do: the list of `TodoWrite`, and the tasks of `TaskCreate`, `TaskUpdate`, `TaskGet` and `TaskList`.

use super::super::content::text;
use super::ToolCall;
use super::fields::{FieldTaker, name};
use serde_json::Value;
use tooltrail_model::detail::{Detail, Tasks, Todo, TodoItem, TodoState};

/// `TodoWrite`: the whole list, and the one before.
pub(super) fn list(call: &mut ToolCall<'_>) -> Detail {
    let wanted = call.input.take("todos", items);
    let old = call.produced.take("oldTodos", items);
    // The tool's list is the one that was stored.
    let new = call.produced.take("newTodos", items).or(wanted);
    // `TodoRead` answers with the list as JSON.
    let spelled = || serde_json::from_str::<Value>(&call.seen).ok().as_ref().and_then(items);
    Detail::Todo(Todo { old, new: new.or_else(spelled).unwrap_or_default(), ..Todo::default() })
}

/// A list of things to do; some models write it into a text.
fn items(value: &Value) -> Option<Vec<TodoItem>> {
    match value {
        Value::Array(items) => Some(items.iter().map(item).collect()),
        Value::String(text) => items(&serde_json::from_str(text).ok().filter(Value::is_array)?),
        _ => None,
    }
}

/// One thing to do, of either kind of list.
fn item(value: &Value) -> TodoItem {
    let own = |keys: &[&str]| keys.iter().find_map(|key| text(value, key)).map(str::to_owned);
    let blocked = value.get("blockedBy").and_then(Value::as_array).into_iter().flatten().filter_map(name);
    TodoItem {
        id: ["id", "taskId"].iter().find_map(|key| value.get(key)).and_then(name),
        text: value.as_str().map(str::to_owned).or_else(|| own(&["content", "subject"])).unwrap_or_default(),
        state: own(&["status"]).map(|word| state(&word)).unwrap_or_default(),
        active: own(&["activeForm"]),
        priority: own(&["priority"]),
        owner: own(&["owner"]).filter(|owner| !owner.is_empty()),
        blocked_by: blocked.collect(),
    }
}

/// How far it is, in Claude Code's words.
fn state(word: &str) -> TodoState {
    match word {
        "pending" => TodoState::Pending,
        "in_progress" => TodoState::Active,
        "completed" => TodoState::Done,
        "deleted" => TodoState::Deleted,
        other => TodoState::Other(other.to_owned()),
    }
}

/// `TaskCreate`.
pub(super) fn create(call: &mut ToolCall<'_>) -> Detail {
    let mut tasks = wanted("create", &mut call.input);
    let made = call.produced.take("task", |task| task.get("id").and_then(name));
    let said = || call.seen.strip_prefix("Task #").and_then(|rest| rest.split(' ').next()).map(str::to_owned);
    let id = made.or_else(|| said().filter(|_| !call.failed));
    tasks.item.get_or_insert_default().id = id;
    Detail::Tasks(tasks)
}

/// `TaskUpdate`.
pub(super) fn update(call: &mut ToolCall<'_>) -> Detail {
    let id = call.input.name("taskId").or_else(|| call.input.name("task_id"));
    let stated = call.input.peek("status").is_some();
    let mut tasks = wanted("update", &mut call.input);
    let item = tasks.item.get_or_insert_default();
    item.id = id;
    let blocked = call.input.take("addBlockedBy", |value| Some(value.as_array()?.iter().filter_map(name).collect()));
    item.blocked_by = blocked.unwrap_or_default();
    let produced = &mut call.produced;
    tasks.moved = produced.take("statusChange", |change| Some((state(text(change, "from")?), state(text(change, "to")?))));
    tasks.updated = produced.texts("updatedFields").unwrap_or_default();
    // Without a requested state, the task's own is only known from the change.
    if let (Some((_, to)), false) = (&tasks.moved, stated) {
        item.state = to.clone();
    }
    // A refusal comes as a successful result with a flag.
    let refused = produced.take("success", Value::as_bool) == Some(false);
    let why = produced.string("error").filter(|_| refused);
    produced.drop(&["taskId"]);
    call.error = call.error.take().or(why);
    Detail::Tasks(tasks)
}

/// The task that the input describes.
fn wanted(action: &'static str, input: &mut FieldTaker<'_>) -> Tasks {
    let item = TodoItem {
        text: input.string("subject").unwrap_or_default(),
        state: input.text("status").map(state).unwrap_or_default(),
        active: input.string("activeForm"),
        owner: input.string("owner"),
        ..TodoItem::default()
    };
    Tasks { action, item: Some(item), description: input.string("description"), ..Tasks::default() }
}

/// `TaskGet`.
pub(super) fn get(call: &mut ToolCall<'_>) -> Detail {
    let asked = call.input.name("taskId").or_else(|| call.input.name("task_id"));
    let mut tasks = Tasks { action: "get", ..Tasks::default() };
    if let Some((found, description)) = call.produced.take("task", |task| Some((item(task), text(task, "description").map(str::to_owned))))
    {
        (tasks.item, tasks.description) = (Some(found), description);
    } else if let Some((found, description)) = call.answer().as_deref().and_then(spoken_task) {
        (tasks.item, tasks.description) = (Some(found), description);
    }
    let item = tasks.item.get_or_insert_default();
    item.id = item.id.take().or(asked);
    Detail::Tasks(tasks)
}

/// `Task #1: subject`, then `Status: pending` and `Description: …`.
fn spoken_task(text: &str) -> Option<(TodoItem, Option<String>)> {
    let (id, rest) = text.strip_prefix("Task #")?.split_once(": ")?;
    let (subject, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    let field = |name: &str| rest.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let description = rest.split_once("Description: ").map(|(_, text)| text.trim().to_owned());
    let item = TodoItem {
        id: Some(id.to_owned()),
        text: subject.to_owned(),
        state: field("Status: ").map(state).unwrap_or_default(),
        owner: field("Owner: ").map(str::to_owned),
        ..TodoItem::default()
    };
    Some((item, description))
}

/// `TaskList`.
pub(super) fn all(call: &mut ToolCall<'_>) -> Detail {
    let listed = call.produced.take("tasks", items);
    let list = listed.or_else(|| call.answer().map(|text| text.lines().filter_map(spoken_item).collect()));
    Detail::Tasks(Tasks { action: "list", list, ..Tasks::default() })
}

/// `#2 [pending] Write tests (scout) [blocked by #1, #3]`.
fn spoken_item(line: &str) -> Option<TodoItem> {
    let (id, rest) = line.trim().strip_prefix('#')?.split_once(" [")?;
    let (word, rest) = rest.split_once("] ")?;
    let (rest, blocked) = match rest.strip_suffix(']').and_then(|rest| rest.rsplit_once(" [blocked by ")) {
        Some((rest, blocked)) => (rest, blocked.split(", ").map(|id| id.trim_start_matches('#').to_owned()).collect()),
        None => (rest, Vec::new()),
    };
    Some(TodoItem { id: Some(id.to_owned()), text: rest.to_owned(), state: state(word), blocked_by: blocked, ..TodoItem::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_read_from_their_lines() {
        let item = spoken_item("#2 [in_progress] Write tests [blocked by #1, #3]").unwrap_or_default();
        assert_eq!((item.id.as_deref(), item.text.as_str(), item.state), (Some("2"), "Write tests", TodoState::Active));
        assert_eq!(item.blocked_by, ["1", "3"]);
        assert!(spoken_item("No tasks found").is_none());
        let (item, description) = spoken_task("Task #1: Fix it\nStatus: completed\nDescription: all\nof it").unwrap_or_default();
        assert_eq!((item.text.as_str(), item.state, description.as_deref()), ("Fix it", TodoState::Done, Some("all\nof it")));
    }
}
