//! Fitted stand-ins: which properties of the trace they preserve exactly, the text form of a profile, and which texts
//! are refused.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::sync::Arc;

use destage_base::parameter::{Value, Values};
use destage_trace::{Operation, Request};
use destage_workload::find;
use destage_workload::fitted::{Fitter, Profile, defaults, requests};

/// Requests with reads, writes, streams and rewrites.
fn trace() -> Vec<Request> {
    let mixed = find("mixed").unwrap();
    let mut values = Values::defaults(mixed.parameters);
    values.set("requests", Value::Integer(9000));
    (mixed.make)(&values, 5).unwrap().collect()
}

fn fitted(requests: &[Request]) -> Profile {
    let mut fitter = Fitter::default();
    requests.iter().for_each(|request| fitter.add(request));
    fitter.finish().unwrap()
}

fn drawn(profile: &Profile, seed: u64) -> Vec<Request> {
    requests(&Arc::new(profile.clone()), &defaults(profile), seed).collect()
}

/// The number of writes, the sectors written, and the sectors read.
fn sums(requests: &[Request]) -> [u64; 3] {
    let sectors = |operation| {
        let of = requests.iter().filter(|r| r.operation == operation);
        of.map(|r| u64::from(r.sectors)).sum()
    };
    let writes = requests.iter().filter(|r| r.operation == Operation::Write);
    [
        writes.count() as u64,
        sectors(Operation::Write),
        sectors(Operation::Read),
    ]
}

#[test]
fn counts_and_sizes_are_those_of_the_trace_whatever_the_seed() {
    let real = trace();
    let profile = fitted(&real);
    // The end of the last page of 4 KiB that the trace touches.
    let end = real.iter().map(Request::end).max().unwrap();
    let end = end.next_multiple_of(8);
    for seed in 1..=3 {
        let standin = drawn(&profile, seed);
        assert_eq!(standin.len(), real.len());
        assert_eq!(sums(&standin), sums(&real));
        assert!(standin.is_sorted_by_key(|request| request.arrival));
        assert!(standin.iter().all(|request| request.end() <= end));
        let span = |requests: &[Request]| requests.last().unwrap().arrival as f64;
        let ratio = span(&standin) / span(&real);
        assert!((0.98..1.02).contains(&ratio), "{ratio}");
        assert_eq!(standin, drawn(&profile, seed));
    }
    assert_ne!(drawn(&profile, 1), drawn(&profile, 2));
}

#[test]
fn the_text_says_all_of_it() {
    let profile = fitted(&trace());
    let text = profile.text("Made by a test.");
    let read: Profile = text.parse().unwrap();
    assert_eq!(read.text("Made by a test."), text);
    assert_eq!(drawn(&read, 7), drawn(&profile, 7));
}

#[test]
fn it_goes_on_after_the_last_request_and_may_have_another_share_of_writes() {
    let profile = Arc::new(fitted(&trace()));
    let mut values = defaults(&profile);
    values.set("requests", Value::Integer(20_000));
    values.set("write_percent", Value::Number(100.0));
    let all: Vec<Request> = requests(&profile, &values, 1).collect();
    assert_eq!(all.len(), 20_000);
    assert!(all.iter().all(|r| r.operation == Operation::Write));
    values.set("write_percent", Value::Number(30.0));
    let some: Vec<Request> = requests(&profile, &values, 1).collect();
    let [writes, ..] = sums(&some);
    assert!((5_700..6_300).contains(&writes), "{writes}");
}

#[test]
fn what_is_no_profile_is_refused_by_key() {
    let text = fitted(&trace()).text("");
    let line = |key: &str| {
        let start = format!("{key} = ");
        text.lines().find(|line| line.starts_with(&start)).unwrap()
    };
    for (key, other, expected) in [
        ("form", "form = 1", "standin.form: \"1\": expected 2"),
        (
            "requests",
            "requests = 0",
            "standin.requests: \"0\": expected a whole number, 1 to",
        ),
        (
            "requests",
            "requests = 9001",
            "standin.classes: \"9000\": expected 9001, for 9001 requests",
        ),
        (
            "requests",
            "requests = 8999",
            "expected rLATER.SPAN.BLOCK.SECTOR.SIZES, or w, of 8999 requests",
        ),
        ("pace", "pace = \"1 2\"", "standin.pace: \"2\": expected "),
        (
            "pace",
            "pace = 3",
            "standin.pace: \"3\": expected text with numbers",
        ),
        (
            "gaps1",
            "gaps1 = \"0\"",
            "standin.gaps1: \"0\": expected a whole number, 1 to",
        ),
        (
            "form",
            "form = = 1",
            "line 3: \"form = = 1\": expected TOML: ",
        ),
    ] {
        let broken = text.replacen(line(key), other, 1);
        let error = broken.parse::<Profile>().unwrap_err().to_string();
        assert!(error.contains(expected), "{key}: {error}");
    }
    assert!("".parse::<Profile>().is_err());
}

/// Inserts `word` in `text`, before the value of `key`.
fn with_word(text: &str, key: &str, word: &str) -> String {
    let start = format!("{key} = \"\"\"\n");
    assert!(text.contains(&start), "{key}");
    text.replacen(&start, &format!("{start}{word} "), 1)
}

/// A profile that was edited by hand can have values that no trace gives. Reading such a profile must return an
/// error. It must not lead to a panic later.
#[test]
fn what_no_trace_has_is_refused() {
    let text = fitted(&trace()).text("");
    let most = u32::MAX;
    for (key, word) in [
        ("classes", "12a".to_owned()),
        ("classes", "1".to_owned()),
        ("blocks", "1".to_owned()),
        ("blocks", "4.4.0".to_owned()),
        ("blocks", "4.0.65".to_owned()),
        ("blocks", "4.0.0:2".to_owned()),
        ("blocks", "-4.0.0".to_owned()),
        ("blocks", format!("{most}.0.0")),
        ("blocks", "4.0.0 1:4".to_owned()),
        ("blocks", "4.0.0 1.-1".to_owned()),
        ("blocks", "4.0.0 0".to_owned()),
        ("blocks", "4.0.0 2".to_owned()),
        ("blocks", format!("4.0.0 1:{}", u64::MAX)),
        ("blocks", format!("4.3.0 1.{}", i64::MAX)),
        ("blocks", "1.2.3.4".to_owned()),
        ("sweeps", "w0.0.0.0".to_owned()),
        ("sweeps", "w0.0.0.0.8.8".to_owned()),
        ("sweeps", "x0.0.0.0.8".to_owned()),
        ("sweeps", "é0.0.0.0.8".to_owned()),
        ("sweeps", "w0.0.0.0.0".to_owned()),
        ("sweeps", "w0.0.0.0.8:0".to_owned()),
        ("sweeps", "w0.0.0.0.8+".to_owned()),
        ("sweeps", format!("w0.0.0.0.{most}")),
        ("sweeps", format!("w0.0.0.0.8:{most}")),
        ("sweeps", "w0.0.0.512.8".to_owned()),
        ("sweeps", "w0.0.-1.0.8".to_owned()),
        ("sweeps", format!("w0.0.{}.0.8", i64::MAX)),
        ("sweeps", format!("w{}.1.0.0.8", u64::MAX)),
        ("sweeps", "w0.9000.0.0.8".to_owned()),
        ("sweeps", "w0.0.0.0.8".to_owned()),
    ] {
        let broken = with_word(&text, key, &word);
        let error = broken.parse::<Profile>().unwrap_err();
        assert_eq!(error.key, format!("standin.{key}"), "{word}: {error}");
    }
    let footprint = text
        .lines()
        .find(|line| line.starts_with("footprint_sectors"));
    for other in ["footprint_sectors = 1", "footprint_sectors = 0"] {
        let broken = text.replacen(footprint.unwrap(), other, 1);
        assert!(broken.parse::<Profile>().is_err(), "{other}");
    }
}

/// Blocks get new addresses, but requests keep their offsets within blocks. The number of different pages is the same
/// as in the trace.
#[test]
fn blocks_get_other_addresses_and_keep_what_overlaps() {
    let real = trace();
    let profile = fitted(&real);
    let standin = drawn(&profile, 4);
    // The offset within the block and the length of each request. The list is sorted, because the order of requests
    // may differ.
    let mut writes: Vec<(u64, u32)> = real.iter().map(|r| (r.sector % 512, r.sectors)).collect();
    let mut drawn: Vec<(u64, u32)> = standin
        .iter()
        .map(|r| (r.sector % 512, r.sectors))
        .collect();
    writes.sort_unstable();
    drawn.sort_unstable();
    assert_eq!(writes, drawn);
    let moved = real
        .iter()
        .zip(&standin)
        .filter(|(a, b)| a.sector != b.sector);
    assert!(moved.count() > real.len() / 2);
    let pages = |requests: &[Request]| -> usize {
        let pages = requests
            .iter()
            .flat_map(|r| r.sector / 8..r.end().div_ceil(8));
        pages.collect::<std::collections::BTreeSet<u64>>().len()
    };
    assert_eq!(pages(&real), pages(&standin));
}

#[test]
fn a_share_of_writes_that_cannot_be_is_no_requests() {
    let mut writes = trace();
    writes.retain(|request| request.operation == Operation::Write);
    let profile = Arc::new(fitted(&writes));
    let mut values = defaults(&profile);
    values.set("write_percent", Value::Number(50.0));
    assert_eq!(requests(&profile, &values, 1).count(), 0);
}
