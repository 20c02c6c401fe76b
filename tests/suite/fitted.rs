//! Stand-ins against the recorded traces that they stand for, on seeds 1 to 3: those fitted, and those built in.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage::{Effort, Input, Reading, Residual, Settings, fit, residuals};
use destage_base::parameter::Values;
use destage_tests::outside;
use destage_workload::find;

/// Cells with fewer evictions are left to chance.
const LEAST_EVICTIONS: f64 = 50.0;
/// Per cent that evictions may differ by, and mean response.
const MOST_EVICTIONS: f64 = 15.0;
const MOST_RESPONSE: f64 = 30.0;

/// What of a stand-in's residuals is more than it may be.
fn too_much(seed: u64, rows: &[Residual]) -> Vec<String> {
    assert_eq!(rows.len(), 16);
    let mut wrong = Vec::new();
    for row in rows {
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
    wrong
}

/// How many seeds are tried: one, and three by `make fitted`, which takes minutes.
fn seeds() -> u64 {
    let said = std::env::var("DESTAGE_SEEDS").ok();
    said.map_or(1, |text| text.parse().unwrap())
}

/// Evictions of all schemes, and mean responses, of a stand-in that is fitted.
fn held(trace: &str) {
    let input = Input::trace(outside(&format!("traces/{trace}")));
    let mut wrong = Vec::new();
    for seed in 1..=seeds() {
        let mut settings = Settings::new();
        settings.set_pair(&format!("sim.seed={seed}")).unwrap();
        let (fitted, _) = fit(&input, &settings, &Effort::default()).unwrap();
        wrong.extend(too_much(seed, &fitted.residuals));
    }
    assert!(wrong.is_empty(), "{trace}:\n{}", wrong.join("\n"));
}

/// The same of one that is built in.
fn built_in(name: &str, pairs: &[(&str, &str)], (trace, writes_only): (&str, bool)) {
    let reading = Reading {
        writes_only,
        ..Reading::default()
    };
    let real = Input::trace(outside(&format!("traces/{trace}")))
        .read(reading)
        .unwrap();
    let workload = find(name).unwrap();
    let mut values = Values::defaults(workload.parameters);
    for (key, value) in pairs {
        let parameter = workload
            .parameters
            .iter()
            .find(|row| row.name == *key)
            .unwrap();
        values.set(parameter.name, parameter.read(value).unwrap());
    }
    let mut wrong = Vec::new();
    for seed in 1..=seeds() {
        let requests: Vec<_> = (workload.make)(&values, seed).unwrap().collect();
        let rows = residuals(&real, &Input::requests(name, requests), &Effort::default()).unwrap();
        wrong.extend(too_much(seed, &rows));
    }
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs recorded traces"]
fn built_in_financial1() {
    let pairs = [("requests", "10000"), ("write_percent", "59.2")];
    let trace = ("financial1-head10k.ssdsim.zst", false);
    built_in("standin-financial1", &pairs, trace);
}

#[test]
#[ignore = "needs recorded traces"]
fn built_in_tpcc() {
    // Writes only, as the workload that it stands for.
    let trace = ("tpcc-small.mqsim.zst", true);
    built_in("standin-tpcc", &[("requests", "2616")], trace);
}

#[test]
#[ignore = "needs recorded traces"]
fn built_in_postmark() {
    let trace = ("postmark-62k.disksim.zst", false);
    built_in("standin-postmark-reads", &[], trace);
}

#[test]
#[ignore = "needs recorded traces"]
fn built_in_iozone() {
    let trace = ("iozone-100k.disksim.zst", false);
    built_in("standin-iozone", &[], trace);
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
