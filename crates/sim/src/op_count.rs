//! The run without a clock: every flash command ends as soon as it begins.
//!
//! Without flash (`ftl.kind = none`) the run is a cache simulator, which counts hits and victims. With an FTL it is
//! the op-count model of the BPLRU paper: operations are counted, their times are summed, and no operation waits.

use destage_base::Ticks;
use destage_device::{BatchStep, Device, Driver, Note, Progress, Token, Transaction};
use destage_ftl::NoSpace;
use destage_nand::Operations;
use destage_trace::Request;

use crate::error::SimError;
use crate::events::LAST;
use crate::explain::{Destages, Explained, Wear};
use crate::host::scaled;
use crate::latencies::Counted;
use crate::limits::SoFar;
use crate::measured::{Measured, check_measured};
use crate::meter::FlashMeter;
use crate::observer::Observer;
use crate::paging::Addressing;

/// The number of requests between two calls of [`Observer::progress`].
const PROGRESS_STEP: u64 = 1 << 16;
/// The number of every request in the device. One number is enough, because each request completes before the next
/// one arrives.
const TOKEN: u32 = 0;

/// A driver that counts commands, each of which ends at once.
struct Counter<'a> {
    meter: FlashMeter,
    observer: Box<dyn Observer + 'a>,
    wants_records: bool,
    /// The destage records by size, if the run is explained.
    destages: Option<Destages>,
}

impl Driver for Counter<'_> {
    const SKIPS_HOLLOW: bool = true;

    #[inline]
    fn begin(
        &mut self,
        _: u32,
        transaction: Transaction,
        operations: &Operations,
        map: Ticks,
        _: Token,
    ) -> Progress {
        if transaction == Transaction::Collection {
            self.meter.count_garbage(operations);
            self.meter
                .add_gc_time(self.meter.timing.parallel(operations));
        } else {
            self.meter.serve(operations, map);
        }
        Progress::Ended
    }

    fn serve_batch(&mut self, _: u32, _: BatchStep<'_>) {
        unreachable!("a device without a clock is made without batches")
    }

    #[inline]
    fn answer(&mut self, _: u32) {}

    /// Without a clock there is no idle time, so nothing is scheduled.
    fn wake_after(&mut self, _: Ticks, _: u32) {}

    /// The sum of the times of all operations so far.
    #[inline]
    fn flash_time(&self, _: Ticks) -> Ticks {
        self.meter.serial_time()
    }

    fn wants_records(&self) -> bool {
        self.wants_records
    }

    #[inline(always)]
    fn note(&mut self, note: &Note<'_>) {
        let Note::Emitted(record, now) = *note else {
            return;
        };
        if let Some(destages) = &mut self.destages {
            destages.count(record);
        }
        if self.wants_records {
            self.observer.destage(now, record);
        }
    }
}

/// One run: counts the flash operations that requests cause on a device.
pub struct Count<'a> {
    origin: Box<str>,
    device: Device,
    addressing: Addressing,
    counter: Counter<'a>,
    measured: Measured,
    /// The factor on arrival times. It affects how long pages are dirty.
    time_scale: f64,
    /// The number of requests before statistics open.
    warmup: u64,
    /// The number of requests so far.
    arrivals: u64,
    /// The line and the time of the latest request.
    line: u32,
    now: Ticks,
}

impl<'a> Count<'a> {
    /// A new run on `device`, whose dies `meter` measures. Errors call the input `origin`. Statistics open after
    /// `warmup` requests. `dirty_ages` says whether the run reports how long pages were dirty.
    pub fn new(
        origin: &str,
        device: Device,
        addressing: Addressing,
        meter: FlashMeter,
        warmup: u64,
        dirty_ages: bool,
        observer: Box<dyn Observer + 'a>,
    ) -> Self {
        Self {
            origin: origin.into(),
            device,
            addressing,
            counter: Counter {
                meter,
                wants_records: observer.wants_destages(),
                observer,
                destages: None,
            },
            measured: Measured {
                dirty_age: dirty_ages.then(Counted::default),
                ..Measured::default()
            },
            time_scale: 1.0,
            warmup,
            arrivals: 0,
            line: 0,
            now: 0,
        }
    }

    /// Multiplies arrival times by `factor`.
    pub fn scale_times(&mut self, factor: f64) {
        self.time_scale = factor;
    }

    /// Makes the run collect the part of the explanation that needs no clock.
    pub fn explain(&mut self) {
        self.counter.destages = Some(Destages::default());
    }

    /// Notes that `pages` page writes went to other devices before the next request.
    pub fn pass_writes(&mut self, pages: u64) {
        self.device.pass_writes(pages);
    }

    /// Continues the run with `requests`. Returns whether more requests can follow; `false` means that the device
    /// has worn out.
    ///
    /// # Errors
    /// If a request does not fit the device, the device is full, an arrival time is too late, or the observer stops
    /// the run.
    pub fn feed(&mut self, requests: &[Request]) -> Result<bool, SimError> {
        let mut coming = requests;
        while !coming.is_empty() {
            if self.arrivals == self.warmup {
                let totals = self.counter.meter.totals(0);
                self.measured.open(&mut self.device, totals);
                self.counter.destages = self.counter.destages.is_some().then(Destages::default);
            }
            if (self.arrivals + 1).is_multiple_of(PROGRESS_STEP)
                && !self.counter.observer.progress(self.arrivals + 1)
            {
                return Err(SimError::Interrupted);
            }
            let (next, later) = coming.split_at(self.undisturbed().min(coming.len()));
            coming = later;
            if !self.feed_undisturbed(next)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The number of requests, at least one, that can be simulated before statistics open or progress is reported.
    fn undisturbed(&self) -> usize {
        let to_opening = match self.warmup.saturating_sub(self.arrivals) {
            0 => u64::MAX,
            requests => requests,
        };
        let to_progress = match PROGRESS_STEP - 1 - self.arrivals % PROGRESS_STEP {
            0 => PROGRESS_STEP,
            requests => requests,
        };
        to_opening.min(to_progress) as usize
    }

    /// Simulates `requests`. Within them, statistics do not open and no progress is reported.
    fn feed_undisturbed(&mut self, requests: &[Request]) -> Result<bool, SimError> {
        for request in requests {
            self.measured.take_dirty_ages(&mut self.device);
            self.arrivals += 1;
            self.measured.host.requests += 1;
            let now = scaled(request.arrival, self.time_scale);
            if self.time_scale != 1.0 && now >= LAST {
                return Err(SimError::LateArrival {
                    origin: self.origin.to_string(),
                    line: request.line,
                    arrival: request.arrival,
                    time_scale: self.time_scale,
                });
            }
            (self.now, self.line) = (now, request.line);
            let (device, origin) = (&mut self.device, &self.origin);
            let origin_text = || origin.to_string();
            let asked = self
                .addressing
                .request(request, device.pages(), origin_text)?;
            let strict_trim = device.has_strict_trim();
            let host = &mut self.measured.host;
            host.count_pages(request, &asked, strict_trim);
            device.set_stream(request.stream);
            if let Err(full) = device.submit(TOKEN, &asked, self.now, &mut self.counter) {
                self.end_if_worn_out(full)?;
                return Ok(false);
            }
            self.measured.host.completed += 1;
        }
        Ok(true)
    }

    /// The values that limits of a run compare.
    pub(crate) fn so_far(&self) -> SoFar<'_> {
        let (tally, gc_runs) = self.counter.meter.counted();
        SoFar {
            counts: self.device.buffer().counts(),
            tally,
            gc_runs,
            response: &self.measured.responses.host,
            unanswered: None,
        }
    }

    /// A device that is full because of wear ends the run with a result; any other full device is an error.
    fn end_if_worn_out(&mut self, full: NoSpace) -> Result<(), SimError> {
        self.measured.worn_out = full.is_of_wear(self.device.ftl().retired());
        match self.measured.worn_out {
            true => Ok(()),
            false => Err(SimError::full(&self.origin, self.line, full)),
        }
    }

    /// Ends the run and returns its results, with the explanation if one was requested. With `drain`, the remaining
    /// dirty pages are destaged first, and are counted as well.
    ///
    /// # Errors
    /// If the device is full, the sum of times exceeds the clock, or no request followed the warm-up.
    pub fn finish(mut self, drain: bool) -> Result<(Measured, Option<Explained>), SimError> {
        if drain
            && !self.measured.worn_out
            && let Err(full) = self.device.drain(self.now, &mut self.counter)
        {
            self.end_if_worn_out(full)?;
        }
        if self.counter.meter.serial_time() == Ticks::MAX {
            return Err(SimError::OutOfTime {
                origin: self.origin.into(),
                line: self.line,
                arrival: self.now,
            });
        }
        check_measured(&self.origin, self.warmup, self.arrivals)?;
        let Counter {
            meter,
            mut observer,
            destages,
            ..
        } = self.counter;
        let explained = destages.map(|destages| Explained {
            destages,
            wear: Wear::of(|emit| self.device.ftl().erases(emit)),
            ..Explained::default()
        });
        let totals = meter.totals(0);
        self.measured
            .take_device(&mut self.device, totals, self.now, &mut *observer);
        Ok((self.measured, explained))
    }
}
