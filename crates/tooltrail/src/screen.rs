//! Full-screen drawing on a terminal, which is restored afterwards: also on Ctrl-C, on an error, and on a panic.

use std::io::{self, IsTerminal, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Switches to the alternate screen, hides the cursor, and turns off line wrapping.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l";
const LEAVE: &str = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l";

/// True while the terminal is in the mode of [`ENTER`].
static OURS: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal in full-screen mode, until this is dropped.
pub(crate) struct Screen {
    /// True if colours are on.
    color: bool,
    /// The last picture, and the size of the terminal at that time.
    drawn: (String, (usize, usize)),
}

impl Screen {
    /// Switches the terminal to full-screen mode.
    pub(crate) fn open(color: &str) -> io::Result<Self> {
        // The previous hook prints the message of a panic, which would be lost on the alternate screen; so this comes first.
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                before(panic);
            }));
        });
        let color = match color {
            "always" => true,
            "never" => false,
            _ => anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
        };
        // Set before the first change, so that a signal in between restores everything.
        OURS.store(true, Ordering::Relaxed);
        keys::quiet();
        let mut out = io::stdout().lock();
        out.write_all(ENTER.as_bytes())?;
        out.flush()?;
        Ok(Screen { color, drawn: Default::default() })
    }

    /// Draws a picture over the last one, unless it is the same.
    pub(crate) fn draw(&mut self, picture: &str) -> io::Result<()> {
        let size = size();
        if self.drawn.1 == size && self.drawn.0 == picture {
            return Ok(());
        }
        let plain = if self.color { picture.to_owned() } else { anstream::adapter::strip_str(picture).to_string() };
        // Drawn over the old picture instead of clearing first, which would flicker.
        let mut text = String::from("\u{1b}[H");
        for (place, line) in plain.lines().take(size.1).enumerate() {
            text.push_str(if place > 0 { "\r\n" } else { "" });
            // Erases the rest of the line before writing: after a line as wide as the terminal it would erase its last letter.
            text.push_str("\u{1b}[K");
            text.push_str(line);
        }
        // Below a full screen there is nothing to erase, and the line feed would scroll.
        text.push_str(if plain.lines().count() < size.1 { "\r\n\u{1b}[J" } else { "" });
        self.drawn = (picture.to_owned(), size);
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// True if the size of the terminal has changed since the last drawing.
    pub(crate) fn is_resized(&self) -> bool {
        self.drawn.1 != size()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Number of columns and lines; a common size if standard output is no terminal.
pub(crate) fn size() -> (usize, usize) {
    let size = terminal_size::terminal_size();
    size.map_or((80, 24), |(width, height)| (usize::from(width.0).max(20), usize::from(height.0).max(3)))
}

/// Restores the terminal, if it is in full-screen mode.
pub(crate) fn give_back() {
    // Called from the signal handler, the panic hook and `Drop`; only the first of them acts.
    if OURS.swap(false, Ordering::Relaxed) {
        keys::loud();
        let mut out = io::stdout();
        // If the terminal is gone there is nothing to restore.
        let _ = out.write_all(LEAVE.as_bytes()).and_then(|()| out.flush());
    }
}

/// A key that full-screen commands understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PressedKey {
    Up,
    Down,
    PageUp,
    PageDown,
    Enter,
    Escape,
    Backspace,
    /// A letter or another sign.
    Sign(char),
}

/// The keys that were pressed since the last call. Never waits.
pub(crate) fn pressed() -> Vec<PressedKey> {
    if !io::stdin().is_terminal() {
        return Vec::new();
    }
    read_keys(&keys::bytes())
}

/// Reads the bytes that a terminal sends for keys. Unknown sequences are no keys.
fn read_keys(bytes: &[u8]) -> Vec<PressedKey> {
    let text = String::from_utf8_lossy(bytes);
    let (mut rest, mut found) = (&*text, Vec::new());
    while let Some(sign) = rest.chars().next() {
        rest = &rest[sign.len_utf8()..];
        match sign {
            '\u{1b}' => match rest.strip_prefix(['[', 'O']) {
                Some(sequence) => {
                    // A sequence ends with a letter or a tilde; what stands before it are parameters.
                    let end = sequence.find(|sign: char| sign.is_ascii_alphabetic() || sign == '~').map_or(sequence.len(), |at| at + 1);
                    found.extend(match &sequence[..end] {
                        "A" => Some(PressedKey::Up),
                        "B" => Some(PressedKey::Down),
                        "5~" => Some(PressedKey::PageUp),
                        "6~" => Some(PressedKey::PageDown),
                        _ => None,
                    });
                    rest = &sequence[end..];
                }
                None => found.push(PressedKey::Escape),
            },
            '\n' | '\r' => found.push(PressedKey::Enter),
            '\u{7f}' | '\u{8}' => found.push(PressedKey::Backspace),
            sign if !sign.is_control() && sign != '\u{fffd}' => found.push(PressedKey::Sign(sign)),
            _ => {}
        }
    }
    found
}

/// Rings the bell, and shows a message where the terminal can (OSC 9). The message is plain text.
pub(crate) fn notify(message: &str) -> io::Result<()> {
    let plain: String = crate::table::printable(message).chars().filter(|sign| !sign.is_control() && *sign != ';').take(120).collect();
    let mut out = io::stdout().lock();
    write!(out, "\u{1b}]9;{plain}\u{7}\u{7}")?;
    out.flush()
}

/// Keyboard mode: keys are not echoed, and arrive without Enter.
#[cfg(unix)]
mod keys {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
    use std::io;
    use std::sync::{Mutex, PoisonError};

    static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

    pub(super) fn quiet() {
        let Ok(before) = tcgetattr(io::stdin()) else { return };
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        if tcsetattr(io::stdin(), OptionalActions::Now, &quiet).is_ok() {
            *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        }
    }

    /// The bytes that are there. Read past the buffer of the standard library, which would wait for more.
    pub(super) fn bytes() -> Vec<u8> {
        let stdin = io::stdin();
        let mut asked = [PollFd::new(&stdin, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if !poll(&mut asked, Some(&now)).is_ok_and(|ready| ready > 0) {
            return Vec::new();
        }
        let mut buffer = [0; 256];
        let read = rustix::io::read(&stdin, &mut buffer).unwrap_or(0);
        buffer.get(..read).unwrap_or_default().to_vec()
    }

    pub(super) fn loud() {
        if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
        }
    }
}

#[cfg(not(unix))]
mod keys {
    use std::io::{self, Read};
    use std::sync::mpsc::{Receiver, channel};
    use std::sync::{Mutex, OnceLock, PoisonError};

    static READ: OnceLock<Mutex<Receiver<u8>>> = OnceLock::new();

    pub(super) fn quiet() {}
    pub(super) fn loud() {}

    /// The bytes that are there. Reading cannot be interrupted here, so a thread does it until the process ends.
    pub(super) fn bytes() -> Vec<u8> {
        let start = || {
            let (send, receive) = channel();
            std::thread::spawn(move || io::stdin().lock().bytes().map_while(Result::ok).try_for_each(|byte| send.send(byte)));
            Mutex::new(receive)
        };
        READ.get_or_init(start).lock().unwrap_or_else(PoisonError::into_inner).try_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_from_what_terminals_send() {
        let keys = |text: &str| read_keys(text.as_bytes());
        assert_eq!(
            keys("\u{1b}[A\u{1b}OB\u{1b}[5~\u{1b}[6~"),
            [PressedKey::Up, PressedKey::Down, PressedKey::PageUp, PressedKey::PageDown]
        );
        assert_eq!(keys("jé\n\u{7f}"), [PressedKey::Sign('j'), PressedKey::Sign('é'), PressedKey::Enter, PressedKey::Backspace]);
        assert_eq!(keys("\u{1b}"), [PressedKey::Escape]);
        // Shift and an arrow, a mouse, and a sequence that breaks off.
        assert_eq!(keys("\u{1b}[1;2C\u{1b}[<0;1;1M\u{1b}[1;"), []);
        assert_eq!(read_keys(&[0xff, 0x00, b'q']), [PressedKey::Sign('q')]);
    }
}
