//! `/s/{session}/export.html` and the like: a session as a file to save, without secrets unless asked for with them.

use super::session::Visit;
use crate::answer::{Answer, Trouble};
use crate::asked::Asked;
use crate::pipe::Pipe;
use crate::rooms::Room;
use crate::site::Site;
use std::io::{self, Write};
use std::sync::Arc;
use tooltrail_formats::changes::told::{self, Which};
use tooltrail_formats::transcript::{Private, SessionBook};
use tooltrail_view::redact::Redactor;
use tooltrail_view::render::{html as web, json as data, markdown as text};

/// One file for a browser.
pub(crate) fn html(site: &Site, asked: &Asked) -> Result<Answer, Trouble> {
    file(site, asked, To::Html)
}

/// Text for a document.
pub(crate) fn markdown(site: &Site, asked: &Asked) -> Result<Answer, Trouble> {
    file(site, asked, To::Markdown)
}

/// For programs.
pub(crate) fn json(site: &Site, asked: &Asked) -> Result<Answer, Trouble> {
    file(site, asked, To::Json)
}

/// What it changed in files.
pub(crate) fn patch(site: &Site, asked: &Asked) -> Result<Answer, Trouble> {
    file(site, asked, To::Patch)
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
fn file(site: &Site, asked: &Asked, to: To) -> Result<Answer, Trouble> {
    let visit = Visit::new(site, asked)?;
    let (kind, extension) = match to {
        To::Html => ("text/html; charset=utf-8", "html"),
        To::Markdown => ("text/markdown; charset=utf-8", "md"),
        To::Json => ("application/json", "json"),
        To::Patch => ("text/x-diff; charset=utf-8", "patch"),
    };
    let name = visit.session.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').take(40).collect::<String>();
    let redactor =
        (asked.get("redact") != Some("no")).then(|| Redactor::new(site.machine.home().as_deref(), site.machine.user().as_deref()));
    let (mut pipe, written) = Pipe::new();
    site.apart(&Arc::clone(&visit.moment), visit.place, move |room| {
        // Who wanted it may have gone.
        let _ = write(room, to, redactor.as_ref(), &mut pipe).and_then(|()| pipe.end());
    })?;
    Ok(Answer::File(kind, format!("session-{name}.{extension}"), written))
}

fn write(room: &Room<'_>, to: To, redactor: Option<&Redactor>, out: &mut dyn Write) -> io::Result<()> {
    let change = |text: String| match redactor {
        Some(redactor) => redactor.text(text),
        None => text,
    };
    if to == To::Patch {
        // A patch is made of texts as they are; what should not be seen is taken out of it afterwards.
        let taking = redactor.is_some().then_some(&change as &tooltrail_formats::value::Change<'_>);
        return told::patch(room.book, &Which::default(), taking, out).map(|_| ());
    }
    let words = typed_arena::Arena::new();
    let private = redactor.is_some().then_some(Private { change: &change, words: &words });
    let book = SessionBook::read(room.linked, &[room.session], room.now, room.shelf, private);
    let note = redactor.map(|_| "Secrets, e-mail addresses and home directories were taken out before this was written.".to_owned());
    match to {
        To::Html => web::session(&book, &web::HtmlOptions { note, ..web::HtmlOptions::default() }, out),
        To::Markdown => {
            text::session(&book, &text::MarkdownOptions { selection: Default::default(), bodies: text::ShownBodies::Telling }, out)
        }
        To::Json | To::Patch => data::session(&book, &data::JsonOptions::default(), out),
    }
}
