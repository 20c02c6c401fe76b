//! The driver of a device, which gives it time and requests, and carries out its flash commands.

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
    /// Fillers that complete a unit, of [`DeviceConfig::units`](crate::DeviceConfig::units) only.
    Fillers,
    /// A host read during another operation of the die: after [`Driver::takes_read`], or within
    /// [`Device::let_reads_pass`](crate::Device::let_reads_pass). Only for drivers that ask for such reads.
    ReadBetween(PageOperation),
}

/// The name that a [`Device`](crate::Device) gives a transaction from its beginning to its end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Token(u32);

impl Token {
    /// Numbers from this one on are of the table of operations under way, which holds every operation that may leave its die before its end; lower
    /// numbers are of dies.
    pub const IN_TABLE: u32 = 1 << 31;

    /// The operation that `die` has in service, where every operation stays at its die to its end.
    #[inline(always)]
    pub(crate) fn of_die(die: u32) -> Self {
        Self(die)
    }

    #[inline(always)]
    pub(crate) fn of_table(place: u32) -> Self {
        Self(Self::IN_TABLE | place)
    }

    /// The die that has it in service, or else its place in the table.
    #[inline(always)]
    pub(crate) fn die_or_place(self) -> Result<u32, u32> {
        match self.0 & Self::IN_TABLE {
            0 => Ok(self.0),
            _ => Err(self.0 & !Self::IN_TABLE),
        }
    }

    /// The token as a number, to be kept in few bits.
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

/// How far a driver is with a transaction it was just given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// It is under way, and its die begins nothing else. The driver calls [`Device::complete`](crate::Device::complete) when it has
    /// ended.
    Running,
    /// It has ended already: nothing takes time here.
    Ended,
    /// It runs, and its die may begin the next, as after [`Device::free`](crate::Device::free). Only for page operations and fillers.
    Beside,
}

/// Several page operations that a die serves together.
#[derive(Clone, Copy, Debug)]
pub struct BatchStep<'a> {
    /// The page operations; positions count from 0.
    pub taken: &'a [PageOperation],
    /// The name of each of them.
    pub tokens: &'a [Token],
    /// Operations on the same pages that end with one of them, by its position.
    pub followers: &'a [(u16, PageOperation)],
    /// How many of them, from position 0 on, end at once. The others follow in the order of `batch.entries`.
    pub at_once: u32,
    /// When each of the others is done.
    pub batch: &'a Batch,
    /// Everything flash does.
    pub operations: &'a Operations,
}

/// Something that has happened in a device.
#[derive(Clone, Copy)]
pub enum Note<'a> {
    /// The record was emitted at that time.
    Emitted(&'a Destage, Ticks),
    /// The last program of a record has ended.
    RecordEnded {
        /// When the record was emitted.
        emitted: Ticks,
        /// When that program ended.
        now: Ticks,
    },
    /// A page of the request being submitted is in the buffer.
    TakenIn {
        /// As which page of the device.
        page: Lpn,
        /// Which page of the request it is.
        offset: u32,
    },
    /// A page of the request being submitted is written past the buffer.
    Bypassed {
        /// As which page of the device.
        page: Lpn,
        /// Which page of the request it is.
        offset: u32,
    },
    /// The pages that the span covers whole are trimmed. [`Note::Trimmed`] follows for each of them that may have contents.
    Trimming(&'a Span),
    /// The page is trimmed, and an operation for that follows.
    Trimmed(Lpn),
    /// A page of the request being submitted is read.
    Read {
        /// Which page of the device.
        page: Lpn,
        /// It is served from RAM; otherwise from flash.
        in_ram: bool,
    },
    /// The state of the buffer has changed: a page was accepted, read, trimmed or written past it, a record was emitted, or a page of one was
    /// programmed.
    Changed(&'a Buffer),
    /// The operation has joined the queue of that die.
    Queued(PageOperation, u32),
    /// A page of a request that waited for a slot has one. If the request waited for nothing else, its answer follows.
    SlotGiven,
    /// The operation has ended.
    Ended(PageOperation),
}

/// Carries out the commands of a [`Device`](crate::Device), and is told of the events of requests and pages.
///
/// A device calls its driver from within `submit`, `complete`, `free`, `let_reads_pass`, `wake`, `retire` and `drain`, in the order in
/// which things happen. The driver may note and schedule; it calls the device again only after that call has returned.
///
/// Other events, for a driver that moves bytes, measures or watches, arrive as [`Note`]s.
pub trait Driver {
    /// Commands take time here: none has [ended](Progress::Ended) when it begins.
    const TAKES_TIME: bool = false;

    /// Every command [has ended](Progress::Ended) when it begins, and the driver needs no events if [there is no
    /// flash](destage_ftl::Properties::is_hollow): neither of operations that join a queue nor of those that end.
    const SKIPS_HOLLOW: bool = false;

    /// `die` begins `transaction`, which is called `token`. The flash does `operations` one after the other, those of several lanes in parallel;
    /// meanwhile the map is busy for `map_time` ticks.
    fn begin(
        &mut self,
        die: u32,
        transaction: Transaction,
        operations: &Operations,
        map_time: Ticks,
        token: Token,
    ) -> Progress;

    /// `die` begins to serve a batch on its parallel units. The driver calls [`Device::complete`](crate::Device::complete) for
    /// the token of each position.
    fn serve_batch(&mut self, die: u32, step: BatchStep<'_>);

    /// Whether `die`, which is busy, lets a read begin all the same. Default: no.
    fn takes_read(&self, die: u32) -> bool {
        let _ = die;
        false
    }

    /// Whether `die` is still working on operations that it [handed over](Progress::Beside): it is not idle then, although it may begin the next.
    /// Default: no.
    fn is_busy(&self, die: u32) -> bool {
        let _ = die;
        false
    }

    /// The host request `token` is done and may be answered.
    fn answer(&mut self, token: u32);

    /// The device wants [`Device::wake`](crate::Device::wake) to be called with `alarm` when `delay` ticks have passed.
    fn wake_after(&mut self, delay: Ticks, alarm: u32);

    /// The clock for garbage collection; `now` unless nothing takes time.
    #[inline]
    fn flash_time(&self, now: Ticks) -> Ticks {
        now
    }

    /// Whether page operations that wait with the driver have their turn as they came. A read that takes no command of flash then waits for the reads
    /// before it, and otherwise for none.
    #[inline]
    fn keeps_order(&self) -> bool {
        true
    }

    /// Whether [`Note::Emitted`] is wanted for writes that go past the buffer.
    #[inline]
    fn wants_records(&self) -> bool {
        false
    }

    /// Is told of the events of requests and pages. A driver that does not need them pays nothing.
    #[inline]
    fn note(&mut self, note: &Note<'_>) {
        let _ = note;
    }
}
