//! `/s/{session}/export.html` and the like: a session as a file to save, without secrets unless asked for with them.

use super::session::Visit;
use crate::answer::{Answer, Trouble};
use crate::app_state::AppState;
use crate::open_sessions::SessionReader;
use crate::pipe::{self, Pipe};
use crate::request::PageRequest;
use std::io::{self, Write};
use tooltrail_formats::changes::told::{self, Which};
use tooltrail_formats::transcript::{Private, SessionBook};
use tooltrail_view::redact::Redactor;
use tooltrail_view::render::{html as web, json as data, markdown as text};

/// One file for a browser.
pub(crate) fn html(app: &AppState, request: &PageRequest) -> Result<Answer, Trouble> {
    file(app, request, To::Html)
}

/// Text for a document.
pub(crate) fn markdown(app: &AppState, request: &PageRequest) -> Result<Answer, Trouble> {
    file(app, request, To::Markdown)
}

/// For programs.
pub(crate) fn json(app: &AppState, request: &PageRequest) -> Result<Answer, Trouble> {
    file(app, request, To::Json)
}

/// What it changed in files.
pub(crate) fn patch(app: &AppState, request: &PageRequest) -> Result<Answer, Trouble> {
    file(app, request, To::Patch)
}

/// A format to save.
#[derive(Clone, Copy, PartialEq)]
enum To {
    Html,
    Markdown,
    Json,
    Patch,
}

/// Writes the file while it is sent.
fn file(app: &AppState, request: &PageRequest, to: To) -> Result<Answer, Trouble> {
    let visit = Visit::new(app, request)?;
    let (kind, extension) = match to {
        To::Html => ("text/html; charset=utf-8", "html"),
        To::Markdown => ("text/markdown; charset=utf-8", "md"),
        To::Json => ("application/json", "json"),
        To::Patch => ("text/x-diff; charset=utf-8", "patch"),
    };
    let name = visit.session.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').take(40).collect::<String>();
    let redactor =
        (request.get("redact") != Some("no")).then(|| Redactor::new(app.machine.home().as_deref(), app.machine.user().as_deref()));
    let (mut pipe, written) = Pipe::new();
    app.download(&visit.snapshot, visit.place, move |session| {
        pipe::finish(session.with(|reader| write(reader, to, redactor.as_ref(), &mut pipe)).and_then(|()| pipe.end()));
    })?;
    Ok(Answer::File(kind, format!("session-{name}.{extension}"), written))
}

fn write(reader: &SessionReader<'_>, to: To, redactor: Option<&Redactor>, out: &mut dyn Write) -> io::Result<()> {
    let change = |text: String| match redactor {
        Some(redactor) => redactor.text(text),
        None => text,
    };
    if to == To::Patch {
        // A patch is made of texts as they are; what should not be seen is taken out of it afterwards.
        let taking = redactor.is_some().then_some(&change as &tooltrail_formats::value::Change<'_>);
        return told::patch(reader.book(), &Which::default(), taking, out).map(|_| ());
    }
    let words = typed_arena::Arena::new();
    let private = redactor.is_some().then_some(Private { change: &change, words: &words });
    let book = SessionBook::read(reader.linked, &[reader.session], reader.now, reader.shelf, private);
    let note = redactor.map(|_| "Secrets, e-mail addresses and home directories were taken out before this was written.".to_owned());
    match to {
        To::Html => web::session(&book, &web::HtmlOptions { note, ..web::HtmlOptions::default() }, out),
        To::Markdown => {
            text::session(&book, &text::MarkdownOptions { selection: Default::default(), bodies: text::ShownBodies::Telling }, out)
        }
        To::Json | To::Patch => data::session(&book, &data::JsonOptions::default(), out),
    }
}
