//! The table of a comparison has the columns and the order that were asked for.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::Place;

const COMPARE: [&str; 7] = [
    "compare",
    "--workload",
    "zipf:requests=3000,footprint_pages=600",
    "--buffers",
    "nocache,lru,fifo",
    "--sizes",
    "256KiB,1MiB",
];

fn table(more: &[&str]) -> Vec<String> {
    let text = Place::new().succeed(&[&COMPARE[..], more].concat());
    let table = text.split("\n\n").nth(1).unwrap().lines();
    table.map(str::to_owned).collect()
}

/// The last column as numbers; a dash is none.
fn last(rows: &[String]) -> Vec<Option<f64>> {
    let cell = |row: &String| row.split_whitespace().last().unwrap().replace(',', "");
    rows[2..].iter().map(|row| cell(row).parse().ok()).collect()
}

#[test]
fn columns_are_those_that_were_asked_for() {
    let rows = table(&[
        "--columns",
        "response.write.p99_ms, host.queue_depth,buffer.evictions",
    ]);
    let head: Vec<_> = rows[0].split_whitespace().collect();
    let expected = [
        "buffer",
        "size",
        "response.write.p99_ms",
        "host.queue_depth",
        "buffer.evictions",
    ];
    assert_eq!(head, expected);
    assert!(
        rows[2..].iter().all(|row| row.contains("  20  ")),
        "{rows:?}"
    );
    assert_eq!(last(&rows)[0], None, "{rows:?}");
}

#[test]
fn rows_are_sorted_and_those_without_the_value_come_last() {
    let evictions = |sort: &str| last(&table(&["--columns", "buffer.evictions", "--sort", sort]));
    let up = evictions("buffer.evictions");
    let known: Vec<f64> = up.iter().flatten().copied().collect();
    assert_eq!(known.len(), 4);
    assert!(known.is_sorted() && known[0] < known[3], "{up:?}");
    assert!(up[4..].iter().all(Option::is_none), "{up:?}");
    let down = evictions("-buffer.evictions");
    let turned: Vec<f64> = down.iter().flatten().copied().collect();
    assert_eq!(turned, known.iter().rev().copied().collect::<Vec<_>>());
    assert!(down[4..].iter().all(Option::is_none), "{down:?}");
    // Sorted by text, without other columns.
    let kinds = table(&["--sort", "buffer.kind"]);
    let first = |row: &String| row.split_whitespace().next().unwrap().to_owned();
    let kinds: Vec<_> = kinds[3..].iter().map(first).collect();
    assert!(kinds.is_sorted() && kinds.len() == 5, "{kinds:?}");
}

#[test]
fn an_unknown_name_is_refused_before_anything_runs() {
    let place = Place::new();
    for (option, name, near) in [
        (
            "--columns",
            "flash.erases,response.men_ms",
            "response.men_ms",
        ),
        ("--sort", "-flash.erasse", "flash.erases"),
        ("--sort", "ftl.cleanings", "ftl.gc_runs"),
    ] {
        let outcome = place.run(&[&COMPARE[..], &[option, name]].concat());
        assert_eq!(outcome.status, 2);
        let start = format!("destage: error: {option}: ");
        assert!(outcome.errors.starts_with(&start), "{}", outcome.errors);
        assert!(outcome.errors.contains(near), "{}", outcome.errors);
    }
}
