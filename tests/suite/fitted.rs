//! Stand-ins fitted to recorded traces, against these traces, on seeds 1 to 3.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage::{Effort, Input, Residual, Settings, fit};
use destage_tests::outside;

/// Cells with fewer evictions are left to chance.
const LEAST_EVICTIONS: f64 = 50.0;
/// Per cent that evictions may differ by, and mean response.
const MOST_EVICTIONS: f64 = 15.0;
const MOST_RESPONSE: f64 = 30.0;

/// Evictions of all schemes, and mean responses.
fn held(trace: &str) {
    let input = Input::trace(outside(&format!("traces/{trace}")));
    let mut wrong = Vec::new();
    for seed in 1..=3 {
        let mut settings = Settings::new();
        settings.set_pair(&format!("sim.seed={seed}")).unwrap();
        let (fitted, _) = fit(&input, &settings, &Effort::default()).unwrap();
        assert_eq!(fitted.residuals.len(), 16);
        for row in &fitted.residuals {
            let counted = row.evictions.filter(|(real, _)| *real >= LEAST_EVICTIONS);
            for (values, most) in [
                (counted, MOST_EVICTIONS),
                (row.response_mean_ms, MOST_RESPONSE),
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
    held("financial1-head10k.ssdsim.zst");
}

#[test]
#[ignore = "needs recorded traces"]
fn tpcc() {
    held("tpcc-small.mqsim.zst");
}

#[test]
#[ignore = "needs recorded traces"]
fn sqlite() {
    held("sqlite-wal-update.wiscsee.zst");
}

#[test]
#[ignore = "needs recorded traces"]
fn a_desktop() {
    held("pc-mayun.diskmon.zst");
}

#[test]
#[ignore = "needs recorded traces"]
fn postmark() {
    held("postmark-62k.disksim.zst");
}

#[test]
#[ignore = "needs recorded traces"]
fn iozone() {
    held("iozone-100k.disksim.zst");
}
