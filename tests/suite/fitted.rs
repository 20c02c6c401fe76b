//! Stand-ins fitted to recorded traces, against these traces, on seeds 1 to 3.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage::{Effort, Input, Residual, Settings, fit};
use destage_tests::outside;

/// Cells with fewer evictions are left to chance.
const LEAST_EVICTIONS: f64 = 50.0;

/// Per cent that evictions may differ by. What `bpac` learns of a short trace turns on a few rewrites.
fn most_evictions(scheme: &str) -> f64 {
    if scheme == "bpac" { 25.0 } else { 15.0 }
}

/// `most_response` in per cent.
fn held(trace: &str, most_response: f64) {
    let input = Input::trace(outside(&format!("traces/{trace}")));
    let mut wrong = Vec::new();
    for seed in 1..=3 {
        let mut settings = Settings::new();
        settings.set_pair(&format!("sim.seed={seed}")).unwrap();
        let (fitted, _) = fit(&input, &settings, 128, &Effort::default()).unwrap();
        assert_eq!(fitted.residuals.len(), 16);
        for row in &fitted.residuals {
            let counted = row.evictions.filter(|(real, _)| *real >= LEAST_EVICTIONS);
            for (values, most) in [
                (counted, most_evictions(&row.scheme)),
                (row.response_mean_ms, most_response),
            ] {
                let percent = values.and_then(Residual::percent).unwrap_or(0.0);
                if percent.abs() > most {
                    wrong.push(format!(
                        "seed {seed}: {row:?}: {percent:+.1} %, not {most} %"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{trace}:\n{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs recorded traces"]
fn financial1() {
    held("financial1-head10k.ssdsim.zst", 30.0);
}

/// 0.14 s of more load than the device can take: the response of padding schemes is that of a queue that only grows.
#[test]
#[ignore = "needs recorded traces"]
fn tpcc() {
    held("tpcc-small.mqsim.zst", 50.0);
}
