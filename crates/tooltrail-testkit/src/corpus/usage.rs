//! The token counts of one message, as every line of the message repeats them.

use crate::json::text_of;
use crate::rng::Rng;

pub(super) struct Usage {
    input: usize,
    cache_write: usize,
    cache_read: usize,
    /// What the last line of the message will say.
    pub(super) output: usize,
}

impl Usage {
    pub(super) fn draw(rng: &mut Rng) -> Self {
        Self {
            input: rng.between(1, 12),
            cache_write: rng.long_tailed(650.0, 1.2),
            cache_read: rng.between(10_000, 150_000),
            output: rng.long_tailed(150.0, 1.1) + 8,
        }
    }

    /// Early lines of a message carry a smaller `output` than the last one.
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
