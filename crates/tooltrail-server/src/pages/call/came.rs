//! Result of a call as its tool shows it, beside the text that the model saw; its input; and further facts.

use super::CallPage;
use maud::{Markup, html};
use serde_json::Value;
use tooltrail_view::block::ChangeLook;
use tooltrail_view::head::{count, counted, size};
use tooltrail_view::line::neutral;
use tooltrail_view::render::html::{block, line};
use tooltrail_view::truths::{self, Relation, Truths};
use tooltrail_view::{Block, call, json};

impl CallPage<'_> {
    /// The result: the main section of the page.
    pub(super) fn came(&self) -> Markup {
        let mut shown = call::shown(self.story, &self.limits);
        Block::look(&mut shown, ChangeLook { unapplied: call::is_unapplied(self.story), sides: true });
        let sides = shown.iter().any(is_diff);
        let side = call::side(self.story, &self.limits);
        let truths = truths::of(self.story, &self.limits);
        // Two panes only where they differ; otherwise the second would repeat the first.
        let apart = truths.as_ref().is_some_and(|truths| matches!(truths.relation, Relation::Differs | Relation::Added));
        // The link to everything is only offered if something was left out that the log has.
        let cut = shown.iter().chain(&side).any(elided) || truths.as_ref().is_some_and(|truths| truths.seen.iter().any(elided));
        html! {
            section.came aria-labelledby="came" {
                h2 #came.vh { "Output" }
                @if sides { p.look { label.tick { input #tt-split type="checkbox" autocomplete="off"; span { "Side by side" } } } }
                @if let Some(truths) = truths.as_ref().filter(|_| apart) {
                    div.panes {
                        section.pane aria-labelledby="produced" {
                            h3 #produced { "Tool produced" @if let Some(bytes) = truths.produced_bytes { span.di { (size(bytes)) } } }
                            (blocks(&shown)) (blocks(side.as_slice()))
                        }
                        section.pane aria-labelledby="seen" {
                            h3 #seen { "Model saw" span.di { (size(truths.seen_bytes)) } }
                            (blocks(&truths.seen))
                        }
                    }
                    (difference(truths))
                } @else {
                    (blocks(&shown)) (blocks(side.as_slice()))
                    @if shown.is_empty() && side.is_none() { p.di { "Nothing to show." } }
                    @if let Some(truths) = &truths { (same(truths)) }
                }
                @if cut && !self.context.all { p.more { a href={ (self.context.to.call(self.name)) "?all=1" } { "Show all of it" } } }
            }
        }
    }

    /// The input, as the log has it.
    pub(super) fn asked(&self) -> Markup {
        let input = &self.story.input;
        let (names, body) = match input {
            Value::Object(map) => {
                // Tools may have very many fields; the summary line names the first of them.
                (map.keys().take(12).map(|key| neutral(key).into_owned()).collect::<Vec<_>>().join(", "), json::fields(map, &self.limits))
            }
            Value::Null => (String::new(), Vec::new()),
            other => ("one value".to_owned(), vec![json::block(other, &self.limits)]),
        };
        html! {
            details.sec #asked {
                summary { "Input" span.di { (names) @if names.is_empty() { "nothing" } ", " (size(self.story.row.input_bytes)) } @if let Some(cwd) = self.story.row.cwd { span.di { "in " (neutral(cwd)) } } }
                (blocks(&body))
            }
        }
    }

    /// Further facts about the call.
    pub(super) fn about(&self) -> Markup {
        let row = &self.story.row;
        let tokens = self.story.tokens.as_ref().map(|tokens| {
            // The two lifetimes of the cache differ only in price, which this page does not show.
            let written = tokens.cache_write_5m.saturating_add(tokens.cache_write_1h);
            format!(
                "{} in, {} out, cache: {} read, {} written",
                count(tokens.input),
                count(tokens.output),
                count(tokens.cache_read),
                count(written)
            )
        });
        let parallel = (row.parallel > 1).then(|| counted(row.parallel.into(), "call"));
        let fields: Vec<(&str, Option<String>)> = vec![
            ("model", row.model.map(str::to_owned)),
            ("tokens of its message", tokens),
            ("service tier", self.story.tier.clone()),
            ("calls of its message", parallel),
            ("directory", row.cwd.map(str::to_owned)),
            ("purpose", row.purpose.map(str::to_owned)),
            ("tool, as logged", Some(row.tool.to_owned())),
            ("tool in the script", row.unwrapped.map(str::to_owned)),
            ("MCP server", row.server.map(str::to_owned)),
            ("call", Some(row.call.to_owned())),
            ("message", row.message.map(str::to_owned)),
            ("session", Some(row.session.to_owned())),
            ("subagent", row.agent_id.map(str::to_owned)),
            ("started session", row.child_session.map(str::to_owned)),
            ("agent", Some(row.agent.to_owned())),
            (
                "size",
                Some(format!(
                    "input {}{}",
                    size(row.input_bytes),
                    row.result_bytes.map(|bytes| format!(", result {}", size(bytes))).unwrap_or_default()
                )),
            ),
        ];
        html! {
            details.sec #about {
                summary { "About" span.di { (neutral(row.agent)) @if let Some(model) = row.model { ", " (neutral(model)) } } }
                dl.fields { @for (name, value) in &fields { @if let Some(value) = value { div { dt { (name) } dd { (neutral(value)) } } } } }
            }
        }
    }
}

fn blocks(all: &[Block]) -> Markup {
    html! { @for one in all { (block(one)) } }
}

/// Line-by-line difference between the tool's result and the text that the model saw.
fn difference(truths: &Truths) -> Markup {
    let Some((counts, lines)) = &truths.difference else { return html! {} };
    html! {
        details.sec #difference {
            summary { "Difference" span.di {
                (counted(counts.removed, "line")) " not seen by the model, " (counted(counts.added, "line")) " added for the model"
            } }
            (block(lines))
        }
    }
}

/// A note that there is nothing to compare, with the exact text that the model saw.
fn same(truths: &Truths) -> Markup {
    let said = match truths.relation {
        // Of an empty result, "the same" would say nothing.
        Relation::Same if truths.produced_bytes != Some(0) => "the same",
        Relation::OnlySeen => "only copy in the log",
        _ => "a short status message",
    };
    html! {
        @if let Some(words) = &truths.words {
            p.words { b { "Model saw" } span.di { (said) ", " (size(truths.seen_bytes)) } span.pa { (line(words)) } }
        } @else if truths.seen.is_empty() { p.words { b { "Model saw" } span.di { "nothing" } } }
        @else {
            details.sec #seen { summary { "Model saw" span.di { (said) ", " (size(truths.seen_bytes)) } } (blocks(&truths.seen)) }
        }
    }
}

/// Whether a block shows a change in two sides.
fn is_diff(block: &Block) -> bool {
    match block {
        Block::Diff(diff) => !diff.hunks.is_empty(),
        Block::Section { body, .. } => body.iter().any(is_diff),
        _ => false,
    }
}

/// Whether a block leaves out something that the log has.
fn elided(block: &Block) -> bool {
    let kept = |elided: &Option<tooltrail_view::limits::Elided>| elided.is_some_and(|elided| elided.kept);
    match block {
        Block::Code(code) => kept(&code.elided),
        Block::Diff(diff) => kept(&diff.elided),
        Block::Terminal(terminal) => kept(&terminal.elided),
        Block::Markdown { elided, .. } | Block::Table { elided, .. } | Block::Files { elided, .. } | Block::Json { elided, .. } => {
            kept(elided)
        }
        Block::Section { body, .. } => body.iter().any(self::elided),
        // The other kinds of blocks are never shortened, or have nothing more to show.
        _ => false,
    }
}
