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

/// Calls a function when the user presses `q`.
pub(crate) fn on_quit(quit: impl FnOnce() + Send + 'static) {
    if !io::stdin().is_terminal() {
        return;
    }
    // Reading a key cannot be interrupted, so the thread is not joined; it ends with the process.
    std::thread::spawn(move || {
        let pressed = io::Read::bytes(io::stdin().lock()).map_while(Result::ok).any(|key| matches!(key, b'q' | b'Q'));
        if pressed {
            quit();
        }
    });
}

/// Keyboard mode: keys are not echoed, and arrive without Enter.
#[cfg(unix)]
mod keys {
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

    pub(super) fn loud() {
        if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
        }
    }
}

#[cfg(not(unix))]
mod keys {
    pub(super) fn quiet() {}
    pub(super) fn loud() {}
}
