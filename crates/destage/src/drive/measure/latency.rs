//! The loads of the experiment latency over load, and their requests.

use serde::{Deserialize, Serialize};

use super::load::{Arrivals, BLOCK_BYTES, Load, Steady};
use crate::drive::check::{LATENCY_DEPTH, STREAM_PER_S, WRITE_SHARE};

/// The loads, as fractions of the saturated write rate. The last load is beyond saturation.
const SHARES: [f64; 10] = [0.1, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.1];
/// The fraction of writes while the saturated rate is measured. The load beyond saturation has about the same
/// fraction of writes.
const PROBED_WRITES: f64 = 0.9;

/// One load with its results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OfLoad {
    /// Writes offered per second. The reads among the requests of the streams whose rate depends on the load, 1 % of
    /// these requests, are included.
    pub offered: f64,
    pub steady: Steady,
}

/// The load that measures the saturated write rate of the drive.
pub(super) fn probe() -> Load {
    Load {
        arrivals: Arrivals::Closed {
            depth: LATENCY_DEPTH as u32,
        },
        writes: PROBED_WRITES,
        bytes: BLOCK_BYTES,
        sequential: false,
    }
}

/// `number` rounded to three significant digits.
fn short(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

/// The reads per second, and also the writes per second, of the stream that has the same rate at every load.
/// `saturated` is the saturated write rate of the drive, per second.
pub(super) fn stream_per_s(saturated: f64) -> f64 {
    STREAM_PER_S.min((saturated * SHARES[0]).floor().max(1.0))
}

/// The writes offered per second, and the load, for each load up to saturation and the one beyond saturation.
pub(super) fn loads(saturated: f64) -> Vec<(f64, Load)> {
    let stream = stream_per_s(saturated);
    let of_share = |share: f64| {
        let offered = short(share * saturated).max(stream);
        let others = offered - stream;
        let writes = stream + WRITE_SHARE * others;
        let all = 2.0 * stream + others;
        let depth = LATENCY_DEPTH as u32;
        let load = Load {
            arrivals: match share > 1.0 {
                true => Arrivals::Closed { depth },
                false => Arrivals::Open { per_s: all, depth },
            },
            writes: writes / all,
            ..probe()
        };
        (offered, load)
    };
    SHARES.map(of_share).to_vec()
}
