//! Whatever is asked, the answer is what the document says: each path and parameter it lists, with good values, odd ones and random ones.

use crate::asking::{Api, Said};
use crate::fits::misfit;
use crate::schema::document;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use std::time::Duration;

/// No question over the invented logs takes longer, on a machine that does other things as well.
const BOUND: Duration = Duration::from_secs(10);

/// A path and its parameters, as the document lists them.
struct Path {
    path: String,
    params: Vec<Value>,
    responses: Value,
}

/// What the document lists, without what never ends.
fn paths(document: &Value) -> Vec<Path> {
    let paths = document["paths"].as_object().expect("paths").iter();
    let read = |(path, item): (&String, &Value)| Path {
        path: path.clone(),
        params: item["get"]["parameters"].as_array().expect("parameters").clone(),
        responses: item["get"]["responses"].clone(),
    };
    paths.map(read).filter(|path| path.responses["200"]["content"]["text/event-stream"].is_null()).collect()
}

/// Values that a parameter takes.
fn good(param: &Value) -> Vec<String> {
    let schema = &param["schema"];
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut values: Vec<String> = schema["enum"].as_array().into_iter().flatten().map(text).collect();
    values.extend(["minimum", "maximum", "default"].iter().map(|word| &schema[word]).filter(|value| !value.is_null()).map(text));
    values.extend(Some(&param["example"]).filter(|value| !value.is_null()).map(text));
    values
}

/// Values that are odd, or wrong.
fn odd() -> Vec<String> {
    let long = "x".repeat(5000);
    let terms = "tool:x ".repeat(500);
    [
        "",
        " ",
        "0",
        "-1",
        "+5",
        "007",
        "1.5",
        "1e3",
        "1001",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999999",
        "NaN",
        "null",
        "true",
        "a",
        "ä",
        "日本語",
        "\u{202e}evil",
        "\u{0}",
        "a\u{0}b",
        "\n",
        "\t",
        "../../etc/passwd",
        "/etc/passwd:1",
        "%2F",
        "a/b",
        "a:b",
        ":",
        "::",
        "last",
        "last:failed",
        "last:last",
        "last:0",
        "last:99999999999999999999",
        "last:-1",
        "'",
        "\"",
        "\"never closed",
        "'; DROP TABLE call_rows; --",
        "<script>",
        "re:(",
        "re:((a+)+)+$",
        "re:(a{1000}){1000}",
        "status:nonsense",
        "stauts:failed",
        "since:yesterday",
        "since:9999-99-99",
        "took:..",
        "took:1s..0s",
        "not:not:not:x",
        "project:.",
        "project:~",
        "file:**/**/**",
        "session:*",
        "a,b",
        "&",
        "=",
        "#",
        "?",
        "\u{feff}",
        "AAAA",
        "eyJ2IjoxfQ",
        "is:gone",
        "is:gone x",
        &long,
        &terms,
    ]
    .map(str::to_owned)
    .to_vec()
}

fn encoded(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| if byte.is_ascii_alphanumeric() { char::from(*byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// The address of a path with values, each the bytes that are meant.
fn address(path: &Path, name: &[u8], query: &[(String, Vec<u8>)]) -> String {
    let place = path.path.replace("{id}", &encoded(name));
    let pairs: Vec<String> = query.iter().map(|(key, value)| format!("{}={}", encoded(key.as_bytes()), encoded(value))).collect();
    let mark = if pairs.is_empty() { "" } else { "?" };
    format!("/api/v1{place}{mark}{}", pairs.join("&"))
}

/// Fails unless an answer is one that the document promises, in good time.
fn check(document: &Value, path: &Path, address: &str, said: &Said) {
    let shown: String = address.chars().take(300).collect();
    assert!(said.took < BOUND, "{shown} took {:?}", said.took);
    // Without a name there is another path, or none.
    let elsewhere = said.status == 404 && said.json()["error"]["code"] == "not_found";
    assert!(said.status < 500, "{shown}: {} {}", said.status, said.text());
    let promised = &path.responses[said.status.to_string()];
    assert!(promised.is_object() || elsewhere, "{shown}: {} is not promised", said.status);
    if said.status != 200 {
        let error = serde_json::json!({ "$ref": "#/components/schemas/Error" });
        assert_eq!(
            (said.header("content-type"), misfit(document, &error, &said.json())),
            ("application/json", None),
            "{shown}: {}",
            said.text()
        );
        return;
    }
    let kind = said.header("content-type");
    let schema = &promised["content"][kind]["schema"];
    assert!(!schema.is_null(), "{shown}: {kind} is not promised");
    let rows = if kind == "application/x-ndjson" { said.rows() } else { vec![said.json()] };
    for row in rows {
        assert_eq!(misfit(document, schema, &row), None, "{shown}");
    }
}

#[test]
fn good_and_odd_values_of_every_parameter_are_answered_as_promised() {
    let api = Api::fixtures();
    let document = document(&api);
    let (mut asked, mut fine) = (0, 0);
    for path in paths(&document) {
        let mut ask = |name: &str, query: &[(String, Vec<u8>)]| {
            let address = address(&path, name.as_bytes(), query);
            let said = api.ask(&address);
            check(&document, &path, &address, &said);
            asked += 1;
            fine += usize::from(said.status == 200);
            said
        };
        let in_path = path.params.iter().find(|param| param["in"] == "path");
        let name = in_path.and_then(|param| param["example"].as_str()).unwrap_or_default().to_owned();
        let needs: Vec<(String, Vec<u8>)> = if path.path == "/search" { vec![("q".into(), b"needle".into())] } else { Vec::new() };
        let said = ask(&name, &needs);
        assert_eq!(said.status, 200, "{} as it is: {}", path.path, said.text());
        for odd in in_path.iter().flat_map(|_| odd()) {
            ask(&odd, &[]);
        }
        for param in path.params.iter().filter(|param| param["in"] == "query") {
            let key = param["name"].as_str().expect("a name").to_owned();
            let with = |value: &[u8]| {
                let others = needs.iter().filter(|(known, _)| *known != key).cloned();
                others.chain([(key.clone(), value.to_vec())]).collect::<Vec<_>>()
            };
            for value in good(param) {
                let (said, needs_text) = (ask(&name, &with(value.as_bytes())), path.path == "/search" && key == "q");
                assert!(said.status == 200 || needs_text, "{} {key}={value}: {}", path.path, said.text());
            }
            for value in odd() {
                ask(&name, &with(value.as_bytes()));
            }
            ask(&name, &with(&[0xff, 0xfe, b'x']));
            let fine = good(param).into_iter().next().unwrap_or_default().into_bytes();
            let twice: Vec<_> = with(&fine).into_iter().chain([(key.clone(), fine)]).collect();
            let said = ask(&name, &twice);
            assert_eq!((said.status, &said.json()["error"]["code"]), (400, &"repeated_parameter".into()), "{key}");
        }
        let said = ask(&name, &[("nonsense".into(), b"1".to_vec())]);
        assert_eq!((said.status, said.json()["error"]["parameter"].as_str().map(str::to_owned)), (400, Some("nonsense".into())));
    }
    println!("{asked} questions, {fine} of them answered");
    assert!(asked > 1000 && fine > 100, "{asked} {fine}");
}

/// Any value: of the right kind, odd, a filter, or bytes.
fn value(good: Vec<String>) -> BoxedStrategy<Vec<u8>> {
    let bytes = |texts: Vec<String>| texts.into_iter().map(String::into_bytes).collect::<Vec<_>>();
    let words = [
        "tool:Bash",
        "status:failed",
        "error",
        "\"a b\"",
        "not:",
        "re:.",
        "since:1d",
        "is:",
        "(",
        "kind:shell,read",
        "exit:1..",
        "session:0",
    ];
    let filter = proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..4).prop_map(|words| words.join(" ").into_bytes());
    let random = proptest::collection::vec(any::<u8>(), 0..40);
    let text = any::<String>().prop_map(String::into_bytes);
    let good = if good.is_empty() { vec!["1".to_owned()] } else { good };
    prop_oneof![
        proptest::sample::select(bytes(good)),
        proptest::sample::select(bytes(odd())),
        filter,
        random,
        text,
        any::<i64>().prop_map(|number| number.to_string().into_bytes())
    ]
    .boxed()
}

#[test]
fn random_questions_are_answered_as_promised() {
    let api = Api::fixtures();
    let document = document(&api);
    for path in paths(&document) {
        let mut runner = TestRunner::new(Config { cases: 60, failure_persistence: None, ..Config::default() });
        let in_query: Vec<Value> = path.params.iter().filter(|param| param["in"] == "query").cloned().collect();
        let each = in_query.iter().map(|param| (Just(param["name"].as_str().expect("a name").to_owned()), value(good(param))));
        let picked = each.map(proptest::option::of).collect::<Vec<_>>();
        runner
            .run(&(value(vec!["last".to_owned()]), picked), |(name, query)| {
                let query: Vec<(String, Vec<u8>)> = query.into_iter().flatten().collect();
                let address = address(&path, &name, &query);
                check(&document, &path, &address, &api.ask(&address));
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{}: {error}", path.path));
    }
}
