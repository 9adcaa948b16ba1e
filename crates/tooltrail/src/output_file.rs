//! The file that `-o PATH` names, written so that nothing is lost: by every command that has the option.
//!
//! Only a regular file is ever replaced, and only when its successor is whole: the text goes to a temporary file beside it, which is
//! renamed. A symbolic link stays and the file behind it is replaced. Devices, pipes and sockets are written to. What is written is the
//! command's business, and so is the message that says it was.

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tooltrail_model::visible::neutral_path;

/// The permission of `-o` to replace a file that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// The command replaces it, as its help says.
    Replace,
    /// The command has a `--force`, which was not given.
    Refuse,
}

/// How many symbolic links may lead to a file: as many as Linux follows.
const MOST_LINKS: usize = 40;

/// The path to write to; none for standard output, which is `-` or any name of what this process already writes to.
pub(crate) fn path(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| *path != Path::new("-") && !is_standard_output(path))
}

/// Writes to a path, and says how many bytes that were.
pub(crate) fn write(path: &Path, existing: Existing, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<u64> {
    let (target, old) = resolve(path)?;
    match old {
        Some(old) if old.is_dir() => Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory; name a file")),
        Some(old) if !old.is_file() => write_to(special(&target, &old)?, write),
        Some(_) if existing == Existing::Refuse => Err(is_there()),
        old => replace(&target, old.as_ref(), existing, write),
    }
}

/// True if a path leads to the standard output of this process: `/dev/stdout`, or the file that it is redirected to.
#[cfg(unix)]
fn is_standard_output(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let Ok(own) = rustix::fs::fstat(io::stdout()) else { return false };
    // Its fields have other types on other systems.
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    fs::metadata(path).is_ok_and(|meta| (meta.dev(), meta.ino()) == (own.st_dev as u64, own.st_ino as u64))
}

#[cfg(not(unix))]
fn is_standard_output(_: &Path) -> bool {
    false
}

/// Follows symbolic links to the file that is meant, and says what is there now, if anything.
fn resolve(path: &Path) -> io::Result<(PathBuf, Option<Metadata>)> {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&target) {
            Ok(meta) if meta.is_symlink() => {
                // Some links, like those in `/proc/self/fd`, lead to things without a path; these are opened by the link itself.
                if let Ok(behind) = fs::metadata(&target)
                    && !behind.is_file()
                {
                    return Ok((target, Some(behind)));
                }
                let next = fs::read_link(&target)?;
                target = target.parent().map_or_else(|| next.clone(), |parent| parent.join(&next));
            }
            Ok(meta) => return Ok((target, Some(meta))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((target, None)),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many symbolic links; name the target file"))
}

fn is_there() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "the file exists; --force replaces it")
}

/// Opens a device, a pipe or a socket.
fn special(path: &Path, meta: &Metadata) -> io::Result<Box<dyn Write>> {
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_socket(&meta.file_type()) {
        return Ok(Box::new(std::os::unix::net::UnixStream::connect(path)?));
    }
    let _ = meta;
    Ok(Box::new(File::options().write(true).open(path)?))
}

/// Puts a whole file in the place of another one, or where there is none.
fn replace(
    target: &Path,
    old: Option<&Metadata>,
    existing: Existing,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<u64> {
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Otherwise the error would name the temporary file, which the user has never heard of.
    if !directory.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("no directory `{}`", neutral_path(directory))));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tooltrail-");
    // What replaces a private file is private from the start; a new file is as open as the umask lets it be.
    #[cfg(unix)]
    if old.is_none() {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let mut draft = builder.tempfile_in(directory)?;
    let bytes = write_to(draft.as_file_mut(), write)?;
    if let Some(old) = old {
        keep_attributes(draft.as_file(), old)?;
        // A file system may put off writing longer than renaming, and a power cut would leave neither text.
        draft.as_file().sync_data()?;
    }
    match existing {
        Existing::Replace => draft.persist(target)?,
        // It may have appeared since it was looked for.
        Existing::Refuse => draft.persist_noclobber(target).map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => is_there(),
            _ => error.error,
        })?,
    };
    Ok(bytes)
}

/// Gives a file the mode of the one that it replaces, and its owner where that is allowed.
#[cfg(unix)]
fn keep_attributes(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let now = file.metadata()?;
    if (now.uid(), now.gid()) != (old.uid(), old.gid()) {
        // Only root may give files away; for others the file becomes theirs, like any that an editor saves.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    // Without the set-user-id bit, which was granted to the old content.
    file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))
}

#[cfg(not(unix))]
fn keep_attributes(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

/// Writes all of it, and counts.
fn write_to(out: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<u64> {
    let mut out = BufWriter::with_capacity(256 * 1024, CountingWriter { out, bytes: 0 });
    write(&mut out)?;
    out.flush()?;
    Ok(out.get_ref().bytes)
}

/// A writer that knows how much went through it: a device cannot be asked for its size afterwards.
struct CountingWriter<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for CountingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    fn text(path: &Path, existing: Existing, text: &str) -> io::Result<u64> {
        write(path, existing, |out| out.write_all(text.as_bytes()))
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn a_regular_file_is_replaced_with_its_mode_kept() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.html");
        assert_eq!(text(&path, Existing::Replace, "new").unwrap(), 3);
        // As open as any new file of this process.
        fs::write(home.path().join("plain"), "").unwrap();
        assert_eq!(mode(&path), mode(&home.path().join("plain")));
        for kept in [0o600, 0o755, 0o444] {
            fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
            let before = fs::metadata(&path).unwrap().ino();
            text(&path, Existing::Replace, &format!("{kept:o}")).unwrap();
            assert_eq!((mode(&path), fs::read_to_string(&path).unwrap()), (kept, format!("{kept:o}")));
            assert_ne!(fs::metadata(&path).unwrap().ino(), before, "renamed, not overwritten");
        }
    }

    #[test]
    fn an_error_leaves_the_old_file_whole_and_nothing_beside_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.html");
        fs::write(&path, "old").unwrap();
        let failed = write(&path, Existing::Replace, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("the log is gone"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "the log is gone");
        let refused = text(&path, Existing::Refuse, "new").unwrap_err();
        assert!(refused.to_string().contains("--force"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_is_followed_and_stays() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("data")).unwrap();
        let (file, link, second) = (home.path().join("data/a"), home.path().join("link"), home.path().join("second"));
        symlink("data/a", &link).unwrap();
        symlink("link", &second).unwrap();
        // A link whose file is not there yet creates it, and replaces nothing.
        text(&second, Existing::Refuse, "one").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "one");
        assert!(text(&second, Existing::Refuse, "two").is_err());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        text(&second, Existing::Replace, "two").unwrap();
        assert_eq!((fs::read_to_string(&file).unwrap(), mode(&file)), ("two".to_owned(), 0o600));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && fs::symlink_metadata(&second).unwrap().is_symlink());
        assert_eq!(fs::read_dir(home.path().join("data")).unwrap().count(), 1);

        let circle = home.path().join("circle");
        symlink("circle", &circle).unwrap();
        assert!(text(&circle, Existing::Replace, "x").unwrap_err().to_string().contains("too many symbolic links"));
    }

    #[test]
    fn devices_pipes_and_sockets_are_written_to() {
        let home = tempfile::tempdir().unwrap();
        let (pipe, socket, device) = (home.path().join("pipe"), home.path().join("socket"), home.path().join("null"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        // Nothing is replaced, so nothing has to be forced.
        assert_eq!(text(&pipe, Existing::Refuse, "through a pipe").unwrap(), 14);
        assert_eq!(reader.join().unwrap(), "through a pipe");
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());

        let listener = UnixListener::bind(&socket).unwrap();
        let reader = std::thread::spawn(move || {
            let mut heard = String::new();
            listener.accept().unwrap().0.read_to_string(&mut heard).unwrap();
            heard
        });
        text(&socket, Existing::Replace, "through a socket").unwrap();
        assert_eq!(reader.join().unwrap(), "through a socket");
        assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());

        symlink("/dev/null", &device).unwrap();
        assert_eq!(text(&device, Existing::Replace, "away").unwrap(), 4);
        assert!(fs::metadata(&device).unwrap().file_type().is_char_device());
        assert!(fs::symlink_metadata(&device).unwrap().is_symlink());
    }

    #[test]
    fn a_directory_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let link = home.path().join("link");
        symlink(home.path(), &link).unwrap();
        for path in [home.path(), &link] {
            assert!(text(path, Existing::Replace, "x").unwrap_err().to_string().contains("it is a directory"));
        }
        let missing = text(&home.path().join("no/such"), Existing::Replace, "x").unwrap_err().to_string();
        assert!(missing.contains("no directory"), "{missing}");
    }
}
