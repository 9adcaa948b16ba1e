//! Secrets of every shape, with random values, in every place where a log has texts; and lines that have to stay as they are.
//!
//! The tests look for the values themselves in what the redactor returns, so a label alone does not satisfy them.

use std::collections::BTreeMap;

use tooltrail_redact::Redactor;
use tooltrail_testkit::rng::Rng;
use tooltrail_testkit::secrets::{INNOCENT, Planted, SHAPES, Shape, plant};

/// Seeds of the values; `SECRET_SEEDS="3 5"` tries others.
fn seeds() -> Vec<u64> {
    match std::env::var("SECRET_SEEDS") {
        Ok(seeds) => seeds.split(' ').filter_map(|seed| seed.parse().ok()).collect(),
        Err(_) => vec![1, 7, 42, 1234, 99_999, 0xfeed],
    }
}

/// A place where a log has a text: what stands around the secret there.
type Carrier = (&'static str, fn(&str) -> String);

const CARRIERS: &[Carrier] = &[
    ("alone", |text| text.to_owned()),
    ("file", |text| format!("# settings\nname = app\n\n{text}\n\nend = yes\n")),
    ("output", |text| format!("$ run\nstarted at 10:00\n{text}\nfinished in 2 s\n")),
    ("command", |text| format!("cd /srv/app && {text}")),
    ("JSON string", |text| format!("{{\"type\":\"text\",\"text\":{},\"n\":1}}", serde_json::Value::from(text))),
    ("JSON in JSON", |text| serde_json::Value::from(format!("{{\"out\":{}}}", serde_json::Value::from(text))).to_string()),
    ("error", |text| format!("Error: request failed: {text}")),
    ("code block", |text| format!("Here it is:\n\n```\n{text}\n```\n\nAnd so on.")),
    ("numbered", |text| text.lines().enumerate().map(|(at, line)| format!("{:>6}\t{line}\n", at + 1)).collect()),
    ("patch", |text| format!("@@ -1,2 +1,3 @@\n a\n{}\n b\n", text.lines().map(|line| format!("+{line}")).collect::<Vec<_>>().join("\n"))),
    ("coloured", |text| format!("\u{1b}[1;32m{text}\u{1b}[0m\n")),
];

/// Whether a carrier can hold the text: a command is one line, and no setting.
fn fits(carrier: &str, text: &str) -> bool {
    match carrier {
        "command" | "error" => !text.contains('\n') && !text.starts_with('{') && !text.starts_with("- ") && !text.contains(" = "),
        _ => true,
    }
}

/// Leaks and attempts of one shape.
#[derive(Default)]
struct Tally {
    leaks: usize,
    attempts: usize,
    example: String,
}

fn try_shape(shape: &Shape, rng: &mut Rng, tally: &mut Tally) {
    let planted = plant(shape, rng);
    for (carrier, wrap) in CARRIERS.iter().filter(|(carrier, _)| fits(carrier, &planted.text)) {
        let carried = wrap(&planted.text);
        let out = Redactor::default().text(carried.clone());
        tally.attempts += 1;
        if planted.leaks_in(&out) {
            tally.leaks += 1;
            tally.example = format!("{} in {carrier}:\n      {carried:?}\n   -> {out:?}", shape.name);
        }
    }
}

#[test]
fn generated_secrets_do_not_leak() {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for seed in seeds() {
        let mut rng = Rng::new(seed);
        for shape in SHAPES {
            try_shape(shape, &mut rng, tallies.entry(shape.name).or_default());
        }
    }
    let leaks: usize = tallies.values().map(|tally| tally.leaks).sum();
    let attempts: usize = tallies.values().map(|tally| tally.attempts).sum();
    let examples: Vec<String> = tallies
        .values()
        .filter(|tally| tally.leaks > 0)
        .map(|tally| format!("{} of {}: {}", tally.leaks, tally.attempts, tally.example))
        .collect();
    let certain =
        SHAPES.iter().filter(|shape| shape.certain).filter(|shape| tallies.get(shape.name).is_some_and(|tally| tally.leaks > 0)).count();
    println!("{leaks} of {attempts} leak ({} shapes); shapes that must not: {certain}", SHAPES.len());
    assert!(SHAPES.len() >= 200 && attempts > 0);
    assert!(leaks * 1000 <= attempts * 5 && certain == 0, "{leaks} of {attempts} leak, {certain} certain shapes\n{}", examples.join("\n"));
}

#[test]
fn the_test_for_leaks_can_fail() {
    let planted = Planted { text: String::new(), values: vec!["ghp_abcdefgh1234".to_owned()] };
    assert!(planted.leaks_in("token ghp_abcdefgh1234 end"));
    assert!(planted.leaks_in("the tail abcdefgh1234 is left"));
    assert!(!planted.leaks_in("[github-token 1]"));
}

#[test]
fn innocent_lines_stay() {
    let changed: Vec<String> = INNOCENT
        .iter()
        .map(|line| (line, Redactor::default().text((*line).to_owned())))
        .filter(|(line, out)| out != **line)
        .map(|(line, out)| format!("{line:?}\n   -> {out:?}"))
        .collect();
    assert!(changed.is_empty(), "{} of {} changed:\n{}", changed.len(), INNOCENT.len(), changed.join("\n"));
}

#[test]
fn a_secret_has_one_label_everywhere() {
    let redactor = Redactor::default();
    assert_eq!(
        redactor.text("password: Tiger92x!\napi_key = \"k3J9sL2mQ8xZ7vB1\"".to_owned()),
        "password: [password 1]\napi_key = \"[api-key 1]\""
    );
    assert_eq!(redactor.text("sent Tiger92x! and k3J9sL2mQ8xZ7vB1 to it".to_owned()), "sent [password 1] and [api-key 1] to it");
    assert_eq!(redactor.text("password: Zebra44y?".to_owned()), "password: [password 2]");
    assert_eq!(redactor.text("PASSWORD=Tiger92x!".to_owned()), "PASSWORD=[password 1]");
    // A short value and a common word are redacted at their place alone.
    assert_eq!(
        redactor.text("PASSWORD=ab1 then ab1; PASSWORD=galaxy then galaxy".to_owned()),
        "PASSWORD=[password 3] then ab1; PASSWORD=[password 4] then galaxy"
    );
}

#[test]
fn secrets_are_seen_through_what_hides_them() {
    let token = format!("ghp_{}", "k3J9sL2mQ8xZ7vB1aW5e".repeat(2).get(..36).unwrap_or_default());
    let coded = tooltrail_testkit::secrets::base64(&format!("the token is {token} and more"));
    for (text, wanted) in [
        (format!("a {}\u{200b}{} b", &token[..9], &token[9..]), "a [github-token 1] b".to_owned()),
        (format!("a {}\u{1b}[1m{} b", &token[..9], &token[9..]), "a [github-token 1] b".to_owned()),
        (format!("a \\u0067{} b", &token[1..]), "a [github-token 1] b".to_owned()),
        (format!("a %67{} b", &token[1..]), "a [github-token 1] b".to_owned()),
        (format!("a {}\n{} b", &token[..24], &token[24..]), "a [github-token 1] b".to_owned()),
    ] {
        assert_eq!(Redactor::default().text(text.clone()), wanted, "{text:?}");
    }
    let out = Redactor::default().text(format!("data: {coded}"));
    let planted = Planted { text: String::new(), values: vec![coded] };
    assert!(out.contains("[github-token 1]") && !planted.leaks_in(&out), "{out}");
}
