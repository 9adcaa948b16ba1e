//! Directories for files of this program: its cache, its data and its configuration, as the environment and the platform define them.

use anyhow::Context;
use std::path::PathBuf;

/// A path from an environment variable; an empty value counts as unset.
pub(crate) fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The person's home directory.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// The cache directory, whose content can be made again: `TOOLTRAIL_CACHE`, or the platform's cache directory.
pub(crate) fn cache() -> anyhow::Result<PathBuf> {
    if let Some(own) = variable("TOOLTRAIL_CACHE") {
        return Ok(own);
    }
    let system = system("Library/Caches", "XDG_CACHE_HOME", ".cache");
    Ok(system.context("no home directory; set TOOLTRAIL_CACHE to a directory for the index")?.join("tooltrail"))
}

/// The data directory, whose content must not be lost: `TOOLTRAIL_DATA`, or the platform's data directory.
pub(crate) fn data() -> anyhow::Result<PathBuf> {
    if let Some(own) = variable("TOOLTRAIL_DATA") {
        return Ok(own);
    }
    let system = system("Library/Application Support", "XDG_DATA_HOME", ".local/share");
    let own = system.context("no home directory; set TOOLTRAIL_DATA to a directory for kept logs")?.join("tooltrail");
    // On Windows cache and data share one directory, so data gets a folder of its own: deleting the cache must not delete it.
    Ok(if cfg!(windows) { own.join("data") } else { own })
}

/// The configuration file: `TOOLTRAIL_CONFIG`, or `config.toml` in the platform's configuration directory.
pub(crate) fn config() -> Option<PathBuf> {
    let system = || system("Library/Application Support", "XDG_CONFIG_HOME", ".config");
    variable("TOOLTRAIL_CONFIG").or_else(|| Some(system()?.join("tooltrail").join("config.toml")))
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
