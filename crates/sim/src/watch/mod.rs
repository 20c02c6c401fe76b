//! A watched run: the buffer's lists after each page, the pages that leave the buffer, and the work of the dies.
//!
//! ```text
//!   engine --(what a `Probe` hears)--> Watcher --> Recording: requests, events, intervals of the dies
//! ```
//!
//! The state of the buffer is a sequence of [tokens](Token), and each event holds the changes that it makes to this
//! sequence. So the state after an event is the result of the changes of all events up to this event. Memory is
//! bounded. When [`MOST_REQUESTS`] or another bound is reached, recording stops and the run continues.

mod changes;
mod commands;
mod recording;
mod watcher;

pub use self::changes::{Splice, changes};
pub use self::recording::{
    Asked, Event, Held, Interval, Part, Recording, Stop, Token, WatchedRecord, What,
};
pub use self::watcher::Watcher;

use crate::check::Purpose;
use crate::error::SimError;
use crate::observer::Observer;
use crate::prepass::Prepass;
use crate::probes::Probes;
use crate::run::{RunResult, Simulation};
use crate::settings::Config;
use crate::source::Source;

/// Maximum number of requests that are recorded.
pub const MOST_REQUESTS: usize = 5_000;
/// Maximum number of events that are recorded.
pub const MOST_EVENTS: usize = 20_000;
/// Maximum number of steps of dies that are recorded.
pub const MOST_INTERVALS: usize = 60_000;
/// Maximum number of tokens in the changes of all events together.
pub const MOST_TOKENS: usize = 1_000_000;
/// Maximum number of pages of a buffer that is watched.
pub const MOST_PAGES: u32 = 4_096;

/// Simulates `source` under `config`, as [`run`](crate::run::run()) does, and records the beginning of the run.
/// Returns the result, the recording and the source.
///
/// # Errors
/// The errors are those of [`run`](crate::run::run()).
pub fn watched_run<'a>(
    config: &Config,
    mut source: Source<'a>,
    prepass: &Prepass,
    observer: &mut dyn Observer,
) -> Result<((RunResult, Recording), Source<'a>), SimError> {
    config.check(Purpose::Watch)?;
    let ftl = config.prepared_ftl(observer)?;
    let mut recording = Recording::new(config.geometry().dies);
    let probes = Probes {
        watcher: Some(config.watcher(&mut recording)),
        ..Probes::default()
    };
    let origin = source.origin().to_owned();
    let observer = Box::new(observer);
    let mut run = Simulation::probed(config, &origin, ftl, prepass, probes, observer)?;
    let mut batch = Vec::new();
    while source.fill(&mut batch)? && run.feed(&batch)? {}
    let result = run.finish()?;
    Ok(((result, recording), source))
}
