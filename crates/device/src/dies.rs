//! The dies of the device, each with a queue, and the translation layer that serves all dies.
//!
//! A die serves one operation at a time; with parallel units, one batch at a time. The map changes when the service
//! of an operation starts. Before an operation is served, the device checks whether garbage has to be collected on
//! the die.

mod queued;
mod service;
mod units;

use alloc::boxed::Box;
use alloc::collections::btree_map::Entry;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::{Lpn, Ticks};
use destage_buffer::view::View;
use destage_ftl::{Ftl, NoSpace, PageWrite, Shortage};
use destage_nand::Operations;
use destage_nand::array::Ppn;
use destage_nand::batch::Batch;
use destage_nand::divide::Divider;

use self::service::Ahead;
pub use self::service::ServiceOrder;
pub(crate) use self::units::UNIT_ALARM;
pub use self::units::Units;
use self::units::{Open, Unfinished};
use crate::batching::BatchLists;
use crate::device::{DeviceConfig, Ordering, Wording};
use crate::driver::{BatchStep, Driver, Note, Progress, Token, Transaction};
use crate::operation::PageOperation;
use crate::slab::Slab;

#[derive(Default)]
struct Die {
    queue: VecDeque<PageOperation>,
    /// The reads that overtake other operations; used only if operations are not served in order of arrival.
    ahead: Ahead,
    /// The incomplete units of the die; used only if pages are programmed in units.
    open: Open,
    /// Number of operations in service that have not ended.
    in_service: u32,
    /// Number of operations that wait in a queue of the driver.
    queued: u32,
    serving: Option<PageOperation>,
    /// The place, in the table of transactions, of the operation in service. Used only if operations may stop
    /// occupying their dies before they end.
    in_table: u32,
    /// The time for which the map is busy with the operation in service, if this operation was put off. An operation
    /// that is put off has changed the map, but is served only when no operation of this die waits with the driver
    /// any more.
    put_off: Option<Ticks>,
    collecting: bool,
    /// Whether the layer has stated that no garbage has to be collected before the next operation; `false` during a
    /// collection.
    is_tidy: bool,
    /// Number of garbage collections since an operation was last served. If it exceeds a limit, the die makes no
    /// progress.
    gc_in_a_row: u32,
    /// The operations of the batch in service, with parallel units.
    batch: Vec<PageOperation>,
    /// Repeated operations of the batch. Each entry is the position of the operation with which the repeated
    /// operation ends, and the repeated operation.
    followers: Vec<(u16, PageOperation)>,
    /// The state of pages that move between dies; used only if the layer chooses the die of each write.
    chosen: Chosen,
}

/// The state of a die for layers that choose the die of each write.
#[derive(Default)]
struct Chosen {
    /// For each block of this die, given by its first page, the number of unfinished programs at other dies that
    /// replace a page of the block.
    replaced_elsewhere: BTreeMap<Ppn, u32>,
    /// The blocks of other dies in which the operation in service replaces a page, each given by its die and first
    /// page.
    replaces: Vec<(u32, Ppn)>,
    /// The erases of a garbage collection that have not begun, because the copies of the collection are running or
    /// because programs in `replaced_elsewhere` have not ended.
    erases: Option<Box<Operations>>,
    /// Whether the copies of the collection have ended.
    copied: bool,
}

impl Chosen {
    /// Called when a program that replaces a page of `block` begins at another die.
    fn note(&mut self, block: Ppn) {
        *self.replaced_elsewhere.entry(block).or_default() += 1;
    }

    /// Called when a program that replaced a page of `block` has ended at another die.
    fn release(&mut self, block: Ppn) {
        let Entry::Occupied(mut programs) = self.replaced_elsewhere.entry(block) else {
            debug_assert!(
                false,
                "a program that was never noted has replaced a page of {block:?}"
            );
            return;
        };
        *programs.get_mut() -= 1;
        if *programs.get() == 0 {
            programs.remove();
        }
    }

    /// Whether `operations` erase a block with a page that an unfinished program at another die replaces. Such a
    /// block must not be erased yet: if the power failed, the program would be lost and the old copy would be gone.
    fn is_replaced(&self, operations: &Operations) -> bool {
        !self.replaced_elsewhere.is_empty()
            && operations
                .erased()
                .any(|block| self.replaced_elsewhere.contains_key(&block))
    }

    /// Whether the erases of the collection have to wait for programs at other dies.
    fn waits(&self) -> bool {
        let erases = self.erases.as_deref();
        erases.is_some_and(|erases| self.is_replaced(erases))
    }

    /// Whether the erase of `block` is one of the waiting erases of a garbage collection (`erases`).
    fn will_erase(&self, block: Ppn) -> bool {
        let erases = self.erases.as_deref();
        erases.is_some_and(|erases| erases.erased().any(|erased| erased == block))
    }
}

/// A transaction that has begun but not ended.
#[derive(Clone, Copy)]
pub(crate) enum UnderWay {
    /// The transaction in service at this die.
    InService(u32),
    /// The step of this page operation at this die. The step no longer occupies the die.
    Left(u32, PageOperation),
    /// Fillers that complete a unit of this die. The fillers no longer occupy the die.
    Filling(u32),
    /// A read that is served during another operation of this die.
    Between(u32, PageOperation),
    /// The operation at this position of the batch in service at this die.
    Part(u32, u16),
}

/// Which transactions may stop occupying their dies before they end. For each such transaction the driver decides: if
/// the transaction is to free its die, the driver returns [`Progress::Overlaps`] or calls
/// [`Device::free`](crate::Device::free).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Handover {
    /// Every operation occupies its die until its end.
    #[default]
    Never,
    /// Operations may free their dies if the layer does not move pages between dies. The commands of these operations
    /// wait in queues of the driver.
    OfFixedDies,
    /// Operations of all layers may free their dies. Cache registers hold the pages of these operations.
    OfAll,
}

/// Fixed properties of the layer and of the configuration that determine the work of dies.
struct Rules {
    /// Ticks for which the map is busy with a read, and with a write or trim.
    map_time: [Ticks; 2],
    background: bool,
    /// Whether garbage is collected in several steps, so that a waiting operation may be served between two steps.
    gives_way: bool,
    /// Whether an idle die has work to do: completing units, or deferred work of the layer.
    uses_idle_time: bool,
    /// Whether a die begins the next operation of its queue without further checks, except the check for garbage.
    is_plain: bool,
    places_writes: bool,
    /// The number of dies as a divisor, if the die of a page depends only on the number of the page.
    round: Option<Divider>,
    updates_in_place: bool,
    gc_limit: u32,
    /// Which operation a die serves first. `reads_ahead` is the largest number of reads that overtake a waiting
    /// operation.
    service: ServiceOrder,
    reads_ahead: u32,
    handover: Handover,
    power_may_fail: bool,
    /// How pages are programmed together, if they are.
    units: Option<Units>,
}

impl Rules {
    fn of(ftl: &dyn Ftl, config: &DeviceConfig) -> Self {
        let properties = ftl.properties();
        let uses_idle_time = properties.works_when_idle || config.units.is_some();
        Self {
            map_time: properties.map_time,
            background: properties.collects_in_background,
            gives_way: properties.gc_steps > 1,
            uses_idle_time,
            is_plain: (properties.parallel_units == 1 || !config.batches)
                && config.wording != Wording::Contents
                && !properties.places_writes
                && !uses_idle_time
                && config.service == ServiceOrder::Arrival,
            places_writes: properties.places_writes,
            round: properties.goes_round.then(|| Divider::new(config.dies)),
            updates_in_place: properties.updates_in_place,
            gc_limit: gc_limit(config.blocks_per_die, properties.gc_steps),
            service: config.service,
            reads_ahead: config.reads_ahead,
            handover: config.handover,
            power_may_fail: config.power_may_fail,
            units: config.units,
        }
    }
}

/// What is needed to serve batches: operations that begin together on the parallel units of a die.
struct Batches {
    parallel_units: u32,
    /// Whether repeated operations on a page of a batch are done at once, as in the reference simulator.
    repeats_at_once: bool,
    /// `lists`, `batch` and `tokens` are the data of the batch that begins. They are fields only to reuse their
    /// memory.
    lists: BatchLists,
    batch: Batch,
    tokens: Vec<Token>,
}

impl Batches {
    fn of(ftl: &dyn Ftl, config: &DeviceConfig) -> Self {
        Self {
            parallel_units: match config.batches {
                true => ftl.properties().parallel_units,
                false => 1,
            },
            repeats_at_once: config.ordering == Ordering::Reference,
            lists: BatchLists::default(),
            batch: Batch::default(),
            tokens: Vec::new(),
        }
    }
}

/// All dies of the device. See the [module](self).
pub(crate) struct Dies {
    ftl: Box<dyn Ftl>,
    rules: Rules,
    dies: Vec<Die>,
    /// The operations of the step that begins; empty between two steps.
    operations: Operations,
    batches: Batches,
    /// Dies that may be able to begin an operation after an event at another die.
    stirred: VecDeque<u32>,
    /// Idle dies whose first operation is a write that needs a garbage collection at another die.
    held: Vec<u32>,
    /// The transactions that have begun but not ended. With [`Handover::Never`], the table has only operations of
    /// batches, and reads that are served during another operation.
    under_way: Slab<UnderWay>,
    /// Pages with programs that have begun but not ended, if the layer chooses the die of each write.
    unfinished: BTreeMap<Lpn, Unfinished>,
}

/// The largest number of garbage collections in a row. If a die of `blocks` blocks exceeds it, the die makes no
/// progress. A collection may have up to `steps` steps, and each step counts as one collection.
#[must_use]
pub fn gc_limit(blocks: u32, steps: u32) -> u32 {
    (4 * blocks + 16).saturating_mul(steps)
}

/// The error of a die that has collected garbage more often in a row than its [`gc_limit`].
#[must_use]
pub fn only_collects(die: u32, times: u32) -> NoSpace {
    Shortage::OnlyCollects { die, times }.into()
}

impl Dies {
    /// Idle dies with the layer `ftl`.
    pub fn new(ftl: Box<dyn Ftl>, config: &DeviceConfig) -> Self {
        Self {
            rules: Rules::of(&*ftl, config),
            dies: (0..config.dies).map(|_| Die::default()).collect(),
            operations: match config.wording {
                Wording::Runs => Operations::default(),
                Wording::Pages => Operations::spelled_out(),
                Wording::Contents => Operations::detailed(),
            },
            batches: Batches::of(&*ftl, config),
            ftl,
            stirred: VecDeque::new(),
            held: Vec::new(),
            under_way: Slab::default(),
            unfinished: BTreeMap::new(),
        }
    }

    /// The translation layer.
    pub fn ftl(&self) -> &dyn Ftl {
        &*self.ftl
    }

    /// Whether the state of the layer includes operations that the flash has not begun: erases that wait, or an
    /// operation that was put off.
    pub fn is_ahead(&self) -> bool {
        let mut dies = self.dies.iter();
        dies.any(|die| die.chosen.erases.is_some() || die.put_off.is_some())
    }

    /// Returns the translation layer and drops everything else.
    pub fn into_ftl(self) -> Box<dyn Ftl> {
        self.ftl
    }

    /// The translation layer, for changes.
    pub fn ftl_mut(&mut self) -> &mut dyn Ftl {
        &mut *self.ftl
    }

    /// Whether the layer chooses the die of each write.
    #[inline]
    pub fn places_writes(&self) -> bool {
        self.rules.places_writes
    }

    /// Number of consecutive logical pages on one die.
    pub fn stride(&self) -> u32 {
        self.ftl.properties().stride
    }

    /// Number of operations that wait in the queues of all dies.
    pub fn waiting(&self) -> usize {
        self.dies.iter().map(|die| die.queue.len()).sum()
    }

    /// Those of `pages` for which a write waits in a queue.
    pub fn coming_among(&self, pages: Range<u64>) -> impl Iterator<Item = Lpn> + '_ {
        let waiting = self.dies.iter().flat_map(|die| &die.queue);
        let writes = waiting.filter(|operation| operation.write_cause().is_some());
        let written = writes.map(|operation| operation.page());
        written.filter(move |page| pages.contains(&page.0))
    }

    /// Whether no operation waits or is in progress at any die, and no die collects garbage.
    pub fn are_at_rest(&self) -> bool {
        let rests = |die: &Die| {
            load(die) == 0 && !die.collecting && die.put_off.is_none() && die.serving.is_none()
        };
        self.under_way.is_empty() && self.unfinished.is_empty() && self.dies.iter().all(rests)
    }

    /// Whether a die collects garbage, or an operation waits in the queue of a die.
    pub fn is_held_up(&self) -> bool {
        self.dies
            .iter()
            .any(|die| die.collecting || !die.queue.is_empty())
    }

    /// Whether the map needs time for a trim.
    pub fn trims_take_time(&self) -> bool {
        self.rules.map_time[1] > 0
    }

    /// Whether transactions may stop occupying their dies before they end.
    #[inline]
    pub fn hands_over(&self) -> bool {
        self.rules.handover == Handover::OfAll || !self.rules.places_writes
    }

    /// Whether a program of `page` is in service, and the next program of the page could go to another die. If the
    /// next program [follows](Dies::follow) the first program to its die, the result is `false`.
    pub fn is_programming(&self, page: Lpn) -> bool {
        if self.rules.units.is_some() || self.rules.handover == Handover::OfAll {
            return false;
        }
        let serving = self.dies[self.ftl.die_of(page) as usize].serving;
        serving.is_some_and(|serving| serving.page() == page && serving.write_cause().is_some())
    }

    /// Appends `operation` to the queue of its die, and reports this to `driver`. If the die is idle, returns the
    /// die, which the caller has to [start](Dies::start).
    #[inline(always)]
    pub fn push<D: Driver>(&mut self, operation: PageOperation, driver: &mut D) -> Option<u32> {
        let die = self.die_for(operation);
        self.push_at(die, operation, driver)
    }

    /// The die whose queue `operation` has to join.
    #[inline(always)]
    pub fn die_for(&mut self, operation: PageOperation) -> u32 {
        let page = operation.page();
        if let Some(dies) = &self.rules.round {
            let die = dies.split(page.0 as u32).1;
            debug_assert_eq!(die, self.ftl.die_of(page), "page {page} goes round");
            die
        } else if self.rules.places_writes && operation.write_cause().is_some() {
            self.place(page)
        } else {
            self.ftl.die_of(page)
        }
    }

    /// [`Dies::push`] at [its die](Dies::die_for).
    #[inline(always)]
    pub fn push_at<D: Driver>(
        &mut self,
        die: u32,
        operation: PageOperation,
        driver: &mut D,
    ) -> Option<u32> {
        driver.note(&Note::Queued(operation, die));
        if self.rules.service != ServiceOrder::Arrival && self.goes_ahead(operation, die) {
            return self.push_ahead(operation, die, driver);
        }
        let state = &mut self.dies[die as usize];
        state.queue.push_back(operation);
        (state.in_service == 0 && !state.collecting).then_some(die)
    }

    /// The die for a write of `page`, chosen by the layer unless the write follows an unfinished program.
    fn place(&mut self, page: Lpn) -> u32 {
        if let Some(die) = self.waits_in_unit(page) {
            self.ftl.place_behind(page, die);
            return die;
        }
        let dies = &self.dies;
        self.ftl.place(page, &|die| load(&dies[die as usize]))
    }

    /// Like [`Dies::push`], but an idle die is added to the list of dies that are started later.
    pub fn push_and_stir<D: Driver>(&mut self, operation: PageOperation, driver: &mut D) {
        let die = self.push(operation, driver);
        self.stirred.extend(die);
    }

    /// Ends the step in service at `die`. Returns the page operation of the step, if the step served one. The caller
    /// has to call [`Dies::start`] afterwards.
    #[inline(always)]
    pub fn finish(&mut self, die: u32) -> Option<PageOperation> {
        let state = &mut self.dies[die as usize];
        // Fillers may be in service while the erases of a collection wait.
        if state.collecting && state.in_service == 0 {
            self.finish_gc(die);
            return None;
        }
        state.in_service -= 1;
        let operation = state.serving.take();
        if self.rules.places_writes {
            self.forget_chosen(die, operation);
        }
        operation
    }

    /// Whether `die`, if it is started now, begins the first operation of its queue without any other work.
    #[inline(always)]
    pub fn begins_at_once(&self, die: u32) -> bool {
        let state = &self.dies[die as usize];
        self.rules.is_plain && state.is_tidy && state.in_service == 0
    }

    /// Whether `die` would at once begin an operation that joins its queue now.
    #[inline(always)]
    pub fn is_at_hand(&self, die: u32) -> bool {
        let state = &self.dies[die as usize];
        state.in_service == 0 && state.queue.is_empty() && self.begins_at_once(die)
    }

    /// Begins `operation` at `die`, as if the operation had joined and left the queue. [`Dies::is_at_hand`] has to
    /// hold for `die`.
    #[inline(always)]
    pub fn begin_at_hand<D: Driver>(
        &mut self,
        die: u32,
        operation: PageOperation,
        driver: &mut D,
    ) -> Result<Progress, NoSpace> {
        driver.note(&Note::Queued(operation, die));
        self.begin::<D, true>(die, operation, driver)
    }

    /// Begins the first operation of the queue of `die`, if the queue is not empty. [`Dies::begins_at_once`] has to
    /// hold for `die`.
    #[inline(always)]
    pub fn begin_next<D: Driver>(&mut self, die: u32, driver: &mut D) -> Result<Progress, NoSpace> {
        match self.dies[die as usize].queue.pop_front() {
            Some(operation) => self.begin::<D, true>(die, operation, driver),
            None => Ok(Progress::Running),
        }
    }

    /// Ends the operation at `position` of the batch in service at `die`. Adds this operation, and the repeated
    /// operations that end with it, to `take`. The caller has to call [`Dies::start`] afterwards.
    pub fn finish_batched(&mut self, die: u32, position: u16, take: &mut Vec<PageOperation>) {
        let state = &mut self.dies[die as usize];
        state.in_service -= 1;
        take.push(state.batch[usize::from(position)]);
        let followers = state.followers.iter();
        take.extend(
            followers
                .filter(|(leader, _)| *leader == position)
                .map(|(_, operation)| *operation),
        );
    }

    /// Begins the next transaction of `die`, if the die is idle and has work. The result is the progress of this
    /// transaction.
    #[inline(always)]
    pub fn start<D: Driver>(
        &mut self,
        die: u32,
        now: Ticks,
        driver: &mut D,
    ) -> Result<Progress, NoSpace> {
        match self.begins_at_once(die) {
            true => self.begin_next(die, driver),
            false => self.start_any(die, now, driver),
        }
    }

    /// [`Dies::start`] for the general case. The next work of the die is an operation of its queue, a garbage
    /// collection, or an operation that was put off.
    #[inline(never)]
    fn start_any<D: Driver>(
        &mut self,
        die: u32,
        now: Ticks,
        driver: &mut D,
    ) -> Result<Progress, NoSpace> {
        let state = &mut self.dies[die as usize];
        if state.in_service > 0 || state.collecting {
            return Ok(if state.put_off.is_some() && state.queued == 0 {
                self.take_up(die, driver)
            } else if state.chosen.copied && state.in_service == 0 {
                // The erases may have to wait for a program at another die. A read waits neither for the erases nor
                // for this program.
                match self.may_read_between(die).then(|| self.next_read(die)) {
                    Some(Some(read)) => {
                        self.count_ahead(die);
                        return self.begin::<D, false>(die, read, driver);
                    }
                    _ => self.start_erases(die, driver),
                }
            } else {
                if self.rules.service != ServiceOrder::Arrival {
                    self.interrupt(die, driver)?;
                }
                Progress::Running
            });
        }
        if self.rules.service != ServiceOrder::Arrival {
            return self.start_ordered(die, now, driver);
        }
        let has_work = !state.queue.is_empty() || self.rules.background;
        if has_work && !self.pauses_collection(die) {
            let time = driver.flash_time(now);
            if self.ftl.collect_garbage(die, time, &mut self.operations)? {
                return self.start_gc(die, driver);
            }
        }
        if self.batches.parallel_units > 1 {
            self.start_batch(die, driver)?;
            return Ok(Progress::Running);
        }
        if self.holds(die) {
            // Another die may wait for a program in an incomplete unit of this die.
            return match self.rules.uses_idle_time {
                true => self.use_idle_time(die, driver),
                false => Ok(Progress::Running),
            };
        }
        match self.dies[die as usize].queue.pop_front() {
            Some(operation) => self.begin::<D, false>(die, operation, driver),
            None if self.rules.uses_idle_time => self.use_idle_time(die, driver),
            None => Ok(Progress::Running),
        }
    }

    /// Whether the idle `die` serves a waiting operation before it continues garbage collection. This is so if the
    /// die has just done a step of a collection, and has room for the operation.
    fn pauses_collection(&self, die: u32) -> bool {
        let state = &self.dies[die as usize];
        self.rules.gives_way
            && state.gc_in_a_row > 0
            && !state.queue.is_empty()
            && !self.ftl.collects_before_writes(die)
    }

    /// Begins `operation` at the idle `die`. `PLAIN` may be set only if [`Dies::begins_at_once`] holds for the die.
    #[inline(always)]
    fn begin<D: Driver, const PLAIN: bool>(
        &mut self,
        die: u32,
        operation: PageOperation,
        driver: &mut D,
    ) -> Result<Progress, NoSpace> {
        let Self {
            ftl, operations, ..
        } = self;
        let page = operation.page();
        let mut map_time = self.rules.map_time[1];
        if let Some(cause) = operation.write_cause() {
            let write = PageWrite {
                page,
                cause,
                is_long: operation.is_long(),
                has_stream: true,
            };
            ftl.write(write, operations)?;
        } else if operation.is_trim() {
            if map_time > 0 && !ftl.is_written(page) {
                // A trim of a page without contents does not change the map.
                map_time = 0;
            }
            ftl.trim(page, operations)?;
        } else {
            ftl.read(page, operations)?;
            map_time = self.rules.map_time[0];
        }
        let state = &mut self.dies[die as usize];
        state.gc_in_a_row = 0;
        state.in_service = 1;
        state.serving = Some(operation);
        state.is_tidy = operations.take_tidy();
        if !PLAIN && self.rules.units.is_some() {
            self.begin_units(die, operation.write_cause().map(|_| operation));
        }
        if !PLAIN && self.rules.places_writes {
            if self.follows_without_units() && operation.write_cause().is_some() {
                self.follow(die, operation);
            }
            self.note_replaced(die);
        }
        if self.operations.all().is_empty() && self.puts_off(die, operation, driver) {
            self.dies[die as usize].put_off = Some(map_time);
            self.operations.clear();
            return Ok(Progress::Running);
        }
        let token = self.serves(die);
        let page = Transaction::Page(operation);
        let progress = driver.begin(die, page, &self.operations, map_time, token);
        self.operations.clear();
        Ok(progress)
    }

    /// Makes a token for the transaction that begins at `die` now.
    #[inline(always)]
    fn serves(&mut self, die: u32) -> Token {
        if self.rules.handover == Handover::Never {
            return Token::of_die(die);
        }
        let place = self.under_way.insert(|| UnderWay::InService(die));
        self.dies[die as usize].in_table = place;
        Token::of_table(place)
    }

    /// Removes the transaction at `place` from the table of transactions.
    #[inline(always)]
    pub fn take(&mut self, place: u32) -> UnderWay {
        let taken = self.under_way.remove(place).copied();
        taken.unwrap_or_else(|| unreachable!("transaction {place} has ended before"))
    }

    /// The die of the transaction `token`, which has not ended.
    #[inline(always)]
    pub fn die_of_token(&self, token: Token) -> u32 {
        match token.die_or_place() {
            Ok(die) => die,
            Err(place) => match self.under_way[place] {
                UnderWay::InService(die)
                | UnderWay::Left(die, _)
                | UnderWay::Filling(die)
                | UnderWay::Between(die, _)
                | UnderWay::Part(die, _) => die,
            },
        }
    }

    /// Begins a step of garbage collection at `die`.
    fn collect<D: Driver>(&mut self, die: u32, driver: &mut D) -> Progress {
        let token = self.serves(die);
        let progress = driver.begin(die, Transaction::Collection, &self.operations, 0, token);
        self.operations.clear();
        progress
    }

    /// Whether `operation`, which needs no flash command, has to be put off until the operations of `die` in queues
    /// of the driver have ended. A write or trim is put off, because it may take effect only when all earlier
    /// operations have ended. A read is put off only if reads do not overtake other operations.
    #[cold]
    fn puts_off<D: Driver>(&self, die: u32, operation: PageOperation, driver: &D) -> bool {
        let in_order = self.rules.service == ServiceOrder::Arrival && driver.keeps_order();
        self.dies[die as usize].queued > 0 && (in_order || !operation.is_read())
    }

    /// Serves the operation that `die` has put off. All operations of this die that waited with the driver have
    /// ended.
    #[cold]
    fn take_up<D: Driver>(&mut self, die: u32, driver: &mut D) -> Progress {
        let state = &mut self.dies[die as usize];
        let (Some(operation), Some(map_time)) = (state.serving, state.put_off.take()) else {
            return Progress::Running;
        };
        let token = self.serves(die);
        let page = Transaction::Page(operation);
        driver.begin(die, page, &self.operations, map_time, token)
    }

    /// Whether the first waiting operation of the idle `die` is a write that needs a garbage collection at another
    /// die. If so, the other dies are started, and `die` tries again when an operation of any die has ended. This
    /// call may move reads from the head of the queue to other dies, so the caller must not have removed an operation
    /// from the queue before.
    fn holds(&mut self, die: u32) -> bool {
        if !self.rules.places_writes {
            return false;
        }
        self.follow_pages(die);
        let first = self.dies[die as usize].queue.front();
        let is_write = first.is_some_and(|first| first.write_cause().is_some());
        if !is_write || self.ftl.collects_at(die) == die {
            return false;
        }
        if !self.held.contains(&die) {
            self.held.push(die);
            let others = (0..self.dies.len() as u32).filter(|other| *other != die);
            self.stirred.extend(others);
        }
        true
    }

    /// Checks the reads at the head of the queue of `die`. If the page of a read has moved to another die, the read
    /// is moved to the queue of that die.
    fn follow_pages(&mut self, die: u32) {
        while let Some(first) = self.dies[die as usize].queue.front().copied()
            && first.is_read()
        {
            let home = self.ftl.home_of(first.page());
            if home == die {
                return;
            }
            self.dies[die as usize].queue.pop_front();
            self.dies[home as usize].queue.push_back(first);
            self.stirred.push_back(home);
        }
    }

    #[cold]
    fn start_gc<D: Driver>(&mut self, die: u32, driver: &mut D) -> Result<Progress, NoSpace> {
        let state = &mut self.dies[die as usize];
        state.gc_in_a_row += 1;
        if state.gc_in_a_row > self.rules.gc_limit {
            return Err(only_collects(die, state.gc_in_a_row));
        }
        state.collecting = true;
        if state.chosen.is_replaced(&self.operations) {
            state.chosen.erases = Some(Box::new(self.operations.split_off_erases()));
            self.want_replaced(die);
        }
        self.note_replaced(die);
        self.begin_units(die, None);
        Ok(self.collect(die, driver))
    }

    /// Ends a step of a garbage collection at `die`: its copies if its erases wait, otherwise the whole step.
    #[inline(never)]
    fn finish_gc(&mut self, die: u32) {
        let state = &mut self.dies[die as usize];
        if state.chosen.erases.is_some() && !state.chosen.copied {
            state.chosen.copied = true;
        } else {
            state.collecting = false;
        }
        self.forget_replaced(die);
    }

    /// Starts the erases of the garbage collection at `die`, if all programs at other dies that replace pages of the
    /// blocks have ended.
    #[cold]
    fn start_erases<D: Driver>(&mut self, die: u32, driver: &mut D) -> Progress {
        let state = &mut self.dies[die as usize];
        if state.chosen.waits() {
            // One of these other dies may in turn wait for an incomplete unit of this die.
            return match self.rules.units.is_some() && state.may_fill() {
                true => self.fill(die, driver),
                false => Progress::Running,
            };
        }
        state.chosen.copied = false;
        match state.chosen.erases.take() {
            Some(erases) => {
                self.operations = *erases;
                self.begin_units(die, None);
                self.collect(die, driver)
            }
            None => Progress::Running,
        }
    }

    /// Records the blocks of other dies that hold old copies of pages that the step at `die` programs.
    fn note_replaced(&mut self, die: u32) {
        while let Some((home, block)) = self.operations.take_left() {
            self.dies[home as usize].chosen.note(block);
            self.dies[die as usize].chosen.replaces.push((home, block));
        }
    }

    /// Called when the operation in service at `die` has ended. Held dies may try again, and erases that waited for
    /// this operation may begin.
    fn forget_replaced(&mut self, die: u32) {
        self.stirred.extend(self.held.drain(..));
        while let Some(replaced) = self.dies[die as usize].chosen.replaces.pop() {
            self.release_replaced(replaced);
        }
    }

    /// Called when the transaction in service at `die` has ended, if the layer chooses the die of each write.
    /// `operation` is the page operation of the transaction, if there is one.
    #[inline(never)]
    fn forget_chosen(&mut self, die: u32, operation: Option<PageOperation>) {
        if self.follows_without_units()
            && let Some(operation) = operation
        {
            self.forget_unfinished(operation);
        }
        self.forget_replaced(die);
    }

    /// Called when a program that replaced a page of `block`, a block of the die `home`, has ended at another die.
    fn release_replaced(&mut self, (home, block): (u32, Ppn)) {
        let chosen = &mut self.dies[home as usize].chosen;
        chosen.release(block);
        if chosen.copied && !chosen.waits() {
            self.stirred.push_back(home);
        }
    }

    /// Removes and returns a die of the list [`Dies::stirred`].
    pub fn next_stirred(&mut self) -> Option<u32> {
        self.stirred.pop_front()
    }

    /// Removes operations from the queue of `die`, up to the limit of a batch, and begins to serve them on the
    /// parallel units.
    fn start_batch<D: Driver>(&mut self, die: u32, driver: &mut D) -> Result<(), NoSpace> {
        let state = &mut self.dies[die as usize];
        let lists = &mut self.batches.lists;
        lists.fill(&mut state.queue, self.batches.repeats_at_once);
        if lists.is_empty() {
            return Ok(());
        }
        for operation in lists.trims_before() {
            self.ftl.trim(operation.page(), &mut self.operations)?;
        }
        let taken = self.ftl.serve(
            die,
            &lists.read_pages,
            &lists.write_pages,
            &mut self.batches.batch,
            &mut self.operations,
        )?;
        lists.give_back(taken, &mut state.queue);
        for operation in lists.trims_behind() {
            self.ftl.trim(operation.page(), &mut self.operations)?;
        }
        state.gc_in_a_row = 0;
        let at_once = lists.arrange(&self.batches.batch, &mut state.batch, &mut state.followers);
        state.in_service = state.batch.len() as u32;
        self.batches.tokens.clear();
        for position in 0..state.batch.len() {
            let part = UnderWay::Part(die, position as u16);
            self.batches
                .tokens
                .push(Token::of_table(self.under_way.insert(|| part)));
        }
        driver.serve_batch(
            die,
            BatchStep {
                taken: &state.batch,
                tokens: &self.batches.tokens,
                followers: &state.followers,
                at_once,
                batch: &self.batches.batch,
                operations: &self.operations,
            },
        );
        self.operations.clear();
        Ok(())
    }
}

/// Number of operations that wait or are in service at a die.
fn load(die: &Die) -> u32 {
    (die.queue.len() + die.ahead.reads.len()) as u32 + die.in_service + die.queued
}

impl View for Dies {
    fn pages(&self) -> u64 {
        self.ftl.pages()
    }
    fn die_of(&self, page: Lpn) -> u32 {
        self.ftl.die_of(page)
    }
    fn is_written(&self, page: Lpn) -> bool {
        self.ftl.is_written(page)
    }
    fn updates_in_place(&self) -> bool {
        self.rules.updates_in_place
    }
    fn is_collecting(&self, die: u32) -> bool {
        self.dies[die as usize].collecting
    }
    fn queue_length(&self, die: u32) -> u32 {
        load(&self.dies[die as usize])
    }
}
