//! throwaway
use destage::*;
use std::time::Instant;
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
const METRICS: [&str; 8] = [
    "buffer.destaged_pages",
    "waf.bytes",
    "response.write.mean_ms",
    "buffer.pad_reads",
    "buffer.pad_fills",
    "host.page_writes",
    "host.bytes_written",
    "response.write.p99_ms",
];
fn main() {
    let args: Vec<usize> = std::env::args()
        .skip(1)
        .map(|a| a.parse().unwrap())
        .collect();
    for t in args {
        let path = format!("/work/shared/traces/{}", TRACES[t]);
        let input = Input::trace(&path);
        let base = Grid::new(Settings::new());
        let first = base.combinations().unwrap().remove(0);
        let started = Instant::now();
        let mut source = input.open(&first.config).unwrap();
        let (mut all, mut batch) = (Vec::new(), Vec::new());
        while source.fill(&mut batch).unwrap() {
            all.extend_from_slice(&batch);
        }
        println!("{t} decode - 0 {:.6}", started.elapsed().as_secs_f64());
        let n = all.len();
        let windows = |count: usize, part: usize| {
            let mut out = Vec::new();
            for w in 0..count {
                let at = w * n / count;
                out.extend_from_slice(&all[at..(at + n / part / count).min(n)]);
            }
            out
        };
        let sizes: Vec<String> = (0..16)
            .map(|step: usize| ((64_u64 * 4096 * [2, 3][step % 2]) << (step / 2) >> 1).to_string())
            .collect();
        let make = |pairs: &[&str]| {
            let mut s = Settings::new();
            for p in pairs {
                s.set_pair(p).unwrap();
            }
            Grid::new(s)
                .buffers(SIZED_SCHEMES)
                .sizes(sizes.clone())
                .combinations()
                .unwrap()
        };
        let timed = make(&[]);
        let full = Input::requests("full", all.clone());
        // blocks of the full input
        let run1 = compare(
            std::slice::from_ref(&full),
            &timed[..1],
            &Effort {
                threads: 1,
                ..Effort::default()
            },
        )
        .unwrap();
        let blocks = run1.runs[0].whole("flash.blocks_per_plane").unwrap();
        let fixed = make(&[&format!("flash.blocks_per_plane={blocks}")]);
        let modes: Vec<(&str, Input, Vec<Combination>)> = vec![
            ("full", full.clone(), fixed.clone()),
            ("buffer", full.clone(), make(&["ftl.kind=none"])),
            (
                "count",
                full.clone(),
                make(&[
                    &format!("flash.blocks_per_plane={blocks}"),
                    "sim.costing=op_count",
                ]),
            ),
            (
                "prefix16",
                Input::requests("p", all[..n / 16].to_vec()),
                fixed.clone(),
            ),
            ("win8", Input::requests("w8", windows(8, 16)), fixed.clone()),
            (
                "win32",
                Input::requests("w32", windows(32, 16)),
                fixed.clone(),
            ),
            (
                "win8_32",
                Input::requests("w8b", windows(8, 32)),
                fixed.clone(),
            ),
            (
                "bufwin8",
                Input::requests("w8", windows(8, 16)),
                make(&["ftl.kind=none"]),
            ),
        ];
        for (mode, input, combos) in modes {
            for combo in &combos {
                let began = Instant::now();
                let run = compare(
                    std::slice::from_ref(&input),
                    std::slice::from_ref(combo),
                    &Effort {
                        threads: 1,
                        ..Effort::default()
                    },
                )
                .unwrap()
                .runs
                .remove(0);
                let took = began.elapsed().as_secs_f64();
                let place = sizes
                    .iter()
                    .position(|s| *s == combo.config.typed.buffer.capacity_bytes.to_string())
                    .unwrap();
                let values: Vec<String> = METRICS
                    .iter()
                    .map(|m| run.metric(m).map_or("-".to_owned(), |v| v.to_string()))
                    .collect();
                println!(
                    "{t} {mode} {} {place} {took:.6} {}",
                    run.buffer,
                    values.join(" ")
                );
            }
        }
    }
}
