//! Formats values for sentences and tables.

use serde_json::Value;

/// Formats a value for a sentence or a table cell. Integers are shown with all digits, and other numbers with
/// four significant digits. Of a list with more than 12 items, the first 10 items are shown. In a text, five or more
/// successive numbers such as `64 65 66 67 68` become `64 to 68`.
#[must_use]
pub fn short(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Number(number) if number.is_u64() || number.is_i64() => number.to_string(),
        Value::Number(number) => rounded(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => in_ranges(text),
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

/// Shortens each sequence of at least five successive numbers in `text` to its first and last number.
fn in_ranges(text: &str) -> String {
    const LEAST: usize = 5;
    let words: Vec<&str> = text.split(' ').collect();
    let follows = |pair: &[&str]| match pair {
        [one, next] => (one.parse().ok().and_then(|one: u64| one.checked_add(1)))
            .is_some_and(|after| next.parse() == Ok(after)),
        _ => false,
    };
    let mut shown = Vec::new();
    let mut rest = words.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let length = 1 + rest.windows(2).take_while(|pair| follows(pair)).count();
        match rest.get(length - 1) {
            Some(last) if length >= LEAST => {
                shown.extend([first, "to", last]);
                rest = &rest[length..];
            }
            _ => {
                shown.push(first);
                rest = after;
            }
        }
    }
    shown.join(" ")
}

/// Formats `number` with four significant digits. A number just below 1 or 100 is shown with more digits, so that
/// 0.999 99 is not rounded to 1, nor a change by 99.999 % to one by 100 %.
fn rounded(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    let before = size.log10().floor() as i32 + 1;
    // For a number below 1 or 100: how many decimals are needed to reach the first digit that is not 9.
    let until = match size {
        ..1.0 => 1 - (1.0 - size).log10().ceil() as i32,
        99.0..100.0 => 1 - (100.0 - size).log10().ceil() as i32,
        _ => 0,
    };
    let digits = usize::try_from((4 - before).max(until).clamp(0, 9)).unwrap_or(0);
    let text = format!("{number:.digits$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    match text.as_str() {
        "-0" => "0".to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn successive_numbers_are_a_range() {
        for (text, shown) in [
            ("evict 64 65 66 67 68", "evict 64 to 68"),
            ("evict 5 6", "evict 5 6"),
            ("drain 1 2 3 4 6 7 8 9 10", "drain 1 2 3 4 6 to 10"),
            ("strict", "strict"),
            ("", ""),
        ] {
            assert_eq!(short(&json!(text)), shown);
        }
    }

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
            json!(99.82),
            json!(-99.996_3),
            json!(-1e-12),
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
                "-0.999991",
                "99.82",
                "-99.996",
                "0"
            ]
        );
        assert_eq!(short(&json!([1, [2, true], "a"])), "1, [2, true], a");
        assert_eq!(
            short(&json!((0..13).collect::<Vec<_>>())),
            "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … (13 values)"
        );
    }
}
