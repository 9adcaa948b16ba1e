//! A list of things to do, or a plan of steps.
//!
//! ```text
//! ☑ TodoWrite   3 of 5 done → "Render diff"            2 changed   5 ms ✓
//!   ▾ changed         [x] Parse hunks (was in progress)   [~] Render diff (was open)
//!   ▸ the whole list
//! ```

use super::{ToolView, title};
use crate::block::{TodoEntry, TodoProgress};
use crate::outcome::came;
use crate::pieces::{markdown, notice, section};
use crate::texts::gist;
use crate::{Block, Class, Head, Limits, Line};
use std::collections::HashMap;
use tooltrail_model::detail::{Detail, TodoItem, TodoState};
use tooltrail_model::transcript::{Level, Story};

/// View of to-do lists and plans of steps.
pub(super) struct TodoView;

impl ToolView for TodoView {
    fn name(&self) -> &'static str {
        "todo"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Todo(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Todo(todo) = &call.told.detail else { return Head::default() };
        let title = Some(title(call)).filter(|title| !title.is_empty()).unwrap_or_else(|| "empty".into());
        let changes = changed(todo.old.as_deref().unwrap_or_default(), &todo.new).len();
        // Without the old list everything would count as changed.
        let known = came(call) && todo.old.as_ref().is_some_and(|old| !old.is_empty());
        let facts = if known && changes > 0 { vec![format!("{changes} changed").into()] } else { Vec::new() };
        Head { icon: "☑", name: call.row.tool.into(), title, facts }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Todo(todo) = &call.told.detail else { return Vec::new() };
        let mut body: Vec<Block> = todo.explanation.iter().map(|text| markdown(text, limits)).collect();
        let whole = Block::Todos { items: todo.new.iter().map(thing).collect() };
        // The first list of a session has no old one to compare with.
        match &todo.old {
            Some(old) if !old.is_empty() => {
                let changes = changed(old, &todo.new);
                if changes.is_empty() {
                    body.push(notice(Level::Info, "Nothing changed."));
                } else {
                    body.push(section("changed", true, vec![Block::Todos { items: changes }]));
                }
                let label = if todo.plan { "the whole plan" } else { "the whole list" };
                body.extend((!todo.new.is_empty()).then(|| section(label, false, vec![whole])));
            }
            _ if todo.new.is_empty() => body.push(notice(Level::Info, "The list is empty.")),
            _ => body.push(whole),
        }
        body
    }
}

/// Differences between two lists, in the order of the new one; removed items come last.
fn changed(old: &[TodoItem], new: &[TodoItem]) -> Vec<TodoEntry> {
    let (before, after) = (TodoIndex::of(old), TodoIndex::of(new));
    let mut changes = Vec::new();
    for item in new {
        let before = before.find(item);
        let change = match before {
            None => Line::from("new"),
            Some(before) if before.state != item.state => format!("was {}", word(&before.state)).into(),
            // Found by id with another text: the item was reworded.
            Some(before) if before.text != item.text => format!("was \"{}\"", gist(&before.text)).into(),
            Some(_) => continue,
        };
        changes.push(TodoEntry { change: Some(change), ..thing(item) });
    }
    let gone = old.iter().filter(|before| after.find(before).is_none());
    changes.extend(gone.map(|before| TodoEntry { state: TodoProgress::Dropped, change: Some("removed".into()), ..thing(before) }));
    changes
}

/// Items of a list, found again in another list by id, else by text.
struct TodoIndex<'i> {
    ids: HashMap<&'i str, &'i TodoItem>,
    texts: HashMap<&'i str, &'i TodoItem>,
}

impl<'i> TodoIndex<'i> {
    fn of(items: &'i [TodoItem]) -> Self {
        let ids = items.iter().filter_map(|item| Some((item.id.as_deref()?, item))).collect();
        TodoIndex { ids, texts: items.iter().map(|item| (item.text.as_str(), item)).collect() }
    }

    fn find(&self, item: &TodoItem) -> Option<&'i TodoItem> {
        let by_id = item.id.as_deref().and_then(|id| self.ids.get(id));
        by_id.or_else(|| self.texts.get(item.text.as_str())).copied()
    }
}

/// An item of a list, with its notes.
pub(super) fn thing(item: &TodoItem) -> TodoEntry {
    let state = match item.state {
        // States that are not known are shown as open, with their own word beside the text.
        TodoState::Pending | TodoState::Other(_) => TodoProgress::Open,
        TodoState::Active => TodoProgress::Active,
        TodoState::Done => TodoProgress::Done,
        TodoState::Deleted => TodoProgress::Dropped,
    };
    let mut text = Line::from(item.text.as_str());
    let other = if let TodoState::Other(word) = &item.state { Some(word.clone()) } else { None };
    let blocked = (!item.blocked_by.is_empty()).then(|| format!("after {}", item.blocked_by.join(", ")));
    let notes: Vec<String> = [other, item.priority.clone(), item.owner.clone(), blocked].into_iter().flatten().collect();
    if !notes.is_empty() {
        text.push(Class::Dim, &format!("  {}", notes.join(", ")));
    }
    TodoEntry { state, text, change: None }
}

/// Word for a state.
pub(super) fn word(state: &TodoState) -> &str {
    match state {
        TodoState::Pending => "open",
        TodoState::Active => "in progress",
        TodoState::Done => "done",
        TodoState::Deleted => "deleted",
        TodoState::Other(word) => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{facts, story, worked};
    use tooltrail_model::{Kind, Status, detail};

    fn item(text: &str, state: TodoState) -> TodoItem {
        TodoItem { text: text.into(), state, ..TodoItem::default() }
    }

    fn list() -> Detail {
        let old = vec![item("a", TodoState::Active), item("b", TodoState::Pending), item("gone", TodoState::Pending)];
        let new = vec![item("a", TodoState::Done), item("b", TodoState::Active), item("c", TodoState::Pending)];
        Detail::Todo(detail::Todo { old: Some(old), new, ..detail::Todo::default() })
    }

    #[test]
    fn what_changed_comes_first() {
        let call = worked("TodoWrite", Kind::Todo, list());
        let head = TodoView.head(&call);
        assert_eq!((head.title.text().as_str(), facts(&head.facts)), ("1 of 3 done → \"b\"", vec!["4 changed".to_owned()]));
        let body = TodoView.body(&call, &Limits::PAGE);
        let [Block::Section { open: true, body: changes, .. }, Block::Section { open: false, .. }] = body.as_slice() else {
            panic!("{body:?}")
        };
        let [Block::Todos { items }] = changes.as_slice() else { panic!("{changes:?}") };
        let told: Vec<String> =
            items.iter().map(|item| format!("{} {}", item.text.text(), item.change.as_ref().map(Line::text).unwrap_or_default())).collect();
        assert_eq!(told, ["a was in progress", "b was open", "c new", "gone removed"]);
    }

    #[test]
    fn a_plan_is_a_list_with_an_explanation() {
        let steps = vec![item("one", TodoState::Other("parked".into()))];
        let plan = detail::Todo { new: steps, explanation: Some("because".into()), plan: true, ..detail::Todo::default() };
        let body = TodoView.body(&worked("update_plan", Kind::Todo, Detail::Todo(plan)), &Limits::PAGE);
        let [Block::Markdown { .. }, Block::Todos { items }] = body.as_slice() else { panic!("{body:?}") };
        assert_eq!(items[0].text.text(), "one  parked");
    }

    #[test]
    fn a_list_that_was_not_taken_claims_nothing() {
        assert!(TodoView.head(&story("TodoWrite", Kind::Todo, Status::Failed, list())).facts.is_empty());
    }
}
