//! The arguments of the commands for a live device.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use crate::args::{DeviceArguments, Noise, Reading, SettingArguments};
use crate::choices::Short;

#[derive(Args)]
#[command(group(ArgGroup::new("place").required(true).args(["unix", "tcp"])))]
pub(crate) struct ServeArguments {
    /// Unix socket that clients connect to. Only the owner of the socket may use it
    #[arg(long, value_name = "SOCKET")]
    pub(crate) unix: Option<PathBuf>,
    /// Address that clients connect to, such as 127.0.0.1:10809. Port 0 selects a free port
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) tcp: Option<String>,
    /// Also allows addresses that other machines can reach, although connections are not encrypted
    #[arg(long)]
    pub(crate) listen_anywhere: bool,
    /// Unix socket that `destage device` connects to
    #[arg(long, value_name = "SOCKET")]
    pub(crate) control: Option<PathBuf>,
    /// Name of the export
    #[arg(long, value_name = "NAME", default_value = "")]
    pub(crate) export: String,
    /// Clients may only read
    #[arg(long)]
    pub(crate) read_only: bool,
    /// File that stores the flash, and remains when the server ends. Without --read-only, a missing file is made
    #[arg(long, value_name = "FILE", conflicts_with = "backing")]
    pub(crate) image: Option<PathBuf>,
    /// File or block device that stores the bytes, behind the buffer. With --capacity a missing file is made
    #[arg(long, value_name = "FILE|DEVICE")]
    pub(crate) backing: Option<PathBuf>,
    /// How model time relates to wall-clock time. With model, the server answers a request when the simulated
    /// response time of the request has passed. With none, the server answers a request as soon as it is simulated
    #[arg(long, value_enum, default_value = "none")]
    pub(crate) pace: PaceArgument,
    #[command(flatten)]
    pub(crate) device: DeviceArguments,
    #[command(flatten)]
    pub(crate) cache: CacheArguments,
    #[command(flatten)]
    pub(crate) logs: LogArguments,
    /// Prints parameters and metrics at the end as JSON in place of a table
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

/// The files that record the clients' requests and the work of the device.
#[derive(Args)]
pub(crate) struct LogArguments {
    /// Records the clients' writes in the format of the kernel's dm-log-writes, which replay-log of xfstests reads
    #[arg(long, value_name = "FILE")]
    pub(crate) write_log: Option<PathBuf>,
    /// Records the clients' requests as a trace: .csv, .compact or .disksim
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Logs one line per request: index, arrival time, response time, sectors, operation
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) response_log: Option<PathBuf>,
    /// Logs one line per destage: time, cause, pages, padding
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) destage_log: Option<PathBuf>,
    /// Writes response times as fio's JSON (json+), for programs that plot such files, such as fio-plot
    #[arg(long, value_name = "FILE.json")]
    pub(crate) fio_json: Option<PathBuf>,
}

/// The protection of the device against a loss of power.
#[derive(Args)]
pub(crate) struct CacheArguments {
    /// Volatile write cache. With on, writes are answered from RAM. With off, writes are answered when they are
    /// programmed. Short for device.vwc
    #[arg(long, value_name = "on|off")]
    pub(crate) vwc: Option<String>,
    /// Capacitor against loss of power: its energy in joules, none, or failed for a capacitor that does not work when
    /// it is needed. Short for device.plp
    #[arg(long, value_name = "none|JOULES|failed")]
    pub(crate) plp: Option<String>,
}

impl CacheArguments {
    /// The options, and the parameters for which the options are short.
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
    /// Prints the metrics, as if the run ended now
    Stats {
        /// Prints JSON and nothing else on standard output
        #[arg(long)]
        json: bool,
    },
    /// Prints the metrics again and again, until the command is interrupted
    Watch {
        /// Seconds between two outputs
        #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = interval)]
        interval: f64,
    },
    /// Makes all answered writes durable
    Flush,
    /// Cuts the power, now or at a given moment. No client can connect until the power is restored
    Cut(CutOrderArguments),
    /// Cancels a cut that has not happened yet. The command that ordered the cut ends with an error
    Cancel,
    /// Restores the power, and mounts the device
    Restore {
        /// Prints JSON and nothing else on standard output
        #[arg(long)]
        json: bool,
    },
    /// Prints the counts of the ledger: the number of sectors, how many of them must have a certain version, and how
    /// many other versions may be found
    Ledger {
        /// Writes a line for each sector to a file: the sector, the version that must be there, the versions that
        /// may be there
        #[arg(long, value_name = "FILE.csv")]
        to: Option<PathBuf>,
        /// Prints JSON and nothing else on standard output
        #[arg(long)]
        json: bool,
    },
    /// Reads every sector, and checks that it holds a version that the answered writes and flushes allow. Exits with
    /// status 1 if a sector does not
    Check {
        /// Prints JSON and nothing else on standard output
        #[arg(long)]
        json: bool,
    },
    /// Makes all answered writes durable, and ends the server
    Stop,
}

#[derive(Args)]
pub(crate) struct CrashArguments {
    /// The file system on the device. With none, the program itself speaks NBD, with the server at $DESTAGE_URI
    #[arg(long, value_name = "FS", value_enum)]
    pub(crate) fs: FileSystemArgument,
    /// Number of cuts, each on a new device
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cuts: u32,
    /// Seed of the moments of the cuts, and of all random choices in a cut. Cut K of N, counted from 0, has the seed
    /// S + K and happens in the K-th of N equal parts of the run
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Command for `sh -c` that runs when the power is restored and the file system is mounted. It has to exit with 0
    /// if all data are correct
    #[arg(long, value_name = "COMMAND")]
    pub(crate) check: Option<String>,
    #[command(flatten)]
    pub(crate) moment: FixedMoment,
    /// How model time relates to wall-clock time: model or none, as for `destage serve`
    #[arg(long, value_enum, default_value = "none")]
    pub(crate) pace: PaceArgument,
    #[command(flatten)]
    pub(crate) device: DeviceArguments,
    #[command(flatten)]
    pub(crate) cache: CacheArguments,
    #[command(flatten)]
    pub(crate) noise: Noise,
    /// The program, and its arguments. The folder $DESTAGE_DIR is on the device. The folder $DESTAGE_NOTES is not on
    /// the device: the program writes to this folder what --check needs. $DESTAGE_SEED is the seed of the cut
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// A moment that is the same for all cuts, instead of a random one for each.
#[derive(Args)]
#[group(multiple = false)]
pub(crate) struct FixedMoment {
    /// Cuts the power at the N-th write that the device accepts after the start of the command, every time; without this
    /// option, each cut comes at a random moment
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at_write: Option<u64>,
    /// Cuts the power at the N-th flush after the start of the command, every time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at_flush: Option<u64>,
    /// Cuts the power during the N-th page program after the start of the command, every time
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
    /// Seed of the random choices in a cut. Without this option, the seed is sim.seed
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Prints JSON and nothing else on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// The moment at which the power fails.
#[derive(Args)]
#[group(multiple = false)]
pub(crate) struct MomentArguments {
    /// Cuts the power when the device accepts the N-th write from now on; write-zeroes commands count
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at_write: Option<u64>,
    /// Cuts the power when the device accepts the N-th flush from now on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at_flush: Option<u64>,
    /// Cuts the power while the N-th page program from now on runs; copies count as programs. --seed determines the
    /// moment within the program
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at_program: Option<u64>,
    /// Cuts the power after T milliseconds of model time
    #[arg(long, value_name = "T")]
    pub(crate) at_ms: Option<f64>,
}

#[derive(Args)]
pub(crate) struct ReplayArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz; `-` is standard input
    #[arg(required_unless_present = "workload", conflicts_with = "workload")]
    pub(crate) trace: Option<PathBuf>,
    /// Synthetic workload in place of a trace; or a .fio job file, which also gives the queue depth
    #[arg(short, long, value_name = "NAME[:k=v,...]")]
    pub(crate) workload: Option<String>,
    /// The server and its export: nbd+unix:///EXPORT?socket=PATH or nbd://HOST:PORT/EXPORT
    #[arg(long, value_name = "URI")]
    pub(crate) to: String,
    /// Sends each request when an earlier one is answered, and ignores the times of the trace
    #[arg(long)]
    pub(crate) closed: bool,
    /// Queue depth: the number of requests in flight with --closed
    #[arg(long, value_name = "N", default_value_t = 1, requires = "closed", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) depth: u32,
    /// Factor by which arrival times are multiplied
    #[arg(long, value_name = "X", conflicts_with = "closed", value_parser = scale)]
    pub(crate) time_scale: Option<f64>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
    /// Logs one line per request: index, arrival time in the trace, measured response time, sectors, operation
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) response_log: Option<PathBuf>,
    /// Writes response times as fio's JSON (json+), for programs that plot such files, such as fio-plot
    #[arg(long, value_name = "FILE.json")]
    pub(crate) fio_json: Option<PathBuf>,
    /// Prints JSON and nothing else on standard output
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
