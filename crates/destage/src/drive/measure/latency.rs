//! Latency over load: the loads, and their requests.

use serde::{Deserialize, Serialize};

use super::load::{Arrivals, BLOCK_BYTES, Load, Steady};
use crate::drive::check::{LATENCY_DEPTH, STREAM_PER_S, WRITE_SHARE};

/// Loads, as shares of the saturating load. The last is beyond that.
const SHARES: [f64; 10] = [0.1, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.1];
/// Share of writes during the search for the saturating load: about that of the load beyond.
const PROBED_WRITES: f64 = 0.9;

/// A load and its results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OfLoad {
    /// Offered writes per second, apart from the 1 % of reads among the requests of the other streams.
    pub offered: f64,
    pub steady: Steady,
}

/// The load that finds the saturated rate of the drive.
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

/// `number` with three digits that count.
fn short(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

/// Reads, and equally many writes, per second of the stream whose rate does not depend on the load, on a drive that `saturated` writes a second
/// saturate.
pub(super) fn stream_per_s(saturated: f64) -> f64 {
    STREAM_PER_S.min((saturated * SHARES[0]).floor().max(1.0))
}

/// The writes offered per second, and the load, of each step up to the saturating load and beyond it.
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
