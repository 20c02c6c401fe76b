//! The device behind the server, and how its time goes with ours.

use std::io;
use std::time::{Duration, Instant};

use destage_base::Ticks;
use destage_base::time::TICKS_PER_NS;
use destage_device::backed::Fault;
use destage_sim::latencies::{Counted, Summary};
use destage_sim::metrics::Metrics;
use destage_sim::run::live::{Ask, Broken, Completion, Holds, Live};

/// How the model's time goes with ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// Not at all: a request is complete as soon as it is worked out, one after the other. The model's time is the sum of
    /// what it would have taken.
    None,
    /// They go together: a request is answered when the model's time has come, any number of them side by side.
    Model,
}

/// Makes what was written last, whatever happens to this process or to the machine.
pub type Sync = Box<dyn FnMut() -> io::Result<()> + Send>;

/// The device. See the [module](self).
pub struct Front<'a> {
    live: Live<'a>,
    /// What makes its bytes last, if anything does; the server has it while it runs.
    sync: Option<Sync>,
    pace: Pace,
    began: Instant,
    broken: Option<Broken>,
    in_flight: usize,
    /// How much later than in the model requests were complete.
    late: Counted,
}

impl<'a> Front<'a> {
    /// `live`, whose time begins now.
    #[must_use]
    pub fn new(live: Live<'a>, pace: Pace) -> Self {
        Self {
            live,
            sync: None,
            pace,
            began: Instant::now(),
            broken: None,
            in_flight: 0,
            late: Counted::default(),
        }
    }

    /// The same of a device whose bytes `sync` makes last: no flush, and nothing forced, is answered before.
    #[must_use]
    pub fn lasting(live: Live<'a>, pace: Pace, sync: Option<Sync>) -> Self {
        Self {
            sync,
            ..Self::new(live, pace)
        }
    }

    /// What makes its bytes last.
    pub(crate) fn take_sync(&mut self) -> Option<Sync> {
        self.sync.take()
    }

    /// Bytes that the device offers.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.live.sectors() * 512
    }

    /// Bytes of a page.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        self.live.sectors_per_page() * 512
    }

    /// Whether requests are complete at the model's time.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        self.pace == Pace::Model
    }

    /// Why the device is used no more, if it is not.
    #[must_use]
    pub fn broken(&self) -> Option<&Broken> {
        self.broken.as_ref()
    }

    /// The same, when the device goes.
    pub fn take_broken(&mut self) -> Option<Broken> {
        self.broken.take()
    }

    /// How long ago the device began, in ticks.
    #[must_use]
    pub fn since_began(&self) -> Ticks {
        let nanoseconds = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        nanoseconds.saturating_mul(TICKS_PER_NS)
    }

    /// Takes a request in. Without pace it is complete when this returns. A device that is broken takes nothing, and so
    /// does not complete anything.
    pub fn submit(&mut self, ask: &Ask<'_>) {
        if self.broken.is_some() {
            return;
        }
        let outcome = match self.pace {
            Pace::None => self
                .live
                .submit(self.live.now(), ask)
                .and_then(|()| self.live.advance_to_completion()),
            Pace::Model => self.live.submit(self.since_began(), ask),
        };
        self.in_flight += 1;
        self.broken = outcome.err();
    }

    /// Lets happen what is due by now.
    pub fn advance(&mut self) {
        if self.pace == Pace::Model && self.broken.is_none() {
            self.broken = self.live.advance(self.since_began()).err();
        }
    }

    /// Lets everything happen until a request is complete, whatever the time; whether there is one.
    pub fn hurry(&mut self) -> bool {
        if self.in_flight == 0 || self.broken.is_some() {
            return false;
        }
        self.broken = self.live.advance_to_completion().err();
        self.broken.is_none()
    }

    /// The next request that is complete.
    pub fn completed(&mut self) -> Option<Completion> {
        let completion = self.live.completed()?;
        self.in_flight -= 1;
        if self.pace == Pace::Model {
            let late = self.since_began().saturating_sub(completion.at);
            self.late.push(late);
        }
        Some(completion)
    }

    /// How much later than in the model requests were complete, up to now; of a device without pace nothing.
    #[must_use]
    pub fn lateness(&self) -> Option<Summary> {
        self.late.summary()
    }

    /// How long until something is due that a client waits for; none if nobody waits.
    #[must_use]
    pub fn due_in(&self) -> Option<Duration> {
        if self.in_flight == 0 || self.broken.is_some() {
            return None;
        }
        let ticks = self.live.next_time()?.saturating_sub(self.since_began());
        Some(Duration::from_nanos(ticks.div_ceil(TICKS_PER_NS)))
    }

    /// See [`Live::read`].
    ///
    /// # Errors
    /// As there.
    pub fn read(&self, sector: u64, sectors: u32, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.live.read(sector, sectors, out)
    }

    /// See [`Live::settle`].
    ///
    /// # Errors
    /// As there.
    pub fn settle(&mut self) -> Result<(), Fault> {
        self.live.settle()
    }

    /// See [`Live::holds`].
    #[must_use]
    pub fn holds(&self, sector: u64) -> (Holds, u64) {
        self.live.holds(sector)
    }

    /// The model's time, in ticks.
    #[must_use]
    pub fn now(&self) -> Ticks {
        self.live.now()
    }

    /// What a run that ended now would have for results.
    #[must_use]
    pub fn metrics(&mut self) -> Metrics {
        self.advance();
        self.live.metrics()
    }
}
