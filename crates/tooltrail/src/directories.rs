//! Where this program may put files of its own, by what the environment and the system say.

use anyhow::Context;
use std::path::PathBuf;

/// A variable of the environment that names a path.
pub(crate) fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The person's home directory.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// The directory for what can be made again: `TOOLTRAIL_CACHE`, or where the system wants it.
pub(crate) fn cache() -> anyhow::Result<PathBuf> {
    if let Some(own) = variable("TOOLTRAIL_CACHE") {
        return Ok(own);
    }
    let system = system("Library/Caches", "XDG_CACHE_HOME", ".cache");
    Ok(system.context("no home directory; say where the catalogue may be kept with TOOLTRAIL_CACHE")?.join("tooltrail"))
}

/// The directory for what is not to be lost: `TOOLTRAIL_DATA`, or where the system wants it.
pub(crate) fn data() -> anyhow::Result<PathBuf> {
    if let Some(own) = variable("TOOLTRAIL_DATA") {
        return Ok(own);
    }
    let system = system("Library/Application Support", "XDG_DATA_HOME", ".local/share");
    let own = system.context("no home directory; say where logs may be kept with TOOLTRAIL_DATA")?.join("tooltrail");
    // There is one place for both on Windows.
    Ok(if cfg!(windows) { own.join("data") } else { own })
}

fn system(mac: &str, xdg: &str, below_home: &str) -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        home().map(|home| home.join(mac))
    } else if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else {
        // A relative path is to be ignored, says the specification.
        variable(xdg).filter(|path| path.is_absolute()).or_else(|| home().map(|home| home.join(below_home)))
    }
}

/// How the names of temporary directories of this process begin.
pub(crate) fn temporary_prefix() -> String {
    format!("{TEMPORARY}{}-", std::process::id())
}

const TEMPORARY: &str = "tooltrail-";

/// Removes temporary directories of processes that are gone without having done so, where that can be told.
pub(crate) fn sweep_temporary() {
    if !std::path::Path::new("/proc/self").exists() {
        return;
    }
    for entry in std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY)?.split_once('-')?.0.parse::<u32>().ok());
        if owner.is_some_and(|owner| !std::path::Path::new(&format!("/proc/{owner}")).exists()) {
            // Of somebody else's it is theirs to remove.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
