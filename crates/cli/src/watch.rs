//! What watches a run: interruption, progress, logs.

use destage_base::Ticks;
use destage_buffer::destage::Destage;
use destage_sim::observer::{Observer, Response};

use crate::interrupt;
use crate::logs::Logs;
use crate::progress::Progress;

/// What a run does, in words.
pub(crate) fn run_of(buffer: &str, ftl: &str, trace: &str) -> String {
    format!("{buffer} over {ftl} for {trace}")
}

/// Watches one run.
pub(crate) struct Watch<'a> {
    progress: &'a Progress,
    seen: u64,
    /// The logs wanted, if any.
    pub(crate) logs: Logs,
}

impl<'a> Watch<'a> {
    /// Counts requests into `progress`.
    pub(crate) fn new(progress: &'a Progress, logs: Logs) -> Self {
        Self {
            progress,
            seen: 0,
            logs,
        }
    }
}

impl Observer for Watch<'_> {
    fn wants_responses(&self) -> bool {
        self.logs.responses.is_some()
    }

    fn response(&mut self, response: &Response) {
        if let Some(log) = &mut self.logs.responses {
            log.add(*response);
        }
    }

    fn wants_destages(&self) -> bool {
        self.logs.destages.is_some()
    }

    fn destage(&mut self, now: Ticks, record: &Destage) {
        if let Some(log) = &mut self.logs.destages {
            log.add(now, record);
        }
    }

    fn wants_erases(&self) -> bool {
        self.logs.erases.is_some()
    }

    fn erases(&mut self, die: u32, block: u32, erases: u32) {
        if let Some(log) = &mut self.logs.erases {
            log.add(die, block, erases);
        }
    }

    fn preparing(&mut self, done: u64, total: u64) -> bool {
        self.progress.prepare(done, total);
        !interrupt::asked()
    }

    fn progress(&mut self, requests: u64) -> bool {
        self.progress.advance(requests.saturating_sub(self.seen));
        self.seen = requests;
        // A log that cannot be written stops the run. The caller then gets the cause.
        !interrupt::asked() && !self.logs.failed()
    }
}
