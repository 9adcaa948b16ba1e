//! Tests of the guard: hosts, origins, users, credentials, codes.

use super::*;

fn guard(admission: Admission) -> Guard {
    Guard::new(7432, admission, Some(1000)).unwrap()
}

fn entry(guard: &Guard, method: &Method, address: &str, headers: &[(&str, &str)], peer: Peer) -> Entry {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
    }
    guard.entry(method, &address.parse().unwrap(), &map, peer)
}

/// The status of a refusal; `None` if the owner is let in.
fn status(guard: &Guard, method: &Method, headers: &[(&str, &str)]) -> Option<u16> {
    match entry(guard, method, "/", headers, Peer::Owner) {
        Entry::Closed(refusal) => Some(refusal.status().as_u16()),
        _ => None,
    }
}

#[test]
fn only_names_of_this_machine_are_answered() {
    let guard = guard(Admission::Owner);
    for host in ["127.0.0.1", "127.0.0.1:7432", "127.8.9.1:1", "localhost", "LocalHost:99", "[::1]", "[::1]:7432"] {
        assert_eq!(status(&guard, &Method::GET, &[("host", host)]), None, "{host}");
    }
    for host in ["evil.example", "evil.example:7432", "192.168.0.1", "localhost.evil.example", "127.0.0.1.evil.example", "", "0.0.0.0"] {
        assert_eq!(status(&guard, &Method::GET, &[("host", host)]), Some(403), "{host}");
    }
    assert_eq!(status(&guard, &Method::GET, &[]), Some(400));
    assert_eq!(status(&guard, &Method::GET, &[("host", "localhost"), ("host", "evil.example")]), Some(400));
    assert_eq!(status(&guard, &Method::POST, &[("host", "localhost")]), Some(405));
}

#[test]
fn without_credentials_other_machines_ask_by_an_address() {
    let guard = guard(Admission::Anybody);
    for host in ["127.0.0.1:7432", "localhost", "192.168.0.1:7432", "[2001:db8::1]:7432"] {
        assert_eq!(status(&guard, &Method::GET, &[("host", host)]), None, "{host}");
    }
    for host in ["evil.example", "box.lan:7432", "192.168.0.1.evil.example", ""] {
        assert_eq!(status(&guard, &Method::GET, &[("host", host)]), Some(403), "{host}");
    }
}

#[test]
fn pages_of_others_are_refused() {
    let guard = guard(Admission::Owner);
    let from = |headers: &[(&str, &str)]| status(&guard, &Method::GET, &[&[("host", "127.0.0.1:7432")], headers].concat());
    assert_eq!(from(&[("origin", "http://127.0.0.1:7432")]), None);
    for origin in ["http://evil.example", "null", "http://127.0.0.1:7433", "http://127.0.0.1", "file://", "http://localhost:7432"] {
        assert_eq!(from(&[("origin", origin)]), Some(403), "{origin}");
    }
    assert_eq!(from(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]), None);
    let frame = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
    assert_eq!(from(&frame), Some(403));
    assert_eq!(from(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")]), Some(403));
    assert_eq!(from(&[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")]), Some(403));
    assert_eq!(from(&[("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")]), None);
}

/// A request with a header, from a user, in a guard of each kind that wants credentials.
fn with(guard: &Guard, peer: Peer, header: (&str, &str)) -> Entry {
    entry(guard, &Method::GET, "/sessions", &[("host", "127.0.0.1:7432"), header], peer)
}

const NOTHING: (&str, &str) = ("accept", "*/*");

#[test]
fn the_owner_needs_nothing_and_another_user_gets_nothing() {
    let guard = guard(Admission::Owner);
    let cookie = format!("tooltrail-7432={}", guard.access.cookie.reveal());
    let token = format!("Bearer {}", guard.token());
    let credentials = [("cookie", cookie.as_str()), ("authorization", token.as_str())];
    assert_eq!(with(&guard, Peer::Owner, NOTHING), Entry::Open);
    assert_eq!(with(&guard, Peer::Other, NOTHING), Entry::Closed(Refusal::OtherUser));
    assert_eq!(with(&guard, Peer::Unknown, NOTHING), Entry::Closed(Refusal::NoCredential));
    for credential in credentials {
        assert_eq!(with(&guard, Peer::Other, credential), Entry::Closed(Refusal::OtherUser));
        assert_eq!(with(&guard, Peer::Unknown, credential), Entry::Open);
    }
}

#[test]
fn beyond_this_machine_everybody_needs_a_credential() {
    let guard = guard(Admission::Credential);
    let token = guard.token().to_owned();
    for peer in [Peer::Owner, Peer::Other, Peer::Unknown] {
        let with = |value: &str| with(&guard, peer, ("authorization", value));
        assert_eq!(with(&format!("Bearer {token}")), Entry::Open);
        assert_eq!(with(&format!("bearer  {token} ")), Entry::Open);
        assert_eq!(with(&format!("Basic {}", STANDARD.encode(format!("me:{token}")))), Entry::Open);
        for wrong in [&format!("Bearer {}", &token[1..]), &format!("Bearer {token}0"), "Basic !!", &format!("Digest {token}"), &token, ""] {
            assert_eq!(with(wrong), Entry::Closed(Refusal::NoCredential), "{wrong}");
        }
    }
    assert_eq!(entry(&guard, &Method::GET, "/", &[("host", "box.lan:7432")], Peer::Owner), Entry::Closed(Refusal::NoCredential));
    let twice = [("host", "box.lan"), ("authorization", "Bearer 0"), ("authorization", &format!("Bearer {token}"))];
    assert_eq!(entry(&guard, &Method::GET, "/", &twice, Peer::Unknown), Entry::Closed(Refusal::NoCredential));
}

#[test]
fn a_cookie_is_found_among_others_and_only_by_its_name() {
    let guard = guard(Admission::Owner);
    let value = guard.access.cookie.reveal();
    for cookies in [
        format!("tooltrail-7432={value}"),
        format!("theme=dark; tooltrail-7432={value}; other=1"),
        format!("tooltrail-7432=0;tooltrail-7432={value}"),
    ] {
        assert_eq!(with(&guard, Peer::Unknown, ("cookie", &cookies)), Entry::Open, "{cookies}");
    }
    for cookies in [
        format!("tooltrail-7433={value}"),
        format!("tooltrail={value}"),
        format!("tooltrail-7432={}", &value[..63]),
        format!("tooltrail-7432={}", guard.token()),
        format!("tooltrail-7432 {value}"),
        value.to_owned(),
        ";;==;".to_owned(),
    ] {
        assert_eq!(with(&guard, Peer::Unknown, ("cookie", &cookies)), Entry::Closed(Refusal::NoCredential), "{cookies}");
    }
}

#[test]
fn a_code_is_exchanged_for_a_cookie_once() {
    let guard = guard(Admission::Owner);
    let ask = |method: &Method, address: &str, headers: &[(&str, &str)], peer| {
        entry(&guard, method, address, &[&[("host", "127.0.0.1:7432")], headers].concat(), peer)
    };
    let address = format!("/?code={}", guard.code(Peer::Unknown).unwrap());
    let (get, head) = (Method::GET, Method::HEAD);
    // What may not use it does not use it up.
    assert_eq!(ask(&head, &address, &[], Peer::Unknown), Entry::Closed(Refusal::NoCredential));
    assert_eq!(ask(&get, &address.replace("/?", "/sessions?"), &[], Peer::Unknown), Entry::Closed(Refusal::NoCredential));
    assert_eq!(ask(&get, &address, &[], Peer::Other), Entry::Closed(Refusal::OtherUser));
    assert_eq!(ask(&get, &address, &[("origin", "http://evil.example")], Peer::Unknown), Entry::Closed(Refusal::Foreign));
    let Entry::Welcome(Some(cookie)) = ask(&get, &address, &[], Peer::Unknown) else { panic!("it is valid") };
    let (pair, flags) = cookie.split_once("; ").unwrap();
    assert_eq!(flags, "Path=/; HttpOnly; SameSite=Strict");
    assert_eq!(pair.strip_prefix("tooltrail-7432=").map(str::len), Some(64), "256 bits in hexadecimal digits");
    assert_eq!(ask(&get, "/", &[("cookie", pair)], Peer::Unknown), Entry::Open);
    assert_eq!(ask(&get, &address, &[], Peer::Unknown), Entry::Closed(Refusal::OldCode));
    assert_eq!(ask(&get, "/?code=", &[], Peer::Unknown), Entry::Closed(Refusal::OldCode));
    // Going back to that address leads to the page.
    assert_eq!(ask(&get, &address, &[("cookie", pair)], Peer::Unknown), Entry::Welcome(None));
}

#[test]
fn the_owner_gets_no_cookie_and_needs_no_code() {
    let guard = guard(Admission::Owner);
    assert_eq!(guard.code(Peer::Owner), None);
    let address = format!("/?code={}", guard.code(Peer::Unknown).unwrap());
    assert_eq!(entry(&guard, &Method::GET, &address, &[("host", "localhost")], Peer::Owner), Entry::Welcome(None));
    // Used up all the same.
    assert_eq!(entry(&guard, &Method::GET, &address, &[("host", "localhost")], Peer::Unknown), Entry::Closed(Refusal::OldCode));
    assert_eq!(Guard::new(1, Admission::Anybody, None).unwrap().code(Peer::Unknown), None);
    assert!(Guard::new(1, Admission::Credential, Some(1000)).unwrap().code(Peer::Owner).is_some());
}

#[test]
fn secrets_are_not_in_what_is_logged() {
    let guard = guard(Admission::Owner);
    let code = guard.code(Peer::Unknown).unwrap();
    let shown = format!("{guard:?}");
    for secret in [guard.token(), guard.access.cookie.reveal(), &code] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
