//! JSON against a JSON Schema: as much of draft 2020-12 as `docs/report.schema.json` uses. A keyword that is not known
//! here is an error, so no part of a schema is passed over in silence.

use serde_json::Value;

/// The errors of a value, each with the path to it; none if it fits.
pub fn errors(schema: &Value, value: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    check(schema, schema, value, "$", &mut errors);
    errors
}

fn check(root: &Value, schema: &Value, value: &Value, path: &str, errors: &mut Vec<String>) {
    let keywords = schema.as_object().unwrap_or_else(|| panic!("{path}: a schema is an object"));
    for (keyword, says) in keywords {
        let fits = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "required" => true,
            "$ref" => {
                let name = says.as_str().and_then(|name| name.strip_prefix('#')).expect("a reference into the schema");
                let target = root.pointer(name).unwrap_or_else(|| panic!("{path}: there is no {name}"));
                check(root, target, value, path, errors);
                true
            }
            "const" => value == says,
            "enum" => says.as_array().expect("a list").contains(value),
            "minimum" => value.as_f64().is_none_or(|number| number >= says.as_f64().expect("a number")),
            "type" => is_of(says.as_str().expect("one type"), value),
            "properties" | "additionalProperties" | "items" => true, // below
            unknown => panic!("{path}: the keyword {unknown} is not known here"),
        };
        if !fits {
            errors.push(format!("{path}: {value} does not fit {keyword} {says}"));
        }
    }
    if let (Some(fields), Some(properties)) = (value.as_object(), schema.get("properties")) {
        assert_eq!(schema.get("additionalProperties"), Some(&Value::Bool(false)), "{path}");
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                errors.push(format!("{path}: {name} is missing"));
            }
        }
        for (name, field) in fields {
            match properties.get(name) {
                Some(property) => check(root, property, field, &format!("{path}.{name}"), errors),
                None => errors.push(format!("{path}: {name} is not known")),
            }
        }
    }
    if let (Some(list), Some(items)) = (value.as_array(), schema.get("items")) {
        for (number, item) in list.iter().enumerate() {
            check(root, items, item, &format!("{path}[{number}]"), errors);
        }
    }
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        _ => panic!("the type {name} is not known here"),
    }
}
