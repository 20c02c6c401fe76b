//! The link between host and device, which transfers packets, and the time of a message on the link.

use destage_base::Ticks;
use destage_base::time::TICKS_PER_NS;

/// The content of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carried {
    /// No data: the message requests a queue entry, or data.
    Question,
    /// This number of bytes.
    Bytes(u64),
}

/// Bytes of a [`Carried::Question`] on the link.
const QUESTION: u64 = 32;
/// The message that announces a queue entry, or confirms a completion.
pub const DOORBELL: Carried = Carried::Bytes(2);
/// The message that contains a queue entry.
pub const ENTRY: Carried = Carried::Bytes(72);
/// The message that a request is complete.
pub const COMPLETION: Carried = Carried::Bytes(16);

/// A link with the same properties in both directions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wire {
    /// Number of parallel lanes; at least 1.
    pub lanes: u64,
    /// Bytes per nanosecond of each lane. With infinity, messages take no time.
    pub lane_gb_per_s: f64,
    /// The largest number of payload bytes in a packet; at least 1.
    pub payload: u64,
    /// The bytes that each packet has in addition to its payload.
    pub overhead: u64,
}

impl Wire {
    /// MQSim's link: four lanes, and packets of 128 bytes of payload and 28 of overhead.
    #[must_use]
    pub fn mqsim(lane_gb_per_s: f64) -> Self {
        Self {
            lanes: 4,
            lane_gb_per_s,
            payload: 128,
            overhead: 28,
        }
    }

    /// The bytes of a message on the link, including the overhead of its packets.
    #[must_use]
    pub fn bytes(&self, carried: Carried) -> u64 {
        let payload = match carried {
            Carried::Question => return QUESTION,
            Carried::Bytes(bytes) => bytes,
        };
        let rest = payload % self.payload;
        let part = if rest > 0 { rest + self.overhead } else { 0 };
        payload / self.payload * (self.payload + self.overhead) + part
    }

    /// The ticks that a message occupies the link, rounded down to whole nanoseconds.
    #[must_use]
    pub fn time(&self, carried: Carried) -> Ticks {
        let nanoseconds = self.bytes(carried).div_ceil(self.lanes) as f64 / self.lane_gb_per_s;
        (nanoseconds as u64).saturating_mul(TICKS_PER_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_whole_and_times_whole_nanoseconds() {
        let wire = Wire::mqsim(1.0);
        assert_eq!(wire.bytes(Carried::Bytes(8192)), 64 * 156);
        assert_eq!(wire.time(Carried::Bytes(8192)), 24_960);
        assert_eq!(wire.bytes(Carried::Bytes(130)), 156 + 30);
        let times = [DOORBELL, ENTRY, COMPLETION, Carried::Question].map(|said| wire.time(said));
        assert_eq!(times, [80, 250, 110, 80]);
        assert_eq!(Wire::mqsim(f64::INFINITY).time(ENTRY), 0);
        assert_eq!(Wire::mqsim(3.0).time(ENTRY), 80);
    }
}
