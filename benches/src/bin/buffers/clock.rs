//! Seconds of this thread's processor time, which do not depend on other programs.

use rustix::time::{ClockId, clock_gettime};

/// Begins a measurement.
pub struct Stopwatch(f64);

impl Stopwatch {
    /// Starts now.
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
