//! `/events`: server-sent events for open pages. One connection of a browser serves all its pages, and a page that hears of a change asks
//! for what it shows. So nothing is lost where a connection is: after a pause everybody asks once.

use crate::answer::headed;
use crate::app_state::AppState;
use crate::feed::{Follower, Told};
use crate::pipe::{Written, stream};
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

/// How long changes are gathered before they are told: agents write several records at once.
const GATHER: Duration = Duration::from_millis(20);
/// How often something is sent when nothing changes, so that it is noticed when nobody is there any more.
pub(crate) const BREATH: Duration = Duration::from_secs(15);
/// What may wait for a reader that does not read.
const ROOM: usize = 16;

/// What pages are told: which sessions are not as they were, and whether lists of sessions are not.
#[derive(Serialize)]
struct Notice<'a> {
    sessions: BTreeSet<&'a str>,
    lists: bool,
}

/// The stream for pages.
pub(crate) fn events(app: &Arc<AppState>, headers: &HeaderMap) -> Response {
    match app.hub().follow("", SubscribeOptions { touched: true, ..SubscribeOptions::default() }, last_event(headers)) {
        Some(follower) => spawn(|sender| pages(follower, sender)),
        None => headed(StatusCode::SERVICE_UNAVAILABLE, "text/plain; charset=utf-8", "no-store", "Too many listen already.\n".into()),
    }
}

/// Where a stream is to go on.
pub(crate) fn last_event(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id").and_then(|value| value.to_str().ok())
}

/// A response that is written by a task for as long as somebody reads it.
pub(crate) fn spawn<F: Future<Output = ()> + Send + 'static>(work: impl FnOnce(Sender<Bytes>) -> F) -> Response {
    let (sender, pieces) = mpsc::channel(ROOM);
    tokio::spawn(work(sender));
    headed(StatusCode::OK, "text/event-stream", "no-store", stream(Written::endless(pieces)))
}

/// An event, as it is sent. None of its parts has a line feed in it.
pub(crate) fn event(kind: &str, name: &str, data: &str) -> Bytes {
    Bytes::from(format!("event: {kind}\nid: {name}\ndata: {data}\n\n"))
}

async fn pages(mut follower: Follower, sender: Sender<Bytes>) {
    let mut piece = Bytes::from_static(b"retry: 1000\n\n");
    while sender.send(piece).await.is_ok() {
        let told = tokio::select! {
            told = timeout(BREATH, follower.next()) => told,
            () = sender.closed() => return,
        };
        piece = match told {
            Err(_) => Bytes::from_static(b":\n\n"),
            Ok(Told::Begun | Told::Missed) => event("look", &follower.name(follower.last()), "{}"),
            Ok(Told::Changes(mut changes)) => {
                sleep(GATHER).await;
                // What has come meanwhile is there already.
                let whole = match timeout(Duration::ZERO, follower.next()).await {
                    Ok(Told::Changes(more)) => {
                        changes.extend(more);
                        true
                    }
                    Err(_) => true,
                    Ok(_) => false,
                };
                let data = serde_json::to_string(&notice(&changes)).ok().filter(|_| whole);
                event(if data.is_some() { "changed" } else { "look" }, &follower.name(follower.last()), data.as_deref().unwrap_or("{}"))
            }
            // Whoever is cut off comes back, and looks.
            Ok(Told::Over) => return,
        };
    }
}

fn notice(changes: &[(u64, Arc<ChangeEvent>)]) -> Notice<'_> {
    let mut notice = Notice { sessions: BTreeSet::new(), lists: false };
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
