//! The arguments of `destage trace`, except those of `info`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use destage_trace::Reader;
use destage_trace::transform::{Clocks, Merge, Volumes};

use crate::args::{Noise, Reading, SettingArguments, Slice};

/// The trace file that is written.
#[derive(Args)]
pub(crate) struct Written {
    /// The new trace; the extension .zst or .gz compresses it. `-` is standard output, and needs --to
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Format of the new trace: compact, csv, disksim, and parquet if the program was built with it. Without this
    /// option, the extension of FILE selects the format
    #[arg(long, value_name = "NAME")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

#[derive(Args)]
pub(crate) struct ConvertArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz; `-` is standard input
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) written: Written,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
}

#[derive(Args)]
pub(crate) struct CutArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz; `-` is standard input
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) written: Written,
    /// Keeps only requests that arrive at this time or later: 10s, 250ms, 3us
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Keeps only requests that arrive before this time
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Keeps only these volumes: 0,3
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) volumes: Vec<u32>,
    /// Keeps only sectors from FIRST on and before END. Requests that extend beyond this range are shortened
    #[arg(long, value_name = "FIRST..END")]
    pub(crate) sectors: Option<String>,
    /// Counts times from the first request of the new trace
    #[arg(long)]
    pub(crate) rebase: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
}

/// The relation between the volumes and the clocks of several traces.
#[derive(Args)]
pub(crate) struct Joined {
    /// Volumes with equal numbers, or with equal names, are one volume. Without this option, each volume of each
    /// trace gets a different number
    #[arg(long)]
    same_volumes: bool,
    /// Calendar times of all traces are times of one clock. Without this option, each trace with calendar times
    /// begins at 0
    #[arg(long)]
    same_clock: bool,
}

impl Joined {
    /// The requests of `readers` in the order of their arrival.
    pub(crate) fn merge(&self, readers: Vec<Reader>) -> Merge {
        let volumes = match self.same_volumes {
            true => Volumes::Same,
            false => Volumes::Apart,
        };
        let clocks = match self.same_clock {
            true => Clocks::Same,
            false => Clocks::Own,
        };
        Merge::new(readers, volumes, clocks)
    }
}

#[derive(Args)]
pub(crate) struct MergeArguments {
    /// Trace files, plain or .gz .zst .bz2 .xz
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) written: Written,
    #[command(flatten)]
    pub(crate) joined: Joined,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
}

#[derive(Args)]
pub(crate) struct PartitionArguments {
    /// Trace files, plain or .gz .zst .bz2 .xz; `-` is standard input
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<PathBuf>,
    /// The folder to make; it must not exist
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) joined: Joined,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

#[derive(Args)]
pub(crate) struct AnonymizeArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz; it is read twice
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) written: Written,
    /// Shuffles regions of this size. The size has to be a multiple of every block size to be studied
    #[arg(long, value_name = "BYTES", default_value = "4MiB")]
    pub(crate) region_bytes: String,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
}

#[derive(Args)]
#[command(group = ArgGroup::new("what").required(true).multiple(true).args(["time", "address"]))]
pub(crate) struct ScaleArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz; `-` is standard input
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) written: Written,
    /// Factor by which times are multiplied: 0.5, 2, 3/7
    #[arg(long, value_name = "RATIO")]
    pub(crate) time: Option<String>,
    /// Factor by which page numbers are multiplied; flash.page_bytes is the size of a page
    #[arg(long, value_name = "RATIO")]
    pub(crate) address: Option<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
}

#[derive(Args)]
pub(crate) struct GenerateArguments {
    /// Synthetic workload, seeded by sim.seed; see `destage list workloads`. NAME may also be a .toml file that
    /// `trace fit` wrote, or a .fio job file
    #[arg(long, value_name = "NAME[:k=v,...]")]
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) written: Written,
    #[command(flatten)]
    pub(crate) slice: Slice,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
}

#[derive(Args)]
pub(crate) struct FitArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz; its requests are stored in memory during the fit
    pub(crate) trace: PathBuf,
    /// The .toml file to which the stand-in workload is written
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Prints the differences between trace and stand-in (the residuals) as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) noise: Noise,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
}
