//! `Measured`: everything that a run measures, from the opening of its statistics to their close.
//!
//! It contains the buffer's `Counts`, the dies' `Totals` and the response times. [`crate::metrics`] computes named
//! results from these values.

use destage_base::Ticks;
use destage_buffer::Counts;
use destage_buffer::scheme::Series;
use destage_device::{Device, Request as Asked};
use destage_nand::array::Wear;
use destage_trace::request::SECTOR_BYTES;
use destage_trace::{Operation, Passed, Request};

use crate::engine::FrontUsage;
use crate::error::SimError;
use crate::latencies::{Counted, Latencies};
use crate::meter::Totals;
use crate::observer::Observer;

/// The counts of the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostCounts {
    /// Number of requests that arrived.
    pub requests: u64,
    /// Number of requests that completed.
    pub completed: u64,
    /// Page reads that the host requested.
    pub page_reads: u64,
    /// Page writes that the host requested.
    pub page_writes: u64,
    /// Bytes that the host read.
    pub bytes_read: u64,
    /// Bytes that the host wrote.
    pub bytes_written: u64,
}

impl HostCounts {
    /// Counts the pages and bytes that `request` reads or writes. The device receives the request as `asked`. With
    /// `strict_trim`, a trim counts as the write that it is.
    #[inline(always)]
    pub(crate) fn count_pages(&mut self, request: &Request, asked: &Asked, strict_trim: bool) {
        let bytes = u64::from(request.sectors) * SECTOR_BYTES;
        match request.operation {
            Operation::Read => {
                self.page_reads += u64::from(asked.span.pages);
                self.bytes_read += bytes;
            }
            Operation::Write => {
                self.page_writes += u64::from(asked.span.pages);
                self.bytes_written += bytes;
            }
            Operation::Trim => self.count_trim(bytes, asked, strict_trim),
            Operation::Flush => {}
        }
    }

    #[cold]
    #[inline(never)]
    fn count_trim(&mut self, bytes: u64, asked: &Asked, strict_trim: bool) {
        if let Some(write) = asked.as_write(strict_trim) {
            self.page_writes += u64::from(write.span.pages);
            self.bytes_written += bytes;
        }
    }

    /// Counts requests of one page each that are complete and need no simulation.
    pub(crate) fn pass(&mut self, passed: Passed) {
        self.requests += passed.requests;
        self.completed += passed.requests;
        let (pages, bytes) = match passed.is_write {
            true => (&mut self.page_writes, &mut self.bytes_written),
            false => (&mut self.page_reads, &mut self.bytes_read),
        };
        *pages += passed.requests;
        *bytes += passed.sectors * SECTOR_BYTES;
    }
}

/// Response times.
#[derive(Clone, Debug, Default)]
pub struct Responses {
    /// Times from the arrival of a request to its completion.
    pub host: Latencies,
    /// Times from the sending of a request to the device to the completion of the request.
    pub device: Latencies,
    /// Times from the emission of a destage record to the end of its last program.
    pub destage: Latencies,
    /// Times from arrival to completion for each queue of the host; empty if there is only one queue.
    pub queues: Vec<Counted>,
}

/// The totals of the flash and its layer at the close of statistics.
#[derive(Clone, Debug, Default)]
pub struct FlashFigures {
    /// The work of the dies.
    pub totals: Totals,
    /// Statistics of the erase counts of all blocks.
    pub wear: Wear,
    /// Number of blocks that reached their erase limit and are no longer used.
    pub retired: u64,
    /// Size of the layer's tables in RAM, in bytes.
    pub map_bytes: u64,
    /// Figures that only this layer has.
    pub own: Vec<(&'static str, f64)>,
}

/// The totals of the buffer at the close of statistics.
#[derive(Clone, Debug, Default)]
pub struct BufferFigures {
    /// The counts of the buffer; `None` without a buffer.
    pub counts: Option<Counts>,
    /// Figures that only this scheme has.
    pub own: Vec<(&'static str, f64)>,
    /// Series of values that the scheme recorded repeatedly.
    pub series: Vec<Series>,
}

/// The measured values of a run, from the opening of statistics to their close.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The counts of the host.
    pub host: HostCounts,
    /// Whether the run stopped because too many requests were outstanding.
    pub saturated: bool,
    /// Whether the run ended because so many blocks were retired that no free block was left where one is needed.
    pub worn_out: bool,
    /// Ticks from the first arrival until the device was worn out; 0 if it was not worn out, or without a clock.
    pub worn_out_after: Ticks,
    /// Response times.
    pub responses: Responses,
    /// Ticks from the opening of statistics to their close.
    pub makespan: Ticks,
    /// The totals of the flash and its layer.
    pub flash: FlashFigures,
    /// The totals of the buffer.
    pub buffer: BufferFigures,
    /// How long pages were dirty, in ticks; `None` if this is not measured.
    pub dirty_age: Option<Counted>,
    /// Ticks from the last arrival until the device was clean; `None` if the run did not wait for that.
    pub clean_after: Option<Ticks>,
    /// The largest number of pages at risk at one moment.
    pub at_risk_max: u64,
    /// The work of the servers between host and buffer; `None` without such servers. Until statistics close, this
    /// field holds the work before statistics opened.
    pub front: Option<FrontUsage>,
    /// The totals and counts at the opening of statistics.
    pub(crate) before: Option<(Totals, Counts)>,
}

/// Fails if the run measured no request. The run had `requests` requests, and statistics open after `warmup`
/// requests. Errors call the input `origin`.
pub(crate) fn check_measured(origin: &str, warmup: u64, requests: u64) -> Result<(), SimError> {
    if warmup > 0 && requests <= warmup {
        return Err(SimError::NothingMeasured {
            origin: origin.to_owned(),
            warmup,
            requests,
        });
    }
    Ok(())
}

impl Measured {
    /// Opens statistics. The results will not contain the counts so far of the device, its buffer and its dies
    /// (`totals`).
    pub(crate) fn open(&mut self, device: &mut Device, totals: Totals) {
        device.reset_figures();
        self.take_dirty_ages(device);
        self.dirty_age = self.dirty_age.is_some().then(Counted::default);
        self.before = Some((totals, device.buffer().counts()));
        self.host = HostCounts::default();
    }

    /// Records the dirty periods that have ended, if they are measured.
    #[inline]
    pub(crate) fn take_dirty_ages(&mut self, device: &mut Device) {
        if let Some(ages) = &mut self.dirty_age {
            let ended = device.buffer_mut().take_dirty_ages();
            ended.for_each(|age| ages.push(age));
        }
    }

    /// Closes the statistics of the servers between host and buffer, given their work up to now.
    pub(crate) fn take_front(&mut self, usage: Option<FrontUsage>) {
        let earlier = self.front.take().unwrap_or_default();
        self.front = usage.map(|usage| usage.since(&earlier));
    }

    /// Closes the statistics of `device` at `now`. If `observer` wants erases, it gets the number of erases of every
    /// block.
    pub(crate) fn take_device(
        &mut self,
        device: &mut Device,
        totals: Totals,
        now: Ticks,
        observer: &mut dyn Observer,
    ) {
        let before = self.before.take();
        self.flash.totals = match &before {
            Some((before, _)) => totals.since(before),
            None => totals,
        };
        self.at_risk_max = device.at_risk_max();
        let ftl = device.ftl();
        self.flash.wear = ftl.wear();
        self.flash.retired = ftl.retired();
        self.flash.map_bytes = ftl.map_bytes();
        ftl.report(&mut |name, value| self.flash.own.push((name, value)));
        if observer.wants_erases() {
            ftl.erases(&mut |die, block, erases| observer.erases(die, block, erases));
        }
        if device.buffer().keeps_pages() {
            device.buffer_mut().close_dirty_periods(now);
            self.take_dirty_ages(device);
            let buffer = device.buffer();
            let counts = buffer.counts();
            self.buffer.counts = Some(match &before {
                Some((_, before)) => counts.since(before),
                None => counts,
            });
            buffer.report(&mut |name, value| self.buffer.own.push((name, value)));
            buffer.series(&mut |series| self.buffer.series.push(series));
        }
    }
}
