//! What an event-driven run needs to know besides its device.

use destage_base::{Ticks, choices};

use super::front::FrontConfig;
use crate::events::Clock;
use crate::host::{Attribution, Scheduler};
use crate::paging::Addressing;

choices! {
    /// When statistics close.
    pub enum Window {
        /// When every request is complete.
        Complete = "complete",
        /// When the last request arrives; requests not complete by then are in no statistic.
        LastArrival = "last_arrival",
    }
}

choices! {
    /// When requests arrive.
    pub enum Replay {
        /// By their timestamps.
        Trace = "trace",
        /// Each when an earlier one completes, the queue depth outstanding.
        Closed = "closed",
    }
}

/// Host and run parameters of the engine.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Requests kept outstanding at the device.
    pub queue_depth: u32,
    /// Which waiting request is sent next.
    pub scheduler: Scheduler,
    /// Host bus time per sector, in ticks.
    pub bus_per_sector: Ticks,
    /// What else lies between host and buffer, if anything does.
    pub front: Option<FrontConfig>,
    /// How times are added.
    pub clock: Clock,
    /// When requests arrive.
    pub replay: Replay,
    /// Factor on the times of arrival.
    pub time_scale: f64,
    /// To whom completions are credited.
    pub attribution: Attribution,
    /// Outstanding requests at which the run stops; more than there can be: never.
    pub saturation: u64,
    /// Requests before statistics open.
    pub warmup: u64,
    /// When statistics close.
    pub window: Window,
    /// Go on after the last request for as long as the device has work of its own.
    pub run_out: bool,
    /// Destage what is left at the end.
    pub drain: bool,
    /// Report how long pages were dirty.
    pub dirty_ages: bool,
    /// How requests become pages.
    pub addressing: Addressing,
    /// Response times kept one by one, of each kind.
    pub exact_responses: usize,
}
