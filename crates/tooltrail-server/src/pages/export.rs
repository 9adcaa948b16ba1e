//! `/s/{session}/export.html` and the like: a session as a file to save, without secrets unless asked for with them.
//!
//! Which files there are is decided by the list of outputs in `tooltrail-view`.

use super::session::Visit;
use crate::answer::{Answer, Trouble};
use crate::asked::Asked;
use crate::pipe::Pipe;
use crate::rooms::Room;
use crate::site::Site;
use std::io::{self, Write};
use std::sync::Arc;
use tooltrail_formats::changes::told::{SessionEdits, Which};
use tooltrail_formats::transcript::{Private, SessionBook};
use tooltrail_formats::value::Change;
use tooltrail_model::book::Book;
use tooltrail_view::redact::Redactor;
use tooltrail_view::render::outputs::{Export, ExportOptions, Output, OutputSource};

/// Writes the file while it is sent.
pub(crate) fn page(site: &Site, asked: &Asked) -> Result<Answer, Trouble> {
    let output = asked.name("file").strip_prefix("export.").and_then(Output::named);
    // Every other address below a session that no page has comes here too.
    let output = output.ok_or_else(|| Trouble::Missing(format!("There is no page `{}` here.", site.to(&asked.path))))?;
    let visit = Visit::new(site, asked)?;
    let name = visit.session.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').take(40).collect::<String>();
    let redactor =
        (asked.get("redact") != Some("no")).then(|| Redactor::new(site.machine.home().as_deref(), site.machine.user().as_deref()));
    let (mut pipe, written) = Pipe::new();
    site.apart(&Arc::clone(&visit.moment), visit.place, move |room| {
        // Who wanted it may have gone.
        let _ = write(room, output, redactor.as_ref(), &mut pipe).and_then(|()| pipe.end());
    })?;
    Ok(Answer::File(output.media_type, format!("session-{name}.{}", output.ending()), written))
}

fn write(room: &Room<'_>, output: &Output, redactor: Option<&Redactor>, out: &mut dyn Write) -> io::Result<()> {
    let change = |text: String| match redactor {
        Some(redactor) => redactor.text(text),
        None => text,
    };
    let change = redactor.is_some().then_some(&change as &Change<'_>);
    let which = Which::default();
    let changes = SessionEdits { book: &|| room.book, which: &which, change };
    let note = redactor.map(|_| "Secrets, e-mail addresses and home directories were taken out before this was written.".to_owned());
    let options = ExportOptions { note, ..ExportOptions::default() };
    let words = typed_arena::Arena::new();
    let redacted;
    let book: &dyn Book = match output.source {
        OutputSource::Changes => room.book,
        OutputSource::Session => {
            let private = change.map(|change| Private { change, words: &words });
            redacted = SessionBook::read(room.linked, &[room.session], room.now, room.shelf, private);
            &redacted
        }
    };
    (output.write)(&Export { book, changes: &changes, options: &options }, out)
}
