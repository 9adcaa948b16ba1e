//! Words and formats that several pages share: times, names of projects, states, problems.

use jiff::tz::TimeZone;
use maud::{Markup, html};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use tooltrail_model::filter::quoted;
use tooltrail_model::row::SessionRow;
use tooltrail_model::{Status, Time};
use tooltrail_view::digest::state_words;
use tooltrail_view::head::{Tone, ago, is_problem};
use tooltrail_view::line::neutral;

/// The user's time zone.
pub(crate) fn zone() -> TimeZone {
    TimeZone::system()
}

/// The clock of the user's time zone, at the time of a snapshot.
pub(crate) struct LocalClock {
    /// The moment.
    pub(crate) now: Time,
    zone: TimeZone,
}

impl LocalClock {
    /// The clock of this machine.
    pub(crate) fn at(now: Time) -> Self {
        LocalClock { now, zone: zone() }
    }

    /// The day of a moment.
    pub(crate) fn date(&self, then: Time) -> jiff::civil::Date {
        self.local(then).date()
    }

    /// How long ago something was, roughly: `3 m`, `2 h`, `5 d`.
    pub(crate) fn ago(&self, then: Time) -> String {
        ago(then, self.now)
    }

    /// How long ago something was, kept up to date by a script.
    pub(crate) fn since(&self, then: Time) -> Markup {
        html! { span data-since=(then.as_millisecond()) { (self.ago(then)) } }
    }

    /// The day of a moment: `Today`, `Yesterday`, `Tuesday 3 March`, `3 March 2025`.
    pub(crate) fn day(&self, then: Time) -> String {
        let (day, today) = (self.local(then).date(), self.local(self.now).date());
        match () {
            () if day == today => "Today".to_owned(),
            () if today.yesterday().is_ok_and(|yesterday| day == yesterday) => "Yesterday".to_owned(),
            () if day.year() == today.year() => day.strftime("%A %-d %B").to_string(),
            () => day.strftime("%-d %B %Y").to_string(),
        }
    }

    /// The day of a moment within a sentence: `yesterday`, `Tuesday 3 March`.
    pub(crate) fn day_within(&self, then: Time) -> String {
        let day = self.day(then);
        if matches!(day.as_str(), "Today" | "Yesterday") { day.to_lowercase() } else { day }
    }

    /// The day of a moment, as a filter has it: `2026-03-04`.
    pub(crate) fn day_word(&self, then: Time) -> String {
        self.local(then).date().to_string()
    }

    /// The time of day: `14:02`.
    pub(crate) fn time(&self, then: Time) -> String {
        self.local(then).strftime("%H:%M").to_string()
    }

    /// A moment as short as possible: the time of today, else the day.
    pub(crate) fn when(&self, then: Time) -> String {
        let (day, today) = (self.local(then).date(), self.local(self.now).date());
        match () {
            () if day == today => self.time(then),
            () if day.year() == today.year() => day.strftime("%-d %b").to_string(),
            () => day.strftime("%Y-%m-%d").to_string(),
        }
    }

    /// The time of day to the second: `14:02:09`.
    pub(crate) fn second(&self, then: Time) -> String {
        self.local(then).strftime("%H:%M:%S").to_string()
    }

    /// Day and time as short as possible: `14:02` of today, `3 Mar 14:02`, `2025-03-03 14:02`.
    pub(crate) fn moment(&self, then: Time) -> String {
        let (day, time) = (self.when(then), self.time(then));
        if day == time { time } else { format!("{day} {time}") }
    }

    /// Day and time in full: `2026-03-04 14:02:09`.
    pub(crate) fn full(&self, then: Time) -> String {
        self.local(then).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    fn local(&self, time: Time) -> jiff::Zoned {
        time.timestamp().to_zoned(self.zone.clone())
    }
}

/// Duration of a session, in milliseconds.
pub(crate) fn lasted(row: &SessionRow<'_>) -> Option<u64> {
    let micros = row.started_at?.micros_until(row.last_at?);
    // Clocks may be set back during a session, so the difference can be negative. Zero means a single record.
    u64::try_from(micros / 1000).ok().filter(|millis| *millis > 0)
}

/// The last part of a path, whichever system it comes from.
pub(crate) fn last_part(path: &str) -> &str {
    // Logs may come from another machine, so both separators are recognised on every system.
    let trimmed = path.trim_end_matches(['/', '\\']);
    trimmed.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// Names of several projects: the last part of the path, or the last two where that is ambiguous.
pub(crate) struct ProjectNames<'p> {
    shared: HashSet<&'p str>,
}

impl<'p> ProjectNames<'p> {
    /// The names of these projects.
    pub(crate) fn of(paths: impl Iterator<Item = &'p str>) -> Self {
        // Deduplicated first: many sessions of one project must not make its name ambiguous.
        let (paths, mut seen): (HashSet<&str>, _) = (paths.collect(), HashSet::new());
        ProjectNames { shared: paths.into_iter().map(last_part).filter(|name| !seen.insert(*name)).collect() }
    }

    /// Name of a project.
    pub(crate) fn name<'a>(&self, path: &'a str) -> &'a str {
        // `longer` gives up where nothing stands above the name, as for a directory below the root.
        let name = last_part(path);
        let longer = || {
            let above = path.trim_end_matches(['/', '\\']).strip_suffix(name)?.trim_end_matches(['/', '\\']);
            path.get(above.len() - last_part(above).len()..).filter(|_| !above.is_empty())
        };
        // The shortest name that is unambiguous among these projects; other pages may need a longer one.
        if self.shared.contains(name) { longer().unwrap_or(name) } else { name }
    }
}

/// Filter terms that select a session. Deleted sessions have to be asked for explicitly.
pub(crate) fn session_term(session: &str, gone: bool) -> String {
    format!("session:{}{}", quoted(session), if gone { " is:gone" } else { "" })
}

/// Filter terms that each select one project: the shortest end of its path that no other project ends with.
///
/// A directory in a filter also means what lies in it and what it lies in, so the whole path is only the last resort.
#[derive(Default)]
pub(crate) struct ProjectTerms<'p> {
    terms: HashMap<&'p str, String>,
    /// The shortest end of each path that no other path ends with.
    ends: HashMap<&'p str, &'p str>,
}

/// Limits on the parts of a path that are compared, and on the other projects that a term excludes.
const PARTS: usize = 8;
const OTHERS: usize = 4;

impl<'p> ProjectTerms<'p> {
    /// The terms of these projects.
    pub(crate) fn of(paths: impl Iterator<Item = &'p str>) -> Self {
        let paths: HashSet<&str> = paths.collect();
        // Filters ignore case and take both kinds of slashes, so the comparison has to as well.
        let plain = |tail: &str| tail.to_lowercase().replace('\\', "/");
        // All ends of all paths are indexed once: comparing every pair of projects would be quadratic.
        let mut ending: HashMap<String, Vec<&str>> = HashMap::new();
        for &path in &paths {
            for tail in tails(path) {
                ending.entry(plain(tail)).or_default().push(path);
            }
        }
        let named = |name: &str| format!("project:{}", quoted(name));
        let term = |path: &'p str| {
            let alone = tails(path).find(|tail| ending.get(&plain(tail)).is_some_and(|all| all.len() == 1));
            // The whole path is the end of another project's path, so the other one is excluded by a longer end.
            let longest = || tails(path).last().filter(|tail| tail.len() + 1 == path.trim_end_matches(['/', '\\']).len());
            let without = |tail: &str| {
                let others = ending.get(&plain(tail))?.iter().filter(|other| **other != path);
                let others: Vec<String> =
                    others.filter_map(|other| tails(other).find(|longer| longer.len() > tail.len())).map(named).collect();
                let others: Vec<String> = others.iter().map(|other| format!(" not:{other}")).collect();
                (others.len() <= OTHERS).then(|| format!("{}{}", named(tail), others.concat()))
            };
            // The full path is the last resort: as a filter it also selects projects inside it and around it.
            alone.map(named).or_else(|| without(longest()?)).unwrap_or_else(|| named(path))
        };
        let alone = |path: &'p str| tails(path).find(|tail| ending.get(&plain(tail)).is_some_and(|all| all.len() == 1));
        ProjectTerms {
            terms: paths.iter().map(|path| (*path, term(path))).collect(),
            ends: paths.iter().filter_map(|path| Some((*path, alone(path)?))).collect(),
        }
    }

    /// The name of a project in an address: the shortest end of its path that no other project ends with, else the path.
    pub(crate) fn end<'s>(&'s self, path: &'s str) -> &'s str {
        self.ends.get(path).copied().unwrap_or(path)
    }

    /// The project that a name means: the one with this path, else the only one whose path ends with it.
    pub(crate) fn find(&self, name: &str) -> Option<&'p str> {
        let exact = self.terms.keys().find(|path| **path == name);
        exact.or_else(|| self.ends.iter().find(|(_, end)| **end == name).map(|(path, _)| path)).copied()
    }

    /// The term that selects a project.
    pub(crate) fn term(&self, path: &str) -> String {
        self.terms.get(path).cloned().unwrap_or_else(|| format!("project:{}", quoted(path)))
    }
}

/// The ends of a path that can be a project's name, the shortest first.
fn tails(path: &str) -> impl Iterator<Item = &str> {
    let path = path.trim_end_matches(['/', '\\']);
    // An end that begins with `.` or `~` would be read as a path relative to here or to the home directory.
    let starts = path.rmatch_indices(['/', '\\']).map(|(at, _)| at + 1).take(PARTS);
    starts.filter_map(move |start| path.get(start..)).filter(|tail| !tail.is_empty() && !tail.starts_with(['/', '\\', '~', '.']))
}

/// A path with the home directory of its machine as `~`, where that is known.
pub(crate) fn tilde<'p>(path: &'p str, home: Option<&str>) -> Cow<'p, str> {
    let home = home.map(|home| home.trim_end_matches(['/', '\\'])).filter(|home| !home.is_empty());
    match home.and_then(|home| path.strip_prefix(home)) {
        Some("") => Cow::Borrowed("~"),
        // Without a separator it is another directory whose name only begins the same.
        Some(rest) if rest.starts_with(['/', '\\']) => Cow::Owned(format!("~{rest}")),
        _ => Cow::Borrowed(path),
    }
}

/// The longest title that is shown.
const TITLE: usize = 200;

/// Title of a session: the first line, or a text that says it has none. Control characters are replaced.
pub(crate) fn title(title: Option<&str>) -> String {
    let line = title.and_then(|title| title.lines().map(str::trim).find(|line| !line.is_empty())).unwrap_or("(no title)");
    cut(line, TITLE)
}

/// A text of one line, cut where it is long. Control characters are replaced.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        // Cut by characters, not bytes, and before neutralising, which makes single characters longer.
        Some((end, _)) => format!("{}…", neutral(text.get(..end).unwrap_or_default())),
        None => neutral(text).into_owned(),
    }
}

/// Appearance of a session's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateLabel {
    /// A sign that is recognisable without colour.
    pub(crate) glyph: &'static str,
    /// A word or two.
    pub(crate) word: &'static str,
    /// Its colour.
    pub(crate) tone: Tone,
}

/// The state of a session.
pub(crate) fn state(row: &SessionRow<'_>) -> StateLabel {
    let (glyph, word, tone) = match row.state {
        Some("working") => ("●", "working", Tone::Running),
        Some("asks") => ("◆", "asks you", Tone::Denied),
        Some("waiting") => ("◆", "waits for you", Tone::Denied),
        Some("your_turn") => ("◇", "your turn", Tone::Neutral),
        _ => ("", "ended", Tone::Muted),
    };
    StateLabel { glyph, word, tone }
}

/// Explanation of a session's state.
pub(crate) fn reason(row: &SessionRow<'_>) -> &'static str {
    state_words(row.state, row.state_reason).and_then(|(_, why)| why).unwrap_or_default()
}

/// The statuses that are problems, as a filter has them.
pub(crate) fn problems() -> String {
    let words: Vec<&str> = Status::ALL.iter().copied().filter(|status| is_problem(*status)).map(Status::word).collect();
    format!("status:{}", words.join(","))
}

/// The class of a colour.
pub(crate) fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Ok => "t-ok",
        Tone::Error => "t-error",
        Tone::Denied => "t-denied",
        Tone::Stopped => "t-stopped",
        Tone::Running => "t-running",
        Tone::Muted => "t-muted",
        Tone::Neutral | Tone::Missing => "t-plain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> LocalClock {
        LocalClock { now: at("2026-03-04T12:00:00Z"), zone: TimeZone::fixed(jiff::tz::offset(2)) }
    }

    fn at(text: &str) -> Time {
        text.parse().unwrap()
    }

    #[test]
    fn projects_are_named_by_the_end_of_their_path() {
        for (path, name) in [
            ("/srv/app", "app"),
            ("/srv/app/", "app"),
            ("C:\\Users\\me\\web", "web"),
            ("C:\\Users\\me\\web\\", "web"),
            ("C:/Users/me/web", "web"),
            ("C:\\", "C:"),
            ("/", "/"),
            ("\\\\wsl$\\Ubuntu\\home\\me\\x", "x"),
            ("\\\\wsl.localhost\\Ubuntu\\home\\me\\x", "x"),
            ("/mnt/c/Users/me/web", "web"),
            ("/Users/me/Library/Mobile Documents/notes", "notes"),
            ("", ""),
        ] {
            assert_eq!(last_part(path), name, "{path}");
        }
    }

    #[test]
    fn projects_of_the_same_name_are_told_apart() {
        let paths = ["/srv/a/app", "/srv/b/app", "C:\\x\\app", "/app", "/srv/web"];
        let names = ProjectNames::of(paths.into_iter());
        assert_eq!(paths.map(|path| names.name(path)), ["a/app", "b/app", "x\\app", "app", "web"]);
    }

    #[test]
    fn a_term_takes_one_project() {
        let paths = ["/srv/a/app", "/srv/b/App", "/srv/web", "/srv/web/admin", "C:\\x\\tools", "/x", "/y/x", "/", "", "/srv/.dot"];
        let terms = ProjectTerms::of(paths.into_iter());
        let said = paths.map(|path| terms.term(path).replace("project:", "").replace('"', ""));
        assert_eq!(said, ["a/app", "b/App", "web", "admin", "tools", "x not:y/x", "y/x", "/", "", "srv/.dot"]);
    }

    #[test]
    fn a_known_home_is_a_tilde() {
        for (path, home, shown) in [
            ("/home/me/web", Some("/home/me"), "~/web"),
            ("/home/me", Some("/home/me/"), "~"),
            ("/home/meg/web", Some("/home/me"), "/home/meg/web"),
            ("C:\\Users\\me\\web", Some("C:\\Users\\me"), "~\\web"),
            ("/home/me/web", None, "/home/me/web"),
            ("/srv", Some("/"), "/srv"),
        ] {
            assert_eq!(tilde(path, home), shown, "{path}");
        }
    }

    #[test]
    fn ages_are_told_roughly() {
        for (then, said) in [
            ("2026-03-04T11:59:30Z", "30 s"),
            ("2026-03-04T11:00:01Z", "59 m"),
            ("2026-03-03T12:00:01Z", "23 h"),
            ("2026-03-01T00:00:00Z", "3 d"),
            ("2026-03-04T13:00:00Z", "0 s"),
        ] {
            assert_eq!(clock().ago(at(then)), said);
        }
    }

    #[test]
    fn days_are_those_of_the_person() {
        for (then, day, when) in [
            ("2026-03-04T00:30:00Z", "Today", "02:30"),
            ("2026-03-03T22:30:00Z", "Today", "00:30"),
            ("2026-03-03T21:30:00Z", "Yesterday", "3 Mar"),
            ("2026-03-01T12:00:00Z", "Sunday 1 March", "1 Mar"),
            ("2025-12-31T23:00:00Z", "Thursday 1 January", "1 Jan"),
            ("2025-12-31T12:00:00Z", "31 December 2025", "2025-12-31"),
        ] {
            assert_eq!((clock().day(at(then)).as_str(), clock().when(at(then)).as_str()), (day, when), "{then}");
        }
        assert_eq!(clock().full(at("2026-03-04T12:00:09Z")), "2026-03-04 14:00:09");
        assert_eq!(clock().day_word(at("2026-03-03T22:30:00Z")), "2026-03-04");
        let within = |then: &str| clock().day_within(at(then));
        assert_eq!([within("2026-03-03T21:30:00Z"), within("2026-03-01T12:00:00Z")], ["yesterday", "Sunday 1 March"]);
    }

    #[test]
    fn titles_are_one_line_that_cannot_act() {
        assert_eq!(title(Some("\n fix \u{1b}[31mit\nand more")), "fix ␛[31mit");
        assert_eq!((title(Some(" \n")).as_str(), title(None).as_str()), ("(no title)", "(no title)"));
        assert_eq!(title(Some(&"é".repeat(500))).chars().count(), TITLE + 1);
    }

    #[test]
    fn problems_are_a_filter() {
        assert_eq!(problems(), "status:failed,rejected,blocked,cancelled,interrupted,timed_out,unanswered");
    }
}
