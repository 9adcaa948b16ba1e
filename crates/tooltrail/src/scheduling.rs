//! `keep schedule`: `keep now` once a day, by the system's own scheduler: a systemd user timer, a launchd agent or a scheduled task.

use crate::cli::LogArgs;
use crate::commands::keep::printed;
use crate::{directories, out};
use anyhow::{Context, bail};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use tooltrail_formats::Places;

/// The name of the job, which nothing else has.
const NAME: &str = "tooltrail-keep";

/// A job of the system's scheduler.
#[derive(Debug, PartialEq, Eq)]
struct Schedule {
    /// Files to write.
    files: Vec<(PathBuf, String)>,
    /// Commands to run afterwards.
    commands: Vec<Vec<String>>,
}

/// What the job runs.
struct Job {
    words: Vec<String>,
    variables: Vec<(String, String)>,
}

/// Prints the job, or sets it up.
pub(crate) fn schedule(args: &LogArgs, install: bool) -> anyhow::Result<ExitCode> {
    let home = directories::home().context("no home directory to set up a schedule in")?;
    let job = Job::of(args)?;
    let schedule = match std::env::consts::OS {
        "macos" => launchd(&home, &job),
        "windows" => task(&job),
        "linux" => systemd(&directories::variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")), &job),
        system => bail!("unknown scheduler on {system}; have it run `tooltrail keep now` once a day"),
    };
    let mut out = out::stdout(args.color.as_str());
    if install {
        schedule.install()?;
        writeln!(out, "`tooltrail keep now` now runs once a day")?;
    }
    for (path, text) in &schedule.files {
        match install {
            true => writeln!(out, "wrote {}", printed(path))?,
            false => writeln!(out, "# {}\n{text}", path.display())?,
        }
    }
    if !install {
        schedule.commands.iter().try_for_each(|words| writeln!(out, "{}", shell(words)))?;
        writeln!(out, "# `tooltrail keep schedule --install` sets this up")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

impl Job {
    fn of(args: &LogArgs) -> anyhow::Result<Self> {
        let text = |path: &Path| path.to_str().map(str::to_owned).with_context(|| format!("`{}` is not valid UTF-8", path.display()));
        let mut words = vec![text(&std::env::current_exe()?)?, "keep".to_owned(), "now".to_owned()];
        for root in &args.root {
            words.extend(["--root".to_owned(), text(&std::path::absolute(root)?)?]);
        }
        // The scheduler has another environment, in which the places would be others.
        let mut variables = Vec::new();
        for name in Places::variables().into_iter().chain(["TOOLTRAIL_DATA", "XDG_DATA_HOME"]) {
            if let Some(value) = directories::variable(name) {
                variables.push((name.to_owned(), text(&value)?));
            }
        }
        if words.iter().chain(variables.iter().map(|(_, value)| value)).any(|text| text.contains(char::is_control)) {
            bail!("a path contains control characters, which the scheduler may misread");
        }
        Ok(Job { words, variables })
    }
}

impl Schedule {
    fn install(&self) -> anyhow::Result<()> {
        for (path, text) in &self.files {
            let directory = path.parent().context("it has no directory")?;
            fs::create_dir_all(directory).with_context(|| format!("cannot create the directory {}", printed(directory)))?;
            fs::write(path, text).with_context(|| format!("cannot write {}", printed(path)))?;
        }
        for words in &self.commands {
            let Some((program, rest)) = words.split_first() else { continue };
            let output = Command::new(program).args(rest).output();
            let output = output.with_context(|| format!("cannot run `{}`", shell(words)))?;
            if !output.status.success() {
                bail!("`{}` failed: {}", shell(words), String::from_utf8_lossy(&output.stderr).trim());
            }
        }
        Ok(())
    }
}

fn systemd(config: &Path, job: &Job) -> Schedule {
    // `%` and `$` mean something in a unit, and so do quotes.
    let quoted = |text: &str| {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
        format!("\"{text}\"")
    };
    let words: Vec<String> = job.words.iter().map(|word| quoted(&word.replace('$', "$$"))).collect();
    let variables: String =
        job.variables.iter().map(|(name, value)| format!("Environment={}\n", quoted(&format!("{name}={value}")))).collect();
    let service = format!(
        "[Unit]\nDescription=Keep the logs of coding agents\n\n[Service]\nType=oneshot\n{variables}ExecStart={}\n",
        words.join(" ")
    );
    // Persistent: a day on which the machine was off is made up for.
    let timer = "[Unit]\nDescription=Keep the logs of coding agents every day\n\n\
                 [Timer]\nOnCalendar=daily\nPersistent=true\nRandomizedDelaySec=15min\n\n[Install]\nWantedBy=timers.target\n";
    let directory = config.join("systemd/user");
    let systemctl = |words: &[&str]| ["systemctl", "--user"].iter().chain(words).map(|word| (*word).to_owned()).collect();
    Schedule {
        files: vec![(directory.join(format!("{NAME}.service")), service), (directory.join(format!("{NAME}.timer")), timer.to_owned())],
        commands: vec![systemctl(&["daemon-reload"]), systemctl(&["enable", "--now", &format!("{NAME}.timer")])],
    }
}

fn launchd(home: &Path, job: &Job) -> Schedule {
    let text = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let words: String = job.words.iter().map(|word| format!("    <string>{}</string>\n", text(word))).collect();
    let variables: String =
        job.variables.iter().map(|(name, value)| format!("    <key>{name}</key>\n    <string>{}</string>\n", text(value))).collect();
    let path = home.join(format!("Library/LaunchAgents/{NAME}.plist"));
    let plist = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>{NAME}</string>\n  <key>ProgramArguments</key>\n  <array>\n{words}  \
         </array>\n  <key>EnvironmentVariables</key>\n  <dict>\n{variables}  </dict>\n  <key>StartCalendarInterval</key>\n  <dict>\n    \
         <key>Hour</key>\n    <integer>12</integer>\n    <key>Minute</key>\n    <integer>0</integer>\n  </dict>\n</dict>\n</plist>\n"
    );
    let load = ["launchctl", "load", "-w"].map(str::to_owned).into_iter().chain([path.display().to_string()]).collect();
    Schedule { files: vec![(path, plist)], commands: vec![load] }
}

fn task(job: &Job) -> Schedule {
    // A task inherits the environment of its user, so variables that are set for the user need not be repeated.
    let line: Vec<String> = job.words.iter().map(|word| format!("\"{word}\"")).collect();
    let words = ["schtasks", "/Create", "/F", "/SC", "DAILY", "/ST", "12:00", "/TN", NAME, "/TR"];
    let words = words.iter().map(|word| (*word).to_owned()).chain([line.join(" ")]).collect();
    Schedule { files: Vec::new(), commands: vec![words] }
}

/// A command as a shell takes it.
fn shell(words: &[String]) -> String {
    let plain = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=".contains(c));
    let quoted = |word: &String| if plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        let words = ["/opt/a b/tool$trail", "keep", "now", "--root", "/srv/50%\"<&>"].map(str::to_owned).to_vec();
        Job { words, variables: vec![("TOOLTRAIL_DATA".to_owned(), "/srv/50% data".to_owned())] }
    }

    #[test]
    fn a_systemd_timer_runs_it_every_day() {
        let schedule = systemd(Path::new("/home/ada/.config"), &job());
        let [(service, text), (timer, calendar)] = schedule.files.as_slice() else { panic!("{schedule:?}") };
        assert_eq!(service, Path::new("/home/ada/.config/systemd/user/tooltrail-keep.service"));
        assert!(text.contains("ExecStart=\"/opt/a b/tool$$trail\" \"keep\" \"now\" \"--root\" \"/srv/50%%\\\"<&>\"\n"), "{text}");
        assert!(text.contains("Environment=\"TOOLTRAIL_DATA=/srv/50%% data\"\n"), "{text}");
        assert!(timer.ends_with("tooltrail-keep.timer") && calendar.contains("OnCalendar=daily\nPersistent=true"));
        assert_eq!(schedule.commands[1].join(" "), "systemctl --user enable --now tooltrail-keep.timer");
    }

    #[test]
    fn a_launchd_agent_and_a_task_name_the_same_command() {
        let schedule = launchd(Path::new("/Users/ada"), &job());
        let (path, text) = &schedule.files[0];
        assert_eq!(path, Path::new("/Users/ada/Library/LaunchAgents/tooltrail-keep.plist"));
        assert!(text.contains("<string>/srv/50%\"&lt;&amp;&gt;</string>") && text.contains("<key>TOOLTRAIL_DATA</key>"), "{text}");
        let task = task(&Job { words: vec!["C:\\a b\\tooltrail.exe".to_owned(), "keep".to_owned()], variables: Vec::new() });
        assert_eq!(task.commands[0].last().map(String::as_str), Some("\"C:\\a b\\tooltrail.exe\" \"keep\""));
        assert_eq!(shell(&task.commands[0]).rsplit(" /TR ").next(), Some("'\"C:\\a b\\tooltrail.exe\" \"keep\"'"));
    }
}
