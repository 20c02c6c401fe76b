//! Formats values for sentences and tables.

use serde_json::Value;

/// Formats a value for a sentence or a table cell. Integers are shown with all digits, and other numbers with
/// four significant digits. Of a list with more than 12 items, the first 10 items are shown.
#[must_use]
pub fn short(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Number(number) if number.is_u64() || number.is_i64() => number.to_string(),
        Value::Number(number) => rounded(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => text.clone(),
        Value::Bool(flag) => flag.to_string(),
        Value::Array(items) if items.len() > 12 => {
            let first: Vec<_> = items.iter().take(10).map(short).collect();
            format!("{}, … ({} values)", first.join(", "), items.len())
        }
        Value::Array(items) => {
            let all: Vec<_> = items
                .iter()
                .map(|item| match item {
                    Value::Array(_) => format!("[{}]", short(item)),
                    other => short(other),
                })
                .collect();
            all.join(", ")
        }
        Value::Object(_) => value.to_string(),
    }
}

/// Formats `number` with four significant digits. A number just below 1 is shown with more digits, so that 0.999
/// 99 is not rounded to 1.
fn rounded(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    let before = size.log10().floor() as i32 + 1;
    // For a number below 1: how many decimals are needed to reach the first digit that is not 9.
    let until = match size < 1.0 {
        true => 1 - (1.0 - size).log10().ceil() as i32,
        false => 0,
    };
    let digits = usize::try_from((4 - before).max(until).clamp(0, 9)).unwrap_or(0);
    let text = format!("{number:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn four_digits_count() {
        let shown = [
            json!(12),
            json!(0.123_456),
            json!(12_345.6),
            json!(-3.0),
            json!(0.0),
            json!(1e-6),
            json!(0.999_99),
            json!(-0.999_990_83),
        ];
        assert_eq!(
            shown.map(|value| short(&value)),
            [
                "12",
                "0.1235",
                "12346",
                "-3",
                "0",
                "0.000001",
                "0.99999",
                "-0.999991"
            ]
        );
        assert_eq!(short(&json!([1, [2, true], "a"])), "1, [2, true], a");
        assert_eq!(
            short(&json!((0..13).collect::<Vec<_>>())),
            "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … (13 values)"
        );
    }
}
