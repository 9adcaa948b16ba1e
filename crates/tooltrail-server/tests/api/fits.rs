//! Whether a value fits a schema: the part of JSON Schema that the document uses. A word of it that is not known here is a failure, so that
//! nothing is taken to hold that is not looked at.

use serde_json::Value;

/// Words that say nothing about a value.
const REMARKS: [&str; 5] = ["description", "examples", "format", "default", "example"];

/// Why a value does not fit a schema of a document; nothing if it does.
pub(crate) fn misfit(document: &Value, schema: &Value, value: &Value) -> Option<String> {
    let schema = match schema {
        Value::Bool(true) => return None,
        Value::Bool(false) => return Some(format!("nothing is wanted here: {value}")),
        Value::Object(schema) => schema,
        other => return Some(format!("this is no schema: {other}")),
    };
    schema.iter().find_map(|(word, wanted)| holds(document, schema, word, wanted, value).err())
}

fn holds(document: &Value, schema: &serde_json::Map<String, Value>, word: &str, wanted: &Value, value: &Value) -> Result<(), String> {
    let check = |holds: bool, say: &str| if holds { Ok(()) } else { Err(format!("{say} {wanted}: {}", short(value))) };
    let inner = |schema: &Value, value: &Value, at: &str| match misfit(document, schema, value) {
        None => Ok(()),
        Some(why) => Err(format!("{at}/{why}")),
    };
    match word {
        "$ref" => {
            let pointer = wanted.as_str().and_then(|name| name.strip_prefix('#')).expect("a place in the document");
            let name = pointer.rsplit('/').next().unwrap_or_default();
            inner(document.pointer(pointer).unwrap_or_else(|| panic!("there is no {pointer}")), value, name)
        }
        "type" => check(is_type(wanted.as_str().expect("one type"), value), "not a"),
        "const" => check(value == wanted, "not"),
        "enum" => check(wanted.as_array().expect("a list").contains(value), "none of"),
        "minimum" => check(value.as_i64().is_none_or(|number| number >= wanted.as_i64().expect("a number")), "less than"),
        "maximum" => check(value.as_i64().is_none_or(|number| number <= wanted.as_i64().expect("a number")), "more than"),
        "maxLength" => {
            check(value.as_str().is_none_or(|text| text.chars().count() as u64 <= wanted.as_u64().expect("a number")), "longer than")
        }
        "minItems" => check(value.as_array().is_none_or(|all| all.len() as u64 >= wanted.as_u64().expect("a number")), "fewer than"),
        "anyOf" => {
            let whys: Vec<String> = wanted.as_array().expect("a list").iter().map_while(|one| misfit(document, one, value)).collect();
            if whys.len() < wanted.as_array().expect("a list").len() {
                Ok(())
            } else {
                Err(format!("fits none of\n  {}", whys.join("\n  ")))
            }
        }
        "prefixItems" => {
            let pairs = wanted.as_array().expect("a list").iter().zip(value.as_array().into_iter().flatten());
            pairs.enumerate().try_for_each(|(place, (schema, value))| inner(schema, value, &place.to_string()))
        }
        "items" => {
            let before = schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
            let rest = value.as_array().into_iter().flatten().enumerate().skip(before);
            rest.into_iter().try_for_each(|(place, value)| inner(wanted, value, &place.to_string()))
        }
        "properties" => {
            let fields = wanted.as_object().expect("fields");
            fields
                .iter()
                .filter_map(|(name, schema)| Some((name, schema, value.get(name)?)))
                .try_for_each(|(name, schema, value)| inner(schema, value, name))
        }
        "required" => {
            let missing = wanted.as_array().expect("a list").iter().find(|name| value.get(name.as_str().expect("a name")).is_none());
            missing.map_or(Ok(()), |name| Err(format!("{name} is missing: {}", short(value))))
        }
        "additionalProperties" => {
            let known = schema.get("properties").and_then(Value::as_object);
            let others = value.as_object().into_iter().flatten().filter(|(name, _)| !known.is_some_and(|known| known.contains_key(*name)));
            others.into_iter().try_for_each(|(name, value)| inner(wanted, value, name))
        }
        remark if REMARKS.contains(&remark) => Ok(()),
        other => Err(format!("`{other}` is a word that this test does not know")),
    }
}

fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("`{other}` is a type that this test does not know"),
    }
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(200).collect()
}

#[test]
fn what_does_not_fit_is_found() {
    use serde_json::json;
    let document = json!({ "x": { "type": "object", "properties": { "a": { "type": "integer", "minimum": 0 } }, "required": ["a"], "additionalProperties": false } });
    let fits = |schema: Value, value: Value| misfit(&document, &schema, &value).is_none();
    assert!(fits(json!({ "$ref": "#/x" }), json!({ "a": 1 })));
    for wrong in [json!({}), json!({ "a": -1 }), json!({ "a": 1, "b": 1 }), json!({ "a": "1" }), json!([]), json!(null)] {
        assert!(!fits(json!({ "$ref": "#/x" }), wrong.clone()), "{wrong}");
    }
    let pair = json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "null" }], "items": false, "minItems": 2 });
    assert!(fits(pair.clone(), json!(["x", null])));
    for wrong in [json!(["x"]), json!([1, null]), json!(["x", null, 1]), json!("x")] {
        assert!(!fits(pair.clone(), wrong.clone()), "{wrong}");
    }
    assert!(
        fits(json!({ "anyOf": [{ "const": 1 }, { "enum": ["a"] }] }), json!("a")) && !fits(json!({ "anyOf": [{ "const": 1 }] }), json!(2))
    );
    assert!(!fits(json!({ "pattern": "x" }), json!("x")), "a word that is not known holds for nothing");
}
