//! Tests of sampled curves. The values of full-size runs lie inside the confidence intervals. Metrics and schemes
//! that cannot be sampled give an error.

#![allow(
    clippy::print_stdout,
    reason = "what lies outside is shown where a test fails"
)]
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::io::Write;

use destage::trace::{Operation, Request};
use destage::{
    CurvePlan, Curves, Effort, Grid, Input, Rate, Reading, SALTS, Sampling, Settings, check_metric,
    compare, curve,
};

fn settings(pairs: &[&str]) -> Settings {
    let mut settings = Settings::new();
    for pair in pairs {
        settings.set_pair(pair).unwrap();
    }
    settings
}

fn workload() -> Input {
    let text =
        "zipf:requests=40000,footprint_pages=16000,cluster_pages=8,max_pages=8,write_percent=80";
    Input::workload(text, &[]).unwrap()
}

fn plan(buffers: &[&str], sizes: Option<&[&str]>, pairs: &[&str], rate: Rate) -> CurvePlan {
    let owned = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
    CurvePlan {
        settings: settings(pairs),
        buffers: Some(owned(buffers)),
        sizes: sizes.map(owned),
        sampling: Some(Sampling { rate, salts: SALTS }),
    }
}

fn sampled(input: &Input, plan: &CurvePlan) -> Curves {
    curve(input, plan, &Effort::default()).unwrap()
}

fn refusal(plan: &CurvePlan) -> String {
    match curve(&workload(), plan, &Effort::default()) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("no refusal"),
    }
}

/// Compares the sampled curves of `plan` with full-size runs. Returns the number of values of runs, over all
/// `metrics`, that lie inside the confidence intervals, and the number of all values.
fn covered(plan: &CurvePlan, input: &Input, metrics: &[&str]) -> (u32, u32) {
    let curves = sampled(input, plan);
    let grid = Grid::new(plan.settings.clone()).buffers(plan.buffers.clone().unwrap());
    let grid = grid.sizes(plan.sizes.clone().unwrap());
    let combinations = grid.combinations().unwrap();
    let runs = compare(
        std::slice::from_ref(input),
        &combinations,
        &Effort::default(),
    );
    let runs = runs.unwrap().runs;
    let (mut inside, mut all) = (0, 0);
    for of in &curves.curves {
        for point in of.sampled().unwrap() {
            let same = |run: &&destage::Record| {
                run.buffer == of.buffer && run.capacity() == point.record.capacity()
            };
            let run = runs.iter().find(same).unwrap();
            for metric in metrics {
                let [low, high] = point.ranges[*metric].map(destage::Number::as_f64);
                let truth = run.metric(metric).unwrap().unwrap();
                if !(low..=high).contains(&truth) {
                    let estimate = point.record.metric(metric).unwrap().unwrap();
                    println!(
                        "{} {metric}: {truth} is not within {low} to {high}, about {estimate}",
                        of.buffer
                    );
                }
                inside += u32::from((low..=high).contains(&truth));
                all += 1;
            }
            let of_host = |record: &destage::Record| record.metric("host.bytes_written").unwrap();
            assert_eq!(of_host(&point.record), of_host(run));
        }
    }
    (inside, all)
}

const SIZES: &[&str] = &["16MiB", "24MiB", "32MiB", "48MiB"];

#[test]
fn runs_lie_inside_the_intervals() {
    let buffers = ["lru", "fab", "bplru", "epo"];
    let pairs = [
        "ftl.kind=none",
        "trace.flush_every_writes=9000",
        "trace.trim_every_writes=40",
    ];
    let plan = plan(&buffers, Some(SIZES), &pairs, Rate::Share(0.125));
    let metrics = [
        "buffer.write_hits",
        "buffer.destaged_pages",
        "buffer.evictions",
        "buffer.mean_destage_pages",
    ];
    let (inside, all) = covered(&plan, &workload(), &metrics);
    assert_eq!(all, 64);
    assert!(inside >= 58, "{inside} of {all}");
}

#[test]
fn write_amplification_and_erases_lie_inside_the_intervals() {
    let small = [
        "flash.dies=2",
        "flash.planes_per_die=4",
        "flash.blocks_per_plane=40",
        "sim.costing=op_count",
    ];
    let layers: [&[&str]; 2] = [&["ftl.kind=page"], &["ftl.kind=bast", "ftl.log_blocks=8"]];
    for ftl in layers {
        let pairs: Vec<&str> = small.iter().chain(ftl).copied().collect();
        let plan = plan(&["lru", "bplru"], Some(SIZES), &pairs, Rate::Share(0.25));
        let metrics = ["waf.bytes", "waf.host", "flash.erases", "flash.programs"];
        let (inside, all) = covered(&plan, &workload(), &metrics);
        assert_eq!(all, 32);
        assert!(inside >= 28, "{ftl:?}: {inside} of {all}");
    }
}

/// With skewed writes, the number of misses in a sample hardly depends on whether the sample contains the hottest
/// page. With writes that seldom hit, the number of misses in a sample is proportional to its number of pages.
#[test]
fn few_samples_tell_hits_of_skewed_writes_and_of_writes_that_hardly_hit() {
    few_samples_tell(
        "zipf:requests=300000,footprint_pages=100000,skew=1.2",
        300_000.0,
        2500,
        0.03,
    );
    few_samples_tell(
        "uniform:requests=150000,footprint_pages=300000",
        150_000.0,
        10_000,
        0.02,
    );
}

/// Compares estimates with exact values for page-level LRU at ten sizes, each `step` pages larger than the size
/// before. One to eight samples are tried, each with twelve seeds. The error of every estimate has to be below the
/// fraction `error` of all `writes`. Nine of ten confidence intervals have to contain the exact value.
fn few_samples_tell(workload: &str, writes: f64, step: u64, error: f64) {
    let input = Input::workload(workload, &[]).unwrap();
    let sizes: Vec<String> = (1..=10)
        .map(|size| (size * step * 4096).to_string())
        .collect();
    let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
    // The seed determines the writes as well as the samples.
    let seeds = (1..=12).map(|seed| format!("sim.seed={seed}"));
    let exact = seeds.map(|seed| {
        let mut plan = plan(&["lru"], Some(&sizes), &[&seed], Rate::Share(1.0));
        plan.sampling = None;
        let exact = sampled(&input, &plan);
        (seed, exact)
    });
    let exact: Vec<(String, Curves)> = exact.collect();
    for &salts in destage_sample::sampled(&[1, 4][..], &[1, 2, 3, 4, 8]) {
        let (mut inside, mut intervals) = (0, 0);
        for (seed, exact) in &exact {
            let mut plan = plan(&["lru"], Some(&sizes), &[seed], Rate::Share(0.05));
            plan.sampling = Some(Sampling {
                rate: Rate::Share(0.05),
                salts,
            });
            let curves = sampled(&input, &plan);
            for point in curves.curves[0].sampled().unwrap() {
                let of =
                    |record: &destage::Record| record.metric("buffer.write_hits").unwrap().unwrap();
                let truth = of(&exact.curves[0]
                    .at(point.record.capacity().unwrap())
                    .unwrap());
                let off = (of(&point.record) - truth).abs() / writes;
                assert!(
                    off < error,
                    "{workload}: {salts} samples, {seed}: off by {off}"
                );
                if let Some(range) = point.ranges.get("buffer.write_hits") {
                    let [low, high] = range.map(destage::Number::as_f64);
                    inside += u32::from((low..=high).contains(&truth));
                    intervals += 1;
                }
            }
        }
        println!("{workload}: {salts} samples: {inside} of {intervals}");
        assert_eq!(intervals, if salts == 1 { 0 } else { 120 });
        assert!(
            10 * inside >= 9 * intervals,
            "{workload}: {salts} samples: {inside}"
        );
    }
}

/// Samples use the virtual time of the whole input. The distance between two writes, in page writes, is therefore the
/// same in a sample as in the input.
#[test]
fn schemes_on_samples_live_in_the_virtual_time_of_the_input() {
    let input = workload();
    let scheme = "bpac:bpac_adapts=false,bpac_bird_thd=500,bpac_pird_thd=500";
    for seed in ["sim.seed=1", "sim.seed=2", "sim.seed=3"] {
        let mut exact = plan(&[scheme], Some(SIZES), &[seed], Rate::Share(1.0));
        exact.sampling = None;
        let exact = sampled(&input, &exact);
        let curves = sampled(
            &input,
            &plan(&[scheme], Some(SIZES), &[seed], Rate::Share(0.125)),
        );
        for point in curves.curves[0].sampled().unwrap() {
            let of =
                |record: &destage::Record| record.metric("buffer.write_hits").unwrap().unwrap();
            let truth = of(&exact.curves[0]
                .at(point.record.capacity().unwrap())
                .unwrap());
            let writes = point.record.metric("host.page_writes").unwrap().unwrap();
            let off = (of(&point.record) - truth).abs() / writes;
            assert!(off < 0.02, "{seed}: off by {off}");
        }
    }
}

/// A buffer that holds all written pages evicts nothing. About half of the samples have slightly more pages than the
/// average sample. Their smaller buffers must not evict because of these additional pages.
#[test]
fn what_holds_everything_lies_inside_the_intervals() {
    let input = workload();
    let mut exact = plan(&["lru"], None, &["ftl.kind=none"], Rate::Share(1.0));
    exact.sampling = None;
    let everything = sampled(&input, &exact).sizes.pop().unwrap().to_string();
    let mut zero = 0;
    for seed in ["sim.seed=1", "sim.seed=2", "sim.seed=3", "sim.seed=4"] {
        let pairs = ["ftl.kind=none", seed];
        let sizes = ["24MiB", &everything];
        let plan = plan(
            &["lru", "fab", "bpac"],
            Some(&sizes),
            &pairs,
            Rate::Share(0.125),
        );
        let metrics = [
            "buffer.evictions",
            "buffer.destaged_pages",
            "buffer.write_hits",
        ];
        let curves = sampled(&input, &plan);
        let (inside, all) = covered(&plan, &input, &metrics);
        assert_eq!((inside, all), (18, 18), "{seed}");
        for of in &curves.curves {
            let last = of.sampled().unwrap().last().unwrap();
            zero += u32::from(last.record.metric("buffer.evictions").unwrap() == Some(0.0));
        }
    }
    assert!(zero >= 6, "{zero} of 12");
}

/// A single sample that has all blocks is the whole input. It gives exact values and no confidence intervals.
#[test]
fn a_sample_of_everything_is_exact() {
    let buffers = ["lru", "fab", "bplru", "nocache"];
    let mut plan = plan(&buffers, Some(SIZES), &[], Rate::Share(1.0));
    plan.sampling = Some(Sampling {
        rate: Rate::Share(1.0),
        salts: 1,
    });
    let estimated = sampled(&workload(), &plan);
    plan.sampling = None;
    let exact = sampled(&workload(), &plan);
    for (one, other) in estimated.curves.iter().zip(&exact.curves) {
        let mut compared = 0;
        for point in one.sampled().unwrap() {
            assert!(point.ranges.is_empty());
            let truth = match point.record.capacity() {
                Some(bytes) => other.at(bytes).unwrap(),
                None => other.points().next().unwrap(),
            };
            for (name, number) in point.record.metrics.iter() {
                assert_eq!(
                    truth.metrics.get(name),
                    Some(number),
                    "{} {name}",
                    one.buffer
                );
                compared += 1;
            }
        }
        assert!(compared > 5, "{}", one.buffer);
    }
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let points = |threads: usize, seed: &str| {
        let pairs = ["ftl.kind=none", seed];
        let plan = plan(&["lru", "clc"], Some(SIZES), &pairs, Rate::Share(0.125));
        let effort = Effort {
            threads,
            ..Effort::default()
        };
        let write = |page: u64| Request {
            sector: page * 8,
            sectors: 8,
            operation: Operation::Write,
            ..Request::BLANK
        };
        let pages = (0..60_000_u64).map(|number| number * number % 14_983);
        let input = Input::requests("writes", pages.map(write).collect::<Vec<_>>());
        let curves = curve(&input, &plan, &effort).unwrap();
        let json: serde_json::Value = serde_json::from_str(&curves.to_json()).unwrap();
        json["curves"].to_string()
    };
    let one = points(1, "sim.seed=1");
    assert_eq!(one, points(3, "sim.seed=1"));
    assert_ne!(one, points(1, "sim.seed=2"));
}

#[test]
fn the_rate_follows_from_the_error() {
    let of = |percent: f64| {
        let rate = Rate::Error {
            percent,
            metric: "buffer.destaged_pages".to_owned(),
        };
        let curves = sampled(&workload(), &plan(&["lru"], Some(SIZES), &[], rate));
        curves.sampled.unwrap()
    };
    let (rough, fine, never) = (of(30.0), of(6.0), of(0.0001));
    assert!(
        rough.is_met() && fine.is_met() && rough.rate <= fine.rate,
        "{rough:?} {fine:?}"
    );
    assert!(!never.is_met(), "{never:?}");
    let words = never.to_string();
    assert!(words.contains("and not"), "{words}");
}

#[test]
fn json_and_rows_have_the_intervals() {
    let plan = plan(&["fab"], Some(SIZES), &[], Rate::Share(0.125));
    let curves = sampled(&workload(), &plan);
    let json: serde_json::Value = serde_json::from_str(&curves.to_json()).unwrap();
    assert_eq!(json["sampled"]["salts"], 8);
    let of = &json["curves"][0];
    assert_eq!(of["exact"], false);
    let hits = &of["points"][1]["buffer.write_hits"];
    let [low, estimate, high] =
        ["low", "estimate", "high"].map(|name| hits[name].as_u64().unwrap());
    assert!(low < estimate && estimate < high, "{hits}");
    let row = &curves.rows()[1];
    assert_eq!(
        row.metric("buffer.write_hits.low").unwrap(),
        Some(low as f64)
    );
    assert!(of["points"][1].get("buffer.oldest_dirty_ms_max").is_none());
}

#[test]
fn sizes_follow_from_the_samples() {
    let plan = plan(&["lru", "fab"], None, &[], Rate::Share(0.125));
    let curves = sampled(&workload(), &plan);
    let largest = *curves.sizes.last().unwrap() / 4096;
    assert!((9_000..17_000).contains(&largest), "{largest}");
    let counts: Vec<usize> = curves.curves.iter().map(|of| of.points().count()).collect();
    assert!(counts[0] > counts[1] && counts[1] >= 2, "{counts:?}");
}

#[test]
fn what_cannot_be_sampled_is_refused() {
    let share = Rate::Share(0.125);
    for (buffers, pairs, text) in [
        ("belady", &[][..], "needs the coming writes"),
        ("wb", &[], "selects the lines for a page by its number"),
        ("simplessd", &[], "expected other schemes, or no sample"),
        (
            "lru",
            &["buffer.bypass_pages=4"],
            "buffer.bypass_pages counts pages of whole requests",
        ),
        ("lru", &["sim.warmup_requests=4"], "sim.warmup_requests"),
        (
            "fab",
            &["ftl.kind=fast", "ftl.log_blocks=2", "flash.dies=1"],
            "expected a larger rate",
        ),
        (
            "fab",
            &["ftl.kind=last", "ftl.log_blocks=4", "flash.dies=2"],
            "would be 1.01 log blocks, and not at least 2",
        ),
        (
            "lru",
            &["ftl.kind=last", "flash.program_unit=2"],
            "the layer does not fill the pages of a block in order",
        ),
        (
            "lru",
            &[
                "ftl.kind=striped",
                "flash.planes_per_die=1",
                "flash.pages_per_block=2",
                "flash.program_unit=2",
                "flash.summary_page=true",
            ],
            "the layer counts whole units",
        ),
    ] {
        let error = refusal(&plan(&[buffers], Some(SIZES), pairs, share.clone()));
        assert!(error.contains(text), "{error}");
    }
    let error = refusal(&plan(&["fab"], Some(&["1MiB"]), &[], Rate::Share(0.01)));
    assert!(error.contains("fewer than 8 blocks"), "{error}");
    let few = plan(&["lru"], Some(&["64KiB"]), &[], Rate::Share(0.01));
    let error = refusal(&few);
    assert!(error.contains("16 pages"), "{error}");
    assert!(refusal(&plan(&["fab"], None, &[], Rate::Share(2.0))).contains("sample 2"));
    let mut none = plan(&["fab"], None, &[], share);
    none.sampling.as_mut().unwrap().salts = 0;
    assert!(refusal(&none).contains("salts 0"));
    let error = check_metric("response.mean_ms").unwrap_err().to_string();
    assert!(error.contains("cannot be sampled"), "{error}");
    assert!(check_metric("waf.bytes").is_ok());
}

/// A user who gives a limit on the error has given no sampling rate.
#[test]
fn a_refusal_of_the_largest_rate_names_the_error() {
    let error = |pairs: &[&str]| {
        let rate = Rate::Error {
            percent: 20.0,
            metric: "buffer.destaged_pages".to_owned(),
        };
        refusal(&plan(&["lru"], Some(&["64KiB"]), pairs, rate))
    };
    let text = error(&["ftl.kind=page"]);
    assert!(
        text.contains("error 20: with the largest samples, 12.5 %"),
        "{text}"
    );
    assert!(text.contains("neither an error nor a sample"), "{text}");
    let text = error(&["sim.warmup_requests=4"]);
    assert!(text.contains("error: sim.warmup_requests"), "{text}");
    assert!(text.ends_with("or no error"), "{text}");
}

/// The counts of garbage collection depend on the over-provisioning, which a sample of all blocks does not change. The
/// blocks have other numbers in the sample, so the counts differ a little.
#[test]
fn a_sample_of_everything_has_the_over_provisioning_of_the_device() {
    let text = "uniform:requests=20000,footprint_pages=5500,mean_interarrival_ms=10";
    let input = Input::workload(text, &[]).unwrap();
    let device = [
        "ftl.kind=page",
        "ftl.reserve_percent=25",
        "flash.dies=2",
        "flash.planes_per_die=2",
        "flash.blocks_per_plane=64",
        "flash.pages_per_block=32",
        "sim.costing=op_count",
    ];
    let mut plan = plan(&["lru"], Some(&["1MiB"]), &device, Rate::Share(1.0));
    let estimated = sampled(&input, &plan);
    plan.sampling = None;
    let exact = sampled(&input, &plan);
    let of = |curves: &Curves| {
        let point = curves.curves[0].points().next().unwrap();
        point.metric("waf.host").unwrap().unwrap()
    };
    let (estimated, exact) = (of(&estimated), of(&exact));
    let off = (estimated / exact - 1.0).abs();
    assert!(off < 0.03, "{estimated} instead of {exact}");
}

/// A reader that skips records without sampled pages still counts these records as requests of the host.
#[test]
fn a_file_that_is_sifted_gives_what_its_requests_give() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut requests = Vec::new();
    for number in 0..50_000_u64 {
        let page = number * number % 7919;
        // Some requests are longer than a page.
        let bytes = if number % 50 == 0 { 9000 } else { 4096 };
        let time = (1000 + number / 100) as u32;
        file.write_all(&time.to_le_bytes()).unwrap();
        file.write_all(&page.to_le_bytes()).unwrap();
        file.write_all(&u32::to_le_bytes(bytes)).unwrap();
        file.write_all(&(-1_i64).to_le_bytes()).unwrap();
        requests.push(Request {
            arrival: u64::from(time - 1000) * 10_000_000_000,
            sector: page * 8,
            sectors: bytes.div_ceil(512),
            line: number as u32 + 1,
            operation: Operation::Write,
            ..Request::BLANK
        });
    }
    file.flush().unwrap();
    let reading = Reading {
        format: Some("oraclegeneral".to_owned()),
        ..Reading::default()
    };
    let from_file = Input::trace(file.path()).read(reading).unwrap();
    let pairs = ["trace.block_bytes=4096", "trace.missing_op=write"];
    let plan = plan(&["lru"], Some(&["1MiB..16MiB"]), &pairs, Rate::Share(0.1));
    let from_memory = Input::requests("requests", requests);
    let [one, other] = [&from_file, &from_memory].map(|input| sampled(input, &plan));
    let [one, other] = [one, other].map(|curves| {
        let json: serde_json::Value = serde_json::from_str(&curves.to_json()).unwrap();
        json["curves"].clone()
    });
    assert_eq!(one, other);
    assert_eq!(one[0]["host"]["host.requests"], 50_000);
    // A bad record at the end of the file is still found.
    file.write_all(&[0; 24]).unwrap();
    file.flush().unwrap();
    let error = match curve(&from_file, &plan, &Effort::default()) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("no error"),
    };
    assert!(error.contains("1200000"), "{error}");
}
