//! Generates two published synthetic traces again, byte for byte.
//!
//! The expected digests are those of the published traces. The traces themselves are not needed.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage_base::parameter::{Value, Values};
use destage_trace::writers;
use sha2::{Digest, Sha256};

fn digest(seed: u64, settings: &[(&'static str, Value)]) -> String {
    let uniform = destage_workload::find("uniform").unwrap();
    let mut values = Values::defaults(uniform.parameters);
    values.set("mean_interarrival_ms", Value::Number(0.5));
    for (name, value) in settings {
        values.set(name, value.clone());
    }
    let mut text = Vec::new();
    for request in (uniform.make)(&values, seed).unwrap() {
        writers::disksim::write(&mut text, &request).unwrap();
    }
    Sha256::digest(&text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[test]
fn synth_a() {
    assert_eq!(
        digest(20_081, &[]),
        "b63c8345325e35a3857375fa66d0c58f68da44fa5107c109d497baa410a6b2da"
    );
}

#[test]
fn synth_b() {
    let settings = [
        ("write_percent", Value::Number(70.0)),
        ("max_pages", Value::Integer(8)),
    ];
    assert_eq!(
        digest(20_082, &settings),
        "13e0e274adea5164caad33bd451450b0249d90c192ab8c6a285d54afabe6800a"
    );
}
