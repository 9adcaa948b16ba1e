//! Words that several pages share: how long ago, which project, which state.

use tooltrail_model::Time;
use tooltrail_model::row::SessionRow;

/// How long ago something was, roughly: `3 m`, `2 h`, `5 d`.
pub(crate) fn ago(now: Time, then: Time) -> String {
    let seconds = (then.micros_until(now) / 1_000_000).max(0);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} m", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A time of the contracts.
pub(crate) fn time(text: Option<&str>) -> Option<Time> {
    text?.parse().ok()
}

/// The last part of a project's path, whichever system it comes from.
pub(crate) fn project_name(path: &str) -> &str {
    let trimmed = path.trim_end_matches(['/', '\\']);
    trimmed.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// What a session is called: its title, or that it has none.
pub(crate) fn title<'a>(row: &SessionRow<'a>) -> &'a str {
    row.title.filter(|title| !title.trim().is_empty()).unwrap_or("(no title)")
}

/// A state in words.
pub(crate) fn state(row: &SessionRow<'_>) -> &'static str {
    match row.state {
        Some("working") => "working",
        Some("asks") => "asks you",
        Some("waiting") => "waits for you",
        Some("your_turn") => "your turn",
        _ => "ended",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_are_named_by_the_end_of_their_path() {
        for (path, name) in [
            ("/srv/app", "app"),
            ("/srv/app/", "app"),
            ("C:\\Users\\me\\web", "web"),
            ("/", "/"),
            ("\\\\wsl$\\Ubuntu\\home\\me\\x", "x"),
            ("", ""),
        ] {
            assert_eq!(project_name(path), name, "{path}");
        }
    }

    #[test]
    fn ages_are_told_roughly() {
        let at = |text: &str| text.parse::<Time>().unwrap();
        let now = at("2026-03-04T12:00:00Z");
        for (then, said) in [
            ("2026-03-04T11:59:30Z", "30 s"),
            ("2026-03-04T11:00:01Z", "59 m"),
            ("2026-03-03T12:00:01Z", "23 h"),
            ("2026-03-01T00:00:00Z", "3 d"),
            ("2026-03-04T13:00:00Z", "0 s"),
        ] {
            assert_eq!(ago(now, at(then)), said);
        }
    }
}
