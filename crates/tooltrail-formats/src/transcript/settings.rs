//! Settings of the agent during a session, collected while its records are indexed.

use super::record_index::IndexedRecord;
use std::collections::HashMap;
use std::sync::Arc;
use tooltrail_model::transcript::{PermissionChange, PermissionMode, SessionSettings, Spot, Thread, Turn};

/// Settings of the records read so far.
#[derive(Debug, Default)]
pub(super) struct SettingsReader {
    versions: Vec<Arc<str>>,
    permissions: Vec<(Arc<PermissionMode>, Spot)>,
    /// Records that say why a message ended early, by message.
    pub(super) stops: HashMap<u64, Spot>,
}

impl SettingsReader {
    /// Takes the settings of a record of the main conversation.
    pub(super) fn take(&mut self, record: &IndexedRecord, spot: Spot) {
        if let Some(version) = &record.version
            && self.versions.last() != Some(version)
        {
            self.versions.push(Arc::clone(version));
        }
        // Agents repeat the mode; only a change counts.
        if let Some(mode) = &record.permission
            && self.permissions.last().map(|(last, _)| last) != Some(mode)
        {
            self.permissions.push((Arc::clone(mode), spot));
        }
    }

    /// The settings of the whole session.
    pub(super) fn finish(self, places: &TurnPlaces, server_tools: [u64; 2]) -> SessionSettings {
        let change = |(mode, spot): (Arc<PermissionMode>, Spot)| PermissionChange { mode: (*mode).clone(), turn: places.first_turn(spot) };
        let versions = self.versions.iter().map(|version| version.to_string()).collect();
        SessionSettings { versions, permissions: self.permissions.into_iter().map(change).collect(), server_tools }
    }
}

/// The records that turns begin and end with.
#[derive(Debug)]
pub(super) struct TurnPlaces(Vec<Option<(Spot, Spot)>>);

impl TurnPlaces {
    pub(super) fn new(turns: &[Turn], threads: &[Thread]) -> Self {
        let entries = threads.first().map(|main| main.entries.as_slice()).unwrap_or_default();
        let place = |turn: &Turn| Some((entries.get(turn.entries.start)?.spot, entries.get(turn.entries.end.checked_sub(1)?)?.spot));
        TurnPlaces(turns.iter().map(place).collect())
    }

    /// The turn that a record belongs to: the last one that began before it in the same log.
    pub(super) fn turn(&self, spot: Spot) -> Option<usize> {
        // Only positions in the same log can be compared.
        self.0.iter().rposition(|place| place.is_some_and(|(begin, _)| begin.source == spot.source && begin <= spot))
    }

    /// The first turn that a setting applies to: the next one, where it was made after the last entry of a turn.
    fn first_turn(&self, spot: Spot) -> Option<usize> {
        let turn = self.turn(spot)?;
        let over = self.0.get(turn).copied().flatten().is_some_and(|(_, end)| end.source == spot.source && end < spot);
        Some(if over && turn + 1 < self.0.len() { turn + 1 } else { turn })
    }
}
