//! What may be typed about the device live.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use crate::args::{DeviceArguments, Noise, Reading, SettingArguments};
use crate::choices::Short;

#[derive(Args)]
#[command(group(ArgGroup::new("place").required(true).args(["unix", "tcp"])))]
pub(crate) struct ServeArguments {
    /// Unix socket at which clients find it; only its owner may use it
    #[arg(long, value_name = "SOCKET")]
    pub(crate) unix: Option<PathBuf>,
    /// Address at which clients find it, such as 127.0.0.1:10809; port 0 is any that is free
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) tcp: Option<String>,
    /// Listen where other machines reach it, too; there is no encryption
    #[arg(long)]
    pub(crate) listen_anywhere: bool,
    /// Unix socket for `destage device`
    #[arg(long, value_name = "SOCKET")]
    pub(crate) control: Option<PathBuf>,
    /// Name of the export
    #[arg(long, value_name = "NAME", default_value = "")]
    pub(crate) export: String,
    /// Clients may only read
    #[arg(long)]
    pub(crate) read_only: bool,
    /// File that is the flash, and lasts; it is made if it is not there
    #[arg(long, value_name = "FILE", conflicts_with_all = ["backing", "read_only"])]
    pub(crate) image: Option<PathBuf>,
    /// File or block device that keeps the bytes, with the buffer in front of it; --capacity makes a file
    #[arg(long, value_name = "FILE|DEVICE")]
    pub(crate) backing: Option<PathBuf>,
    /// How the model's time goes with ours: model, a request is answered when its time has come; none, as soon as it is
    /// worked out
    #[arg(long, value_enum, default_value = "none")]
    pub(crate) pace: PaceArgument,
    #[command(flatten)]
    pub(crate) device: DeviceArguments,
    #[command(flatten)]
    pub(crate) cache: CacheArguments,
    /// What clients write, as the kernel's dm-log-writes keeps it: replay-log of xfstests reads it
    #[arg(long, value_name = "FILE")]
    pub(crate) write_log: Option<PathBuf>,
    /// What clients do, as a trace: .csv, .compact or .disksim
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// One line per request: index, times of arrival and response, sectors, operation
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) response_log: Option<PathBuf>,
    /// One line per destage: time, cause, pages, padding
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) destage_log: Option<PathBuf>,
    /// Responses as fio's JSON (json+), for programs that draw those, such as fio-plot
    #[arg(long, value_name = "FILE.json")]
    pub(crate) fio_json: Option<PathBuf>,
    /// At the end, parameters and metrics as JSON in place of a table
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

/// What a loss of power meets.
#[derive(Args)]
pub(crate) struct CacheArguments {
    /// Volatile write cache: on, writes are answered from RAM; off, when they are programmed; short for device.vwc
    #[arg(long, value_name = "on|off")]
    pub(crate) vwc: Option<String>,
    /// Capacitor against loss of power: its energy in joules, or one that does not work; short for device.plp
    #[arg(long, value_name = "none|JOULES|failed")]
    pub(crate) plp: Option<String>,
}

impl CacheArguments {
    /// As options that are short for keys.
    pub(crate) fn short(&self) -> [Short<'_>; 2] {
        [
            ("vwc", "device.vwc", &self.vwc),
            ("plp", "device.plp", &self.plp),
        ]
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum PaceArgument {
    None,
    Model,
}

#[derive(Args)]
pub(crate) struct OperatorArguments {
    /// Control socket of the server
    #[arg(value_name = "SOCKET")]
    pub(crate) socket: PathBuf,
    #[command(subcommand)]
    pub(crate) command: OperatorCommand,
}

#[derive(Subcommand)]
pub(crate) enum OperatorCommand {
    /// The metrics of a run that ended now
    Stats {
        /// JSON on standard output, and nothing else there
        #[arg(long)]
        json: bool,
    },
    /// The metrics again and again, until it is interrupted
    Watch {
        /// Seconds in between
        #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = interval)]
        interval: f64,
    },
    /// Makes everything durable that was answered
    Flush,
    /// Cuts the power, now or when something has happened; clients are dropped until it is restored
    Cut(CutOrderArguments),
    /// Cancels the cut that is armed: its command ends with an error
    Cancel,
    /// Restores the power: the device is mounted
    Restore {
        /// JSON on standard output, and nothing else there
        #[arg(long)]
        json: bool,
    },
    /// What was promised: sectors, those of which something is promised, versions that may be there besides
    Ledger {
        /// All of it, a line per sector: sector, version that must be there, versions that may be
        #[arg(long, value_name = "FILE.csv")]
        to: Option<PathBuf>,
        /// JSON on standard output, and nothing else there
        #[arg(long)]
        json: bool,
    },
    /// Holds the contents against what was promised; ends with status 1 if a sector does not hold it
    Check {
        /// JSON on standard output, and nothing else there
        #[arg(long)]
        json: bool,
    },
    /// Makes everything durable, and ends the server
    Stop,
}

#[derive(Args)]
pub(crate) struct CrashArguments {
    /// What is on the device; none: the program speaks NBD, at $DESTAGE_URI
    #[arg(long, value_name = "FS", value_enum)]
    pub(crate) fs: FileSystemArgument,
    /// How often the power is cut, each time on a new device
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cuts: u32,
    /// Decides when in its part of the run each cut comes, and what it leaves open; cut K of N, counted from 0, has the seed S + K and
    /// comes in the K-th of N equal parts
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// What `sh -c` runs when the power is back and the file system mounted: it ends with 0 if everything is there
    #[arg(long, value_name = "COMMAND")]
    pub(crate) check: Option<String>,
    #[command(flatten)]
    pub(crate) moment: FixedMoment,
    /// How the model's time goes with ours
    #[arg(long, value_enum, default_value = "none")]
    pub(crate) pace: PaceArgument,
    #[command(flatten)]
    pub(crate) device: DeviceArguments,
    #[command(flatten)]
    pub(crate) cache: CacheArguments,
    #[command(flatten)]
    pub(crate) noise: Noise,
    /// The program, and its arguments. It finds the folder $DESTAGE_DIR on the device; what it writes to the folder
    /// $DESTAGE_NOTES is not on the device, and --check finds it there. $DESTAGE_SEED is the seed of the cut
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// The one moment of all cuts, in place of one for each.
#[derive(Args)]
#[group(multiple = false)]
pub(crate) struct FixedMoment {
    /// Every cut at this write from the start of the program on, in place of a moment by the seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at_write: Option<u64>,
    /// Every cut at this flush
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at_flush: Option<u64>,
    /// Every cut in this page program
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at_program: Option<u64>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum FileSystemArgument {
    Ext4,
    Xfs,
    Btrfs,
    None,
}

#[derive(Args)]
pub(crate) struct CutOrderArguments {
    #[command(flatten)]
    pub(crate) moment: MomentArguments,
    /// Fixes what a cut leaves open; sim.seed if not given
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// JSON on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

/// When the power fails.
#[derive(Args)]
#[group(multiple = false)]
pub(crate) struct MomentArguments {
    /// When the device accepts the N-th write from now on, write-zeroes included
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at_write: Option<u64>,
    /// When the device accepts the N-th flush from now on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at_flush: Option<u64>,
    /// While the N-th page program from now on runs, of copies too; --seed says where in it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at_program: Option<u64>,
    /// After T milliseconds of the model's time
    #[arg(long, value_name = "T")]
    pub(crate) at_ms: Option<f64>,
}

#[derive(Args)]
pub(crate) struct ReplayArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz; `-` is standard input
    #[arg(required_unless_present = "workload", conflicts_with = "workload")]
    pub(crate) trace: Option<PathBuf>,
    /// Synthetic workload in place of a trace, or a job file of fio, which says how many requests are under way
    #[arg(short, long, value_name = "NAME[:k=v,...]")]
    pub(crate) workload: Option<String>,
    /// The server and its export: nbd+unix:///EXPORT?socket=PATH or nbd://HOST:PORT/EXPORT
    #[arg(long, value_name = "URI")]
    pub(crate) to: String,
    /// Each request when an earlier one is answered, in place of the times of the trace
    #[arg(long)]
    pub(crate) closed: bool,
    /// Requests under way with --closed
    #[arg(long, value_name = "N", default_value_t = 1, requires = "closed", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) depth: u32,
    /// Factor on times of arrival
    #[arg(long, value_name = "X", conflicts_with = "closed", value_parser = scale)]
    pub(crate) time_scale: Option<f64>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
    /// One line per request: index, times it was due and until its answer, sectors, operation
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) response_log: Option<PathBuf>,
    /// Responses as fio's JSON (json+), for programs that draw those, such as fio-plot
    #[arg(long, value_name = "FILE.json")]
    pub(crate) fio_json: Option<PathBuf>,
    /// JSON on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

fn scale(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok();
    factor
        .filter(|factor| (0.0..=1e9).contains(factor))
        .ok_or_else(|| "expected a factor from 0 to 1e9".to_owned())
}

fn interval(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok();
    seconds
        .filter(|seconds| (0.01..=86_400.0).contains(seconds))
        .ok_or_else(|| "expected 0.01 to 86400 seconds".to_owned())
}
