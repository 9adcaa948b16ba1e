//! `cargo xtask pictures`: the pictures in `docs/pictures`, taken of the demo in a headless Chromium.
//!
//! Pages are photographed as they are exported. What the terminal shows is turned into a page of the same text in the same colours;
//! a terminal's own font and colours may differ.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::workspace::{root, run_cargo, say, target};

/// The largest picture that a document should load.
const MOST: u64 = 200_000;
/// How many lines of a terminal are shown.
const LINES: usize = 40;

/// A picture of an exported page.
struct Picture {
    name: &'static str,
    /// The session of the demo.
    session: &'static str,
    /// The call that is shown, if not the top.
    call: &'static str,
    size: (u32, u32),
    dark: bool,
}

const PICTURES: &[Picture] = &[
    Picture { name: "session-light", session: "7c10", call: "", size: (1280, 1000), dark: false },
    Picture { name: "session-dark", session: "3f2a", call: "", size: (1280, 1000), dark: true },
    Picture { name: "narrow", session: "b84e", call: "", size: (400, 900), dark: false },
    Picture { name: "call", session: "019c", call: "call_Pt9eYa", size: (1280, 580), dark: false },
];

/// Takes all pictures.
pub(crate) fn run() -> Result<(), String> {
    crate::browser::ensure()?;
    run_cargo(&[], &["build", "--locked", "--package", "tooltrail"])?;
    let (pages, pictures) = (target().join("pictures"), root().join("docs").join("pictures"));
    for folder in [&pages, &pictures] {
        fs::create_dir_all(folder).map_err(|error| format!("can't make `{}`: {error}", folder.display()))?;
    }
    for picture in PICTURES {
        let page = pages.join(format!("{}.html", picture.session));
        tooltrail(&["export", "--demo", picture.session, "--output", &page.to_string_lossy()])?;
        let page = if picture.call.is_empty() { page } else { framed(&page, picture)? };
        take(&page, picture, &pictures)?;
    }
    let shown = tooltrail(&["show", "--demo", "3f2a", "--color", "always", "--no-pager"])?;
    let page = pages.join("terminal.html");
    let lines: Vec<&str> = shown.lines().take(LINES).collect();
    fs::write(&page, terminal(&lines.join("\n"))).map_err(|error| format!("can't write `{}`: {error}", page.display()))?;
    let height = 19 * lines.len() as u32 + 74;
    take(&page, &Picture { name: "terminal", session: "", call: "", size: (880, height), dark: true }, &pictures)
}

/// What the program prints.
fn tooltrail(arguments: &[&str]) -> Result<String, String> {
    let program = target().join("debug").join(format!("tooltrail{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&program).args(arguments).stderr(Stdio::null()).output();
    let output = output.map_err(|error| format!("can't start `{}`: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("`tooltrail {}` ended with {}", arguments.join(" "), output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("`tooltrail {}` printed something that is no text", arguments.join(" ")))
}

/// A page around a page: what is scrolled comes out empty in a picture, unless it is a frame that is scrolled.
fn framed(page: &Path, picture: &Picture) -> Result<PathBuf, String> {
    let (width, height) = picture.size;
    let name = page.file_name().unwrap_or_default().to_string_lossy();
    let frame = format!(
        "<!DOCTYPE html><style>body {{ margin: 0 }} iframe {{ display: block; border: 0 }}</style>\
         <iframe src=\"{name}#{}\" width=\"{width}\" height=\"{height}\"></iframe>",
        picture.call
    );
    let outer = page.with_file_name(format!("{}.html", picture.name));
    fs::write(&outer, frame).map(|()| outer).map_err(|error| format!("can't write a page around `{name}`: {error}"))
}

/// Photographs a page with an empty profile.
fn take(page: &Path, picture: &Picture, folder: &Path) -> Result<(), String> {
    let file = folder.join(format!("{}.png", picture.name));
    let profile: PathBuf = page.with_extension("profile");
    let _ = fs::remove_file(&file);
    let (width, height) = picture.size;
    let status = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync", "--virtual-time-budget=4000"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--window-size={width},{height}"))
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!picture.dark)))
        .arg(format!("--screenshot={}", file.display()))
        .arg(format!("file://{}", page.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let _ = fs::remove_dir_all(&profile);
    let taken = fs::metadata(&file).map(|data| data.len());
    match (status, taken) {
        (Ok(_), Ok(size)) if size > MOST => Err(format!("`{}` has {size} bytes; make it smaller than {MOST}", file.display())),
        (Ok(_), Ok(size)) => {
            say(&format!("{} ({width} × {height}, {} kB)", file.display(), size / 1000));
            Ok(())
        }
        (status, _) => Err(format!("chromium took no picture of `{}`: {status:?}", page.display())),
    }
}

/// A page that shows what a terminal would.
fn terminal(shown: &str) -> String {
    format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><title>terminal</title><style>\
         body {{ margin: 0; background: #14181c; color: #d5dbe1; }}\
         pre {{ margin: 0; padding: 18px 20px; font: 14px/19px \"DejaVu Sans Mono\", monospace; }}\
         .p {{ color: #8b949e; }} .b {{ font-weight: bold; }} .d {{ opacity: .62; }}\
         .c1 {{ color: #ff7b72; }} .c2 {{ color: #56d364; }} .c3 {{ color: #e3b341; }}\
         .c4 {{ color: #79b8ff; }} .c5 {{ color: #d2a8ff; }} .c6 {{ color: #56d4dd; }}\
         </style><pre><span class=\"p\">$</span> tooltrail show --demo 3f2a\n\n{}</pre>",
        coloured(shown)
    )
}

/// Text with the colours of a terminal as HTML: bold, dim and the eight colours, which is all that the program prints.
fn coloured(shown: &str) -> String {
    let mut out = String::new();
    let (mut bold, mut dim, mut colour) = (false, false, None);
    for (place, piece) in shown.split("\u{1b}[").enumerate() {
        let (codes, text) = if place == 0 { ("", piece) } else { piece.split_once('m').unwrap_or(("", piece)) };
        for code in codes.split(';').filter_map(|code| code.parse::<u8>().ok()) {
            match code {
                0 => (bold, dim, colour) = (false, false, None),
                1 => bold = true,
                2 => dim = true,
                22 => (bold, dim) = (false, false),
                30..=37 => colour = Some(code - 30),
                39 => colour = None,
                90..=97 => colour = Some(code - 90),
                _ => {}
            }
        }
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let class = [bold.then(|| "b".to_owned()), dim.then(|| "d".to_owned()), colour.map(|colour| format!("c{colour}"))];
        out += &format!("<span class=\"{}\">{text}</span>", class.into_iter().flatten().collect::<Vec<_>>().join(" "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::coloured;

    #[test]
    fn colours_last_until_they_are_taken_back() {
        let shown = coloured("a\u{1b}[1;31mb<\u{1b}[0mc");
        assert_eq!(shown, "<span class=\"\">a</span><span class=\"b c1\">b&lt;</span><span class=\"\">c</span>");
    }
}
