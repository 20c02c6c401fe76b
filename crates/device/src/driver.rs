//! The driver of a device. A driver passes time and requests to the device, and carries out the device's flash
//! commands.

use core::ops::Range;

use destage_base::{Lpn, Ticks};
use destage_buffer::Buffer;
use destage_buffer::destage::Destage;
use destage_nand::Operations;
use destage_nand::batch::Batch;

use crate::operation::PageOperation;
use crate::request::Span;

/// The work that a die begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transaction {
    /// One page operation.
    Page(PageOperation),
    /// One step of garbage collection, whose lanes run in parallel.
    Collection,
    /// Fillers that complete a program unit; only with [`DeviceConfig::units`](crate::DeviceConfig::units).
    Fillers,
    /// A host read that begins during another operation of the die: after [`Driver::takes_read`], or within
    /// [`Device::let_reads_pass`](crate::Device::let_reads_pass). Only drivers that allow such reads get it.
    ReadBetween(PageOperation),
}

/// The name that a [`Device`](crate::Device) gives a transaction from its beginning to its end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Token(u32);

impl Token {
    /// Tokens from this number on denote places in the table of transactions. The table has every transaction that
    /// may stop occupying its die before its end. Lower tokens are numbers of dies.
    pub const IN_TABLE: u32 = 1 << 31;

    /// The token of the transaction in service at `die`, if every transaction occupies its die until its end.
    #[inline(always)]
    pub(crate) fn of_die(die: u32) -> Self {
        Self(die)
    }

    #[inline(always)]
    pub(crate) fn of_table(place: u32) -> Self {
        Self(Self::IN_TABLE | place)
    }

    /// The die at which the transaction is in service (`Ok`), or the place of the transaction in the table of
    /// transactions (`Err`).
    #[inline(always)]
    pub(crate) fn die_or_place(self) -> Result<u32, u32> {
        match self.0 & Self::IN_TABLE {
            0 => Ok(self.0),
            _ => Err(self.0 & !Self::IN_TABLE),
        }
    }

    /// The token as a number.
    #[inline(always)]
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }

    /// The token that has this [number](Token::number).
    #[inline(always)]
    #[must_use]
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }
}

/// The state of a transaction that was just passed to a driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The transaction is in progress, and its die begins no other operation. The driver calls
    /// [`Device::complete`](crate::Device::complete) when the transaction has ended.
    Running,
    /// The transaction has ended already, because commands need no time with this driver.
    Ended,
    /// The transaction is in progress, but its die may begin the next operation, as after
    /// [`Device::free`](crate::Device::free). Allowed only for page operations and fillers.
    Overlaps,
}

/// Several page operations that a die serves together.
#[derive(Clone, Copy, Debug)]
pub struct BatchStep<'a> {
    /// The page operations of the batch. Positions are counted from 0.
    pub taken: &'a [PageOperation],
    /// The token of each page operation.
    pub tokens: &'a [Token],
    /// Repeated operations on pages of the batch. Each entry is the position of the operation with which the repeated
    /// operation ends, and the repeated operation.
    pub followers: &'a [(u16, PageOperation)],
    /// Number of operations, from position 0 on, that end at once. The operations after them are in the order of
    /// `batch.entries`.
    pub at_once: u32,
    /// The batch. It gives the time at which each operation after the first `at_once` ones is done.
    pub batch: &'a Batch,
    /// All flash operations of the batch.
    pub operations: &'a Operations,
}

/// An event in a device.
#[derive(Clone, Copy)]
pub enum Note<'a> {
    /// The record was emitted at this time.
    Emitted(&'a Destage, Ticks),
    /// The last program of a record has ended.
    RecordEnded {
        /// The time at which the record was emitted.
        emitted: Ticks,
        /// The time at which the program ended.
        now: Ticks,
    },
    /// A page of the request being submitted has entered the buffer.
    TakenIn {
        /// The page of the device.
        page: Lpn,
        /// The number of the page within the request.
        offset: u32,
    },
    /// A page of the request being submitted bypasses the buffer.
    Bypassed {
        /// The page of the device.
        page: Lpn,
        /// The number of the page within the request.
        offset: u32,
    },
    /// The pages that the span covers completely are trimmed. [`Note::Trimmed`] follows for each of these pages that
    /// may have contents.
    Trimming(&'a Span),
    /// The page is trimmed, and an operation for the trim follows.
    Trimmed(Lpn),
    /// These pages, which are not in the buffer, have no contents any more. No operation follows, because nothing else
    /// is in progress on the device.
    TrimmedAll {
        /// The pages of the device.
        pages: &'a Range<u64>,
        /// The buffer, which has not changed.
        buffer: &'a Buffer,
    },
    /// A page of the request being submitted is read.
    Read {
        /// The page of the device.
        page: Lpn,
        /// Whether the page is served from RAM; otherwise it is served from flash.
        in_ram: bool,
    },
    /// The state of the buffer may have changed: a page was accepted, read or trimmed, a page has bypassed the
    /// buffer, a record was emitted, or a page of a record was programmed.
    Changed(&'a Buffer),
    /// The operation has joined the queue of the die with this number.
    Queued(PageOperation, u32),
    /// A page that waited for a slot has got a slot. If the request of this page waits for nothing else, its answer
    /// follows.
    SlotGiven,
    /// The operation has ended.
    Ended(PageOperation),
}

/// Carries out the commands of a [`Device`](crate::Device), and receives its events.
///
/// A device calls its driver from within `submit`, `complete`, `free`, `let_reads_pass`, `wake`, `retire` and
/// `drain`, in the order of the events. In such a call the driver may record and schedule work, but it may call the
/// device again only after the device's method has returned.
///
/// Drivers that move bytes, measure or observe receive further events as [`Note`]s.
pub trait Driver {
    /// Whether commands need time. If so, [`Driver::begin`] never returns [`Progress::Ended`].
    const TAKES_TIME: bool = false;

    /// Whether the device may leave out page operations if [there is no flash](destage_ftl::Properties::is_hollow). A
    /// driver may set this only if its commands need no time, and if it does not need the events [`Note::Queued`] and
    /// [`Note::Ended`].
    const SKIPS_HOLLOW: bool = false;

    /// `die` begins `transaction`, which is identified by `token`. The flash carries out the operations of each lane
    /// of `operations` one after the other, and the lanes in parallel. At the same time, the map is busy for
    /// `map_time` ticks.
    fn begin(
        &mut self,
        die: u32,
        transaction: Transaction,
        operations: &Operations,
        map_time: Ticks,
        token: Token,
    ) -> Progress;

    /// `die` begins to serve a batch on its parallel units. When the operation at a position has ended, the driver
    /// calls [`Device::complete`](crate::Device::complete) with the token of this position.
    fn serve_batch(&mut self, die: u32, step: BatchStep<'_>);

    /// Whether a read may begin at the busy `die` during the operation in service. Default: no.
    fn takes_read(&self, die: u32) -> bool {
        let _ = die;
        false
    }

    /// Whether `die` is still working on operations that no longer [occupy](Progress::Overlaps) it. Such a die is not
    /// idle, although it may begin the next operation. Default: no.
    fn is_busy(&self, die: u32) -> bool {
        let _ = die;
        false
    }

    /// The host request `token` is done and may be answered.
    fn answer(&mut self, token: u32);

    /// The driver has to call [`Device::wake`](crate::Device::wake) with `alarm` when `delay` ticks have passed.
    fn wake_after(&mut self, delay: Ticks, alarm: u32);

    /// The time, in ticks, that garbage collection uses. Default: `now`. A driver whose commands need no time returns
    /// another time.
    #[inline]
    fn flash_time(&self, now: Ticks) -> Ticks {
        now
    }

    /// Whether page operations that wait in queues of the driver begin in the order of their arrival. If so, a read
    /// that needs no flash command waits for the earlier operations in these queues; otherwise it waits for no
    /// operation. Default: yes.
    #[inline]
    fn keeps_order(&self) -> bool {
        true
    }

    /// Whether the driver needs [`Note::Emitted`] for writes that bypass the buffer. Default: no.
    #[inline]
    fn wants_records(&self) -> bool {
        false
    }

    /// Receives the events of requests and pages. The default ignores these events, and costs no time.
    #[inline]
    fn note(&mut self, note: &Note<'_>) {
        let _ = note;
    }
}
