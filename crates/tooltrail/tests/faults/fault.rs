//! One fault: which operation fails, from which call on, and how.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Error numbers of Linux.
pub(crate) const EIO: i32 = 5;
pub(crate) const EMFILE: i32 = 24;
pub(crate) const ENOSPC: i32 = 28;
/// No error: reads and writes do half of what they were asked for.
pub(crate) const SHORT: i32 = 0;

/// An operation that fails.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) operation: &'static str,
    pub(crate) errno: i32,
    /// The first call that fails, counted from 1.
    pub(crate) nth: u64,
    /// Whether all later calls fail, too.
    pub(crate) each: bool,
    /// Files that are concerned: all whose path begins with this.
    pub(crate) prefix: PathBuf,
}

/// The kinds of faults, by the error that is usual for each operation.
pub(crate) const KINDS: [(&str, i32); 9] = [
    ("open", EMFILE),
    ("open", EIO),
    ("read", EIO),
    ("read", SHORT),
    ("write", ENOSPC),
    ("write", EIO),
    ("write", SHORT),
    ("sync", EIO),
    ("rename", EIO),
];

/// Operations that every command under test does, so that none of them passes because it never fails.
pub(crate) const OPERATIONS: [&str; 5] = ["open", "read", "rename", "sync", "write"];

/// The library that lets operations fail; nothing, with the reason printed, where it cannot be built.
pub(crate) fn shim() -> Option<&'static Path> {
    static SHIM: OnceLock<Option<PathBuf>> = OnceLock::new();
    SHIM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/shim.c");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fault-shim-{}.so", std::process::id()));
        let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl").output();
        match built {
            Ok(output) if output.status.success() => Some(library),
            Ok(output) => panic!("cc: {}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => {
                println!("no C compiler, so nothing is made to fail: {error}");
                None
            }
        }
    })
    .as_deref()
}

impl Fault {
    fn load(&self, command: &mut Command, shim: &Path) {
        command.env("LD_PRELOAD", shim).env("FAULT_OP", self.operation).env("FAULT_ERRNO", self.errno.to_string());
        command.env("FAULT_NTH", self.nth.to_string()).env("FAULT_PREFIX", &self.prefix);
        if self.each {
            command.env("FAULT_EACH", "1");
        }
    }

    /// Runs a command with this fault. It may fail, but it has to say so, and must not panic or die of a signal.
    pub(crate) fn run(&self, mut command: Command, shim: &Path) -> Output {
        self.load(&mut command, shim);
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(matches!(code, Some(0..=2)) && !told.contains("panicked"), "{self:?}: {code:?}\n{told}");
        assert!(code == Some(0) || !told.is_empty(), "{self:?} fails without a word");
        output
    }

    /// How many such operations a command does without any fault.
    pub(crate) fn count(&self, mut command: Command, shim: &Path, scratch: &Path) -> u64 {
        let report = scratch.join("calls");
        Fault { nth: 0, ..self.clone() }.load(&mut command, shim);
        assert!(command.env("FAULT_REPORT", &report).output().unwrap().status.success());
        std::fs::read_to_string(report).unwrap().parse().unwrap()
    }

    /// Faults at a few of so many calls: the first ones, some between, the last; once, and from there on.
    pub(crate) fn sample(&self, calls: u64, most: u64) -> Vec<Fault> {
        let mut places: Vec<u64> = (0..most).map(|place| 1 + place * calls.saturating_sub(1) / most.max(2).saturating_sub(1)).collect();
        places.dedup();
        places.retain(|place| *place <= calls);
        let once = places.iter().map(|nth| Fault { nth: *nth, ..self.clone() });
        let each = places.iter().step_by(2).map(|nth| Fault { nth: *nth, each: true, ..self.clone() });
        // Half of everything for ever is only slow.
        once.chain(each.filter(|fault| fault.errno != SHORT)).collect()
    }
}
