//! Single answers: names of sessions and calls, what is wrong with a question, methods, tags, and who may ask.

use crate::asking::{Api, Logs};
use crate::support::{WAITING, WORKING};
use serde_json::json;

#[test]
fn sessions_and_calls_have_several_names() {
    let (api, _home) = Api::demo();
    let row = api.get(&format!("/api/v1/sessions/{WORKING}"));
    assert_eq!(row["session"], WORKING);
    assert_eq!(api.get("/api/v1/sessions/91f7"), row);
    assert_eq!(api.get("/api/v1/sessions/last"), row);
    let calls = api.get(&format!("/api/v1/calls?q=session:{WORKING}&limit=1000"))["items"].clone();
    let first = &calls[0];
    let (file, line) = (first["request"]["file"].as_str().expect("a file"), &first["request"]["line"]);
    for name in [
        first["call"].as_str().expect("an id"),
        "91f7:1",
        "last:1",
        &format!("{WORKING}:1"),
        &format!("{}:{line}", file.replace('/', "%2F")),
    ] {
        assert_eq!(&api.get(&format!("/api/v1/calls/{name}")), first, "{name}");
    }
    let last = calls.as_array().and_then(|calls| calls.last()).expect("calls");
    assert_eq!(&api.get("/api/v1/calls/91f7:last"), last);
    let failed = api.get("/api/v1/calls/last:failed");
    assert_eq!(failed["status"], "failed");
    let newest = api.get("/api/v1/calls?q=status:failed&limit=1000")["items"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["requested_at"].to_string())
        .max();
    assert_eq!(Some(failed["requested_at"].to_string()), newest);
    // The result's line is the same call's.
    let result = &failed["result"];
    let name = format!("{}:{}", result["file"].as_str().expect("a file").replace('/', "%2F"), result["line"]);
    assert_eq!(api.get(&format!("/api/v1/calls/{name}"))["call"], failed["call"]);
    let full = api.get("/api/v1/calls/last:failed?full=1");
    assert_eq!((&full["type"], &full["call"]), (&json!("call"), &failed));
    assert!(full["view"]["head"]["name"].is_array() && full["input"].is_object());
    assert_eq!(api.get("/api/v1/calls/last:failed?full=0"), failed);
}

#[test]
fn what_is_wrong_is_told_with_a_code_and_its_place() {
    let (api, _home) = Api::demo();
    for (address, status, code, parameter) in [
        ("sessions?nonsense=1", 400, "unknown_parameter", Some("nonsense")),
        ("sessions/last?q=x", 400, "unknown_parameter", Some("q")),
        ("sessions?limit=1&limit=2", 400, "repeated_parameter", Some("limit")),
        ("sessions?limit=0", 400, "bad_value", Some("limit")),
        ("sessions?limit=1001", 400, "bad_value", Some("limit")),
        ("sessions?limit=", 400, "bad_value", Some("limit")),
        ("sessions?limit=ten", 400, "bad_value", Some("limit")),
        ("calls?copies=yes", 400, "bad_value", Some("copies")),
        ("stats?by=moon", 400, "bad_value", Some("by")),
        ("sessions?format=xml", 400, "bad_value", Some("format")),
        ("calls?after=nonsense", 400, "bad_cursor", Some("after")),
        ("calls?q=stauts:failed", 400, "bad_filter", Some("q")),
        ("calls?q=%FF", 400, "bad_value", None),
        ("calls?q=a%C3%28", 400, "bad_value", None),
        ("search", 400, "no_text", Some("q")),
        ("search?q=status:failed", 400, "no_text", Some("q")),
        ("sessions/nothing", 404, "no_such_session", Some("id")),
        ("sessions/%FF", 400, "bad_value", Some("id")),
        ("calls/nothing", 404, "no_such_call", Some("id")),
        ("calls/last:9999", 404, "no_such_call", Some("id")),
        ("calls/nothing:1", 404, "no_such_session", Some("id")),
        ("nonsense", 404, "not_found", None),
        ("sessions/a/b", 404, "not_found", None),
        ("", 404, "not_found", None),
        ("../v2/sessions", 404, "not_found", None),
    ] {
        let (said, error) = api.fault(&format!("/api/v1/{address}"));
        assert_eq!((said, error["code"].as_str(), error["parameter"].as_str()), (status, Some(code), parameter), "{address}: {error}");
    }
    for path in ["/api", "/api/", "/api/v1", "/api/v2/sessions"] {
        assert_eq!(api.fault(path).1["code"], "not_found", "{path}");
    }
    let (_, error) = api.fault("/api/v1/calls?q=%C3%A4%20stauts:failed%20tool:Bash");
    assert_eq!((&error["at"], &error["suggestion"]), (&json!([2, 9]), &json!("ä status:failed tool:Bash")));
    let (_, error) = api.fault("/api/v1/calls/:");
    assert!(error["message"].as_str().is_some_and(|say| !say.is_empty()));
    // What was given is quoted, and cannot act.
    let (_, error) = api.fault("/api/v1/sessions/%1B%5B31mx");
    assert!(error["message"].as_str().is_some_and(|say| say.contains("␛[31mx")), "{error}");
}

#[test]
fn a_name_that_several_sessions_have_is_told_with_them() {
    let api = Api::fixtures();
    let (status, error) = api.fault("/api/v1/sessions/0");
    assert_eq!((status, &error["code"]), (404, &json!("ambiguous_session")));
    let candidates = error["candidates"].as_array().expect("sessions");
    assert!(
        candidates.len() == 10 && candidates.iter().all(|one| one["session"].as_str().is_some_and(|id| id.starts_with('0'))),
        "{error}"
    );
}

#[test]
fn what_is_known_already_is_not_sent_again() {
    let (api, _home) = Api::demo();
    for path in [
        &format!("/api/v1/sessions/{WAITING}"),
        "/api/v1/calls/last:failed",
        "/api/v1/calls/last:failed?full=1",
        "/api/v1/openapi.json",
        "/api/v1/stats",
    ] {
        let said = api.ask(path);
        let tag = said.header("etag").to_owned();
        assert!(tag.starts_with('"') && said.header("cache-control") == "no-cache", "{path}: {tag}");
        for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
            let again = api.send("GET", path, &[("if-none-match", &known)]);
            assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, tag.as_str()), "{path} {known}");
        }
        assert_eq!(api.send("GET", path, &[("if-none-match", "\"other\"")]).body, said.body);
    }
}

#[test]
fn only_reading_is_answered() {
    let (api, _home) = Api::demo();
    for path in ["/api/v1/sessions", "/api/v1/sessions/last", "/api/v1/nonsense", "/api/v1/calls?format=jsonl"] {
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
            let said = api.send(method, path, &[]);
            assert_eq!(
                (said.status, said.header("allow"), said.json()["error"]["code"].as_str()),
                (405, "GET, HEAD", Some("method_not_allowed")),
                "{method} {path}"
            );
        }
        let (head, get) = (api.send("HEAD", path, &[]), api.ask(path));
        assert_eq!((head.status, head.header("content-type"), head.body.len()), (get.status, get.header("content-type"), 0), "{path}");
    }
    // Pages say it in their own way, as before.
    assert!(api.send("POST", "/", &[]).text().starts_with("The server is read-only"));
}

#[test]
fn others_are_refused_as_on_pages() {
    let (api, _home) = Api::demo();
    for headers in [&[("host", "evil.example")][..], &[("origin", "http://evil.example")], &[("sec-fetch-site", "cross-site")]] {
        let said = api.send("GET", "/api/v1/sessions", headers);
        assert_eq!((said.status, said.header("content-type")), (403, "text/plain; charset=utf-8"), "{headers:?}");
        assert!(said.headers.get("access-control-allow-origin").is_none());
    }
    let said = api.ask("/api/v1/sessions");
    assert_eq!((said.header("x-content-type-options"), said.header("cache-control")), ("nosniff", "no-store"));
    assert!(said.headers.get("access-control-allow-origin").is_none());
}

#[test]
fn while_the_logs_are_read_it_is_said_when_to_ask_again() {
    let api = Api::at("", Logs::Later);
    let said = api.ask("/api/v1/sessions");
    assert_eq!((said.status, said.header("retry-after"), said.json()["error"]["code"].as_str()), (503, "1", Some("still_reading")));
    // What needs no logs is there, and what is wrong is wrong.
    assert_eq!(api.ask("/api/v1/openapi.json").status, 200);
    assert_eq!(api.ask("/api/v1/sessions?limit=x").status, 400);
}

#[test]
fn a_site_below_another_path_has_its_own() {
    let home = tempfile::tempdir().expect("a directory");
    crate::support::demo(home.path());
    let api = Api::at("/demo", Logs::Home(home.path().to_owned())).ready();
    assert!(api.ask("/api/v1/calls?limit=1").header("link").starts_with("</demo/api/v1/calls?limit=1&after="));
    assert_eq!(api.get("/api/v1/openapi.json")["servers"][0]["url"], "/demo/api/v1");
    assert_eq!(api.fault("/api/v1/nonsense").0, 404);
    assert_eq!(api.send("POST", "/api/v1/calls", &[]).json()["error"]["code"], "method_not_allowed");
}
