//! Exported pages in a browser.
