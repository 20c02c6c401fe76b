//! A seed gives the same requests also far into a workload, and for Zipf laws of every skew. The expected digests
//! come from simpler code. That code computes each rank with logarithms and each page by the permutation, and it
//! searches free space unit by unit.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage_base::parameter::{Value, Values};
use destage_workload::{WORKLOADS, find};
use sha2::{Digest, Sha256};

/// The first 16 digits of the SHA-256 over the arrival, address, size and operation of the first `requests` requests.
fn digest(name: &str, settings: &[(&'static str, Value)], requests: usize) -> String {
    let workload = find(name).unwrap();
    let mut values = Values::defaults(workload.parameters);
    values.set("requests", Value::Integer(requests as u64));
    for (parameter, value) in settings {
        values.set(parameter, value.clone());
    }
    let mut digest = Sha256::new();
    for request in (workload.make)(&values, 2).unwrap() {
        digest.update(request.arrival.to_le_bytes());
        digest.update(request.sector.to_le_bytes());
        digest.update(request.sectors.to_le_bytes());
        digest.update([request.operation as u8]);
    }
    digest.finalize()[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Digests of 100000 requests with default values.
const DEFAULTS: &[(&str, &str)] = &[
    ("uniform", "0deda7e68de85538"),
    ("zipf", "cc796774154e2a90"),
    ("sequential", "96e5087bd9743067"),
    ("mixed", "9e20d29da528c9c8"),
    ("bursts", "9c7bd264274643b1"),
    ("looping", "a2bda1648aa777dd"),
    ("fleet", "017a27fe5620f636"),
    ("standin-office-install", "92883d29c3818f27"),
    ("standin-browser-cache", "9db49ef07910f0b8"),
    ("standin-pcmark", "165f8dacd30f8f4d"),
    ("standin-iometer-random", "e8032924a15535ea"),
    ("standin-mp3-fat", "f4d318b741ee68af"),
    ("standin-p2p", "5d931f55f3d3bf73"),
    ("standin-untar-ext3", "068d396381b47474"),
    ("standin-kernel-compile-ext3", "8944cea45c6df3e0"),
    ("standin-postmark", "84ca887c96c02efa"),
    ("standin-financial1", "a989cab99709fc8f"),
    ("standin-financial2", "835ac2fcf2194c8a"),
    ("standin-tpcc", "cb25ad96fd340f44"),
    ("standin-cello-d3", "c85011aab750c079"),
    ("standin-cello-d8", "b22b67692d869e72"),
    ("standin-iozone", "6a149c36615fa523"),
    ("standin-postmark-reads", "89b954d68aa73b2a"),
    ("standin-source-control", "02857f09782b1cdc"),
    ("standin-on-board-cache", "4799ded085d2f46b"),
];

/// Digests of 100000 requests of `zipf` with runs of 3 pages. Each entry has the skew, the number of pages, and the
/// digest.
const LAWS: &[(f64, u64, &str)] = &[
    (0.0, 1000, "84c6809408481213"),
    (0.0, 1048576, "d66740fe93eef031"),
    (0.0, 1099511627776, "15ef28f9bb3af5fd"),
    (0.5, 1000, "7274f0c4036a6973"),
    (0.5, 1048576, "dd47bd815128b8b8"),
    (0.5, 1099511627776, "538b9518ef813b04"),
    (0.99, 1000, "b3de40ed5dcfeaad"),
    (0.99, 1048576, "ec0f9385062e03f2"),
    (0.99, 1099511627776, "79704735fe27e601"),
    (1.0, 1000, "f8831a08a0daed96"),
    (1.0, 1048576, "4fd1886ca700bc8d"),
    (1.0, 1099511627776, "2bc66e3f04bfa335"),
    (1.2, 1000, "5dd806f12b8758bd"),
    (1.2, 1048576, "1386157088e714ae"),
    (1.2, 1099511627776, "7f045587e23d8e35"),
    (3.0, 1000, "93b847328c657d7e"),
    (3.0, 1048576, "95966fddfa65f6b3"),
    (3.0, 1099511627776, "4fbb2a34f60d0b90"),
    (10.0, 1000, "59e407c5add6620a"),
    (10.0, 1048576, "596f6859b7e0ba5a"),
    (10.0, 1099511627776, "3a51197c44f4bfa4"),
];

#[test]
fn a_hundred_thousand_requests_of_every_workload() {
    let wrong: Vec<String> = WORKLOADS
        .iter()
        .map(|workload| (workload.name, digest(workload.name, &[], 100_000)))
        .filter(|(name, digest)| !DEFAULTS.contains(&(*name, digest.as_str())))
        .map(|(name, digest)| format!("(\"{name}\", \"{digest}\"),"))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn laws_of_every_steepness() {
    let mut wrong = Vec::new();
    for skew in [0.0, 0.5, 0.99, 1.0, 1.2, 3.0, 10.0] {
        for pages in [1000, 1 << 20, 1 << 40] {
            let settings = [
                ("skew", Value::Number(skew)),
                ("footprint_pages", Value::Integer(pages)),
                ("cluster_pages", Value::Integer(3)),
                ("mean_interarrival_ms", Value::Number(0.5)),
            ];
            let digest = digest("zipf", &settings, 100_000);
            let known = LAWS.iter().find(|law| (law.0, law.1) == (skew, pages));
            if known.map(|law| law.2) != Some(digest.as_str()) {
                wrong.push(format!("({skew:?}, {pages}, \"{digest}\"),"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
