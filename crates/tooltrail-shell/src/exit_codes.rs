//! The meaning of the one exit code of a command line for each command in it.
//!
//! The rules are the shell's: a list ends like its last command, a pipe too unless `pipefail` is set, `set -e` stops at the first failure
//! that nothing else looks at. Where several commands may have decided, none is named. The tree comes from `parser` or `plain`; what a
//! command is for does not matter here.

/// A node of a command line's syntax tree, reduced to what decides exit codes. Numbers are places in [`crate::parser::SyntaxTree`]'s
/// list of commands.
#[derive(Clone, Debug, Default)]
pub(crate) enum SyntaxNode {
    /// A simple command.
    Simple(usize),
    /// A definition, `export` or assignment: not a command, always succeeds.
    #[default]
    Sure,
    /// A test, a sum, an assignment that runs something: not a command, may fail.
    Unsure,
    /// `set -e`, `set -o pipefail`: the options that it changes.
    Set(ShellOptions),
    /// `a; b &`: one after the other, each with whether it runs in the background.
    List(Vec<(SyntaxNode, bool)>),
    /// `a && b || c`: each with whether it runs only if the one before failed.
    Chain(Vec<(bool, SyntaxNode)>),
    /// `a | b`.
    Pipe(Vec<SyntaxNode>),
    /// `! a`.
    Not(Box<SyntaxNode>),
    /// A shell of its own, whose options end with it. It begins with the given options, or with those around it.
    Shell(Option<ShellOptions>, Box<SyntaxNode>),
    /// A loop: any number of rounds.
    Loop(Box<SyntaxNode>),
    /// `if` or `case`: the conditions, and the bodies that may then run.
    Choice(Vec<SyntaxNode>, Vec<SyntaxNode>),
}

/// Options that a shell is given by `set` or on its command line; `None` leaves one as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShellOptions {
    pub(crate) errexit: Option<bool>,
    pub(crate) pipefail: Option<bool>,
}

impl ShellOptions {
    /// Reads the words behind `set`, or behind a shell's name.
    pub(crate) fn of(options: &[String]) -> ShellOptions {
        let mut flags = ShellOptions::default();
        for (place, word) in options.iter().enumerate() {
            let (on, letters) = match (word.strip_prefix('-'), word.strip_prefix('+')) {
                (Some(letters), _) if !letters.starts_with('-') => (true, letters),
                (_, Some(letters)) => (false, letters),
                _ => continue,
            };
            // Letters may be bundled: `set -euo pipefail`.
            if letters.contains('e') {
                flags.errexit = Some(on);
            }
            // `-o` takes the next word, whatever other letters are bundled with it.
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

/// Options of a shell while it runs.
#[derive(Clone, Copy, Debug, Default)]
struct ActiveOptions {
    errexit: bool,
    pipefail: bool,
}

impl ActiveOptions {
    fn take(&mut self, flags: ShellOptions) {
        self.errexit = flags.errexit.unwrap_or(self.errexit);
        self.pipefail = flags.pipefail.unwrap_or(self.pipefail);
    }

    /// Applies the options that a node sets for the nodes after it.
    fn after(&mut self, node: &SyntaxNode) {
        match node {
            // Options set in a subshell, a loop or a branch are not followed: they end with the subshell, or may not have been set.
            SyntaxNode::Set(flags) => self.take(*flags),
            SyntaxNode::List(items) => items.iter().for_each(|(item, _)| self.after(item)),
            SyntaxNode::Chain(links) => links.iter().for_each(|(_, node)| self.after(node)),
            _ => {}
        }
    }

    /// The options of an inner shell.
    fn within(self, own: Option<ShellOptions>) -> ActiveOptions {
        // `bash -c` starts a new shell without the options around it; `( … )` inherits them.
        own.map_or(self, |flags| {
            let mut options = ActiveOptions::default();
            options.take(flags);
            options
        })
    }
}

/// The command whose exit code the whole line has, given whether the line succeeded.
pub(crate) fn decides(node: &SyntaxNode, success: bool) -> Option<usize> {
    decided(node, success, ActiveOptions::default())
}

fn decided(node: &SyntaxNode, success: bool, options: ActiveOptions) -> Option<usize> {
    match node {
        SyntaxNode::Simple(index) => Some(*index),
        SyntaxNode::Sure | SyntaxNode::Unsure | SyntaxNode::Set(_) | SyntaxNode::Not(_) | SyntaxNode::Choice(..) => None,
        SyntaxNode::List(items) => list(items, success, options),
        SyntaxNode::Chain(links) => chain(links, success, options),
        SyntaxNode::Pipe(parts) if success || !options.pipefail => decided(parts.last()?, success, options),
        // With `pipefail` a failure is that of the last part that failed, which is known only where a single part can fail.
        SyntaxNode::Pipe(parts) => only(parts.iter().filter(|part| may_fail(part))).and_then(|part| decided(part, success, options)),
        SyntaxNode::Shell(own, inner) => decided(inner, success, options.within(*own)),
        // Every round runs the same commands, so the deciding one is the same whichever round was last.
        SyntaxNode::Loop(inner) => decided(inner, success, options),
    }
}

/// The deciding command of a list: the last one, or one whose failure stopped the list.
fn list(items: &[(SyntaxNode, bool)], success: bool, mut options: ActiveOptions) -> Option<usize> {
    let (last, before) = items.split_last()?;
    let mut stopping = Vec::new();
    for (item, background) in before {
        if options.errexit && !background && may_stop(item) {
            stopping.push((item, options));
        }
        options.after(item);
    }
    // A list that succeeded was not stopped. One that ends in the background ends at once, with an exit code of no command.
    if success || stopping.is_empty() {
        return if last.1 { None } else { decided(&last.0, success, options) };
    }
    if !last.1 && may_fail(&last.0) {
        stopping.push((&last.0, options));
    }
    only(stopping.into_iter()).and_then(|(item, options)| decided(item, success, options))
}

/// The deciding command of a chain: the last one that ran, if following every way the chain could have gone leaves only one.
fn chain(links: &[(bool, SyntaxNode)], success: bool, options: ActiveOptions) -> Option<usize> {
    let ends = |place: usize, node: &SyntaxNode| std::iter::once((place, true)).chain(may_fail(node).then_some((place, false)));
    // Each way is the place of the last command that ran, and whether it succeeded.
    let mut ways: Vec<(usize, bool)> = Vec::new();
    for (place, (or, node)) in links.iter().enumerate() {
        if place == 0 {
            ways.extend(ends(place, node));
            continue;
        }
        // `&&` goes on after a success, `||` after a failure; other ways skip this link and stay as they are.
        let runs = |way: &(usize, bool)| way.1 != *or;
        let reached = ways.iter().any(runs);
        ways.retain(|way| !runs(way));
        if reached {
            ways.extend(ends(place, node));
        }
    }
    let (place, _) = only(ways.into_iter().filter(|(_, ended)| *ended == success))?;
    // A `set` earlier in the chain has taken effect by then.
    let mut options = options;
    links.get(..place)?.iter().for_each(|(_, node)| options.after(node));
    decided(&links.get(place)?.1, success, options)
}

/// The only item of an iterator; `None` if there are none or several.
fn only<T>(mut several: impl Iterator<Item = T>) -> Option<T> {
    let first = several.next()?;
    several.next().is_none().then_some(first)
}

fn may_fail(node: &SyntaxNode) -> bool {
    match node {
        SyntaxNode::Sure | SyntaxNode::Set(_) => false,
        SyntaxNode::List(items) => items.iter().any(|(item, _)| may_fail(item)),
        _ => true,
    }
}

/// Whether a failing item stops its list under `set -e`. A negated one is only looked at.
fn may_stop(node: &SyntaxNode) -> bool {
    may_fail(node) && !matches!(node, SyntaxNode::Not(_))
}

/// The commands whose exit code is not recorded, in order, in a shell that starts with these options.
pub(crate) fn masked(node: &SyntaxNode, start: ShellOptions) -> Vec<usize> {
    let mut found = Vec::new();
    hidden(node, ActiveOptions::default().within(Some(start)), &mut found);
    // Collected branch by branch; callers rely on the order of the line, with each command once.
    found.sort_unstable();
    found.dedup();
    found
}

fn hidden(node: &SyntaxNode, options: ActiveOptions, out: &mut Vec<usize>) {
    match node {
        SyntaxNode::Simple(_) | SyntaxNode::Sure | SyntaxNode::Unsure | SyntaxNode::Set(_) => {}
        // `set -e` does not apply to a negated command: the shell treats it as a test.
        SyntaxNode::Not(inner) => hidden(inner, ActiveOptions { errexit: false, ..options }, out),
        SyntaxNode::Shell(own, inner) => hidden(inner, options.within(*own), out),
        SyntaxNode::List(items) => {
            let mut options = options;
            for (place, (item, background)) in items.iter().enumerate() {
                let last = place + 1 == items.len();
                match item {
                    // The shell does not wait for a background command, so its exit code is never seen.
                    _ if *background => every(item, out),
                    _ if last => hidden(item, options, out),
                    // Under `set -e` only the last link of a chain can stop the list: failures before it are looked at by `&&` and `||`.
                    SyntaxNode::Chain(links) if options.errexit => {
                        let (before, last) = links.split_at(links.len().saturating_sub(1));
                        before.iter().for_each(|(_, node)| every(node, out));
                        last.iter().for_each(|(_, node)| hidden(node, options, out));
                    }
                    SyntaxNode::Not(_) => every(item, out),
                    _ if options.errexit => hidden(item, options, out),
                    _ => every(item, out),
                }
                options.after(item);
            }
        }
        SyntaxNode::Chain(links) => {
            let mut options = options;
            let or = links.iter().rposition(|(or, _)| *or);
            for (place, (_, part)) in links.iter().enumerate() {
                let errexit = options.errexit && place + 1 == links.len();
                // Left of a `||` a failure leads on to the right side and is gone.
                if or.is_some_and(|or| place < or) {
                    every(part, out)
                } else {
                    hidden(part, ActiveOptions { errexit, ..options }, out)
                }
                options.after(part);
            }
        }
        SyntaxNode::Pipe(parts) => {
            for (place, part) in parts.iter().enumerate() {
                let last = place + 1 == parts.len();
                if last || options.pipefail { hidden(part, options, out) } else { every(part, out) }
            }
        }
        SyntaxNode::Loop(inner) if options.errexit => hidden(inner, options, out),
        // The exit code of a loop is that of its last round; those before are gone.
        SyntaxNode::Loop(inner) => every(inner, out),
        SyntaxNode::Choice(deciding, bodies) => {
            // A condition's exit code chooses the body and is then gone.
            deciding.iter().for_each(|node| every(node, out));
            bodies.iter().for_each(|node| hidden(node, options, out));
        }
    }
}

/// Collects all commands of a node.
fn every(node: &SyntaxNode, out: &mut Vec<usize>) {
    match node {
        SyntaxNode::Simple(index) => out.push(*index),
        SyntaxNode::Sure | SyntaxNode::Unsure | SyntaxNode::Set(_) => {}
        SyntaxNode::Not(inner) | SyntaxNode::Shell(_, inner) | SyntaxNode::Loop(inner) => every(inner, out),
        SyntaxNode::List(items) => items.iter().for_each(|(item, _)| every(item, out)),
        SyntaxNode::Chain(links) => links.iter().for_each(|(_, node)| every(node, out)),
        SyntaxNode::Pipe(parts) => parts.iter().for_each(|part| every(part, out)),
        SyntaxNode::Choice(deciding, bodies) => deciding.iter().chain(bodies).for_each(|node| every(node, out)),
    }
}

/// The proof that the outcome of the whole gives for each of `count` commands: it succeeded, it failed, or neither is known.
pub(crate) fn proven(node: &SyntaxNode, success: bool, count: usize) -> Vec<Option<bool>> {
    let mut found = vec![None; count];
    prove(node, success, ActiveOptions::default(), &mut found);
    found
}

fn prove(node: &SyntaxNode, success: bool, options: ActiveOptions, out: &mut [Option<bool>]) {
    match node {
        SyntaxNode::Simple(index) => out.iter_mut().skip(*index).take(1).for_each(|found| *found = Some(success)),
        // Nothing says which body of a choice ran, or how the rounds of a loop ended.
        SyntaxNode::Sure | SyntaxNode::Unsure | SyntaxNode::Set(_) | SyntaxNode::Loop(_) | SyntaxNode::Choice(..) => {}
        SyntaxNode::Not(inner) => prove(inner, !success, ActiveOptions { errexit: false, ..options }, out),
        SyntaxNode::Shell(own, inner) => prove(inner, success, options.within(*own), out),
        SyntaxNode::Pipe(parts) if !options.pipefail => parts.last().into_iter().for_each(|last| prove(last, success, options, out)),
        // With `pipefail` a success means that every part succeeded.
        SyntaxNode::Pipe(parts) if success => parts.iter().for_each(|part| prove(part, true, options, out)),
        SyntaxNode::Pipe(parts) => {
            only(parts.iter().filter(|part| may_fail(part))).into_iter().for_each(|part| prove(part, false, options, out));
        }
        SyntaxNode::List(items) => prove_list(items, success, options, out),
        SyntaxNode::Chain(links) => prove_chain(links, success, options, out),
    }
}

fn prove_list(items: &[(SyntaxNode, bool)], success: bool, mut options: ActiveOptions, out: &mut [Option<bool>]) {
    let Some((last, before)) = items.split_last() else { return };
    let mut stops = false;
    for (item, background) in before {
        // A chain may fail without stopping the list, if the failure was one that `&&` or `||` looked at.
        if options.errexit && !background && may_stop(item) {
            stops = true;
            if success && !matches!(item, SyntaxNode::Chain(_)) {
                prove(item, true, options, out);
            }
        }
        options.after(item);
    }
    // If an earlier item may have stopped the list, a failure does not prove that the last one ran at all.
    if !last.1 && (success || !stops) {
        prove(&last.0, success, options, out);
    }
}

fn prove_chain(links: &[(bool, SyntaxNode)], success: bool, options: ActiveOptions, out: &mut [Option<bool>]) {
    let Some(((or, last), before)) = links.split_last() else { return };
    if before.is_empty() {
        return prove(last, success, options, out);
    }
    // The last link ran for certain if nothing before it can fail.
    let surely = |success: bool| before.iter().all(|(_, node)| !may_fail(node)) && success != *or;
    // `a && b` succeeds only with both, `a || b` fails only with both.
    if success != *or {
        prove_chain(before, success, options, out);
        prove(last, success, options, out);
    } else if surely(true) {
        prove(last, success, options, out);
    }
}

/// The trailing commands of every pipe that satisfy `takes`: from the last one backwards, as long as each does. The first command of a
/// pipe is never among them, because it is what the pipe is about.
pub(crate) fn at_the_end_of_pipes(node: &SyntaxNode, takes: &impl Fn(usize) -> bool) -> Vec<usize> {
    let of = |node: &SyntaxNode| at_the_end_of_pipes(node, takes);
    match node {
        SyntaxNode::Simple(_) | SyntaxNode::Sure | SyntaxNode::Unsure | SyntaxNode::Set(_) => Vec::new(),
        SyntaxNode::Not(inner) | SyntaxNode::Shell(_, inner) | SyntaxNode::Loop(inner) => of(inner),
        SyntaxNode::List(items) => items.iter().flat_map(|(item, _)| of(item)).collect(),
        SyntaxNode::Chain(links) => links.iter().flat_map(|(_, node)| of(node)).collect(),
        SyntaxNode::Pipe(parts) => {
            let taken = |part: &SyntaxNode| match part {
                SyntaxNode::Simple(index) => Some(*index).filter(|index| takes(*index)),
                _ => None,
            };
            parts.iter().skip(1).rev().map_while(taken).chain(parts.iter().flat_map(of)).collect()
        }
        SyntaxNode::Choice(deciding, bodies) => deciding.iter().chain(bodies).flat_map(of).collect(),
    }
}
