//! The device behind the server, the relation of model time to wall-clock time, and the power of the device.

use std::io;
use std::time::{Duration, Instant};

use destage_base::Ticks;
use destage_base::time::TICKS_PER_NS;
use destage_device::RequestKind;
use destage_device::backed::Fault;
use destage_device::ledger::Ledger;
use destage_sim::error::SimError;
use destage_sim::latencies::{Counted, Summary};
use destage_sim::metrics::Metrics;
use destage_sim::run::live::{Ask, Broken, Completion, Cut, CutAfter, Holds, Live, Off, Restored};

/// The relation of model time to wall-clock time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// The model does not wait for the wall clock. Requests are simulated one after the other, and each request
    /// completes as soon as its simulation ends. Only requests advance model time.
    None,
    /// Model time follows the wall clock. The server answers a request when the wall clock reaches the completion
    /// time of the request in the model. Any number of requests may be in flight.
    Model,
}

/// The function that makes written data durable. After it returns, the data survive the end of this process and a
/// loss of power of the machine.
pub type Sync = Box<dyn FnMut() -> io::Result<()> + Send>;

/// The device, with power or without.
enum Power<'a> {
    On(Box<Live<'a>>),
    Off(Box<Off<'a>>),
    /// The state while a cut or a restore is being carried out.
    Changes,
}

/// The reason why the power was not cut or not restored, or why there is no ledger.
#[derive(Debug, thiserror::Error)]
pub enum PowerError {
    /// The power is off already, so it cannot be cut.
    #[error("the power is off already; expected restore")]
    Off,
    /// The power is on, so it cannot be restored.
    #[error("the power is on; expected cut before restore")]
    On,
    /// The bytes of the device are on a disk behind the buffer. The server cannot cut the power of this disk.
    #[error(
        "the bytes are on a disk behind the buffer, which has its own power; expected a device in RAM or an image"
    )]
    Disk,
    /// The device has failed earlier.
    #[error("the device is broken: {0}")]
    Broken(String),
    /// The translation layer cannot be mounted.
    #[error(transparent)]
    Mount(#[from] SimError),
}

/// The device behind a server. See the [module](self).
pub struct Front<'a> {
    power: Power<'a>,
    /// The function that makes the bytes durable, if there is one. At its start, the server removes the function from
    /// here.
    sync: Option<Sync>,
    pace: Pace,
    bytes: u64,
    page_bytes: u64,
    began: Instant,
    broken: Option<Broken>,
    in_flight: usize,
    /// The delays of requests: from their completion in the model to their actual completion.
    late: Counted,
}

impl<'a> Front<'a> {
    /// A device that serves `live`. The wall-clock time of the device begins with this call.
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

    /// Like [`Front::new`], but `sync` makes the bytes of the device durable. The server answers a flush, or a write
    /// with FUA, only after `sync` has succeeded.
    #[must_use]
    pub fn lasting(live: Live<'a>, pace: Pace, sync: Option<Sync>) -> Self {
        Self {
            sync,
            ..Self::new(live, pace)
        }
    }

    /// Removes and returns the function that makes the bytes durable.
    pub(crate) fn take_sync(&mut self) -> Option<Sync> {
        self.sync.take()
    }

    /// The number of bytes that the device offers.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of bytes of a page.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// Whether model time follows the wall clock ([`Pace::Model`]).
    #[must_use]
    pub fn is_paced(&self) -> bool {
        self.pace == Pace::Model
    }

    /// The reason why the device can no longer be used; `None` if the device can be used.
    #[must_use]
    pub fn broken(&self) -> Option<&Broken> {
        self.broken.as_ref()
    }

    /// Removes and returns the reason why the device can no longer be used; `None` if the device can be used.
    pub fn take_broken(&mut self) -> Option<Broken> {
        self.broken.take()
    }

    /// The wall-clock time since the start of the device, in ticks.
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

    /// The device, if it has power and is not broken.
    fn used(&mut self) -> Option<&mut Live<'a>> {
        match &mut self.power {
            Power::On(live) if self.broken.is_none() => Some(live),
            _ => None,
        }
    }

    /// Submits a request. With [`Pace::None`] the request is complete when this call returns. A device that is broken
    /// or without power ignores the request and never completes it. Returns the arrival time in ticks since the start
    /// of the device. With [`Pace::Model`] this time is also the arrival time in the model.
    pub fn submit(&mut self, ask: &Ask<'_>) -> Ticks {
        let pace = self.pace;
        let arrival = match pace {
            Pace::None => self.since_began(),
            Pace::Model => self.present(),
        };
        let Some(live) = self.used() else {
            return arrival;
        };
        let outcome = match pace {
            Pace::None => live
                .submit(live.now(), ask)
                .and_then(|()| live.advance_to_completion())
                .and_then(|()| match live.fails_at() {
                    // Without a pace only requests advance model time. Model time would not reach the time of the
                    // failure by itself, so it is advanced here.
                    Some(at) if live.fails_at_time().is_none() => live.advance(at),
                    _ => Ok(()),
                }),
            Pace::Model => live.submit(arrival, ask),
        };
        self.in_flight += 1;
        self.broken = outcome.err();
        arrival
    }

    /// The present model time. Without a pace this is the time that the model has reached, otherwise the wall-clock
    /// time since the start of the device. A mount ends at a later time, because it takes no wall-clock time. Until the
    /// wall clock reaches that time, it is the present time.
    #[must_use]
    pub fn present(&self) -> Ticks {
        match self.pace {
            Pace::None => self.now(),
            Pace::Model => self.since_began().max(self.now()),
        }
    }

    /// Processes all events that are due by now. Does nothing without a pace.
    pub fn advance(&mut self) {
        if self.pace == Pace::Model {
            let now = self.since_began();
            if let Some(live) = self.used() {
                self.broken = live.advance(now).err();
            }
        }
    }

    /// Processes events until a request is complete, without waiting for the wall clock. Returns `false` if no
    /// request is in flight, the power fails, or the device breaks.
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

    /// Removes and returns the next completion; `None` if no request has completed.
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

    /// Statistics of the delays of requests so far: from their completion in the model to their actual completion.
    /// `None` without a pace.
    #[must_use]
    pub fn lateness(&self) -> Option<Summary> {
        self.late.summary()
    }

    /// The time until the server has to wake up for an event; `None` if there is no such event.
    #[must_use]
    pub fn due_in(&mut self) -> Option<Duration> {
        let (in_flight, pace) = (self.in_flight, self.pace);
        let live = self.used()?;
        // Without a pace the wall clock does not advance model time. So no failure can happen while the server
        // sleeps.
        let fails = live.fails_at().filter(|_| pace == Pace::Model);
        let next = live
            .next_time()
            .filter(|_| in_flight > 0 || (pace == Pace::Model && live.is_armed()));
        let ticks = next.into_iter().chain(fails).min()?;
        let ticks = ticks.saturating_sub(self.since_began());
        Some(Duration::from_nanos(ticks.div_ceil(TICKS_PER_NS)))
    }

    /// Appends the contents of sectors to `out`. See [`Live::read`]. Without power it appends nothing.
    ///
    /// # Errors
    /// Those of [`Live::read`].
    pub fn read(&self, sector: u64, sectors: u32, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.live()
            .map_or(Ok(()), |live| live.read(sector, sectors, out))
    }

    /// Prepares a change of contents of this `kind`. See [`Live::settle`].
    ///
    /// # Errors
    /// Those of [`Live::settle`].
    pub fn settle(&mut self, kind: RequestKind) -> Result<(), Fault> {
        self.used().map_or(Ok(()), |live| live.settle(kind))
    }

    /// From now on, the observer of the device gets no responses.
    pub fn stop_responses(&mut self) {
        if let Some(live) = self.used() {
            live.stop_responses();
        }
    }

    /// The kind of contents of `sector`. See [`Live::holds`]. Without power the whole device holds nothing.
    #[must_use]
    pub fn holds(&self, sector: u64) -> (Holds, u64) {
        match self.live() {
            Some(live) => live.holds(sector),
            None => (Holds::Nothing, u64::MAX),
        }
    }

    /// The model time, in ticks. Without power this is the time of the cut.
    #[must_use]
    pub fn now(&self) -> Ticks {
        match &self.power {
            Power::On(live) => live.now(),
            Power::Off(off) => off.cut().at,
            Power::Changes => 0,
        }
    }

    /// The metrics, as if the run ended now. Without power, the metrics up to the power failure. Each mount resets
    /// the metrics.
    #[must_use]
    pub fn metrics(&mut self) -> Metrics {
        self.advance();
        match &mut self.power {
            Power::On(live) => live.metrics(),
            Power::Off(off) => off.metrics().clone(),
            Power::Changes => Metrics::default(),
        }
    }

    /// The number of writes, including write-zeroes, and the number of flushes that the device has accepted. Both
    /// counts begin at the start or at the latest mount. They end now, or at the power failure.
    #[must_use]
    pub fn accepted(&self) -> [u64; 2] {
        match &self.power {
            Power::On(live) => live.accepted(),
            Power::Off(off) => off.accepted(),
            Power::Changes => [0; 2],
        }
    }

    /// An approximate upper limit of the memory that a mount uses while it runs, in bytes.
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

    /// Starts the ledger of promises, which a cut of the power needs. The caller must call this before the first
    /// request.
    pub fn keep_ledger(&mut self) {
        if let Some(live) = self.used() {
            live.keep_ledger();
        }
    }

    /// Whether a loss of power is armed.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.live().is_some_and(Live::is_armed)
    }

    /// Whether the [armed](Self::arm) loss of power has happened. The caller then has to call [`Front::cut`].
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.live().is_some_and(|live| live.failed_at().is_some())
    }

    /// Arms a loss of power after the event `after`. `None` disarms the loss. An armed loss happens during calls of
    /// other methods, and [`Front::has_failed`] then returns `true`. `seed` determines all random choices.
    ///
    /// # Errors
    /// If the power is off, the device is broken, or its bytes are on a disk behind the buffer.
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

    /// Cuts the power: at the time of the armed loss if the loss has happened, otherwise now. Requests in flight
    /// never complete.
    ///
    /// # Errors
    /// If the power is off, the device is broken, or its bytes are on a disk behind the buffer. If the capacitor
    /// cannot save the data, the error says so, and the power is off after the call.
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

    /// Restores the power, mounts the device, and compares it with its ledger.
    ///
    /// # Errors
    /// If the power is on, or the translation layer cannot be mounted.
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

    /// The ledger of promises; `None` if the ledger was not started.
    #[must_use]
    pub fn ledger(&self) -> Option<&Ledger> {
        match &self.power {
            Power::On(live) => live.ledger(),
            Power::Off(off) => Some(off.ledger()),
            Power::Changes => None,
        }
    }

    /// Sectors that break a promise, in ascending order. See [`Live::bad_sectors`].
    ///
    /// # Errors
    /// If the power is off, the device is broken, or its bytes are on a disk behind the buffer.
    pub fn bad_sectors(&mut self) -> Result<Vec<u64>, PowerError> {
        self.check_on()?;
        let live = self.live().ok_or(PowerError::Off)?;
        let bad = live.bad_sectors();
        bad.map_err(|broken| PowerError::Broken(broken.to_string()))
    }
}
