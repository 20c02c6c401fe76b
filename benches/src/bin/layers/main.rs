//! The study of translation layers: three workloads over every layer with three schemes, as a table and a chart.
//!
//! `layers CHART.svg`; `make study` calls it. Results are those of `destage compare`, and the same on any machine.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program whose results are what it prints"
)]

mod chart;

use destage::sim::metrics::rows;
use std::path::Path;
use std::process::ExitCode;

use destage_benches::{Outcome, compare, metric};

/// Title and workload.
const WORKLOADS: [(&str, &str); 3] = [
    ("untar", "standin-untar-ext3"),
    (
        "skewed",
        "zipf:requests=400000,footprint_pages=131072,write_percent=100",
    ),
    (
        "uniform",
        "uniform:requests=200000,footprint_pages=131072,write_percent=100",
    ),
];
const SCHEMES: [&str; 3] = ["lru", "bplru", "epo"];
/// Layers, each with as many log or spare blocks as the others, where it has any.
const LAYERS: [&str; 11] = [
    "block",
    "hybrid",
    "replacement:log_blocks=16",
    "bast:log_blocks=16",
    "fast:log_blocks=16",
    "sast:log_blocks=16",
    "last:log_blocks=16",
    "superblock:log_blocks=16",
    "page",
    "dftl",
    "hat",
];
/// 1 GiB in 8 dies of 512 blocks of 64 pages of 4 KiB; costs by operation counts.
const DEVICE: [&str; 8] = [
    "flash.dies=8",
    "flash.planes_per_die=1",
    "flash.blocks_per_plane=512",
    "flash.pages_per_block=64",
    "flash.copy_back=false",
    "sim.costing=op_count",
    "sim.drain=true",
    "trace.addr_map=modulo",
];
const SIZE: &str = "4MiB";

/// What one run is judged by.
#[derive(Clone, Copy)]
pub struct Cell {
    /// Host megabytes per second of flash time.
    pub throughput: f64,
    /// Flash programs per page the host wrote.
    pub amplification: f64,
    /// Erases.
    pub erases: u64,
}

/// Cells by workload, layer and scheme.
pub type Grid = Vec<Vec<Vec<Cell>>>;

/// The word a layer is called by, without its settings.
pub fn name(layer: &str) -> &str {
    layer.split(':').next().unwrap_or(layer)
}

/// Cells of one workload by layer and scheme.
fn cells(workload: &str) -> Outcome<Vec<Vec<Cell>>> {
    let runs = compare(workload, None, &DEVICE.map(str::to_owned), |grid| {
        grid.buffers(SCHEMES).sizes([SIZE]).ftls(LAYERS)
    })?;
    let cell = |layer: &str, scheme: &str| -> Outcome<Cell> {
        let run = runs
            .iter()
            .find(|run| run.ftl == layer && run.buffer == scheme)
            .ok_or_else(|| format!("no run of {scheme} over {layer}"))?;
        Ok(Cell {
            throughput: metric(run, rows::THROUGHPUT_OP_MODEL_MB_PER_S.name)?,
            amplification: metric(run, rows::WAF_HOST.name)?,
            erases: metric(run, rows::FLASH_ERASES.name)? as u64,
        })
    };
    LAYERS
        .iter()
        .map(|layer| SCHEMES.iter().map(|scheme| cell(layer, scheme)).collect())
        .collect()
}

fn print(grid: &Grid) {
    let mut header = String::from("| layer |");
    for (title, _) in WORKLOADS {
        for scheme in SCHEMES {
            header += &format!(" {title} {scheme} |");
        }
    }
    println!("{header}\n|---|{}", "--:|".repeat(9));
    for (row, layer) in LAYERS.iter().enumerate() {
        let mut line = format!("| {} |", name(layer));
        for of_workload in grid {
            let cells = &of_workload[row];
            let best = cells.iter().map(|cell| cell.throughput).fold(0.0, f64::max);
            for cell in cells {
                let mark = if cell.throughput == best { "**" } else { "" };
                line += &format!(
                    " {mark}{:.2}{mark} ({:.2}) |",
                    cell.throughput, cell.amplification
                );
            }
        }
        println!("{line}");
    }
    println!("\nErases, in thousands:\n");
    println!("{header}\n|---|{}", "--:|".repeat(9));
    for (row, layer) in LAYERS.iter().enumerate() {
        let cells = grid.iter().flat_map(|of_workload| &of_workload[row]);
        let erases: String = cells
            .map(|cell| format!(" {:.1} |", cell.erases as f64 / 1e3))
            .collect();
        println!("| {} |{erases}", name(layer));
    }
}

fn study(chart: &Path) -> Outcome<()> {
    let grid: Grid = WORKLOADS
        .iter()
        .map(|(_, workload)| cells(workload))
        .collect::<Outcome<_>>()?;
    print(&grid);
    let titles = WORKLOADS.map(|(title, _)| title);
    chart::draw(chart, &titles, &LAYERS.map(name), &SCHEMES, &grid)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [chart] = &arguments[..] else {
        eprintln!("usage: layers CHART.svg");
        return ExitCode::from(2);
    };
    match study(Path::new(chart)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("layers: {error}");
            ExitCode::FAILURE
        }
    }
}
