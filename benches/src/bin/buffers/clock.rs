//! Measures the processor time of the current thread, which does not include the time of other programs.

use rustix::time::{ClockId, clock_gettime};

/// A measurement of processor time that has started.
pub struct Stopwatch(f64);

impl Stopwatch {
    /// Starts a measurement.
    pub fn start() -> Self {
        Self(now())
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        now() - self.0
    }
}

fn now() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
