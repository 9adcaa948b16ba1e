//! A terminal that is drawn on, and given back as it was: on Ctrl-C, on an error and on a panic too.

use std::io::{self, IsTerminal, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Another screen, no cursor, and lines that are cut rather than wrapped.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l";
const LEAVE: &str = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l";

/// Whether the terminal is ours at the moment.
static OURS: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal, while it is drawn on.
pub(crate) struct Screen {
    /// Whether colours are wanted.
    color: bool,
    /// What was drawn last, and how large the terminal was.
    drawn: (String, (usize, usize)),
}

impl Screen {
    /// Takes the terminal.
    pub(crate) fn open(color: &str) -> io::Result<Self> {
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
        OURS.store(true, Ordering::Relaxed);
        keys::quiet();
        let mut out = io::stdout().lock();
        out.write_all(ENTER.as_bytes())?;
        out.flush()?;
        Ok(Screen { color, drawn: Default::default() })
    }

    /// Draws a picture over the one before, if it is another one.
    pub(crate) fn draw(&mut self, picture: &str) -> io::Result<()> {
        let size = size();
        if self.drawn.1 == size && self.drawn.0 == picture {
            return Ok(());
        }
        let plain = if self.color { picture.to_owned() } else { anstream::adapter::strip_str(picture).to_string() };
        let mut text = String::from("\u{1b}[H");
        for (place, line) in plain.lines().take(size.1).enumerate() {
            text.push_str(if place > 0 { "\r\n" } else { "" });
            // Behind a line that fills the terminal this would take its last letter.
            text.push_str("\u{1b}[K");
            text.push_str(line);
        }
        text.push_str(if plain.lines().count() < size.1 { "\r\n\u{1b}[J" } else { "" });
        self.drawn = (picture.to_owned(), size);
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Whether the terminal is larger or smaller than when it was drawn on.
    pub(crate) fn is_resized(&self) -> bool {
        self.drawn.1 != size()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Columns and lines.
pub(crate) fn size() -> (usize, usize) {
    let size = terminal_size::terminal_size();
    size.map_or((80, 24), |(width, height)| (usize::from(width.0).max(20), usize::from(height.0).max(3)))
}

/// Gives the terminal back as it was, if it is ours.
pub(crate) fn give_back() {
    if OURS.swap(false, Ordering::Relaxed) {
        keys::loud();
        let mut out = io::stdout();
        // If it is gone there is nothing to give back.
        let _ = out.write_all(LEAVE.as_bytes()).and_then(|()| out.flush());
    }
}

/// Calls something when somebody presses `q`.
pub(crate) fn on_quit(quit: impl FnOnce() + Send + 'static) {
    if !io::stdin().is_terminal() {
        return;
    }
    std::thread::spawn(move || {
        let pressed = io::Read::bytes(io::stdin().lock()).map_while(Result::ok).any(|key| matches!(key, b'q' | b'Q'));
        if pressed {
            quit();
        }
    });
}

/// Keys that are pressed: not to be seen, and known at once.
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
