//! Tests of results about the end of a run and about times: the time until the device is clean, the dirty ages of
//! pages, and the series that schemes record.

use destage_base::Random;
use destage_sim::error::SimError;
use destage_sim::observer::Silent;
use destage_sim::prepass::Prepass;
use destage_sim::run::{RunResult, run};
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_trace::{Operation, Request};

/// The ticks of 1 ms.
const MILLISECOND: u64 = 10_000_000;

fn request(arrival: u64, operation: Operation, page: u64, pages: u32) -> Request {
    Request {
        arrival,
        sector: page * 8,
        sectors: 8 * pages,
        operation,
        ..Request::BLANK
    }
}

/// Runs `requests` on four dies. A program takes 0.2 ms and a read 25 us; bus and channel take no time.
fn simulate(requests: &[Request], pairs: &[&str]) -> RunResult {
    tried(requests, pairs).expect("a run")
}

/// The result of [`simulate`], or the error of the run.
fn tried(requests: &[Request], pairs: &[&str]) -> Result<RunResult, SimError> {
    let mut settings = Settings::new();
    settings.explain();
    let device = [
        "flash.dies=4",
        "flash.planes_per_die=1",
        "flash.blocks_per_plane=64",
        "flash.pages_per_block=8",
        "flash.transfer_ns_per_byte=0",
        "flash.program_us=200",
        "host.bus_ns_per_sector=0",
        "ftl.reserve_percent=20",
        "buffer.capacity_bytes=256KiB",
    ];
    let has_flash = !pairs.contains(&"ftl.kind=none");
    let device = device
        .iter()
        .filter(|pair| has_flash || !pair.starts_with("ftl."));
    for pair in device.chain(pairs) {
        settings.set_pair(pair).expect("a setting");
    }
    let config = settings.resolve().expect("a configuration");
    let source = Source::memory("test".to_owned(), requests);
    let prepass = Prepass::default();
    Ok(run(&config, source, &prepass, &mut Silent)?.0)
}

fn metric(result: &RunResult, name: &str) -> Option<f64> {
    result.metrics.get(name).map(|number| number.as_f64())
}

/// Requests that arrive within about a second. Half of them begin at one of the first 40 of 900 pages, so the host
/// rewrites these pages often.
fn rewrites() -> Vec<Request> {
    let mut random = Random::new(5);
    let mut arrival = 0;
    let one = |_| {
        arrival += random.below(MILLISECOND / 2);
        let near = random.below(2) == 0;
        let page = random.below(if near { 40 } else { 900 });
        let operation = match random.below(20) {
            0 => Operation::Trim,
            1 => Operation::Flush,
            2..=4 => Operation::Read,
            _ => Operation::Write,
        };
        request(arrival, operation, page, 1 + random.below(3) as u32)
    };
    (0..4000).map(one).collect()
}

#[test]
fn a_device_that_goes_on_says_when_all_is_clean() {
    let requests = [
        request(0, Operation::Write, 99, 1),
        request(MILLISECOND, Operation::Write, 0, 15),
        request(3 * MILLISECOND, Operation::Read, 500, 1),
    ];
    let (out, drain) = ("sim.run_out=true", "sim.drain=true");
    let read = 25;
    for (scheme, more, clean_after_us, dirty) in [
        // After the read and 2 ms of idle time, the scheme destages the 16 pages, four of which belong to each die.
        // `apu-lru` destages one page at a time, and `apu-lru-d` destages one page at a time on each die.
        ("apu-lru", &[out][..], Some(read + 2000 + 16 * 200), 0.0),
        ("apu-lru-d", &[out], Some(read + 2000 + 4 * 200), 0.0),
        ("apu-lru-d", &[out, drain], Some(read + 2000 + 4 * 200), 0.0),
        ("apu-lru", &[], None, 16.0),
        // No background work is due, so the pages stay dirty.
        ("lru", &[out], None, 16.0),
        // After the read the drain destages all pages at once. Each of the four dies programs four pages.
        ("lru", &[drain], Some(read + 4 * 200), 0.0),
        ("lru", &[out, drain], Some(read + 4 * 200), 0.0),
        // Every write is durable before the last request arrives, so the device is already clean when that request
        // arrives.
        ("lru", &[out, "device.vwc=off"], Some(0), 0.0),
    ] {
        let scheme = format!("buffer.kind={scheme}");
        let result = simulate(&requests, &[&[&*scheme], more].concat());
        let found = metric(&result, "buffer.clean_after_ms");
        let expected = clean_after_us.map(|time| f64::from(time) / 1000.0);
        assert_eq!(found, expected, "{scheme} {more:?}");
        let left = metric(&result, "buffer.dirty_at_end");
        assert_eq!(left, Some(dirty), "{scheme} {more:?}");
    }
}

#[test]
fn going_on_changes_nothing_where_nothing_is_due() {
    let requests = rewrites();
    for scheme in ["lru", "bplru", "epo"] {
        let scheme = format!("buffer.kind={scheme}");
        let plain = simulate(&requests, &[&scheme]);
        let on = simulate(&requests, &[&scheme, "sim.run_out=true"]);
        assert_eq!(plain.metrics, on.metrics, "{scheme}");
    }
}

#[test]
fn the_oldest_of_the_dirty_ages_is_the_longest_time_a_page_stayed_dirty() {
    let requests = rewrites();
    let warmup = "sim.warmup_requests=1500";
    for scheme in ["lru", "bplru", "apu-lru-d", "bpac", "griffin", "infinite"] {
        for more in [
            &["sim.costing=event"][..],
            &["sim.costing=event", "sim.drain=true", warmup],
            &["sim.costing=op_count", warmup],
        ] {
            let scheme = format!("buffer.kind={scheme}");
            let pairs = [&[&*scheme], more].concat();
            let plain = simulate(&requests, &pairs);
            let aged = simulate(&requests, &[&pairs[..], &["sim.dirty_ages=true"]].concat());
            let age = |word| metric(&aged, &format!("buffer.dirty_age.{word}_ms"));
            let oldest = metric(&plain, "buffer.oldest_dirty_ms_max");
            assert!(oldest > Some(0.0) && age("max") == oldest, "{pairs:?}");
            let order = ["p50", "p95", "p99", "p999", "max"].map(age);
            assert!(order.is_sorted() && age("mean") < age("max"), "{order:?}");
            // All other metrics are the same as in the run without ages.
            let others = aged.metrics.iter();
            let others = others.filter(|(name, _)| !name.starts_with("buffer.dirty_age."));
            assert!(others.eq(plain.metrics.iter()), "{pairs:?}");
        }
    }
}

#[test]
fn without_a_clock_pages_grow_old_by_the_scaled_times_of_arrival() {
    let requests = rewrites();
    for clockless in ["sim.costing=op_count", "ftl.kind=none"] {
        let oldest = |scale: &str| {
            let pairs = ["buffer.kind=lru", clockless, scale, "sim.dirty_ages=true"];
            let result = simulate(&requests, &pairs);
            let age = metric(&result, "buffer.dirty_age.max_ms");
            let oldest = metric(&result, "buffer.oldest_dirty_ms_max");
            assert_eq!(age, oldest, "{clockless} {scale}");
            oldest.expect("an age")
        };
        let [plain, tenfold] = ["host.time_scale=1", "host.time_scale=10"].map(oldest);
        assert!(plain > 0.0);
        assert!((tenfold / plain - 10.0).abs() < 1e-6, "{plain} {tenfold}");
    }
}

#[test]
fn a_buffer_that_answers_when_pages_are_durable_takes_the_time_of_none() {
    let mut random = Random::new(3);
    let requests: Vec<_> = (0..4000)
        .map(|_| request(0, Operation::Write, random.below(300), 1))
        .collect();
    for depth in ["1", "8", "32"] {
        let depth = format!("host.queue_depth={depth}");
        let with = |more: &[&str]| {
            let pairs = [
                &depth,
                "flash.blocks_per_plane=1024",
                "host.replay=closed",
                "flash.transfer_ns_per_byte=3",
            ];
            let result = simulate(&requests, &[&pairs[..], more].concat());
            ["response.mean_ms", "response.p50_ms", "throughput.mb_per_s"]
                .map(|name| metric(&result, name).expect("a metric"))
        };
        let none = with(&["buffer.kind=nocache"]);
        let forced = with(&["buffer.kind=lru", "device.vwc=off"]);
        assert_eq!(none, forced, "{depth}");
    }
}

#[test]
fn a_single_page_is_dirty_until_its_program_ends() {
    let requests = [
        request(0, Operation::Write, 0, 1),
        request(5 * MILLISECOND, Operation::Write, 0, 1),
        request(8 * MILLISECOND, Operation::Flush, 0, 1),
        request(9 * MILLISECOND, Operation::Write, 1, 1),
        request(10 * MILLISECOND, Operation::Trim, 1, 1),
    ];
    let result = simulate(&requests, &["sim.dirty_ages=true"]);
    let age = |word| metric(&result, &format!("buffer.dirty_age.{word}_ms"));
    assert_eq!(
        (age("max"), age("mean")),
        (Some(8.2), Some((8.2 + 1.0) / 2.0))
    );
}

#[test]
fn thresholds_are_told_period_by_period() {
    let requests = rewrites();
    let pairs = ["buffer.kind=bpac", "buffer.bpac_period=500"];
    let whole = simulate(&requests, &pairs);
    let writes = metric(&whole, "host.page_writes").expect("writes");
    let learnt = |result: &RunResult| result.explained.as_ref().expect("asked for").scheme.clone();
    let of = |result: &RunResult, name: &str| learnt(result)[&format!("scheme.{name}")].clone();
    let ends: Vec<_> = (1..=writes as u64 / 500)
        .map(|period| Some((500 * period) as f64))
        .collect();
    assert!(ends.len() > 10);
    assert_eq!(of(&whole, "period_end"), ends);
    for name in ["pird_threshold", "bird_threshold"] {
        let series = of(&whole, name);
        let last = metric(&whole, &format!("scheme.{name}"));
        assert!(
            series.len() == ends.len() && series.last() == Some(&last),
            "{name}"
        );
        assert!(metric(&whole, &format!("scheme.{name}_cv")) > Some(0.0));
    }
    let shares = of(&whole, "alpha");
    let mean = shares.iter().flatten().sum::<f64>() / shares.len() as f64;
    assert_eq!(metric(&whole, "scheme.alpha"), Some(mean));

    // With a warm-up, the series does not contain the periods that end during the warm-up.
    let part = simulate(
        &requests,
        &[&pairs[..], &["sim.warmup_requests=2000"]].concat(),
    );
    let left = of(&part, "period_end");
    assert!(!left.is_empty() && left.len() < ends.len() && ends.ends_with(&left));

    let lru = simulate(&requests, &["buffer.kind=lru"]);
    assert!(learnt(&lru).is_empty());
}

/// After eight years, numbers of milliseconds in double precision are 30 ns apart. So the end of a read of 25 us is
/// rounded down, and the rest of its time is too short for the clock.
#[test]
fn a_clock_that_loses_the_waits_of_operations_is_refused() {
    let requests = [request(
        250_000_000_000 * MILLISECOND,
        Operation::Read,
        5,
        1,
    )];
    assert!(tried(&requests, &["flash.channels=1"]).is_ok());
    let pairs = ["flash.channels=1", "sim.clock=double_ms"];
    let Err(error) = tried(&requests, &pairs) else {
        panic!("the clock stood still, and the run ended");
    };
    let text = error.to_string();
    let expected = "sim.clock = double_ms: the clock stands still at \"250000000000.02";
    assert!(text.contains(expected), "{text}");
}
