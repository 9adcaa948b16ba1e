//! `/events`: live changes as server-sent events, with the objects of `tail --json` and `list --json` as data.
//!
//! | event | data |
//! |---|---|
//! | `begun`, `missed` | changes follow from here on; the client has to fetch its state, or fetch it again |
//! | `requested`, `updated` | a call |
//! | `session` | a session |
//! | `message` | position of a new message |
//! | `lost`, `gone` | a call or a session that is not in any log any more |

use super::error::{ApiError, Code};
use super::reply::Reply;
use super::request::ApiRequest;
use crate::feed::{FeedFollower, FeedUpdate};
use crate::stream::{BREATH, event, spawn};
use axum::body::Bytes;
use serde_json::json;
use tokio::sync::mpsc::Sender;
use tokio::time::timeout;
use tooltrail_catalog::watch::{ChangeEvent, SubscribeOptions};
use tooltrail_model::row::VERSION;

pub(super) fn follow(request: &ApiRequest) -> Result<Reply, ApiError> {
    let snapshot = request.snapshot()?;
    let filter = request.filter(&snapshot)?;
    let since = request.since().filter(|since| !since.is_empty());
    // Feeds are shared by the text of their filter, so spaces around it are removed.
    let query = request.get("q").unwrap_or_default().trim();
    let follower = request.app.hub().follow(query, SubscribeOptions { filter, ..SubscribeOptions::default() }, since);
    let busy = || ApiError::new(Code::Busy, "Too many clients follow changes. Try again later.");
    let follower = follower.ok_or_else(busy)?;
    Ok(Reply::Events(Box::new(|| spawn(|sender| write(follower, sender)))))
}

/// Writes events while the client reads them.
async fn write(mut follower: FeedFollower, sender: Sender<Bytes>) {
    let mut piece = Bytes::from_static(b"retry: 1000\n\n");
    while sender.send(piece).await.is_ok() {
        let told = tokio::select! {
            told = timeout(BREATH, follower.next()) => told,
            () = sender.closed() => return,
        };
        let nothing = json!({ "v": VERSION }).to_string();
        piece = match told {
            // A comment: writing is the only way to notice that the client is gone.
            Err(_) => Bytes::from_static(b":\n\n"),
            Ok(FeedUpdate::Begun) => event("begun", &follower.name(follower.last()), &nothing),
            Ok(FeedUpdate::Missed) => event("missed", &follower.name(follower.last()), &nothing),
            // One write for all changes that have come, each with the name from which a client can continue.
            Ok(FeedUpdate::Changes(changes)) => {
                let events = changes.iter().filter_map(|(number, change)| {
                    let (kind, data) = told_as(change)?;
                    Some(event(kind, &follower.name(*number), &data))
                });
                events
                    .fold(Vec::new(), |mut all, event| {
                        all.extend_from_slice(&event);
                        all
                    })
                    .into()
            }
            Ok(FeedUpdate::Over) => return,
        };
    }
}

/// Kind and data of the event for a change; `None` for changes that only pages need.
fn told_as(change: &ChangeEvent) -> Option<(&'static str, String)> {
    Some(match change {
        ChangeEvent::Requested { call } => ("requested", call.row.to_string()),
        ChangeEvent::Updated { call, .. } => ("updated", call.row.to_string()),
        ChangeEvent::Session { session } => ("session", session.row.to_string()),
        ChangeEvent::Message(message) => {
            let mut data = json!({ "v": VERSION });
            if let (Some(data), Ok(serde_json::Value::Object(fields))) = (data.as_object_mut(), serde_json::to_value(message)) {
                data.extend(fields);
            }
            ("message", data.to_string())
        }
        ChangeEvent::Lost { agent, session, call, again } => {
            ("lost", json!({ "v": VERSION, "agent": agent, "session": session, "call": call, "again": again }).to_string())
        }
        ChangeEvent::Gone { agent, session } => ("gone", json!({ "v": VERSION, "agent": agent, "session": session }).to_string()),
        ChangeEvent::Here { .. } | ChangeEvent::Begun { .. } | ChangeEvent::Touched { .. } | ChangeEvent::Lagged { .. } => return None,
    })
}
