//! Schemas of JSON values, in the few words that are needed here. Objects are closed: all their fields are there, and no others.

use serde_json::{Map, Value, json};

/// Schemas by their names.
#[derive(Default)]
pub(super) struct Schemas(pub(super) Map<String, Value>);

impl Schemas {
    /// Adds one.
    pub(super) fn add(&mut self, name: &str, schema: Value) {
        self.0.insert(name.to_owned(), schema);
    }
}

/// A schema that has a name.
pub(super) fn named(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// A text.
pub(super) fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

/// A moment.
pub(super) fn time(about: &str) -> Value {
    json!({ "type": "string", "format": "date-time", "description": about })
}

/// One of some words.
pub(super) fn one_of(about: &str, words: impl IntoIterator<Item = &'static str>) -> Value {
    json!({ "type": "string", "enum": words.into_iter().collect::<Vec<_>>(), "description": about })
}

/// A number that is not negative.
pub(super) fn count(about: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": about })
}

/// Any whole number.
pub(super) fn integer(about: &str) -> Value {
    json!({ "type": "integer", "description": about })
}

/// Yes or no.
pub(super) fn yes_no(about: &str) -> Value {
    json!({ "type": "boolean", "description": about })
}

/// Whatever the log has.
pub(super) fn anything(about: &str) -> Value {
    json!({ "description": about })
}

/// The version of the contract.
pub(super) fn version() -> Value {
    json!({ "const": tooltrail_model::row::VERSION, "description": "The version of the contract." })
}

/// One word.
pub(super) fn only(word: &str) -> Value {
    json!({ "const": word })
}

/// The same, or null.
pub(super) fn maybe(schema: Value) -> Value {
    any_of([schema, json!({ "type": "null" })])
}

/// One of several.
pub(super) fn any_of(schemas: impl IntoIterator<Item = Value>) -> Value {
    json!({ "anyOf": schemas.into_iter().collect::<Vec<_>>() })
}

/// Any number of the same.
pub(super) fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// So many, each of its kind.
pub(super) fn tuple<const N: usize>(items: [Value; N]) -> Value {
    json!({ "type": "array", "prefixItems": items.to_vec(), "items": false, "minItems": N })
}

/// Two numbers.
pub(super) fn pair(about: &str) -> Value {
    let mut pair = tuple([json!({ "type": "integer", "minimum": 0 }), json!({ "type": "integer", "minimum": 0 })]);
    pair["description"] = about.into();
    pair
}

/// Fields of any name, all alike.
pub(super) fn map(about: &str, values: Value) -> Value {
    json!({ "type": "object", "description": about, "additionalProperties": values })
}

/// An object with just these fields.
pub(super) fn object<const N: usize>(about: &str, fields: [(&str, Value); N]) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let required = json!(required);
    let properties: Map<String, Value> = fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({ "type": "object", "description": about, "properties": properties, "required": required, "additionalProperties": false })
}

/// An object of which some fields may be missing.
pub(super) fn some_of(about: &str, fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let properties: Map<String, Value> = fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({ "type": "object", "description": about, "properties": properties, "additionalProperties": false })
}

/// The same for a record that may be a row of a database rather than a line of a file.
pub(super) fn or_row(mut schema: Value) -> Value {
    let line = schema["properties"]["line"].take();
    schema["properties"]["line"] = maybe(line);
    schema["properties"]["row"] = text("The row, where the log is a database: the table and the key.");
    schema
}

/// The same with an example.
pub(super) fn with_example(mut schema: Value, example: Value) -> Value {
    schema["examples"] = json!([example]);
    schema
}
