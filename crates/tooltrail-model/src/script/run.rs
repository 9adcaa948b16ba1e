//! What the output of a script proves about its calls.
//!
//! A [`ScriptRun`] follows a program's prints through the items of its output. A print that stands behind a condition may or may not have
//! been printed, so several courses are followed at once; a course ends where an item does not fit the next print. What all courses that are
//! left agree on is proved. The text of commands may imitate anything: [`super::matching`] takes only what cannot be read in two ways.

use super::matching::{Cut, Finding, findings};
use super::{Condition, Piece, Print, Script, ScriptCall, States};

/// Most courses that are followed; a program with more is not decided.
const MOST_COURSES: usize = 128;
/// Longest item that is compared, in bytes.
const LONGEST: usize = 4 * 1024 * 1024;

/// How a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptEnd {
    /// It came to its end.
    Completed,
    /// It threw.
    Failed,
    /// It was stopped.
    Terminated,
}

/// What is proved about a call in a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallProof {
    /// Whether it worked; `None` where nothing proves it.
    pub worked: Option<bool>,
    /// Exit code that the script printed.
    pub exit_code: Option<i64>,
    /// Whether it went on in the background.
    pub goes_on: bool,
    /// Session in which it went on.
    pub session: Option<i64>,
    /// Record of the item that proved it, as given to [`ScriptRun::push`] or [`ScriptRun::finish`].
    pub proved_by: Option<usize>,
}

/// State of a script's output, fed item by item. Holds no text, so it can be kept while the script runs.
#[derive(Clone, Debug)]
pub struct ScriptRun {
    /// Courses that fit what was printed so far; empty if the output is not that of this program.
    courses: Vec<Course>,
    /// Whether there were too many courses.
    lost: bool,
    /// Per call, whether its result reports an exit code.
    reports_exit: Vec<bool>,
    end: Option<(usize, ScriptEnd)>,
    /// After an item that was cut: its record, and the courses if that was one print and not several.
    cut: Option<(usize, Vec<Course>)>,
    /// Last record that was fed.
    record: usize,
}

/// One way in which the program may have printed what it printed.
#[derive(Clone, Debug, PartialEq)]
struct Course {
    /// The next print.
    next: usize,
    calls: Vec<Known>,
    choices: Vec<(usize, bool)>,
}

/// What one course says about a call.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Known {
    /// Whether its result reports an exit code; of other results, nothing is known that could contradict a condition.
    reports_exit: bool,
    states: States,
    exit_code: Option<i64>,
    session: Option<i64>,
    record: Option<usize>,
    /// Record in which something of its result was printed.
    returned: Option<usize>,
}

impl ScriptRun {
    /// Start of a script; `reports_exit` says of each call whether its result is an object with exit code or session.
    pub fn new(script: &Script, reports_exit: impl Fn(&ScriptCall) -> bool) -> Self {
        let reports_exit: Vec<bool> = script.calls.iter().map(reports_exit).collect();
        let known =
            |reports_exit| Known { reports_exit, states: States::ALL, exit_code: None, session: None, record: None, returned: None };
        let course = Course { next: 0, calls: reports_exit.iter().map(|reports| known(*reports)).collect(), choices: Vec::new() };
        Self { courses: vec![course], lost: false, reports_exit, end: None, cut: None, record: 0 }
    }

    /// Takes the next text that the script printed, from a record that the caller numbers.
    pub fn push(&mut self, script: &Script, record: usize, item: &str) {
        // Only an output of one item can be the joined rest of several: the one before was a print of its own.
        if let Some((cut, courses)) = self.cut.take() {
            self.lost |= cut != record;
            if cut == record {
                self.courses = courses;
            }
        }
        self.record = record;
        if self.lost {
            return;
        }
        if item.len() > LONGEST || Cut::of(item) == Cut::Omitted {
            self.lost = true;
            return;
        }
        if Cut::of(item) == Cut::Joined {
            // What stands before the cut is no proof either: nothing tells how many prints it was.
            let before = self.courses.clone();
            self.take(script, record, item);
            let after = std::mem::replace(&mut self.courses, before);
            self.cut = Some((record, after));
            return;
        }
        self.take(script, record, item);
    }

    /// Follows all courses through an item.
    fn take(&mut self, script: &Script, record: usize, item: &str) {
        let mut after: Vec<Course> = Vec::new();
        for course in std::mem::take(&mut self.courses) {
            for printed in self.printed(course, script, record, item) {
                if !after.contains(&printed) {
                    after.push(printed);
                }
            }
            if after.len() > MOST_COURSES {
                self.lost = true;
                break;
            }
        }
        self.courses = after;
    }

    /// Whether the output is no longer compared: an item was cut, or does not fit the program.
    pub fn is_lost(&self) -> bool {
        self.lost || self.cut.is_some() || self.courses.is_empty()
    }

    /// Ends the script.
    pub fn finish(&mut self, script: &Script, record: usize, end: ScriptEnd) {
        self.record = record;
        self.end = Some((record, end));
        if self.is_lost() || end != ScriptEnd::Completed {
            return;
        }
        // Nothing more was printed: no condition of a print that is left held.
        let mut ended = Vec::new();
        for course in std::mem::take(&mut self.courses) {
            let mut open = vec![course];
            while let Some(course) = open.pop() {
                match script.prints.get(course.next) {
                    None => ended.push(course),
                    Some(print) => open.extend(passed(&course, print, record)),
                }
                if open.len() + ended.len() > MOST_COURSES {
                    self.lost = true;
                    return;
                }
            }
        }
        self.courses = ended;
    }

    /// Courses in which an item is the text of some print from here on.
    fn printed(&self, course: Course, script: &Script, record: usize, item: &str) -> Vec<Course> {
        let (mut open, mut found) = (vec![course], Vec::new());
        while let Some(course) = open.pop() {
            let Some(print) = script.prints.get(course.next) else {
                if !script.prints_known {
                    found.push(course);
                }
                continue;
            };
            open.extend(passed(&course, print, record));
            let Some(mut holds) = held(&course, &print.when, record) else { continue };
            let Some(findings) = findings(&print.pieces, item) else { continue };
            holds.next += 1;
            holds.returned(&print.pieces, record);
            if findings.iter().all(|(call, finding)| !self.reports_exit.get(*call).unwrap_or(&false) || holds.learn(*call, finding, record))
            {
                found.push(holds);
            }
            if open.len() + found.len() > MOST_COURSES {
                break;
            }
        }
        found
    }

    /// What is proved about each call of the script.
    pub fn proofs(&self, script: &Script) -> Vec<CallProof> {
        script.calls.iter().enumerate().map(|(at, call)| self.proof(at, call)).collect()
    }

    fn proof(&self, at: usize, call: &ScriptCall) -> CallProof {
        if !self.reports_exit.get(at).unwrap_or(&false) {
            let completed = self.end.filter(|(_, end)| *end == ScriptEnd::Completed && call.once).map(|(record, _)| record);
            let mut printed = self.courses.iter().map(|course| course.calls.get(at).and_then(|known| known.returned));
            // A result that was printed is that of a call that did not throw.
            let printed = printed.next().flatten().filter(|_| printed.all(|record| record.is_some()));
            let proved_by = printed.or(completed).filter(|_| !call.caught);
            return CallProof { worked: proved_by.map(|_| true), proved_by, ..CallProof::default() };
        }
        let mut courses = self.courses.iter().filter_map(|course| course.calls.get(at));
        let Some(first) = courses.next() else { return CallProof::default() };
        let mut all = *first;
        for other in courses {
            all.states = all.states.or(other.states);
            all.exit_code = all.exit_code.filter(|_| all.exit_code == other.exit_code);
            all.session = all.session.filter(|_| all.session == other.session);
            all.record = all.record.max(other.record);
        }
        let worked = if all.states.within(States::ZERO) { Some(true) } else { all.states.within(States::NONZERO).then_some(false) };
        let exit_code = all.exit_code.or((worked == Some(true)).then_some(0));
        let goes_on = all.states.within(States::BACKGROUND);
        let proved_by = all.record.filter(|_| worked.is_some() || goes_on || all.session.is_some());
        CallProof { worked, exit_code, goes_on, session: all.session, proved_by }
    }
}

/// The course in which all conditions hold, if they can.
fn held(course: &Course, when: &[Condition], record: usize) -> Option<Course> {
    let mut holds = course.clone();
    when.iter().all(|condition| holds.assume(*condition, record)).then_some(holds)
}

/// Courses in which a print is not printed: the conditions hold up to one that does not.
fn passed(course: &Course, print: &Print, record: usize) -> Vec<Course> {
    let mut courses = Vec::new();
    let mut holds = course.clone();
    for condition in &print.when {
        let opposite = match *condition {
            Condition::Result { call, states } => Condition::Result { call, states: states.others() },
            Condition::Choice { choice, holds } => Condition::Choice { choice, holds: !holds },
        };
        let mut fails = holds.clone();
        if fails.assume(opposite, record) {
            fails.next += 1;
            courses.push(fails);
        }
        if !holds.assume(*condition, record) {
            break;
        }
    }
    courses
}

impl Course {
    /// Takes a condition as true; false if that contradicts what is known.
    fn assume(&mut self, condition: Condition, record: usize) -> bool {
        match condition {
            Condition::Result { call, states } => self.calls.get_mut(call).is_some_and(|known| known.narrow(states, record)),
            Condition::Choice { choice, holds } => match self.choices.iter().find(|(known, _)| *known == choice) {
                Some((_, known)) => *known == holds,
                None => {
                    self.choices.push((choice, holds));
                    true
                }
            },
        }
    }

    /// Takes note of the calls of whose results something was printed.
    fn returned(&mut self, pieces: &[Piece], record: usize) {
        let mut open: Vec<&Piece> = pieces.iter().collect();
        while let Some(piece) = open.pop() {
            match piece {
                Piece::Result { call, .. } => {
                    if let Some(known) = self.calls.get_mut(*call) {
                        known.returned = known.returned.or(Some(record));
                    }
                }
                Piece::Object(members) => open.extend(members.iter().map(|(_, member)| member)),
                Piece::Array(elements) => open.extend(elements),
                Piece::Literal(_) | Piece::Unknown => {}
            }
        }
    }

    /// Takes what an item says of a call; false if that contradicts what is known.
    fn learn(&mut self, call: usize, finding: &Finding, record: usize) -> bool {
        let Some(known) = self.calls.get_mut(call) else { return false };
        match *finding {
            Finding::Exit(code) => {
                let fits = known.exit_code.is_none_or(|before| before == code);
                known.exit_code = Some(code);
                fits && known.narrow(if code == 0 { States::ZERO } else { States::NONZERO }, record)
            }
            Finding::Session(session) => {
                let fits = known.session.is_none_or(|before| before == session);
                known.session = Some(session);
                fits && known.narrow(States::BACKGROUND, record)
            }
            Finding::Background => known.narrow(States::BACKGROUND, record),
            Finding::Ended => known.narrow(States::ENDED, record),
            Finding::Empty => known.narrow(States::WITH_OUTPUT.others(), record),
            Finding::Output => known.narrow(States::WITH_OUTPUT, record),
        }
    }
}

impl Known {
    fn narrow(&mut self, states: States, record: usize) -> bool {
        if !self.reports_exit {
            return true;
        }
        let narrowed = self.states.and(states);
        if narrowed != self.states {
            self.states = narrowed;
            self.record = Some(record);
        }
        !narrowed.is_empty()
    }
}
