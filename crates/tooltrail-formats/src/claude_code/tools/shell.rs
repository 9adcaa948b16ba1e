//! Commands: Bash and its like, and monitors that run one in the background.

use super::super::content::decoded;
use super::super::markers;
use super::{Told, said};
use serde_json::Value;
use tooltrail_model::Status;
use tooltrail_model::content::{Content, Image};
use tooltrail_model::detail::{Detail, Shell};
use tooltrail_model::verdict::Marker;

/// What a command that prints nothing is said to have printed.
const NOTHING: &str = "completed with no output)";

/// `Bash` and `PowerShell`.
pub(super) fn read(told: &mut Told<'_>) -> Detail {
    let input = &mut told.input;
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
    let printed = markers::background(&told.seen).map(str::to_owned);
    match told.produced.exist() {
        true => structured(told, &mut shell),
        false if printed.is_none() => spoken(told, &mut shell),
        false => {}
    }
    shell.task = shell.task.or(printed.filter(|_| !told.failed));
    Detail::Shell(shell)
}

/// Monitors: a command whose lines are told as they come.
pub(super) fn monitor(told: &mut Told<'_>) -> Detail {
    let task = told.produced.string("taskId");
    let timeout = told.input.number("timeout_ms").or(told.produced.number("timeoutMs"));
    told.produced.drop(&["timeoutMs"]);
    let Detail::Shell(shell) = read(told) else { return Detail::Other };
    Detail::Shell(Shell { background: true, stdout: None, task: shell.task.or(task), timeout_ms: shell.timeout_ms.or(timeout), ..shell })
}

/// What `toolUseResult` says.
fn structured(told: &mut Told<'_>, shell: &mut Shell) {
    let produced = &mut told.produced;
    shell.stdout = produced.string("stdout");
    shell.stderr = produced.string("stderr").filter(|text| !text.is_empty());
    shell.note = produced.string("returnCodeInterpretation");
    shell.task = produced.string("backgroundTaskId");
    shell.interrupted = produced.flag("interrupted");
    shell.git = produced.take("gitOperation", git).unwrap_or_default();
    if produced.flag("isImage") {
        let printed = shell.stdout.take().and_then(|url| data_url(&url));
        shell.image = printed.or_else(|| told.ask.seen.iter().find_map(image));
    }
    produced.drop(&["noOutputExpected", "exitCode"]);
    // What was printed until then is no message of a failure.
    told.error = told.error.take().filter(|_| told.failed && shell.stdout.is_none());
}

/// What the text says, where there is nothing else: the output behind the exit code, unless the command never ran.
fn spoken(told: &mut Told<'_>, shell: &mut Shell) {
    if !told.ask.answered {
        return;
    }
    shell.image = told.ask.seen.iter().find_map(image);
    if !told.failed {
        let nothing = told.seen.starts_with('(') && told.seen.ends_with(NOTHING);
        shell.stdout = Some(if nothing { String::new() } else { told.seen.clone() }).filter(|_| shell.image.is_none());
        return;
    }
    let text = said::unwrapped(&told.seen);
    let output = markers::exit_code(text).map(|(_, rest)| rest.strip_prefix('\n').unwrap_or(rest));
    let ran = matches!(told.ask.status, Status::Failed | Status::TimedOut | Status::Interrupted);
    match told.marker() {
        Some(Marker::Timeout) => {
            // The limit is the message; what follows was printed before it was reached.
            let whole = output.unwrap_or(text);
            let (limit, printed) = whole.split_once('\n').unwrap_or((whole, ""));
            told.error = Some(limit.trim().to_owned());
            shell.stdout = Some(printed.to_owned());
        }
        // Older versions leave out the exit code; the text is what was printed all the same.
        marker if output.is_some() || (ran && marker.is_none()) => {
            shell.stdout = Some(output.unwrap_or(text).to_owned());
            told.error = None;
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

/// Commits, pushes and the like: what, and which.
fn git(value: &Value) -> Option<Vec<(String, String)>> {
    let words = ["kind", "action", "number", "sha", "ref", "branch", "url"];
    let which = |fields: &Value| {
        let found = words.iter().filter_map(|key| fields.get(key)).filter_map(super::fields::name);
        found.collect::<Vec<_>>().join(" ")
    };
    Some(value.as_object()?.iter().map(|(what, fields)| (what.clone(), which(fields))).collect())
}
