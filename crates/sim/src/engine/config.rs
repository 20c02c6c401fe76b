//! The configuration of an event-driven run, apart from its device.

use destage_base::{Ticks, choices};

use super::front::FrontConfig;
use crate::events::Clock;
use crate::host::{Attribution, JobTimes, Scheduler};
use crate::paging::Addressing;

choices! {
    /// When statistics close.
    pub enum Window {
        /// When every request is complete.
        Complete = "complete",
        /// When the last request arrives. No statistic counts requests that are not complete at that time.
        LastArrival = "last_arrival",
    }
}

choices! {
    /// When requests arrive.
    pub enum Replay {
        /// At their times in the trace.
        Trace = "trace",
        /// Whenever a request completes, so that always as many requests are outstanding as the queue depth allows.
        Closed = "closed",
    }
}

/// Which values are measured, and the window of statistics.
#[derive(Clone, Copy, Debug)]
pub struct Statistics {
    /// Number of requests before statistics open.
    pub warmup: u64,
    /// When statistics close.
    pub window: Window,
    /// Whether dirty ages are reported.
    pub dirty_ages: bool,
    /// Maximum number of response times of each kind that are stored one by one. With more response times,
    /// percentiles are at most a thousandth too large.
    pub exact_responses: usize,
}

/// Host and run parameters of the engine.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Maximum number of requests in the device at a time.
    pub queue_depth: u32,
    /// Which waiting request is sent next.
    pub scheduler: Scheduler,
    /// Host bus time per sector, in ticks.
    pub bus_per_sector: Ticks,
    /// The front end between host and buffer; `None` if there is only the host bus.
    pub front: Option<FrontConfig>,
    /// How the end of a span of time is computed.
    pub clock: Clock,
    /// When requests arrive.
    pub replay: Replay,
    /// The times of the host's thread in a closed loop. `None` if the thread takes no time.
    pub job: Option<JobTimes>,
    /// Factor by which the times of arrival are multiplied.
    pub time_scale: f64,
    /// The request to which a completion is credited.
    pub attribution: Attribution,
    /// Number of outstanding requests at which the run stops. With a number that cannot be reached, the run never
    /// stops for this reason.
    pub saturation: u64,
    /// Whether the run continues after the last request until the device is clean or has nothing more to do.
    pub run_out: bool,
    /// Whether remaining dirty pages are destaged at the end.
    pub drain: bool,
    /// How requests are split into pages.
    pub addressing: Addressing,
    /// Which values are measured, and when.
    pub statistics: Statistics,
}
