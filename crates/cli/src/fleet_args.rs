//! What may be typed after `destage fleet`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{Noise, Results, SettingArguments};

#[derive(Args)]
pub(crate) struct FleetArguments {
    /// The folder of volumes, which `destage trace partition` makes
    pub(crate) folder: PathBuf,
    /// Buffers: lru,fab or with parameters lru:lru_unit=request,fab; `all` is every one that can run
    #[arg(short, long, value_name = "LIST")]
    pub(crate) buffers: Option<String>,
    /// Capacities of each volume's buffer: 4MiB,8MiB, or from the first to the last by doubling: 256KiB..64MiB; the shared
    /// buffer has as much for each volume. If not given, 24 at most, from 64 pages to what the largest volume can need
    #[arg(short, long, value_name = "LIST")]
    pub(crate) sizes: Option<String>,
    /// The metric of the table
    #[arg(
        short,
        long,
        value_name = "METRIC",
        default_value = "buffer.destaged_pages"
    )]
    pub(crate) metric: String,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
    /// Where curves are kept, one file a curve. What is there already is not made again
    #[arg(long, value_name = "DIR", default_value = "destage-results")]
    pub(crate) results: PathBuf,
    /// Makes the I-th of N parts of the curves and no report; workers with the other parts share the folder of results
    #[arg(long, value_name = "I/N", conflicts_with_all = ["csv", "output"])]
    pub(crate) shard: Option<String>,
    /// Worker threads; all cores if not given. A curve is one thread
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    #[command(flatten)]
    pub(crate) sent: Results,
    #[command(flatten)]
    pub(crate) noise: Noise,
}
