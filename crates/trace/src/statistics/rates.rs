//! The busiest second of a trace.

use destage_base::Ticks;
use destage_base::time::TICKS_PER_SECOND;

/// Counts the requests and sectors of each second from the first arrival on, and keeps the largest counts.
#[derive(Debug, Default)]
pub(super) struct Rates {
    first: Option<Ticks>,
    second: u64,
    current: [u64; 2],
    peaks: [u64; 2],
}

impl Rates {
    /// Counts a request that moves `sectors` sectors. Requests must be given in order of arrival.
    pub fn add(&mut self, arrival: Ticks, sectors: u64) {
        let first = *self.first.get_or_insert(arrival);
        let second = arrival.saturating_sub(first) / TICKS_PER_SECOND;
        if second != self.second {
            self.peaks = self.peaks();
            self.second = second;
            self.current = [0; 2];
        }
        self.current[0] += 1;
        self.current[1] += sectors;
    }

    /// The largest number of requests and the largest number of sectors in a second. The two maxima may be from
    /// different seconds.
    pub fn peaks(&self) -> [u64; 2] {
        [0, 1].map(|what| self.peaks[what].max(self.current[what]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_count_from_the_first_arrival() {
        let mut rates = Rates::default();
        let half = TICKS_PER_SECOND / 2;
        for (halves, sectors) in [(1, 1), (2, 1), (3, 9), (4, 1), (9, 4)] {
            rates.add(halves * half, sectors);
        }
        assert_eq!(rates.peaks(), [2, 10]);
    }
}
