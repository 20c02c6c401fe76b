//! What may be typed about the device live.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use crate::args::{DeviceArguments, Noise, Reading, SettingArguments};

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
    /// What clients do, as a trace: .csv, .compact or .disksim
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// One line per request: index, times of arrival and response, sectors, operation
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) response_log: Option<PathBuf>,
    /// One line per destage: time, cause, pages, padding
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) destage_log: Option<PathBuf>,
    /// At the end, parameters and metrics as JSON in place of a table
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) noise: Noise,
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
    /// The same again and again, until it is interrupted
    Watch {
        /// Seconds in between
        #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = interval)]
        interval: f64,
    },
    /// Makes everything durable that was answered
    Flush,
    /// Makes everything durable, and ends the server
    Stop,
}

#[derive(Args)]
pub(crate) struct ReplayArguments {
    /// Trace file, plain or .gz .zst .bz2 .xz; `-` is standard input
    pub(crate) trace: PathBuf,
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
