//! Tests of every function that formulas can call, and of every reason for which a formula has no value.

use serde_json::json;

use super::*;
use crate::Role;

/// The results of runs with two schemes at two sizes; one of the runs failed. A second input has no runs, because
/// its trace is missing.
fn rows() -> Arc<Rows> {
    let row = |buffer: &str, size: &str, result: Json| Row {
        labels: [("input", "random"), ("buffer", buffer), ("size", size)]
            .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
            .into(),
        input: InputFacts {
            name: "uniform".to_owned(),
            digest: None,
            role: Role::Made,
            differs: String::new(),
        },
        result: Arc::new(result),
    };
    let of = |erases: u64| json!({ "metrics": { "flash.erases": erases }, "parameters": { "sim.seed": 4 }, "destages": ["evict 1"] });
    Arc::new(Rows {
        all: vec![
            row("lru", "1048576", of(40)),
            row("lru", "2097152", of(30)),
            row("fab", "1048576", of(20)),
            row("fab", "2097152", json!({ "error": "no space" })),
        ],
        missing: [("real".to_owned(), "iozone".to_owned())].into(),
        ..Rows::default()
    })
}

fn value(formula: &str) -> Result<Json, NoValue> {
    let names = [("published", json!([1, 2]))];
    let outcome = evaluate(formula, &rows(), &Context::new(), None, &names);
    outcome.map(|outcome| outcome.value)
}

#[test]
fn functions_give_what_their_names_say() {
    for (formula, expected) in [
        ("gain(150, 100)", json!(50.0)),
        ("gain([150, 50], 100)", json!([50.0, -50.0])),
        ("gain([150, 50], [100, 100])", json!([50.0, -50.0])),
        ("ratio(3, 2)", json!(1.5)),
        ("ratio([3, 4], 2)", json!([1.5, 2.0])),
        ("diff([3, 4], [1, 1])", json!([2.0, 3.0])),
        ("diff(3, [1, 2])", json!([2.0, 1.0])),
        ("abs(-3)", json!(3.0)),
        ("abs([-3, 3])", json!([3.0, 3.0])),
        ("sqrt(9)", json!(3.0)),
        ("round(2.567, 2)", json!(2.57)),
        ("round([2.4, 2.6])", json!([2.0, 3.0])),
        ("sum([1, 2, 3])", json!(6.0)),
        ("mean([1, 2, 6])", json!(3.0)),
        ("median([9, 1, 2])", json!(2.0)),
        ("median([9, 1, 2, 4])", json!(3.0)),
        ("rank([9, 1, 2, 4], 0.5)", json!(2.0)),
        ("min([2, 1, 3])", json!(1.0)),
        ("max([2, 1, 3])", json!(3.0)),
        (
            "best_range([0, 0.1, 0.2, 0.3], [9, 5.05, 5, 5.2], 1.02)",
            json!([0.1, 0.2]),
        ),
        ("beyond(0.4, [0.1, 0.2])", json!(0.2)),
        ("beyond(0.5, [0.75, 0.75])", json!(-0.25)),
        ("beyond(0.15, [0.1, 0.2])", json!(0.0)),
        ("ascending([1, 2, 3])", json!(true)),
        ("ascending([1, 1])", json!(false)),
        ("descending([3, 2])", json!(true)),
        ("descending([3, 3])", json!(false)),
        ("near(110, 100, 10)", json!(true)),
        ("near(111, 100, 10)", json!(false)),
        ("near([1, 2], [1, 3], 10)", json!(false)),
        ("spearman([1, 2, 3], [10, 20, 15])", json!(0.5)),
        ("spearman([1, 2, 3], [3, 2, 1])", json!(-1.0)),
        ("agree([100, 200, 300], [1, 3, 2], 10)", json!(false)),
        ("agree([100, 200, 210], [1, 3, 2], 10)", json!(true)),
        ("agree([100, 200, 300], [1, 2, 1.9], 10)", json!(true)),
        ("agree([100, 200], [2, 1], 10)", json!(false)),
        ("agree([100, 200], [-1, 1], 10)", json!(true)),
        ("published", json!([1, 2])),
        ("1 if 2 > 1 else 0", json!(1)),
        ("2 ** 3 == 8 and not false", json!(true)),
    ] {
        assert_eq!(value(formula), Ok(expected), "{formula}");
    }
}

#[test]
fn a_run_is_found_by_its_labels() {
    for (formula, expected) in [
        ("m('flash.erases', buffer='lru', size='1MiB')", json!(40)),
        (
            "m('flash.erases', {'buffer': 'lru'}, size='1024KiB')",
            json!(40),
        ),
        (
            "m('flash.erases', buffer=['lru', 'fab'], size='1MiB')",
            json!([40, 20]),
        ),
        (
            "m('flash.erases', buffer=['lru'], size=['1MiB', '2MiB'])",
            json!([[40, 30]]),
        ),
        ("m('sim.seed', buffer='lru', size='1MiB')", json!(4)),
        (
            "m('destages', buffer='lru', size='1MiB')",
            json!(["evict 1"]),
        ),
    ] {
        assert_eq!(value(formula), Ok(expected), "{formula}");
    }
    let context = [("buffer", "lru"), ("size", "2MiB")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    let outcome = evaluate("m('flash.erases')", &rows(), &context.into(), None, &[]).unwrap();
    assert_eq!((outcome.value, outcome.inputs.len()), (json!(30), 1));
}

#[test]
fn an_input_without_the_variant_has_the_values_of_another_variant() {
    let row = |input: &str, variant: &str, erases: u64| Row {
        labels: [("input", input), ("variant", variant)]
            .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
            .into(),
        input: InputFacts {
            name: input.to_owned(),
            digest: None,
            role: Role::Made,
            differs: String::new(),
        },
        result: Arc::new(json!({ "metrics": { "flash.erases": erases } })),
    };
    let rows = Arc::new(Rows {
        all: vec![
            row("one", "base", 1),
            row("one", "dense", 2),
            row("other", "base", 3),
        ],
        ..Rows::default()
    });
    let dense = Context::from([("variant".to_owned(), "dense".to_owned())]);
    let formula = "m('flash.erases', input=['one', 'other'])";
    let outcome = evaluate(formula, &rows, &dense, Some("base"), &[]).unwrap();
    assert_eq!(outcome.value, json!([2, 3]));
    let none = evaluate(formula, &rows, &dense, None, &[]);
    assert!(matches!(none, Err(NoValue::NoRun(_))), "{none:?}");
    // A formula that names the variant means this variant alone.
    let named = "m('flash.erases', input='other', variant='dense')";
    let none = evaluate(named, &rows, &dense, Some("base"), &[]);
    assert!(matches!(none, Err(NoValue::NoRun(_))), "{none:?}");
}

#[test]
fn why_there_is_no_value_is_told_apart() {
    assert_eq!(
        value("m('flash.erases', buffer='fab', size='2MiB')"),
        Err(NoValue::Failed(
            "buffer=fab input=random size=2097152: no space".to_owned()
        ))
    );
    assert_eq!(
        value("m('flash.erases', input='real')"),
        Err(NoValue::Missing("iozone".to_owned()))
    );
    let no_run = value("m('flash.erases', input='random', size='9MiB')");
    assert!(matches!(no_run, Err(NoValue::NoRun(_))), "{no_run:?}");
    for (formula, part) in [
        (
            "m('flash.erases', buffer='lru')",
            "several runs have these labels",
        ),
        (
            "m('flash.erases', buffer='lru')",
            "expected one, chosen by a further label in m or by where = { \"size\" = \"1048576\" }",
        ),
        ("m('erases', buffer='lru', size='1MiB')", "\"erases\""),
        ("gian(1, 2)", "gian"),
        ("gain([1, 2], [1])", "different lengths"),
        ("spearman([1], [1])", "spearman"),
        ("gian(m('no', buffer='run'))", "gian is unknown"),
        ("1 +", "1 +"),
        ("measured", "measured is unknown"),
    ] {
        let Err(NoValue::Wrong(text)) = value(formula) else {
            panic!("{formula}: {:?}", value(formula));
        };
        assert!(text.contains(part) && text.starts_with(formula), "{text}");
    }
    for formula in [
        "1 / 0",
        "1.5 / 0.0",
        "ratio(1, 0)",
        "ratio(0, 0)",
        "ratio(-1, 0)",
    ] {
        let Err(NoValue::NotFinite(text)) = value(formula) else {
            panic!("{formula}: {:?}", value(formula));
        };
        assert!(text.starts_with(formula), "{text}");
    }
}

/// `all` lists the values of every run with the labels; `rank` is the nearest rank of a list.
#[test]
fn all_runs_with_labels_make_a_list() {
    assert_eq!(
        value(r#"all("flash.erases", buffer="lru")"#).unwrap(),
        json!([40, 30])
    );
    assert_eq!(
        value(r#"rank(all("flash.erases", buffer="lru"), 0.5)"#).unwrap(),
        json!(30.0)
    );
    for (list, share, expected) in [
        ("[3, 1, 2]", 0.0, 1.0),
        ("[3, 1, 2]", 0.5, 2.0),
        ("[4, 3, 1, 2]", 0.5, 2.0),
        ("[4, 3, 1, 2]", 0.51, 3.0),
        ("[4, 3, 1, 2]", 0.9, 4.0),
        ("[7]", 1.0, 7.0),
    ] {
        let found = value(&format!("rank({list}, {share})")).unwrap();
        assert_eq!(found, json!(expected), "{list} {share}");
    }
    assert!(matches!(
        value(r#"all("flash.erases", buffer="none", input="random")"#),
        Err(NoValue::NoRun(_))
    ));
    assert!(matches!(
        value(r#"all("flash.erases", buffer="fab")"#),
        Err(NoValue::Failed(_))
    ));
    assert!(matches!(value("rank([], 0.5)"), Err(NoValue::Wrong(_))));
    assert!(matches!(value("median([])"), Err(NoValue::Wrong(_))));
    assert!(matches!(value("rank([1], 2)"), Err(NoValue::Wrong(_))));
}
