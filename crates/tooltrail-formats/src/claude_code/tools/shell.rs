//! Commands: Bash and its like, and monitors that run one in the background.

use super::super::content::decoded;
use super::super::markers;
use super::{ToolCall, files, result_text};
use serde_json::Value;
use tooltrail_model::Status;
use tooltrail_model::changes::ObservedFiles;
use tooltrail_model::content::{Content, Image};
use tooltrail_model::detail::{Detail, Shell};
use tooltrail_model::patch::{FileChange, FilePatch};
use tooltrail_model::verdict::Marker;

/// The end of the remark about a command that printed nothing.
const NOTHING: &str = "completed with no output)";

/// `Bash` and `PowerShell`.
pub(super) fn read(call: &mut ToolCall<'_>) -> Detail {
    let input = &mut call.input;
    let mut shell = Shell {
        command: input.string("command").unwrap_or_default(),
        description: input.string("description"),
        background: input.flag("run_in_background"),
        timeout_ms: input.number("timeout"),
        ..Shell::default()
    };
    if input.flag("dangerouslyDisableSandbox") {
        shell.unsandboxed = Some("asked to run outside the sandbox".to_owned());
    }
    let printed = markers::background(&call.seen).map(str::to_owned);
    match call.produced.exist() {
        true => structured(call, &mut shell),
        // A command that went to the background printed nothing yet; the text is about the task.
        false if printed.is_none() => spoken(call, &mut shell),
        false => {}
    }
    shell.task = shell.task.or(printed.filter(|_| !call.failed));
    Detail::Shell(shell)
}

/// Monitors: a command whose lines are reported as they come.
pub(super) fn monitor(call: &mut ToolCall<'_>) -> Detail {
    let task = call.produced.string("taskId");
    let timeout = call.input.number("timeout_ms").or(call.produced.number("timeoutMs"));
    call.produced.drop(&["timeoutMs"]);
    let Detail::Shell(shell) = read(call) else { return Detail::Other };
    Detail::Shell(Shell { background: true, stdout: None, task: shell.task.or(task), timeout_ms: shell.timeout_ms.or(timeout), ..shell })
}

/// Takes over the fields of `toolUseResult`.
fn structured(call: &mut ToolCall<'_>, shell: &mut Shell) {
    let produced = &mut call.produced;
    shell.stdout = produced.string("stdout");
    shell.stderr = produced.string("stderr").filter(|text| !text.is_empty());
    shell.note = produced.string("returnCodeInterpretation");
    shell.task = produced.string("backgroundTaskId");
    shell.interrupted = produced.flag("interrupted");
    shell.git = produced.take("gitOperation", git).unwrap_or_default();
    shell.observed = produced.take("bashEditDiff", observed);
    if produced.flag("isImage") {
        // A picture on stdout comes as a data URL, which is no text to show.
        let printed = shell.stdout.take().and_then(|url| data_url(&url));
        shell.image = printed.or_else(|| call.ask.seen.iter().find_map(image));
    }
    produced.drop(&["noOutputExpected", "exitCode"]);
    // Output up to a failure is no message of it.
    call.error = call.error.take().filter(|_| call.failed && shell.stdout.is_none());
}

/// Takes over a result that is text: the output behind the exit code, unless the command never ran.
fn spoken(call: &mut ToolCall<'_>, shell: &mut Shell) {
    if !call.ask.answered {
        return;
    }
    shell.image = call.ask.seen.iter().find_map(image);
    if !call.failed {
        let nothing = call.seen.starts_with('(') && call.seen.ends_with(NOTHING);
        shell.stdout = Some(if nothing { String::new() } else { call.seen.clone() }).filter(|_| shell.image.is_none());
        return;
    }
    let text = result_text::unwrapped(&call.seen);
    let output = markers::exit_code(text).map(|(_, rest)| rest.strip_prefix('\n').unwrap_or(rest));
    let ran = matches!(call.ask.status, Status::Failed | Status::TimedOut | Status::Interrupted);
    match call.marker() {
        Some(Marker::Timeout) => {
            // The limit is the message; the rest was printed before it was reached.
            let whole = output.unwrap_or(text);
            let (limit, printed) = whole.split_once('\n').unwrap_or((whole, ""));
            call.error = Some(limit.trim().to_owned());
            shell.stdout = Some(printed.to_owned());
        }
        // Without an exit code the text is still the output, if the command ran.
        marker if output.is_some() || (ran && marker.is_none()) => {
            shell.stdout = Some(output.unwrap_or(text).to_owned());
            call.error = None;
        }
        _ => {}
    }
}

/// The picture, if it is one.
fn image(content: &Content) -> Option<Image> {
    if let Content::Image(image) = content { Some(image.clone()) } else { None }
}

/// `data:image/png;base64,…`.
fn data_url(url: &str) -> Option<Image> {
    let (media, data) = url.trim().strip_prefix("data:")?.split_once(";base64,")?;
    Some(Image { media: media.to_owned(), bytes: Some(decoded(data) as u64), data: Some(data.to_owned()), ..Image::default() })
}

/// `bashEditDiff`: what changed below the working directory between two looks at it, by whatever process.
fn observed(value: &Value) -> Option<ObservedFiles> {
    let fields = value.as_object()?;
    let list = |key: &str| fields.get(key).and_then(Value::as_array).into_iter().flatten();
    let file = |file: &Value| {
        let flag = |key: &str| file.get(key).and_then(Value::as_bool).unwrap_or(false);
        let change = match (flag("created"), flag("deleted")) {
            (true, _) => FileChange::Add,
            (_, true) => FileChange::Delete,
            _ => FileChange::Update,
        };
        let hunks = file.get("hunks").and_then(files::hunks).unwrap_or_default();
        Some(FilePatch { path: file.get("filePath")?.as_str()?.to_owned(), moved_to: None, change, hunks, content: None })
    };
    let known: Vec<FilePatch> = list("files").filter_map(file).collect();
    let others = list("changedFiles").filter_map(Value::as_str).filter(|path| known.iter().all(|file| file.path != *path));
    Some(ObservedFiles {
        others: others.map(str::to_owned).collect(),
        more: fields.get("moreFiles").and_then(Value::as_u64).unwrap_or(0),
        unavailable: match fields.get("unavailable") {
            Some(Value::String(why)) => Some(why.clone()),
            Some(Value::Bool(true)) => Some("unavailable".to_owned()),
            _ => None,
        },
        files: known,
    })
}

/// Commits, pushes and the like: the operation, and its object.
fn git(value: &Value) -> Option<Vec<(String, String)>> {
    let words = ["kind", "action", "number", "sha", "ref", "branch", "url"];
    let which = |fields: &Value| {
        let found = words.iter().filter_map(|key| fields.get(key)).filter_map(super::fields::name);
        found.collect::<Vec<_>>().join(" ")
    };
    Some(value.as_object()?.iter().map(|(what, fields)| (what.clone(), which(fields))).collect())
}
