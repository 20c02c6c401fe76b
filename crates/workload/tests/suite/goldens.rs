//! A seed always gives the same requests. The tests compare digests of the first requests of every workload.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage_base::parameter::{Value, Values};
use destage_trace::writers;
use destage_workload::{WORKLOADS, Workload, find};
use sha2::{Digest, Sha256};

/// The first 16 digits of the SHA-256 of the first 3000 requests as DiskSim text, with default values and seed
/// 1.
const GOLDENS: &[(&str, &str)] = &[
    ("uniform", "6ffcc916859f5172"),
    ("zipf", "972f819f46873255"),
    ("sequential", "5c24b5b9bc44b963"),
    ("mixed", "74a7b555dd6950c6"),
    ("bursts", "e0df5db96a24f3b3"),
    ("looping", "b3ca318398e43ec2"),
    ("fleet", "924cfde9da9d07a2"),
    ("standin-office-install", "f17362cf72cccf4f"),
    ("standin-browser-cache", "ea30f841ce079689"),
    ("standin-pcmark", "ecd0e0fd456ba1c4"),
    ("standin-iometer-random", "8d6d325d4f026949"),
    ("standin-mp3-fat", "e80320320d26cec8"),
    ("standin-p2p", "66135d8cebc64a31"),
    ("standin-untar-ext3", "40775093a7ff9175"),
    ("standin-kernel-compile-ext3", "990157bb8a801973"),
    ("standin-postmark", "80fe420df03dfb0a"),
    ("standin-financial1", "1ea8affcfd7744fc"),
    ("standin-financial2", "70a8668c8f3a9dc5"),
    ("standin-tpcc", "4e3d74398ca635e2"),
    ("standin-cello-d3", "a29257d0d18d2b9a"),
    ("standin-cello-d8", "52e2832723413c36"),
    ("standin-iozone", "08cd832fecd73868"),
    ("standin-postmark-reads", "0c217825c05d4054"),
    ("standin-source-control", "155b9493672b90c4"),
    ("standin-on-board-cache", "18dadaec620b022b"),
];

/// Digests of the same kind, of the first 30000 requests of PostMark, on each file system. PostMark makes and removes
/// files.
const FILE_SYSTEMS: [(&str, &str); 3] = [
    ("fat", "9cf5fe14e163b6d2"),
    ("ext3", "16664699a10b6876"),
    ("ntfs", "2fc69f3462f4184e"),
];

fn digest(workload: &Workload, values: &Values, requests: usize) -> String {
    let mut text = Vec::new();
    for request in (workload.make)(values, 1).unwrap().take(requests) {
        writers::disksim::write(&mut text, &request).unwrap();
    }
    Sha256::digest(&text)[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[test]
fn the_first_requests_of_every_workload() {
    let mut wrong = Vec::new();
    for workload in WORKLOADS {
        let digest = digest(workload, &Values::defaults(workload.parameters), 3000);
        let golden = GOLDENS.iter().find(|(name, _)| *name == workload.name);
        if golden.map(|(_, golden)| *golden) != Some(&digest) {
            wrong.push(format!("    (\"{}\", \"{digest}\"),", workload.name));
        }
    }
    assert!(
        wrong.is_empty(),
        "other requests than before:\n{}",
        wrong.join("\n")
    );
    assert_eq!(GOLDENS.len(), WORKLOADS.len());
}

#[test]
fn files_come_and_go_as_before() {
    let workload = find("standin-postmark").unwrap();
    let mut has = Vec::new();
    for kind in ["fat", "ext3", "ntfs"] {
        let mut values = Values::defaults(workload.parameters);
        values.set("file_system", Value::Text(kind.to_owned()));
        has.push((kind, digest(workload, &values, 30_000)));
    }
    let has: Vec<_> = has
        .iter()
        .map(|(kind, digest)| (*kind, digest.as_str()))
        .collect();
    assert_eq!(has, FILE_SYSTEMS);
}
