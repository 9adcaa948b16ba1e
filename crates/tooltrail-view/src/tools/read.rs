//! A file that is read.
//!
//! ```text
//! ≡ Read   src/parser.rs:1-120               120 of 840 lines  12 ms ✓
//!   1  //! Parses.
//!   2  fn parse() {
//! ```

use super::{ToolView, title};
use crate::head::{count, counted, size};
use crate::pieces::{code, file, image, markdown, notice, picture_facts, plain, section, terminal, words};
use crate::{Block, Head, Limits, Line, place};
use tooltrail_model::detail::{Detail, NotebookCell, Read, ReadGot};
use tooltrail_model::transcript::{Level, Story};

/// View of reads of a file.
pub(super) struct ReadView;

impl ToolView for ReadView {
    fn name(&self) -> &'static str {
        "read"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Read(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Read(read) = &call.told.detail else { return Head::default() };
        let mut title = place::with_range(title(call), range(read));
        if let Some(pages) = &read.pages {
            title.push(crate::Class::Dim, &format!(", pages {pages}"));
        }
        // Not `☰`: newer terminals draw it two columns wide.
        Head { icon: "≡", name: call.row.tool.into(), title, facts: facts(read) }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Read(read) = &call.told.detail else { return Vec::new() };
        let alt = place::relative(call, &read.path);
        match &read.got {
            // Why there is no text is said by the frame.
            ReadGot::Nothing => Vec::new(),
            ReadGot::Text { text, first, .. } => vec![file(&read.path, Some(*first), text, limits)],
            ReadGot::Image(picture) => vec![image(picture, alt)],
            ReadGot::Notebook(cells) => cells.iter().enumerate().map(|(number, part)| cell(number, part, limits)).collect(),
            ReadGot::Pdf { images, .. } => {
                images.iter().enumerate().map(|(number, page)| image(page, &format!("{alt}, image {}", number + 1))).collect()
            }
            ReadGot::Unchanged => {
                vec![notice(Level::Info, "The file has not changed since it was last read; its content was not returned again.")]
            }
            ReadGot::Words(text) => vec![words(text, limits)],
        }
    }
}

/// First and last line, where only a part of the file was read.
fn range(read: &Read) -> Option<(u64, u64)> {
    let asked = read.offset.is_some() || read.limit.is_some();
    if let ReadGot::Text { text, first, total } = &read.got {
        let lines = text.lines().count() as u64;
        // Without a total, a request for a part is the only sign that it is not the whole file.
        let part = *first > 1 || total.map_or(asked, |total| is_part(text, lines, total));
        return (part && lines > 0).then(|| (*first, first.saturating_add(lines - 1)));
    }
    // No result: the range that was requested.
    let first = read.offset.unwrap_or(1).max(1);
    asked.then(|| (first, read.limit.map_or(u64::MAX, |limit| first.saturating_add(limit.saturating_sub(1)))))
}

/// Whether a file has more lines than these. Some agents count an empty line after the last line feed.
fn is_part(text: &str, lines: u64, total: u64) -> bool {
    let counted = if text.ends_with('\n') { lines.saturating_add(1) } else { lines };
    total > counted
}

fn facts(read: &Read) -> Vec<Line> {
    let mut facts: Vec<Line> = Vec::new();
    match &read.got {
        ReadGot::Text { text, total, .. } => {
            let lines = text.lines().count() as u64;
            facts.push(match total {
                Some(total) if is_part(text, lines, *total) => format!("{} of {}", count(lines), counted(*total, "line")).into(),
                _ => counted(lines, "line").into(),
            });
        }
        ReadGot::Image(image) => facts.extend(picture_facts(image)),
        ReadGot::Notebook(cells) => facts.push(counted(cells.len() as u64, "cell").into()),
        ReadGot::Pdf { bytes, pages, images } => {
            // Without a page count, the number of page images is the next best.
            let pages = pages.or(Some(images.len() as u64).filter(|pages| *pages > 0));
            facts.extend(pages.map(|pages| counted(pages, "page").into()));
            facts.extend(bytes.map(|bytes| size(bytes).into()));
        }
        ReadGot::Unchanged => facts.push("unchanged".into()),
        ReadGot::Nothing | ReadGot::Words(_) => {}
    }
    facts
}

/// A cell of a notebook: its source, then its output.
fn cell(number: usize, cell: &NotebookCell, limits: &Limits) -> Block {
    // Notebooks of older versions have no cell ids; then cells are numbered.
    let mut label = format!("cell {} · {}", cell.id.clone().unwrap_or_else(|| (number + 1).to_string()), cell.sort);
    label += &cell.count.map(|count| format!(" · run {count}")).unwrap_or_default();
    let mut body = vec![match (cell.sort.as_str(), &cell.language) {
        ("markdown", _) => markdown(&cell.source, limits),
        ("raw", _) => Block::Code(plain(None, &cell.source, limits)),
        // Python is by far the most common language, and the one agents omit.
        (_, language) => Block::Code(code(language.as_deref().unwrap_or("python"), None, &cell.source, limits)),
    }];
    body.extend(cell.outputs.iter().map(|text| Block::Terminal(terminal(text, limits))));
    body.extend(cell.images.iter().map(|picture| image(picture, "image printed by the cell")));
    section(&label, true, body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_files::{body, head, story};
    use tooltrail_model::content::Image;
    use tooltrail_model::{Kind, Status};

    fn call(read: Read) -> Story<'static> {
        story("Read", Kind::Read, Status::Succeeded, Detail::Read(read))
    }

    fn text(text: &str, first: u64, total: Option<u64>) -> Read {
        Read { path: "/srv/app/src/a.rs".into(), got: ReadGot::Text { text: text.into(), first, total }, ..Read::default() }
    }

    #[test]
    fn a_part_and_a_whole() {
        assert_eq!(head(&call(text("a\nb\n", 10, Some(840)))), "≡ | Read | src/a.rs:10-11 | 2 of 840 lines");
        assert_eq!(head(&call(text("a\nb", 1, Some(2)))), "≡ | Read | src/a.rs | 2 lines");
        assert_eq!(head(&call(text("a\nb\n", 1, Some(3)))), "≡ | Read | src/a.rs | 2 lines");
        assert_eq!(head(&call(text("a\nb\n", 1, Some(4)))), "≡ | Read | src/a.rs:1-2 | 2 of 4 lines");
        assert_eq!(head(&call(text("a", 7, None))), "≡ | Read | src/a.rs:7 | 1 line");
        assert_eq!(body(&call(text("fn a() {}\n", 10, Some(840)))), "code rs 10\n| fn a() {}\n");
    }

    #[test]
    fn what_was_asked_where_nothing_came() {
        let asked = Read { path: "/etc/hosts".into(), offset: Some(5), limit: Some(10), ..Read::default() };
        assert_eq!(head(&call(asked.clone())), "≡ | Read | /etc/hosts:5-14 | ");
        assert_eq!(head(&call(Read { limit: None, ..asked.clone() })), "≡ | Read | /etc/hosts:5- | ");
        assert_eq!(
            head(&call(Read { offset: None, limit: None, pages: Some("1-3".into()), ..asked.clone() })),
            "≡ | Read | /etc/hosts, pages 1-3 | "
        );
        assert_eq!(body(&call(asked)), "");
        assert_eq!(head(&call(Read::default())), "≡ | Read | no path given | ");
    }

    #[test]
    fn other_than_text() {
        let got = |got| call(Read { path: "a.bin".into(), got, ..Read::default() });
        let picture = Image { size: Some((4, 3)), bytes: Some(2_000), ..Image::default() };
        assert_eq!(head(&got(ReadGot::Image(picture.clone()))), "≡ | Read | a.bin | 4×3, 2 kB");
        assert_eq!(body(&got(ReadGot::Image(picture.clone()))), "image a.bin, 4×3, 2 kB\n");
        let pdf = || got(ReadGot::Pdf { bytes: Some(9), pages: None, images: vec![picture.clone()] });
        assert_eq!(head(&pdf()), "≡ | Read | a.bin | 1 page, 9 B");
        assert_eq!(body(&pdf()), "image a.bin, image 1, 4×3, 2 kB\n");
        assert_eq!(head(&got(ReadGot::Unchanged)), "≡ | Read | a.bin | unchanged");
        assert!(body(&got(ReadGot::Unchanged)).starts_with("Info The file has not changed"));
        assert_eq!(body(&got(ReadGot::Words("It is empty.".into()))), "Info It is empty.\n");
    }

    #[test]
    fn a_notebook_is_its_cells() {
        let cells = vec![
            NotebookCell { id: Some("c1".into()), sort: "markdown".into(), source: "# Title".into(), ..NotebookCell::default() },
            NotebookCell {
                sort: "code".into(),
                source: "print(1)".into(),
                count: Some(4),
                outputs: vec!["\u{1b}[1m1\u{1b}[0m\n".into()],
                ..NotebookCell::default()
            },
        ];
        let call = call(Read { path: "n.ipynb".into(), got: ReadGot::Notebook(cells), ..Read::default() });
        assert_eq!(head(&call), "≡ | Read | n.ipynb | 2 cells");
        assert_eq!(
            body(&call),
            "section cell c1 · markdown\n  markdown # Title\nsection cell 2 · code · run 4\n  code python -\n  | print(1)\n  terminal\n  | 1\n"
        );
    }
}
