//! The simulator: virtual clock, order of events, model of the host, construction of buffer and device, and metrics.
//!
//! | module | holds |
//! | --- | --- |
//! | [`settings`], [`parameters`], [`profiles`] | the text of the user's settings, and the checked [`settings::Config`] that is made from this text |
//! | [`check`] | the needs and exclusions of parameters, and the check of a whole configuration against them |
//! | [`capacity`], [`size`] | the number of blocks of a device, if the user gives none |
//! | [`renamed`] | names of earlier versions, which are refused with a hint to the new names |
//! | [`run`] | runs of a configuration on requests, given all at once or one after the other |
//! | [`engine`] | the event-driven run, which uses [`host`], [`queues`] and [`events`]; [`wire`] is the link between host and device |
//! | [`op_count`] | the run without a clock |
//! | [`explain`] | what the requests of a run wait for, and the course of the run |
//! | [`curve`] | results for all sizes of a page-level LRU buffer, from one pass over the requests |
//! | [`sample`] | the hit ratios of large buffers, measured on samples of their blocks |
//! | [`power`] | the run with bytes and a loss of power |
//! | [`paging`], [`source`] | the division of requests into pages; the sources of requests |
//! | [`meter`], [`measured`] | `Totals`: operations and time of the dies; `Measured`: all that a run measures |
//! | [`prepass`] | the pass over all requests that a few configurations need before the run |
//! | [`limits`] | limits at which a run may stop early |
//! | [`latencies`], [`metrics`] | `Summary`: statistics of one set of times; `Metrics`: the named results |
//! | [`precondition`], [`state`] | the contents of the device before the first request; files that store these contents |
//! | [`observer`] | logs, progress, interruption |
//! | [`watch`] | a recording of the beginning of a run, for display |
//! | [`error`] | the errors in a user's input |

mod bytes;
pub mod capacity;
pub mod check;
mod config;
pub mod contract;
pub mod course;
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
mod probes;
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
