//! One line of what a call is about: the command, the path, the pattern, the question.
//!
//! Rows, tables, titles of views and pages all take it from [`Detail::about`], so a call is told in the same words wherever it is listed.
//! A view may style the runs of a [`CallTitle`] and add what the result says; it does not choose other words.

use super::{Agent, Grep, Lsp, Plan, Question, Skill, TaskOutput, Todo, TodoItem, TodoState, WebSearch};
use crate::patch::FilePatch;
use crate::visible::neutral;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The most characters of a title's text.
const LONGEST: usize = 200;

/// The most bytes of one line of a command in a title: more would not be read as a line.
const LINE: usize = 1_000;

/// The most files of a patch, or agents, that a title names.
const NAMED: usize = 4;

/// Limits for the fields of an unknown tool's input: their number, the characters of each, and the characters of all together.
const PAIRS: (usize, usize, usize) = (8, 60, 160);

/// Emphasis of a run in a title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emphasis {
    /// Nothing special.
    Plain,
    /// Less important than the rest.
    Dim,
    /// More important than the rest.
    Strong,
    /// A file or directory.
    Path,
}

/// Title of a call: what it is about, in runs that a view may style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallTitle {
    runs: Vec<(Emphasis, String)>,
}

impl CallTitle {
    /// The runs, as the log has their words: whoever shows them sees to control characters.
    pub fn runs(&self) -> &[(Emphasis, String)] {
        &self.runs
    }

    /// Text of the title: one line of at most 200 characters in which control characters are visible.
    pub fn text(&self) -> String {
        let bytes: usize = self.runs.iter().map(|(_, text)| text.len()).sum();
        let mut start = String::with_capacity(bytes.min(2 * LONGEST));
        // Nearly all titles are short, and a list makes one for each of its calls.
        if bytes <= LONGEST {
            self.runs.iter().for_each(|(_, text)| start.push_str(text));
        } else {
            // Making characters visible only makes a text longer, so what lies beyond is cut anyway.
            start.extend(self.runs.iter().flat_map(|(_, text)| text.chars()).take(LONGEST + 1));
        }
        start.truncate(start.trim_end().len());
        let text = match neutral(&start) {
            Cow::Borrowed(_) => start,
            Cow::Owned(text) => text,
        };
        if text.len() <= LONGEST || text.chars().count() <= LONGEST {
            return text;
        }
        text.chars().take(LONGEST - 1).chain(['…']).collect()
    }

    pub(super) fn of(emphasis: Emphasis, text: &str) -> Self {
        CallTitle::default().with(emphasis, text)
    }

    pub(super) fn plain(text: &str) -> Self {
        CallTitle::of(Emphasis::Plain, text)
    }

    pub(super) fn with(mut self, emphasis: Emphasis, text: &str) -> Self {
        if !text.is_empty() {
            self.runs.push((emphasis, text.to_owned()));
        }
        self
    }

    /// Adds a text of one line, clipped where nobody would read it as one.
    pub(super) fn with_clipped(self, text: &str) -> Self {
        let end = text.floor_char_boundary(LINE);
        let line = self.with(Emphasis::Plain, text.get(..end).unwrap_or_default());
        if end < text.len() { line.with(Emphasis::Dim, "…") } else { line }
    }

    fn is_blank(&self) -> bool {
        self.runs.iter().all(|(_, text)| text.trim().is_empty())
    }
}

/// The title of a request in which a known tool finds none of its fields, for instance because they are spelled in a new way.
pub(super) fn or_telling(title: CallTitle, input: &Value, cwd: Option<&str>) -> Option<CallTitle> {
    let title = if title.is_blank() { most_telling(input, cwd).unwrap_or_default() } else { title };
    Some(title).filter(|title| !title.is_blank())
}

/// The calls of a program one after the other; of one without any, its first line.
pub(super) fn script(script: &super::ScriptDetail, input: &Value, cwd: Option<&str>) -> CallTitle {
    let mut title = CallTitle::default();
    for (number, call) in script.calls.iter().take(NAMED).enumerate() {
        title = title.with(Emphasis::Dim, if number > 0 { " · " } else { "" });
        match call.detail.about(&call.input, cwd) {
            Some(about) => title.runs.extend(about.runs),
            None => title = title.with(Emphasis::Plain, &call.tool),
        }
    }
    if script.calls.is_empty() {
        return command(input.as_str().unwrap_or_default());
    }
    title.with(Emphasis::Dim, if script.calls.len() > NAMED || !script.complete { " …" } else { "" })
}

/// The first non-empty line of a command, with a mark where more follow.
pub(super) fn command(text: &str) -> CallTitle {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let title = CallTitle::default().with_clipped(lines.next().unwrap_or_default());
    if lines.next().is_some() { title.with(Emphasis::Dim, " …") } else { title }
}

pub(super) fn task_output(task: &TaskOutput) -> CallTitle {
    let title = CallTitle::default().with_clipped(task.task.as_deref().or(task.description.as_deref()).unwrap_or_default());
    match task.sent.as_deref().filter(|sent| !sent.is_empty()) {
        Some(sent) => title.with(Emphasis::Dim, " ← ").with_clipped(sent),
        None => title,
    }
}

pub(super) fn file(path: &str, cwd: Option<&str>) -> CallTitle {
    if path.is_empty() { CallTitle::of(Emphasis::Dim, "no path given") } else { CallTitle::of(Emphasis::Path, inside(path, cwd)) }
}

/// `src/a.rs, src/b.rs → src/c.rs and 3 more`.
pub(super) fn patched(files: &[FilePatch], cwd: Option<&str>) -> CallTitle {
    let mut title = CallTitle::default();
    for (at, file) in files.iter().take(NAMED).enumerate() {
        title = title.with(Emphasis::Dim, if at > 0 { ", " } else { "" }).with(Emphasis::Path, inside(&file.path, cwd));
        if let Some(to) = &file.moved_to {
            title = title.with(Emphasis::Plain, " → ").with(Emphasis::Path, inside(to, cwd));
        }
    }
    match files.len().saturating_sub(NAMED) {
        0 => title,
        more => title.with(Emphasis::Dim, &format!(" and {more} more")),
    }
}

/// `2 of 5 done → "Write the parser"`. A list without entries says nothing: it may be one that the request only asks for.
pub(super) fn todos(todo: &Todo) -> CallTitle {
    // Deleted items are kept in some lists; they count neither as open nor as done.
    let left: Vec<&TodoItem> = todo.new.iter().filter(|item| item.state != TodoState::Deleted).collect();
    if left.is_empty() {
        return CallTitle::default();
    }
    let done = left.iter().filter(|item| item.state == TodoState::Done).count();
    let title = CallTitle::plain(&format!("{done} of {} done", left.len()));
    match left.iter().find(|item| item.state == TodoState::Active) {
        Some(item) => title.with(Emphasis::Dim, " → ").with(Emphasis::Plain, &format!("\"{}\"", gist(&item.text))),
        None => title,
    }
}

/// `#3 Render diff`.
pub(super) fn task(item: &TodoItem) -> CallTitle {
    let id = item.id.as_ref().map(|id| format!("#{id} ")).unwrap_or_default();
    CallTitle::of(Emphasis::Dim, &id).with(Emphasis::Plain, &gist(&item.text))
}

/// `Explore: find usages`, `to scout: go on`, `wait a1, a2`.
pub(super) fn agent(agent: &Agent) -> CallTitle {
    // Not every agent names its tasks; the beginning of the prompt is the next best title.
    let task = agent.description.as_deref().or(agent.prompt.as_deref()).map(gist).unwrap_or_default();
    let name = agent.name.as_deref().or(agent.id.as_deref());
    let starts = matches!(agent.action, "start" | "resume" | "");
    let who = match (agent.action, agent.sort.as_deref().or(name)) {
        // A message is addressed to a name; the type of the agent says less.
        ("send", _) => name.map(|name| format!("to {name}")),
        (_, who) if starts => who.map(str::to_owned),
        (action, _) => {
            // A few names are enough for a title; the view of the call has all of them.
            let others: Vec<&str> = agent.agents.iter().map(|(name, _)| name.as_str()).take(NAMED).collect();
            let whom = name.map_or_else(|| others.join(", "), str::to_owned);
            Some(format!("{action} {whom}").trim_end().to_owned())
        }
    };
    match who {
        Some(who) if task.is_empty() => CallTitle::of(Emphasis::Strong, &who),
        Some(who) => CallTitle::of(Emphasis::Strong, &who).with(Emphasis::Dim, ": ").with(Emphasis::Plain, &task),
        None => CallTitle::plain(&task),
    }
}

/// `/parse/ in src  *.rs  -i`.
pub(super) fn grep(grep: &Grep, cwd: Option<&str>) -> CallTitle {
    let pattern = CallTitle::of(Emphasis::Dim, "/").with(Emphasis::Plain, &grep.pattern).with(Emphasis::Dim, "/");
    let options = grep.glob.iter().chain(&grep.file_type).chain(&grep.flags);
    options.fold(within(pattern, grep.path.as_deref(), cwd), |title, option| title.with(Emphasis::Dim, &format!("  {option}")))
}

pub(super) fn web_search(search: &WebSearch) -> CallTitle {
    // Some tools search, open and scroll pages with one tool.
    match &search.opened {
        Some(page) if search.query.is_empty() => CallTitle::plain(page),
        Some(page) => CallTitle::plain(&format!("\"{}\" in {page}", search.query)),
        None if search.query.is_empty() => CallTitle::default(),
        None => CallTitle::plain(&format!("\"{}\"", search.query)),
    }
}

pub(super) fn questions(questions: &[Question]) -> CallTitle {
    let first = CallTitle::plain(&questions.first().map(|question| gist(&question.text)).unwrap_or_default());
    match questions.len() {
        0 | 1 => first,
        many => first.with(Emphasis::Dim, &format!(" and {} more", many - 1)),
    }
}

/// The heading of a plan, and how many numbered steps it has.
pub(super) fn plan(plan: &Plan) -> CallTitle {
    let Some(text) = &plan.plan else { return CallTitle::plain(if plan.enters { "begins to plan" } else { "" }) };
    // The first line with words is the title, without Markdown's heading marks.
    let first = text.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty()).unwrap_or_default();
    let first = first.strip_prefix("Plan:").unwrap_or(first).trim();
    // Numbered lines are counted as steps; most agents write plans as a numbered list.
    let is_step = |line: &&str| {
        line.split_once(". ").is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let steps = text.lines().filter(is_step).count();
    let title = CallTitle::plain(&gist(first));
    if steps > 1 { title.with(Emphasis::Dim, &format!(" ({steps} steps)")) } else { title }
}

pub(super) fn skill(skill: &Skill) -> CallTitle {
    let name = CallTitle::of(Emphasis::Strong, &skill.name);
    match skill.arguments.as_deref().map(gist).filter(|words| !words.is_empty()) {
        Some(words) => name.with(Emphasis::Plain, &format!("  {words}")),
        None => name,
    }
}

/// `goToDefinition src/a.rs:10:4`.
pub(super) fn language_server(lsp: &Lsp, cwd: Option<&str>) -> CallTitle {
    // Operation, file, position and query are each optional, depending on the operation.
    let mut title = CallTitle::plain(&lsp.operation);
    if let Some(path) = &lsp.path {
        title = title.with(Emphasis::Plain, " ").with(Emphasis::Path, inside(path, cwd));
    }
    if let Some((line, column)) = lsp.position {
        title = title.with(Emphasis::Dim, &format!(":{line}:{column}"));
    }
    match &lsp.query {
        Some(query) => title.with(Emphasis::Plain, &format!(" \"{query}\"")),
        None => title,
    }
}

/// An input of which nothing is known: the field that says most, else all of them as far as they fit.
pub(super) fn unknown(input: &Value, cwd: Option<&str>) -> CallTitle {
    most_telling(input, cwd).unwrap_or_else(|| match input {
        Value::Object(fields) => pairs(fields),
        Value::Null => CallTitle::default(),
        other => CallTitle::plain(&clipped(&brief(other), PAIRS.2)),
    })
}

/// The fields that say most about an input, best first, and whether their value is a path.
const TELLING: &[(&str, bool)] = &[
    ("command", false),
    ("cmd", false),
    ("file_path", true),
    ("notebook_path", true),
    ("path", true),
    ("pattern", false),
    ("query", false),
    ("url", false),
    ("prompt", false),
    ("description", false),
    ("skill", false),
    ("subject", false),
    ("bash_id", false),
    ("shell_id", false),
    ("task_id", false),
    ("taskId", false),
    ("plan", false),
    ("question", false),
    ("questions", false),
];

fn most_telling(input: &Value, cwd: Option<&str>) -> Option<CallTitle> {
    let fields = input.as_object()?;
    TELLING.iter().find_map(|&(key, is_path)| {
        let text = words(fields.get(key)?).filter(|text| !text.trim().is_empty())?;
        Some(if is_path { CallTitle::of(Emphasis::Path, inside(&text, cwd)) } else { CallTitle::plain(&gist(&text)) })
    })
}

/// A text, or the texts of a list; questions and steps are objects that hold theirs.
fn words(value: &Value) -> Option<String> {
    let items = match value {
        Value::String(text) => return Some(text.clone()),
        Value::Array(items) => items,
        _ => return None,
    };
    let text = |item: &Value| item.as_str().or_else(|| item.get("question").or_else(|| item.get("step"))?.as_str()).map(str::to_owned);
    let words: Vec<String> = items.iter().filter_map(text).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// `key=value, key=value`.
fn pairs(fields: &Map<String, Value>) -> CallTitle {
    let (most, value_length, length) = PAIRS;
    let pairs: Vec<String> =
        fields.iter().take(most).map(|(name, value)| format!("{name}={}", clipped(&brief(value), value_length))).collect();
    CallTitle::plain(&clipped(&pairs.join(", "), length))
}

/// A value in a few characters: the beginning of a text, the size of a list or an object.
fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => gist(text),
        Value::Array(items) if !items.is_empty() => format!("[{}]", items.len()),
        Value::Object(fields) if !fields.is_empty() => format!("{{{}}}", fields.len()),
        scalar => scalar.to_string(),
    }
}

/// The first letters of a text, with a mark if there are more.
fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The first line of a text, with a mark if more follows or it is long.
pub fn gist(text: &str) -> String {
    let text = text.trim();
    let first = text.lines().next().unwrap_or_default().trim_end();
    let start: String = first.chars().take(LONGEST).collect();
    let more = start.len() < first.len() || first.len() < text.len();
    if more { format!("{start} …") } else { start }
}

/// Adds where something is looked for, unless that is where the session is: `**/*.rs in src`.
pub(super) fn within(title: CallTitle, path: Option<&str>, cwd: Option<&str>) -> CallTitle {
    // The working directory is the default; naming it would only make titles longer.
    match path.filter(|path| !path.is_empty() && Some(*path) != cwd) {
        Some(path) => title.with(Emphasis::Dim, " in ").with(Emphasis::Path, inside(path, cwd)),
        None => title,
    }
}

/// A path without the directory that it is in; unchanged if it is elsewhere.
pub fn inside<'p>(path: &'p str, directory: Option<&str>) -> &'p str {
    directory.and_then(|directory| below(directory, path)).unwrap_or(path)
}

/// The rest of a path that is below a directory.
pub fn below<'p>(directory: &str, path: &'p str) -> Option<&'p str> {
    if directory.is_empty() {
        return None;
    }
    // Both separators, because logs come from any system; the second strip keeps `/srv/app` from matching `/srv/apple`.
    let rest = path.strip_prefix(directory.trim_end_matches(['/', '\\']))?.strip_prefix(['/', '\\'])?;
    Some(rest).filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::{Detail, Mcp, Questions, Shell, Tasks};
    use super::*;
    use serde_json::json;

    fn said(detail: &Detail, input: &Value) -> Option<String> {
        detail.about(input, Some("/srv/app")).map(|title| title.text())
    }

    #[test]
    fn a_line_is_short_and_shows_what_could_act() {
        let shell = |command: &str| Detail::Shell(Shell { command: command.to_owned(), ..Shell::default() });
        assert_eq!(said(&shell("\n cargo test\ncargo run"), &Value::Null).as_deref(), Some("cargo test …"));
        assert_eq!(said(&shell("a\u{1b}[1m\tb\u{202e}"), &Value::Null).as_deref(), Some("a␛[1m    b⟨U+202E⟩"));
        assert_eq!(said(&shell(" "), &json!({"description": "say nothing"})).as_deref(), Some("say nothing"));
        assert_eq!(said(&shell(""), &Value::Null), None);
        for letters in [LONGEST, LONGEST + 1, 3 * LONGEST] {
            let text = said(&shell(&"é".repeat(letters)), &Value::Null).unwrap_or_default();
            assert_eq!((text.chars().count(), text.ends_with('…')), (LONGEST, letters > LONGEST));
        }
        // Characters that are made visible count as what they have become.
        assert_eq!(
            said(&shell(&"\t".repeat(LONGEST).replace("\t\t", "a\t")), &Value::Null).map(|text| text.chars().count()),
            Some(LONGEST)
        );
    }

    #[test]
    fn paths_are_told_from_the_directory_of_the_call() {
        let list = |path: &str| Detail::List(super::super::List { path: path.to_owned(), ..Default::default() });
        for (path, shown) in [("/srv/app/src", "src"), ("/srv/apple", "/srv/apple"), ("/srv/app", "/srv/app"), ("src", "src")] {
            assert_eq!(said(&list(path), &Value::Null).as_deref(), Some(shown));
        }
        assert_eq!(inside("C:\\app\\src\\a.rs", Some("C:\\app")), "src\\a.rs");
        assert_eq!(inside("/etc/hosts", Some("/")), "etc/hosts");
        assert_eq!(inside("/etc/hosts", Some("")), "/etc/hosts");
    }

    #[test]
    fn an_unknown_input_is_told_by_the_field_that_says_most() {
        for (input, shown) in [
            (json!({"owner": "x", "query": "is:open"}), Some("is:open")),
            (json!({"path": "/srv/app/a.rs", "command": ["ls", "-l"]}), Some("ls -l")),
            (json!({"file_path": "/srv/app/a.rs"}), Some("a.rs")),
            (json!({"questions": [{"question": "Why?"}, {"question": "How?"}]}), Some("Why? How?")),
            (json!({"mode": "fast", "limit": 3, "deep": {"a": 1}, "list": [1, 2]}), Some("mode=fast, limit=3, deep={1}, list=[2]")),
            (json!("text(1)\ntext(2)"), Some("text(1) …")),
            (json!({}), None),
            (Value::Null, None),
        ] {
            assert_eq!(said(&Detail::Other, &input).as_deref(), shown, "{input}");
            assert_eq!(said(&Detail::Mcp(Mcp::default()), &input).as_deref(), shown, "{input}");
        }
    }

    #[test]
    fn a_request_that_says_nothing_is_about_nothing() {
        for detail in [
            Detail::Todo(Todo::default()),
            Detail::Tasks(Tasks::default()),
            Detail::Question(Questions::default()),
            Detail::WebSearch(WebSearch::default()),
            Detail::Other,
        ] {
            assert_eq!(detail.about(&Value::Null, None), None, "{detail:?}");
        }
    }
}
