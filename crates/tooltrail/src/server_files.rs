//! Files that a running server leaves for other programs of its user, in `servers/` of the cache directory: how it is reached, and
//! its token as a header that `curl -H @FILE` sends.
//!
//! They are readable by the user alone from the moment they exist. A lock says whether the server lives: it ends with the process,
//! however that ends. What a killed server leaves behind is removed by the next one.

use crate::directories;
use crate::private_directory::private_directory;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tooltrail_model::visible::neutral_path;
use tracing::{debug, warn};

/// The way out where the directory cannot be used.
const ADVICE: &str = "set TOOLTRAIL_CACHE to another directory that you can write to";
/// Endings of a server's files.
const RECORD: &str = "json";
const HEADER: &str = "header";
const LOCK: &str = "lock";
/// The largest record that is read.
const MOST: u64 = 16 * 1024;

/// A running server, as its record describes it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct RunningServer {
    pub(crate) v: u32,
    /// The address at which this machine reaches it.
    pub(crate) address: IpAddr,
    pub(crate) port: u16,
    pub(crate) pid: u32,
    /// Identifier of the logs that it shows.
    pub(crate) logs: String,
    /// The token, with which a one-time code can be asked for.
    pub(crate) token: String,
}

impl RunningServer {
    /// The address with the port.
    pub(crate) fn socket(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.port)
    }

    /// The name of its files. With the usual address it is the port, so that scripts can know it.
    fn name(&self) -> String {
        if self.address == IpAddr::V4(Ipv4Addr::LOCALHOST) {
            return self.port.to_string();
        }
        // A colon is no letter of a file name on Windows.
        format!("{}-{}", self.address.to_string().replace([':', '%'], "_"), self.port)
    }
}

/// The files of a server of this process.
pub(crate) struct ServerFiles {
    record: PathBuf,
    header: PathBuf,
    lock: PathBuf,
    /// Holds the lock.
    _held: File,
}

impl ServerFiles {
    /// Writes the files, after removing those of servers that have ended.
    pub(crate) fn leave(server: &RunningServer) -> anyhow::Result<Self> {
        let cache = directories::cache()?;
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(&cache).with_context(|| format!("cannot create `{}`; {ADVICE}", neutral_path(&cache)))?;
        Self::leave_in(&cache.join("servers"), server)
    }

    fn leave_in(directory: &Path, server: &RunningServer) -> anyhow::Result<Self> {
        private_directory(directory, ADVICE)?;
        sweep(directory);
        let path = |ending: &str| directory.join(format!("{}.{ending}", server.name()));
        let (record, header, lock) = (path(RECORD), path(HEADER), path(LOCK));
        let write = || -> io::Result<File> {
            // Locked before it has its name: otherwise another server could take it for one that is left over.
            let draft = draft(directory, b"")?;
            draft.as_file().lock()?;
            let held = draft.persist(&lock)?;
            draft_to(directory, &header, format!("Authorization: Bearer {}\n", server.token).as_bytes())?;
            draft_to(directory, &record, &serde_json::to_vec(server)?)?;
            Ok(held)
        };
        let held = write().with_context(|| format!("cannot write in `{}`; {ADVICE}", neutral_path(directory)))?;
        Ok(ServerFiles { record, header, lock, _held: held })
    }

    /// The file with the header.
    pub(crate) fn header(&self) -> &Path {
        &self.header
    }

    /// Removes the files before the process exits without running destructors.
    pub(crate) fn remove(&self) {
        for path in [&self.record, &self.header, &self.lock] {
            // What is left is removed by the next server: the lock ends with this process.
            let _ = fs::remove_file(path);
        }
    }
}

impl Drop for ServerFiles {
    fn drop(&mut self) {
        self.remove();
    }
}

/// A file without its name yet, which only this user can read and write.
fn draft(directory: &Path, text: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".new-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600));
    let mut draft = builder.tempfile_in(directory)?;
    draft.write_all(text)?;
    Ok(draft)
}

fn draft_to(directory: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    draft(directory, text)?.persist(path)?;
    Ok(())
}

/// The servers of this user that are running, the newest first.
pub(crate) fn running() -> anyhow::Result<Vec<RunningServer>> {
    running_in(&directories::cache()?.join("servers"))
}

fn running_in(directory: &Path) -> anyhow::Result<Vec<RunningServer>> {
    if fs::symlink_metadata(directory).is_err() {
        return Ok(Vec::new());
    }
    // What another user could have written must not be believed.
    private_directory(directory, ADVICE)?;
    let mut found: Vec<(SystemTime, RunningServer)> = Vec::new();
    for lock in locks(directory) {
        let Some(file) = open_lock(&lock) else { continue };
        // Shared, so that two programs that look at the same moment do not take each other for the server.
        if !matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)) {
            continue;
        }
        if let Some(server) = read(&lock.with_extension(RECORD)) {
            let written = file.metadata().and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            found.push((written, server));
        }
    }
    found.sort_by_key(|(written, _)| std::cmp::Reverse(*written));
    Ok(found.into_iter().map(|(_, server)| server).collect())
}

fn read(path: &Path) -> Option<RunningServer> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(MOST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn locks(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ending| ending == LOCK))
}

fn open_lock(path: &Path) -> Option<File> {
    // Opening a pipe of that name would wait for ever.
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    // Some network file systems lock only what is open for writing.
    File::options().read(true).write(true).open(path).ok()
}

/// Removes the files of servers that have ended.
fn sweep(directory: &Path) {
    for lock in locks(directory) {
        let Some(file) = open_lock(&lock).filter(|file| file.try_lock().is_ok()) else { continue };
        debug!(path = ?lock, "removing the files of a server that has ended");
        for path in [lock.with_extension(RECORD), lock.with_extension(HEADER), lock.clone()] {
            if let Err(error) = fs::remove_file(&path)
                && error.kind() != io::ErrorKind::NotFound
            {
                warn!(?path, %error, "cannot remove a file of a server that has ended");
            }
        }
        drop(file);
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn server(port: u16) -> RunningServer {
        let (address, logs, token) = (IpAddr::V4(Ipv4Addr::LOCALHOST), "demo".to_owned(), "secret".to_owned());
        RunningServer { v: 1, address, port, pid: 1, logs, token }
    }

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn ports(directory: &Path) -> Vec<u16> {
        let mut ports: Vec<u16> = running_in(directory).unwrap().iter().map(|server| server.port).collect();
        ports.sort_unstable();
        ports
    }

    #[test]
    fn files_are_private_and_go_with_their_server() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("servers");
        assert!(ports(&directory).is_empty());
        let files = ServerFiles::leave_in(&directory, &server(7432)).unwrap();
        assert_eq!(names(&directory), ["7432.header", "7432.json", "7432.lock"]);
        for name in names(&directory) {
            assert_eq!(fs::metadata(directory.join(&name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
        }
        assert_eq!(fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::read_to_string(files.header()).unwrap(), "Authorization: Bearer secret\n");
        assert_eq!(ports(&directory), [7432]);
        let second = ServerFiles::leave_in(&directory, &RunningServer { address: "::1".parse().unwrap(), ..server(7432) }).unwrap();
        assert_eq!(second.header().file_name().unwrap(), "__1-7432.header");
        assert_eq!(ports(&directory), [7432, 7432]);
        drop((files, second));
        assert!(names(&directory).is_empty());
    }

    #[test]
    fn a_server_that_has_ended_is_not_found_and_swept() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("servers");
        drop(ServerFiles::leave_in(&directory, &server(1)).unwrap());
        // As a killed server leaves them: nobody holds the lock.
        fs::write(directory.join("7000.lock"), "").unwrap();
        fs::write(directory.join("7000.json"), serde_json::to_vec(&server(7000)).unwrap()).unwrap();
        fs::write(directory.join("7000.header"), "").unwrap();
        fs::write(directory.join("notes.txt"), "").unwrap();
        assert!(ports(&directory).is_empty());
        let _files = ServerFiles::leave_in(&directory, &server(7001)).unwrap();
        assert_eq!(names(&directory), ["7001.header", "7001.json", "7001.lock", "notes.txt"]);
        assert_eq!(ports(&directory), [7001]);
        fs::write(directory.join("7001.json"), "{").unwrap();
        assert!(ports(&directory).is_empty(), "a record that cannot be read is none");
    }

    #[test]
    fn a_directory_that_others_can_write_to_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let (directory, elsewhere) = (home.path().join("servers"), home.path().join("elsewhere"));
        fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, &directory).unwrap();
        let refused = |directory: &Path| {
            let left = ServerFiles::leave_in(directory, &server(1)).err().map(|error| error.to_string()).unwrap_or_default();
            assert_eq!(running_in(directory).err().map(|error| error.to_string()).unwrap_or_default(), left);
            left
        };
        assert!(refused(&directory).contains("symbolic link"));
        fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(refused(&elsewhere).contains("TOOLTRAIL_CACHE"));
        assert!(names(&elsewhere).is_empty());
    }
}
