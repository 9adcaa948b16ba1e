//! The tree of the conversation: which records belong together, where it was cut or replaced, and its current end.
//!
//! Records name the record they follow. Parallel calls, rewinds, cuts and copied parts make that a forest, sometimes a
//! broken one; nothing here assumes that a parent exists, comes first, or is not its own descendant.

use super::{Assembler, Here};
use crate::event::{Node, Role};
use crate::issue::IssueCode;
use crate::position::At;
use crate::text::Name;
use crate::{Map, Set};

/// The records of the conversation, in file order.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    nodes: Vec<ChainNode>,
    /// Where in `nodes` the records of each session begin.
    sessions: Vec<(u32, Name)>,
    index: Map<u64, usize>,
    /// The first record of the side conversation, for each record of an unnamed one.
    roots: Map<u64, u64>,
    prompts: Set<u64>,
    /// Records that were retracted.
    retracted: Set<u64>,
}

#[derive(Clone, Copy, Debug)]
struct ChainNode {
    id: u64,
    parent: Option<u64>,
    at: At,
    /// Whether it may be the end of the conversation: said by the person or the model, in the main conversation, not
    /// hidden.
    speaks: bool,
}

impl Chain {
    pub(super) fn expect(&mut self, records: usize) {
        self.nodes.reserve(records);
        self.index.reserve(records);
    }

    /// Number of records.
    pub(super) fn len(&self) -> usize {
        // Those beside the main conversation and those that were retracted take another entry.
        self.nodes.len() + self.roots.len() + self.prompts.len() + self.retracted.len()
    }

    /// The record that began the side conversation `id` belongs to.
    pub(super) fn root_of(&mut self, id: u64, parent: Option<u64>) -> u64 {
        // A record with an unknown parent begins a side conversation itself.
        let root = parent.and_then(|parent| self.roots.get(&parent).copied()).unwrap_or(id);
        *self.roots.entry(id).or_insert(root)
    }

    pub(super) fn add(&mut self, id: u64, parent: Option<u64>, node: &Node, here: &Here) {
        let speaks = !here.sidechain && !node.hidden && node.role != Role::Other;
        // The first record with an id counts; another with the same id is a copy of it.
        if let std::collections::hash_map::Entry::Vacant(entry) = self.index.entry(id) {
            entry.insert(self.nodes.len());
            if self.sessions.last().is_none_or(|(_, session)| *session != here.session) {
                self.sessions.push((u32::try_from(self.nodes.len()).unwrap_or(u32::MAX), here.session));
            }
            self.nodes.push(ChainNode { id, parent, at: here.at, speaks });
        }
    }

    /// Marks a record as a prompt of the person, to distinguish rewinds from parallel work.
    pub(super) fn prompt(&mut self, id: u64) {
        self.prompts.insert(id);
    }

    /// The records of a turn, from one of them back to the prompt. Limited, because a hostile log could ask again and
    /// again.
    pub(super) fn turn_before(&self, id: u64) -> impl Iterator<Item = u64> {
        let parent = |id: &u64| self.nodes.get(*self.index.get(id)?)?.parent.filter(|_| !self.prompts.contains(id));
        std::iter::successors(Some(id), parent).take(2000)
    }

    /// Marks records as retracted. They may come later.
    pub(super) fn retract(&mut self, ids: Vec<u64>) {
        self.retracted.extend(ids);
    }

    /// Lines of the retracted records, in order.
    fn retracted_lines(&self) -> Vec<u64> {
        // A retracted record may be in another file, or nowhere.
        let links = self.retracted.iter().filter_map(|id| self.nodes.get(*self.index.get(id)?));
        let mut lines: Vec<u64> = links.map(|link| link.at.line).collect();
        lines.sort_unstable();
        lines
    }

    /// The tree with every parent resolved.
    fn tree(&self) -> Tree<'_> {
        let parent = |link: &ChainNode| link.parent.and_then(|parent| self.index.get(&parent).copied()).unwrap_or(NONE);
        Tree { nodes: &self.nodes, prompts: &self.prompts, parents: self.nodes.iter().map(parent).collect() }
    }
}

/// Stands for a parent that is not in this source.
const NONE: usize = usize::MAX;

/// The records of the conversation with their parents by place.
struct Tree<'c> {
    nodes: &'c [ChainNode],
    prompts: &'c Set<u64>,
    parents: Vec<usize>,
}

impl Tree<'_> {
    fn parent(&self, index: usize) -> Option<usize> {
        Some(self.parents[index]).filter(|&parent| parent != NONE)
    }

    /// The last record that speaks and that no spoken record follows: the current end of the conversation.
    fn leaf(&self) -> Option<usize> {
        let mut has_child = vec![false; self.nodes.len()];
        for &parent in self.parents.iter().filter(|&&parent| parent != NONE) {
            has_child[parent] = true;
        }
        let mut seen = vec![false; self.nodes.len()];
        let mut leaf = None;
        for tip in (0..self.nodes.len()).filter(|&index| !has_child[index]) {
            // Where another tip's walk has been, its answer has been counted already.
            let mut walk = self.walk(tip).take_while(|&index| !std::mem::replace(&mut seen[index], true));
            // By place in the file: the record written last is the end, whatever the clocks say.
            leaf = leaf.max(walk.find(|&index| self.nodes[index].speaks));
        }
        leaf
    }

    /// Walks from a record towards the start; ends at a cycle.
    fn walk(&self, from: usize) -> impl Iterator<Item = usize> {
        // No path is longer than the number of records, so a cycle ends here.
        let mut left = self.nodes.len();
        std::iter::successors(Some(from), move |&index| {
            left = left.checked_sub(1)?;
            self.parent(index)
        })
    }

    /// Number of prompts that replaced an earlier one: prompts that share a parent with a prompt before them.
    fn branches(&self) -> u32 {
        let mut seen = Set::default();
        let prompts = self.nodes.iter().filter(|link| link.speaks && self.prompts.contains(&link.id));
        let replaced = prompts.filter(|link| link.parent.is_some_and(|parent| !seen.insert(parent)));
        u32::try_from(replaced.count()).unwrap_or(u32::MAX)
    }

    /// Records that were abandoned: prompts that another prompt replaced, and everything that follows them.
    ///
    /// Parallel calls fork the tree as well, but stay part of the turn they belong to; a cut starts anew without leaving
    /// anything behind. Only a prompt beside another prompt means that the person went back.
    fn abandoned(&self, current: &Set<usize>) -> Vec<bool> {
        let mut chosen: Map<u64, usize> = Map::default();
        let prompts = || (0..self.nodes.len()).filter(|&index| self.nodes[index].speaks && self.prompts.contains(&self.nodes[index].id));
        for index in prompts() {
            let Some(parent) = self.nodes[index].parent else { continue };
            // Of several prompts below one parent, the one on the current path was chosen, else the last.
            let best = chosen.entry(parent).or_insert(index);
            if !current.contains(best) {
                *best = index;
            }
        }
        let mut state: Vec<Option<bool>> = vec![None; self.nodes.len()];
        for index in prompts() {
            if self.nodes[index].parent.is_some_and(|parent| chosen.get(&parent) != Some(&index)) {
                state[index] = Some(true);
            }
        }
        // Each record is visited once: walks stop where the answer is known already.
        for start in 0..self.nodes.len() {
            let path: Vec<usize> = self.walk(start).take_while(|&index| state[index].is_none()).take(self.nodes.len()).collect();
            let above = path.last().and_then(|&last| self.parent(last)).and_then(|parent| state[parent]);
            for index in path {
                state[index] = Some(above.unwrap_or(false));
            }
        }
        state.into_iter().map(|state| state.unwrap_or(false)).collect()
    }

    /// A record on a cycle of parents, if there is one.
    fn cycle(&self) -> Option<At> {
        // 0: not seen, else the number of the walk that saw it.
        let mut seen = vec![0usize; self.nodes.len()];
        for start in 0..self.nodes.len() {
            let mut index = start;
            // A walk stops where an earlier one has been, so every record is visited once.
            while seen[index] == 0 {
                seen[index] = start + 1;
                match self.parent(index) {
                    Some(parent) if seen[parent] == start + 1 => return Some(self.nodes[parent].at),
                    Some(parent) => index = parent,
                    None => break,
                }
            }
        }
        None
    }
}

impl Assembler {
    /// Determines the shape of the conversation, and the part abandoned by a rewind.
    pub(super) fn settle_chain(&mut self) {
        let chain = &self.chain;
        let tree = chain.tree();
        self.out.nodes = chain.nodes.iter().map(|link| link.id).collect();
        self.out.node_sessions.clone_from(&chain.sessions);
        self.out.retracted = chain.retracted_lines();
        if let Some(at) = tree.cycle() {
            self.out.issues.push(crate::issue::Issue {
                code: IssueCode::ParentCycle,
                line: at.line,
                row: None,
                call: None,
                text: "a record that is its own ancestor".to_owned(),
            });
        }
        // A speaking record without a parent here is the start, or comes after a cut.
        let roots = chain.nodes.iter().zip(&tree.parents).filter(|(link, parent)| link.speaks && **parent == NONE);
        self.out.shape.segments = u32::try_from(roots.count()).unwrap_or(u32::MAX);
        self.out.shape.branches = tree.branches();
        let leaf = tree.leaf();
        self.out.shape.leaf = leaf.map(|leaf| chain.nodes[leaf].at);
        // Without rewinds nothing is abandoned, and the walks below can be skipped.
        if self.out.shape.branches == 0 {
            return self.abandon_calls();
        }
        let current: Set<usize> = leaf.into_iter().flat_map(|leaf| tree.walk(leaf)).collect();
        let abandoned = tree.abandoned(&current);
        for turn in &mut self.out.turns {
            let index = turn.node.and_then(|node| chain.index.get(&node));
            turn.abandoned |= index.is_some_and(|&index| abandoned[index]);
        }
        self.abandon_calls();
    }

    /// Marks calls as abandoned if their turn is, or if their record was retracted.
    fn abandon_calls(&mut self) {
        for call in &mut self.out.calls {
            let turn = call.turn.and_then(|turn| self.out.turns.get(turn as usize));
            // The retracted lines are sorted, for this search.
            call.abandoned = turn.is_some_and(|turn| turn.abandoned) || self.out.retracted.binary_search(&call.at.line).is_ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a chain from (id, parent, prompt) in file order; everything speaks.
    fn chain(links: &[(u64, Option<u64>, bool)]) -> Chain {
        let mut chain = Chain::default();
        for &(id, parent, prompt) in links {
            chain.index.insert(id, chain.nodes.len());
            chain.nodes.push(ChainNode { id, parent, at: At::default(), speaks: true });
            if prompt {
                chain.prompt(id);
            }
        }
        chain
    }

    fn left_behind(chain: &Chain) -> Vec<u64> {
        let tree = chain.tree();
        let current = tree.leaf().into_iter().flat_map(|leaf| tree.walk(leaf)).collect();
        let abandoned = tree.abandoned(&current);
        chain.nodes.iter().zip(abandoned).filter(|(_, gone)| *gone).map(|(link, _)| link.id).collect()
    }

    #[test]
    fn a_rewind_leaves_the_earlier_branch_behind() {
        let chain = chain(&[
            (1, None, true),
            (2, Some(1), false),
            (3, Some(2), true),
            (4, Some(3), false),
            (5, Some(2), true),
            (6, Some(5), false),
        ]);
        assert_eq!(chain.tree().branches(), 1);
        assert_eq!(left_behind(&chain), [3, 4]);
    }

    #[test]
    fn parallel_results_and_cuts_leave_nothing_behind() {
        // Two results hang on two blocks of one message; then a cut starts a new segment.
        let chain = chain(&[
            (1, None, true),
            (2, Some(1), false),
            (3, Some(2), false),
            (4, Some(2), false),
            (5, Some(3), false),
            (9, None, false),
            (10, Some(9), true),
        ]);
        assert_eq!(chain.tree().branches(), 0);
        assert!(left_behind(&chain).is_empty());
    }

    #[test]
    fn cycles_and_self_parents_end() {
        let chain = chain(&[(1, Some(1), true), (2, Some(3), true), (3, Some(2), false), (4, Some(3), false)]);
        assert!(chain.tree().cycle().is_some());
        assert_eq!(chain.tree().leaf(), Some(3));
        assert_eq!(chain.tree().walk(1).count(), chain.nodes.len() + 1);
        left_behind(&chain);
    }

    #[test]
    fn many_tips_on_one_long_chain_are_quick() {
        let mut links: Vec<_> = (1..100_000u64).map(|id| (id, id.checked_sub(1).filter(|&p| p > 0), false)).collect();
        links.extend((200_000..300_000u64).map(|id| (id, Some(99_999), true)));
        let mut chain = chain(&links);
        for link in &mut chain.nodes {
            link.speaks = link.id < 10 || link.id >= 200_000;
        }
        assert_eq!(chain.tree().branches(), 99_999);
        left_behind(&chain);
    }
}
