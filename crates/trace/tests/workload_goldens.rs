//! A seed means the same workload for ever: digests of the first requests of every workload.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage_base::parameter::Values;
use destage_trace::{WORKLOADS, writers};
use sha2::{Digest, Sha256};

/// SHA-256 of the first 3000 requests with defaults and seed 1, as DiskSim text: its first 16 digits.
const GOLDENS: &[(&str, &str)] = &[];

#[test]
fn the_first_requests_of_every_workload() {
    let mut wrong = Vec::new();
    for workload in WORKLOADS {
        let values = Values::defaults(workload.parameters);
        let mut text = Vec::new();
        for request in (workload.make)(&values, 1).unwrap().take(3000) {
            writers::disksim::write(&mut text, &request).unwrap();
        }
        let digest: String = Sha256::digest(&text)[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
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
