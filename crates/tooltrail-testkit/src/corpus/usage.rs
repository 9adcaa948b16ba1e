//! Token counts of one message, which every line of the message repeats.

use crate::json::text_of;
use crate::rng::Rng;

pub(super) struct TokenUsage {
    input: usize,
    cache_write: usize,
    cache_read: usize,
    /// Final count, which only the last line of the message has.
    pub(super) output: usize,
}

impl TokenUsage {
    pub(super) fn draw(rng: &mut Rng) -> Self {
        Self {
            // Nearly all input comes from the cache, so the uncached part is tiny.
            input: rng.between(1, 12),
            cache_write: rng.long_tailed(650.0, 1.2),
            cache_read: rng.between(10_000, 150_000),
            output: rng.long_tailed(150.0, 1.1) + 8,
        }
    }

    /// The counts as JSON. Early lines of a message have a smaller `output` than the last.
    pub(super) fn json(&self, output: usize) -> String {
        text_of(|o| {
            o.number("input_tokens", self.input)
                .number("cache_creation_input_tokens", self.cache_write)
                .number("cache_read_input_tokens", self.cache_read)
                .object("cache_creation", |o| {
                    o.number("ephemeral_5m_input_tokens", self.cache_write).number("ephemeral_1h_input_tokens", 0);
                })
                .number("output_tokens", output)
                .text("service_tier", "standard");
        })
    }
}
