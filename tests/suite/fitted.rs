//! Compares fitted and built-in stand-in workloads with the recorded traces that they replace, for up to three
//! seeds.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage::{Effort, Input, Reading, Residual, Settings, figures, fit};
use destage_base::parameter::Values;
use destage_sample::sampled;
use destage_tests::outside;
use destage_workload::find;

/// The fewest evictions of a run whose evictions are checked. With fewer evictions the difference is mostly
/// random.
const LEAST_EVICTIONS: f64 = 50.0;
/// The largest allowed differences in per cent: in evictions, and in mean response time.
const MOST_EVICTIONS: f64 = 15.0;
const MOST_RESPONSE: f64 = 30.0;

/// The residuals of a stand-in that exceed the allowed differences, as text.
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

/// The number of seeds: one, or three with `make whole`. Three seeds need minutes.
fn seeds() -> u64 {
    sampled(1, 3)
}

/// The number of requests of a trace and of its stand-ins: the first 10,000, or all (`None`) with `make whole`.
fn requests() -> Option<u64> {
    sampled(Some(10_000), None)
}

/// A built-in workload that replaces a trace, with the parameters that are set.
type BuiltIn = (&'static str, &'static [(&'static str, &'static str)]);

/// The requests of a built-in workload.
fn made((name, pairs): BuiltIn, seed: u64) -> Input {
    let workload = find(name).unwrap();
    let mut values = Values::defaults(workload.parameters);
    for (key, value) in pairs {
        let mut rows = workload.parameters.iter();
        let parameter = rows.find(|row| row.name == *key).unwrap();
        values.set(parameter.name, parameter.read(value).unwrap());
    }
    let made = (workload.make)(&values, seed).unwrap();
    let most = requests().map_or(usize::MAX, |most| most as usize);
    let requests: Vec<_> = made.take(most).collect();
    Input::requests(name, requests)
}

/// Compares the stand-in that is fitted to a trace with this trace, and also the built-in stand-in if there is
/// one. The comparison covers the evictions of all schemes and the mean response times. The trace itself runs
/// only once for both stand-ins, because a run of the trace takes as long as a run of a stand-in.
fn held(trace: &str, built_in: Option<BuiltIn>) {
    let reading = Reading {
        limit: requests(),
        ..Reading::default()
    };
    let input = Input::trace(outside(&format!("traces/{trace}")));
    let input = input.read(reading).unwrap();
    let mut wrong = Vec::new();
    for seed in 1..=seeds() {
        let mut settings = Settings::new();
        settings.set_pair(&format!("sim.seed={seed}")).unwrap();
        let (fitted, _) = fit(&input, &settings, &Effort::default()).unwrap();
        wrong.extend(too_much(seed, &fitted.residuals));
        if let Some(workload) = built_in {
            let standin = figures(&made(workload, seed), &Effort::default()).unwrap();
            let rows = too_much(seed, &fitted.trace.beside(&standin));
            wrong.extend(rows.iter().map(|row| format!("{}: {row}", workload.0)));
        }
    }
    assert!(wrong.is_empty(), "{trace}:\n{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs recorded traces"]
fn tpcc_built_in() {
    // Only the writes of the trace, because the workload `standin-tpcc` has no reads.
    let reading = Reading {
        writes_only: true,
        ..Reading::default()
    };
    let trace = Input::trace(outside("traces/tpcc-small.mqsim.zst"));
    let trace = figures(&trace.read(reading).unwrap(), &Effort::default()).unwrap();
    let mut wrong = Vec::new();
    for seed in 1..=seeds() {
        let standin = made(("standin-tpcc", &[("requests", "2616")]), seed);
        let standin = figures(&standin, &Effort::default()).unwrap();
        wrong.extend(too_much(seed, &trace.beside(&standin)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs recorded traces"]
fn financial1() {
    let pairs = &[("requests", "10000"), ("write_percent", "59.2")];
    let built_in = ("standin-financial1", &pairs[..]);
    held("financial1-head10k.ssdsim.zst", Some(built_in));
}

#[test]
#[ignore = "needs recorded traces"]
fn tpcc() {
    held("tpcc-small.mqsim.zst", None);
}

#[test]
#[ignore = "needs recorded traces"]
fn sqlite() {
    held("sqlite-wal-update.wiscsee.zst", None);
}

#[test]
#[ignore = "needs recorded traces"]
fn a_desktop() {
    held("pc-mayun.diskmon.zst", None);
}

#[test]
#[ignore = "needs recorded traces"]
fn postmark() {
    // A run of the trace takes long with all schemes, and a run of the built-in stand-in as long again.
    let built_in = sampled(None, Some(("standin-postmark-reads", &[][..])));
    held("postmark-62k.disksim.zst", built_in);
}

#[test]
#[ignore = "needs recorded traces"]
fn iozone() {
    // The stand-in has the phases of the whole trace, so it cannot be compared with the beginning of the trace
    // alone.
    let built_in = sampled(None, Some(("standin-iozone", &[][..])));
    held("iozone-100k.disksim.zst", built_in);
}
