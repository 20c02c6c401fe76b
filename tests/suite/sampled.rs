//! Sampled curves of recorded traces: how many direct runs lie inside the intervals.
//!
//! `make curves` takes every trace and every scheme of the papers at 20 sizes; `make test` a small part of that.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage::{CurvePlan, Effort, Grid, Input, Rate, SALTS, SIZED_SCHEMES, Sampling, Settings, compare, curve};
use destage_tests::outside;

struct Case {
    trace: &'static str,
    pages: u64,
    rate: f64,
    pairs: &'static [&'static str],
}

const fn case(trace: &'static str, pages: u64, rate: f64) -> Case {
    Case { trace, pages, rate, pairs: &[] }
}

const CASES: &[Case] = &[
    case("iozone-100k.disksim.zst", 271_320, 0.125),
    case("postmark-62k.disksim.zst", 1_532_457, 0.125),
    case("financial1-head10k.ssdsim.zst", 3_734, 0.5),
    case("msnfs-150k.disksim.zst", 43_513, 0.125),
    case("dtrs-127k.ssdsim.zst", 184_051, 0.125),
    case("cloudphysics-2h.csv.zst", 208_696, 0.125),
    case("tpcc-small.mqsim.zst", 7_879, 0.25),
    case("pc-sys1.diskmon.zst", 146_638, 0.125),
    case("pc-mayun.diskmon.zst", 38_568, 0.125),
    case("pc-mayun4.diskmon.zst", 54_070, 0.125),
    case("hplajw-1week.disksim.zst", 3_856, 0.5),
    case("sqlite-wal-update.wiscsee.zst", 2_170, 0.5),
    case("tencent-cbs-50k.csv.zst", 209_875, 0.125),
];

const METRICS: [&str; 3] = ["buffer.write_hits", "buffer.destaged_pages", "buffer.evictions"];
const FLASH: [&str; 3] = ["waf.host", "flash.erases", "flash.programs"];

fn covered(case: &Case, schemes: &[&str], count: u32, ftl: &str) -> (u32, u32) {
    let mut settings = Settings::new();
    settings.set_pair(&format!("ftl.kind={ftl}")).unwrap();
    settings.set_pair("sim.costing=op_count").unwrap();
    if ftl != "none" {
        settings.set_pair("flash.blocks_per_plane=16").unwrap();
        settings.set_pair("trace.addr_map=modulo").unwrap();
    }
    for pair in case.pairs { settings.set_pair(pair).unwrap(); }
    let input = Input::trace(outside(&format!("traces/{}", case.trace)));
    let least = (260.0 / case.rate) as u64;
    let most = case.pages.max(least + 20);
    let step = (most as f64 / least as f64).powf(1.0 / f64::from(count - 1));
    let sizes: Vec<String> = (0..count).map(|i| ((least as f64 * step.powi(i as i32)) as u64 * 4096).to_string()).collect();
    let plan = CurvePlan {
        settings: settings.clone(),
        buffers: Some(schemes.iter().map(|s| (*s).to_owned()).collect()),
        sizes: Some(sizes.clone()),
        sampling: Some(Sampling { rate: Rate::Share(case.rate), salts: SALTS }),
    };
    let started = std::time::Instant::now();
    let curves = match curve(&input, &plan, &Effort::default()) { Ok(c) => c, Err(e) => { println!("{} {e}", case.trace); return (0, 0); } };
    let took = started.elapsed().as_secs_f64();
    let started = std::time::Instant::now();
    let grid = Grid::new(settings).buffers(schemes.iter().copied()).sizes(sizes);
    let runs = compare(&[input], &grid.combinations().unwrap(), &Effort::default()).unwrap().runs;
    let direct = started.elapsed().as_secs_f64();
    let (mut inside, mut all) = (0, 0);
    for of in &curves.curves {
        let mut line = format!("{:32} {:10}", case.trace, of.buffer);
        for metric in if ftl == "none" { METRICS } else { FLASH } {
            let (mut ok, mut n, mut wide, mut bias, mut worst) = (0, 0, 0.0, 0.0, 0.0f64);
            for point in of.sampled().unwrap() {
                let size = point.record.capacity();
                let run = runs.iter().find(|run| run.buffer == of.buffer && run.capacity() == size).unwrap();
                let Some(truth) = run.metric(metric) else { continue };
                let [low, high] = point.ranges[metric].map(|n| n.as_f64());
                n += 1;
                if (low..=high).contains(&truth) { ok += 1; }
                let scale = if ftl == "none" { run.metric("host.page_writes").unwrap() } else { truth.max(1e-9) };
                wide += (high - low) / 2.0 / scale;
                let off = (point.record.metric(metric).unwrap() - truth) / scale;
                bias += off;
                if off.abs() > worst.abs() { worst = off; }
            }
            inside += ok; all += n;
            line += &format!(" | {} {ok:2}/{n:2} half {:.4} bias {:+.4} worst {:+.4}", &metric[metric.len()-6..], wide / f64::from(n.max(1)), bias / f64::from(n.max(1)), worst);
        }
        println!("{line}");
    }
    println!("{} {inside}/{all} sampled {took:.1}s direct {direct:.1}s", case.trace);
    (inside, all)
}

#[test]
fn experiment() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let ftl = std::env::var("FTL").unwrap_or("none".to_owned());
    let (mut inside, mut all) = (0, 0);
    for case in CASES.iter().filter(|case| only.is_empty() || only.split(',').any(|o| case.trace.contains(o))) {
        let (a, b) = covered(case, &SIZED_SCHEMES, 10, &ftl);
        inside += a; all += b;
    }
    println!("TOTAL {inside}/{all}");
}
