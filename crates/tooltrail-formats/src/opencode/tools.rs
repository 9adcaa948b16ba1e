//! OpenCode's tools: their families, and calls in neutral form. One table has both.

use crate::DetailRequest;
use crate::codex::patch::parse;
use crate::served::{self, ServedAnswer, ServedDetail};
use serde_json::{Map, Value};
use tooltrail_model::content::words;
use tooltrail_model::detail::{
    Agent, Detail, Detailed, Edit, Glob, Grep, GrepMode, List, Patch, Read, ReadGot, Replacement, Shell, Skill, Todo, TodoItem, TodoState,
    WebFetch, WebSearch, Write,
};
use tooltrail_model::{Kind, Status};

/// Puts a call into neutral form.
type OpenCodeToolReader = fn(&mut OpenCodeCall<'_>) -> Detail;

/// The tools by name: family and reader. Tools of MCP servers have the server's name in front, with no mark that would reveal them.
const TOOLS: &[(&str, Kind, OpenCodeToolReader)] = &[
    ("apply_patch", Kind::Edit, patch),
    ("bash", Kind::Shell, shell),
    ("edit", Kind::Edit, edit),
    ("glob", Kind::Search, glob),
    ("grep", Kind::Search, grep),
    ("list", Kind::List, list),
    ("multiedit", Kind::Edit, edit),
    ("patch", Kind::Edit, patch),
    ("plan_enter", Kind::Plan, other),
    ("plan_exit", Kind::Plan, other),
    ("question", Kind::Question, other),
    ("read", Kind::Read, read),
    ("skill", Kind::Skill, skill),
    ("task", Kind::Subagent, task),
    ("todoread", Kind::Todo, other),
    ("todowrite", Kind::Todo, todo),
    ("webfetch", Kind::WebFetch, web_fetch),
    ("websearch", Kind::WebSearch, web_search),
    ("write", Kind::Write, write),
];

/// The family of a tool.
pub(super) fn kind(tool: &str, input: &[u8]) -> Kind {
    let own = TOOLS.iter().find(|(name, ..)| *name == tool).map(|(_, kind, _)| *kind);
    // A tool of a server has the server's name in front.
    own.or_else(|| served::joined(tool, input).map(|(.., kind)| kind)).unwrap_or(Kind::Other)
}

/// The server of a shell or a file tool. Of other tools nothing tells whether a server offers them.
pub(super) fn server<'n>(tool: &'n str, input: &[u8]) -> Option<&'n str> {
    let own = TOOLS.iter().any(|(name, ..)| *name == tool);
    served::joined(tool, input).filter(|_| !own).map(|(server, ..)| server)
}

/// A call that is being taken apart: fields that a reader takes are not shown again.
struct OpenCodeCall<'a> {
    input: Map<String, Value>,
    produced: Map<String, Value>,
    ask: &'a DetailRequest<'a>,
    failed: bool,
}

/// A call in neutral form, with the fields that had no place in it.
pub(super) fn detail(ask: &DetailRequest<'_>) -> Detailed {
    let map = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_default();
    let failed = ask.answered && ask.produced.is_none() || !matches!(ask.status, tooltrail_model::Status::Succeeded);
    let mut fields = OpenCodeCall { input: map(Some(ask.input)), produced: map(ask.produced), ask, failed };
    let reader = TOOLS.iter().find(|(name, ..)| *name == ask.tool).map_or(other as OpenCodeToolReader, |(.., reader)| *reader);
    let mut detail = reader(&mut fields);
    let mut printed = false;
    if let Some(read) = served(&fields).filter(|_| matches!(detail, Detail::Other)) {
        (detail, fields.input, printed) = (read.detail, read.rest, read.printed);
    }
    // The row has these already.
    for key in ["exit", "truncated", "output", "preview", "sessionId", "parentSessionId"] {
        fields.produced.remove(key);
    }
    let rest_input = if matches!(detail, Detail::Other) { Map::new() } else { fields.input };
    // A command with another code than 0 has its output, and no message.
    let error = words(ask.seen);
    let error = (ask.produced.is_none() && ask.answered && !printed && !error.is_empty()).then_some(error);
    Detailed { detail, rest_input, rest_produced: fields.produced, error, saved: None }
}

/// A shell or a file tool of a server.
fn served(call: &OpenCodeCall<'_>) -> Option<ServedDetail> {
    let ask = call.ask;
    if matches!(ask.kind, Kind::Other | Kind::Mcp) {
        return None;
    }
    let input = ask.input.to_string();
    let (server, name, _) = served::joined(ask.tool, input.as_bytes())?;
    let text = words(ask.seen);
    let ran = matches!(ask.status, Status::Succeeded | Status::Failed | Status::TimedOut | Status::Interrupted);
    let answer = ServedAnswer { text: &text, answered: ask.answered, failed: call.failed, ran };
    served::detail(server, name, ask.input, answer)
}

impl OpenCodeCall<'_> {
    fn text(&mut self, key: &str) -> Option<String> {
        let is_text = self.input.get(key).is_some_and(Value::is_string);
        // A value of another type is dropped as well: the reader of the call has no place for it.
        match self.input.remove(key).filter(|_| is_text) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    fn number(&mut self, key: &str) -> Option<u64> {
        let number = self.input.get(key).and_then(Value::as_u64)?;
        self.input.remove(key);
        Some(number)
    }

    /// The tool's answer; `None` where the call failed without any.
    fn answer(&self) -> Option<String> {
        let text = words(self.ask.seen);
        (self.ask.answered && self.ask.produced.is_some() && !text.is_empty()).then_some(text)
    }
}

fn other(_: &mut OpenCodeCall<'_>) -> Detail {
    Detail::Other
}

fn shell(call: &mut OpenCodeCall<'_>) -> Detail {
    let produced = call.produced.remove("description");
    Detail::Shell(Shell {
        command: call.text("command").unwrap_or_default(),
        description: call.text("description").or_else(|| produced.and_then(|text| text.as_str().map(str::to_owned))),
        cwd: call.text("workdir"),
        timeout_ms: call.number("timeout"),
        stdout: call.answer(),
        ..Shell::default()
    })
}

fn read(call: &mut OpenCodeCall<'_>) -> Detail {
    let (path, offset, limit) = (call.text("filePath").unwrap_or_default(), call.number("offset"), call.number("limit"));
    let got = call.answer().map_or(ReadGot::Nothing, |text| numbered(&text).unwrap_or(ReadGot::Words(text)));
    // Repeats the text, and its beginning.
    call.produced.remove("display");
    Detail::Read(Read { path, offset, limit, pages: None, got })
}

/// The lines of a file as the model sees them: between tags, each with its number in front.
fn numbered(text: &str) -> Option<ReadGot> {
    let (_, rest) = text.split_once("<content>\n").or_else(|| text.split_once("<file>\n"))?;
    // Ends with the first line that has no number: the closing tag and the remarks behind it.
    let lines = rest.lines().map_while(|line| {
        let (number, text) =
            line.split_once(": ").or_else(|| line.split_once("| ")).or_else(|| line.strip_suffix(':').map(|all| (all, "")))?;
        Some((number.trim().parse::<u64>().ok()?, text))
    });
    let lines: Vec<(u64, &str)> = lines.collect();
    let first = lines.first()?.0;
    let total = rest.split_once("total ").and_then(|(_, rest)| rest.split(' ').next()).and_then(|number| number.parse().ok());
    Some(ReadGot::Text { text: lines.iter().map(|(_, text)| *text).collect::<Vec<_>>().join("\n"), first, total })
}

fn write(call: &mut OpenCodeCall<'_>) -> Detail {
    let new = call.produced.remove("exists").and_then(|exists| exists.as_bool()).map(|exists| !exists);
    call.produced.remove("filepath");
    Detail::Write(Write {
        path: call.text("filePath").unwrap_or_default(),
        content: call.text("content").unwrap_or_default(),
        new,
        ..Write::default()
    })
}

fn edit(call: &mut OpenCodeCall<'_>) -> Detail {
    let path = call.text("filePath").unwrap_or_default();
    let mut replacements = Vec::new();
    let one = |old: Option<String>, new: Option<String>, all: bool| Replacement {
        old: old.unwrap_or_default(),
        new: new.unwrap_or_default(),
        all,
    };
    if let Some(Value::Array(edits)) = call.input.remove("edits") {
        let text = |edit: &Value, key: &str| edit.get(key).and_then(Value::as_str).map(str::to_owned);
        replacements.extend(edits.iter().map(|edit| one(text(edit, "oldString"), text(edit, "newString"), edit["replaceAll"] == true)));
    } else {
        let all = call.input.remove("replaceAll").is_some_and(|all| all == true);
        replacements.push(one(call.text("oldString"), call.text("newString"), all));
    }
    // Repeats the change.
    for key in ["diff", "filediff"] {
        call.produced.remove(key);
    }
    Detail::Edit(Edit { path, replacements, ..Edit::default() })
}

fn patch(call: &mut OpenCodeCall<'_>) -> Detail {
    for key in ["diff", "files"] {
        call.produced.remove(key);
    }
    let text = call.text("patchText");
    // The agent took the patch language over from Codex.
    let files = text.as_deref().map(parse).unwrap_or_default();
    let unread = text.filter(|_| files.is_empty());
    Detail::Patch(Patch { files, unread, output: call.answer() })
}

fn glob(call: &mut OpenCodeCall<'_>) -> Detail {
    let truncated = call.produced.get("truncated").is_some_and(|value| value == true);
    let total = call.produced.remove("count").and_then(|count| count.as_u64());
    // Remarks about truncation are no paths.
    let files = call.answer().map(|text| text.lines().filter(|line| line.starts_with('/')).map(str::to_owned).collect());
    let pattern = call.text("pattern").unwrap_or_default();
    Detail::Glob(Glob { pattern, path: call.text("path"), files, total, truncated })
}

fn grep(call: &mut OpenCodeCall<'_>) -> Detail {
    let total = call.produced.remove("matches").and_then(|count| count.as_u64());
    Detail::Grep(Grep {
        pattern: call.text("pattern").unwrap_or_default(),
        path: call.text("path"),
        glob: call.text("include"),
        mode: GrepMode::Content,
        total,
        words: call.answer(),
        truncated: call.produced.get("truncated").is_some_and(|value| value == true),
        ..Grep::default()
    })
}

fn list(call: &mut OpenCodeCall<'_>) -> Detail {
    call.produced.remove("count");
    Detail::List(List { path: call.text("path").unwrap_or_default(), words: call.answer(), ..List::default() })
}

fn todo(call: &mut OpenCodeCall<'_>) -> Detail {
    call.produced.remove("todos");
    // Without a list the input is shown as it is.
    let Some(Value::Array(items)) = call.input.remove("todos") else { return Detail::Other };
    let item = |item: &Value| {
        let text = |key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
        let state = match text("status").as_deref() {
            Some("pending") | None => TodoState::Pending,
            Some("in_progress") => TodoState::Active,
            Some("completed") => TodoState::Done,
            Some("cancelled") => TodoState::Deleted,
            Some(word) => TodoState::Other(word.to_owned()),
        };
        TodoItem { id: text("id"), text: text("content").unwrap_or_default(), state, priority: text("priority"), ..TodoItem::default() }
    };
    Detail::Todo(Todo { new: items.iter().map(item).collect(), ..Todo::default() })
}

fn task(call: &mut OpenCodeCall<'_>) -> Detail {
    let id = call.produced.get("sessionId").and_then(Value::as_str).map(str::to_owned);
    call.produced.remove("model");
    Detail::Agent(Agent {
        action: "start",
        description: call.text("description"),
        prompt: call.text("prompt"),
        sort: call.text("subagent_type"),
        id,
        answer: if call.failed { None } else { call.answer() },
        ..Agent::default()
    })
}

fn web_fetch(call: &mut OpenCodeCall<'_>) -> Detail {
    Detail::WebFetch(WebFetch { url: call.text("url").unwrap_or_default(), answer: call.answer(), ..WebFetch::default() })
}

fn web_search(call: &mut OpenCodeCall<'_>) -> Detail {
    let prose = call.answer().into_iter().collect();
    Detail::WebSearch(WebSearch { query: call.text("query").unwrap_or_default(), prose, ..WebSearch::default() })
}

fn skill(call: &mut OpenCodeCall<'_>) -> Detail {
    for key in ["name", "dir"] {
        call.produced.remove(key);
    }
    Detail::Skill(Skill { name: call.text("name").unwrap_or_default(), message: call.answer(), ..Skill::default() })
}
