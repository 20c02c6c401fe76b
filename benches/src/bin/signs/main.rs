//! Signs of the BPLRU paper on the stand-ins: what it claims of W1 to W9, beside what the stand-ins give.
//!
//! `make signs` calls it. Every number is one of `destage compare`, and the same on any machine.
//!
//! A stand-in is not the original: compare signs. Each figure is the gain of one scheme over another, with three seeds
//! and with some settings changed, one at a time. Runs are drained, so that what a scheme has put off is paid for. Pairs
//! of throughput and erases beside it are those without draining, and with `seq_detect=complete`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program whose results are what it prints"
)]

mod claims;

use destage::sim::metrics::rows;
use std::process::ExitCode;

use claims::{At, CLAIMS, Claim, FLUSH_EVERY, MEAN_DESTAGE, Sign};
use destage::Record;
use destage_benches::{Outcome, compare, metric};

const SEEDS: [u64; 3] = [1, 2, 3];
/// The scheme of the paper.
const SCHEME: &str = "bplru";
/// The other reading of "written fully sequentially": complete, in whatever order.
const COMPLETE: &str = "bplru:seq_detect=complete";

/// One run's figures.
#[derive(Clone, Copy)]
struct Figures {
    /// Host megabytes per second of flash time.
    throughput: f64,
    erases: f64,
    /// Dirty pages in a destage, of a scheme that has destages.
    destage_pages: Option<f64>,
}

/// Gains over the other scheme, as parts of it.
#[derive(Clone, Copy)]
struct Gain {
    throughput: f64,
    erases: f64,
}

impl Gain {
    fn new(scheme: Figures, against: Figures) -> Self {
        Self {
            throughput: scheme.throughput / against.throughput - 1.0,
            erases: scheme.erases / against.erases - 1.0,
        }
    }

    fn holds(self, at: &At) -> bool {
        let has = |sign, gain: f64| match sign {
            Sign::More => gain > 0.0,
            Sign::Less => gain < 0.0,
            Sign::Open => true,
        };
        has(at.throughput, self.throughput) && has(at.erases, self.erases)
    }
}

/// A workload, and under what it runs.
struct Setting<'a> {
    workload: &'a str,
    seed: u64,
    drain: bool,
    more: Option<String>,
}

/// Runs `buffers` with the sizes, in MiB; results by size and buffer.
fn measure(setting: &Setting<'_>, buffers: &[&str], sizes: &[u64]) -> Outcome<Vec<Vec<Figures>>> {
    let mut pairs = vec![
        format!("sim.seed={}", setting.seed),
        format!("sim.drain={}", setting.drain),
    ];
    pairs.extend(setting.more.clone());
    let in_mib = sizes.iter().map(|size| format!("{size}MiB"));
    let listed = buffers.iter().copied();
    let runs = compare(setting.workload, Some("bplru-mlc"), &pairs, |grid| {
        grid.buffers(listed).sizes(in_mib)
    })?;
    let figures = |size: u64, buffer: &str| -> Outcome<Figures> {
        let run = run_of(&runs, size, buffer)
            .ok_or_else(|| format!("no run of {buffer} with {size} MiB"))?;
        Ok(Figures {
            throughput: metric(run, rows::THROUGHPUT_OP_MODEL_MB_PER_S.name)?,
            erases: metric(run, rows::FLASH_ERASES.name)?,
            destage_pages: run.metric(rows::BUFFER_MEAN_DESTAGE_PAGES.name),
        })
    };
    sizes
        .iter()
        .map(|size| {
            buffers
                .iter()
                .map(|buffer| figures(*size, buffer))
                .collect()
        })
        .collect()
}

/// The run of `buffer` with `mib` MiB. A scheme that keeps no pages has one run for all sizes.
fn run_of<'a>(runs: &'a [Record], mib: u64, buffer: &str) -> Option<&'a Record> {
    let of_buffer: Vec<&Record> = runs.iter().filter(|run| run.buffer == buffer).collect();
    match of_buffer[..] {
        [only] => Some(only),
        _ => of_buffer
            .into_iter()
            .find(|run| run.capacity() == Some(mib << 20)),
    }
}

fn percent(part: f64) -> String {
    let rounded = (part * 100.0).round();
    // No minus before a zero.
    format!("{:+.0}", if rounded == 0.0 { 0.0 } else { rounded })
}

/// The least and the largest, of values that are there.
fn range(values: impl Iterator<Item = f64> + Clone) -> String {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let largest = values.fold(f64::NEG_INFINITY, f64::max);
    if least > largest {
        return "-".to_owned();
    }
    format!("{} to {}", percent(least), percent(largest))
}

/// The gains of a claim at one size.
struct Gains {
    seeds: Vec<Gain>,
    /// With one setting changed each, first seed.
    over: Vec<Gain>,
    /// First seed, without draining.
    undrained: Gain,
    /// First seed, of the scheme that compensates complete blocks.
    complete: Gain,
}

fn gains(claim: &Claim) -> Outcome<Vec<Gains>> {
    let sizes: Vec<u64> = claim.at.iter().map(|at| at.mib).collect();
    // Of the scheme, and of the one that compensates complete blocks.
    let of = |seed, drain, over: Option<&str>| -> Outcome<Vec<[Gain; 2]>> {
        let setting = Setting {
            workload: claim.workload,
            seed,
            drain,
            more: over.map(|over| format!("workload.{over}")),
        };
        let buffers = [SCHEME, claim.against, COMPLETE];
        let figures = measure(&setting, &buffers, &sizes)?;
        let both = |of: &Vec<Figures>| [Gain::new(of[0], of[1]), Gain::new(of[2], of[1])];
        Ok(figures.iter().map(both).collect())
    };
    let seeds: Vec<_> = SEEDS
        .iter()
        .map(|seed| of(*seed, true, None))
        .collect::<Outcome<_>>()?;
    let over: Vec<_> = claim
        .over
        .iter()
        .map(|over| of(SEEDS[0], true, Some(over)))
        .collect::<Outcome<_>>()?;
    let undrained = of(SEEDS[0], false, None)?;
    let column = |rows: &[Vec<[Gain; 2]>], at: usize| rows.iter().map(|row| row[at][0]).collect();
    Ok((0..sizes.len())
        .map(|at| Gains {
            seeds: column(&seeds, at),
            over: column(&over, at),
            undrained: undrained[at][0],
            complete: seeds[0][at][1],
        })
        .collect())
}

fn print_claims() -> Outcome<()> {
    println!(
        "| claim | scheme, against | MiB | paper | throughput % | seeds | settings | erases % | seeds | settings | not drained | complete | sign agrees |"
    );
    println!("|---|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|---|");
    for claim in CLAIMS {
        for (at, gains) in claim.at.iter().zip(gains(claim)?) {
            let throughput = |of: &[Gain]| range(of.iter().map(|gain| gain.throughput));
            let erases = |of: &[Gain]| range(of.iter().map(|gain| gain.erases));
            println!(
                "| {} | {}, {} | {} | {} | {} | {} | {} | {} | {} | {} | {}, {} | {}, {} | {} |",
                claim.paper,
                SCHEME,
                claim.against,
                at.mib,
                at.paper,
                percent(gains.seeds[0].throughput),
                throughput(&gains.seeds),
                throughput(&gains.over),
                percent(gains.seeds[0].erases),
                erases(&gains.seeds),
                erases(&gains.over),
                percent(gains.undrained.throughput),
                percent(gains.undrained.erases),
                percent(gains.complete.throughput),
                percent(gains.complete.erases),
                verdict(at, &gains),
            );
        }
    }
    Ok(())
}

/// Whether the published sign is there with every seed, and with how many of the settings.
fn verdict(at: &At, gains: &Gains) -> String {
    if at.throughput == Sign::Open && at.erases == Sign::Open {
        return "-".to_owned();
    }
    let holds = gains.seeds.iter().all(|gain| gain.holds(at));
    let settings = gains.over.iter().filter(|gain| gain.holds(at)).count();
    let word = if holds { "yes" } else { "no" };
    match gains.over.len() {
        0 => word.to_owned(),
        of => format!("{word}; {settings} of {of} settings"),
    }
}

fn print_mean_destage() -> Outcome<()> {
    let setting = Setting {
        workload: "standin-iometer-random:page_bytes=2048,footprint_pages=522240,requests=200000",
        seed: SEEDS[0],
        drain: false,
        more: None,
    };
    let sizes = MEAN_DESTAGE.map(|(mib, ..)| mib);
    let figures = measure(&setting, &[SCHEME, "fab"], &sizes)?;
    println!("\nMean pages of a destage, uniform random writes of 2 KiB:\n");
    println!(
        "| MiB | BPLRU by arithmetic | here | FAB by arithmetic | here |\n|--:|--:|--:|--:|--:|"
    );
    for ((mib, bplru, fab), of) in MEAN_DESTAGE.iter().zip(&figures) {
        let here = |of: Figures| of.destage_pages.ok_or("nothing was destaged");
        let (here_bplru, here_fab) = (here(of[0])?, here(of[1])?);
        println!("| {mib} | {bplru:.2} | {here_bplru:.2} | {fab:.2} | {here_fab:.2} |");
    }
    Ok(())
}

/// The loss by flushes after every so many writes, of one seed.
fn flush_gains(seed: u64) -> Outcome<Vec<Gain>> {
    let run = |every: u64| -> Outcome<Figures> {
        let setting = Setting {
            workload: "standin-office-install",
            seed,
            drain: true,
            more: Some(format!("trace.flush_every_writes={every}")),
        };
        Ok(measure(&setting, &[SCHEME], &[16])?[0][0])
    };
    // Zero adds none.
    let without = run(0)?;
    FLUSH_EVERY
        .iter()
        .map(|every| Ok(Gain::new(run(*every)?, without)))
        .collect()
}

fn print_flushes() -> Outcome<()> {
    let gains: Vec<Vec<Gain>> = SEEDS
        .iter()
        .map(|seed| flush_gains(*seed))
        .collect::<Outcome<_>>()?;
    println!(
        "\nBPLRU with a flush after every so many write requests, W1, 16 MiB (figure 16: some -23 %, interval not said):\n"
    );
    println!("| writes | throughput % | seeds | erases % | seeds |\n|--:|--:|--:|--:|--:|");
    for (at, every) in FLUSH_EVERY.iter().enumerate() {
        let of_seeds = gains.iter().map(|of_seed| of_seed[at]);
        println!(
            "| {every} | {} | {} | {} | {} |",
            percent(gains[0][at].throughput),
            range(of_seeds.clone().map(|gain| gain.throughput)),
            percent(gains[0][at].erases),
            range(of_seeds.map(|gain| gain.erases)),
        );
    }
    Ok(())
}

fn print() -> Outcome<()> {
    print_claims()?;
    print_mean_destage()?;
    print_flushes()
}

fn main() -> ExitCode {
    match print() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("signs: {error}");
            ExitCode::FAILURE
        }
    }
}
