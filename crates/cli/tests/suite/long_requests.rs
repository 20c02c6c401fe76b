//! Tests of trace lines that request terabytes. Such requests need little memory, because memory depends on the
//! number of requests and not on their lengths.

#![cfg(unix)] // The shell sets the limit.

use crate::common;

use std::process::Command;

use common::Place;

/// Runs the program with `arguments` in an address space of 1 GB. Returns the exit status and standard error.
fn limited(place: &Place, arguments: &str) -> (i32, String) {
    let program = env!("CARGO_BIN_EXE_destage");
    let command = format!("ulimit -v 1000000; exec {program} {arguments}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &command]).current_dir(place.path("."));
    let output = shell.output().expect("a shell runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), errors)
}

#[test]
fn a_line_of_two_terabytes_is_measured_drawn_and_moved_in_little_memory() {
    let place = Place::new();
    let line = "0.0 0 0 4294967295 0\n";
    place.write("l.disksim", [line, line, "1.0 0 5 4000000000 1\n"].concat());
    for arguments in [
        "trace info l.disksim",
        "trace info l.disksim --page-bytes 512",
        "trace info l.disksim --page-bytes 512 -o l.html",
        "trace anonymize l.disksim --region-bytes 512 -o l.compact",
    ] {
        let (status, errors) = limited(&place, arguments);
        assert_eq!(status, 0, "{arguments}: {errors}");
    }
    let told = place.run(&[
        "trace",
        "info",
        "l.disksim",
        "--page-bytes",
        "512",
        "--json",
    ]);
    assert!(
        told.output.contains("\"unique_pages\": 4294967295"),
        "{}",
        told.output
    );
    assert!(
        told.output.contains("\"written_pages\": 8589934590"),
        "{}",
        told.output
    );
}

#[test]
fn a_request_longer_than_the_device_is_refused_whatever_the_map() {
    let place = Place::new();
    place.write("l.disksim", "0.0 0 0 8 0\n0.1 0 0 4294967295 0\n");
    for map in ["modulo", "shrink"] {
        for scheme in ["lru", "belady"] {
            let arguments = format!(
                "run l.disksim --set trace.addr_map={map} --set flash.blocks_per_plane=2048 --buffer {scheme} --size 1MiB"
            );
            let (status, errors) = limited(&place, &arguments);
            assert_eq!(status, 2, "{arguments}: {errors}");
            assert!(
                errors.contains("l.disksim:2: a request of 4294967295 sectors is longer than the device, which has 57049088 sectors; expected "),
                "{errors}"
            );
        }
    }
}
