//! Damages programs at random for as long as `TOOLTRAIL_FUZZ_SECONDS` says (1 by default), reads them, and feeds their run with random output.
//!
//! What must hold: no panic, positions within the text, little time. The seed is printed; `TOOLTRAIL_FUZZ_SEED` runs one again.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report
#![allow(clippy::print_stdout)] // says what was run

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use tooltrail_model::script::{ScriptEnd, ScriptRun};
use tooltrail_script::read;

const SEEDS: &[&str] = &[
    "const r = await tools.exec_command({cmd:\"cargo test\",\"workdir\":\"/srv/app\",yield_time_ms:10000}); text(r.output);",
    "const r = await tools.write_stdin({session_id:7,chars:\"\\u0003\"}); text(r.output); if(r.session_id) text(`S=${r.session_id}`); else text(`E=${r.exit_code}`);",
    "const results = await Promise.all([\n  tools.exec_command({cmd:'a'}),\n  tools.mcp__x__y({q:[{a:1}]})\n]);\nresults.forEach((r,i)=>{text(`---${i+1}---`);text(JSON.stringify(r))});",
    "const patch = \"*** Begin Patch\\n*** Add File: a\\n+b\\n*** End Patch\"; text(await tools.apply_patch(patch));",
    "const ids=['a','b']; const rs = await Promise.all(ids.map(id => tools.x({cmd:`gh ${id}`, ...{a:1}}))); for (const r of rs) text({code:r.exit_code,r});",
    "const run = async (cmd, {cwd = '/'} = {}) => { try { return await tools.x({cmd, cwd}) } catch (e) { return null } }; const {output, exit_code: e} = await run('a'); text(e === 0 ? 'ok' : output ?? 'none');",
    "// @exec: {\"yield_time_ms\": 1}\nlet c = String.raw`a\\n`; if (later()) { c += 'b'; exit() } for (let i = 0; i < 3; i++) await tools.x({c}); text(c || 'd');",
];

const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "`",
    "${",
    "\"",
    "'",
    "\\",
    ";",
    ",",
    "...",
    "=>",
    "await ",
    "async ",
    "return ",
    "throw ",
    "tools",
    "tools.x(",
    "text(",
    "const ",
    "let r = ",
    "r.exit_code",
    "r.session_id",
    "r",
    "if (r.exit_code) ",
    "else ",
    "for (const r of [r, 1]) ",
    "try {",
    "} catch (e) {",
    "exit();",
    "?.",
    "??",
    "||",
    "&&",
    "!",
    "?",
    ":",
    "/",
    "//",
    "/*",
    "\u{0}",
    "é🚢",
    "\u{2028}",
    "1e999",
    "0x",
    "Promise.all([",
    ".map(r => ",
    ".push(r)",
    ".join('')",
    "JSON.stringify(r)",
    "function f() {",
    "\n",
];

const ITEMS: &[&str] = &[
    "",
    "0",
    "---1---",
    "S=1",
    "E=2",
    "ok",
    "undefined",
    "{\"exit_code\":0,\"output\":\"a\"}",
    "{\"code\":3,\"r\":{\"session_id\":1}}",
    "[{\"exit_code\":1},2]",
    "Warning: truncated output (original token count: 9)\n\n{\"exit_code\":1,\"outp",
    "a…9 tokens truncated…b",
    "[omitted 2 text items ...]",
    "{{{{",
    "é🚢",
];

/// A splitmix64 generator: the same numbers on every machine.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * end as u128) >> 64) as usize
    }
}

fn mangle(rng: &mut Rng) -> String {
    let mut bytes = SEEDS[rng.below(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..rng.below(8) {
        let at = rng.below(bytes.len() + 1);
        let end = (at + rng.below(30)).min(bytes.len());
        match rng.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.truncate(at),
            3 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            4 => {
                let many = PIECES[rng.below(PIECES.len())].repeat(1 + rng.below(200));
                bytes.splice(at..at, many.into_bytes());
            }
            5 => {
                let other = SEEDS[rng.below(SEEDS.len())].as_bytes();
                let from = rng.below(other.len());
                bytes.splice(at..at, other[from..].iter().copied());
            }
            _ => {
                bytes.splice(at..at, PIECES[rng.below(PIECES.len())].bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads a program and follows a run of it.
fn run(program: &str, rng: &mut Rng) {
    let script = read(program);
    for call in &script.calls {
        assert!(program.get(call.span.clone()).is_some(), "{:?} is no part of the program", call.span);
    }
    let mut run = ScriptRun::new(&script, |call| call.tool != "apply_patch");
    for record in 0..rng.below(6) {
        run.push(&script, record / 2, ITEMS[rng.below(ITEMS.len())]);
    }
    if rng.below(3) > 0 {
        run.finish(&script, 3, [ScriptEnd::Completed, ScriptEnd::Failed, ScriptEnd::Terminated][rng.below(3)]);
    }
    let proofs = run.proofs(&script);
    assert_eq!(proofs.len(), script.calls.len());
    for proof in proofs {
        assert!(proof.exit_code.is_none() || proof.session.is_none(), "{proof:?}");
        assert!(proof.worked.is_none() || proof.exit_code.is_none_or(|code| proof.worked == Some(code == 0)), "{proof:?}");
    }
}

#[test]
fn damaged_programs_are_survived() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seconds: u64 = number("TOOLTRAIL_FUZZ_SECONDS").unwrap_or(1);
    let seed: u64 = number("TOOLTRAIL_FUZZ_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    let (mut rng, start, mut count, mut slowest) = (Rng(seed), Instant::now(), 0u64, Duration::ZERO);
    while start.elapsed() < Duration::from_secs(seconds) {
        let program = mangle(&mut rng);
        let began = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&program, &mut rng)));
        if began.elapsed() > slowest {
            slowest = began.elapsed();
            if slowest > Duration::from_secs(1) {
                println!(
                    "seed {seed}, program {count} of {} bytes took {slowest:?}: {}…",
                    program.len(),
                    program.chars().take(300).collect::<String>()
                );
            }
        }
        assert!(outcome.is_ok(), "seed {seed}, program {count}:\n{program}");
        assert!(began.elapsed() < Duration::from_secs(20), "seed {seed}, program {count} took {:?}:\n{program}", began.elapsed());
        count += 1;
    }
    println!("seed {seed}: {count} programs, the slowest took {slowest:?}");
}
