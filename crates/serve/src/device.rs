//! The device behind the server, the relation of its time to the clock on the wall, and its power.

use std::io;
use std::time::{Duration, Instant};

use destage_base::Ticks;
use destage_base::time::TICKS_PER_NS;
use destage_device::backed::Fault;
use destage_device::ledger::Ledger;
use destage_sim::error::SimError;
use destage_sim::latencies::{Counted, Summary};
use destage_sim::metrics::Metrics;
use destage_sim::run::live::{Ask, Broken, Completion, Cut, CutAfter, Holds, Live, Off, Restored};

/// How the model's time goes with ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// Without a pace: a request is complete as soon as it is computed, one after the other. The model's time is the sum of the simulated times.
    None,
    /// The two clocks run together: a request is answered when the model's time has come, any number of requests in parallel.
    Model,
}

/// Makes written data durable, whatever happens to this process or to the machine.
pub type Sync = Box<dyn FnMut() -> io::Result<()> + Send>;

/// The device itself.
enum Power<'a> {
    On(Box<Live<'a>>),
    Off(Box<Off<'a>>),
    /// On its way from one to the other.
    Changes,
}

/// Why the power is not cut, or not back.
#[derive(Debug, thiserror::Error)]
pub enum PowerError {
    /// There is nothing to cut.
    #[error("the power is off already; expected restore")]
    Off,
    /// There is nothing to restore.
    #[error("the power is on; expected cut before restore")]
    On,
    /// It has a disk behind the buffer.
    #[error(
        "the bytes are on a disk behind the buffer, which has its own power; expected a device in RAM or an image"
    )]
    Disk,
    /// The device had failed before.
    #[error("the device is broken: {0}")]
    Broken(String),
    /// The layer cannot be mounted.
    #[error(transparent)]
    Mount(#[from] SimError),
}

/// The device. See the [module](self).
pub struct Front<'a> {
    power: Power<'a>,
    /// The function that makes its bytes durable, if there is one; the server has it while it runs.
    sync: Option<Sync>,
    pace: Pace,
    bytes: u64,
    page_bytes: u64,
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
            sync: None,
            pace,
            bytes: live.sectors() * 512,
            page_bytes: live.sectors_per_page() * 512,
            power: Power::On(Box::new(live)),
            began: Instant::now(),
            broken: None,
            in_flight: 0,
            late: Counted::default(),
        }
    }

    /// As above, for a device whose bytes `sync` makes durable: no flush, and no forced write, is answered before.
    #[must_use]
    pub fn lasting(live: Live<'a>, pace: Pace, sync: Option<Sync>) -> Self {
        Self {
            sync,
            ..Self::new(live, pace)
        }
    }

    /// The function that makes its bytes durable.
    pub(crate) fn take_sync(&mut self) -> Option<Sync> {
        self.sync.take()
    }

    /// Bytes that the device offers.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of a page.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// Whether requests are complete at the model's time.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        self.pace == Pace::Model
    }

    /// Why the device is no longer used, if it is not.
    #[must_use]
    pub fn broken(&self) -> Option<&Broken> {
        self.broken.as_ref()
    }

    /// Takes the reason why the device is no longer used, if there is one, when the device is dropped.
    pub fn take_broken(&mut self) -> Option<Broken> {
        self.broken.take()
    }

    /// How long ago the device began, in ticks.
    #[must_use]
    pub fn since_began(&self) -> Ticks {
        let nanoseconds = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        nanoseconds.saturating_mul(TICKS_PER_NS)
    }

    fn live(&self) -> Option<&Live<'a>> {
        match &self.power {
            Power::On(live) => Some(live),
            Power::Off(_) | Power::Changes => None,
        }
    }

    /// The device, if it is used.
    fn used(&mut self) -> Option<&mut Live<'a>> {
        match &mut self.power {
            Power::On(live) if self.broken.is_none() => Some(live),
            _ => None,
        }
    }

    /// Accepts a request. Without pace it is complete when this returns. A device that is broken or without power takes
    /// nothing, and so does not complete anything. When it arrived, in ticks since the device began; in the model's time,
    /// too, if that goes with ours.
    pub fn submit(&mut self, ask: &Ask<'_>) -> Ticks {
        let pace = self.pace;
        let arrival = match pace {
            Pace::None => self.since_began(),
            Pace::Model => self.since_began().max(self.now()),
        };
        let Some(live) = self.used() else {
            return arrival;
        };
        let outcome = match pace {
            Pace::None => live
                .submit(live.now(), ask)
                .and_then(|()| live.advance_to_completion())
                .and_then(|()| match live.fails_at() {
                    // Nothing but a client would let this time come.
                    Some(at) if live.fails_at_time().is_none() => live.advance(at),
                    _ => Ok(()),
                }),
            Pace::Model => live.submit(arrival, ask),
        };
        self.in_flight += 1;
        self.broken = outcome.err();
        arrival
    }

    /// The time that the model has reached, or ought to.
    fn present(&self) -> Ticks {
        match self.pace {
            Pace::None => self.now(),
            Pace::Model => self.since_began(),
        }
    }

    /// Processes all events that are due by now.
    pub fn advance(&mut self) {
        if self.pace == Pace::Model {
            let now = self.since_began();
            if let Some(live) = self.used() {
                self.broken = live.advance(now).err();
            }
        }
    }

    /// Lets everything happen until a request is complete, whatever the time; whether there is one.
    pub fn hurry(&mut self) -> bool {
        if self.in_flight == 0 {
            return false;
        }
        let Some(live) = self.used() else {
            return false;
        };
        let outcome = live.advance_to_completion();
        let has_failed = live.failed_at().is_some();
        self.broken = outcome.err();
        self.broken.is_none() && !has_failed
    }

    /// The next request that is complete.
    pub fn completed(&mut self) -> Option<Completion> {
        let Power::On(live) = &mut self.power else {
            return None;
        };
        let completion = live.completed()?;
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

    /// The time until the next event that a client waits for; `None` if no client waits.
    #[must_use]
    pub fn due_in(&mut self) -> Option<Duration> {
        let (in_flight, pace) = (self.in_flight, self.pace);
        let live = self.used()?;
        // Without pace no time comes by itself.
        let fails = live.fails_at().filter(|_| pace == Pace::Model);
        let next = live
            .next_time()
            .filter(|_| in_flight > 0 || (pace == Pace::Model && live.is_armed()));
        let ticks = next.into_iter().chain(fails).min()?;
        let ticks = ticks.saturating_sub(self.since_began());
        Some(Duration::from_nanos(ticks.div_ceil(TICKS_PER_NS)))
    }

    /// See [`Live::read`]; without power nothing.
    ///
    /// # Errors
    /// As there.
    pub fn read(&self, sector: u64, sectors: u32, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.live()
            .map_or(Ok(()), |live| live.read(sector, sectors, out))
    }

    /// See [`Live::settle`].
    ///
    /// # Errors
    /// As there.
    pub fn settle(&mut self) -> Result<(), Fault> {
        self.used().map_or(Ok(()), Live::settle)
    }

    /// See [`Live::holds`]; without power nothing at all.
    #[must_use]
    pub fn holds(&self, sector: u64) -> (Holds, u64) {
        match self.live() {
            Some(live) => live.holds(sector),
            None => (Holds::Nothing, u64::MAX),
        }
    }

    /// The model's time, in ticks.
    #[must_use]
    pub fn now(&self) -> Ticks {
        match &self.power {
            Power::On(live) => live.now(),
            Power::Off(off) => off.cut().at,
            Power::Changes => 0,
        }
    }

    /// The results of a run that ended now, or when the power failed. They begin again with each mount.
    #[must_use]
    pub fn metrics(&mut self) -> Metrics {
        self.advance();
        match &mut self.power {
            Power::On(live) => live.metrics(),
            Power::Off(off) => off.metrics().clone(),
            Power::Changes => Metrics::default(),
        }
    }

    /// Writes that the device has accepted from its start or latest mount until now, or until the power failed; write-zeroes
    /// included. And flushes.
    #[must_use]
    pub fn accepted(&self) -> [u64; 2] {
        match &self.power {
            Power::On(live) => live.accepted(),
            Power::Off(off) => off.accepted(),
            Power::Changes => [0; 2],
        }
    }

    /// Bytes of memory that a mount takes while it lasts, at most about.
    #[must_use]
    pub fn mount_bytes(&self) -> u64 {
        match &self.power {
            Power::On(live) => live.mount_bytes(),
            Power::Off(off) => off.mount_bytes(),
            Power::Changes => 0,
        }
    }

    // ---- power -------------------------------------------------------------------------------------------

    /// Whether the power is on.
    #[must_use]
    pub fn is_on(&self) -> bool {
        matches!(self.power, Power::On(_))
    }

    /// From now on promises are recorded, so that the power may fail. Before the first request.
    pub fn keep_ledger(&mut self) {
        if let Some(live) = self.used() {
            live.keep_ledger();
        }
    }

    /// Whether the power is to fail some time.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.live().is_some_and(Live::is_armed)
    }

    /// Whether the power has failed as it was [armed](Self::arm) to, which [`Front::cut`] then carries out.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.live().is_some_and(|live| live.failed_at().is_some())
    }

    /// The power is to fail after `after`; none takes that back. It happens within other calls, and
    /// [`Front::has_failed`] says so.
    ///
    /// # Errors
    /// If the power is off, or the device broken.
    pub fn arm(&mut self, after: Option<CutAfter>, seed: Option<u64>) -> Result<(), PowerError> {
        self.advance();
        let now = self.present();
        self.check_on()?;
        if let Some(live) = self.used() {
            live.arm(after, now, seed);
        }
        Ok(())
    }

    fn check_on(&self) -> Result<(), PowerError> {
        match &self.broken {
            Some(broken) => Err(PowerError::Broken(broken.to_string())),
            None if self.live().is_some_and(|live| !live.has_flash()) => Err(PowerError::Disk),
            None if self.is_on() => Ok(()),
            None => Err(PowerError::Off),
        }
    }

    /// The power fails: now, or when it has failed already as it was armed to. Requests under way never complete.
    ///
    /// # Errors
    /// If it is off, or the device broken; or that the capacitor could not do its work, and then it is off.
    pub fn cut(&mut self, seed: Option<u64>) -> Result<Cut, PowerError> {
        self.advance();
        self.check_on()?;
        let now = self.present();
        let power = std::mem::replace(&mut self.power, Power::Changes);
        let Power::On(live) = power else {
            self.power = power;
            return Err(PowerError::Off);
        };
        let (off, done) = live.fail(now, seed);
        self.power = Power::Off(Box::new(off));
        self.in_flight = 0;
        Ok(done?)
    }

    /// The power is back, and the device mounted and compared with its ledger.
    ///
    /// # Errors
    /// If it is on, or the layer cannot be mounted.
    pub fn restore(&mut self) -> Result<Restored, PowerError> {
        let now = self.present();
        let power = std::mem::replace(&mut self.power, Power::Changes);
        let Power::Off(off) = power else {
            self.power = power;
            return Err(PowerError::On);
        };
        match off.restore(now) {
            Ok((live, restored)) => {
                self.power = Power::On(Box::new(live));
                Ok(restored)
            }
            Err((off, error)) => {
                self.power = Power::Off(off);
                Err(error.into())
            }
        }
    }

    /// The promises, if they are recorded.
    #[must_use]
    pub fn ledger(&self) -> Option<&Ledger> {
        match &self.power {
            Power::On(live) => live.ledger(),
            Power::Off(off) => Some(off.ledger()),
            Power::Changes => None,
        }
    }

    /// Sectors that break a promise, as [`Live::bad_sectors`].
    ///
    /// # Errors
    /// If the power is off, or the device broken.
    pub fn bad_sectors(&mut self) -> Result<Vec<u64>, PowerError> {
        self.check_on()?;
        let live = self.live().ok_or(PowerError::Off)?;
        let bad = live.bad_sectors();
        bad.map_err(|broken| PowerError::Broken(broken.to_string()))
    }
}
