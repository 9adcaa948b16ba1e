//! A directory that belongs to this user alone: created closed to others, and refused where another user could have prepared it.

use anyhow::{Context, bail};
use std::fs::{self, DirBuilder};
use std::io;
use std::path::Path;
use tooltrail_model::visible::neutral_path;

/// Creates a directory closed to others, unless something is there already, and refuses one that another user can write to: what
/// is deleted and trusted in it must be ours. `advice` says in messages what to do instead.
pub(crate) fn private_directory(path: &Path, advice: &str) -> anyhow::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(error).with_context(|| format!("cannot create `{}`; {advice}", neutral_path(path)))
        }
        _ => check(path, advice),
    }
}

fn check(path: &Path, advice: &str) -> anyhow::Result<()> {
    let shown = neutral_path(path);
    let meta = fs::symlink_metadata(path).with_context(|| format!("cannot look at `{shown}`"))?;
    if meta.is_symlink() {
        bail!("`{shown}` is a symbolic link, and files are deleted in it; remove the link, or {advice}");
    }
    if !meta.is_dir() {
        bail!("`{shown}` is not a directory; remove it, or {advice}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if meta.uid() != rustix::process::geteuid().as_raw() {
            bail!("`{shown}` belongs to another user; {advice}");
        }
        if meta.mode() & 0o077 != 0 {
            bail!("`{shown}` is open to other users; run `chmod 700 {shown}`, or {advice}");
        }
    }
    Ok(())
}
