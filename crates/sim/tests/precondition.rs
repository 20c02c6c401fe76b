//! What the device holds before the first request, and what that costs the first request.

use destage_sim::foresight::Foresight;
use destage_sim::observer::{Observer, Silent};
use destage_sim::run::run;
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_trace::{Operation, Request};

fn settings(pairs: &[&str]) -> Settings {
    let mut settings = Settings::new();
    for pair in [
        "flash.elements=2",
        "flash.planes_per_element=1",
        "flash.blocks_per_plane=40",
        "flash.pages_per_block=8",
        "flash.summary_page=false",
        "buffer.kind=nocache",
        "ftl.reserve_percent=25",
    ]
    .iter()
    .chain(pairs)
    {
        settings.set_pair(pair).expect("a setting");
    }
    settings
}

/// A write of one page and a read of another.
fn requests() -> Vec<Request> {
    [Operation::Write, Operation::Read]
        .into_iter()
        .map(|operation| Request {
            sector: 80,
            sectors: 8,
            operation,
            ..Request::default()
        })
        .collect()
}

fn metrics(pairs: &[&str], observer: &mut dyn Observer) -> Result<Vec<(String, f64)>, String> {
    let config = settings(pairs)
        .resolve()
        .map_err(|error| error.to_string())?;
    let requests = requests();
    let source = Source::memory("test".to_owned(), &requests);
    let (result, _) =
        run(&config, source, &Foresight::default(), observer).map_err(|error| error.to_string())?;
    Ok(result
        .metrics
        .iter()
        .map(|(name, value)| ((*name).to_string(), *value))
        .collect())
}

fn metric(metrics: &[(String, f64)], name: &str) -> f64 {
    let found = metrics.iter().find(|(other, _)| other == name);
    found.unwrap_or_else(|| panic!("no {name}")).1
}

#[test]
fn an_overwritten_device_has_counted_nothing_and_cleans_sooner() {
    for costing in ["sim.costing=event", "sim.costing=op_count"] {
        for ftl in ["ftl.kind=page", "ftl.kind=bast"] {
            let layer: &[&str] = if ftl == "ftl.kind=bast" {
                &["ftl.log_blocks=8"]
            } else {
                &[]
            };
            let with = |precondition: &'static str| {
                let mut pairs = vec![costing, precondition, ftl];
                pairs.extend(layer);
                let mut settings = settings(&[]);
                if ftl == "ftl.kind=bast" {
                    settings.remove("ftl.reserve_percent");
                }
                for pair in pairs {
                    settings.set_pair(pair).expect("a setting");
                }
                let config = settings.resolve().expect("a configuration");
                let requests = requests();
                let source = Source::memory("test".to_owned(), &requests);
                let (result, _) =
                    run(&config, source, &Foresight::default(), &mut Silent).expect("a run");
                result.metrics
            };
            let fresh = with("sim.precondition=sequential_fill");
            let used = with("sim.precondition=random_fill:3");
            assert_eq!(with("sim.precondition=random_fill:3"), used);
            for metrics in [&fresh, &used] {
                let get = |name: &str| metrics[name];
                assert_eq!(get("flash.programs.host"), 1.0, "{costing} {ftl}");
                assert_eq!(get("flash.erases"), get("wear.erase_mean") * 80.0);
            }
        }
    }
}

#[test]
fn what_is_no_precondition_is_refused() {
    for text in ["random_fill", "random_fill:0", "random_fill:1.5", "full"] {
        let pair = format!("sim.precondition={text}");
        let error = metrics(&[&pair], &mut Silent).expect_err("a refusal");
        assert!(
            error.contains("sim.precondition")
                && error.contains(text)
                && error.contains("expected none"),
            "{error}"
        );
    }
}

#[test]
fn who_watches_can_stop_it() {
    struct Impatient(Vec<(u64, u64)>);
    impl Observer for Impatient {
        fn preparing(&mut self, done: u64, total: u64) -> bool {
            self.0.push((done, total));
            done < total
        }
    }
    let mut impatient = Impatient(Vec::new());
    let error = metrics(&["sim.precondition=random_fill:2"], &mut impatient);
    assert_eq!(error.err().as_deref(), Some("interrupted"));
    assert_eq!(impatient.0, [(0, 960), (960, 960)]);
    let result = metrics(&["sim.precondition=none"], &mut Silent).expect("a run");
    assert_eq!(metric(&result, "flash.programs.host"), 1.0);
}
