//! `completions`: prints a completion script for a shell.
//!
//! Commands and options come from clap. REFs, filter keys and their values come from the hidden command `__complete`, which the scripts for
//! bash, zsh and fish run: clap's own engine for such completions is not stable yet.

use crate::cli::Cli;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tooltrail completions bash > ~/.local/share/bash-completion/completions/tooltrail
  tooltrail completions zsh > ~/.zfunc/_tooltrail
  tooltrail completions fish > ~/.config/fish/completions/tooltrail.fish";

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    // Into memory first: `generate` panics if it cannot write, as into a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tooltrail", &mut script);
    script.extend_from_slice(dynamic(args.shell).as_bytes());
    std::io::Write::write_all(&mut std::io::stdout().lock(), &script)?;
    Ok(ExitCode::SUCCESS)
}

/// The part of a script that asks the program itself.
fn dynamic(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        _ => "",
    }
}

// bash splits words at colons, so the word is taken from the line, and what stands before its last colon is not repeated.
const BASH: &str = r#"
_tooltrail_words() {
    _tooltrail "$@"
    local line="${COMP_LINE:0:COMP_POINT}"
    local word="${line##*[[:space:]]}" found prefix=""
    local -a before=()
    read -r -a before <<<"${line%"$word"}"
    [[ "$word" == *:* ]] && { prefix="${word%"${word##*:}"}"; COMPREPLY=(); }
    while IFS=$'\t' read -r found _; do
        COMPREPLY+=("${found#"$prefix"}")
        [[ "$found" == *: ]] && compopt -o nospace
    done < <("${COMP_WORDS[0]}" __complete -- "${before[@]:1}" "$word" 2>/dev/null)
}
complete -F _tooltrail_words -o nosort -o bashdefault -o default tooltrail
"#;

const ZSH: &str = r#"
_tooltrail_words() {
    local -a found
    found=(${${(f)"$(tooltrail __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"}%%$'\t'*})
    (( $#found )) && compadd -S '' -a found
    _tooltrail "$@"
}
compdef _tooltrail_words tooltrail
"#;

const FISH: &str = r#"
complete -c tooltrail -a "(tooltrail __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)"
"#;
