//! The elements of the device: a queue and a server each, and the FTL they share.
//!
//! An element serves one operation (or, with parallel units, one batch) at a time. Maps change when
//! service starts; cleaning is looked for before anything is served.

use std::collections::VecDeque;

use destage_base::{Lpn, Ticks};
use destage_buffer::view::View;
use destage_flash::batch::Batch;
use destage_flash::ftl::NoSpace;
use destage_flash::operation::Tally;
use destage_flash::{Cause, Ftl, Operations, Timing};

use crate::engine::Event;
use crate::events::EventList;
use crate::operation::{PageOperation, Work};

/// Most reads, and most writes, an element takes into one batch.
const BATCH_LIMIT: usize = 100;

#[derive(Default)]
struct Element {
    queue: VecDeque<PageOperation>,
    /// Operations in service that have not finished.
    in_service: u32,
    serving: Option<PageOperation>,
    /// The batch in service, with parallel units.
    batch: Vec<PageOperation>,
    cleaning: bool,
    busy_until: Ticks,
    busy: Ticks,
    /// Cleanings since an operation was last served: a device that only cleans is stuck.
    cleanings_in_a_row: u32,
}

/// All elements. See the [module](self).
pub struct Elements {
    ftl: Box<dyn Ftl>,
    timing: Timing,
    elements: Vec<Element>,
    operations: Operations,
    batch: Batch,
    batch_lists: BatchLists,
    parallel_units: u32,
    /// Of a read, and of a write or trim.
    map_time: [Ticks; 2],
    background: bool,
    places_writes: bool,
    cleaning_limit: u32,
    busy_elements: u32,
    any_busy_since: Ticks,
    any_busy: Ticks,
    tally: Tally,
    serial_time: Ticks,
    clean_time: Ticks,
    cleanings: u64,
}

#[derive(Default)]
struct BatchLists {
    reads: Vec<PageOperation>,
    writes: Vec<PageOperation>,
    read_pages: Vec<Lpn>,
    write_pages: Vec<(Lpn, Cause)>,
    /// Finished at once, with the start of the batch.
    immediate: Vec<PageOperation>,
    /// Reads and writes taken, repeated ones included.
    reads_taken: usize,
    writes_taken: usize,
}

/// Cleanings in a row after which an element of `blocks` blocks will never serve anything again.
pub(crate) fn cleaning_limit(blocks: u32) -> u32 {
    4 * blocks + 16
}

/// The error of an element beyond its [`cleaning_limit`].
pub(crate) fn only_cleans(element: u32, times: u32) -> NoSpace {
    let explanation = format!(
        "element {element} cleaned {times} times in a row without serving a request: it holds almost only valid data; raise ftl.reserve_percent, lower ftl.min_free_percent or use a larger device"
    );
    NoSpace {
        explanation: explanation.into(),
    }
}

/// Totals of what the elements did.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Operations by kind and cause.
    pub tally: Tally,
    /// Busy time of each element.
    pub busy: Vec<Ticks>,
    /// Time during which at least one element was busy.
    pub any_busy: Ticks,
    /// Times of all operations, one after the other.
    pub serial_time: Ticks,
    /// Time spent cleaning, summed over elements.
    pub clean_time: Ticks,
    /// Cleanings begun.
    pub cleanings: u64,
}

impl Elements {
    /// Idle elements over `ftl`.
    pub fn new(ftl: Box<dyn Ftl>, timing: Timing, elements: u32, blocks_per_element: u32) -> Self {
        let parallel_units = ftl.parallel_units();
        let map_time = [false, true].map(|write| ftl.map_time(write));
        let background = ftl.cleans_in_background();
        let places_writes = ftl.places_writes();
        Self {
            ftl,
            timing,
            elements: (0..elements).map(|_| Element::default()).collect(),
            operations: Operations::default(),
            batch: Batch::default(),
            batch_lists: BatchLists::default(),
            parallel_units,
            map_time,
            background,
            places_writes,
            cleaning_limit: cleaning_limit(blocks_per_element),
            busy_elements: 0,
            any_busy_since: 0,
            any_busy: 0,
            tally: Tally::default(),
            serial_time: 0,
            clean_time: 0,
            cleanings: 0,
        }
    }

    /// The translation layer.
    pub fn ftl(&self) -> &dyn Ftl {
        &*self.ftl
    }

    /// Puts `operation` at the tail of its element's queue and starts the element if it is idle.
    #[inline]
    pub fn submit(
        &mut self,
        operation: PageOperation,
        events: &mut EventList<Event>,
    ) -> Result<(), NoSpace> {
        let element = if self.places_writes && operation.write_cause().is_some() {
            let elements = &self.elements;
            self.ftl.place(operation.page(), &|element| {
                load(&elements[element as usize])
            })
        } else {
            self.ftl.element_of(operation.page())
        };
        self.elements[element as usize].queue.push_back(operation);
        self.activate(element, events)
    }

    /// The operation in service at `element` is done: takes it. Call [`Elements::activate`] afterwards.
    #[inline]
    pub fn finish(&mut self, element: u32, now: Ticks) -> Option<PageOperation> {
        let operation = self.elements[element as usize].serving.take();
        self.finish_one(element, now);
        operation
    }

    /// The operation at `position` of the batch in service at `element` is done: returns it.
    /// Call [`Elements::activate`] afterwards.
    pub fn finish_batched(&mut self, element: u32, position: u16, now: Ticks) -> PageOperation {
        self.finish_one(element, now);
        self.elements[element as usize].batch[usize::from(position)]
    }

    #[inline]
    fn finish_one(&mut self, element: u32, now: Ticks) {
        let state = &mut self.elements[element as usize];
        state.in_service -= 1;
        if state.in_service == 0 {
            self.leave_busy(now);
        }
    }

    /// The cleaning at `element` is done. Call [`Elements::activate`] afterwards.
    pub fn finish_cleaning(&mut self, element: u32, now: Ticks) {
        self.elements[element as usize].cleaning = false;
        self.leave_busy(now);
    }

    /// Starts `element` if it is idle and has something to do.
    #[inline]
    pub fn activate(&mut self, element: u32, events: &mut EventList<Event>) -> Result<(), NoSpace> {
        let state = &mut self.elements[element as usize];
        if state.in_service > 0 || state.cleaning {
            return Ok(());
        }
        let now = events.now();
        if !state.queue.is_empty() || self.background {
            self.operations.clear();
            if self.ftl.clean(element, now, &mut self.operations)? {
                return self.start_cleaning(element, events);
            }
        }
        let state = &mut self.elements[element as usize];
        if self.parallel_units > 1 {
            return self.start_batch(element, events);
        }
        let Some(operation) = state.queue.pop_front() else {
            return Ok(());
        };
        self.operations.clear();
        match (operation.write_cause(), operation.work()) {
            (Some(cause), _) if operation.is_long() => {
                self.ftl
                    .write_long(operation.page(), cause, &mut self.operations)?;
            }
            (Some(cause), _) => self
                .ftl
                .write(operation.page(), cause, &mut self.operations)?,
            (None, Work::Trim(_)) => self.ftl.trim(operation.page(), &mut self.operations),
            (None, _) => self.ftl.read(operation.page(), &mut self.operations),
        }
        // A page operation is one lane; the map is used while the flash works.
        let writes = operation.write_cause().is_some() || matches!(operation.work(), Work::Trim(_));
        let cost = self
            .timing
            .serial(self.operations.all())
            .max(self.map_time[usize::from(writes)]);
        self.tally.add(&self.operations);
        self.serial_time += cost;
        state.cleanings_in_a_row = 0;
        state.in_service = 1;
        state.serving = Some(operation);
        self.enter_busy(element, now, cost);
        events.after_usual(cost, Event::ElementDone(element));
        Ok(())
    }

    #[cold]
    fn start_cleaning(
        &mut self,
        element: u32,
        events: &mut EventList<Event>,
    ) -> Result<(), NoSpace> {
        let now = events.now();
        let cost = self.timing.parallel(&self.operations);
        self.tally.add(&self.operations);
        self.serial_time += self.timing.serial(self.operations.all());
        self.clean_time += cost;
        self.cleanings += 1;
        let state = &mut self.elements[element as usize];
        state.cleaning = true;
        state.cleanings_in_a_row += 1;
        if state.cleanings_in_a_row > self.cleaning_limit {
            return Err(only_cleans(element, state.cleanings_in_a_row));
        }
        self.enter_busy(element, now, cost);
        events.after(cost, Event::CleaningDone(element));
        Ok(())
    }

    /// Takes reads and writes up to the limit, once each, and serves them on the parallel units.
    fn start_batch(&mut self, element: u32, events: &mut EventList<Event>) -> Result<(), NoSpace> {
        let now = events.now();
        let state = &mut self.elements[element as usize];
        let lists = &mut self.batch_lists;
        lists.clear();
        while lists.reads_taken < BATCH_LIMIT && lists.writes_taken < BATCH_LIMIT {
            let Some(operation) = state.queue.pop_front() else {
                break;
            };
            lists.take(operation);
        }
        if lists.reads.is_empty() && lists.writes.is_empty() && lists.immediate.is_empty() {
            return Ok(());
        }
        self.operations.clear();
        for operation in &lists.immediate {
            if let Work::Trim(_) = operation.work() {
                self.ftl.trim(operation.page(), &mut self.operations);
            }
        }
        let taken = self.ftl.serve(
            element,
            &lists.read_pages,
            &lists.write_pages,
            &mut self.batch,
            &mut self.operations,
        )?;
        for left in lists.writes.drain(taken..).rev() {
            state.queue.push_front(left);
        }
        self.tally.add(&self.operations);
        self.serial_time += self.timing.serial(self.operations.all());
        state.cleanings_in_a_row = 0;
        state.in_service = (lists.reads.len() + lists.writes.len() + lists.immediate.len()) as u32;
        let mut latest = 0;
        state.batch.clear();
        let mut start = |operation: PageOperation, finish| {
            let position = state.batch.len() as u16;
            state.batch.push(operation);
            events.after(finish, Event::BatchedDone { position, element });
            latest = latest.max(finish);
        };
        for operation in &lists.immediate {
            start(*operation, 0);
        }
        for (entry, finish) in self.batch.finish_times(&self.timing) {
            let list = if entry.write {
                &lists.writes
            } else {
                &lists.reads
            };
            start(list[entry.index], finish);
        }
        self.enter_busy(element, now, latest);
        Ok(())
    }

    #[inline]
    fn enter_busy(&mut self, element: u32, now: Ticks, cost: Ticks) {
        let state = &mut self.elements[element as usize];
        state.busy = state.busy.saturating_add(cost);
        state.busy_until = now.saturating_add(cost);
        if self.busy_elements == 0 {
            self.any_busy_since = now;
        }
        self.busy_elements += 1;
    }

    #[inline]
    fn leave_busy(&mut self, now: Ticks) {
        self.busy_elements -= 1;
        if self.busy_elements == 0 {
            self.any_busy += now - self.any_busy_since;
        }
    }

    /// Totals up to `now`; service that has begun counts for the part that has passed.
    pub fn totals(&self, now: Ticks) -> Totals {
        let running = if self.busy_elements > 0 {
            now - self.any_busy_since
        } else {
            0
        };
        Totals {
            tally: self.tally,
            busy: self
                .elements
                .iter()
                .map(|state| state.busy - state.busy_until.saturating_sub(now))
                .collect(),
            any_busy: self.any_busy + running,
            serial_time: self.serial_time,
            clean_time: self.clean_time,
            cleanings: self.cleanings,
        }
    }
}

impl BatchLists {
    fn clear(&mut self) {
        self.reads.clear();
        self.writes.clear();
        self.read_pages.clear();
        self.write_pages.clear();
        self.immediate.clear();
        self.reads_taken = 0;
        self.writes_taken = 0;
    }

    /// An operation whose page and direction are in the batch already costs nothing.
    fn take(&mut self, operation: PageOperation) {
        if matches!(operation.work(), Work::Trim(_)) {
            self.writes_taken += 1;
            return self.immediate.push(operation);
        }
        let page = operation.page();
        match operation.write_cause() {
            None => {
                self.reads_taken += 1;
                if self.read_pages.contains(&page) {
                    return self.immediate.push(operation);
                }
                self.reads.push(operation);
                self.read_pages.push(page);
            }
            Some(cause) => {
                self.writes_taken += 1;
                if self.write_pages.iter().any(|(other, _)| *other == page) {
                    return self.immediate.push(operation);
                }
                self.writes.push(operation);
                self.write_pages.push((page, cause));
            }
        }
    }
}

/// Operations that wait or are served at an element.
fn load(element: &Element) -> u32 {
    element.queue.len() as u32 + element.in_service
}

impl View for Elements {
    fn elements(&self) -> u32 {
        self.elements.len() as u32
    }
    fn element_of(&self, page: Lpn) -> u32 {
        self.ftl.element_of(page)
    }
    fn is_written(&self, page: Lpn) -> bool {
        self.ftl.is_written(page)
    }
    fn is_cleaning(&self, element: u32) -> bool {
        self.elements[element as usize].cleaning
    }
    fn queue_length(&self, element: u32) -> u32 {
        load(&self.elements[element as usize])
    }
}
