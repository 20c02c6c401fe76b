//! `destage size` on recorded traces: what it finds is what a grid of all schemes at 16 sizes finds, at a part of its cost.
//!
//! `make sizes` takes ten traces and three goals; `make test` one trace.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage::{
    Effort, Goal, Grid, Input, Record, SIZED_SCHEMES, Settings, SizePlan, compare, size,
};
use destage_tests::outside;

const TRACES: [&str; 10] = [
    "sqlite-wal-update.wiscsee.zst",
    "financial1-head10k.ssdsim.zst",
    "pc-mayun.diskmon.zst",
    "pc-mayun4.diskmon.zst",
    "pc-sys1.diskmon.zst",
    "hplajw-1week.disksim.zst",
    "tpcc-small.mqsim.zst",
    "msnfs-150k.disksim.zst",
    "dtrs-127k.ssdsim.zst",
    "cloudphysics-2h.csv.zst",
];
/// Of these, what `make test` takes.
const FEW: usize = 1;
const SIZES: usize = 16;
/// What goals are about. Each asks for what the best scheme has at the sixth size.
const METRICS: [&str; 3] = [
    "buffer.destaged_pages",
    "waf.bytes",
    "response.write.mean_ms",
];

/// Seconds of the processor that this process took.
fn seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split(' ');
    let ticks: f64 = fields
        .skip(12)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    ticks / 100.0
}

/// The scheme and the place of its size that the grid has for a goal.
fn of_grid(runs: &[Record], sizes: &[String], goal: &Goal) -> (String, usize) {
    let place = |run: &Record| {
        let capacity = run.capacity().unwrap().to_string();
        sizes.iter().position(|size| *size == capacity).unwrap()
    };
    let reaching = runs.iter().filter(|run| goal.is_met_by(run));
    let best = reaching.min_by(|a, b| {
        let by_goal = goal.rank(a).total_cmp(&goal.rank(b));
        place(a).cmp(&place(b)).then(by_goal)
    });
    let best = best.unwrap();
    (best.buffer.clone(), place(best))
}

#[test]
#[ignore = "needs recorded traces"]
fn a_size_is_that_of_the_grid() {
    let wanted = std::env::var("DESTAGE_SIZES")
        .ok()
        .and_then(|text| text.parse().ok());
    let traces = &TRACES[..wanted.unwrap_or(FEW).min(TRACES.len())];
    let (mut same, mut all) = (0, 0);
    let (mut of_grids, mut of_sizes) = (0.0, 0.0);
    for trace in traces {
        let input = Input::trace(outside(&format!("traces/{trace}")));
        let sizes: Vec<String> = (0..SIZES)
            .map(|step| ((64_u64 * 4096 * [2, 3][step % 2]) << (step / 2) >> 1).to_string())
            .collect();
        let grid = Grid::new(Settings::new())
            .buffers(SIZED_SCHEMES)
            .sizes(sizes.clone());
        let before = seconds();
        let runs = compare(
            std::slice::from_ref(&input),
            &grid.combinations().unwrap(),
            &Effort::default(),
        );
        let runs = runs.unwrap().runs;
        let grid_s = seconds() - before;
        for metric in METRICS {
            let at_sixth = runs
                .iter()
                .filter(|run| run.capacity().unwrap().to_string() == sizes[5]);
            let values = at_sixth.filter_map(|run| run.metric(metric));
            let best = values.min_by(f64::total_cmp).unwrap();
            let goal = Goal::read(&format!("{metric}<{}", best * 1.001)).unwrap();
            let wanted = of_grid(&runs, &sizes, &goal);
            let plan = SizePlan {
                settings: Settings::new(),
                buffers: SIZED_SCHEMES.map(str::to_owned).to_vec(),
                sizes: Some(sizes.clone()),
                goals: vec![goal.clone()],
            };
            let before = seconds();
            let answers = size(&input, &plan, &Effort::default()).unwrap();
            let took = seconds() - before;
            let found = answers.answers.first().map(|answer| {
                let size = answer.bytes.to_string();
                let place = sizes.iter().position(|other| *other == size).unwrap();
                (answer.record.buffer.clone(), place)
            });
            let is_same = found.as_ref().is_some_and(|(scheme, place)| {
                *scheme == wanted.0 && place.abs_diff(wanted.1) <= 1
            });
            same += u32::from(is_same);
            all += 1;
            of_grids += grid_s;
            of_sizes += took;
            println!(
                "{trace} {goal}: {wanted:?} {found:?}, {} full runs and {} others, {:.1} % of the grid's {grid_s:.1} s",
                answers.runs,
                answers.trials,
                100.0 * took / grid_s
            );
        }
    }
    println!(
        "{same} of {all} are the same, in {:.1} % of the time",
        100.0 * of_sizes / of_grids
    );
    assert!(10 * same >= 9 * all, "{same} of {all}");
}
