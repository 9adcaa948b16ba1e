//! `/events`: server-sent events for open pages. A browser has one connection for all its pages, and a page that hears
//! of a change fetches what it shows. So a lost connection loses nothing: after a gap every page fetches once.

use crate::answer::headed;
use crate::app_state::AppState;
use crate::feed::{FeedFollower, FeedUpdate};
use crate::pipe::{PipeReader, stream};
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{self, Sender};
use tokio::time::{sleep, timeout};
use tooltrail_catalog::watch::{ChangeEvent, SubscribeOptions};

/// Time in which changes are collected into one event: agents write several records at once.
const GATHER: Duration = Duration::from_millis(20);
/// Interval of comments while nothing changes. Writing is the only way to notice a dead connection.
pub(crate) const BREATH: Duration = Duration::from_secs(15);
/// Number of pieces that may wait for a slow client.
const SPACE: usize = 16;

/// An event for pages: sessions that have changed, and whether lists of sessions have.
#[derive(Serialize)]
struct ChangeNotice<'a> {
    sessions: BTreeSet<&'a str>,
    lists: bool,
}

/// The stream for pages.
pub(crate) fn events(app: &Arc<AppState>, headers: &HeaderMap) -> Response {
    match app.hub().follow("", SubscribeOptions { touched: true, ..SubscribeOptions::default() }, last_event(headers)) {
        Some(follower) => spawn(|sender| pages(follower, sender)),
        None => headed(StatusCode::SERVICE_UNAVAILABLE, "text/plain; charset=utf-8", "no-store", "Too many open connections.\n".into()),
    }
}

/// Name of the last event that a client received, to continue after it.
pub(crate) fn last_event(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id").and_then(|value| value.to_str().ok())
}

/// A response that a task writes while the client reads it.
pub(crate) fn spawn<F: Future<Output = ()> + Send + 'static>(work: impl FnOnce(Sender<Bytes>) -> F) -> Response {
    let (sender, pieces) = mpsc::channel(SPACE);
    tokio::spawn(work(sender));
    headed(StatusCode::OK, "text/event-stream", "no-store", stream(PipeReader::endless(pieces)))
}

/// An event, as it is sent. None of its parts has a line feed in it.
pub(crate) fn event(kind: &str, name: &str, data: &str) -> Bytes {
    Bytes::from(format!("event: {kind}\nid: {name}\ndata: {data}\n\n"))
}

async fn pages(mut follower: FeedFollower, sender: Sender<Bytes>) {
    // Sent first, also to complete the response's head: the browser then knows that the connection stands.
    let mut piece = Bytes::from_static(b"retry: 1000\n\n");
    while sender.send(piece).await.is_ok() {
        let told = tokio::select! {
            told = timeout(BREATH, follower.next()) => told,
            // Without this the follower would count as present until the next event.
            () = sender.closed() => return,
        };
        piece = match told {
            Err(_) => Bytes::from_static(b":\n\n"),
            Ok(FeedUpdate::Begun | FeedUpdate::Missed) => event("look", &follower.name(follower.last()), "{}"),
            Ok(FeedUpdate::Changes(mut changes)) => {
                sleep(GATHER).await;
                // A zero timeout takes what has arrived, and does not wait.
                let whole = match timeout(Duration::ZERO, follower.next()).await {
                    Ok(FeedUpdate::Changes(more)) => {
                        changes.extend(more);
                        true
                    }
                    Err(_) => true,
                    // A gap or the end came meanwhile: the list of sessions is not complete, so pages have to look at
                    // everything.
                    Ok(_) => false,
                };
                let data = serde_json::to_string(&notice(&changes)).ok().filter(|_| whole);
                event(if data.is_some() { "changed" } else { "look" }, &follower.name(follower.last()), data.as_deref().unwrap_or("{}"))
            }
            // The browser reconnects by itself, and looks at everything.
            Ok(FeedUpdate::Over) => return,
        };
    }
}

fn notice(changes: &[(u64, Arc<ChangeEvent>)]) -> ChangeNotice<'_> {
    let mut notice = ChangeNotice { sessions: BTreeSet::new(), lists: false };
    for (_, change) in changes {
        let session = match &**change {
            ChangeEvent::Touched { session, .. } | ChangeEvent::Lost { session, .. } => session,
            ChangeEvent::Here { call } | ChangeEvent::Requested { call } | ChangeEvent::Updated { call, .. } => &call.session,
            ChangeEvent::Message(message) => &message.session,
            ChangeEvent::Session { session } => {
                notice.lists = true;
                &session.session
            }
            ChangeEvent::Gone { session, .. } => {
                notice.lists = true;
                session
            }
            ChangeEvent::Begun { .. } | ChangeEvent::Lagged { .. } => continue,
        };
        notice.sessions.insert(session);
    }
    notice
}
