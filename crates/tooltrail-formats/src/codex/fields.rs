//! The fields of a payload, taken in by one pass and read when somebody asks.
//!
//! What a payload is stands in its `type`, which may come last, so all fields that any payload needs are noted first: where each
//! one stands, nothing more. The same names serve records, payloads, and the items inside payloads.

use std::borrow::Cow;
use std::ops::Range;
use tooltrail_skim::{Raw, Skim, Torn, Type};

/// Where a value stands in its record; nowhere, if it is missing. Small, because a record notes many of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    start: u32,
    end: u32,
}

impl Place {
    /// No record that is decoded is as long as the numbers go; one that were would lose its fields.
    fn of(range: Range<usize>) -> Self {
        match (u32::try_from(range.start), u32::try_from(range.end)) {
            (Ok(start), Ok(end)) => Place { start, end },
            _ => Place::default(),
        }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether there is a value.
    pub(super) fn is_some(self) -> bool {
        self.end > 0
    }

    /// The same place, if there is a value.
    pub(super) fn there(self) -> Option<Self> {
        self.is_some().then_some(self)
    }
}

macro_rules! fields {
    ($($name:ident $key:literal)+) => {
        /// Where the known fields of an object stand.
        #[derive(Clone, Default)]
        pub(super) struct Fields<'r> {
            bytes: &'r [u8],
            /// Where the object stands that is being read.
            base: usize,
            $(pub(super) $name: Place,)+
        }

        impl Fields<'_> {
            fn slot(&mut self, key: &[u8]) -> Option<&mut Place> {
                match key {
                    $($key => Some(&mut self.$name),)+
                    _ => None,
                }
            }
        }
    };
}

fields! {
    action b"action"
    aggregated_output b"aggregated_output"
    agent_id b"agent_id"
    agent_path b"agent_path"
    agent_thread_id b"agent_thread_id"
    arguments b"arguments"
    author b"author"
    call_id b"call_id"
    call_id_camel b"callId"
    changes b"changes"
    command b"command"
    content b"content"
    cwd b"cwd"
    duration b"duration"
    duration_ms b"duration_ms"
    duration_ms_camel b"durationMs"
    error b"error"
    event_id b"event_id"
    exit_code b"exit_code"
    forked_from_id b"forked_from_id"
    git b"git"
    id b"id"
    info b"info"
    input b"input"
    instructions b"instructions"
    invocation b"invocation"
    item b"item"
    kind b"kind"
    message b"message"
    metadata b"metadata"
    model b"model"
    name b"name"
    namespace b"namespace"
    new_thread_id b"new_thread_id"
    num_turns b"num_turns"
    output b"output"
    parent_thread_id b"parent_thread_id"
    path b"path"
    prompt b"prompt"
    query b"query"
    reason b"reason"
    receiver_thread_ids b"receiver_thread_ids"
    receiver_thread_ids_camel b"receiverThreadIds"
    recipient b"recipient"
    record_type b"record_type"
    result b"result"
    revised_prompt b"revised_prompt"
    role b"role"
    server b"server"
    session_id b"session_id"
    source b"source"
    started_at b"started_at"
    status b"status"
    subagent b"subagent"
    success b"success"
    summary b"summary"
    task_name b"task_name"
    text b"text"
    thread_settings b"thread_settings"
    thread_spawn b"thread_spawn"
    timestamp b"timestamp"
    tool b"tool"
    tools b"tools"
    turn_id b"turn_id"
    r#type b"type"
}

impl<'r> Fields<'r> {
    /// No fields of a text yet.
    pub(super) fn of(bytes: &'r [u8]) -> Self {
        Fields { bytes, ..Fields::default() }
    }

    /// The fields of the object at a place in the same text; none if there is no object.
    pub(super) fn inside(&self, place: Place) -> Self {
        let mut fields = Fields::of(self.bytes);
        fields.base = place.range().start;
        let _ = self.skim(place).object(|key, value| fields.take(key.as_bytes(), value));
        fields
    }

    /// Notes where a field stands.
    #[inline]
    pub(super) fn take(&mut self, key: &[u8], value: &mut Skim<'r>) -> Result<(), Torn> {
        let base = self.base;
        if let Some(slot) = self.slot(key) {
            let place = value.skip()?;
            *slot = Place::of(base + place.start..base + place.end);
        }
        Ok(())
    }

    /// The raw JSON of a field.
    pub(super) fn raw(&self, place: Place) -> &'r [u8] {
        self.bytes.get(place.range()).unwrap_or_default()
    }

    /// A reader at a field.
    pub(super) fn skim(&self, place: Place) -> Skim<'r> {
        Skim::new(self.raw(place))
    }

    /// What a field holds.
    pub(super) fn kind_of(&self, place: Place) -> Option<Type> {
        self.skim(place).peek()
    }

    /// A field that is a string.
    pub(super) fn string(&self, place: Place) -> Option<Raw<'r>> {
        place.there()?;
        self.skim(place).string()
    }

    /// The same, decoded; an empty one counts as missing.
    pub(super) fn text(&self, place: Place) -> Option<Cow<'r, str>> {
        self.string(place).filter(|text| !text.is_empty()).map(Raw::text)
    }

    /// A field that is a whole number.
    pub(super) fn int(&self, place: Place) -> Option<i64> {
        place.there()?;
        self.skim(place).int().and_then(|n| i64::try_from(n).ok())
    }

    /// A field that is `true` or `false`.
    pub(super) fn bool(&self, place: Place) -> Option<bool> {
        place.there()?;
        self.skim(place).bool()
    }

    /// Its message.
    pub(super) fn message(&self) -> Option<Raw<'r>> {
        self.string(self.message)
    }

    /// What the payload is.
    pub(super) fn name_of_type(&self) -> Cow<'r, str> {
        self.text(self.r#type).unwrap_or_default()
    }
}
