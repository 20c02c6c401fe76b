//! What may be typed.

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
    /// Memory the whole command may use, such as 8GiB: half of the machine's if not given. Beyond it the command ends
    /// with an error that says what asked for it
    #[arg(long, value_name = "BYTES", global = true)]
    pub(crate) memory_limit: Option<String>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// One simulation: one trace or workload, one buffer, one translation layer, one device
    Run(RunArguments),
    /// The cross product of traces, buffers, sizes and translation layers, in parallel, as one table
    Compare(CompareArguments),
    /// Metrics over the size of the buffer; of page-level LRU every size, from one pass
    Curve(CurveArguments),
    /// The smallest buffer, and its scheme, that reach a goal
    Size(SizeArguments),
    /// The volumes of a trace, each with a buffer of its own, beside one buffer that all of them share
    Fleet(crate::fleet_args::FleetArguments),
    /// The papers' experiments: their figures and tables, and a verdict for each of their claims
    Reproduce(ReproduceArguments),
    /// An experiment file of your own: what is run, varied and shown
    Study(StudyArguments),
    /// The device in its state before the first request, as a file for later runs
    Precondition(PreconditionArguments),
    /// The main schemes on a built-in workload: a table, and a report with charts
    Demo(DemoArguments),
    /// The device live: an NBD server that people mount, test and measure
    #[cfg(unix)]
    Serve(crate::serve_args::ServeArguments),
    /// What a server of `destage serve` is told over its control socket
    #[cfg(unix)]
    Device(crate::serve_args::OperatorArguments),
    /// A trace played to an NBD server, and what it took
    #[cfg(unix)]
    Replay(crate::serve_args::ReplayArguments),
    /// A program on a device whose power fails again and again: what is there after each time?
    #[cfg(unix)]
    Crash(crate::serve_args::CrashArguments),
    /// Real drives: a profile compared with what a drive was measured to do, and the measuring itself
    Drive {
        #[command(subcommand)]
        command: DriveCommand,
    },
    /// Traces themselves: what they are like, and other traces out of them
    Trace {
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// What there is to choose from, a line each
    List(ListArguments),
    /// Parameters with default, unit, range and source
    Show(ShowArguments),
    /// What a name means, or a message: its cause, and what to do
    Explain(ExplainArguments),
    /// A script that lets a shell complete what is typed
    Completions(CompletionsArguments),
    /// The manual as pages for `man`: one on standard output, or one a command into a folder
    Man(ManArguments),
    /// The version of the program, of its model and of its results, and where it was built from
    Version(VersionArguments),
}

#[derive(Subcommand)]
pub(crate) enum DriveCommand {
    /// A profile compared with measurements: measured, modelled and the error, row by row
    Check(DriveCheckArguments),
    /// A profile fitted to measurements of a drive, and judged by the rows that it was not fitted on
    Fit(DriveFitArguments),
    /// The experiments themselves on a drive, whose contents are lost: tables for `drive check`, and what identifies it
    #[cfg(unix)]
    Measure(DriveMeasureArguments),
}

#[cfg(unix)]
#[derive(Args)]
pub(crate) struct DriveMeasureArguments {
    /// A block device or file; the URI of an NBD server, nbd+unix:///EXPORT?socket=PATH or nbd://HOST:PORT/EXPORT; or model:PROFILE, the
    /// drive of a profile in virtual time
    #[arg(value_name = "DRIVE")]
    pub(crate) drive: String,
    /// Folder for the tables; a measurement that was interrupted goes on where its folder says
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Experiments, separated by commas: rates, latency, depth, waf, parts; all of them if not given
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) what: Vec<String>,
    /// The name of the drive in tables; DRIVE if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Measures a drive that holds something, which is lost
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Says what would be written and how long that takes, and ends
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) extent: ExtentArguments,
    /// Control socket of the `destage serve` behind the URI, which counts what flash programs
    #[arg(long, value_name = "SOCKET")]
    pub(crate) control: Option<PathBuf>,
    /// With model:PROFILE, any parameter by its dotted name, repeatable, the last one wins; see `destage show`
    #[arg(short = 'k', long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// JSON on standard output, and nothing else there: what measured.json says
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

/// How much of a drive is measured, and for how long.
#[cfg(unix)]
#[derive(Args)]
pub(crate) struct ExtentArguments {
    /// Part of the drive that is used, from its first byte on, such as 64GiB; all of it if not given
    #[arg(long, value_name = "BYTES")]
    pub(crate) bytes: Option<String>,
    /// How often what is used is overwritten at random before the steady state is measured
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(0..=100))]
    pub(crate) passes: u64,
    /// Seconds that each load is measured, at most; half as many come before that
    #[arg(long, value_name = "S", default_value_t = 60.0, value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Requests that are measured for each load, at most; half as many come before them. 10,000,000 if not given, of model:PROFILE 400,000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub(crate) requests: Option<u64>,
    /// Where requests go, and when they arrive, follows from it
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

/// The drive of a profile, made small, and the threads that run it.
#[derive(Args)]
pub(crate) struct ModelledDrive {
    /// Blocks of a plane that the drive is made small to, at least
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(16..))]
    pub(crate) superblocks: u32,
    /// Any parameter of the profile by its dotted name, repeatable, the last one wins; see `destage show`
    #[arg(short = 'k', long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Worker threads; all cores if not given
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

#[derive(Args)]
pub(crate) struct DriveCheckArguments {
    /// Device profile: a name from `destage list profiles`, or a .toml file
    #[arg(value_name = "PROFILE")]
    pub(crate) profile: String,
    /// Measurements as CSV, known by their columns: latency over load, write amplification over what is written, queue depth,
    /// saturated rates; or a result of fio as .json; see docs/DRIVES.md
    #[arg(long, value_name = "FILE")]
    pub(crate) against: PathBuf,
    /// The drive that is wanted of several in the file: its name, or a part of it that no other has
    #[arg(long, value_name = "NAME")]
    pub(crate) drive: Option<String>,
    /// Requests that are measured for each load; half as many come before them
    #[arg(long, value_name = "N", default_value_t = 400_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub(crate) requests: u64,
    #[command(flatten)]
    pub(crate) model: ModelledDrive,
    /// JSON on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
    /// Results to a file by its ending: .json or .csv
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

#[derive(Args)]
pub(crate) struct DriveFitArguments {
    /// Measurements of one drive, as `drive check` reads them; several, if they are of several experiments
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The drive that is wanted of several in the files: its name, or a part of it that no other has
    #[arg(long, value_name = "NAME")]
    pub(crate) drive: Option<String>,
    /// The profile that the search begins from: a name from `destage list profiles`, or a .toml file
    #[arg(long, value_name = "PROFILE", default_value = "datacenter-tlc")]
    pub(crate) start: String,
    /// Fits on all rows, and leaves none to judge by
    #[arg(long)]
    pub(crate) all_rows: bool,
    /// Requests that are measured for each load; half as many come before them
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub(crate) requests: u64,
    #[command(flatten)]
    pub(crate) model: ModelledDrive,
    /// JSON on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
    /// The profile that is written
    #[arg(short = 'o', long = "output", value_name = "PROFILE.toml")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

#[derive(Subcommand)]
pub(crate) enum TraceCommand {
    /// Statistics of a trace
    Info(InfoArguments),
    /// The same trace in another form
    Convert(ConvertArguments),
    /// A part of a trace: by count, time, volume, address
    Cut(CutArguments),
    /// Several traces as one, in order of arrival
    Merge(MergeArguments),
    /// Traces of many volumes as a folder with a file for each, for `destage fleet`
    Partition(PartitionArguments),
    /// A trace without what tells where it comes from
    Anonymize(AnonymizeArguments),
    /// A trace stretched in time or address
    Scale(ScaleArguments),
    /// A synthetic workload as a trace
    Generate(GenerateArguments),
    /// A stand-in fitted to a trace, as a file that --workload takes
    Fit(FitArguments),
}

/// An option whose short form stands for the list of its values instead.
fn without_letter(option: Arg) -> Arg {
    option.short(None::<char>)
}

/// What is simulated with: everything a run and a cross product have in common.
#[derive(Args)]
pub(crate) struct Common {
    /// Synthetic workload in place of a trace; see `destage list workloads`. NAME may be a file .toml of `trace fit`, or a job file .fio
    /// of fio
    #[arg(short, long, value_name = "NAME[:k=v,...]")]
    pub(crate) workload: Option<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) device: DeviceArguments,
    /// Worker threads of a cross product, never more than it has runs; all cores if not given. A run is one thread
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
    /// The device by its size: 1TB, 512GiB; the smallest number of blocks that offers it, in place of
    /// flash.blocks_per_plane
    #[arg(long, value_name = "BYTES")]
    pub(crate) capacity: Option<String>,
    /// Over-provisioning: flash that is not offered to the host, in percent of what is; in place of ftl.reserve_percent
    #[arg(long, value_name = "PERCENT")]
    pub(crate) op: Option<String>,
    /// Buffer: `lru`, or with parameters `lru:lru_unit=request`; short for buffer.kind and buffer.*
    #[arg(short, long, value_name = "NAME[:k=v,...]")]
    pub(crate) buffer: Option<String>,
    /// Capacity of the buffer: 8MiB, 512KiB, 8388608 (MiB is 2^20, MB is 10^6)
    #[arg(short, long, value_name = "BYTES")]
    pub(crate) size: Option<String>,
    /// Translation layer: `page`, or with parameters `page:gc_policy=greedy`
    #[arg(short, long, value_name = "NAME[:k=v,...]")]
    pub(crate) ftl: Option<String>,
}

/// Where parameters come from, besides their own options.
#[derive(Args)]
pub(crate) struct SettingArguments {
    /// Device profile: a name from `destage list profiles`, or a .toml file
    #[arg(short, long, value_name = "NAME|FILE.toml")]
    pub(crate) profile: Option<String>,
    /// Parameters as TOML tables; wins over the profile, and the command line wins over it
    #[arg(short, long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    /// Any parameter by its dotted name, repeatable, the last one wins; see `destage show`
    #[arg(short = 'k', long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// How a trace is read.
#[derive(Args)]
pub(crate) struct Reading {
    /// Trace format; found from the content if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    #[command(flatten)]
    pub(crate) slice: Slice,
    /// A malformed line stops the run, or is skipped, counted and reported
    #[arg(long, value_name = "POLICY", value_enum, default_value = "stop")]
    pub(crate) on_bad_line: OnBadLine,
}

/// Which of the requests are wanted, of a trace as of a workload.
#[derive(Args)]
pub(crate) struct Slice {
    /// Only the first N requests, after those skipped
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Leave out the first N requests
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) skip: u64,
    /// Drop reads
    #[arg(long)]
    pub(crate) writes_only: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum OnBadLine {
    Stop,
    Skip,
}

/// Where results go.
#[derive(Args)]
pub(crate) struct Results {
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// Results to a file by its ending: .json .csv .html, .md and .tex (a table for a text), and .parquet where that is built in
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Machine output.
#[derive(Args, Clone, Copy)]
pub(crate) struct Machine {
    /// JSON on standard output, and nothing else there
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// CSV on standard output, and nothing else there
    #[arg(long)]
    pub(crate) csv: bool,
}

/// Whether progress is shown.
#[derive(Args, Clone, Copy)]
pub(crate) struct Noise {
    /// No progress
    #[arg(long, short, conflicts_with = "progress")]
    pub(crate) quiet: bool,
    /// Progress on standard error even if that is no terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

#[derive(Args)]
pub(crate) struct RunArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz; `-` is standard input
    #[arg(required_unless_present = "workload", conflicts_with = "workload")]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// One line per request: index, times of arrival and response, sectors, operation
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) response_log: Option<PathBuf>,
    /// One line per destage: time, cause, pages, padding
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) destage_log: Option<PathBuf>,
    /// One line per block of the device: die, block in it, erases
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) erase_log: Option<PathBuf>,
    /// Responses as fio's JSON (json+), for programs that draw those, such as fio-plot
    #[arg(long, value_name = "FILE.json")]
    pub(crate) fio_json: Option<PathBuf>,
    /// A page that shows the device work: the buffer's lists, what leaves them, what the dies do; of the first 5000 requests or 20000
    /// events. With the ending .json a timeline of host, buffer and dies that Perfetto opens
    #[arg(long, value_name = "FILE.html|.json", conflicts_with = "cut")]
    pub(crate) watch: Option<PathBuf>,
    /// Where the time went: course of the run, histograms, and what each response is made of; see docs/EXPLAIN.md
    #[arg(long, conflicts_with = "payload")]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) power: PowerArguments,
}

/// Power that fails.
#[derive(Args)]
pub(crate) struct PowerArguments {
    /// Bytes are moved, and the power fails when one of --cut-at-program, -write, -flush, -ms says; the device is mounted again,
    /// and what it holds is compared with what was promised
    #[arg(long, requires = "cut", conflicts_with_all = ["csv", "output", "erase_log"])]
    pub(crate) payload: bool,
    /// The power fails while the K-th page program runs, of copies too; --seed says where in it
    #[arg(long, value_name = "K", group = "cut", requires = "payload", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) cut_at_program: Option<u64>,
    /// The power fails when the device accepts the K-th write
    #[arg(long, value_name = "K", group = "cut", requires = "payload", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) cut_at_write: Option<u64>,
    /// The power fails when the device accepts the K-th flush
    #[arg(long, value_name = "K", group = "cut", requires = "payload", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) cut_at_flush: Option<u64>,
    /// The power fails at this model time
    #[arg(long, value_name = "T", group = "cut", requires = "payload")]
    pub(crate) cut_at_ms: Option<f64>,
    /// Fixes what a cut leaves open; sim.seed if not given
    #[arg(long, value_name = "S", requires = "payload")]
    pub(crate) seed: Option<u64>,
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
    /// Buffers to compare: lru,fifo or with parameters lru:lru_unit=request,fifo; `all` is every one that can run
    #[arg(short = 'b', long, value_name = "LIST", conflicts_with = "buffer")]
    pub(crate) buffers: Option<String>,
    /// Capacities to compare: 4MiB,8MiB, or from the first to the last by doubling: 256KiB..64MiB
    #[arg(short = 's', long, value_name = "LIST", conflicts_with = "size")]
    pub(crate) sizes: Option<String>,
    /// Translation layers to compare: page,none
    #[arg(short = 'f', long, value_name = "LIST", conflicts_with = "ftl")]
    pub(crate) ftls: Option<String>,
    /// Columns of the table behind what the runs differ in: metrics and parameters by their dotted names
    #[arg(long, value_name = "a,b")]
    pub(crate) columns: Option<String>,
    /// Order of the rows of the table: by a metric or parameter, the smallest first; with a `-` before it the largest
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) sort: Option<String>,
    /// Where the time of each run went: course, histograms, and what each response is made of; see docs/EXPLAIN.md
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args)]
#[command(mut_arg("buffer", without_letter), mut_arg("size", |size| without_letter(size).hide(true)))] // `size` is refused: `sizes` says which there are.
pub(crate) struct CurveArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz; `-` is standard input
    #[arg(
        value_name = "TRACE",
        required_unless_present = "workload",
        conflicts_with = "workload"
    )]
    pub(crate) trace: Option<PathBuf>,
    /// Buffers: lru,fab or with parameters lru:lru_unit=request,fab; `all` is every one that can run
    #[arg(short = 'b', long, value_name = "LIST", conflicts_with = "buffer")]
    pub(crate) buffers: Option<String>,
    /// Capacities: 4MiB,8MiB, or from the first to the last by doubling: 256KiB..64MiB. If not given, 24 at most, from 64
    /// pages to all that are written; of page-level LRU without flash, every one at which something changes
    #[arg(short = 's', long, value_name = "LIST", conflicts_with = "size")]
    pub(crate) sizes: Option<String>,
    /// The metric of the table
    #[arg(
        short,
        long,
        value_name = "METRIC",
        default_value = "buffer.destaged_pages"
    )]
    pub(crate) metric: String,
    /// Estimates from samples, each of this share of the erase blocks: 0.01 or 1%; every point has a 95 % interval
    #[arg(long, value_name = "RATE", group = "sampled")]
    pub(crate) sample: Option<String>,
    /// Estimates from samples of the smallest share at which the interval of the metric is no more than this to either side, in
    /// percent of the curve's largest value
    #[arg(long, value_name = "PERCENT", group = "sampled")]
    pub(crate) error: Option<String>,
    /// How many samples, from 1 to 64; one has no interval
    #[arg(long, value_name = "N", default_value_t = destage::SALTS, requires = "sampled")]
    pub(crate) salts: u32,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args)]
#[command(mut_arg("buffer", without_letter), mut_arg("size", |size| without_letter(size).hide(true)))] // `size` is refused: `sizes` says which there are.
pub(crate) struct SizeArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz
    #[arg(
        value_name = "TRACE",
        required_unless_present = "workload",
        conflicts_with = "workload"
    )]
    pub(crate) trace: Option<PathBuf>,
    /// What has to be reached, such as response.write.p99_ms<1; with several, all
    #[arg(short, long, value_name = "METRIC<VALUE", required = true)]
    pub(crate) goal: Vec<String>,
    /// Buffers to choose from: lru,fab or with parameters lru:lru_unit=request,fab; `all` is every one that can run. If not
    /// given, those of the papers
    #[arg(short = 'b', long, value_name = "LIST", conflicts_with = "buffer")]
    pub(crate) buffers: Option<String>,
    /// Capacities to choose from: 4MiB,8MiB, or from the first to the last by doubling: 256KiB..64MiB. If not given, 24 at
    /// most, from 64 pages to all that are written
    #[arg(short = 's', long, value_name = "LIST", conflicts_with = "size")]
    pub(crate) sizes: Option<String>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What studies and the papers' experiments have in common.
#[derive(Args)]
pub(crate) struct Kept {
    /// Where results are kept, one file a run, and the report is written. What is there already is not run again
    #[arg(long, value_name = "DIR", default_value = "destage-results")]
    pub(crate) results: PathBuf,
    /// Folder in which the papers' traces are looked for, by digest
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<PathBuf>,
    /// A trace by its name in the experiments, such as financial1=FILE; repeatable
    #[arg(long, value_name = "NAME=FILE")]
    pub(crate) trace: Vec<String>,
    /// How much is run: what ends within minutes, or all
    #[arg(long, value_enum, default_value = "reduced")]
    pub(crate) scale: ScaleArgument,
    /// Worker threads; all cores if not given. A run is one thread
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// JSON on standard output, and nothing else there
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
    /// A paper, such as bplru, or one of its experiments, such as bplru/w4; all papers if not given
    #[arg(value_name = "PAPER[/EXPERIMENT]")]
    pub(crate) what: Option<String>,
    /// A folder of papers in place of those that come with the program
    #[arg(long, value_name = "DIR")]
    pub(crate) experiments: Option<PathBuf>,
    /// The report to a file too, by its ending: .html .json
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
    /// The study file; docs/STUDIES.md says how it is written
    #[arg(value_name = "FILE.toml", required = true)]
    pub(crate) file: Option<PathBuf>,
    /// Makes the I-th of N parts of the runs and no report; workers with the other parts share the folder of results
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    #[command(flatten)]
    pub(crate) kept: Kept,
}

/// What is asked of results that workers made.
#[derive(Subcommand)]
pub(crate) enum StudyCommand {
    /// How many results there are of how many
    Status(PartsArguments),
    /// The runs without a result, one a line
    Missing(PartsArguments),
    /// The report, once all results are there
    Merge(MergedArguments),
}

#[derive(Args)]
pub(crate) struct PartsArguments {
    /// The folder of results
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// JSON on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct MergedArguments {
    #[command(flatten)]
    pub(crate) parts: PartsArguments,
    /// The results to a file too, by its ending: .csv .json .html .md .tex, and .parquet where that is built in; of one study
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct PreconditionArguments {
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
    /// Translation layer: `page`, or with parameters `page:gc_policy=greedy`; wins over --set
    #[arg(long, value_name = "NAME[:k=v,...]", overrides_with = "ftl")]
    pub(crate) ftl: Option<String>,
    /// Where the state goes
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FILE",
        overrides_with = "output"
    )]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

#[derive(Args)]
pub(crate) struct DemoArguments {
    /// Where the report goes, and in which form: .html .json .csv .md .tex, and .parquet where that is built in
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FILE",
        default_value = "report.html"
    )]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// Worker threads, never more than there are runs; all cores if not given
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
    /// Size of the pages counted; short for flash.page_bytes
    #[arg(long, value_name = "BYTES")]
    pub(crate) page_bytes: Option<String>,
    /// All of it to a file by its ending: .html is a page with charts of load, sizes, alignment, gaps, distances, hot pages,
    /// footprint and addresses, .json the same as --json; blocks are those of flash.pages_per_block
    #[arg(short, long, value_name = "FILE.html|.json")]
    pub(crate) output: Option<PathBuf>,
    /// JSON on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

#[derive(Args)]
pub(crate) struct ListArguments {
    #[arg(value_enum)]
    pub(crate) what: Listed,
    /// A JSON array of objects
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
    /// A parameter such as flash.dies, a section such as flash, or buffer, ftl, profile or workload with a name behind it; all parameters
    /// that belong to no scheme and no FTL if not given
    #[arg(
        value_name = "KEY|buffer|ftl|profile|workload",
        default_value = "parameters",
        hide_default_value = true
    )]
    pub(crate) what: String,
    /// Its name, from `destage list`; of a profile also a .toml file
    pub(crate) name: Option<String>,
    /// JSON: an object, or an array of parameters
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ExplainArguments {
    /// The name of a parameter, metric, buffer, translation layer, profile, workload, format or experiment; or a message of the program
    #[arg(required = true, value_name = "NAME|MESSAGE")]
    pub(crate) words: Vec<String>,
    /// A JSON array of objects
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct CompletionsArguments {
    /// Which shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args)]
pub(crate) struct ManArguments {
    /// The folder, which is made if it is not there
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct VersionArguments {
    /// A JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
