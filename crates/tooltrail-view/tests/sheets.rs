//! Every kind of tool as it looks: HTML of each, and one contact sheet each for the terminal and for Markdown. What is shown are the
//! invented sessions that the formats are tested with, so the whole way from the log is taken.

#![allow(clippy::unwrap_used)] // a panic is the report

mod support;

use maud::html;
use regex::Regex;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use support::Logs;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::transcript::Story;
use tooltrail_view::render::html::{RowFrame, call_row};
use tooltrail_view::render::markdown::ShownBodies;
use tooltrail_view::render::outputs::ExportOptions;
use tooltrail_view::render::terminal;
use tooltrail_view::tools::{self, TOOLS};
use tooltrail_view::{Limits, messages};

/// Where the sessions are: a folder for each kind of tool. Relative, so that no place of this machine gets into a sheet.
const SESSIONS: &str = "../tooltrail-formats/tests/tools";

/// The folders, and the sessions in each, one for every agent that has such a tool.
fn sessions() -> Vec<(String, Vec<PathBuf>)> {
    let listed = |folder: &Path| {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        entries
    };
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    listed(Path::new(SESSIONS)).iter().map(|folder| (name(folder), listed(folder))).collect()
}

fn read(path: &Path) -> Logs {
    support::read(&[path.to_owned()])
}

fn stories<'b>(book: &'b dyn Book) -> Vec<Story<'b>> {
    let load = |index| match book.call(index) {
        Loaded::Call(story) => *story,
        other => panic!("{other:?}"),
    };
    (0..book.transcript().calls.len()).map(load).collect()
}

/// Markup with a line for each element, so that a change of it can be read. The life of a call is the same for all tools.
fn laid_out(markup: &str) -> String {
    static LIFE: LazyLock<Regex> = LazyLock::new(|| Regex::new("(?s)<details class=\"sec life\">.*?</details>").unwrap());
    LIFE.replace(markup, "").replace("><", ">\n<")
}

#[test]
fn each_kind_of_tool_in_html() {
    for (tool, files) in sessions() {
        let mut sheet = String::new();
        for file in files {
            read(&file).with_book(|_, book| {
                let nest =
                    |thread: usize, calls: u64, failed: u64| html! { div data-thread=(thread) { (calls) " calls, " (failed) " failed" } };
                for story in stories(book) {
                    let frame =
                        RowFrame { anchor: story.row.call, abandoned: false, limits: &Limits::PAGE, nest: &nest, bad_inside: false };
                    sheet.push_str(&format!("{}\n\n", laid_out(&call_row(&story, &frame).into_string())));
                }
                for entry in book.transcript().threads.iter().flat_map(|thread| &thread.entries).filter(|_| tool == "messages") {
                    if let Loaded::Part(part) = book.open(entry) {
                        let message = messages::message(&part, &Limits::PAGE);
                        let row = tooltrail_view::render::html::message_row(&message, None, true, false);
                        sheet.push_str(&format!("{}\n\n", laid_out(&row.into_string())));
                    }
                }
            });
        }
        insta::with_settings!({ snapshot_path => "snapshots/html", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(tool, sheet);
        });
    }
}

/// All sessions in one output.
fn contact_sheet(write: impl Fn(&dyn Book, &mut Vec<u8>) -> io::Result<()>) -> String {
    let mut sheet = Vec::new();
    for (tool, files) in sessions() {
        for file in files {
            sheet.extend(format!("═══ {tool}, {}\n\n", file.file_stem().unwrap().to_string_lossy()).into_bytes());
            read(&file).with_book(|_, book| write(book, &mut sheet)).unwrap();
            sheet.push(b'\n');
        }
    }
    String::from_utf8(sheet).unwrap()
}

#[test]
fn each_kind_of_tool_in_the_terminal() {
    let sheet = contact_sheet(|book, out| {
        let options = terminal::TerminalOptions { width: 80, all: true, ..terminal::TerminalOptions::default() };
        terminal::session(book, &options, out)
    });
    let colours = Regex::new("\x1b\\[[0-9;]*m").unwrap();
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("terminal", colours.replace_all(&sheet, ""));
    });
}

#[test]
fn each_kind_of_tool_in_markdown() {
    let options = ExportOptions { bodies: ShownBodies::All, ..ExportOptions::default() };
    let sheet = contact_sheet(|book, out| support::export("md", book, &options, out));
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("markdown", sheet);
    });
}

#[test]
fn every_view_has_a_session_that_it_shows() {
    let sessions = sessions();
    let names: BTreeSet<&str> = TOOLS.iter().map(|view| view.name()).collect();
    assert_eq!(names.len(), TOOLS.len(), "two views have one name");
    let folders: BTreeSet<&str> = sessions.iter().map(|(tool, _)| tool.as_str()).filter(|tool| *tool != "messages").collect();
    assert_eq!(folders, names, "the folders of {SESSIONS} are named after the views");
    for (tool, files) in sessions.iter().filter(|(tool, _)| tool != "messages") {
        for file in files {
            let shown = read(file).with_book(|_, book| stories(book).iter().filter(|story| tools::of(story).name() == tool).count());
            assert!(shown > 0, "{}: none of its calls is shown by the view `{tool}`", file.display());
        }
    }
}

#[test]
fn every_icon_takes_one_column() {
    for (_, files) in sessions() {
        for file in files {
            read(&file).with_book(|_, book| {
                for story in stories(book) {
                    let icon = tooltrail_view::call::head(&story).icon;
                    assert_eq!(unicode_width::UnicodeWidthStr::width(icon), 1, "{icon} of {}", story.row.tool);
                }
            });
        }
    }
}
