//! A directory.
//!
//! ```text
//! ⊞ LS   src/                    12 entries   3 ms ✓
//!   parser/
//!     mod.rs
//! ```

use super::{ToolView, other};
use crate::block::CodeBlock;
use crate::head::count;
use crate::outcome::came;
use crate::pieces::FieldList;
use crate::texts::code;
use crate::{Block, Head, Limits, Line, cut, place};
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::Story;

/// The deepest indentation of entries.
const DEPTH: u32 = 40;

/// View of directory listings.
pub(super) struct ListView;

impl ToolView for ListView {
    fn name(&self) -> &'static str {
        "list"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::List(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::List(list) = &call.told.detail else { return Head::default() };
        let known = came(call) && !list.entries.is_empty();
        let facts = known.then(|| counted_entries(list.entries.len() as u64)).into_iter().collect();
        Head { icon: "⊞", name: call.row.tool.into(), title: place::line(call, &list.path), facts }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::List(list) = &call.told.detail else { return Vec::new() };
        let mut fields = FieldList::default();
        fields.add_some("left out", Some(list.ignore.join(", ")).filter(|names| !names.is_empty()).as_deref());
        let mut body: Vec<Block> = fields.block().into_iter().collect();
        if !list.entries.is_empty() {
            // Depth comes from the log and may be absurd.
            let indented = |(depth, name): &(u32, String)| Line::from(format!("{}{name}", "  ".repeat((*depth).min(DEPTH) as usize)));
            let (lines, elided) = cut::head(list.entries.iter().map(indented).collect(), limits);
            body.push(Block::Code(CodeBlock { lines, elided, ..CodeBlock::default() }));
        // A listing that is not understood is shown as it came.
        } else if let Some(words) = &list.words {
            body.push(code(words, limits));
        } else {
            body.extend(other::output(call, limits));
        }
        body
    }
}

fn counted_entries(number: u64) -> Line {
    if number == 1 { "1 entry".into() } else { format!("{} entries", count(number)).into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{facts, text_of, worked};
    use tooltrail_model::{Kind, detail};

    #[test]
    fn entries_are_indented_and_words_kept() {
        let entries = vec![(0, "src/".to_owned()), (1, "a.rs".to_owned())];
        let list = detail::List { path: "/srv/app/src".into(), entries, ..detail::List::default() };
        let call = worked("LS", Kind::List, Detail::List(list));
        assert_eq!((ListView.head(&call).title.text().as_str(), facts(&ListView.head(&call).facts)), ("src", vec!["2 entries".to_owned()]));
        assert_eq!(text_of(&ListView.body(&call, &Limits::PAGE)), "src/\n  a.rs\n");
        let words = detail::List { words: Some("odd".into()), ..detail::List::default() };
        assert_eq!(text_of(&ListView.body(&worked("LS", Kind::List, Detail::List(words)), &Limits::PAGE)), "odd\n");
    }
}
