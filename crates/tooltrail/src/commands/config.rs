//! `config`: the configuration as it holds, or a file to begin with.

use crate::config::{ALIAS, Config, KEYS};
use crate::{directories, out};
use anyhow::{Context, bail};
use clap::Args;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tooltrail config            every key, with its value or its default
  tooltrail config --init     write a file in which every key is a comment
  tooltrail config --path     where the file is
  $EDITOR \"$(tooltrail config --path)\"";

/// Arguments of `config`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConfigArgs {
    /// Write a configuration file in which every key is a comment; one that exists is left alone
    #[arg(long, conflicts_with = "path")]
    init: bool,
    /// Print only the path of the file
    #[arg(long)]
    path: bool,
}

pub(crate) fn run(own: &ConfigArgs) -> anyhow::Result<ExitCode> {
    let path = directories::config().context("no home directory; set TOOLTRAIL_CONFIG to a file")?;
    if own.init {
        return init(&path);
    }
    let mut stdout = out::data();
    // Before the file is read: who made a mistake in it needs its path to correct it.
    if own.path {
        writeln!(stdout, "{}", path.display())?;
        return Ok(ExitCode::SUCCESS);
    }
    let config = Config::read()?;
    let missing = if path.exists() { "" } else { " (not there; `tooltrail config --init` writes it)" };
    writeln!(stdout, "# {}{missing}", path.display())?;
    stdout.write_all(text(&config).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a file to begin with.
fn init(path: &Path) -> anyhow::Result<ExitCode> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).with_context(|| format!("cannot make `{}`", directory.display()))?;
    }
    // Never over one that somebody wrote.
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    match file {
        Ok(mut file) => {
            file.write_all(text(&Config::default()).as_bytes()).with_context(|| format!("cannot write `{}`", path.display()))?
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => bail!("`{}` exists already; edit it", path.display()),
        Err(error) => return Err(error).with_context(|| format!("cannot write `{}`", path.display())),
    }
    out::remark(&format!("wrote {}; remove the `#` of a key to set it", path.display()));
    Ok(ExitCode::SUCCESS)
}

/// All keys as a configuration file: those that are set as they are written, the others as comments with their default.
fn text(config: &Config) -> String {
    let mut text = String::new();
    let mut table = "";
    for key in KEYS {
        // The keys of a table stand together in `KEYS`: a table that is written twice is an error in TOML.
        if key.table != table {
            table = key.table;
            let _ = write!(text, "\n[{table}]\n");
        }
        let _ = writeln!(text, "# {}", key.about);
        let _ = match config.written.get(&format!("{table}.{}", key.name)) {
            Some(value) => writeln!(text, "{} = {value}", key.name),
            None => writeln!(text, "# {} = {}", key.name, key.usual),
        };
    }
    let _ =
        write!(text, "\n[{ALIAS}]\n# commands under a name of your own: `tooltrail fails` runs `tooltrail calls status:failed since:1d`\n");
    if config.aliases.is_empty() {
        text.push_str("# fails = [\"calls\", \"status:failed\", \"since:1d\"]\n");
    }
    for name in config.aliases.keys() {
        let value = config.written.get(&format!("{ALIAS}.{name}")).map(String::as_str).unwrap_or_default();
        let _ = writeln!(text, "{name} = {value}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let config = Config::parse(&text(&Config::default())).unwrap();
        assert!(config.written.is_empty());
        let uncommented: String = text(&Config::default())
            .lines()
            .map(|line| line.strip_prefix("# ").filter(|line| line.contains(" = ")).unwrap_or(line))
            .fold(String::new(), |all, line| all + line + "\n");
        let all = Config::parse(&uncommented).unwrap();
        assert_eq!(all.written.len(), KEYS.len() + 1, "{uncommented}");
    }
}
