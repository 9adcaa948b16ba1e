//! One argument of a command line as a query. A shell has separated arguments already, so a value with spaces needs no
//! quotes of its own: `'command:git push'`.

use super::either::OR;
use super::lex;
use super::parse::is_term;

/// Keys whose values run to the next term of their argument: names that often have spaces.
const RUNNING: &[&str] = &["command", "project", "branch", "file"];

/// An argument as a query: spaces inside the value of `command:`, `project:`, `branch:` or `file:` become part of the value.
/// Anything else stays as it is.
pub fn argument(argument: &str) -> String {
    // What is wrong with it is said when it is parsed.
    let Ok(words) = lex::words(argument) else { return argument.to_owned() };
    let mut query = String::with_capacity(argument.len() + 8);
    let (mut end, mut running) = (0, false);
    for word in &words {
        let at = word.piece().at;
        let (Some(space), Some(text)) = (argument.get(end..at.start), argument.get(at.clone())) else { return argument.to_owned() };
        if is_term(text) || text == OR {
            running = begins(text);
            query.push_str(space);
        } else if running {
            // Only the space is quoted, so that wildcards beside it keep their meaning.
            query.push('"');
            query.push_str(space);
            query.push('"');
        } else {
            query.push_str(space);
        }
        query.push_str(text);
        end = at.end;
    }
    query.push_str(argument.get(end..).unwrap_or_default());
    query
}

/// Whether a term has a value that may go on behind the next space. A value in quotes is complete.
fn begins(term: &str) -> bool {
    let mut term = term;
    while let Some(rest) = term.strip_prefix(['-', '!']).or_else(|| prefix(term, "not")) {
        term = rest;
    }
    RUNNING.iter().filter_map(|key| prefix(term, key)).any(|value| !value.is_empty() && !value.contains('"'))
}

/// The value behind a key and its colon.
fn prefix<'t>(term: &'t str, key: &str) -> Option<&'t str> {
    let (name, value) = term.split_once(':')?;
    name.eq_ignore_ascii_case(key).then_some(value)
}
