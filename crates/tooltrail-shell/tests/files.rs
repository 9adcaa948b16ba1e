//! Effects of command lines on files: each spelling, and whether it surely ran.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests, where a panic is the report

use tooltrail_model::changes::{Certainty, FileOp, ShellFiles};
use tooltrail_model::patch::FileChange;
use tooltrail_shell::files;

fn told(line: &str) -> ShellFiles {
    files(line).unwrap_or_else(|| panic!("`{line}` is not understood"))
}

/// The effects in short: `! ` before a command that surely succeeded, `? ` before one that may not have run.
fn effects(line: &str) -> Vec<String> {
    let op = |op: &FileOp| match op {
        FileOp::Write(text) => format!("= {text:?}"),
        FileOp::Append(text) => format!("+ {text:?}"),
        FileOp::Patch(patch) => match patch.change {
            FileChange::Add => "patch new".to_owned(),
            FileChange::Delete => "patch gone".to_owned(),
            FileChange::Update => format!("patch {}", patch.moved_to.clone().unwrap_or(patch.hunks.len().to_string())),
        },
        FileOp::Move { to } => format!("> {to}"),
        FileOp::Copy { from } => format!("< {from}"),
        FileOp::Remove { force } => if *force { "rm -f" } else { "rm" }.to_owned(),
        FileOp::Create => "touch".to_owned(),
        FileOp::Touch => "~".to_owned(),
        FileOp::Doubt => "doubt".to_owned(),
    };
    let sign = |certainty: Certainty| match certainty {
        Certainty::Proven => "! ",
        Certainty::Ran => "",
        Certainty::Maybe => "? ",
    };
    told(line).effects.iter().map(|effect| format!("{}{} {}", sign(effect.certainty), effect.path, op(&effect.op))).collect()
}

#[test]
fn literal_texts() {
    for (line, expected) in [
        ("cat > f <<'EOF'\na $b\n\tc\nEOF", "! f = \"a $b\\n\\tc\\n\""),
        ("cat <<'EOF' > f\na\nEOF\n", "! f = \"a\\n\""),
        ("cat >f <<\"EOF\"\n`a` \\n\nEOF", "! f = \"`a` \\\\n\\n\""),
        ("cat > f <<-'EOF'\n\t\ta\n\tEOF", "! f = \"a\\n\""),
        ("cat > f <<EOF\nplain\nEOF", "! f = \"plain\\n\""),
        ("cat > f <<EOF\n$home\nEOF", "! f ~"),
        ("cat > f <<EOF\na\\\nb\nEOF", "! f ~"),
        ("cat > f <<'EOF'\nEOF", "! f = \"\""),
        ("cat >> f <<'EOF'\na\nEOF", "! f + \"a\\n\""),
        ("tee f <<'EOF'\na\nEOF", "! f = \"a\\n\""),
        ("tee -a 'f g' > /dev/null <<'EOF'\na\nEOF", "! f g + \"a\\n\""),
        ("cat <<'EOF' | tee f\na\nEOF", "! f = \"a\\n\""),
        ("cat <<'EOF' | sudo tee /etc/f >/dev/null\na\nEOF", "! /etc/f = \"a\\n\""),
        ("cat > f <<< 'a b'", "! f = \"a b\\n\""),
        ("printf '%s' 'a b' > f", "! f = \"a b\""),
        ("printf 'a\\nb\\n' > f", "! f = \"a\\nb\\n\""),
        ("printf '%d' 3 > f", "! f ~"),
        ("echo 'a  b' c > f", "! f = \"a  b c\\n\""),
        ("echo -n a > f", "! f ~"),
        ("echo 'a\\nb' > f", "! f ~"),
        ("echo \"$x\" >> f", "! f ~"),
        (": > f", "! f = \"\""),
        ("> f", "! f = \"\""),
        ("truncate -s 0 f", "! f = \"\""),
        ("truncate -s 10 f", "! f ~"),
        ("cat a > b", "! b < a"),
        ("cat a c > b", "! b ~"),
        ("cargo test > out.txt 2>&1", "! out.txt ~"),
        ("cargo test 2> err.txt", "! err.txt ~"),
        ("{ echo a; echo b; } > f", "! f ~"),
        ("bash -c 'echo a > f'", "! f = \"a\\n\""),
        ("bash <<'EOF'\necho a > f\nEOF", "! f = \"a\\n\""),
    ] {
        assert_eq!(effects(line), [expected], "{line}");
    }
}

#[test]
fn files_that_are_named() {
    for (line, expected) in [
        ("sed -i 's/a/b/' x.rs y.rs", &["! x.rs ~", "! y.rs ~"][..]),
        ("sed -i '' 's/a/b/' x.rs", &["! x.rs ~"]),
        ("sed -i.bak -e 's/a/b/' -e 's/c/d/' x.rs", &["! x.rs ~"]),
        ("sed -ni -E '/a/p' x.rs", &["! x.rs ~"]),
        ("sed -n '1,5p' x.rs", &[]),
        ("perl -pi -e 's/a/b/' x.rs", &["! x.rs ~"]),
        ("perl -0pi -e 's/a/b/' x.rs", &["! x.rs ~"]),
        ("perl -i -pe 's/a/b/' x.rs y.rs", &["! x.rs ~", "! y.rs ~"]),
        ("perl -ne 'print' x.rs", &[]),
        ("mv a.rs b.rs", &["! a.rs > b.rs"]),
        ("mv a.rs src/", &["! a.rs > src/a.rs"]),
        ("mv a.rs b.rs src", &["! a.rs > src/a.rs", "! b.rs > src/b.rs"]),
        ("mv a.rs src", &["! src doubt", "! src/a.rs doubt", "! a.rs doubt"]),
        ("mv Makefile.new Makefile", &["! Makefile.new > Makefile"]),
        ("git mv a.rs b.rs", &["! a.rs patch b.rs"]),
        ("cp a.rs b.rs", &["! b.rs < a.rs"]),
        ("cp -r src lib", &["! lib doubt", "! lib/src doubt", "! src doubt"]),
        ("rm a.rs", &["! a.rs rm"]),
        ("rm -f a.rs b.rs", &["! a.rs rm -f", "! b.rs rm -f"]),
        ("touch a.rs", &["! a.rs touch"]),
        ("git checkout -- a.rs", &["! a.rs ~"]),
        ("python3 - <<'PY'\nopen('a.rs', 'w').write('x')\nPY", &[]),
        ("rm \"$x\"", &[]),
        ("rm *.o", &[]),
    ] {
        assert_eq!(effects(line), expected, "{line}");
    }
}

#[test]
fn patches() {
    let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    let new = "--- /dev/null\n+++ b/d/n\n@@ -0,0 +1 @@\n+new\n";
    for (line, expected) in [
        (format!("git apply <<'EOF'\n{diff}EOF"), &["! x patch 1"][..]),
        (format!("git apply - <<'EOF'\n{diff}{new}EOF\n"), &["! x patch 1", "! d/n patch new"]),
        (format!("patch -p1 <<'EOF'\n{diff}EOF"), &["! x patch 1"]),
        (format!("cat <<'EOF' | git apply\n{diff}EOF"), &["! x patch 1"]),
        (format!("git apply --3way <<'EOF'\n{diff}EOF"), &["! x ~"]),
        (format!("git apply --check <<'EOF'\n{diff}EOF"), &[]),
        (format!("git apply <<'EOF'\n{diff}EOF\necho done"), &["x ~"]),
        (format!("cd web && git apply <<'EOF'\n{new}EOF"), &["! web/d/n patch new"]),
        (format!("cd web && git apply <<'EOF'\n{diff}EOF"), &[]),
    ] {
        assert_eq!(effects(&line), expected, "{line}");
    }
    let fed = told("cd web && apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF\n").fed;
    assert_eq!((&*fed[0].program, &*fed[0].directory, fed[0].certainty), ("apply_patch", "web", Certainty::Proven));
}

#[test]
fn what_surely_ran() {
    for (line, expected) in [
        ("echo a > f; ls", &["f = \"a\\n\""][..]),
        ("echo a > f && ls", &["! f = \"a\\n\""]),
        ("make && echo a > f", &["! f = \"a\\n\""]),
        ("make && echo a > f; ls", &["? f = \"a\\n\""]),
        ("mkdir -p d && echo a > d/f; ls", &["d/f = \"a\\n\""]),
        ("make || echo a > f", &["? f = \"a\\n\""]),
        ("echo a > f || true", &["f = \"a\\n\""]),
        ("make || exit 1; echo a > f", &["! f = \"a\\n\""]),
        ("make || exit; echo a > f", &["? f = \"a\\n\""]),
        ("make || true && echo a > f", &["! f = \"a\\n\""]),
        ("if x; then echo a > f; fi", &["? f = \"a\\n\""]),
        ("for i in 1 2; do echo a > f; done", &["? f = \"a\\n\""]),
        ("w() { echo a > f; }; w", &["? f = \"a\\n\"", "? f doubt"]),
        ("echo a > f &", &["? f = \"a\\n\""]),
        ("set -e\necho a > f\nmake", &["! f = \"a\\n\""]),
        ("set -C; echo a > f", &["? f = \"a\\n\""]),
        ("! echo a > f", &["? f = \"a\\n\""]),
        ("(exit 1); echo a > f", &["! f = \"a\\n\""]),
        ("exit 0; echo a > f", &["? f = \"a\\n\""]),
        ("echo a > f; echo b >> f", &["f = \"a\\n\"", "! f + \"b\\n\""]),
        ("rm a.rs 2>/dev/null; ls", &["? a.rs rm"]),
        ("rm a.rs 2>/dev/null", &["! a.rs rm"]),
        ("git mv a.rs b.rs 2>/dev/null || mv a.rs b.rs && ls", &["? a.rs patch b.rs", "? a.rs > b.rs"]),
        ("{ rm a.rs; ls; } 2>/dev/null", &["? a.rs rm"]),
        ("rm a.rs 2>&1 | tail -1", &["? a.rs rm"]),
        ("rm a.rs 2>&1; ls", &["a.rs rm"]),
        ("cargo test > out.txt 2>&1; ls", &["out.txt ~"]),
        ("echo a > f.rs; cargo fmt", &["f.rs = \"a\\n\"", "? f.rs doubt"]),
        ("echo a > f.py; black f.py", &["f.py = \"a\\n\"", "? f.py doubt"]),
        ("echo a > f.py; python3 f.py", &["f.py = \"a\\n\""]),
        ("echo a > f.rs; git stash", &["f.rs = \"a\\n\"", "? f.rs doubt"]),
    ] {
        assert_eq!(effects(line), expected, "{line}");
    }
}

#[test]
fn directories_of_the_line() {
    for (line, expected) in [
        ("cd web && echo a > f", &["! web/f = \"a\\n\""][..]),
        ("cd web; echo a > f", &["web/f = \"a\\n\""]),
        ("cd web || exit 1\ncd src\necho a > f", &["web/src/f = \"a\\n\""]),
        ("cd /srv && cd .. && echo a > f", &["! /srv/../f = \"a\\n\""]),
        ("(cd web && echo a > f); echo b > g", &["web/f = \"a\\n\"", "! g = \"b\\n\""]),
        ("cd \"$x\" && echo a > f; echo b > /g", &["! /g = \"b\\n\""]),
        ("cd - && echo a > f", &[]),
        ("if x; then cd web; fi; echo a > f", &[]),
        ("ssh host 'echo a > f'", &[]),
        ("docker exec c tee f <<'EOF'\na\nEOF", &[]),
        ("xargs rm < list", &[]),
    ] {
        assert_eq!(effects(line), expected, "{line}");
    }
}

#[test]
fn whole_files_that_are_printed() {
    assert_eq!(told("cat src/a.rs").prints.as_deref(), Some("src/a.rs"));
    assert_eq!(told("cd src && cat a.rs").prints.as_deref(), Some("src/a.rs"));
    for line in [
        "cat a b",
        "cat a | head",
        "cat -n a",
        "cat a; cat b",
        "sed -n '1,5p' a",
        "head -n 5 a",
        "cat a > b",
        "cat \"$a\"",
        "x; cat a",
        "cd src; cat a",
    ] {
        assert_eq!(told(line).prints, None, "{line}");
    }
}

#[test]
fn whether_these_are_all() {
    for line in ["echo a > f", "cat a && rm b.rs", "mkdir d && cat > d/f <<'EOF'\na\nEOF", "sed -i s/a/b/ f", "ls | grep x", "cargo test"] {
        assert!(told(line).complete || line.starts_with("mkdir"), "{line}");
    }
    for line in
        ["echo a > $f", "python fix.py", "echo a > f; make install", "x || echo a > f", "rm *.o", "echo $(touch x) > f", "npm install"]
    {
        assert!(!told(line).complete, "{line}");
    }
}

#[test]
fn hostile_lines() {
    let deep = format!("{}echo a > f{}", "(".repeat(90), ")".repeat(90));
    assert!(files(&deep).is_none());
    assert!(files(&"bash -c \"".repeat(40)).is_none_or(|files| files.effects.is_empty()));
    assert!(files(&"rm a.b\n".repeat(9000)).is_none_or(|files| files.effects.len() <= 2000));
    assert!(files("cat > f <<'EOF'\nno end").is_none_or(|files| files.effects.is_empty()));
    assert!(files("if then").is_none());
}
