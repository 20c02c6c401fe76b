//! The simulator: virtual clock, event order, host model, wiring and metrics.
//!
//! | module | holds |
//! | --- | --- |
//! | [`settings`], [`parameters`], [`profiles`] | from the user's text to a checked [`settings::Config`] |
//! | [`check`] | the needs and exclusions of parameters, and the check of a whole configuration against them |
//! | [`capacity`], [`size`] | how many blocks a device has where no number is given |
//! | [`renamed`] | names of earlier versions, which are refused with the new ones |
//! | [`run`] | from a configuration and requests to results, all at once or as requests come |
//! | [`engine`] | the event-driven run, with [`host`], [`queues`], [`events`]; [`wire`] is the link to it |
//! | [`op_count`] | the run without a clock |
//! | [`explain`] | where the time of a run goes |
//! | [`curve`] | every size of a page-level LRU buffer in one pass |
//! | [`sample`] | large buffers measured on samples of their blocks |
//! | [`power`] | the run with bytes, whose power fails |
//! | [`paging`], [`source`] | requests become pages |
//! | [`meter`], [`measured`] | `Totals`: operations and time of the dies; `Measured`: all that a run measures |
//! | [`prepass`] | the pass over all requests that a few configurations need first |
//! | [`limits`] | where a run need not go on |
//! | [`latencies`], [`metrics`] | `Summary`: one set of times; `Metrics`: the named results |
//! | [`precondition`], [`state`] | the contents of the device before the first request; files that keep them |
//! | [`observer`] | logs, progress, interruption |
//! | [`watch`] | the beginning of a run recorded, to be watched |
//! | [`error`] | the errors in a user's input |

mod bytes;
pub mod capacity;
pub mod check;
mod config;
pub mod contract;
pub mod curve;
mod dispatch;
pub mod engine;
pub mod error;
pub mod events;
mod exclusions;
pub mod explain;
mod fits;
mod front;
mod handles;
pub mod host;
pub mod latencies;
pub mod limits;
mod mapping;
pub mod measured;
mod media;
pub mod merging;
pub mod meter;
pub mod metrics;
pub mod observer;
pub mod op_count;
pub mod paging;
pub mod parameters;
pub mod power;
pub mod precondition;
pub mod prepass;
pub mod profiles;
pub mod programs;
mod queue;
pub mod queues;
mod ranks;
pub mod renamed;
pub mod run;
pub mod sample;
pub mod settings;
pub mod size;
pub mod source;
pub mod state;
pub mod watch;
pub mod wire;
mod words;
