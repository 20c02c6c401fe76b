//! If a device wears out, the run must end with results and not with an error.

use destage_base::Random;
use destage_ftl::FTLS;
use destage_sim::metrics::Metrics;
use destage_sim::observer::Silent;
use destage_sim::prepass::Prepass;
use destage_sim::run::run;
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_trace::{Operation, Request};

const REQUESTS: u64 = 60_000;

fn metrics(pairs: &[&str]) -> Result<Metrics, String> {
    let mut settings = Settings::new();
    let device = [
        "flash.dies=1",
        "flash.planes_per_die=1",
        "flash.blocks_per_plane=48",
        "flash.pages_per_block=8",
        "flash.summary_page=false",
        "flash.endurance=40",
        "buffer.kind=nocache",
        "trace.addr_map=modulo",
    ];
    for pair in device.iter().chain(pairs) {
        settings.set_pair(pair).expect("a setting");
    }
    let config = settings.resolve().map_err(|error| error.to_string())?;
    let mut random = Random::new(7);
    let requests: Vec<Request> = (0..REQUESTS)
        .map(|number| Request {
            arrival: number * 100_000_000,
            sector: random.below(200) * 8,
            sectors: 8,
            operation: Operation::Write,
            ..Request::BLANK
        })
        .collect();
    let source = Source::memory("test".to_owned(), &requests);
    let (result, _) = run(&config, source, &Prepass::default(), &mut Silent)
        .map_err(|error| error.to_string())?;
    Ok(result.metrics)
}

fn metric(metrics: &Metrics, name: &str) -> f64 {
    metrics
        .get(name)
        .unwrap_or_else(|| panic!("no {name}"))
        .as_f64()
}

#[test]
fn a_worn_out_device_is_a_result_under_every_layer() {
    let retires = FTLS.iter().filter(|row| row.name != "none");
    for row in retires {
        for costing in ["sim.costing=event", "sim.costing=op_count"] {
            let kind = format!("ftl.kind={}", row.name);
            let what = format!("{} {costing}", row.name);
            let pairs = [&kind, costing, "flash.wearout=retire", "sim.drain=true"];
            let dead = metrics(&pairs).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(metric(&dead, "device.worn_out"), 1.0, "{what}");
            assert!(metric(&dead, "wear.blocks_retired") > 0.0, "{what}");
            assert_eq!(metric(&dead, "wear.erase_max"), 40.0, "{what}");
            let (arrived, completed) = (
                metric(&dead, "host.requests"),
                metric(&dead, "host.completed"),
            );
            assert!(completed > 300.0 && completed < arrived, "{what}");
            assert!(arrived < REQUESTS as f64, "{what}");
            let life = dead.get("device.worn_out_ms").map(|life| life.as_f64());
            match costing {
                // A request arrives every 10 ms.
                "sim.costing=event" => assert!(
                    life.is_some_and(|life| (life - 10.0 * arrived).abs() < 1000.0),
                    "{what} {life:?} {arrived}"
                ),
                _ => assert_eq!(life, None, "{what}"),
            }
        }
    }
}

#[test]
fn a_device_that_lives_says_so_and_one_that_is_used_on_says_nothing() {
    let alive = metrics(&["flash.wearout=retire", "flash.endurance=100000"]).expect("a run");
    assert_eq!(metric(&alive, "device.worn_out"), 0.0);
    assert_eq!(metric(&alive, "wear.blocks_retired"), 0.0);
    assert_eq!(alive.get("device.worn_out_ms"), None);
    let ignored = metrics(&["flash.wearout=ignore"]).expect("a run");
    assert_eq!(ignored.get("device.worn_out"), None);
    assert_eq!(metric(&ignored, "host.completed"), REQUESTS as f64);
}
