//! Schemas of a call in full and of its view: the output of `show REF --json`.

use super::schema::{
    Schemas, any_of, anything, count, integer, list, maybe, named, object, one_of, only, or_row, pair, text, time, tuple, yes_no,
};
use serde_json::{Value, json};
use tooltrail_model::event::HookOutcome;

/// Adds the schema of an entry and those it refers to.
pub(super) fn add(schemas: &mut Schemas) {
    schemas.add("Content", content());
    schemas.add("HookStory", hook());
    schemas.add("Side", side());
    schemas.add("Line", line());
    schemas.add("Elided", elided());
    schemas.add("Block", block());
    schemas.add("View", view());
    schemas.add("Entry", any_of([call(), gone()]));
}

/// An entry: the fields that all entries of a session have, and `own` fields of this kind.
fn entry(about: &str, kind: &str, own: Vec<(&str, Value)>) -> Value {
    let at = or_row(object("The record.", [("file", maybe(text("The file."))), ("line", count("The line."))]));
    let mut schema = object(
        about,
        [
            ("type", only(kind)),
            ("at", at),
            ("time", maybe(time("The time, if the record has one."))),
            ("turn", maybe(count("Its turn, counted from 1."))),
            ("agent_id", maybe(text("The subagent."))),
            ("thread", count("The conversation; 0 is the main one.")),
            ("started_by", maybe(text("The `ref` of the call that started that conversation."))),
            ("abandoned", yes_no("The conversation continued without its turn.")),
        ],
    );
    // Added by hand, because `object` takes a fixed number of fields. Every field is required: missing values are null.
    for (name, field) in own {
        schema["properties"][name] = field;
        if let Some(required) = schema["required"].as_array_mut() {
            required.push(name.into());
        }
    }
    schema
}

fn call() -> Value {
    let own = vec![
        ("call", named("Call")),
        // A text in that case, as in `ref`: the number 41.1 could not be told from 41.10.
        ("number", any_of([count("Its number in the session."), text("The same for a call in the text of a script: `41.1`.")])),
        // Inputs and produced values are whatever the tool takes and gives, so no schema can be stated.
        ("input", anything("The input that ran.")),
        ("requested_input", anything("The requested input, if a hook or you replaced it.")),
        ("seen", maybe(list(named("Content")))),
        ("produced", anything("What the tool produced, if the log has it separately.")),
        ("feedback", maybe(text("Your message when you rejected the call."))),
        ("error", maybe(text("The message of a failure, without the wrapping around it."))),
        ("side", maybe(named("Side"))),
        ("hooks", list(named("HookStory"))),
        ("progress", maybe(progress())),
        ("tokens", maybe(named("Tokens"))),
        ("tier", maybe(text("The service tier."))),
        ("request_id", maybe(text("The id of the API request that its message answers."))),
        ("stopped", maybe(text("Why its message ended early."))),
        ("threads", list(count("A conversation that it started."))),
        ("view", named("View")),
    ];
    entry("A call with its result.", "call", own)
}

fn gone() -> Value {
    entry("A call that can no longer be read.", "gone", vec![("why", text("The reason."))])
}

/// Fields that content and blocks of images share.
fn image() -> [(&'static str, Value); 5] {
    [
        ("media", text("Its media type from the log; do not trust it.")),
        ("data", maybe(text("The image in base64."))),
        ("source", maybe(text("Where it is, if it is not in the log."))),
        ("size", maybe(pair("Width and height in pixels."))),
        ("bytes", maybe(count("Size of the file in bytes."))),
    ]
}

fn content() -> Value {
    let [media, data, source, size, bytes] = image();
    any_of([
        object("A text.", [("type", only("text")), ("text", text("The text."))]),
        object("An image.", [("type", only("image")), media, data, source, size, bytes]),
        object(
            "A document.",
            [
                ("type", only("document")),
                ("title", maybe(text("Its title."))),
                ("media", maybe(text("Its media type from the log."))),
                ("text", maybe(text("Its text, if it is text."))),
                ("bytes", count("Its size.")),
            ],
        ),
        object("A tool that is named, not called.", [("type", only("tool")), ("name", text("Its name."))]),
        object("Anything else.", [("type", only("other")), ("value", anything("As logged."))]),
    ])
}

fn hook() -> Value {
    let fact = object("A text of it.", [("name", text("What it is.")), ("value", text("The text."))]);
    object(
        "A hook with all details.",
        [
            ("call", maybe(text("The call."))),
            ("event", maybe(text("What it was for."))),
            ("name", maybe(text("Its name."))),
            ("command", maybe(text("Its command."))),
            ("outcome", maybe(one_of("Its outcome.", HookOutcome::ALL.iter().map(|outcome| outcome.word())))),
            ("exit_code", maybe(integer("Its exit code."))),
            ("duration_ms", maybe(count("Its duration."))),
            ("reason", maybe(text("Its message."))),
            ("texts", list(fact)),
        ],
    )
}

fn progress() -> Value {
    object(
        "State of a call without a result at its last progress.",
        [
            ("output", maybe(text("Its output so far."))),
            ("note", maybe(text("Its activity in a few words."))),
            ("elapsed_ms", maybe(count("Time since it began."))),
            ("limit_ms", maybe(count("Time that it may take."))),
        ],
    )
}

fn side() -> Value {
    object(
        "An output saved outside the log.",
        [
            ("path", text("Its path, as logged.")),
            ("bytes", count("Its size.")),
            ("cut", yes_no("Whether only the beginning is included.")),
            ("text", maybe(text("The text."))),
            ("problem", maybe(text("Why there is no text."))),
        ],
    )
}

fn line() -> Value {
    // The names in the JSON of `tooltrail_view::line::Class`; tests/api fails if a response has another one.
    const CLASSES: [&str; 15] = [
        "plain", "dim", "strong", "match", "inserted", "deleted", "good", "bad", "path", "keyword", "text", "comment", "number",
        "function", "type",
    ];
    let shade = || json!({ "type": "integer", "minimum": 0, "maximum": 255 });
    let color = || {
        maybe(any_of([
            object("One of the 256 of a terminal.", [("index", shade())]),
            object("Red, green and blue.", [("rgb", tuple([shade(), shade(), shade()]))]),
        ]))
    };
    // Colours as the program printed them; clients decide how to show them.
    let ansi = object(
        "A style of a terminal.",
        [
            ("fg", color()),
            ("bg", color()),
            ("bold", yes_no("Bold.")),
            ("dim", yes_no("Dim.")),
            ("italic", yes_no("Italic.")),
            ("underline", yes_no("Underlined.")),
            ("strike", yes_no("Struck out.")),
            ("inverse", yes_no("With its colours turned.")),
        ],
    );
    // A class is a word, except for colours that a program printed, which need their values.
    let class = any_of([one_of("What it is.", CLASSES), object("Coloured.", [("ansi", ansi)])]);
    list(object("A piece of a line.", [("class", class), ("text", text("The text; it holds no control characters."))]))
}

fn elided() -> Value {
    object(
        "The omitted part.",
        [
            ("shown", count("Included amount.")),
            ("total", count("Total amount.")),
            ("unit", one_of("The unit.", ["lines", "bytes", "items"])),
            // Agents shorten long outputs themselves; then the rest is not in the log either.
            ("kept", yes_no("The rest is in the log.")),
        ],
    )
}

/// A block, by its kind: one schema per kind of [`tooltrail_view::Block`].
fn block() -> Value {
    any_of(text_blocks().into_iter().chain(list_blocks()).chain(frame_blocks()))
}

/// The field that names the kind of a block, by which clients tell the schemas apart.
fn kind(kind: &str) -> (&'static str, Value) {
    ("block", only(kind))
}

/// A line of text with its colours.
fn a_line() -> Value {
    named("Line")
}

fn lines() -> Value {
    list(a_line())
}

/// The field that says how much of a long block was left out.
fn left_out() -> (&'static str, Value) {
    ("elided", maybe(named("Elided")))
}

/// Blocks that show a text or an image.
fn text_blocks() -> Vec<Value> {
    let [media, data, source, size, bytes] = image();
    vec![
        object(
            "Code, or any text whose lines count.",
            [
                kind("code"),
                ("language", maybe(text("The language."))),
                ("first", maybe(count("The number of the first line."))),
                ("lines", lines()),
                left_out(),
            ],
        ),
        object("What changed in a file.", [kind("diff"), ("path", maybe(a_line())), ("hunks", list(hunk())), left_out()]),
        object(
            "What a program printed.",
            [kind("terminal"), ("command", lines()), ("lines", lines()), ("gap", maybe(count("Where lines were left out."))), left_out()],
        ),
        object("Prose.", [kind("markdown"), ("text", text("Markdown.")), left_out()]),
        object("An image.", [kind("image"), media, data, source, size, bytes, ("alt", a_line())]),
    ]
}

/// Blocks that show several things of a kind.
fn list_blocks() -> Vec<Value> {
    vec![
        object("A table.", [kind("table"), ("head", lines()), ("rows", list(lines())), left_out()]),
        object("Names and values.", [kind("fields"), ("fields", list(tuple([a_line(), a_line()])))]),
        object("Things to do.", [kind("todos"), ("items", list(todo()))]),
        object("Questions to the person.", [kind("questions"), ("questions", list(question()))]),
        object("Pages of the web.", [kind("links"), ("links", list(link()))]),
        object("Files, by directory.", [kind("files"), ("groups", list(tuple([a_line(), lines()]))), left_out()]),
        object("JSON, laid out.", [kind("json"), ("lines", lines()), left_out()]),
    ]
}

/// Blocks that stand beside or around others.
fn frame_blocks() -> Vec<Value> {
    vec![
        object("A remark.", [kind("notice"), ("level", one_of("The level.", ["info", "warning", "error"])), ("text", a_line())]),
        object(
            "What a subagent did.",
            [
                kind("nested"),
                ("thread", count("Its conversation.")),
                ("calls", count("How many calls it made.")),
                ("failed", count("How many failed.")),
            ],
        ),
        // The only block with blocks in it: the reference makes the schema recursive.
        object(
            "A part with a name.",
            [kind("section"), ("label", a_line()), ("open", yes_no("Whether it is open.")), ("body", list(named("Block")))],
        ),
    ]
}

fn hunk() -> Value {
    // Either number is null where the line is only on the other side.
    let hunk_line = object(
        "A line of a difference.",
        [
            ("sign", one_of("What becomes of it.", ["same", "added", "removed"])),
            ("old", maybe(count("Its number before."))),
            ("new", maybe(count("Its number after."))),
            ("line", a_line()),
        ],
    );
    object("A place that changes.", [("context", maybe(a_line())), ("lines", list(hunk_line))])
}

fn todo() -> Value {
    object(
        "A thing to do.",
        [("state", one_of("Its state.", ["open", "active", "done", "dropped"])), ("text", a_line()), ("change", maybe(a_line()))],
    )
}

fn question() -> Value {
    // An option is a tuple, as the renderer writes it: label, explanation, choice.
    let option = tuple([a_line(), maybe(a_line()), yes_no("Whether it was chosen.")]);
    object(
        "A question to the person.",
        [
            ("header", maybe(a_line())),
            ("text", a_line()),
            ("multiple", yes_no("More than one answer may be chosen.")),
            ("options", list(option)),
            ("free", lines()),
            ("unanswered", maybe(a_line())),
        ],
    )
}

fn link() -> Value {
    object(
        "A page of the web.",
        [("title", a_line()), ("url", maybe(text("Its address."))), ("place", a_line()), ("snippet", maybe(a_line()))],
    )
}

fn view() -> Value {
    let head = object(
        "The call in one line.",
        [("icon", text("A sign for the kind of tool.")), ("name", named("Line")), ("title", named("Line")), ("facts", list(named("Line")))],
    );
    object("Its view.", [("head", head), ("body", list(named("Block")))])
}
