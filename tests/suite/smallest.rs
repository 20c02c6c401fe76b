//! Tests that `destage size` finds the same answers on recorded traces as a grid of all schemes at 16 sizes, in a
//! fraction of the grid's processor time.
//!
//! `make sizes` tests ten traces with three goals each, `make test` one trace.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage::trace::Request;
use destage::{
    Answer, Combination, Effort, Goal, Grid, Input, Record, SIZED_SCHEMES, Settings, SizePlan,
    compare, size,
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
/// The number of traces that `make test` uses.
const FEW: usize = 1;
const SIZES: usize = 16;
/// The metrics of the goals. Each goal is the value that the best scheme has at the sixth size.
const METRICS: [&str; 3] = [
    "buffer.destaged_pages",
    "waf.bytes",
    "response.write.mean_ms",
];

/// Processor seconds that this process has used.
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

/// The processor seconds of two runs that `destage size` makes and the grid does not: the answer at twice the
/// load, and the answer on the second half of the trace. Together they cost one and a half runs.
fn sensitivity(requests: &[Request], answer: &Answer) -> f64 {
    let halves = [
        (Input::requests("twice the load", requests), "0.5"),
        (
            Input::requests("half", &requests[requests.len() / 2..]),
            "1",
        ),
    ];
    let before = seconds();
    for (input, scale) in halves {
        let mut settings = Settings::new();
        settings
            .set_pair(&format!("host.time_scale={scale}"))
            .unwrap();
        let grid = Grid::new(settings)
            .buffers([&answer.record.buffer])
            .sizes([answer.bytes.to_string()]);
        compare(&[input], &grid.combinations().unwrap(), &Effort::default()).unwrap();
    }
    seconds() - before
}

fn requests(input: &Input) -> Vec<Request> {
    let combination = Combination::new(&Settings::new()).unwrap();
    let mut source = input.open(&combination.config).unwrap();
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while source.fill(&mut batch).unwrap() {
        all.extend_from_slice(&batch);
    }
    all
}

/// The scheme that the grid finds for a goal, and the index of the buffer size.
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
    let mut of_metrics = [0.0; METRICS.len()];
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
        let requests = requests(&input);
        for (metric, of_metric) in METRICS.iter().zip(&mut of_metrics) {
            let at_sixth = runs
                .iter()
                .filter(|run| run.capacity().unwrap().to_string() == sizes[5]);
            let values = at_sixth.filter_map(|run| run.metric(metric).unwrap());
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
            let all_of_it = seconds() - before;
            let asked = answers.answers.first();
            let took = all_of_it - asked.map_or(0.0, |answer| sensitivity(&requests, answer));
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
            *of_metric += took;
            let mark = if is_same { ' ' } else { '!' };
            println!(
                "{mark} {trace} {goal}: {wanted:?} {found:?}, {} full runs, {} of them ended, and {} others: {:.1} % of the grid's {grid_s:.1} s, {:.1} % with twice the load and the second half",
                answers.spent.runs,
                answers.spent.ended,
                answers.spent.trials,
                100.0 * took / grid_s,
                100.0 * all_of_it / grid_s
            );
        }
    }
    println!(
        "{same} of {all} are the same, in {:.1} % of the time",
        100.0 * of_sizes / of_grids
    );
    for (metric, took) in METRICS.iter().zip(of_metrics) {
        let share = took * METRICS.len() as f64 / of_grids;
        println!("{metric}: {:.1} %", 100.0 * share);
    }
    assert_eq!(same, all, "of the answers are the same");
}
