//! The recorder of the events of a run.

use std::collections::{BTreeMap, VecDeque};

use destage_base::{Lpn, Ticks};
use destage_buffer::Buffer;
use destage_buffer::destage::{Destage, DestageCause};
use destage_buffer::resident::State;
use destage_device::operation::Work;
use destage_device::{BatchStep, Device, Note, PageOperation, Request, RequestKind, Transaction};
use destage_nand::medium::FlashCommand;
use destage_nand::{Operations, Timing};
use destage_trace::Operation;

use super::commands::Commands;
use super::recording::{
    Asked, Event, Held, Interval, Part, Recording, Stop, Token, WatchedRecord, What,
};
use super::{MOST_EVENTS, MOST_INTERVALS, MOST_PAGES, MOST_REQUESTS, MOST_TOKENS, Splice, changes};
use crate::engine::{Command, Completion, Probe};

/// A destage record whose programs have not all ended.
struct UnderWay {
    /// Index of the event that emitted the record.
    event: u32,
    /// Number of programs that have not ended.
    programs: u32,
}

/// The state of the buffer at the last event.
#[derive(Default)]
struct Shown {
    tokens: Vec<Token>,
    /// Number of tokens in the changes so far, plus one for each splice.
    kept: usize,
    resident: u32,
    occupied: u32,
}

/// Records events until a bound is reached.
pub struct Watcher<'r> {
    recording: &'r mut Recording,
    timing: Timing,
    now: Ticks,
    /// For each request, by its number in the engine: its index among the recorded requests.
    requests: BTreeMap<u32, u32>,
    /// The recorded request that the device accepted last.
    submitted: Option<u32>,
    /// The event that will be recorded when the device reports that the buffer has changed.
    coming: Option<What>,
    /// An event that caused a destage, such as a read that needs a free slot. It is recorded after the event of the
    /// destage.
    read: Option<What>,
    shown: Shown,
    /// For each page: the records under way that program this page, the oldest first. A record is named by the index
    /// of its event.
    programs: BTreeMap<Lpn, VecDeque<u32>>,
    under_way: Vec<UnderWay>,
    /// The step that is about to begin.
    step: Option<Interval>,
    /// The commands that have not begun, and the commands under way. `None` unless commands are timed one by one.
    commands: Option<Commands>,
}

impl<'r> Watcher<'r> {
    /// A recorder into `recording`, for a device with the times `timing`. `by_commands` says whether commands are
    /// timed one by one.
    pub fn new(recording: &'r mut Recording, timing: Timing, by_commands: bool) -> Self {
        Self {
            recording,
            timing,
            now: 0,
            requests: BTreeMap::new(),
            submitted: None,
            coming: None,
            read: None,
            shown: Shown::default(),
            programs: BTreeMap::new(),
            under_way: Vec::new(),
            step: None,
            commands: by_commands.then(Commands::default),
        }
    }

    /// Ends the recording, unless it has ended before, because the power has failed at `time`. The work of dies ends
    /// there, too.
    pub(crate) fn stop_at_loss(self, time: Ticks) {
        self.recording.stop.get_or_insert(Stop::PowerLoss);
        let intervals = &mut self.recording.intervals;
        intervals.retain(|interval| interval.begin < time);
        for interval in intervals {
            interval.time = interval.time.min(time - interval.begin);
        }
    }

    fn has_stopped(&self) -> bool {
        self.recording.stop.is_some()
    }

    fn add(&mut self, what: What, request: Option<u32>, changes: Vec<Splice>) {
        if self.has_stopped() {
            return;
        }
        if self.recording.events.len() == MOST_EVENTS {
            self.recording.stop = Some(Stop::Events);
            return;
        }
        self.recording.events.push(Event {
            time: self.now,
            what,
            request,
            resident: self.shown.resident,
            occupied: self.shown.occupied,
            changes,
        });
    }

    /// The index of the next event.
    fn next_event(&self) -> u32 {
        self.recording.events.len() as u32
    }

    /// One program of `page` for a record has ended. Returns the index of the event of that record if all of its
    /// programs have ended.
    fn end_program(&mut self, page: Lpn) -> Option<u32> {
        let waiting = self.programs.get_mut(&page)?;
        let event = waiting.pop_front()?;
        if waiting.is_empty() {
            self.programs.remove(&page);
        }
        let place = self
            .under_way
            .iter()
            .position(|record| record.event == event)?;
        self.under_way[place].programs -= 1;
        (self.under_way[place].programs == 0).then(|| self.under_way.remove(place).event)
    }

    /// Prepares the interval of the step that is about to begin at `die`.
    fn begin(&mut self, die: u32, work: &'static str, operations: &Operations) {
        let mut parts: Vec<Part> = Vec::new();
        for operation in operations.all() {
            let part = Part {
                kind: operation.kind,
                cause: operation.cause,
                count: operation.count,
                time: self.timing.of(*operation),
            };
            let alike = |other: &&mut Part| (other.kind, other.cause) == (part.kind, part.cause);
            match parts.iter_mut().find(alike) {
                Some(other) => {
                    other.count += part.count;
                    other.time += part.time;
                }
                None => parts.push(part),
            }
        }
        self.step = Some(Interval {
            die,
            begin: self.now,
            time: 0,
            // A coming event, such as a read, is recorded only after its step has begun.
            event: match self.coming {
                None => self.next_event().saturating_sub(1),
                Some(_) => self.next_event(),
            },
            work,
            pages: Vec::new(),
            record: None,
            request: None,
            parts,
            merges: operations.merges().to_vec(),
        });
    }

    /// If commands are timed one by one, announces the commands of the step that is about to begin.
    fn plan(&mut self, operations: &Operations) {
        if let Some(commands) = &mut self.commands
            && let Some(step) = self.step.take()
        {
            commands.plan(step, operations);
        }
    }

    fn note_interval(&mut self, interval: Interval) {
        self.recording.intervals.push(interval);
        if self.recording.intervals.len() == MOST_INTERVALS {
            self.recording.stop = Some(Stop::Size);
        }
    }

    /// Adds `operation` to the step that is about to begin.
    fn take_part(&mut self, operation: PageOperation) {
        let page = operation.page();
        let record = match operation.work() {
            Work::Destage(..) | Work::PadRead(_) | Work::PadWrite(_) => {
                self.programs.get(&page).and_then(|waiting| waiting.front())
            }
            _ => None,
        };
        let request = match operation.work() {
            Work::HostRead(id) | Work::HostWrite(id) | Work::Trim(id) | Work::Fill(id) => {
                self.requests.get(&id)
            }
            _ => None,
        };
        if let Some(step) = &mut self.step {
            step.pages.push(page);
            step.record = step.record.or(record.copied());
            step.request = step.request.or(request.copied());
        }
    }
}

/// The kind of `work`, in a few words.
fn word(work: Work) -> &'static str {
    match work {
        Work::HostRead(_) => "read",
        Work::HostWrite(_) | Work::OwedWrite(_) => "write that bypasses the buffer",
        Work::Trim(_) | Work::OwedTrim(_) => "trim",
        Work::Destage(..) => "destage",
        Work::PadRead(_) => "padding read",
        Work::PadWrite(_) => "padding",
        Work::Fill(_) => "read to complete a page",
    }
}

/// The lists of `buffer` as tokens.
fn tokens(buffer: &Buffer) -> Vec<Token> {
    let mut tokens = Vec::new();
    for list in buffer.show().lists {
        tokens.push(Token::List(list.name, list.first, list.last, list.note));
        for group in list.groups {
            tokens.push(Token::Group(group.label, group.frame));
            tokens.extend(group.pages.into_iter().map(|page| {
                let held = match buffer.state(page.entry.slot) {
                    State::Clean => Held::Clean,
                    State::WritingBack => Held::WritingBack,
                    State::Free | State::Dirty | State::Leaving => Held::Dirty,
                };
                Token::Page(page.entry.page, held, page.mark)
            }));
        }
    }
    tokens
}

impl Probe for Watcher<'_> {
    fn moment(&mut self, now: Ticks, _: &Device) {
        self.now = now;
    }

    fn arrived(&mut self, id: u32, asked: &mut Request) {
        if self.has_stopped() {
            return;
        }
        if self.recording.requests.len() == MOST_REQUESTS {
            self.recording.stop = Some(Stop::Requests);
            return;
        }
        let place = self.recording.requests.len() as u32;
        self.recording.requests.push(Asked {
            operation: match asked.kind {
                RequestKind::Read => Operation::Read,
                RequestKind::Write | RequestKind::WriteZeroes => Operation::Write,
                RequestKind::Trim => Operation::Trim,
                RequestKind::Flush => Operation::Flush,
            },
            fua: asked.fua,
            first: asked.span.first,
            pages: asked.span.pages,
            arrival: self.now,
            response: None,
        });
        self.requests.insert(id, place);
        self.add(What::Arrival, Some(place), Vec::new());
    }

    fn accepted(&mut self, id: u32, _: &Request, _: &Device) {
        self.submitted = self.requests.get(&id).copied();
    }

    fn completed(&mut self, completion: &Completion<'_>, now: Ticks) {
        let Completion { id, identity, .. } = *completion;
        let place = usize::try_from(identity.index).unwrap_or(usize::MAX);
        if !self.has_stopped()
            && let Some(request) = self.recording.requests.get_mut(place)
        {
            request.response = Some(now - identity.arrival);
            self.add(What::Answer, Some(place as u32), Vec::new());
        }
        self.requests.remove(&id);
    }

    fn transaction(&mut self, die: u32, transaction: Transaction, operations: &Operations) {
        if self.has_stopped() {
            return;
        }
        match transaction {
            Transaction::Page(page) | Transaction::ReadBetween(page) => {
                self.begin(die, word(page.work()), operations);
                self.take_part(page);
            }
            Transaction::Collection => self.begin(die, "garbage collection", operations),
            Transaction::Fillers => self.begin(die, "completing a unit", operations),
        }
        self.plan(operations);
    }

    fn command_begins(&mut self, die: u32, command: &FlashCommand, begins: Ticks, time: Ticks) {
        if self.has_stopped() {
            return;
        }
        let number = self.recording.intervals.len();
        let commands = self.commands.as_mut();
        if let Some(interval) =
            commands.and_then(|commands| commands.begin(die, command, number, (begins, time)))
        {
            self.note_interval(interval);
        }
    }

    fn command_ended(&mut self, die: u32, command: &FlashCommand) {
        let commands = self.commands.as_mut();
        let number = commands.and_then(|commands| commands.end(die, command));
        if let Some(interval) = number.and_then(|number| self.recording.intervals.get_mut(number)) {
            interval.time = self.now - interval.begin;
        }
    }

    fn batch(&mut self, die: u32, step: BatchStep<'_>) {
        if !self.has_stopped() {
            let work = step
                .taken
                .first()
                .map_or("batch", |first| word(first.work()));
            self.begin(die, work, step.operations);
            for operation in step.taken {
                self.take_part(*operation);
            }
        }
    }

    fn begins(&mut self, command: &Command<'_>) {
        if let Some(mut step) = self.step.take() {
            step.time = command.time;
            self.note_interval(step);
        }
    }

    fn note(&mut self, note: &Note<'_>) {
        match *note {
            Note::Emitted(record, _) => self.record(record),
            Note::TakenIn { page, .. } => self.coming = Some(What::Write { page, hit: false }),
            Note::Bypassed { page, .. } => self.coming = Some(What::Bypass(page)),
            Note::Trimmed(page) => self.coming = Some(What::Trim(page)),
            Note::TrimmedAll { pages, buffer } => {
                for page in pages.clone().map(Lpn) {
                    if self.has_stopped() {
                        break;
                    }
                    self.coming = Some(What::Trim(page));
                    self.look(buffer);
                }
            }
            Note::Read { page, in_ram } => self.coming = Some(What::Read { page, hit: in_ram }),
            Note::Changed(buffer) => self.look(buffer),
            Note::Ended(operation) => self.ended(operation),
            _ => {}
        }
    }
}

impl Watcher<'_> {
    fn record(&mut self, record: &Destage) {
        // Each page that bypasses the buffer has an event of its own.
        if self.has_stopped() || record.cause == DestageCause::Bypass {
            return;
        }
        let pages: Vec<Lpn> = record.pages.iter().map(|dirty| dirty.page).collect();
        let event = self.next_event();
        for page in pages.iter().chain(record.pads.iter().map(|pad| &pad.page)) {
            self.programs.entry(*page).or_default().push_back(event);
        }
        self.under_way.push(UnderWay {
            event,
            programs: (pages.len() + record.pads.len()) as u32,
        });
        self.read = self.coming.take();
        self.coming = Some(What::Destage(WatchedRecord {
            cause: record.cause,
            grouping: record.grouping,
            retain: record.retain,
            pages,
            pads: record.pads.clone(),
        }));
    }

    fn ended(&mut self, operation: PageOperation) {
        if !matches!(operation.work(), Work::Destage(..) | Work::PadWrite(_)) {
            return;
        }
        if let Some(event) = self.end_program(operation.page()) {
            let what = What::Ended(event);
            match operation.work() {
                // The event is recorded when the device reports the new state of the buffer.
                Work::Destage(..) => self.coming = Some(what),
                _ => self.add(what, None, Vec::new()),
            }
        }
    }

    fn look(&mut self, buffer: &Buffer) {
        let coming = self.coming.take().or_else(|| self.read.take());
        if self.has_stopped() {
            return;
        }
        let counts = buffer.counts();
        if counts.resident > MOST_PAGES {
            self.recording.stop = Some(Stop::Pages);
            return;
        }
        (self.shown.resident, self.shown.occupied) = (counts.resident, buffer.occupied());
        let tokens = tokens(buffer);
        let changes = changes(&self.shown.tokens, &tokens);
        let what = match coming {
            Some(What::Write { page, .. }) => {
                let is_it = |token: &Token| matches!(token, Token::Page(held, ..) if *held == page);
                let hit = self.shown.tokens.iter().any(is_it);
                What::Write { page, hit }
            }
            Some(what) => what,
            // Programs end one by one. An end that does not complete a record is an event only if it changes the
            // lists.
            None if changes.is_empty() => return,
            None => What::Cleaned,
        };
        let request = match what {
            What::Ended(_) | What::Cleaned => None,
            _ => self.submitted,
        };
        self.shown.tokens = tokens;
        self.shown.kept += changes
            .iter()
            .map(|splice| splice.inserted.len() + 1)
            .sum::<usize>();
        if self.shown.kept > MOST_TOKENS {
            self.recording.stop = Some(Stop::Size);
            return;
        }
        self.add(what, request, changes);
    }
}
