//! The fields of a payload, located in one pass and read on demand. `record` fills them; everything that reads a record uses them.
//!
//! The kind of a payload is in its `type`, which may come last, so the places of all fields that any payload needs are noted first, and
//! nothing more. The same names serve records, payloads, and the items inside payloads.

use std::borrow::Cow;
use std::ops::Range;
use tooltrail_skim::{Raw, Skim, Torn, Type};

/// The place of a value in its record; nowhere, if it is missing. Small, because a record notes many of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldSpan {
    start: u32,
    end: u32,
}

impl FieldSpan {
    /// The span of a range. A record beyond four gigabytes is never decoded; it would lose its fields.
    fn of(range: Range<usize>) -> Self {
        match (u32::try_from(range.start), u32::try_from(range.end)) {
            (Ok(start), Ok(end)) => FieldSpan { start, end },
            _ => FieldSpan::default(),
        }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether there is a value.
    pub(super) fn is_some(self) -> bool {
        // A value has at least one byte, so only a missing one ends at 0.
        self.end > 0
    }

    /// This place, if there is a value.
    pub(super) fn there(self) -> Option<Self> {
        self.is_some().then_some(self)
    }
}

macro_rules! fields {
    ($($length:literal { $($name:ident $key:literal)+ })+) => {
        /// The places of the known fields of an object.
        #[derive(Clone, Default)]
        pub(super) struct PayloadFields<'r> {
            bytes: &'r [u8],
            /// The place of the object itself.
            own: FieldSpan,
            /// The start of the text that its fields are counted from.
            base: usize,
            $($(pub(super) $name: FieldSpan,)+)+
        }

        impl PayloadFields<'_> {
            fn slot(&mut self, key: &[u8]) -> Option<&mut FieldSpan> {
                // By length first, so that a key is compared with few others: every key of every record passes here.
                match key.len() {
                    $($length => match key {
                        $($key => Some(&mut self.$name),)+
                        _ => None,
                    },)+
                    _ => None,
                }
            }
        }

        $($(const _: () = assert!($key.len() == $length, "a field stands under another length");)+)+
    };
}

fields! {
    2 {
        id b"id"
    }
    3 {
        cwd b"cwd"
        git b"git"
    }
    4 {
        goal b"goal"
        info b"info"
        item b"item"
        kind b"kind"
        name b"name"
        path b"path"
        role b"role"
        text b"text"
        tool b"tool"
        r#type b"type"
    }
    5 {
        error b"error"
        input b"input"
        model b"model"
        query b"query"
        tools b"tools"
        usage b"usage"
    }
    6 {
        action b"action"
        author b"author"
        call_id_camel b"callId"
        images b"images"
        output b"output"
        prompt b"prompt"
        reason b"reason"
        result b"result"
        review b"review"
        server b"server"
        source b"source"
        status b"status"
        stdout b"stdout"
    }
    7 {
        call_id b"call_id"
        changes b"changes"
        command b"command"
        content b"content"
        details b"details"
        failure b"failure"
        message b"message"
        ordinal b"ordinal"
        results b"results"
        success b"success"
        summary b"summary"
        turn_id b"turn_id"
    }
    8 {
        agent_id b"agent_id"
        duration b"duration"
        event_id b"event_id"
        metadata b"metadata"
        subagent b"subagent"
        to_model b"to_model"
    }
    9 {
        arguments b"arguments"
        exit_code b"exit_code"
        fragments b"fragments"
        namespace b"namespace"
        num_turns b"num_turns"
        rationale b"rationale"
        recipient b"recipient"
        task_name b"task_name"
        thread_id b"thread_id"
        timestamp b"timestamp"
    }
    10 {
        agent_path b"agent_path"
        duration_ms_camel b"durationMs"
        from_model b"from_model"
        invocation b"invocation"
        risk_level b"risk_level"
        session_id b"session_id"
        started_at b"started_at"
    }
    11 {
        duration_ms b"duration_ms"
        raw_content b"raw_content"
        record_type b"record_type"
        response_id b"response_id"
        thread_name b"thread_name"
    }
    12 {
        content_items_camel b"contentItems"
        instructions b"instructions"
        local_images b"local_images"
        summary_text b"summary_text"
        thread_spawn b"thread_spawn"
    }
    13 {
        content_items b"content_items"
        new_thread_id b"new_thread_id"
        review_output b"review_output"
        revised_prompt_camel b"revisedPrompt"
        started_at_ms b"started_at_ms"
        window_number b"window_number"
    }
    14 {
        forked_from_id b"forked_from_id"
        revised_prompt b"revised_prompt"
    }
    15 {
        agent_thread_id b"agent_thread_id"
        approval_policy b"approval_policy"
        completed_at_ms b"completed_at_ms"
        reasoning_effort_camel b"reasoningEffort"
        thread_settings b"thread_settings"
    }
    16 {
        formatted_output b"formatted_output"
        parent_thread_id b"parent_thread_id"
        reasoning_effort b"reasoning_effort"
        user_facing_hint b"user_facing_hint"
    }
    17 {
        aggregated_output b"aggregated_output"
        receiver_thread_ids_camel b"receiverThreadIds"
    }
    18 {
        additional_details b"additional_details"
        last_agent_message b"last_agent_message"
    }
    19 {
        receiver_thread_ids b"receiver_thread_ids"
        replacement_history b"replacement_history"
    }
    22 {
        compaction_response_id b"compaction_response_id"
    }
    30 {
        subagent_history_start_ordinal b"subagent_history_start_ordinal"
    }
    42 {
        metadata_passthrough b"internal_chat_message_metadata_passthrough"
    }
}

impl<'r> PayloadFields<'r> {
    /// No fields yet of the object at a place in a text, whose reader counts from the start of the text.
    pub(super) fn of(bytes: &'r [u8], own: Range<usize>) -> Self {
        PayloadFields { bytes, own: FieldSpan::of(own), ..PayloadFields::default() }
    }

    /// The fields of the object at a place in the same text; none if there is no object.
    pub(super) fn inside(&self, place: FieldSpan) -> Self {
        // The reader of the object counts from its start; `base` makes that a place in the record.
        let mut fields = PayloadFields { bytes: self.bytes, own: place, base: place.range().start, ..PayloadFields::default() };
        // A value that breaks off keeps the fields before.
        let _ = self.skim(place).object(|key, value| fields.take(key.as_bytes(), value));
        fields
    }

    /// Notes where a field stands.
    #[inline]
    pub(super) fn take(&mut self, key: &[u8], value: &mut Skim<'r>) -> Result<(), Torn> {
        let base = self.base;
        // Of a repeated key the last one counts.
        if let Some(slot) = self.slot(key) {
            let place = value.skip()?;
            *slot = FieldSpan::of(base + place.start..base + place.end);
        }
        Ok(())
    }

    /// Notes where the object ends, once it was read.
    pub(super) fn end(&mut self, end: usize) {
        self.own = FieldSpan::of(self.own.range().start..end);
    }

    /// The raw JSON of the object.
    pub(super) fn own(&self) -> &'r [u8] {
        self.raw(self.own)
    }

    /// The raw JSON of a field.
    pub(super) fn raw(&self, place: FieldSpan) -> &'r [u8] {
        self.bytes.get(place.range()).unwrap_or_default()
    }

    /// A reader at a field.
    pub(super) fn skim(&self, place: FieldSpan) -> Skim<'r> {
        Skim::new(self.raw(place))
    }

    /// The type of a field's value.
    pub(super) fn kind_of(&self, place: FieldSpan) -> Option<Type> {
        self.skim(place).peek()
    }

    /// A field that is a string.
    pub(super) fn string(&self, place: FieldSpan) -> Option<Raw<'r>> {
        place.there()?;
        self.skim(place).string()
    }

    /// A field that is a string, decoded; an empty one counts as missing.
    pub(super) fn text(&self, place: FieldSpan) -> Option<Cow<'r, str>> {
        self.string(place).filter(|text| !text.is_empty()).map(Raw::text)
    }

    /// A field that is a whole number.
    pub(super) fn int(&self, place: FieldSpan) -> Option<i64> {
        place.there()?;
        self.skim(place).int().and_then(|n| i64::try_from(n).ok())
    }

    /// The raw JSON of a field that is there and not null.
    pub(super) fn some(&self, place: FieldSpan) -> Option<&'r [u8]> {
        // No other value of JSON begins like this.
        place.there().map(|place| self.raw(place)).filter(|raw| !raw.starts_with(b"null"))
    }

    /// The first of some fields that is there and not null; else the first that is there.
    pub(super) fn first(&self, places: &[FieldSpan]) -> FieldSpan {
        // A null beside a value in an older spelling must not hide it.
        let told = places.iter().find(|place| self.some(**place).is_some());
        told.or_else(|| places.iter().find(|place| place.is_some())).copied().unwrap_or_default()
    }

    /// A text inside a field that is an object, by its name there; an empty one counts as missing.
    pub(super) fn text_inside(&self, place: FieldSpan, name: &str) -> Option<Cow<'r, str>> {
        let mut found = None;
        let _ = self.skim(place).object(|key, value| {
            if key.as_bytes() == name.as_bytes() {
                found = value.string();
            }
            Ok(())
        });
        found.filter(|text| !text.is_empty()).map(Raw::text)
    }

    /// A field that is `true` or `false`.
    pub(super) fn bool(&self, place: FieldSpan) -> Option<bool> {
        place.there()?;
        self.skim(place).bool()
    }

    /// Its message.
    pub(super) fn message(&self) -> Option<Raw<'r>> {
        self.string(self.message)
    }

    /// The `type` of the object; empty if it has none.
    pub(super) fn name_of_type(&self) -> Cow<'r, str> {
        self.text(self.r#type).unwrap_or_default()
    }
}
