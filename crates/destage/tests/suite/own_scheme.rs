//! A scheme from outside the project runs like one of its own: nothing but the library is needed to write it.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::own_scheme::NEWEST;
use common::{mixture, settings};
use destage::buffer::SchemeRow;
use destage::{Effort, Grid, Input, compare};

#[test]
fn a_scheme_of_ones_own_is_chosen_by_its_name() {
    let mut base = settings(&[]);
    base.add_scheme(&NEWEST).unwrap();
    let combinations = Grid::new(base)
        .buffers(["newest", "lru", "newest:touch_order=page"])
        .combinations();
    // Its parameters are checked as those of any other.
    let refusal = combinations.err().unwrap().to_string();
    assert!(refusal.contains("touch_order"), "{refusal}");

    let mut base = settings(&[]);
    base.add_scheme(&NEWEST).unwrap();
    let combinations = Grid::new(base)
        .buffers(["newest", "lru"])
        .combinations()
        .unwrap();
    let input = [Input::requests("requests", mixture(3, 20_000))];
    let results = compare(&input, &combinations, &Effort::default()).unwrap();
    let hits = |run: usize| {
        results.runs[run]
            .metric("buffer.write_hits")
            .unwrap()
            .unwrap()
    };
    assert_eq!(results.runs[0].buffer, "newest");
    assert!(
        hits(0) > 0.0 && hits(0) != hits(1),
        "{} {}",
        hits(0),
        hits(1)
    );
}

#[test]
fn a_metric_that_no_run_has_is_an_error() {
    let combinations = Grid::new(settings(&[])).buffers(["lru"]).combinations();
    let input = [Input::requests("requests", mixture(3, 2_000))];
    let results = compare(&input, &combinations.unwrap(), &Effort::default()).unwrap();
    let run = &results.runs[0];
    assert!(run.metric("buffer.write_hits").unwrap().is_some());
    // Of another layer, or only of another scheme: there is one, and not in this run.
    assert_eq!(run.metric("ftl.merges.full").unwrap(), None);
    assert_eq!(run.metric("scheme.threshold").unwrap(), None);
    let error = run.metric("response.p99ms").unwrap_err().to_string();
    assert!(
        error.contains("unknown metric \"response.p99ms\"; did you mean \"response.*_ms\"?"),
        "{error}"
    );
}

#[test]
fn a_name_is_given_once() {
    let mut base = settings(&[]);
    base.add_scheme(&NEWEST).unwrap();
    assert!(base.add_scheme(&NEWEST).is_err());
    static LRU: SchemeRow = SchemeRow {
        name: "lru",
        ..NEWEST
    };
    assert!(base.add_scheme(&LRU).is_err());
}

#[test]
fn who_does_not_add_it_does_not_have_it() {
    let mut base = settings(&[]);
    base.set_pair("buffer.kind=newest").unwrap();
    let refusal = base.resolve().err().unwrap().to_string();
    assert!(refusal.contains("is not known"), "{refusal}");
}
