//! A build without Parquet says so wherever it is asked for, and how to make one that has it.
//!
//! It is a program of its own because `make test` builds all others with Parquet, and this one without.
#![cfg(not(feature = "parquet"))]
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

#[path = "suite/common/mod.rs"]
mod common;

use common::{Place, page_writes};

#[test]
fn every_way_to_ask_for_it_is_answered_alike() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[1, 2, 3]));
    place.write("t.parquet", b"PAR1\x15\x04\x15\x10\x00\x00\x00\x00PAR1");
    let told = "Parquet was left out of this build; expected one made with the feature parquet";
    for (arguments, asked) in [
        (&["run", "t.parquet"][..], "t.parquet"),
        (&["trace", "info", "t.parquet"], "t.parquet"),
        (&["compare", "t.parquet", "--buffers", "lru"], "t.parquet"),
        (
            &["run", "t.disksim", "--format", "parquet"],
            "--format parquet",
        ),
        (&["run", "t.disksim", "-o", "x.parquet"], "-o x.parquet"),
        (&["compare", "t.disksim", "-o", "x.parquet"], "-o x.parquet"),
        (
            &["trace", "convert", "t.disksim", "-o", "x.parquet"],
            "-o x.parquet",
        ),
        (
            &[
                "trace",
                "convert",
                "t.disksim",
                "--to",
                "parquet",
                "-o",
                "x",
            ],
            "--to parquet",
        ),
    ] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.status, 2, "{arguments:?}");
        assert_eq!(
            outcome.errors,
            format!("destage: error: {asked}: {told}\n"),
            "{arguments:?}"
        );
    }
    assert_eq!(place.files(), ["t.disksim", "t.parquet"]);
    assert!(!place.succeed(&["list", "formats"]).contains("arquet"));
}
