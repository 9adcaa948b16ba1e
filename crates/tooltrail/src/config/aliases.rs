//! Aliases: command lines under a name of one's own.

use super::Config;
use super::values::texts;
use crate::cli::Cli;
use clap::CommandFactory;
use std::ffi::OsString;
use toml::de::DeValue;

/// The most words that an alias may stand for.
const LONGEST: usize = 100;

/// Sets an alias.
pub(super) fn set(config: &mut Config, name: &str, value: &DeValue<'_>) -> Result<(), String> {
    let words = texts(value).map_err(|_| "is a list of texts, as in `[\"calls\", \"status:failed\"]`".to_owned())?;
    let Some(first) = words.first().filter(|_| words.len() <= LONGEST) else {
        return Err(format!("has a command and at most {} arguments", LONGEST - 1));
    };
    // A command that means something else on another machine would be a trap.
    if is_command(name) {
        return Err("is the name of a command".to_owned());
    }
    if !name.starts_with(char::is_alphanumeric) || name.contains(char::is_whitespace) {
        return Err("begins with a letter and has no spaces".to_owned());
    }
    // Options may come before the command; which word is the command then, only the parser of arguments knows.
    if !first.starts_with('-') && !is_command(first) {
        return Err(format!("begins with `{first}`, which is no command; an alias cannot begin with an alias"));
    }
    config.aliases.insert(name.to_owned(), words);
    Ok(())
}

fn is_command(name: &str) -> bool {
    // The parser adds `help` only when it reads arguments, so it is not among the subcommands here.
    name == "help"
        || Cli::command()
            .get_subcommands()
            .any(|command| command.get_name() == name || command.get_all_aliases().any(|other| other == name))
}

/// A command line in which an alias is replaced by what it stands for. Only the first word may be one.
pub(crate) fn expanded(arguments: impl Iterator<Item = OsString>, config: &Config) -> Vec<OsString> {
    let mut all: Vec<OsString> = arguments.collect();
    let found = all.get(1).and_then(|word| word.to_str()).and_then(|word| config.aliases.get(word));
    if let Some(words) = found {
        all.splice(1..2, words.iter().map(OsString::from));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_may_be_an_alias() {
        let config = Config::parse("[alias]\nfails = [\"calls\", \"status:failed\"]\n").unwrap();
        let line = |words: &[&str]| expanded(words.iter().map(OsString::from), &config);
        assert_eq!(line(&["tooltrail", "fails", "-n", "3"]), ["tooltrail", "calls", "status:failed", "-n", "3"]);
        assert_eq!(line(&["tooltrail", "search", "fails"]), ["tooltrail", "search", "fails"]);
        assert_eq!(line(&["tooltrail"]), ["tooltrail"]);
    }

    #[test]
    fn an_alias_hides_no_command_and_leads_to_one() {
        let wrong = |text: &str| Config::parse(text).unwrap_err().to_string();
        assert_eq!(wrong("[alias]\nshow = [\"list\"]"), "line 2: `alias.show` is the name of a command");
        assert_eq!(
            wrong("[alias]\nx = [\"y\"]"),
            "line 2: `alias.x` begins with `y`, which is no command; an alias cannot begin with an alias"
        );
        assert_eq!(wrong("[alias]\nx = []"), "line 2: `alias.x` has a command and at most 99 arguments");
        assert_eq!(wrong("[alias]\nx = \"list\""), "line 2: `alias.x` is a list of texts, as in `[\"calls\", \"status:failed\"]`");
    }
}
