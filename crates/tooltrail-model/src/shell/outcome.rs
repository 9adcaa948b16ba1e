//! What the one exit code of a command line says about each command in it.
//!
//! The rules are the shell's: a list ends like its last command, a pipe too unless `pipefail` is set, `set -e` stops at the first failure
//! that nothing else looks at. Where several commands may have decided, none is named.

/// What the parts of a command line are to each other; numbers are places in [`super::Script::commands`].
#[derive(Clone, Debug, Default)]
pub(super) enum Node {
    /// A simple command.
    Simple(usize),
    /// Something without a command that always succeeds: a definition, `export`, an assignment.
    #[default]
    Sure,
    /// Something without a command that may fail: a test, a sum, an assignment that runs something.
    Unsure,
    /// `set -e`, `set -o pipefail`: what it changes.
    Set(Flags),
    /// One after the other; whether each runs in the background.
    List(Vec<(Node, bool)>),
    /// `a && b || c`: each with whether it needs what is before it to fail.
    Chain(Vec<(bool, Node)>),
    /// `a | b`.
    Pipe(Vec<Node>),
    /// `! a`.
    Not(Box<Node>),
    /// In a shell of its own, whose settings end with it: those it begins with, or those around it.
    Shell(Option<Flags>, Box<Node>),
    /// Once for each of several things.
    Loop(Box<Node>),
    /// A choice: what decides, and what may then run.
    Choice(Vec<Node>, Vec<Node>),
}

/// What a shell is told to be set to; `None` stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) errexit: Option<bool>,
    pub(super) pipefail: Option<bool>,
}

impl Flags {
    /// What the options of `set`, or of a shell, change.
    pub(super) fn of(options: &[String]) -> Flags {
        let mut flags = Flags::default();
        for (place, word) in options.iter().enumerate() {
            let (on, letters) = match (word.strip_prefix('-'), word.strip_prefix('+')) {
                (Some(letters), _) if !letters.starts_with('-') => (true, letters),
                (_, Some(letters)) => (false, letters),
                _ => continue,
            };
            if letters.contains('e') {
                flags.errexit = Some(on);
            }
            if letters.contains('o') {
                match options.get(place + 1).map(String::as_str) {
                    Some("pipefail") => flags.pipefail = Some(on),
                    Some("errexit") => flags.errexit = Some(on),
                    _ => {}
                }
            }
        }
        flags
    }
}

/// What a shell is set to while it runs.
#[derive(Clone, Copy, Debug, Default)]
struct Settings {
    errexit: bool,
    pipefail: bool,
}

impl Settings {
    fn take(&mut self, flags: Flags) {
        self.errexit = flags.errexit.unwrap_or(self.errexit);
        self.pipefail = flags.pipefail.unwrap_or(self.pipefail);
    }

    /// Takes the settings that a node makes for those after it.
    fn after(&mut self, node: &Node) {
        match node {
            Node::Set(flags) => self.take(*flags),
            Node::List(items) => items.iter().for_each(|(item, _)| self.after(item)),
            Node::Chain(links) => links.iter().for_each(|(_, node)| self.after(node)),
            _ => {}
        }
    }

    /// The settings in a shell of its own.
    fn within(self, own: Option<Flags>) -> Settings {
        own.map_or(self, |flags| {
            let mut settings = Settings::default();
            settings.take(flags);
            settings
        })
    }
}

/// The command whose exit code the whole has, if the whole was a success or not.
pub(super) fn decides(node: &Node, success: bool) -> Option<usize> {
    decided(node, success, Settings::default())
}

fn decided(node: &Node, success: bool, settings: Settings) -> Option<usize> {
    match node {
        Node::Simple(index) => Some(*index),
        Node::Sure | Node::Unsure | Node::Set(_) | Node::Not(_) | Node::Choice(..) => None,
        Node::List(items) => list(items, success, settings),
        Node::Chain(links) => chain(links, success, settings),
        Node::Pipe(parts) if success || !settings.pipefail => decided(parts.last()?, success, settings),
        // With `pipefail` it is the last that failed.
        Node::Pipe(parts) => only(parts.iter().filter(|part| may_fail(part))).and_then(|part| decided(part, success, settings)),
        Node::Shell(own, inner) => decided(inner, success, settings.within(*own)),
        Node::Loop(inner) => decided(inner, success, settings),
    }
}

/// A list ends like its last command, or where a failure stopped it.
fn list(items: &[(Node, bool)], success: bool, mut settings: Settings) -> Option<usize> {
    let (last, before) = items.split_last()?;
    let mut stopping = Vec::new();
    for (item, background) in before {
        if settings.errexit && !background && may_stop(item) {
            stopping.push((item, settings));
        }
        settings.after(item);
    }
    if success || stopping.is_empty() {
        return if last.1 { None } else { decided(&last.0, success, settings) };
    }
    if !last.1 && may_fail(&last.0) {
        stopping.push((&last.0, settings));
    }
    only(stopping.into_iter()).and_then(|(item, settings)| decided(item, success, settings))
}

/// A chain ends like the last of its commands that ran: the one that is left when all ways that it could have gone are followed.
fn chain(links: &[(bool, Node)], success: bool, settings: Settings) -> Option<usize> {
    let ends = |place: usize, node: &Node| std::iter::once((place, true)).chain(may_fail(node).then_some((place, false)));
    let mut ways: Vec<(usize, bool)> = Vec::new();
    for (place, (or, node)) in links.iter().enumerate() {
        if place == 0 {
            ways.extend(ends(place, node));
            continue;
        }
        let runs = |way: &(usize, bool)| way.1 != *or;
        let reached = ways.iter().any(runs);
        ways.retain(|way| !runs(way));
        if reached {
            ways.extend(ends(place, node));
        }
    }
    let (place, _) = only(ways.into_iter().filter(|(_, ended)| *ended == success))?;
    let mut settings = settings;
    links.get(..place)?.iter().for_each(|(_, node)| settings.after(node));
    decided(&links.get(place)?.1, success, settings)
}

/// The only one of several, if there is one.
fn only<T>(mut several: impl Iterator<Item = T>) -> Option<T> {
    let first = several.next()?;
    several.next().is_none().then_some(first)
}

fn may_fail(node: &Node) -> bool {
    match node {
        Node::Sure | Node::Set(_) => false,
        Node::List(items) => items.iter().any(|(item, _)| may_fail(item)),
        _ => true,
    }
}

/// Whether a failure of a part of a list stops the list, where failures do: not if it is only looked at.
fn may_stop(node: &Node) -> bool {
    may_fail(node) && !matches!(node, Node::Not(_))
}

/// The commands whose outcome nobody recorded, in order.
pub(super) fn masked(node: &Node) -> Vec<usize> {
    let mut found = Vec::new();
    hidden(node, Settings::default(), &mut found);
    found.sort_unstable();
    found.dedup();
    found
}

fn hidden(node: &Node, settings: Settings, out: &mut Vec<usize>) {
    match node {
        Node::Simple(_) | Node::Sure | Node::Unsure | Node::Set(_) => {}
        Node::Not(inner) => hidden(inner, Settings { errexit: false, ..settings }, out),
        Node::Shell(own, inner) => hidden(inner, settings.within(*own), out),
        Node::List(items) => {
            let mut settings = settings;
            for (place, (item, background)) in items.iter().enumerate() {
                let last = place + 1 == items.len();
                match item {
                    _ if *background => every(item, out),
                    _ if last => hidden(item, settings, out),
                    // A failure that something else looks at does not stop the list.
                    Node::Chain(links) if settings.errexit => {
                        let (before, last) = links.split_at(links.len().saturating_sub(1));
                        before.iter().for_each(|(_, node)| every(node, out));
                        last.iter().for_each(|(_, node)| hidden(node, settings, out));
                    }
                    Node::Not(_) => every(item, out),
                    _ if settings.errexit => hidden(item, settings, out),
                    _ => every(item, out),
                }
                settings.after(item);
            }
        }
        Node::Chain(links) => {
            let mut settings = settings;
            let or = links.iter().rposition(|(or, _)| *or);
            for (place, (_, part)) in links.iter().enumerate() {
                let errexit = settings.errexit && place + 1 == links.len();
                // What stands left of a `||` may have failed.
                if or.is_some_and(|or| place < or) {
                    every(part, out)
                } else {
                    hidden(part, Settings { errexit, ..settings }, out)
                }
                settings.after(part);
            }
        }
        Node::Pipe(parts) => {
            for (place, part) in parts.iter().enumerate() {
                let last = place + 1 == parts.len();
                if last || settings.pipefail { hidden(part, settings, out) } else { every(part, out) }
            }
        }
        Node::Loop(inner) if settings.errexit => hidden(inner, settings, out),
        // Only the last round is recorded.
        Node::Loop(inner) => every(inner, out),
        Node::Choice(deciding, bodies) => {
            deciding.iter().for_each(|node| every(node, out));
            bodies.iter().for_each(|node| hidden(node, settings, out));
        }
    }
}

/// All commands of a node.
fn every(node: &Node, out: &mut Vec<usize>) {
    match node {
        Node::Simple(index) => out.push(*index),
        Node::Sure | Node::Unsure | Node::Set(_) => {}
        Node::Not(inner) | Node::Shell(_, inner) | Node::Loop(inner) => every(inner, out),
        Node::List(items) => items.iter().for_each(|(item, _)| every(item, out)),
        Node::Chain(links) => links.iter().for_each(|(_, node)| every(node, out)),
        Node::Pipe(parts) => parts.iter().for_each(|part| every(part, out)),
        Node::Choice(deciding, bodies) => deciding.iter().chain(bodies).for_each(|node| every(node, out)),
    }
}

/// What the outcome of the whole proves about each of `count` commands: that it succeeded, that it failed, or nothing.
pub(super) fn proven(node: &Node, success: bool, count: usize) -> Vec<Option<bool>> {
    let mut found = vec![None; count];
    prove(node, success, Settings::default(), &mut found);
    found
}

fn prove(node: &Node, success: bool, settings: Settings, out: &mut [Option<bool>]) {
    match node {
        Node::Simple(index) => out.iter_mut().skip(*index).take(1).for_each(|found| *found = Some(success)),
        // Whether the body of a choice ran is not known, nor how the rounds of a loop ended.
        Node::Sure | Node::Unsure | Node::Set(_) | Node::Loop(_) | Node::Choice(..) => {}
        Node::Not(inner) => prove(inner, !success, Settings { errexit: false, ..settings }, out),
        Node::Shell(own, inner) => prove(inner, success, settings.within(*own), out),
        Node::Pipe(parts) if !settings.pipefail => parts.last().into_iter().for_each(|last| prove(last, success, settings, out)),
        Node::Pipe(parts) if success => parts.iter().for_each(|part| prove(part, true, settings, out)),
        Node::Pipe(parts) => {
            only(parts.iter().filter(|part| may_fail(part))).into_iter().for_each(|part| prove(part, false, settings, out));
        }
        Node::List(items) => prove_list(items, success, settings, out),
        Node::Chain(links) => prove_chain(links, success, settings, out),
    }
}

fn prove_list(items: &[(Node, bool)], success: bool, mut settings: Settings, out: &mut [Option<bool>]) {
    let Some((last, before)) = items.split_last() else { return };
    let mut stops = false;
    for (item, background) in before {
        // A chain may fail and go on, if what failed was looked at.
        if settings.errexit && !background && may_stop(item) {
            stops = true;
            if success && !matches!(item, Node::Chain(_)) {
                prove(item, true, settings, out);
            }
        }
        settings.after(item);
    }
    if !last.1 && (success || !stops) {
        prove(&last.0, success, settings, out);
    }
}

fn prove_chain(links: &[(bool, Node)], success: bool, settings: Settings, out: &mut [Option<bool>]) {
    let Some(((or, last), before)) = links.split_last() else { return };
    if before.is_empty() {
        return prove(last, success, settings, out);
    }
    let surely = |success: bool| before.iter().all(|(_, node)| !may_fail(node)) && success != *or;
    // `a && b` succeeds only with both, `a || b` fails only with both.
    if success != *or {
        prove_chain(before, success, settings, out);
        prove(last, success, settings, out);
    } else if surely(true) {
        prove(last, success, settings, out);
    }
}

/// The commands at the ends of pipes that a test takes, as far as it takes all behind them; the first of a pipe is none.
pub(super) fn at_the_end_of_pipes(node: &Node, takes: &impl Fn(usize) -> bool) -> Vec<usize> {
    let of = |node: &Node| at_the_end_of_pipes(node, takes);
    match node {
        Node::Simple(_) | Node::Sure | Node::Unsure | Node::Set(_) => Vec::new(),
        Node::Not(inner) | Node::Shell(_, inner) | Node::Loop(inner) => of(inner),
        Node::List(items) => items.iter().flat_map(|(item, _)| of(item)).collect(),
        Node::Chain(links) => links.iter().flat_map(|(_, node)| of(node)).collect(),
        Node::Pipe(parts) => {
            let taken = |part: &Node| match part {
                Node::Simple(index) => Some(*index).filter(|index| takes(*index)),
                _ => None,
            };
            parts.iter().skip(1).rev().map_while(taken).chain(parts.iter().flat_map(of)).collect()
        }
        Node::Choice(deciding, bodies) => deciding.iter().chain(bodies).flat_map(of).collect(),
    }
}
