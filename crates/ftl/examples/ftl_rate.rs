//! Measures how many pages per second a layer can write on one thread, without a device around it, and prints the
//! sums of its operations.
//!
//! `cargo run --release -p destage-ftl --example ftl_rate [page writes] [layers, streams and key=value settings]`
#![allow(clippy::print_stdout, reason = "a measurement is made to be read")]

use std::time::Instant;

use destage_base::parameter::Values;
use destage_base::{Lpn, Random};
use destage_ftl::{FTLS, Ftl, FtlConfig, FtlRow, PageWrite};
use destage_nand::operation::Tally;
use destage_nand::{Cause, Geometry, Operations, Timing};

/// Number of different pages that are written: 100 MiB.
const FOOTPRINT: u64 = 25_600;

/// The times of the die of the drive `bpac-slc`.
const TIMING: Timing = Timing {
    read: 250_000,
    program: 2_000_000,
    erase: 15_000_000,
    one_bit: [0; 2],
    page_transfer: 1_000_000,
    sector_transfer: 125_000,
};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let writes = match arguments.next() {
        Some(text) => text.parse().expect("a whole number"),
        None => 20_000_000,
    };
    let (settings, only): (Vec<String>, Vec<String>) =
        arguments.partition(|word| word.contains('='));
    let is_wanted = |names: &[&str], name: &str| {
        let asked = only.iter().filter(|word| names.contains(&word.as_str()));
        asked.clone().count() == 0 || asked.clone().any(|word| word == name)
    };
    let layers: Vec<&str> = FTLS.iter().map(|row| row.name).collect();
    let streams = [("zipf", zipf(writes)), ("untar", untar(writes))];
    println!(
        "{:12} {:7} {:>5} {:>7} {:>13} {:>8} {:>8} {:>9}",
        "layer", "stream", "N", "GiB", "M writes/s", "ns", "merges", "copies"
    );
    let rows = FTLS.iter().filter(|row| row.has_flash);
    for row in rows.filter(|row| is_wanted(&layers, row.name)) {
        for (stream, pages) in &streams {
            if !is_wanted(&["zipf", "untar"], stream) {
                continue;
            }
            for (pages_per_block, blocks) in [(64, 4096), (128, 2048), (64, 262_144)] {
                let mut ftl = build(row, &settings, pages_per_block, blocks);
                let start = Instant::now();
                let (tally, _) = run(&mut *ftl, pages);
                let seconds = start.elapsed().as_secs_f64();
                println!(
                    "{:12} {stream:7} {pages_per_block:5} {:7} {:13.1} {:8.1} {:8.4} {:9.3}",
                    row.name,
                    (u64::from(pages_per_block) * u64::from(blocks)) >> 18,
                    writes as f64 / seconds / 1e6,
                    seconds * 1e9 / writes as f64,
                    tally.merges.iter().sum::<u64>() as f64 / writes as f64,
                    tally.programs[Cause::Copy as usize] as f64 / writes as f64,
                );
            }
        }
    }
}

/// Builds the layer `row` on a filled device of one die.
fn build(row: &FtlRow, settings: &[String], pages_per_block: u32, blocks: u32) -> Box<dyn Ftl> {
    let mut values = Values::defaults(row.parameters);
    for (name, text) in settings.iter().filter_map(|word| word.split_once('=')) {
        if let Some(parameter) = row.parameters.iter().find(|row| row.name == name) {
            let value = parameter.read(text);
            let value = value.unwrap_or_else(|wanted| panic!("{name}: {wanted}"));
            values.set(parameter.name, value);
        }
    }
    let built = (row.build)(&FtlConfig {
        units_per_page: 1,
        program_unit: 1,
        program_passes: 1,
        bits_per_cell: 2,
        geometry: Geometry {
            dies: 1,
            planes: 1,
            blocks_per_plane: blocks,
            pages_per_block,
            summary_page: false,
            page_bytes: 4096,
        },
        erase_dates: TIMING,
        copy_back: false,
        parallel_units: 1,
        endurance: u32::MAX,
        retire: false,
        power_may_fail: false,
        filled: true,
        seed: 1,
        values: &values,
    });
    built.unwrap_or_else(|refusal| panic!("{refusal:?}"))
}

fn run(ftl: &mut dyn Ftl, pages: &[u32]) -> (Tally, u64) {
    let mut operations = Operations::default();
    let mut tally = Tally::default();
    let mut time = 0;
    for page in pages {
        let page = Lpn(u64::from(*page));
        let die = ftl.die_of(page);
        loop {
            operations.clear();
            let cleaned = ftl.collect_garbage(die, time, &mut operations);
            if !cleaned.expect("room") {
                break;
            }
            tally.add(&operations);
            time += TIMING.serial(operations.all());
        }
        operations.clear();
        let written = ftl.write(PageWrite::host(page), &mut operations);
        written.expect("room");
        tally.add(&operations);
        time += TIMING.serial(operations.all());
    }
    (tally, time)
}

/// Page writes whose popularity is proportional to 1 / rank (log-uniform rank). The ranks are scattered over the
/// footprint.
fn zipf(count: usize) -> Vec<u32> {
    let mut random = Random::new(2);
    let log = (FOOTPRINT as f64).ln();
    let rank = |random: &mut Random| ((random.unit() * log).exp() as u64).min(FOOTPRINT - 1);
    (0..count)
        .map(|_| (rank(&mut random).wrapping_mul(0x9E37_79B1) % FOOTPRINT) as u32)
        .collect()
}

/// Page writes as of unpacked files: files of 1 to 64 pages one after the other; between two files, one or two
/// pages of a small table are written again.
fn untar(count: usize) -> Vec<u32> {
    let mut random = Random::new(3);
    let mut pages = Vec::with_capacity(count + 66);
    let table = 256;
    let mut next = table;
    while pages.len() < count {
        for _ in 0..1 + random.below(64) {
            pages.push(next as u32);
            next = if next + 1 == FOOTPRINT {
                table
            } else {
                next + 1
            };
        }
        for _ in 0..1 + random.below(2) {
            pages.push(random.below(table) as u32);
        }
    }
    pages.truncate(count);
    pages
}
