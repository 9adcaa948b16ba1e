//! The errors of reading logs, and how an error is printed together with its causes.
//!
//! Messages are lower case and name no more than the reader may see: a transcript can be shared, so the paths of logs stand in the
//! program's own log, not in these texts. Which errors end something and which are survived is the caller's decision.

use std::error::Error;
use std::fmt;
use std::io;

/// A reason why a record of a log cannot be read again.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refuses to open or read the file.
    #[error("the log cannot be read any more")]
    File(#[source] io::Error),
    /// The file can be read, and does not have the record at its place.
    #[error("the log has changed since it was read; try again")]
    Changed,
}

/// An error followed by its causes, `message: cause: cause`, on one line of a page, a table or the log.
#[derive(Clone, Copy, Debug)]
pub struct ErrorChain<'e>(pub &'e dyn Error);

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// The message of a panic, as far as it is text.
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    // `panic!` with arguments carries a `String`, without arguments a `&str`.
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a thread stopped without saying why")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_follow_their_error() {
        let error = ReadError::File(io::Error::other("the disk is gone"));
        let told = ErrorChain(&error).to_string();
        assert_eq!(told, "the log cannot be read any more: the disk is gone");
        assert_eq!(ErrorChain(&ReadError::Changed).to_string(), ReadError::Changed.to_string());
    }

    #[test]
    fn a_panic_is_told_by_its_text() {
        let said = std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new("out of luck")));
        assert_eq!(said.err().as_deref().map(panic_message), Some("out of luck"));
        assert_eq!(panic_message(&3_u8), "a thread stopped without saying why");
    }
}
