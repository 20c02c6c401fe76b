//! Fitted stand-ins: what a profile keeps exactly, what its text says, and what is refused.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::sync::Arc;

use destage_base::parameter::{Value, Values};
use destage_trace::{Operation, Request};
use destage_workload::find;
use destage_workload::fitted::{Fitter, PHASES, Profile, defaults, requests};

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
    fitter.finish(PHASES).unwrap()
}

fn drawn(profile: &Profile, seed: u64) -> Vec<Request> {
    requests(&Arc::new(profile.clone()), &defaults(profile), seed).collect()
}

/// Writes, sectors written, sectors read.
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
    for seed in 1..=3 {
        let standin = drawn(&profile, seed);
        assert_eq!(standin.len(), real.len());
        assert_eq!(sums(&standin), sums(&real));
        assert!(standin.is_sorted_by_key(|request| request.arrival));
        let end = profile.footprint_sectors();
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
fn it_goes_on_after_the_last_phase_and_may_have_another_share_of_writes() {
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
        ("form", "form = 2", "standin.form: \"2\": expected 1"),
        (
            "requests",
            "requests = 0",
            "standin.requests: \"0\": expected a whole number, 1 to",
        ),
        (
            "requests",
            "requests = 9001",
            "phase 127.next: \"54\": expected 55 in all",
        ),
        (
            "sizes",
            "sizes = \"8 x\"",
            "standin.sizes: \"x\": expected a whole number, 1 to",
        ),
        (
            "sizes",
            "sizes = \"\"",
            "standin.sizes: \"0\": expected at least one size",
        ),
        (
            "layout",
            "layout = \"1\"",
            "standin.layout: \"1\": expected BACK:COUNT",
        ),
        ("pace", "pace = \"1 2\"", "standin.pace: \"2\": expected "),
        (
            "pace",
            "pace = 3",
            "standin.pace: \"3\": expected text with numbers",
        ),
        (
            "map",
            "map = \"0.1.2\"",
            "phase 1.map: \"0.1.2\": expected nine numbers",
        ),
        ("map", "map = \"9999999.1.1.1.1.1.1.0.1\"", "phase 1.map: "),
        (
            "next0",
            "next0 = \"9999\"",
            "phase 1.next0: \"9999\": expected VALUE:COUNT",
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

/// Numbers that a hand may write and no trace has: an error at once, never a panic later.
#[test]
fn what_no_trace_has_is_refused() {
    let text = fitted(&trace()).text("");
    let found = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
    let most = u32::MAX;
    for (start, other, expected) in [
        (
            "map = ",
            format!("map = \"0.1.1.1.{most}.0.0.0.64\""),
            "phase 1.map: ",
        ),
        (
            "map = ",
            format!("map = \"{most}.{most}.1.1.9.0.0.0.64\""),
            "phase 1.map: ",
        ),
        (
            "map = ",
            "map = \"0.1.1.1.6.1.1.0.64\"".to_owned(),
            "no more ON and AGAIN",
        ),
        (
            "map = ",
            "map = \"0.1.-1.1.6.0.0.0.64\"".to_owned(),
            "phase 1.map: ",
        ),
        (
            "map = ",
            "map = \"\"".to_owned(),
            "phase 1.map: \"0\": expected ",
        ),
        (
            "layout = ",
            format!("layout = \"0:{most}\""),
            "standin.layout: ",
        ),
        ("layout = ", "layout = \"\"".to_owned(), "phase 1.map: "),
        (
            "pace_requests = ",
            "pace_requests = -1".to_owned(),
            "standin.pace_requests: \"-1\"",
        ),
        (
            "footprint_sectors = ",
            "footprint_sectors = 1".to_owned(),
            "none above the footprint",
        ),
        (
            "where4 = ",
            "where4 = \"122879\"".to_owned(),
            "where4: \"122879\": expected VALUE:COUNT",
        ),
        (
            "where10 = ",
            "where10 = \"0:999\"".to_owned(),
            "expected counts of at most",
        ),
        ("form12 = ", format!("form12 = \"{most}\""), "form12: "),
        ("next0 = ", "next0 = \"1:0\"".to_owned(), "phase 1.next0: "),
    ] {
        let broken = text.replacen(found(start), &other, 1);
        let error = broken.parse::<Profile>().unwrap_err().to_string();
        assert!(error.contains(expected), "{other}: {error}");
    }
    let whole = text.split("[[phase]]").next().unwrap();
    for phases in ["", "phase = []"] {
        let error = format!("{phases}\n{whole}").parse::<Profile>().unwrap_err();
        assert_eq!(error.key, "phase");
    }
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
