//! The copies that Claude Code keeps of files.
