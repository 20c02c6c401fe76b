//! Tests of labels and results: equal labels that are written differently, sizes as text, the values of an axis,
//! and values by name.

use serde_json::json;

use super::*;
use crate::Role;

#[test]
fn equal_values_may_be_written_in_several_ways() {
    assert!(same("size", "1048576", "1MiB") && same("size", "1 MiB", "1024KiB"));
    assert!(same("flash.erase_us", "1500", "1500.0") && same("buffer", "lru", "lru"));
    assert!(!same("size", "1MiB", "2MiB") && !same("buffer", "lru", "fab"));
    // Only on the axis `size` is a text with a unit read as a number of bytes.
    assert!(!same("buffer", "1MiB", "1048576"));
}

#[test]
fn sizes_are_spoken_in_the_largest_unit_that_is_exact() {
    let all = ["1048576", "1536", "1073741824", "100", "0"].map(|bytes| spoken("size", bytes));
    assert_eq!(all, ["1 MiB", "1536 B", "1 GiB", "100 B", "0 B"]);
    assert_eq!(spoken("seed", "1048576"), "1048576");
}

#[test]
fn values_keep_their_order_and_stand_once() {
    let row = |buffer: &str, size: &str| Row {
        labels: [("buffer", buffer), ("size", size)]
            .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
            .into(),
        input: InputFacts {
            name: String::new(),
            digest: None,
            role: Role::Made,
            differs: String::new(),
        },
        result: Arc::new(json!({ "metrics": { "a": 1 }, "parameters": { "a": 2, "b": 3 } })),
    };
    let rows = Rows {
        all: vec![row("lru", "8"), row("fab", "8"), row("lru", "4")],
        ..Rows::default()
    };
    assert_eq!(rows.values_of("size", &BTreeMap::new()), ["8", "4"]);
    let fab = [("buffer".to_owned(), "fab".to_owned())].into();
    assert_eq!(rows.values_of("size", &fab), ["8"]);
    assert!(rows.values_of("ftl", &BTreeMap::new()).is_empty());
    let (metric, parameter) = (rows.all[0].value("a"), rows.all[0].value("b"));
    assert_eq!((metric, parameter), (Some(&json!(1)), Some(&json!(3))));
}
