//! Every check tells what holds from what does not.

use super::*;

fn holds(check: Check, measured: Value, published: Value) -> Result<bool, String> {
    let tolerance = Tolerance::try_from("10 %".to_owned()).ok();
    bears_out(check, tolerance, &measured, &published)
}

#[test]
fn each_check_holds_and_fails() {
    use serde_json::json;
    for (check, measured, published, expected) in [
        (Check::Equal, json!([12, 7]), json!([12.0, 7]), true),
        (Check::Equal, json!([12, 7]), json!([12, 8]), false),
        (Check::Equal, json!([12]), json!([12, 7]), false),
        (Check::Equal, json!(["evict 1"]), json!(["evict 1"]), true),
        (Check::Within, json!(109), json!(100), true),
        (Check::Within, json!(111), json!(100), false),
        (Check::Within, json!([91, -91]), json!([100, -100]), true),
        (Check::Within, json!([91, 80]), json!([100, 100]), false),
        (Check::Within, json!([95, 105]), json!(100), true),
        (Check::Order, json!([1, 2, 3]), Value::Null, true),
        (Check::Order, json!([1, 1]), Value::Null, false),
        (Check::Order, json!([[1, 2], [2, 1]]), Value::Null, false),
        (Check::Sign, json!(3), json!(44), true),
        (Check::Sign, json!([3, -1]), json!([44, 2]), false),
        (Check::Sign, json!(0), json!(44), false),
        (Check::Property, json!(true), Value::Null, true),
        (Check::Property, json!([true, false]), Value::Null, false),
        (Check::Arithmetic, json!(105), json!(100), true),
        (Check::Arithmetic, json!(150), json!(100), false),
    ] {
        let found = holds(check, measured.clone(), published.clone());
        assert_eq!(found, Ok(expected), "{check:?} {measured} {published}");
    }
    let exact = bears_out(Check::Arithmetic, None, &json!(4), &json!(4.0));
    assert_eq!(exact, Ok(true));
}

#[test]
fn what_cannot_be_compared_is_said() {
    use serde_json::json;
    for (check, measured, published) in [
        (Check::Within, json!([1, 2]), json!([1])),
        (Check::Within, json!("a"), json!(1)),
        (Check::Order, json!(1), Value::Null),
        (Check::Order, json!(["a"]), Value::Null),
        (Check::Property, json!(1), Value::Null),
        (Check::Property, json!([]), Value::Null),
        (Check::Not, json!(1), json!(1)),
    ] {
        assert!(
            holds(check, measured.clone(), published).is_err(),
            "{check:?} {measured}"
        );
    }
    assert!(bears_out(Check::Within, None, &json!(1), &json!(1)).is_err());
}

#[test]
fn a_tolerance_has_a_unit() {
    for (text, expected) in [
        ("15 %", Some(Tolerance::Percent(15.0))),
        ("0.1 points", Some(Tolerance::Points(0.1))),
        ("15", None),
        ("15 m", None),
        ("-1 %", None),
        ("NaN %", None),
    ] {
        assert_eq!(
            Tolerance::try_from(text.to_owned()).ok(),
            expected,
            "{text}"
        );
    }
    let points = Tolerance::Points(0.5);
    assert!(points.allows(1.4, 1.0) && !points.allows(1.6, 1.0));
    assert_eq!(Tolerance::Percent(15.0).to_string(), "15 %");
}
