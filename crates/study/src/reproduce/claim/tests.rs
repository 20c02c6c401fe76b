//! Tests that every check accepts values that satisfy it and rejects values that do not.

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
        (Check::Between, json!(-3), json!([-5, 0]), true),
        (Check::Between, json!([-5, 0]), json!([-5, 0]), true),
        (Check::Between, json!(-5.4), json!([-5, 0]), true),
        (Check::Between, json!(-13.1), json!([-5, 0]), false),
        (Check::Between, json!(0.1), json!([-5, 0]), false),
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
        (Check::Between, json!(1), json!(1)),
        (Check::Between, json!("a"), json!([1, 2])),
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

#[test]
fn measured_over_published_keeps_the_form_of_what_is_measured() {
    use serde_json::json;
    for (measured, published, expected) in [
        (json!(-0.5), json!(-10), Some(json!(0.05))),
        (json!([1, 4]), json!([2, 2]), Some(json!([0.5, 2.0]))),
        (json!([1, 4]), json!(2), Some(json!([0.5, 2.0]))),
        (
            json!([[1, 4], [2, 2]]),
            json!([2, 4]),
            Some(json!([[0.5, 1.0], [1.0, 0.5]])),
        ),
        (
            json!([[1, 4], [2, 2]]),
            json!([[1, 1], [2, 2]]),
            Some(json!([[1.0, 4.0], [1.0, 1.0]])),
        ),
        (json!([1, 2, 3]), json!([1, 2]), None),
        (json!("evict 1"), json!("evict 1"), None),
        (json!(1), Value::Null, None),
        (json!(1), json!(0), None),
    ] {
        assert_eq!(
            ratios(&measured, &published),
            expected,
            "{measured} {published}"
        );
    }
    assert_eq!(smallest(&json!([[0.5, 2], [0.25]])), Some(0.25));
    assert_eq!(smallest(&json!("a")), None);
}

#[test]
fn a_check_is_written_with_the_name_of_its_tolerance() {
    for (text, expected) in [
        ("sign", Some((Check::Sign, None))),
        ("within times", Some((Check::Within, Some("times")))),
        ("between", Some((Check::Between, None))),
        (
            "arithmetic derived",
            Some((Check::Arithmetic, Some("derived"))),
        ),
        ("within", None),
        ("sign times", None),
        ("signs", None),
    ] {
        let found = Checked::try_from(text.to_owned());
        let found = found.as_ref().ok();
        let found = found.map(|each| (each.check, each.tolerance.as_deref()));
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn each_number_is_altered_by_itself() {
    let of = |text: &str| -> toml::Value {
        format!("v = {text}").parse::<toml::Table>().unwrap()["v"].clone()
    };
    assert_eq!(altered(&of("2"), 3, -100.0), [of("6")]);
    assert_eq!(altered(&of("0.5"), -1, -100.0), [of("-0.5")]);
    // A change in percent cannot be below -100 %, because no quantity can decrease by more than itself.
    assert_eq!(altered(&of("-60"), 3, -100.0), [of("-100.0")]);
    assert_eq!(altered(&of("-60.0"), 3, -100.0), [of("-100.0")]);
    assert_eq!(altered(&of("-60"), 3, f64::NEG_INFINITY), [of("-180")]);
    assert_eq!(
        altered(&of("[1, [0, 2.0], 'a']"), 3, -100.0),
        [of("[3, [0, 2.0], 'a']"), of("[1, [0, 6.0], 'a']")]
    );
    assert_eq!(altered(&of("'12'"), 3, -100.0), []);
}
