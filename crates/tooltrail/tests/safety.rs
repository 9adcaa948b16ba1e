//! What the program may replace or remove on a disk: the file that `-o` names, and the scratch directories and files of its own servers.

#![cfg(unix)]
#![allow(clippy::unwrap_used)] // a panic is the report

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env_clear().env("HOME", home).env("TMPDIR", home.join("tmp")).current_dir(home).stdin(Stdio::null());
    command
}

fn export(home: &Path, output: &str) -> Output {
    command(home, &["export", "--demo", "last", "--to", "md", "-o", output]).output().unwrap()
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_export_replaces_regular_files_only() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    fs::write(at("private.md"), "old").unwrap();
    fs::set_permissions(at("private.md"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("private.md", at("link.md")).unwrap();
    symlink("/dev/null", at("null.md")).unwrap();
    fs::create_dir(at("directory")).unwrap();
    for name in ["private.md", "link.md", "null.md"] {
        let output = export(home.path(), name);
        assert!(output.status.success(), "{name}: {}", error(&output));
        assert!(error(&output).contains(&format!("wrote {name} (")), "{}", error(&output));
    }
    let text = fs::read_to_string(at("private.md")).unwrap();
    assert!(text.starts_with('#') && fs::metadata(at("private.md")).unwrap().mode() & 0o777 == 0o600, "{text}");
    assert!(fs::symlink_metadata(at("link.md")).unwrap().is_symlink());
    assert!(fs::metadata(at("null.md")).unwrap().file_type().is_char_device());
    let refused = export(home.path(), "directory");
    assert_eq!(refused.status.code(), Some(2));
    assert!(error(&refused).contains("cannot write `directory`: it is a directory; name a file"), "{}", error(&refused));
}

#[test]
fn standard_output_by_any_name_is_written_to() {
    let home = tempfile::tempdir().unwrap();
    let to = |output: &str| export(home.path(), output).stdout;
    let text = to("-");
    assert!(text.starts_with(b"#"));
    // A copy of the device's name: if this went wrong, the machine's own would stay.
    symlink("/proc/self/fd/1", home.path().join("stdout.md")).unwrap();
    if Path::new("/proc/self/fd/1").exists() {
        assert_eq!(to("stdout.md"), text);
        assert!(fs::symlink_metadata(home.path().join("stdout.md")).unwrap().is_symlink());
        // Redirected to a file it is appended to, as a shell's `>>` asks for.
        let log = home.path().join("all.md");
        fs::write(&log, "before\n").unwrap();
        let file = fs::File::options().append(true).open(&log).unwrap();
        let arguments = ["export", "--demo", "last", "--to", "md", "-o", "stdout.md"];
        assert!(command(home.path(), &arguments).stdout(file).stderr(Stdio::null()).status().unwrap().success());
        assert_eq!(fs::read(&log).unwrap(), [b"before\n", &text[..]].concat());
    }
}

/// A server, which is killed with the test.
struct Server(Child);

impl Server {
    fn start(home: &Path) -> Self {
        let mut process = command(home, &["serve", "--demo", "--no-open", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        // The address is printed once the scratch directory is there.
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        Server(process)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Killed, it leaves its directory behind.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The scratch directories below a folder for temporary files.
fn scratch(temporary: &Path) -> Vec<PathBuf> {
    let below = |path: &Path| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let bases = below(temporary).into_iter().filter(|path| !path.ends_with(LOOK_ALIKE));
    let mut found: Vec<PathBuf> = bases.flat_map(|base| below(&base)).collect();
    found.sort();
    found
}

/// A directory of somebody else, named like those that older versions took for their own; no process has that number.
const LOOK_ALIKE: &str = "tooltrail-4194305-notes";

#[test]
fn a_server_removes_what_ended_servers_left_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let temporary = home.path().join("tmp");
    fs::create_dir_all(temporary.join(LOOK_ALIKE)).unwrap();
    fs::write(temporary.join(LOOK_ALIKE).join("precious"), "").unwrap();
    let killed = Server::start(home.path());
    let left = scratch(&temporary);
    assert_eq!(left.len(), 1, "{left:?}");
    let running = Server::start(home.path());
    let both = scratch(&temporary);
    assert!(both.len() == 2 && both.contains(&left[0]), "a running server keeps its directory: {both:?}");
    drop(killed);
    let _third = Server::start(home.path());
    let after = scratch(&temporary);
    assert!(after.len() == 2 && !after.contains(&left[0]), "{after:?}");
    assert!(temporary.join(LOOK_ALIKE).join("precious").exists());
    drop(running);
}

#[test]
fn a_server_refuses_a_link_in_place_of_its_directory() {
    let home = tempfile::tempdir().unwrap();
    let (temporary, elsewhere) = (home.path().join("tmp"), home.path().join("elsewhere"));
    fs::create_dir_all(&temporary).unwrap();
    drop(Server::start(home.path()));
    let base = scratch(&temporary)[0].parent().unwrap().to_owned();
    fs::rename(&base, &elsewhere).unwrap();
    symlink(&elsewhere, &base).unwrap();
    let output = command(home.path(), &["serve", "--demo", "--no-open", "--port", "0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).contains("is a symbolic link"), "{}", error(&output));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1, "nothing is deleted behind the link");
}
