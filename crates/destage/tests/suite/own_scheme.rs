//! Tests that a user's scheme, written outside the project, runs like a built-in scheme and needs only the library.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::own_scheme::NEWEST;
use common::{mixture, settings};
use destage::base::Lpn;
use destage::buffer::scheme::{Access, Entry, Need, Scheme, Victim};
use destage::buffer::{SchemeRow, View};
use destage::{Effort, Error, Grid, Input, Silent, compare, run};
use destage_sim::observer::Silent as SeesNothing;

#[test]
fn a_scheme_of_ones_own_is_chosen_by_its_name() {
    let mut base = settings(&[]);
    base.add_scheme(&NEWEST).unwrap();
    let combinations = Grid::new(base)
        .buffers(["newest", "lru", "newest:touch_order=page"])
        .combinations();
    // The parameters of a user's scheme are checked like those of a built-in scheme.
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

/// The ways in which a scheme may break its contract at an eviction.
#[derive(Clone, Copy)]
enum Broken {
    NamesNothing,
    NamesAStranger,
    KeepsWhatItNames,
}

struct Wrong {
    how: Broken,
    order: Vec<Entry>,
}

impl Scheme for Wrong {
    fn insert(&mut self, entry: Entry, _: &Access) {
        self.order.push(entry);
    }

    fn touch(&mut self, _: Entry, _: &Access) {}

    fn remove(&mut self, entry: Entry) {
        self.order.retain(|other| *other != entry);
    }

    fn evict(&mut self, _: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        let first = self.order[0];
        match self.how {
            Broken::NamesNothing => {}
            Broken::NamesAStranger => victim.entries.push(Entry {
                page: Lpn(first.page.0 + 100_000),
                ..first
            }),
            Broken::KeepsWhatItNames => victim.entries.push(first),
        }
    }

    fn len(&self) -> usize {
        self.order.len()
    }
}

fn wrong(how: Broken) -> Box<dyn Scheme> {
    let order = Vec::new();
    Box::new(Wrong { how, order })
}

#[test]
fn a_scheme_that_breaks_its_contract_is_an_error_that_names_it() {
    static NOTHING: SchemeRow = SchemeRow {
        name: "names-nothing",
        build: &|_| wrong(Broken::NamesNothing),
        ..NEWEST
    };
    static STRANGER: SchemeRow = SchemeRow {
        name: "names-a-stranger",
        build: &|_| wrong(Broken::NamesAStranger),
        ..NEWEST
    };
    static KEEPS: SchemeRow = SchemeRow {
        name: "keeps-what-it-names",
        build: &|_| wrong(Broken::KeepsWhatItNames),
        ..NEWEST
    };
    let input = [Input::requests("requests", mixture(3, 20_000))];
    for (row, said) in [
        (&NOTHING, "named no page, and"),
        (&STRANGER, "expected pages that are resident"),
        (
            &KEEPS,
            "expected the scheme to forget the pages that it names",
        ),
    ] {
        let mut base = settings(&[]);
        base.add_scheme(row).unwrap();
        let combinations = Grid::new(base).buffers([row.name, "lru"]).combinations();
        let combinations = combinations.unwrap();
        let several = compare(&input, &combinations, &Effort::default()).map(drop);
        let one = run(&input[0], &combinations[0], &Silent, &mut SeesNothing).map(drop);
        for outcome in [several, one] {
            let error = outcome.err().unwrap();
            let text = error.to_string();
            assert!(matches!(error, Error::Input(_)), "{text}");
            assert!(
                text.starts_with(&format!("scheme {:?}: ", row.name)),
                "{text}"
            );
            assert!(text.contains("evict(Evict) before page "), "{text}");
            assert!(text.contains(said), "{text}");
        }
    }
}

#[test]
fn a_metric_that_no_run_has_is_an_error() {
    let combinations = Grid::new(settings(&[])).buffers(["lru"]).combinations();
    let input = [Input::requests("requests", mixture(3, 2_000))];
    let results = compare(&input, &combinations.unwrap(), &Effort::default()).unwrap();
    let run = &results.runs[0];
    assert!(run.metric("buffer.write_hits").unwrap().is_some());
    // Other layers and schemes have these metrics, so it is not an error that this run lacks them.
    assert_eq!(run.metric("ftl.merges.full").unwrap(), None);
    assert_eq!(run.metric("scheme.threshold").unwrap(), None);
    let error = run.metric("response.p99ms").unwrap_err().to_string();
    assert!(
        error.contains("unknown metric \"response.p99ms\"; did you mean \"response.p99_ms\"?"),
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
