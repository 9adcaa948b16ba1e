//! What the output of a program proves about its calls.

use tooltrail_model::script::{CallProof, ScriptEnd, ScriptRun};
use tooltrail_script::read;

/// Proofs after items of one record each, in short: `+`, `-`, `?` for worked, failed, unknown, with exit code, or `&` and the session of one that goes on.
fn proofs(program: &str, outputs: &[&[&str]], end: Option<ScriptEnd>) -> String {
    let script = read(program);
    let mut run = ScriptRun::new(&script, |call| call.tool == "x");
    for (record, items) in outputs.iter().enumerate() {
        for item in *items {
            run.push(&script, record, item);
        }
    }
    if let Some(end) = end {
        run.finish(&script, outputs.len().saturating_sub(1), end);
    }
    run.proofs(&script).iter().map(short).collect::<Vec<_>>().join(" ")
}

fn short(proof: &CallProof) -> String {
    let worked = proof.worked.map_or("?", |worked| if worked { "+" } else { "-" });
    let exit = proof.exit_code.map(|code| code.to_string()).unwrap_or_default();
    let session = proof.session.map(|session| session.to_string()).unwrap_or_default();
    let session = if proof.goes_on { format!("&{session}") } else { session };
    let by = proof.proved_by.map(|record| format!("@{record}")).unwrap_or_default();
    format!("{worked}{exit}{session}{by}")
}

const COMPLETED: Option<ScriptEnd> = Some(ScriptEnd::Completed);
const WHOLE: &str = r#"{"chunk_id":"a","wall_time_seconds":0.1,"exit_code":1,"original_token_count":1,"output":"exit_code\":0"}"#;
const SESSION: &str = r#"{"chunk_id":"a","wall_time_seconds":0.1,"session_id":7,"original_token_count":1,"output":"\"exit_code\":0"}"#;

#[test]
fn one_call() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("text(r)", &[WHOLE], "-1@0"),
        ("text(JSON.stringify(r))", &[SESSION], "?&7@0"),
        ("text(r.output)", &["exit_code: 1"], "?"),
        ("text(r.output); text(`exit ${r.exit_code}`)", &["exit 0", "exit 2"], "-2@0"),
        ("text(`${r.exit_code}\\n${r.output}`)", &["0\n1\n"], "+0@0"),
        // Which digits are the exit code's is not told.
        ("text(`${r.exit_code}${r.output}`)", &["12"], "?"),
        ("text(`${r.output}\\nexit=${r.exit_code}`)", &["exit=0\nexit=3"], "-3@0"),
        ("text(`exit=${r.exit_code} ${r.output} exit=${r.exit_code}`)", &["exit=0 a exit=0"], "+0@0"),
        // The output may hold a line like that of the program.
        ("text(`${r.output} exit=${r.exit_code} ${r.output}`)", &["a exit=0 b exit=1 c"], "?"),
        ("text({code: r.exit_code, out: r.output})", &[r#"{"code":5,"out":"a"}"#], "-5@0"),
        ("text({code: r.exit_code, out: r.output})", &[r#"{"out":"a"}"#], "?&@0"),
        ("text([1, {r}])", &[r#"[1,{"r":{"exit_code":4,"output":""}}]"#], "-4@0"),
        ("text(r.output); if (r.session_id) text(`S=${r.session_id}`)", &["a", "S=9"], "?&9@0"),
        ("text(r.output); if (r.session_id) text(`S=${r.session_id}`)", &["a"], "?"),
        ("text(r.output); if (r.exit_code !== 0) text(`E=${r.exit_code}`)", &["a"], "+0@0"),
        ("text(r.output); if (r.session_id) text(`S=${r.session_id}`); else text(`E=${r.exit_code}`)", &["S=1", "E=1"], "-1@0"),
        ("text(r.exit_code === 0 ? 'ok' : 'no')", &["ok"], "+0@0"),
        ("if (r.exit_code === 0) text('fine'); else if (r.exit_code) text('broken')", &["broken"], "-@0"),
        ("text(r.exit_code === 0 ? 'ok' : r.output)", &["ok"], "?"),
        ("if (r.exit_code) { text('no'); exit() } text('yes')", &["no"], "-@0"),
        ("text(`---\\n${typeof r === 'string' ? r : JSON.stringify(r)}\\n`)", &[&format!("---\n{WHOLE}\n")], "-1@0"),
        ("text([r.exit_code, r.session_id].join(','))", &[",8"], "?&8@0"),
        // Output that is not that of the program proves nothing.
        ("text(`E=${r.exit_code}`)", &["E=one"], "?"),
        ("text(`E=${r.exit_code}`)", &["E=1", "E=2"], "?"),
        ("for (const a of r.list) text(a); text(`E=${r.exit_code}`)", &["E=1"], "?"),
        ("text(`${r.exit_code}`)", &["undefined"], "?&@0"),
    ];
    for (program, items, expected) in cases {
        let program = format!("const r = await tools.x({{}}); {program}");
        assert_eq!(proofs(&program, &[items], COMPLETED), *expected, "{program} {items:?}");
    }
}

#[test]
fn cut_items() {
    let cut = "Warning: truncated output (original token count: 9)\nTotal output lines: 3\n\n";
    let whole = format!("{cut}{{\"chunk_id\":\"a\",\"exit_code\":3,\"output\":\"a…9 tokens truncated…,\\\"exit_code\\\":0,");
    let cases: &[(&str, &[&str], &str)] = &[
        ("text(r)", &[&whole], "?"),
        ("text(r.output); text(r)", &[&whole], "?"),
        ("text(`E=${r.exit_code}\\n${r.output}`)", &[&format!("{cut}E=2\na…9 tokens truncated…b")], "?"),
        ("text(`${r.output}E=${r.exit_code}`)", &[&format!("{cut}a…9 tokens truncated…E=0")], "?"),
        // Two items were not joined: the first is one that the tool itself had cut.
        ("text(r.output); text(`E=${r.exit_code}`)", &[&format!("{cut}a…9 tokens truncated…b"), "E=4"], "-4@0"),
        ("text(r)", &[r#"{"exit_code":1,"output":"a…9 tokens truncated…b"}"#], "-1@0"),
    ];
    for (program, items, expected) in cases {
        let program = format!("const r = await tools.x({{}}); {program}");
        assert_eq!(proofs(&program, &[items], COMPLETED), *expected, "{program} {items:?}");
    }
    let two = "const [a, b] = await Promise.all([tools.x({}), tools.x({})]); text({a, b})";
    let mixed = r#"{"a":{"exit_code":0,"output":"…9 tokens truncated…"},"b":{"exit_code":1,"output":""}}"#;
    assert_eq!(proofs(two, &[&[mixed]], COMPLETED), "? ?");
}

#[test]
fn several_calls() {
    let program = "const rs = await Promise.all([tools.x({}), tools.x({}), tools.y({})]); rs.forEach((r, i) => text(`---${i}---\\n${r.output}\\nexit=${r.exit_code}`))";
    assert_eq!(
        proofs(program, &[&["---0---\n\nexit=0", "---1---\nexit=0\nexit=2", "---2---\n\nexit=undefined"]], COMPLETED),
        "+0@0 -2@0 +@0"
    );
    // A script goes on in later records.
    let program =
        "const a = await tools.x({}); text(`A${a.exit_code}`); const b = await tools.x({}); text(`B${b.exit_code}`); await tools.y({})";
    assert_eq!(proofs(program, &[&["A0"]], None), "+0@0 ? ?");
    assert_eq!(proofs(program, &[&["A0"], &[], &["B1"]], COMPLETED), "+0@0 -1@2 +@2");
    assert_eq!(proofs(program, &[&["A0"], &["B1"]], Some(ScriptEnd::Failed)), "+0@0 -1@1 ?");
}

#[test]
fn tools_that_throw() {
    let cases = [
        ("text(await tools.y({}))", COMPLETED, "+@0"),
        ("const r = await tools.y({}); text(`${typeof r === 'string' ? r : JSON.stringify(r)}!`)", Some(ScriptEnd::Failed), "?"),
        ("tools.y({}); text('a')", COMPLETED, "?"),
        ("try { await tools.y({}) } catch {} text('a')", COMPLETED, "?"),
        ("if (later()) await tools.y({}); text('a')", COMPLETED, "?"),
        ("await tools.y({}); text('a')", Some(ScriptEnd::Failed), "?"),
        ("await tools.y({}); text('a')", Some(ScriptEnd::Terminated), "?"),
        ("text(await tools.y({})); text(await tools.y({}))", Some(ScriptEnd::Failed), "+@0 ?"),
    ];
    for (program, end, expected) in cases {
        assert_eq!(proofs(program, &[&["a"]], end), expected, "{program}");
    }
}
