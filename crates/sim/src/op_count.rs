//! The run without a clock: every flash command has ended when it begins.
//!
//! With no flash at all (`ftl.kind = none`) it is a cache simulator: hits and victims. With an FTL it is the
//! op-count model of the BPLRU paper: operations are counted, their times are summed, and nothing waits.

use destage_base::Ticks;
use destage_buffer::destage::Destage;
use destage_device::{BatchStep, Device, Driver, PageOperation, Progress};
use destage_flash::ftl::NoSpace;
use destage_flash::{Operations, Timing};

use crate::error::SimError;
use crate::measured::Measured;
use crate::meter::FlashMeter;
use crate::observer::Observer;
use crate::paging::Addressing;
use crate::source::Source;

/// Requests between two calls of [`Observer::progress`].
const PROGRESS_STEP: u64 = 1 << 16;
/// No request is in the device while another comes.
const TOKEN: u32 = 0;

/// Counts commands, each of which ends at once.
struct Counter<'a> {
    meter: FlashMeter,
    observer: &'a mut dyn Observer,
    wants_records: bool,
}

impl Driver for Counter<'_> {
    #[inline]
    fn serve(&mut self, _: u32, _: PageOperation, operations: &Operations, map: Ticks) -> Progress {
        self.meter.serve(operations, map);
        Progress::Ended
    }

    fn collect_garbage(&mut self, _: u32, operations: &Operations) -> Progress {
        self.meter.collect_garbage(operations);
        Progress::Ended
    }

    fn serve_batch(&mut self, _: u32, _: BatchStep<'_>) {
        unreachable!("a device without a clock is made without batches")
    }

    #[inline]
    fn answer(&mut self, _: u32) {}

    /// There is no idle time without a clock.
    fn wake_after(&mut self, _: Ticks, _: u32) {}

    /// The time that operations took so far.
    #[inline]
    fn flash_time(&self, _: Ticks) -> Ticks {
        self.meter.serial_time()
    }

    fn wants_records(&self) -> bool {
        self.wants_records
    }

    #[inline]
    fn record(&mut self, record: &Destage, now: Ticks) {
        if self.wants_records {
            self.observer.destage(now, record);
        }
    }
}

/// Whether `full` is the end of a worn-out device, which is a result.
fn is_worn_out(full: &NoSpace, device: &Device) -> bool {
    full.is_of_wear(device.ftl().retired())
}

/// Counts the flash operations that the requests of `source` cause on `device`. With `drain`, those of a last
/// destage of everything dirty count as well.
///
/// # Errors
/// What is wrong with the trace, the device's size, or that the observer wants to stop.
pub fn run<'a>(
    mut source: Source<'a>,
    mut device: Device,
    addressing: &Addressing,
    timing: Timing,
    dies: u32,
    drain: bool,
    observer: &mut dyn Observer,
) -> Result<(Measured, Source<'a>), SimError> {
    let mut measured = Measured::default();
    let mut counter = Counter {
        meter: FlashMeter::new(timing, dies),
        wants_records: observer.wants_destages(),
        observer,
    };
    let (mut now, mut line) = (0, 0);
    while let Some(request) = source.take()? {
        measured.requests += 1;
        if measured.requests.is_multiple_of(PROGRESS_STEP)
            && !counter.observer.progress(measured.requests)
        {
            return Err(SimError::Interrupted);
        }
        (now, line) = (request.arrival, request.line);
        let asked = addressing.request(&request, device.pages(), || source.origin().to_owned())?;
        measured.count_pages(&request, asked.span.pages);
        if let Err(full) = device.submit(TOKEN, &asked, now, &mut counter) {
            measured.worn_out = is_worn_out(&full, &device);
            if !measured.worn_out {
                return Err(SimError::full(&source, line, full));
            }
            break;
        }
        measured.completed += 1;
    }
    if drain
        && !measured.worn_out
        && let Err(full) = device.drain(now, &mut counter)
    {
        measured.worn_out = is_worn_out(&full, &device);
        if !measured.worn_out {
            return Err(SimError::full(&source, line, full));
        }
    }
    if counter.meter.serial_time() == Ticks::MAX {
        return Err(SimError::OutOfTime {
            origin: source.origin().to_owned(),
            line,
            arrival: now,
        });
    }
    let totals = counter.meter.totals(0);
    measured.take_device(&mut device, totals, now, counter.observer);
    Ok((measured, source))
}
