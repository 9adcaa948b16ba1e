//! Shell commands: most of a log's calls, and the ones with the most to say.

use super::{PlannedCall, Then, ToolReply, ToolScene};
use crate::corpus::ids;
use crate::corpus::pool::BREAK;
use crate::json::{quoted, text_of};

/// Commands with a placeholder for a name; some of them mask the exit code of what they run.
const COMMANDS: &[&str] = &[
    "make @ 2>&1 | tail -40",
    "cargo test -p @ --quiet",
    "npm run @ -- --silent; echo done",
    "git status --short && git diff --stat @",
    "python3 -m pytest tests/@ -q",
    "ls -la @ | head -20",
    "set -e; cd @ && ./check.sh",
    "go vet ./@/... || true",
    "sed -n '1,80p' @.log",
    "docker compose logs @ --tail 200",
];

pub(super) fn bash(scene: &mut ToolScene<'_>) -> PlannedCall {
    let name = scene.pool.words.name(scene.rng);
    let command = scene.rng.pick(COMMANDS).replace('@', &name);
    let description = scene.pool.phrase(scene.rng);
    let input = text_of(|o| {
        o.text("command", &command);
        // Most commands run with the default timeout and do not name one.
        if scene.rng.chance(0.1) {
            o.number("timeout", 120_000);
        }
        o.text("description", &description);
    });
    let reply = outcome(scene);
    PlannedCall::new("Bash", input, reply)
}

fn outcome(scene: &mut ToolScene<'_>) -> ToolReply {
    let (median, spread) = if scene.brief { (5.0, 1.1) } else { (13.0, 1.4) };
    let lines = scene.rng.long_tailed(median, spread);
    let output = scene.pool.console(scene.rng, lines);
    // Per mille, as measured in real logs.
    match scene.rng.below(1000) {
        0..=31 => {
            // 1 is by far the most common exit code.
            let code = scene.rng.pick(&[1, 1, 1, 2, 101, 127]);
            ToolReply { then: Then::CancelSiblings, ..ToolReply::error(&format!("Exit code {code}{BREAK}{output}")) }
        }
        32..=34 => ToolReply::error(&format!("Exit code 143{BREAK}Command timed out after 2m 0.0s {output}")),
        35..=37 => stdout(output, true),
        38..=43 => moved_to_background(&ids::hex(scene.rng, 7)),
        44..=47 => too_large(scene, output),
        _ => stdout(output, false),
    }
}

fn stdout(output: &str, interrupted: bool) -> ToolReply {
    let structured = text_of(|o| {
        o.text("stdout", output).text("stderr", "").flag("interrupted", interrupted).flag("isImage", false).flag("noOutputExpected", false);
    });
    ToolReply::ok(quoted(output), structured)
}

fn moved_to_background(id: &str) -> ToolReply {
    let text = format!("Command running in background with ID: {id}. Output is being written to: /tmp/tasks/{id}.output");
    let structured = text_of(|o| {
        o.text("stdout", "").text("stderr", "").flag("interrupted", false).flag("isImage", false).text("backgroundTaskId", id);
    });
    ToolReply::ok(quoted(&text), structured)
}

fn too_large(scene: &mut ToolScene<'_>, preview: &str) -> ToolReply {
    let path = format!("{}/tool-results/{}.txt", scene.cwd, ids::hex(scene.rng, 9));
    let text = format!(
        "<persisted-output>{BREAK}Output too large (80.4KB). Full output saved to: {path}{BREAK}{BREAK}Preview (first 2KB):{BREAK}{preview}{BREAK}</persisted-output>"
    );
    let structured = text_of(|o| {
        o.text("stdout", preview)
            .text("stderr", "")
            .flag("interrupted", false)
            .flag("isImage", false)
            .text("persistedOutputPath", &path)
            .number("persistedOutputSize", 82_330);
    });
    ToolReply::ok(quoted(&text), structured)
}
