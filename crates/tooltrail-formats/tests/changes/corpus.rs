//! Real logs.
