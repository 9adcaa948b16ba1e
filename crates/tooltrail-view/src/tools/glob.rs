//! Files looked for by name.
//!
//! ```text
//! ✲ Glob   **/*.rs in src/                 214 files   30 ms ✓
//!   src/parser/   mod.rs  lex.rs
//! ```

use super::{ToolView, other, title};
use crate::head::counted;
use crate::limits::{Elided, ElidedUnit};
use crate::outcome::came;
use crate::pieces::notice;
use crate::{Block, Class, Head, Limits, Line, place};
use std::collections::HashMap;
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::{Level, Story};

/// View of searches for files by name.
pub(super) struct GlobView;

impl ToolView for GlobView {
    fn name(&self) -> &'static str {
        "glob"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Glob(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Glob(glob) = &call.told.detail else { return Head::default() };
        // Without a result the list is unknown, not empty.
        let found = glob.files.as_ref().filter(|_| came(call)).map(|files| files.len() as u64);
        let facts = found.map(|shown| match glob.total.filter(|&total| total > shown) {
            Some(total) => format!("{} of {}", crate::head::count(shown), counted(total, "file")),
            None if glob.truncated => format!("{}, and more", counted(shown, "file")),
            None => counted(shown, "file"),
        });
        Head { icon: "✲", name: call.row.tool.into(), title: title(call), facts: facts.into_iter().map(Line::from).collect() }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Glob(glob) = &call.told.detail else { return Vec::new() };
        match glob.files.as_deref() {
            // An empty list of a call without a result means nothing, so nothing is shown.
            Some([]) if came(call) => vec![notice(Level::Info, "No files found.")],
            Some([]) => Vec::new(),
            Some(files) => {
                let mut body = vec![by_folder(call, files, limits)];
                body.extend(glob.truncated.then(|| notice(Level::Info, "The tool returned only some of the files.")));
                body
            }
            // Some agents return the list only as text.
            None => other::output(call, limits),
        }
    }
}

/// Files by directory; directories in order of first appearance.
pub(super) fn by_folder(call: &Story<'_>, files: &[String], limits: &Limits) -> Block {
    let mut groups: Vec<(Line, Vec<Line>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    // Cut before grouping, so the limit bounds the work too.
    let shown = files.len().min(limits.lines);
    for path in files.iter().take(shown).map(|path| place::relative(call, path)) {
        // Both separators, because logs come from any system; a trailing one belongs to the name of a directory.
        let cut = path.trim_end_matches(['/', '\\']).rfind(['/', '\\']).map_or(0, |at| at + 1);
        let (folder, name) = path.split_at(cut);
        let group = *places.entry(folder).or_insert_with(|| {
            groups.push((Line::of(Class::Path, if folder.is_empty() { "./" } else { folder }), Vec::new()));
            groups.len() - 1
        });
        if let Some((_, names)) = groups.get_mut(group) {
            names.push(name.into());
        }
    }
    let left_out = shown < files.len();
    let elided = left_out.then_some(Elided { shown: shown as u64, total: files.len() as u64, unit: ElidedUnit::Items, kept: true });
    Block::Files { groups, elided }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{answered, facts, story, text_of, worked};
    use tooltrail_model::{Kind, Status, detail};

    fn glob(files: Option<Vec<&str>>) -> Detail {
        let files = files.map(|files| files.into_iter().map(str::to_owned).collect());
        Detail::Glob(detail::Glob { pattern: "**/*.rs".into(), path: Some("/srv/app/src".into()), files, ..detail::Glob::default() })
    }

    #[test]
    fn files_are_grouped_by_folder() {
        let call = worked("Glob", Kind::Search, glob(Some(vec!["/srv/app/src/a.rs", "/srv/app/b.rs", "/srv/app/src/c.rs", "/x/d.rs"])));
        let head = GlobView.head(&call);
        assert_eq!((head.title.text().as_str(), facts(&head.facts)), ("**/*.rs in src", vec!["4 files".to_owned()]));
        let body = GlobView.body(&call, &Limits::PAGE);
        let [Block::Files { groups, elided: None }] = body.as_slice() else { panic!("{body:?}") };
        let told: Vec<String> = groups.iter().map(|(folder, names)| format!("{} {}", folder.text(), names.len())).collect();
        assert_eq!(told, ["src/ 2", "./ 1", "/x/ 1"]);
        let [Block::Files { elided: Some(elided), .. }] = &GlobView.body(&call, &Limits { lines: 3, ..Limits::PAGE })[..] else {
            panic!("cut")
        };
        assert_eq!(elided.words(), "3 of 4 entries");
    }

    #[test]
    fn nothing_found_is_said_and_nothing_known_is_not() {
        assert_eq!(text_of(&GlobView.body(&worked("Glob", Kind::Search, glob(Some(vec![]))), &Limits::PAGE)), "No files found.\n");
        let missing = story("Glob", Kind::Search, Status::Unanswered, glob(Some(vec![])));
        assert!(GlobView.body(&missing, &Limits::PAGE).is_empty() && GlobView.head(&missing).facts.is_empty());
        let words = answered(story("Glob", Kind::Search, Status::Succeeded, glob(None)), "a.rs\nb.rs");
        assert_eq!(text_of(&GlobView.body(&words, &Limits::PAGE)), "a.rs\nb.rs\n");
    }
}
