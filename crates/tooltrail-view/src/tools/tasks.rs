//! Tasks of a task list: made, changed, listed.
//!
//! ```text
//! ☑ TaskUpdate   #3 Render diff        open → done   4 ms ✓
//! ☑ TaskList                           5 tasks, 2 done
//! ```

use super::ToolView;
use super::todo::{thing, word};
use crate::head::counted;
use crate::outcome::came;
use crate::pieces::{FieldList, markdown, notice};
use crate::texts::gist;
use crate::{Block, Class, Head, Limits, Line};
use tooltrail_model::detail::{Detail, Tasks, TodoItem, TodoState};
use tooltrail_model::transcript::{Level, Story};

/// View of task lists.
pub(super) struct TasksView;

impl ToolView for TasksView {
    fn name(&self) -> &'static str {
        "tasks"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Tasks(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Tasks(tasks) = &call.told.detail else { return Head::default() };
        let title = tasks.item.as_ref().map(named).unwrap_or_default();
        let facts = if came(call) { facts(tasks) } else { Vec::new() };
        Head { icon: "☑", name: call.row.tool.into(), title, facts }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Tasks(tasks) = &call.told.detail else { return Vec::new() };
        let mut body: Vec<Block> = about(tasks).block().into_iter().collect();
        body.extend(tasks.description.iter().map(|text| markdown(text, limits)));
        // An empty list is a result; no list means that the tool returned a single task.
        match tasks.list.as_deref() {
            Some([]) => body.push(notice(Level::Info, "There are no tasks.")),
            Some(list) => body.push(Block::Todos { items: list.iter().map(listed).collect() }),
            None => {}
        }
        body
    }
}

/// `#3 Render diff`.
fn named(item: &TodoItem) -> Line {
    let id = item.id.as_ref().map(|id| format!("#{id} ")).unwrap_or_default();
    Line::of(Class::Dim, &id).with(Class::Plain, &gist(&item.text))
}

/// A task of a list, with its number before it.
fn listed(item: &TodoItem) -> crate::block::TodoEntry {
    let thing = thing(item);
    let id = item.id.as_ref().map(|id| format!("#{id} ")).unwrap_or_default();
    let text = thing.text.runs().iter().fold(Line::of(Class::Dim, &id), |line, run| line.with(run.class, run.text()));
    crate::block::TodoEntry { text, ..thing }
}

fn facts(tasks: &Tasks) -> Vec<Line> {
    let moved = tasks.moved.as_ref().map(|(from, to)| format!("{} → {}", word(from), word(to)));
    let list = tasks.list.as_ref().map(|list| {
        let done = list.iter().filter(|item| item.state == TodoState::Done).count();
        format!("{}, {done} done", counted(list.len() as u64, "task"))
    });
    moved.into_iter().chain(list).map(Line::from).collect()
}

fn about(tasks: &Tasks) -> FieldList {
    let mut fields = FieldList::default();
    if let Some(item) = &tasks.item {
        // The title already has its number and the beginning of its text.
        fields.add_some("about", Some(item.text.as_str()).filter(|text| gist(text) != text.trim()));
        fields.add_some("while it is done", item.active.as_deref());
        fields.add_some("priority", item.priority.as_deref());
        fields.add_some("owner", item.owner.as_deref());
        fields.add_some("after", Some(item.blocked_by.join(", ")).filter(|ids| !ids.is_empty()).as_deref());
        // Pending is the default and said only where it was asked for.
        let stated = tasks.action == "get" || item.state != TodoState::Pending;
        fields.add_some("state", Some(word(&item.state)).filter(|_| stated && tasks.moved.is_none()));
    }
    if let Some((from, to)) = &tasks.moved {
        fields.add("state", &format!("{} → {}", word(from), word(to)));
    }
    // A changed status is shown as `open → done`, so its name would only repeat it.
    let updated: Vec<&str> = tasks.updated.iter().map(String::as_str).filter(|name| *name != "status" || tasks.moved.is_none()).collect();
    fields.add_some("changed", Some(updated.join(", ")).filter(|names| !names.is_empty()).as_deref());
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{facts, text_of, worked};
    use tooltrail_model::Kind;

    fn item(id: &str, text: &str, state: TodoState) -> TodoItem {
        TodoItem { id: Some(id.into()), text: text.into(), state, ..TodoItem::default() }
    }

    #[test]
    fn an_update_says_what_moved() {
        let moved = Some((TodoState::Pending, TodoState::Done));
        let list = Tasks { action: "update", item: Some(item("3", "Render", TodoState::Done)), moved, ..Tasks::default() };
        let call = worked("TaskUpdate", Kind::Todo, Detail::Tasks(list));
        let head = TasksView.head(&call);
        assert_eq!((head.title.text().as_str(), facts(&head.facts)), ("#3 Render", vec!["open → done".to_owned()]));
        assert!(text_of(&TasksView.body(&call, &Limits::PAGE)).contains("open → done"));
    }

    #[test]
    fn a_list_is_counted() {
        let list = vec![item("1", "a", TodoState::Done), item("2", "b", TodoState::Pending)];
        let call = worked("TaskList", Kind::Todo, Detail::Tasks(Tasks { action: "list", list: Some(list), ..Tasks::default() }));
        assert_eq!(facts(&TasksView.head(&call).facts), ["2 tasks, 1 done"]);
        assert!(text_of(&TasksView.body(&call, &Limits::PAGE)).contains("#1 a\n#2 b\n"));
    }
}
