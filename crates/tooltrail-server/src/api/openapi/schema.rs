//! Builders of JSON schemas, as few as are needed here. Objects are closed: they have all their fields and no others,
//! so that tests notice fields that are not documented.

use serde_json::{Map, Value, json};

/// Schemas by their names.
#[derive(Default)]
pub(super) struct Schemas(pub(super) Map<String, Value>);

impl Schemas {
    /// Adds a schema.
    pub(super) fn add(&mut self, name: &str, schema: Value) {
        self.0.insert(name.to_owned(), schema);
    }
}

/// A reference to a named schema.
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

/// A closed set of words.
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

/// Any value, as the log has it.
pub(super) fn anything(about: &str) -> Value {
    json!({ "description": about })
}

/// The version of the contract.
pub(super) fn version() -> Value {
    json!({ "const": tooltrail_model::row::VERSION, "description": "The version of the contract." })
}

/// A constant word.
pub(super) fn only(word: &str) -> Value {
    json!({ "const": word })
}

/// A value that may be null.
pub(super) fn maybe(schema: Value) -> Value {
    // Not `"type": ["…", "null"]`: a reference has no type to extend.
    any_of([schema, json!({ "type": "null" })])
}

/// A value that fits at least one of several schemas.
pub(super) fn any_of(schemas: impl IntoIterator<Item = Value>) -> Value {
    json!({ "anyOf": schemas.into_iter().collect::<Vec<_>>() })
}

/// An array whose items fit one schema.
pub(super) fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// An array of fixed length, each item with its own schema.
pub(super) fn tuple<const N: usize>(items: [Value; N]) -> Value {
    // `items: false` forbids more items, `minItems` demands all of them.
    json!({ "type": "array", "prefixItems": items.to_vec(), "items": false, "minItems": N })
}

/// A pair of counts.
pub(super) fn pair(about: &str) -> Value {
    let mut pair = tuple([json!({ "type": "integer", "minimum": 0 }), json!({ "type": "integer", "minimum": 0 })]);
    pair["description"] = about.into();
    pair
}

/// An object with arbitrary names whose values fit one schema.
pub(super) fn map(about: &str, values: Value) -> Value {
    json!({ "type": "object", "description": about, "additionalProperties": values })
}

/// An object with exactly these fields, all of them required.
pub(super) fn object<const N: usize>(about: &str, fields: [(&str, Value); N]) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let required = json!(required);
    let properties: Map<String, Value> = fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({ "type": "object", "description": about, "properties": properties, "required": required, "additionalProperties": false })
}

/// An object with optional fields.
pub(super) fn some_of(about: &str, fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let properties: Map<String, Value> = fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({ "type": "object", "description": about, "properties": properties, "additionalProperties": false })
}

/// A schema with a `line`, changed so that the record may be a row of a database instead.
pub(super) fn or_row(mut schema: Value) -> Value {
    let line = schema["properties"]["line"].take();
    schema["properties"]["line"] = maybe(line);
    schema["properties"]["row"] = text("The row, where the log is a database: the table and the key.");
    schema
}

/// A schema with an example.
pub(super) fn with_example(mut schema: Value, example: Value) -> Value {
    schema["examples"] = json!([example]);
    schema
}
