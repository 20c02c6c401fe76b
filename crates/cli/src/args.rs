//! The arguments of the command line.

use std::path::PathBuf;

use clap::{Arg, Args, Parser, Subcommand, ValueEnum};

pub(crate) use crate::trace_args::{
    AnonymizeArguments, ConvertArguments, CutArguments, FitArguments, GenerateArguments,
    MergeArguments, PartitionArguments, ScaleArguments, Written,
};

/// Write buffers for flash devices: which pages should wait in RAM, and which should leave next?
#[derive(Parser)]
#[command(
    name = "destage",
    version,
    propagate_version = true,
    max_term_width = 100
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Memory that the whole command may use, such as 8GiB. Without this option, it may use half of the machine's
    /// memory. A command that needs more memory ends with an error that names what needed the memory
    #[arg(long, value_name = "BYTES", global = true)]
    pub(crate) memory_limit: Option<String>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Simulates one trace or workload with one buffer, one translation layer and one device
    Run(RunArguments),
    /// Simulates every combination of traces, buffers, sizes and translation layers, in parallel, and prints one table
    Compare(CompareArguments),
    /// Shows a metric over the size of the buffer. For page-level LRU, one pass computes every size
    Curve(CurveArguments),
    /// Finds the smallest buffer that reaches a goal, and the scheme of this buffer
    Size(SizeArguments),
    /// Compares a buffer for each volume of a trace with one buffer that all volumes share
    Fleet(crate::fleet_args::FleetArguments),
    /// Repeats the papers' experiments: their figures and tables, and a verdict for each of their claims
    Reproduce(ReproduceArguments),
    /// Runs an experiment file of your own, which says what is run, varied and shown
    Study(StudyArguments),
    /// Brings a device into its state before the first request, and writes that state to a file for later runs
    Precondition(PreconditionArguments),
    /// Runs the main schemes on a built-in workload, and writes a table and a report with charts
    Demo(DemoArguments),
    /// Serves the device live, as an NBD server that you mount, test and measure
    #[cfg(unix)]
    Serve(crate::serve_args::ServeArguments),
    /// Sends commands to a running `destage serve` over its control socket
    #[cfg(unix)]
    Device(crate::serve_args::OperatorArguments),
    /// Plays a trace to an NBD server, and reports the response times
    #[cfg(unix)]
    Replay(crate::serve_args::ReplayArguments),
    /// Runs a program on a device whose power fails again and again, and checks after each failure what the program
    /// finds
    #[cfg(unix)]
    Crash(crate::serve_args::CrashArguments),
    /// Compares a profile with measurements of a real drive, fits a profile to measurements, or measures a drive
    Drive {
        #[command(subcommand)]
        command: DriveCommand,
    },
    /// Prints statistics of traces, and converts, cuts, merges, splits, scales or generates traces
    Trace {
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// Lists the names that you can choose from, one a line
    List(ListArguments),
    /// Shows parameters with default, unit, range and source
    Show(ShowArguments),
    /// Explains a name, or a message of the program: its cause, and what to do
    Explain(ExplainArguments),
    /// Prints a script with which a shell completes what you type
    Completions(CompletionsArguments),
    /// Prints the manual as a page for `man`, or writes one page for each command into a folder
    Man(ManArguments),
    /// Prints the version of the program, of its model and of its results, and where the program was built from
    Version(VersionArguments),
}

#[derive(Subcommand)]
pub(crate) enum DriveCommand {
    /// Compares a profile with measurements: measured, modelled and the error, row by row
    Check(DriveCheckArguments),
    /// Fits a profile to measurements of a drive, and judges the profile by rows that were not used for the fit
    Fit(DriveFitArguments),
    /// Measures a drive, and destroys its contents. Writes the tables that `drive check` reads, and the data that
    /// identify the drive
    #[cfg(unix)]
    Measure(DriveMeasureArguments),
}

#[cfg(unix)]
#[derive(Args)]
pub(crate) struct DriveMeasureArguments {
    /// The drive: a block device or file; the URI of an NBD server, nbd+unix:///EXPORT?socket=PATH or
    /// nbd://HOST:PORT/EXPORT; or model:PROFILE, a simulated drive with that profile
    #[arg(value_name = "DRIVE")]
    pub(crate) drive: String,
    /// Folder for the tables. An interrupted measurement continues if it is started again with the same folder
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Experiments, separated by commas: rates, latency, depth, waf, parts. Without this option, all experiments run
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) what: Vec<String>,
    /// The name of the drive in the tables. Without this option, the name is DRIVE
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Measures a drive even if it holds data. The data are lost
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Prints how much data a measurement would write and how long it would take, and measures nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) extent: ExtentArguments,
    /// Control socket of the `destage serve` behind the URI. Over this socket, the command learns how many bytes the
    /// flash has programmed
    #[arg(long, value_name = "SOCKET")]
    pub(crate) control: Option<PathBuf>,
    /// With model:PROFILE: sets any parameter by its dotted name (see `destage show`). The option may be repeated.
    /// The last value of a parameter applies
    #[arg(short = 'k', long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Prints JSON, with the content of measured.json, and nothing else on standard output
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

/// The part of a drive that is measured, and the length of the measurement.
#[cfg(unix)]
#[derive(Args)]
pub(crate) struct ExtentArguments {
    /// Size of the part of the drive that is measured, such as 64GiB. The part begins at the first byte of the drive.
    /// Without this option, the whole drive is measured
    #[arg(long, value_name = "BYTES")]
    pub(crate) bytes: Option<String>,
    /// How many times the measured part is overwritten at random before the steady state is measured
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(0..=100))]
    pub(crate) passes: u64,
    /// Longest time for which each load is measured, in seconds. Before its measurement, a load runs for up to half
    /// of this time
    #[arg(long, value_name = "S", default_value_t = 60.0, value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Largest number of requests that are measured for each load. Up to half as many requests precede the
    /// measurement. Without this option, the number is 10,000,000, and 400,000 for model:PROFILE
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub(crate) requests: Option<u64>,
    /// Seed of the random numbers that determine the addresses and arrival times of requests
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

#[cfg(unix)]
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok();
    seconds
        .filter(|seconds| (0.01..=86_400.0).contains(seconds))
        .ok_or_else(|| "expected 0.01 to 86400 seconds".to_owned())
}

/// The simulated drive of a profile with fewer blocks, and the threads that simulate it.
#[derive(Args)]
pub(crate) struct ModelledDrive {
    /// Smallest number of blocks of each plane of the simulated drive
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(16..))]
    pub(crate) superblocks: u32,
    /// Sets any parameter of the profile by its dotted name; the option may be repeated, and the last value of a
    /// parameter applies; see `destage show`
    #[arg(short = 'k', long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Number of worker threads; by default one for each core
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

#[derive(Args)]
pub(crate) struct DriveCheckArguments {
    /// Device profile: a name from `destage list profiles`, or a .toml file
    #[arg(value_name = "PROFILE")]
    pub(crate) profile: String,
    /// Measurements as CSV: latency over load, write amplification over the amount of written data, queue depth, or
    /// saturated rates. The columns tell which of these the file holds. A .json file is a result of fio. See
    /// docs/DRIVES.md
    #[arg(long, value_name = "FILE")]
    pub(crate) against: PathBuf,
    /// The drive to compare with, if the file holds several: its name, or a part of the name that no other drive's
    /// name contains
    #[arg(long, value_name = "NAME")]
    pub(crate) drive: Option<String>,
    /// Number of requests that are measured for each load. Half as many requests precede the measurement
    #[arg(long, value_name = "N", default_value_t = 400_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub(crate) requests: u64,
    #[command(flatten)]
    pub(crate) model: ModelledDrive,
    /// Prints JSON and nothing else on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Writes the results to a file, in the format that its extension names: .json or .csv
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

#[derive(Args)]
pub(crate) struct DriveFitArguments {
    /// Measurements of one drive, in files that `drive check` reads. Several files may be given, each with another
    /// experiment
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The drive to fit, if the files hold several: its name, or a part of the name that no other drive's name
    /// contains
    #[arg(long, value_name = "NAME")]
    pub(crate) drive: Option<String>,
    /// The profile from which the search starts: a name from `destage list profiles`, or a .toml file
    #[arg(long, value_name = "PROFILE", default_value = "datacenter-tlc")]
    pub(crate) start: String,
    /// Uses all rows for the fit, so no row is left to judge the profile
    #[arg(long)]
    pub(crate) all_rows: bool,
    /// Number of requests that are measured for each load. Half as many requests precede the measurement
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub(crate) requests: u64,
    #[command(flatten)]
    pub(crate) model: ModelledDrive,
    /// Prints JSON and nothing else on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// The profile to write
    #[arg(short = 'o', long = "output", value_name = "PROFILE.toml")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

#[derive(Subcommand)]
pub(crate) enum TraceCommand {
    /// Prints statistics of a trace
    Info(InfoArguments),
    /// Writes the same trace in another format
    Convert(ConvertArguments),
    /// Writes a part of a trace, chosen by count, time, volume or address
    Cut(CutArguments),
    /// Merges several traces into one, in order of arrival
    Merge(MergeArguments),
    /// Splits a trace of many volumes into a folder with one file for each volume, for `destage fleet`
    Partition(PartitionArguments),
    /// Writes a trace without the details that reveal its origin
    Anonymize(AnonymizeArguments),
    /// Stretches a trace in time or address
    Scale(ScaleArguments),
    /// Writes a synthetic workload as a trace
    Generate(GenerateArguments),
    /// Fits a stand-in workload to a trace, and writes it as a file for --workload
    Fit(FitArguments),
}

/// Removes the short form of `option`, so that the option for a list can use the letter.
fn without_letter(option: Arg) -> Arg {
    option.short(None::<char>)
}

/// The settings that a single run and a cross product share.
#[derive(Args)]
pub(crate) struct Common {
    /// Synthetic workload in place of a trace; see `destage list workloads`. NAME may also be a .toml file that
    /// `trace fit` wrote, or a .fio job file
    #[arg(short, long, value_name = "NAME[:k=v,...]")]
    pub(crate) workload: Option<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) device: DeviceArguments,
    /// Number of worker threads; by default one for each core. Each run uses one thread, so at most as many threads
    /// work as there are runs
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    #[command(flatten)]
    pub(crate) results: Results,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

/// The device: its flash, its translation layer and its buffer.
#[derive(Args)]
pub(crate) struct DeviceArguments {
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
    /// Size of the device, such as 1TB or 512GiB. The device gets the smallest number of blocks that offers this
    /// size. Replaces flash.blocks_per_plane
    #[arg(long, value_name = "BYTES")]
    pub(crate) capacity: Option<String>,
    /// Over-provisioning: flash that is not offered to the host, in percent of the flash that is offered. Replaces
    /// ftl.reserve_percent
    #[arg(long, value_name = "PERCENT")]
    pub(crate) op: Option<String>,
    /// Write buffer: `lru`, or with parameters `lru:lru_unit=request`. Short for buffer.kind and buffer.*
    #[arg(short, long, value_name = "NAME[:k=v,...]")]
    pub(crate) buffer: Option<String>,
    /// Capacity of the buffer: 8MiB, 512KiB, 8388608 (MiB is 2^20, MB is 10^6)
    #[arg(short, long, value_name = "BYTES")]
    pub(crate) size: Option<String>,
    /// Translation layer: `page`, or with parameters `page:gc_policy=greedy`
    #[arg(short, long, value_name = "NAME[:k=v,...]")]
    pub(crate) ftl: Option<String>,
}

/// The options that set any parameter, in contrast to options for a single parameter.
#[derive(Args)]
pub(crate) struct SettingArguments {
    /// Device profile: a name from `destage list profiles`, or a .toml file
    #[arg(short, long, value_name = "NAME|FILE.toml")]
    pub(crate) profile: Option<String>,
    /// TOML file with parameters as tables. Its values override the values of the profile. Options of the command
    /// line override both
    #[arg(short, long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    /// Sets any parameter by its dotted name (see `destage show`). The option may be repeated. The last value of a
    /// parameter applies
    #[arg(short = 'k', long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// The way in which a trace is read.
#[derive(Args)]
pub(crate) struct Reading {
    /// Trace format. Without this option, the program recognises the format by the content
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    #[command(flatten)]
    pub(crate) slice: Slice,
    /// What happens at a malformed line: with stop, the run ends with an error. With skip, the line is left out, and
    /// the number of such lines is reported
    #[arg(long, value_name = "POLICY", value_enum, default_value = "stop")]
    pub(crate) on_bad_line: OnBadLine,
}

/// The part of a trace or workload that is used.
#[derive(Args)]
pub(crate) struct Slice {
    /// Uses only the first N requests of each trace, after the skipped ones
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Skips the first N requests of each trace
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) skip: u64,
    /// Drops reads
    #[arg(long)]
    pub(crate) writes_only: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum OnBadLine {
    Stop,
    Skip,
}

/// The output of results.
#[derive(Args)]
pub(crate) struct Results {
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// Writes the results to a file, in the format that its extension names: .json .csv .html, .md and .tex (a table
    /// to paste into a text), and .parquet if the program was built with it
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The machine-readable output on standard output.
#[derive(Args, Clone, Copy)]
pub(crate) struct Machine {
    /// Prints JSON and nothing else on standard output
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Prints CSV and nothing else on standard output
    #[arg(long)]
    pub(crate) csv: bool,
}

/// The output of progress.
#[derive(Args, Clone, Copy)]
pub(crate) struct Noise {
    /// Shows no progress
    #[arg(long, short, conflicts_with = "progress")]
    pub(crate) quiet: bool,
    /// Shows progress on standard error even if that is not a terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

#[derive(Args)]
#[command(mut_arg("columns", |columns| columns.conflicts_with("cut")))]
#[command(mut_arg("sort", |sort| sort.conflicts_with("cut")))]
pub(crate) struct RunArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz; `-` is standard input
    #[arg(required_unless_present = "workload", conflicts_with = "workload")]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Logs one line per request: index, arrival time, response time, sectors, operation
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) response_log: Option<PathBuf>,
    /// Logs one line per destage: time, cause, pages, padding
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) destage_log: Option<PathBuf>,
    /// Logs one line per block of the device: die, block in the die, erases
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) erase_log: Option<PathBuf>,
    /// Writes response times as fio's JSON (json+), for programs that plot such files, such as fio-plot
    #[arg(long, value_name = "FILE.json")]
    pub(crate) fio_json: Option<PathBuf>,
    /// Writes a page that shows the device's work step by step: the buffer's lists, the pages that are evicted, the
    /// dies. It covers the first 5000 requests or 20000 events. With the extension .json, the file is a timeline of
    /// host, buffer and dies that Perfetto opens
    #[arg(long, value_name = "FILE.html|.json")]
    pub(crate) watch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) table: TableArguments,
    /// Explains where the time went: series over the run, histograms, and the parts of each response time; see
    /// docs/EXPLAIN.md
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) power: PowerArguments,
}

/// A loss of power.
#[derive(Args)]
pub(crate) struct PowerArguments {
    /// Stores the bytes of every page, and cuts the power at the moment that --cut-at-program, -write, -flush or -ms
    /// gives. Then mounts the device, and compares its contents with the data that were promised
    #[arg(long, requires = "cut", conflicts_with = "csv")]
    pub(crate) payload: bool,
    /// Cuts the power while the K-th page program runs; copies count as programs. --seed determines the moment within
    /// the program
    #[arg(long, value_name = "K", group = "cut", requires = "payload", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) cut_at_program: Option<u64>,
    /// Cuts the power when the device accepts the K-th write
    #[arg(long, value_name = "K", group = "cut", requires = "payload", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) cut_at_write: Option<u64>,
    /// Cuts the power when the device accepts the K-th flush
    #[arg(long, value_name = "K", group = "cut", requires = "payload", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) cut_at_flush: Option<u64>,
    /// Cuts the power at this time of the simulation, in milliseconds
    #[arg(long, value_name = "T", group = "cut", requires = "payload")]
    pub(crate) cut_at_ms: Option<f64>,
    /// Seed of the random choices in a cut. Without this option, the seed is sim.seed
    #[arg(long, value_name = "S", requires = "payload")]
    pub(crate) seed: Option<u64>,
}

/// The table of runs. `run` prints it, with one row, if one of the options is given.
#[derive(Args)]
pub(crate) struct TableArguments {
    /// Columns of the printed table and of a Markdown or LaTeX file, after those that identify the run: metrics and
    /// parameters by their dotted names. CSV, JSON and Parquet files have all of them. `run` prints a line for each
    /// metric if neither this option nor --sort is given
    #[arg(long, value_name = "a,b")]
    pub(crate) columns: Option<String>,
    /// Sorts the rows of the table by a metric or parameter, the smallest first. With a `-` before the name, the
    /// largest is first
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) sort: Option<String>,
}

impl TableArguments {
    /// Whether one of the options is given.
    pub(crate) fn is_given(&self) -> bool {
        self.columns.is_some() || self.sort.is_some()
    }
}

#[derive(Args)]
#[command(mut_arg("buffer", |option| option.short(None::<char>)))]
#[command(mut_arg("size", |option| option.short(None::<char>)))]
#[command(mut_arg("ftl", |option| option.short(None::<char>)))]
pub(crate) struct CompareArguments {
    /// Trace files, plain or .gz .zst .bz2 .xz; `-` is standard input
    #[arg(
        value_name = "TRACE",
        required_unless_present = "workload",
        conflicts_with = "workload"
    )]
    pub(crate) traces: Vec<PathBuf>,
    /// Buffers to compare: lru,fifo or with parameters lru:lru_unit=request,fifo; `all` selects every buffer that can
    /// run
    #[arg(short = 'b', long, value_name = "LIST", conflicts_with = "buffer")]
    pub(crate) buffers: Option<String>,
    /// Capacities to compare: a list such as 4MiB,8MiB, or a range 256KiB..64MiB of capacities that double from one
    /// to the next
    #[arg(short = 's', long, value_name = "LIST", conflicts_with = "size")]
    pub(crate) sizes: Option<String>,
    /// Translation layers to compare, a list such as page,fast,none
    #[arg(short = 'f', long, value_name = "LIST", conflicts_with = "ftl")]
    pub(crate) ftls: Option<String>,
    #[command(flatten)]
    pub(crate) table: TableArguments,
    /// Explains where the time of each run went: series over the run, histograms, and the parts of each response
    /// time; see docs/EXPLAIN.md
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args)]
#[command(mut_arg("buffer", without_letter), mut_arg("size", |size| without_letter(size).hide(true)))] // `--size` is refused; `--sizes` replaces it.
pub(crate) struct CurveArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz; `-` is standard input
    #[arg(
        value_name = "TRACE",
        required_unless_present = "workload",
        conflicts_with = "workload"
    )]
    pub(crate) trace: Option<PathBuf>,
    /// Buffers: lru,fab or with parameters lru:lru_unit=request,fab; `all` selects every buffer that can run
    #[arg(short = 'b', long, value_name = "LIST", conflicts_with = "buffer")]
    pub(crate) buffers: Option<String>,
    /// Capacities: a list such as 4MiB,8MiB, or a range 256KiB..64MiB of capacities that double from one to the
    /// next, or `all`: every capacity at which the curve changes (only for page-level LRU without flash). Without
    /// this option, up to 24 capacities from 64 pages to all pages that may enter a buffer
    #[arg(short = 's', long, value_name = "LIST", conflicts_with = "size")]
    pub(crate) sizes: Option<String>,
    /// The metric that the table shows
    #[arg(
        short,
        long,
        value_name = "METRIC",
        default_value = "buffer.destaged_pages"
    )]
    pub(crate) metric: String,
    /// Estimates the curve from samples, each with this share of the erase blocks, such as 0.01 or 1%. Every point
    /// has a 95 % interval
    #[arg(long, value_name = "RATE", group = "sampled")]
    pub(crate) sample: Option<String>,
    /// Estimates the curve from the smallest samples that are accurate enough: half the width of each 95 % interval
    /// is at most this percentage of the curve's largest value
    #[arg(long, value_name = "PERCENT", group = "sampled")]
    pub(crate) error: Option<String>,
    /// Number of samples, from 1 to 64; a single sample gives no interval
    #[arg(long, value_name = "N", default_value_t = destage::SALTS, requires = "sampled")]
    pub(crate) salts: u32,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args)]
#[command(mut_arg("buffer", without_letter), mut_arg("size", |size| without_letter(size).hide(true)))] // `--size` is refused; `--sizes` replaces it.
pub(crate) struct SizeArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz
    #[arg(
        value_name = "TRACE",
        required_unless_present = "workload",
        conflicts_with = "workload"
    )]
    pub(crate) trace: Option<PathBuf>,
    /// The goal, such as response.write.p99_ms<1. The option may be repeated, and all goals have to be reached
    #[arg(short, long, value_name = "METRIC<VALUE", required = true)]
    pub(crate) goal: Vec<String>,
    /// Buffers to choose from: lru,fab or with parameters lru:lru_unit=request,fab; `all` selects every buffer that
    /// can run. Without this option, the buffers of the papers
    #[arg(short = 'b', long, value_name = "LIST", conflicts_with = "buffer")]
    pub(crate) buffers: Option<String>,
    /// Capacities to choose from: a list such as 4MiB,8MiB, or a range 256KiB..64MiB of capacities that double from
    /// one to the next. Without this option, up to 24 capacities from 64 pages to all pages that may enter a buffer
    #[arg(short = 's', long, value_name = "LIST", conflicts_with = "size")]
    pub(crate) sizes: Option<String>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// The options that studies and the papers' experiments share.
#[derive(Args)]
pub(crate) struct Kept {
    /// Folder for the results, one file for each run, and for the report. Runs whose results are in the folder
    /// already are not repeated
    #[arg(long, value_name = "DIR", default_value = "destage-results")]
    pub(crate) results: PathBuf,
    /// Folder that is searched for the papers' traces. A trace is recognised by the SHA-256 digest of its file
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<PathBuf>,
    /// Path of a trace that the experiments name, such as financial1=FILE. The option may be repeated
    #[arg(long, value_name = "NAME=FILE")]
    pub(crate) trace: Vec<String>,
    /// The runs to carry out: with reduced, only runs that end within minutes. With full, all runs
    #[arg(long, value_enum, default_value = "reduced")]
    pub(crate) scale: ScaleArgument,
    /// Number of worker threads; by default one for each core. Each run uses one thread
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Prints JSON and nothing else on standard output
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ScaleArgument {
    Reduced,
    Full,
}

#[derive(Args)]
pub(crate) struct ReproduceArguments {
    /// A paper, such as bplru, or one of its experiments, such as bplru/w4. Without this argument, all papers
    #[arg(value_name = "PAPER[/EXPERIMENT]")]
    pub(crate) what: Option<String>,
    /// A folder of papers to use in place of the papers that the program contains
    #[arg(long, value_name = "DIR")]
    pub(crate) experiments: Option<PathBuf>,
    /// Also writes the report to a file, in the format that its extension names: .html .json
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) kept: Kept,
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct StudyArguments {
    #[command(subcommand)]
    pub(crate) command: Option<StudyCommand>,
    /// The study file; docs/STUDIES.md describes its form
    #[arg(value_name = "FILE.toml", required = true)]
    pub(crate) file: Option<PathBuf>,
    /// Carries out the I-th of N parts of the runs, and writes no report. The workers that carry out the other parts
    /// use the same folder of results
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    #[command(flatten)]
    pub(crate) kept: Kept,
}

/// Commands for the results that workers have computed.
#[derive(Subcommand)]
pub(crate) enum StudyCommand {
    /// Prints how many of the results exist
    Status(PartsArguments),
    /// Lists the runs that have no result yet, one a line
    Missing(PartsArguments),
    /// Writes the report, once all results exist
    Merge(MergedArguments),
}

#[derive(Args)]
pub(crate) struct PartsArguments {
    /// The folder of results
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Prints JSON and nothing else on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct MergedArguments {
    #[command(flatten)]
    pub(crate) parts: PartsArguments,
    /// Also writes the results of one study to a file, in the format that its extension names: .csv .json .html .md
    /// .tex, and .parquet if the program was built with it
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct PreconditionArguments {
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
    /// Translation layer: `page`, or with parameters `page:gc_policy=greedy`; overrides --set
    #[arg(long, value_name = "NAME[:k=v,...]")]
    pub(crate) ftl: Option<String>,
    /// The file to which the state is written
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

#[derive(Args)]
pub(crate) struct DemoArguments {
    /// The file to which the report is written, in the format that its extension names: .html .json .csv .md .tex,
    /// and .parquet if the program was built with it
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FILE",
        default_value = "report.html"
    )]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// Number of worker threads; by default one for each core. Each run uses one thread, so at most as many threads
    /// work as there are runs
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

#[derive(Args)]
pub(crate) struct InfoArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz; `-` is standard input
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
    /// Page size for statistics that count pages; short for flash.page_bytes
    #[arg(long, value_name = "BYTES")]
    pub(crate) page_bytes: Option<String>,
    /// Writes all statistics to a file, in the format that its extension names: .html is a page with charts of
    /// load, sizes, alignment, gaps, distances, hot pages, footprint and addresses; .json is the same as --json.
    /// Blocks have flash.pages_per_block pages
    #[arg(short, long, value_name = "FILE.html|.json")]
    pub(crate) output: Option<PathBuf>,
    /// Prints JSON and nothing else on standard output
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

#[derive(Args)]
pub(crate) struct ListArguments {
    #[arg(value_enum)]
    pub(crate) what: Listed,
    /// Prints the list as a JSON array of objects
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Listed {
    Buffers,
    Ftls,
    Profiles,
    Formats,
    Workloads,
    Metrics,
    Experiments,
}

#[derive(Args)]
pub(crate) struct ShowArguments {
    /// What to show: a parameter such as flash.dies; a section such as flash; or buffer, ftl, profile or workload,
    /// followed by a name. Without this argument, all parameters except those of a single scheme or FTL
    #[arg(
        value_name = "KEY|buffer|ftl|profile|workload",
        default_value = "parameters",
        hide_default_value = true
    )]
    pub(crate) what: String,
    /// The name, as `destage list` prints it. A profile may also be a .toml file
    pub(crate) name: Option<String>,
    /// Prints a JSON object, or an array of parameters
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ExplainArguments {
    /// The name of a parameter, metric, buffer, translation layer, profile, workload, format or experiment; or a
    /// message that the program printed
    #[arg(required = true, value_name = "NAME|MESSAGE")]
    pub(crate) words: Vec<String>,
    /// Prints the explanations as a JSON array of objects
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args)]
pub(crate) struct ManArguments {
    /// The folder to write to. A missing folder is made
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct VersionArguments {
    /// Prints a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
