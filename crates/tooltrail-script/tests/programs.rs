//! Constructs of programs: which calls and prints are read from each.

use tooltrail_model::script::{Argument, Condition, Piece, ResultPart, Script, States};
use tooltrail_script::read;

/// A script in short: calls with `?` where they may not run and `!` where an error is caught, then prints.
fn short(program: &str) -> String {
    shorten(&read(program))
}

fn shorten(script: &Script) -> String {
    let mut parts = Vec::new();
    for call in &script.calls {
        let argument = match &call.argument {
            Argument::Literal(value) => value.to_string(),
            Argument::Partly(members) => format!("{}…", serde_json::Value::Object(members.clone())),
            Argument::Computed => "…".to_owned(),
            Argument::Missing => String::new(),
        };
        let marks = [(!call.once, "?"), (call.caught, "!")].map(|(is, mark)| if is { mark } else { "" }).concat();
        parts.push(format!("{}{marks}({argument})", call.tool));
    }
    for print in &script.prints {
        let pieces: Vec<String> = print.pieces.iter().map(piece).collect();
        let when: Vec<String> = print.when.iter().map(condition).collect();
        parts.push(format!("> {}{}", pieces.join(" "), when.concat()));
    }
    if !script.complete {
        parts.push("incomplete".to_owned());
    }
    if !script.prints_known {
        parts.push("prints more".to_owned());
    }
    parts.join(" ")
}

fn piece(piece: &Piece) -> String {
    match piece {
        Piece::Literal(text) => format!("{text:?}"),
        Piece::Result { call, part: ResultPart::Whole } => format!("{call}"),
        Piece::Result { call, part: ResultPart::Member(name) } => format!("{call}.{name}"),
        Piece::Object(members) => {
            let members: Vec<String> = members.iter().map(|(name, member)| format!("{name}:{}", self::piece(member))).collect();
            format!("{{{}}}", members.join(","))
        }
        Piece::Array(elements) => format!("[{}]", elements.iter().map(self::piece).collect::<Vec<_>>().join(",")),
        Piece::Unknown => "*".to_owned(),
    }
}

fn condition(condition: &Condition) -> String {
    const NAMES: [(States, &str); 4] =
        [(States::ZERO, "zero"), (States::NONZERO, "nonzero"), (States::BACKGROUND, "background"), (States::WITH_OUTPUT, "output")];
    match condition {
        Condition::Result { call, states } => {
            let name = NAMES.iter().find_map(|(known, name)| {
                let name = if known == states { Some((*name).to_owned()) } else { None };
                name.or_else(|| {
                    (known.others() == *states)
                        .then(|| format!("not {name}", name = NAMES.iter().find(|it| it.0 == *known).map_or("", |it| it.1)))
                })
            });
            format!(" if {call} {}", name.unwrap_or_else(|| format!("{states:?}")))
        }
        Condition::Choice { holds, .. } => format!(" {}", if *holds { "maybe" } else { "maybe not" }),
    }
}

/// Asserts what is read from programs: pairs of a program and its short form.
fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(program, expected)| (program, expected, short(program)))
        .filter(|(_, expected, found)| **expected != found)
        .map(|(program, expected, found)| format!("{program}\n  expected {expected}\n  found    {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn arguments() {
    check(&[
        ("await tools.x({a: 1, 'b': [true, null, -2.5], [`c`]: {}})", r#"x({"a":1,"b":[true,null,-2.5],"c":{}})"#),
        (
            r#"await tools.x("a\n\u00e9\x41\u{1F600}\ud83d\ude00\
b")"#,
            r#"x("a\néA😀😀b")"#,
        ),
        ("await tools.x(`a\\n${'b'}${1}c`)", r#"x("a\nb1c")"#),
        ("await tools.x(String.raw`a\\n${'b'}`)", r#"x("a\\nb")"#),
        ("const cmd = 'a' + ' b' + ` c`; const o = {cwd: '/'}; await tools.x({cmd, ...o})", r#"x({"cmd":"a b c","cwd":"/"})"#),
        ("await tools.x({cmd: ['a', 'b'].join(' && ')})", r#"x({"cmd":"a && b"})"#),
        ("await tools.x({cmd: JSON.stringify({a: 1})})", r#"x({"cmd":"{\"a\":1}"})"#),
        ("await tools.x({cmd: later(), cwd: '/'})", r#"x({"cwd":"/"}…)"#),
        ("await tools.x({cwd: '/', ...more()})", "x({}…)"),
        ("await tools.x(later())", "x(…)"),
        ("await tools.x()", "x()"),
        ("await tools['a-b']({})", "a-b({})"),
        ("let o = {a: 1}; const p = o; p.a = 2; await tools.x(o)", "x(…)"),
        ("let c = 'a'; c = 'b'; await tools.x(c)", r#"x("b")"#),
        ("let c = 'a'; if (later()) c = 'b'; await tools.x(c)", "x(…)"),
        ("let c = 'a'; c += 'b'; await tools.x(c)", "x(…)"),
        ("// @exec: {\"yield_time_ms\": 100}\nawait tools.x({})", "x({})"),
    ]);
}

#[test]
fn calls() {
    check(&[
        ("const {x} = tools; await x({})", "x({})"),
        ("const {x: y} = tools; await y({})", "x({})"),
        ("const t = tools; await t.x({})", "x({})"),
        ("const f = tools.x; await f({})", "x({})"),
        ("await Promise.all([tools.a({}), tools.b({})])", "a({}) b({})"),
        ("await Promise.allSettled([tools.a({}), tools.b({})])", "a!({}) b!({})"),
        ("await tools.a({}).catch(() => null)", "a!({})"),
        ("tools.a({})", "a!({})"),
        ("const p = tools.a({}); await tools.b({}); await p", "a({}) b({})"),
        ("const run = (cmd) => tools.x({cmd}); await run('a'); await run('b')", r#"x({"cmd":"a"}) x({"cmd":"b"})"#),
        ("async function run(cmd, cwd = '/') { return await tools.x({cmd, cwd}) } await run('a')", r#"x({"cmd":"a","cwd":"/"})"#),
        (
            "const run = async ({cmd}) => { const r = await tools.x({cmd}); return r.output }; text(await run({cmd: 'a'}))",
            r#"x({"cmd":"a"}) > 0.output"#,
        ),
        ("await Promise.all(['a', 'b'].map(cmd => tools.x({cmd})))", r#"x({"cmd":"a"}) x({"cmd":"b"})"#),
        ("for (const cmd of ['a', 'b']) await tools.x({cmd})", r#"x({"cmd":"a"}) x({"cmd":"b"})"#),
        ("for (const cmd of list()) await tools.x({cmd})", "x?!({}…) incomplete"),
        ("for (let i = 0; i < 2; i++) await tools.x({i})", r#"x({"i":0}) x({"i":1})"#),
        ("for (let i = 0; i < many; i++) await tools.x({i})", "x?!({}…) incomplete"),
        ("for (let i = 0; i < 2; i++) { if (later()) break; await tools.x({i}) }", "x?!({}…) incomplete"),
        ("for (let i = 0; ; i++) await tools.x({i})", "x?!({}…) incomplete"),
        ("while (more()) { await tools.x({}) }", "x?!({}) incomplete"),
        ("list().map(a => tools.x({a}))", "x?!({}…) incomplete"),
        ("if (later()) await tools.x({})", "x?({}) incomplete"),
        ("later() && await tools.x({})", "x?({}) incomplete"),
        ("const r = later() ? await tools.a({}) : await tools.b({})", "a?({}) b?({}) incomplete"),
        ("if (later()) exit(); await tools.x({})", "x?({}) incomplete"),
        ("if (later()) throw new Error('no'); await tools.x({})", "x({})"),
        ("exit(); await tools.x({})", ""),
        ("const f = () => tools.x({}); later(f)", "x?!({}) incomplete"),
        ("const f = () => tools.x({});", ""),
        ("try { await tools.a({}); await tools.b({}) } catch (e) { await tools.c({}) }", "a!({}) b?!({}) c?({}) incomplete"),
        ("try { await tools.a({}) } finally { await tools.b({}) }", "a({}) b({})"),
        ("await tools[name]({})", "incomplete"),
        ("later(tools)", "incomplete"),
        ("later([1, [2, [tools]]])", "incomplete"),
        ("later({a: {b: [tools.x]}})", "incomplete"),
        ("const own = {run: [tools.x]}; later({own}); await own.run[0]({})", "incomplete"),
        ("const f = () => tools.x({}); later([[f]])", "x?!({}) incomplete"),
        ("const list = [[1], ['a']]; later(list); await tools.x({})", "x({})"),
        ("const list = [tools.x]; list.length = later(); await list[0]({})", "incomplete"),
        ("const o = {x: tools.x}; o[later()] = 1; await o.x({})", "incomplete"),
        ("text(`${(await tools.x({})).output}`)", "x({}) > 0.output"),
        ("const a = await tools.x({}); const {y} = await tools[a.output]({})", "x({}) incomplete"),
        (
            "const f = (a) => { if (a) return; tools.x({}) }; await f(1); if (later()) { if (more()) exit() } await tools.y({})",
            "y?({}) incomplete prints more",
        ),
        ("switch (later()) { case 1: await tools.x({}) }", "x?!({}) incomplete"),
        ("await tools.x({}) await", "x?!({}) incomplete prints more"),
    ]);
}

#[test]
fn prints() {
    check(&[
        ("const r = await tools.x({}); text(r); text(JSON.stringify(r, null, 2)); text(r.output)", "x({}) > 0 > 0 > 0.output"),
        ("const {output, exit_code: e} = await tools.x({}); text(`${e}: ${output}`)", r#"x({}) > 0.exit_code ": " 0.output"#),
        (
            "const [a, b] = await Promise.all([tools.x({}), tools.y({})]); text(a.output + '\\n' + b?.exit_code)",
            r#"x({}) y({}) > 0.output "\n" 1.exit_code"#,
        ),
        (
            "const rs = await Promise.all([tools.x({}), tools.y({})]); for (const r of rs) text(r.output)",
            "x({}) y({}) > 0.output > 1.output",
        ),
        (
            "const rs = await Promise.all([tools.x({}), tools.y({})]); rs.forEach((r, i) => text(`${i}:${r.exit_code}`))",
            r#"x({}) y({}) > "0:" 0.exit_code > "1:" 1.exit_code"#,
        ),
        (
            "const rs = await Promise.all([tools.x({}), tools.y({})]); text(rs.map(r => r.output).join('\\n'))",
            r#"x({}) y({}) > 0.output "\n" 1.output"#,
        ),
        ("const rs = await Promise.all([tools.x({}), tools.y({})]); text(rs)", "x({}) y({}) > [0,1]"),
        ("const rs = []; rs.push(await tools.x({})); for (const [i, r] of rs.entries()) text(i + r.output)", r#"x({}) > "0" 0.output"#),
        (
            "const a = await tools.x({}); for (const [n, r] of Object.entries({a})) text(`${n}=${r.exit_code}`)",
            r#"x({}) > "a=" 0.exit_code"#,
        ),
        ("const rs = [await tools.x({})]; for (let i = 0; i < rs.length; i++) text(rs[i].output)", "x({}) > 0.output"),
        (
            "const r = await tools.x({}); text({name: 'a', ...r})",
            "x({}) > {name:*,exit_code:0.exit_code,session_id:0.session_id,output:0.output}",
        ),
        ("const r = await tools.x({}); text({a: 1, code: r.exit_code, r})", "x({}) > {a:*,code:0.exit_code,r:0}"),
        (
            "const r = await tools.x({}); text(r.output); if (r.session_id) text(`S=${r.session_id}`); else text('E=' + r.exit_code)",
            r#"x({}) > 0.output > "S=" 0.session_id if 0 background > "E=" 0.exit_code if 0 not background"#,
        ),
        ("const r = await tools.x({}); text(r.exit_code === 0 ? 'ok' : r.output)", r#"x({}) > "ok" if 0 zero > 0.output if 0 not zero"#),
        (
            "const r = await tools.x({}); text(`${r.exit_code ?? 'runs'}`)",
            r#"x({}) > "runs" if 0 background > 0.exit_code if 0 not background"#,
        ),
        ("const r = await tools.x({}); if (r.output.trim()) text(r.output)", "x({}) > 0.output maybe"),
        ("const r = await tools.x({}); if (r.output) text(r.output)", "x({}) > 0.output if 0 output"),
        ("const r = await tools.x({}); text(r.output || '(none)')", r#"x({}) > "(none)" if 0 not output > 0.output if 0 output"#),
        (
            "const r = await tools.x({}); if (r.exit_code !== 0) { text('no'); exit(); } text('yes')",
            r#"x({}) > "no" if 0 not zero > "yes" if 0 zero"#,
        ),
        ("const r = await tools.x({}); for (const c of r.content) text(c.text)", "x({}) prints more"),
        ("const r = await tools.x({}); r.output = ''; text(r.output)", "x({}) prints more"),
        ("text(await load('a'))", "> *"),
        (
            "const run = async c => { const r = await tools.x({c}); text(r.output) }; await run('a'); await run('b')",
            r#"x({"c":"a"}) x({"c":"b"}) > 0.output > 1.output"#,
        ),
        (
            "const run = async c => { const r = await tools.x({c}); text(r.output) }; await Promise.all([run('a'), run('b')])",
            r#"x({"c":"a"}) x({"c":"b"}) prints more"#,
        ),
        (
            "const run = async c => { const r = await tools.x({c}); text(r.output) }; await Promise.all(['a'].map(run)); text('b')",
            r#"x({"c":"a"}) > 0.output > "b""#,
        ),
        ("tools.x({}).then(r => text(r.output)); text('b')", "x!({}) prints more"),
    ]);
}

#[test]
fn short_programs_that_would_grow_stay_small() {
    let doubling = format!("let a = 'x'; {} await tools.x(a); text(a)", "a = a + a; ".repeat(4000));
    let lists = format!("let a = [1]; {} await tools.x(a); text(a)", "a = [a, a, ...a]; ".repeat(3000));
    let functions: String = (0..60).map(|at| format!("const f{} = () => {{ f{at}(); f{at}() }}; ", at + 1)).collect();
    let functions = format!("const f0 = () => tools.x({{}}); {functions} f60()");
    let either = format!("let r = await tools.x({{}}); let a = ''; {} text(a)", "a = r.session_id ? a + 'b' : `${a}c`; ".repeat(1000));
    let promises = format!("let a = tools.x({{}}); {} text(await a)", "a = Promise.resolve(a); a = a.b; ".repeat(1500));
    let loops = format!("const r = await tools.x({{}}); {} text(r)", "for (const s of [r, 1]) ".repeat(200));
    for program in [doubling, lists, functions, either, promises, loops] {
        let script = read(&program);
        assert!(script.calls.len() <= 1_000 && format!("{script:?}").len() < 64 * 1024 * 1024, "{}", &program[..80]);
    }
}

#[test]
fn deep_programs_are_survived() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("`${", "}`"),
        ("tools.x(", ")"),
        ("() => ", ""),
        ("!", ""),
        ("if (a) ", ""),
        ("a ? b : ", ""),
        ("a + ", ""),
    ] {
        let count = (60 * 1024 / (open.len() + close.len())).min(50_000);
        for program in [open.repeat(count), format!("{}1{}", open.repeat(count), close.repeat(count))] {
            let script = read(&program);
            assert!(script.calls.iter().all(|call| !call.once) || script.calls.len() < 100, "{open}");
        }
    }
    let long = "a".repeat(64 * 1024 + 1);
    assert_eq!(read(&long), Script::default());
}
