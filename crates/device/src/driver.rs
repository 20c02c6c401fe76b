//! The driver of a device: it gives the device time and requests, and carries out its flash commands.

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
    /// Fillers that complete a unit; only with [`DeviceConfig::units`](crate::DeviceConfig::units).
    Fillers,
    /// A host read that begins during another operation of the die: after [`Driver::takes_read`], or within
    /// [`Device::let_reads_pass`](crate::Device::let_reads_pass). Only for drivers that allow such reads.
    ReadBetween(PageOperation),
}

/// The name that a [`Device`](crate::Device) gives a transaction from its beginning to its end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Token(u32);

impl Token {
    /// Numbers from this one on are places in the table of transactions, which holds every transaction that may
    /// stop occupying its die before its end. Lower numbers are numbers of dies.
    pub const IN_TABLE: u32 = 1 << 31;

    /// The transaction in service at `die`, if every transaction occupies its die until its end.
    #[inline(always)]
    pub(crate) fn of_die(die: u32) -> Self {
        Self(die)
    }

    #[inline(always)]
    pub(crate) fn of_table(place: u32) -> Self {
        Self(Self::IN_TABLE | place)
    }

    /// The die at which the transaction is in service, or its place in the table of transactions.
    #[inline(always)]
    pub(crate) fn die_or_place(self) -> Result<u32, u32> {
        match self.0 & Self::IN_TABLE {
            0 => Ok(self.0),
            _ => Err(self.0 & !Self::IN_TABLE),
        }
    }

    /// The token as a number, which fits into few bits.
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
    /// It is in progress, and its die begins nothing else. The driver calls
    /// [`Device::complete`](crate::Device::complete) when it has ended.
    Running,
    /// It has ended already, because commands take no time with this driver.
    Ended,
    /// It is in progress, and its die may begin the next operation, as after [`Device::free`](crate::Device::free).
    /// Only for page operations and fillers.
    Beside,
}

/// Several page operations that a die serves together.
#[derive(Clone, Copy, Debug)]
pub struct BatchStep<'a> {
    /// The page operations. Their positions count from 0.
    pub taken: &'a [PageOperation],
    /// The token of each page operation.
    pub tokens: &'a [Token],
    /// Repeated operations on the same pages: the position of the operation with which each ends, and the
    /// operation.
    pub followers: &'a [(u16, PageOperation)],
    /// Number of operations, from position 0 on, that end at once. The others are in the order of `batch.entries`.
    pub at_once: u32,
    /// The batch, which gives the time at which each of the other operations is done.
    pub batch: &'a Batch,
    /// All flash operations of the batch.
    pub operations: &'a Operations,
}

/// An event in a device.
#[derive(Clone, Copy)]
pub enum Note<'a> {
    /// This record was emitted at this time.
    Emitted(&'a Destage, Ticks),
    /// The last program of a record has ended.
    RecordEnded {
        /// The time at which the record was emitted.
        emitted: Ticks,
        /// The time at which the program ended.
        now: Ticks,
    },
    /// A page of the request being submitted was taken into the buffer.
    TakenIn {
        /// The page of the device.
        page: Lpn,
        /// The number of the page within the request.
        offset: u32,
    },
    /// A page of the request being submitted is written past the buffer.
    Bypassed {
        /// The page of the device.
        page: Lpn,
        /// The number of the page within the request.
        offset: u32,
    },
    /// The pages that the span covers completely are trimmed. [`Note::Trimmed`] follows for each of them that may
    /// have contents.
    Trimming(&'a Span),
    /// The page is trimmed, and an operation for the trim follows.
    Trimmed(Lpn),
    /// A page of the request being submitted is read.
    Read {
        /// The page of the device.
        page: Lpn,
        /// Whether the page is served from RAM; otherwise it is served from flash.
        in_ram: bool,
    },
    /// The state of the buffer has changed: a page was accepted, read, trimmed or written past it, a record was
    /// emitted, or a page of a record was programmed.
    Changed(&'a Buffer),
    /// The operation has joined the queue of this die.
    Queued(PageOperation, u32),
    /// A page of a request that waited for a slot has got one. If the request waits for nothing else, its answer
    /// follows.
    SlotGiven,
    /// The operation has ended.
    Ended(PageOperation),
}

/// Carries out the commands of a [`Device`](crate::Device), and receives its events.
///
/// A device calls its driver from within `submit`, `complete`, `free`, `let_reads_pass`, `wake`, `retire` and
/// `drain`, in the order in which things happen. The driver may note and schedule work, but it calls the device
/// again only after that call has returned.
///
/// Further events, for a driver that moves bytes, measures or observes, arrive as [`Note`]s.
pub trait Driver {
    /// Whether commands take time: no command has [ended](Progress::Ended) when it begins.
    const TAKES_TIME: bool = false;

    /// Whether every command [has ended](Progress::Ended) when it begins, and the driver needs no events of
    /// operations (of joining a queue, of ending) if [there is no flash](destage_ftl::Properties::is_hollow).
    const SKIPS_HOLLOW: bool = false;

    /// `die` begins `transaction`, which has the name `token`. The flash does `operations` one after the other, and
    /// those of several lanes in parallel. At the same time, the map is busy for `map_time` ticks.
    fn begin(
        &mut self,
        die: u32,
        transaction: Transaction,
        operations: &Operations,
        map_time: Ticks,
        token: Token,
    ) -> Progress;

    /// `die` begins to serve a batch on its parallel units. The driver calls
    /// [`Device::complete`](crate::Device::complete) for the token of each position.
    fn serve_batch(&mut self, die: u32, step: BatchStep<'_>);

    /// Whether `die`, which is busy, lets a read begin during its operation. Default: no.
    fn takes_read(&self, die: u32) -> bool {
        let _ = die;
        false
    }

    /// Whether `die` is still working on operations that it [handed over](Progress::Beside). Such a die is not
    /// idle, although it may begin the next operation. Default: no.
    fn is_busy(&self, die: u32) -> bool {
        let _ = die;
        false
    }

    /// The host request `token` is done and may be answered.
    fn answer(&mut self, token: u32);

    /// The driver has to call [`Device::wake`](crate::Device::wake) with `alarm` when `delay` ticks have passed.
    fn wake_after(&mut self, delay: Ticks, alarm: u32);

    /// The time of the clock for garbage collection, in ticks. Default: `now`; a driver whose commands take no time
    /// gives another time.
    #[inline]
    fn flash_time(&self, now: Ticks) -> Ticks {
        now
    }

    /// Whether page operations that wait with the driver begin in the order of their arrival. If so, a read that
    /// needs no flash command waits for the operations before it; otherwise it waits for none. Default: yes.
    #[inline]
    fn keeps_order(&self) -> bool {
        true
    }

    /// Whether the driver wants [`Note::Emitted`] for writes that go past the buffer. Default: no.
    #[inline]
    fn wants_records(&self) -> bool {
        false
    }

    /// Receives the events of requests and pages. The default ignores them, and costs nothing.
    #[inline]
    fn note(&mut self, note: &Note<'_>) {
        let _ = note;
    }
}
