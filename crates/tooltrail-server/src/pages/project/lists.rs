//! What of a project is changed and fails most: files, commands, messages.

use super::ProjectPage;
use crate::answer::Trouble;
use crate::request::encoded;
use crate::words;
use maud::{Markup, html};
use std::time::Duration;
use tooltrail_catalog::queries::Store;
use tooltrail_catalog::queries::failures::{FailureQuery, FailureReport};
use tooltrail_model::filter::quoted;
use tooltrail_view::head::{count, counted, look};
use tooltrail_view::line::neutral;
use tooltrail_view::place;

/// The longest lists.
const FILES: usize = 12;
const COMMANDS: usize = 10;
const MESSAGES: usize = 6;
/// How long logs of live sessions may be read.
const PATIENCE: Duration = Duration::from_millis(40);

impl ProjectPage<'_> {
    /// The files that most sessions changed.
    pub(super) fn files(&self) -> Result<Markup, Trouble> {
        let files = self.store().changed_files(&self.filter, FILES)?;
        let within = |path: &str| place::within(self.path, path).map(str::to_owned);
        Ok(html! {
            section {
                h2 { "Files changed most" }
                @if files.is_empty() { p.di { "No changes to files." } } @else {
                    table.projects.most aria-label="Files changed most" {
                        thead { tr { th scope="col" { "File" } th.n scope="col" { "Sessions" } th.n.lines scope="col" { "Lines" } } }
                        tbody { @for file in &files {
                            @let name = within(&file.path).filter(|name| !name.is_empty()).unwrap_or_else(|| words::tilde(&file.path, self.rows.home.as_deref()).into_owned());
                            tr {
                                // `has:diff`, because `file:` also selects calls that only read the file.
                                td.file { a href=(self.of("/calls", &format!("file:{} has:diff", quoted(&file.path)))) title=(neutral(&file.path)) { bdi { (neutral(&name)) } } }
                                td.n title=(counted(file.calls, "edit")) { (count(file.sessions)) }
                                td.n.lines { @match file.lines { Some((added, removed)) => { span.t-ok { "+" (count(added)) } " " span.t-error { "−" (count(removed)) } }, None => span.di title="not all changes are known" { "?" } } }
                            }
                        } }
                    }
                }
            }
        })
    }

    /// The commands that fail most.
    pub(super) fn commands(&self) -> Result<Markup, Trouble> {
        let commands = self.store().failing_commands(&self.filter, COMMANDS)?;
        Ok(html! {
            section {
                h2 { "Commands that fail most" }
                @if commands.is_empty() { p.di { "No failed commands." } } @else {
                    table.projects.most aria-label="Commands that fail most" {
                        thead { tr { th scope="col" { "Command" } th.n scope="col" { "Failed" } th.n scope="col" { "Runs" } th.n scope="col" { "Last" } } }
                        tbody { @for command in &commands {
                            tr {
                                td { a href=(self.of("/calls", &format!("command:{} status:failed,timed_out", quoted(&command.command)))) title=(neutral(&command.command)) { code { (neutral(&command.command)) } } }
                                td.n { (count(command.failed)) }
                                td.n { (count(command.runs)) }
                                td.n { a href=(self.rows.app.to(&format!("/c/{}", encoded(&command.example)))) title={ "Last failure: " (neutral(&command.example)) } {
                                    @match command.last { Some(last) => (self.rows.clock.ago(last)), None => "last" }
                                } }
                            }
                        } }
                    }
                }
            }
        })
    }

    /// Its failures, with the most frequent messages.
    pub(super) fn failures(&self) -> Result<FailureReport, Trouble> {
        let zone = words::zone();
        let query = FailureQuery { filter: &self.filter, unresolved: false, zone: &zone, patience: PATIENCE };
        Ok(self.store().failures(&query, None, MESSAGES)?)
    }

    /// The messages of most failures.
    pub(super) fn messages(&self, report: &FailureReport) -> Markup {
        html! {
            section {
                h2 { "Failures " span.di { (count(report.total.count)) } }
                @if report.groups.is_empty() { p.di { "No failures." } } @else {
                    ul.messages data-rows { @for group in &report.groups {
                        @let status = group.by_status.iter().max_by_key(|(_, count)| **count).map(|(status, _)| look(*status));
                        li {
                            span.n { (count(group.count)) "×" }
                            @if let Some(look) = status { span class=(words::class(look.tone)) title=(look.word) { (look.glyph) span.vh { " " (look.word) } } }
                            a data-row href=(self.failures_address(&format!("&group={}", encoded(&group.group)))) title=[group.error.as_deref().map(neutral)] { code { (neutral(&group.group)) } }
                            span.di { (counted(group.sessions, "session")) @if let Some(last) = group.last { ", " (self.rows.clock.ago(last)) " ago" } }
                        }
                    } }
                    p.more { a href=(self.failures_address("")) { "All failures of this project" } @if report.total.unresolved() > 0 { span.di { " · " } a href=(self.failures_address("&unresolved=1")) { (count(report.total.unresolved())) " unresolved" } } }
                }
            }
        }
    }
}
