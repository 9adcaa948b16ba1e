//! `cargo xtask pictures`: the pictures in `docs/pictures`, taken of the demo in a headless Chromium.
//!
//! Pages are photographed as a server shows them. Terminal output is turned into a page with the same text and colours; a
//! real terminal's font and colours may differ.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::workspace::{root, run_cargo, say, target};

/// Largest file size of a picture in the documents.
const MOST: u64 = 200_000;
/// Lines of the terminal that are shown.
const LINES: usize = 40;

/// A picture of a page.
struct PageShot {
    name: &'static str,
    /// The address of the page.
    path: &'static str,
    size: (u32, u32),
    dark: bool,
}

const PICTURES: &[PageShot] = &[
    PageShot { name: "home", path: "/", size: (1280, 900), dark: false },
    PageShot { name: "session-light", path: "/s/7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045", size: (1280, 1000), dark: false },
    PageShot { name: "session-dark", path: "/s/7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045", size: (1280, 1000), dark: true },
    PageShot { name: "call", path: "/c/6ab3d920-17fe-4d5b-8e02-b9c4f7a10d35:3", size: (1280, 640), dark: false },
    PageShot { name: "waterfall", path: "/s/7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045/waterfall", size: (1280, 700), dark: false },
];

/// Takes all pictures.
pub(crate) fn run() -> Result<(), String> {
    crate::browser::ensure()?;
    run_cargo(&[], &["build", "--locked", "--package", "tooltrail"])?;
    let (pages, pictures) = (target().join("pictures"), root().join("docs").join("pictures"));
    for folder in [&pages, &pictures] {
        fs::create_dir_all(folder).map_err(|error| format!("can't make `{}`: {error}", folder.display()))?;
    }
    // A server of its own on a free port, so that a running one is neither used nor disturbed.
    let server = Server::start(&program(), ["--demo"], &pages)?;
    for picture in PICTURES {
        take(&format!("{}{}", server.address, picture.path), picture, &pages, &pictures)?;
    }
    let shown = tooltrail(&["show", "--demo", "3f2a", "--color", "always", "--no-pager"])?;
    let page = pages.join("terminal.html");
    let lines: Vec<&str> = shown.lines().take(LINES).collect();
    fs::write(&page, terminal(&lines.join("\n"))).map_err(|error| format!("can't write `{}`: {error}", page.display()))?;
    // Height of a line in the page's style, and its padding.
    let height = 19 * lines.len() as u32 + 74;
    let picture = PageShot { name: "terminal", path: "", size: (880, height), dark: true };
    take(&format!("file://{}", page.display()), &picture, &pages, &pictures)
}

/// A server with the demo, which runs until it is dropped.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: String,
}

impl Server {
    /// Starts a program's server with arguments that say which logs it shows.
    pub(crate) fn start<'a>(program: &Path, logs: impl IntoIterator<Item = &'a str>, cache: &Path) -> Result<Self, String> {
        let mut process = Command::new(program)
            .args(["serve", "--no-open", "--port", "0"])
            .args(logs)
            .env("TOOLTRAIL_CACHE", cache)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("can't start `{}`: {error}", program.display()))?;
        let mut line = String::new();
        // The address is the first line that it prints.
        let read = process.stdout.take().map(|output| BufReader::new(output).read_line(&mut line));
        let address = line.trim().trim_end_matches('/').to_owned();
        let server = Server { process, address };
        match read {
            Some(Ok(_)) if server.address.starts_with("http://") => Ok(server),
            _ => Err("the server did not say where it is".to_owned()),
        }
    }
}

// Killed even if a picture failed: otherwise the port and the process would stay.
impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The program that was built.
fn program() -> PathBuf {
    target().join("debug").join(format!("tooltrail{}", std::env::consts::EXE_SUFFIX))
}

/// Output of the program.
fn tooltrail(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program()).args(arguments).stderr(Stdio::null()).output();
    let output = output.map_err(|error| format!("can't start `{}`: {error}", program().display()))?;
    if !output.status.success() {
        return Err(format!("`tooltrail {}` ended with {}", arguments.join(" "), output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("`tooltrail {}` printed something that is no text", arguments.join(" ")))
}

/// Takes a picture of a page, with an empty profile.
fn take(address: &str, picture: &PageShot, place: &Path, folder: &Path) -> Result<(), String> {
    let file = folder.join(format!("{}.png", picture.name));
    let profile = place.join("profile");
    // An old picture must not be taken for a new one if Chromium fails.
    let _ = fs::remove_file(&file);
    let (width, height) = picture.size;
    let status = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars"])
        // Virtual time lets scripts and fonts settle without waiting in real time.
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync", "--virtual-time-budget=4000"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--window-size={width},{height}"))
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!picture.dark)))
        .arg(format!("--screenshot={}", file.display()))
        .arg(address)
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
        (status, _) => Err(format!("chromium took no picture of `{address}`: {status:?}")),
    }
}

/// A page that looks like a terminal.
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

/// Text with terminal colours as HTML: bold, dim and the eight colours, which is all that the program prints.
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
        // Only these two can open markup in text.
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
