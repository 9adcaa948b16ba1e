//! `/events`: what changes, as server-sent events: the objects of `tail --json` and `list --json` as their data.
//!
//! | event | data |
//! |---|---|
//! | `begun`, `missed` | from here on changes are told; what was known has to be asked for, or asked for again |
//! | `requested`, `updated` | a call |
//! | `session` | a session |
//! | `message` | somebody said something: where it stands |
//! | `lost`, `gone` | a call, a session that is in no log any more |

use super::fault::{Code, Fault};
use super::question::Question;
use super::reply::Reply;
use crate::feed::{Follower, Told};
use crate::stream::{BREATH, event, spawn};
use axum::body::Bytes;
use serde_json::json;
use tokio::sync::mpsc::Sender;
use tokio::time::timeout;
use tooltrail_catalog::watch::{ChangeEvent, SubscribeOptions};
use tooltrail_model::row::VERSION;

pub(super) fn follow(question: &Question) -> Result<Reply, Fault> {
    let snapshot = question.snapshot()?;
    let filter = question.filter(&snapshot)?;
    let since = question.since().filter(|since| !since.is_empty());
    let query = question.get("q").unwrap_or_default().trim();
    let follower = question.app.hub().follow(query, SubscribeOptions { filter, ..SubscribeOptions::default() }, since);
    let busy = || Fault::new(Code::Busy, "Too many follow what changes already. Ask again when others have gone.");
    let follower = follower.ok_or_else(busy)?;
    Ok(Reply::Events(Box::new(|| spawn(|sender| write(follower, sender)))))
}

/// Writes events for as long as somebody reads them.
async fn write(mut follower: Follower, sender: Sender<Bytes>) {
    let mut piece = Bytes::from_static(b"retry: 1000\n\n");
    while sender.send(piece).await.is_ok() {
        let told = tokio::select! {
            told = timeout(BREATH, follower.next()) => told,
            () = sender.closed() => return,
        };
        let nothing = json!({ "v": VERSION }).to_string();
        piece = match told {
            // Nothing changes; it is noticed so when nobody is there any more.
            Err(_) => Bytes::from_static(b":\n\n"),
            Ok(Told::Begun) => event("begun", &follower.name(follower.last()), &nothing),
            Ok(Told::Missed) => event("missed", &follower.name(follower.last()), &nothing),
            Ok(Told::Changes(changes)) => {
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
            Ok(Told::Over) => return,
        };
    }
}

/// A change as an event: its kind and its data.
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
