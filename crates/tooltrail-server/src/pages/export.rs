//! `/s/{session}/export.html` and others: a session as a file, redacted unless `?redact=no`.
//!
//! The list of outputs in `tooltrail-view` decides which files there are.

use super::session::Visit;
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::open_sessions::SessionReader;
use crate::pipe::{self, Pipe};
use crate::request::PageRequest;
use std::io::{self, Write};
use tooltrail_formats::changes::report::{CallSelection, SessionEdits};
use tooltrail_formats::transcript::{Private, SessionBook};
use tooltrail_formats::value::RedactFn;
use tooltrail_model::book::Book;
use tooltrail_redact::Redactor;
use tooltrail_view::render::outputs::{self, Export, ExportOptions, Output, OutputSource};

/// Writes the file while it is sent.
pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let output = request.name("file").strip_prefix("export.").and_then(Output::named);
    // This route also gets every unknown address below a session.
    let output = output.ok_or_else(|| Trouble::Missing(format!("There is no page `{}`.", app.to(&request.path))))?;
    let visit = Visit::new(app, request)?;
    // Ids come from logs: only harmless characters may get into a header and a file name.
    let name = visit.session.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').take(40).collect::<String>();
    let redactor =
        (request.get("redact") != Some("no")).then(|| Redactor::new(app.machine.home().as_deref(), app.machine.user().as_deref()));
    let (mut pipe, written) = Pipe::new();
    app.download(&visit.snapshot, visit.place, move |session| {
        pipe::finish(session.with(|reader| write(reader, output, redactor.as_ref(), &mut pipe)).and_then(|()| pipe.end()));
    })?;
    Ok(PageResponse::File(output.media_type, format!("session-{name}.{}", output.ending()), written))
}

fn write(reader: &SessionReader<'_>, output: &Output, redactor: Option<&Redactor>, out: &mut dyn Write) -> io::Result<()> {
    let change = |text: String| match redactor {
        Some(redactor) => redactor.text(text),
        None => text,
    };
    let change = redactor.is_some().then_some(&change as &RedactFn<'_>);
    if let Some(change) = change {
        learn(reader, change)?;
    }
    let which = CallSelection::default();
    let changes = SessionEdits { book: &|| reader.book(), which: &which, change };
    let note = redactor.map(|_| "Secrets, e-mail addresses and home directories were redacted.".to_owned());
    let options = ExportOptions { note, ..ExportOptions::default() };
    // Redacted texts are new strings that the book borrows, so the arena has to outlive it.
    let words = typed_arena::Arena::new();
    let redacted;
    let book: &dyn Book = match output.source {
        // Outputs of changes redact while they write, so the open book serves.
        OutputSource::Changes => reader.book(),
        OutputSource::Session => {
            let private = change.map(|change| Private { change, words: &words });
            redacted = SessionBook::read(reader.linked, &[reader.session], reader.now, reader.disk, private);
            &redacted
        }
    };
    (output.write)(&Export { book, changes: &changes, options: &options }, out)
}

/// Changes every text of the session once before the first is written: a secret that is recognised at one place is redacted at all
/// others, in those before it and in titles too.
pub(super) fn learn(reader: &SessionReader<'_>, change: &RedactFn<'_>) -> io::Result<()> {
    let words = typed_arena::Arena::new();
    let private = Private { change, words: &words };
    outputs::read_through(&SessionBook::read(reader.linked, &[reader.session], reader.now, reader.disk, Some(private)))
}
