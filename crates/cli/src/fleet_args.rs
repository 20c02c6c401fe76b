//! The arguments of `destage fleet`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{Noise, Results, SettingArguments};

#[derive(Args)]
pub(crate) struct FleetArguments {
    /// The folder of volumes that `destage trace partition` made
    pub(crate) folder: PathBuf,
    /// Buffers: lru,fab or with parameters lru:lru_unit=request,fab; `all` selects every buffer that can run
    #[arg(short, long, value_name = "LIST")]
    pub(crate) buffers: Option<String>,
    /// Capacities of each volume's buffer: a list such as 4MiB,8MiB, or a range 256KiB..64MiB of capacities that
    /// double from one to the next. The shared buffer has such a capacity times the number of volumes. Without this
    /// option, up to 24 capacities from 64 pages to the largest capacity that the largest volume can use
    #[arg(short, long, value_name = "LIST")]
    pub(crate) sizes: Option<String>,
    /// The metric that the table shows
    #[arg(
        short,
        long,
        value_name = "METRIC",
        default_value = "buffer.destaged_pages"
    )]
    pub(crate) metric: String,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
    /// Folder for the curves, one file for each curve. Curves that are in the folder already are not computed again
    #[arg(long, value_name = "DIR", default_value = "destage-results")]
    pub(crate) results: PathBuf,
    /// Computes the I-th of N parts of the curves, and writes no report. The workers that compute the other parts use
    /// the same folder of results
    #[arg(long, value_name = "I/N", conflicts_with_all = ["csv", "output"])]
    pub(crate) shard: Option<String>,
    /// Number of worker threads; by default one for each core. Each curve uses one thread
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    #[command(flatten)]
    pub(crate) sent: Results,
    #[command(flatten)]
    pub(crate) noise: Noise,
}
