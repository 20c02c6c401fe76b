//! Tests of the contents that a device has before the first request, and of their effect on the first request.

use destage_sim::metrics::Metrics;
use destage_sim::observer::{Observer, Silent};
use destage_sim::prepass::Prepass;
use destage_sim::run::run;
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_trace::{Operation, Request};

fn metrics(pairs: &[&str], observer: &mut dyn Observer) -> Result<Metrics, String> {
    let mut settings = Settings::new();
    let device = [
        "flash.dies=2",
        "flash.planes_per_die=1",
        "flash.blocks_per_plane=40",
        "flash.pages_per_block=8",
        "flash.summary_page=false",
        "buffer.kind=nocache",
    ];
    for pair in device.iter().chain(pairs) {
        settings.set_pair(pair).expect("a setting");
    }
    let config = settings.resolve().map_err(|error| error.to_string())?;
    let requests = [Operation::Write, Operation::Read].map(|operation| Request {
        sector: 80,
        sectors: 8,
        operation,
        ..Request::BLANK
    });
    let source = Source::memory("test".to_owned(), &requests);
    let (result, _) =
        run(&config, source, &Prepass::default(), observer).map_err(|error| error.to_string())?;
    Ok(result.metrics)
}

fn metric(metrics: &Metrics, name: &str) -> f64 {
    metrics
        .get(name)
        .unwrap_or_else(|| panic!("no {name}"))
        .as_f64()
}

#[test]
fn an_overwritten_device_has_counted_nothing_before_the_run() {
    for costing in ["sim.costing=event", "sim.costing=op_count"] {
        for layer in [
            ["ftl.kind=page", "ftl.reserve_percent=25"],
            ["ftl.kind=bast", "ftl.log_blocks=8"],
        ] {
            let with = |precondition: &str| {
                let pairs = [costing, precondition, layer[0], layer[1]];
                metrics(&pairs, &mut Silent).expect("a run")
            };
            let fresh = with("sim.precondition=sequential_fill");
            let used = with("sim.precondition=random_fill:3");
            assert_eq!(with("sim.precondition=random_fill:3"), used);
            for metrics in [&fresh, &used] {
                let programs = metric(metrics, "flash.programs.host");
                assert!(
                    (programs - 1.0).abs() < 1e-9,
                    "{costing} {layer:?}: {programs}"
                );
                let erases = metric(metrics, "flash.erases");
                let by_block = metric(metrics, "wear.erase_mean") * 80.0;
                assert!((erases - by_block).abs() < 1e-9, "{erases} {by_block}");
            }
        }
    }
}

#[test]
fn an_overwritten_device_has_less_room() {
    // All log blocks are in use, so the layer must merge when it serves the first write.
    let pairs = [
        "ftl.kind=bast",
        "ftl.log_blocks=2",
        "sim.precondition=random_fill:3",
    ];
    let used = metrics(&pairs, &mut Silent).expect("a run");
    assert!(metric(&used, "flash.erases") > 0.5);
}

#[test]
fn a_device_that_collects_in_steps_is_not_full_for_its_steps() {
    // A victim has up to 512 valid pages, so a collection in steps of one page may need 512 steps. The layer regards
    // a die of 16 blocks as stuck after 80 collections in a row. The layer must not count each step as a collection.
    let pairs = [
        "flash.dies=1",
        "flash.planes_per_die=1",
        "flash.blocks_per_plane=16",
        "flash.pages_per_block=512",
        "ftl.reserve_percent=32",
        "sim.precondition=random_fill:2",
    ];
    let whole = metrics(&pairs, &mut Silent).expect("a run");
    let steps = [&pairs[..], &["ftl.gc_step_pages=1"]].concat();
    let steps = metrics(&steps, &mut Silent).expect("a run in steps");
    assert_eq!(
        metric(&steps, "flash.programs.host"),
        metric(&whole, "flash.programs.host")
    );
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
fn where_there_is_no_flash_nothing_is_overwritten() {
    let pairs = ["ftl.kind=none", "sim.precondition=random_fill:2"];
    metrics(&pairs, &mut Silent).expect("a run that ends");
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
    let pairs = ["sim.precondition=random_fill:2", "ftl.reserve_percent=25"];
    let stopped = metrics(&pairs, &mut impatient);
    assert_eq!(stopped.err().as_deref(), Some("interrupted"));
    // The host can use thirty blocks of eight pages on each of two dies, which are 480 pages. Two passes overwrite
    // each page twice, which are 960 page writes.
    assert_eq!(impatient.0, [(0, 960), (960, 960)]);
}
