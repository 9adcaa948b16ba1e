//! Faults on purpose: each file operation fails in turn while the program works, and afterwards nothing may be missing.
//!
//! The operations of the program and of SQLite go through libc, so a library that is loaded before it (`shim.c`) can let any of them
//! fail. Each trial begins with the same files, runs a command with one fault, or with all operations failing from some point on, and
//! then runs it without. What is stored after that has to be what a program without a catalogue reads, with the sessions whose logs are
//! gone; and no kept copy may be lost.
//!
//! Renaming by `rustix` is a system call without libc; a seccomp filter turns it into a signal that the library handles. Only the setting of
//! times never fails.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // helpers of tests, where a panic is the report

mod exporting;
mod fault;
mod keeping;
mod refreshing;
mod unreadable;
mod world;
