//! Settings of a session in words: the agent's version, the permission mode and its changes, work of the model's service.
//!
//! ```text
//! claude 2.1.250
//! permission mode: plan, accept edits from turn 3
//! 2 web searches
//! ```

use crate::head::counted;
use tooltrail_model::transcript::{PermissionChange, SessionSettings, Transcript};

/// Most permission modes that are named one by one.
const MODES: usize = 4;

/// The agent with its version: `claude 2.1.250`, `claude 2.1.22 to 2.1.26`.
pub(crate) fn agent(transcript: &Transcript<'_>) -> String {
    let agent = transcript.session.agent;
    match transcript.settings.versions.as_slice() {
        [] => agent.to_owned(),
        [only] => format!("{agent} {only}"),
        [first, .., last] if first == last => format!("{agent} {first}"),
        [first, .., last] => format!("{agent} {first} to {last}"),
    }
}

/// Permission modes in order; `None` where the session kept the agent's usual one.
pub(crate) fn permissions(settings: &SessionSettings) -> Option<String> {
    let modes = settings.permissions.as_slice();
    if modes.iter().all(|change| change.mode.usual) {
        return None;
    }
    // One more than the limit is no reason to cut: the remark would take as much space.
    let shown = if modes.len() > MODES + 1 { MODES } else { modes.len() };
    let mut words: Vec<String> = modes.iter().take(shown).enumerate().map(mode).collect();
    if modes.len() > shown {
        words.push(counted((modes.len() - shown) as u64, "more change"));
    }
    Some(words.join(", "))
}

/// A mode, and where it began.
fn mode((place, change): (usize, &PermissionChange)) -> String {
    let words = &change.mode.words;
    match change.turn.filter(|turn| place > 0 || *turn > 0) {
        Some(turn) => format!("{words} from turn {}", turn + 1),
        None => words.clone(),
    }
}

/// Searches and fetches of the model's service: `2 web searches, 1 web fetch`.
pub(crate) fn server_tools([searches, fetches]: [u64; 2]) -> Option<String> {
    let told = [(searches, "web search"), (fetches, "web fetch")];
    let told: Vec<String> = told.iter().filter(|(number, _)| *number > 0).map(|(number, word)| counted(*number, word)).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tooltrail_model::transcript::PermissionMode;

    fn modes(modes: &[(&str, Option<usize>)]) -> SessionSettings {
        let change = |(words, turn): &(&str, Option<usize>)| PermissionChange {
            mode: PermissionMode { words: (*words).to_owned(), usual: *words == "default" },
            turn: *turn,
        };
        SessionSettings { permissions: modes.iter().map(change).collect(), ..SessionSettings::default() }
    }

    #[test]
    fn the_usual_mode_is_not_worth_a_word() {
        assert_eq!(permissions(&modes(&[])), None);
        assert_eq!(permissions(&modes(&[("default", Some(0))])), None);
        assert_eq!(permissions(&modes(&[("plan", Some(0))])).as_deref(), Some("plan"));
        let changed = modes(&[("default", None), ("accept edits", Some(2)), ("default", Some(4))]);
        assert_eq!(permissions(&changed).as_deref(), Some("default, accept edits from turn 3, default from turn 5"));
        let many: Vec<(&str, Option<usize>)> = (0..9).map(|turn| (if turn % 2 == 0 { "plan" } else { "auto" }, Some(turn))).collect();
        let many = permissions(&modes(&many)).unwrap_or_default();
        assert_eq!(many, "plan, auto from turn 2, plan from turn 3, auto from turn 4, 5 more changes");
    }

    #[test]
    fn work_of_the_service_is_counted() {
        assert_eq!(server_tools([0, 0]), None);
        assert_eq!(server_tools([2, 1]).as_deref(), Some("2 web searches, 1 web fetch"));
    }
}
