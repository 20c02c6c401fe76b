//! The load over time, in bounded memory.

/// The reads and writes that arrive in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// The numbers of reads and of writes.
    pub requests: [u64; 2],
    /// The sectors of reads and of writes.
    pub sectors: [u64; 2],
}

/// Counts reads and writes by the interval in which they arrive. When there are too many intervals, each two
/// neighbouring intervals are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The binary logarithm of the length of an interval in microseconds.
    shift: u32,
    intervals: Vec<Interval>,
}

impl Load {
    /// The largest number of intervals.
    pub const SIZE: usize = 512;

    pub(super) fn new() -> Self {
        Self {
            shift: 0,
            intervals: Vec::new(),
        }
    }

    /// Counts a request that arrives `microseconds` after the first one. `kind` is 0 for reads and 1 for
    /// writes.
    pub(super) fn add(&mut self, microseconds: u64, kind: usize, sectors: u64) {
        while microseconds >> self.shift >= Self::SIZE as u64 {
            let pairs = self.intervals.chunks(2);
            self.intervals = pairs
                .map(|pair| pair.iter().fold(Interval::default(), sum))
                .collect();
            self.shift += 1;
        }
        let index = (microseconds >> self.shift) as usize;
        if index >= self.intervals.len() {
            self.intervals.resize(index + 1, Interval::default());
        }
        let interval = &mut self.intervals[index];
        interval.requests[kind] += 1;
        interval.sectors[kind] += sectors;
    }

    /// The length of an interval in microseconds.
    #[must_use]
    pub fn interval(&self) -> u64 {
        1 << self.shift
    }

    /// The intervals, from the first arrival on.
    #[must_use]
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }
}

fn sum(one: Interval, other: &Interval) -> Interval {
    let both = |of: fn(&Interval) -> [u64; 2]| {
        let ([a, b], [c, d]) = (of(&one), of(other));
        [a + c, b + d]
    };
    Interval {
        requests: both(|interval| interval.requests),
        sectors: both(|interval| interval.sectors),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_double_and_lose_nothing() {
        let mut load = Load::new();
        load.add(0, 0, 8);
        load.add(511, 1, 4);
        assert_eq!((load.interval(), load.intervals().len()), (1, 512));
        load.add(513, 1, 2);
        assert_eq!((load.interval(), load.intervals().len()), (2, 257));
        load.add(1 << 40, 0, 1);
        assert!(load.intervals().len() <= Load::SIZE);
        let all = load.intervals().iter().fold(Interval::default(), sum);
        assert_eq!((all.requests, all.sectors), ([2, 2], [9, 6]));
        assert_eq!(load.intervals()[0].requests, [1, 2]);
    }
}
