//! A device with bytes for tests. A test decides when each flash command ends.
//!
//! The driver records the events of the device as [`Event`]s, in their order. The kit repeats no rule of the device:
//! it knows neither what a request waits for, nor when data become durable.
#![allow(dead_code, reason = "every test program uses another part of the kit")]

use std::collections::VecDeque;

use destage_base::parameter::{Parameter, Value, Values};
use destage_base::{Lpn, Random, Ticks};
use destage_buffer::{Buffer, BufferConfig, COMMON, Common, SchemeConfig, find};
use destage_device::payload::{Contents, Payload};
use destage_device::{
    BatchStep, Device, DeviceConfig, Driver, Note, PageOperation, Progress, Request, RequestKind,
    Span, Token, Transaction, Units, Wording, Work,
};
use destage_ftl::mount::{MountError, MountReport};
use destage_ftl::{Filling, Ftl, FtlConfig};
use destage_nand::medium::{FlashCommand, Medium, Pass};
use destage_nand::{Geometry, Kind, Operations, Timing};

/// Bytes of a sector in these tests.
pub const SECTOR_BYTES: usize = 8;

/// Times of flash operations. No test depends on these values.
pub const TIMING: Timing = Timing {
    read: 25,
    program: 200,
    erase: 1500,
    one_bit: [10, 80],
    page_transfer: 100,
    sector_transfer: 13,
};

/// Ticks from the command to the end of a program.
pub const PROGRAM_TIME: Ticks = TIMING.program + TIMING.page_transfer;

/// An event of the device.
#[derive(Clone, Debug)]
pub enum Event {
    /// A page of the request being submitted is changed: it enters the buffer, is written past the buffer, or is
    /// trimmed.
    Changed { page: Lpn },
    /// The contents of a page of the read `token` are known.
    Read {
        token: u32,
        page: Lpn,
        contents: Contents,
    },
    /// A program or a trim of this version has ended.
    Ended { page: Lpn, version: u64 },
    /// The request is answered.
    Answer { token: u32 },
}

/// A flash command that has begun.
#[derive(Clone, Debug)]
pub enum Command {
    /// One page operation.
    Serve(PageOperation),
    /// A step of garbage collection; `erases` says whether it erases a block.
    Collect { erases: bool },
    /// A batch of this many operations on the parallel units of a die.
    Batch(u16),
    /// Fillers that complete a unit.
    Fill,
}

/// A deliberate fault in the way in which flash carries out commands, or in the events that flash reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plant {
    Nothing,
    /// The erase of a step is done before its copies.
    ErasesFirst,
    /// A unit is reported as durable after its first pass.
    FirstPassIsLast,
    /// The last page of a step that moves pages is not programmed.
    LosesLastCopy,
    /// A program that has begun is reported as ended, as if a read that interrupts a program could end it.
    BegunIsEnded,
}

/// The settings of a device. Schemes, layers and their parameters are given by name.
pub struct Stack<'a> {
    pub scheme: &'a str,
    pub scheme_settings: Vec<(&'a str, &'a str)>,
    pub capacity: u32,
    pub future: &'a [Lpn],
    pub layer: &'a str,
    pub layer_settings: Vec<(&'a str, &'a str)>,
    pub geometry: Geometry,
    pub copy_back: bool,
    pub parallel_units: u32,
    pub filled: bool,
    /// Sectors of a page.
    pub sectors: usize,
    /// Whether commands begin and end one by one.
    pub by_commands: bool,
    pub config: DeviceConfig,
}

fn values<'a>(
    rows: impl Iterator<Item = &'a Parameter> + Clone,
    settings: &[(&str, &str)],
) -> Values {
    let mut values = Values::defaults(rows.clone());
    for (name, text) in settings {
        let row = rows.clone().find(|row| row.name == *name);
        let row = row.unwrap_or_else(|| panic!("nothing is called {name}"));
        let value = row.read(text);
        values.set(
            row.name,
            value.unwrap_or_else(|expected| panic!("{name} = {text}: expected {expected}")),
        );
    }
    values
}

impl<'a> Stack<'a> {
    /// A device with `scheme` and `capacity` pages of buffer over `layer`, on `dies` dies of `blocks` blocks of
    /// four pages. A page has one sector.
    pub fn new(scheme: &'a str, capacity: u32, layer: &'a str, dies: u32, blocks: u32) -> Self {
        Self {
            scheme,
            scheme_settings: Vec::new(),
            capacity,
            future: &[],
            layer,
            layer_settings: Vec::new(),
            geometry: Geometry {
                dies,
                planes: 1,
                blocks_per_plane: blocks,
                pages_per_block: 4,
                summary_page: false,
                page_bytes: 4096,
            },
            copy_back: false,
            parallel_units: 1,
            filled: false,
            sectors: 1,
            by_commands: false,
            config: DeviceConfig {
                reads_partial: true,
                wording: Wording::Contents,
                ..DeviceConfig::new(dies, blocks)
            },
        }
    }

    fn buffer(&self, future: &[Lpn]) -> Buffer {
        let row = find(self.scheme).unwrap_or_else(|| panic!("no scheme {}", self.scheme));
        let values = values(COMMON.iter().chain(row.parameters), &self.scheme_settings);
        let cluster = self.geometry.data_pages();
        let config =
            BufferConfig::from_parameters(self.capacity, cluster, &Common::from_values(&values));
        let scheme = (row.build)(&SchemeConfig {
            dies: self.geometry.dies,
            future: Some(future),
            ..SchemeConfig::new(self.capacity, config.cluster_pages, &values)
        });
        Buffer::new(config, scheme)
    }

    fn ftl(&self, values: &Values, filled: bool) -> Box<dyn Ftl> {
        let row =
            destage_ftl::find(self.layer).unwrap_or_else(|| panic!("no layer {}", self.layer));
        let built = (row.build)(&FtlConfig {
            units_per_page: 1,
            program_unit: self.config.units.map_or(1, |units| units.pages),
            program_passes: self.config.units.map_or(1, |units| units.passes),
            bits_per_cell: 2,
            geometry: self.geometry,
            erase_dates: TIMING,
            copy_back: self.copy_back,
            parallel_units: self.parallel_units,
            endurance: 1_000_000_000,
            retire: false,
            power_may_fail: true,
            filled,
            seed: 1,
            values,
        });
        built.unwrap_or_else(|refusal| panic!("{}: {refusal:?}", self.layer))
    }

    /// Builds the device, which is idle.
    pub fn build(&self) -> Rig {
        let row =
            destage_ftl::find(self.layer).unwrap_or_else(|| panic!("no layer {}", self.layer));
        let values = values(row.parameters.iter(), &self.layer_settings);
        let ftl = self.ftl(&values, self.filled);
        let geometry = Geometry {
            page_bytes: (self.sectors * SECTOR_BYTES) as u64,
            ..self.geometry
        };
        let in_order = values.get("in_order") != Some(&Value::Flag(false));
        let mut medium = Medium::new(&geometry, in_order);
        if self.by_commands {
            medium = medium.by_commands();
        }
        if self.filled {
            medium.fill_from(Filling::of(&*ftl));
        }
        let payload = Payload::new(medium, self.sectors * SECTOR_BYTES, self.sectors);
        self.assemble(ftl, payload, self.future)
    }

    /// Builds the device again after a cut, and mounts it. `payload` has the bytes that survived the cut, and
    /// `future` the writes that will follow. Returns the device and the report of the mount, or the reason why the
    /// mount failed. `watch` is called for the steps of the mount.
    pub fn remount(
        &self,
        mut payload: Payload,
        future: &[Lpn],
        watch: &mut dyn FnMut(&Medium, u32),
    ) -> Result<(Rig, MountReport), MountError> {
        let mut ftl = self.fresh();
        let report = payload.mount(&mut *ftl, &TIMING, watch)?;
        Ok((self.assemble(ftl, payload, future), report))
    }

    /// A new layer without contents.
    pub fn fresh(&self) -> Box<dyn Ftl> {
        let row =
            destage_ftl::find(self.layer).unwrap_or_else(|| panic!("no layer {}", self.layer));
        self.ftl(&values(row.parameters.iter(), &self.layer_settings), false)
    }

    fn assemble(&self, ftl: Box<dyn Ftl>, payload: Payload, future: &[Lpn]) -> Rig {
        Rig {
            device: Device::new(self.config, self.buffer(future), ftl),
            flash: Flash {
                payload,
                units: self.config.units,
                to_come: vec![VecDeque::new(); self.geometry.dies as usize],
                under_way: vec![None; self.geometry.dies as usize],
                commands: vec![None; self.geometry.dies as usize],
                tokens: vec![Vec::new(); self.geometry.dies as usize],
                events: Vec::new(),
                alarms: Vec::new(),
                erases: 0,
                plant: Plant::Nothing,
                submitting: 0,
                at_once: 0,
                random: Random::new(1),
            },
            now: 0,
        }
    }
}

/// The driver. It carries out operations on the bytes, and ends a command only when the test says so.
pub struct Flash {
    pub payload: Payload,
    units: Option<Units>,
    /// By die, the flash commands of the step that have not begun. `under_way` has the flash command in progress.
    pub to_come: Vec<VecDeque<FlashCommand>>,
    under_way: Vec<Option<FlashCommand>>,
    /// By die, the transaction that has begun.
    pub commands: Vec<Option<Command>>,
    /// By die, the token of this transaction, or the tokens of the operations of a batch.
    tokens: Vec<Vec<Token>>,
    /// The events since the list was last cleared.
    pub events: Vec<Event>,
    pub alarms: Vec<u32>,
    /// Number of blocks erased.
    pub erases: usize,
    pub plant: Plant,
    submitting: u32,
    /// Percentage of commands that end when they begin.
    pub at_once: u64,
    pub random: Random,
}

impl Flash {
    /// Adds the number of erases in `operations` to `erases`, and returns this number.
    fn count(&mut self, operations: &Operations) -> usize {
        let all = operations.all().iter();
        let erases = all.filter(|one| one.kind == Kind::Erase).count();
        self.erases += erases;
        erases
    }

    /// Appends the commands that carry out `operations` to the commands to come of `die`.
    fn plan(&mut self, die: u32, operations: &Operations) {
        let mut to_come = VecDeque::new();
        for operation in operations.all() {
            match self.units {
                Some(units) if operation.kind == Kind::Program && !operation.one_bit => {
                    to_come.extend(units.commands(operation.at));
                }
                _ if operation.kind == Kind::Read => {}
                _ => to_come.push_back(FlashCommand {
                    kind: operation.kind,
                    at: operation.at,
                    pages: 1,
                    pass: Pass::Only,
                }),
            }
        }
        let erase = to_come
            .iter()
            .position(|command: &FlashCommand| command.kind == Kind::Erase);
        match (self.plant, erase) {
            (Plant::ErasesFirst, Some(erase)) => to_come.rotate_left(erase),
            (Plant::LosesLastCopy, Some(erase)) if erase > 0 => drop(to_come.remove(erase - 1)),
            _ => {}
        }
        self.to_come[die as usize].extend(to_come);
    }

    /// Whether, because of the planted fault, the step of `die` is reported as ended now, before its commands have
    /// ended.
    fn is_said_to_have_ended(&self, die: u32) -> bool {
        let next = self.to_come[die as usize].front();
        let is_last = |plant| self.plant == plant && self.to_come[die as usize].len() <= 1;
        match self.under_way[die as usize] {
            Some(begun) => begun.kind == Kind::Program && is_last(Plant::BegunIsEnded),
            None => {
                next.is_some_and(|next| next.pass == Pass::Second)
                    && is_last(Plant::FirstPassIsLast)
            }
        }
    }

    /// Ends the command in progress at `die`. If no command is in progress, begins the next command of the step at
    /// `now`. Returns `false` if there is no such command either.
    fn go_on(&mut self, die: u32, now: Ticks) -> bool {
        if let Some(command) = self.under_way[die as usize].take() {
            self.payload.command_ended(die, &command);
            return true;
        }
        let Some(command) = self.to_come[die as usize].pop_front() else {
            return false;
        };
        self.payload
            .command_begins(die, &command, now, PROGRAM_TIME)
            .unwrap_or_else(|refusal| panic!("{command:?}: {refusal}"));
        self.under_way[die as usize] = Some(command);
        true
    }

    fn hold(&mut self, die: u32, command: Command, token: Token) -> Progress {
        if self.random.below(100) < self.at_once {
            self.payload.end(die);
            return Progress::Ended;
        }
        let before = self.commands[die as usize].replace(command);
        assert!(before.is_none(), "die {die} was busy with {before:?}");
        self.tokens[die as usize].push(token);
        Progress::Running
    }

    fn serve(
        &mut self,
        die: u32,
        operation: PageOperation,
        operations: &Operations,
        token: Token,
    ) -> Progress {
        self.payload
            .serve(die, operation, operations)
            .unwrap_or_else(|refusal| panic!("{operation:?}: {refusal}"));
        self.count(operations);
        self.plan(die, operations);
        self.note_read(operation);
        self.hold(die, Command::Serve(operation), token)
    }

    fn collect_garbage(&mut self, die: u32, operations: &Operations, token: Token) -> Progress {
        self.payload
            .collect_garbage(die, operations)
            .unwrap_or_else(|refusal| panic!("garbage collection: {refusal}"));
        let erases = self.count(operations) > 0;
        self.plan(die, operations);
        self.hold(die, Command::Collect { erases }, token)
    }

    fn fill(&mut self, die: u32, operations: &Operations, token: Token) -> Progress {
        self.payload
            .collect_garbage(die, operations)
            .unwrap_or_else(|refusal| panic!("fillers: {refusal}"));
        self.plan(die, operations);
        self.hold(die, Command::Fill, token)
    }

    fn note_read(&mut self, operation: PageOperation) {
        if let Work::HostRead(token) = operation.work() {
            let page = operation.page();
            let contents = self.payload.newest(page);
            self.events.push(Event::Read {
                token,
                page,
                contents,
            });
        }
    }
}

impl Driver for Flash {
    fn begin(
        &mut self,
        die: u32,
        transaction: Transaction,
        operations: &Operations,
        _: Ticks,
        token: Token,
    ) -> Progress {
        match transaction {
            Transaction::Page(operation) => self.serve(die, operation, operations, token),
            Transaction::Collection => self.collect_garbage(die, operations, token),
            Transaction::Fillers => self.fill(die, operations, token),
            Transaction::ReadBetween(_) => unreachable!("reads wait"),
        }
    }

    fn serve_batch(&mut self, die: u32, step: BatchStep<'_>) {
        let followers = step.followers.iter().map(|(_, operation)| operation);
        let all: Vec<PageOperation> = step.taken.iter().chain(followers).copied().collect();
        self.tokens[die as usize].extend(step.tokens);
        let positions = step.taken.len() as u16;
        self.payload
            .serve_batch(die, step)
            .unwrap_or_else(|refusal| panic!("{all:?}: {refusal}"));
        all.into_iter()
            .for_each(|operation| self.note_read(operation));
        let before = self.commands[die as usize].replace(Command::Batch(positions));
        assert!(before.is_none(), "die {die} was busy with {before:?}");
    }

    fn answer(&mut self, token: u32) {
        self.events.push(Event::Answer { token });
    }

    fn wake_after(&mut self, _: Ticks, alarm: u32) {
        self.alarms.push(alarm);
    }

    fn note(&mut self, note: &Note<'_>) {
        match *note {
            Note::Ended(operation) => {
                if let Some(version) = self.payload.ended(operation) {
                    let page = operation.page();
                    self.events.push(Event::Ended { page, version });
                }
                return;
            }
            Note::TakenIn { page, .. } | Note::Bypassed { page, .. } | Note::Trimmed(page) => {
                self.events.push(Event::Changed { page });
            }
            Note::TrimmedAll { pages, .. } => {
                // The pages are trimmed at once, so the trims also end here.
                self.payload.note(note);
                let version = self.payload.version();
                for page in pages.clone().map(Lpn) {
                    self.events.push(Event::Changed { page });
                    self.events.push(Event::Ended { page, version });
                }
                return;
            }
            Note::Read { page, in_ram: true } => {
                self.events.push(Event::Read {
                    token: self.submitting,
                    page,
                    contents: self.payload.newest(page),
                });
            }
            _ => {}
        }
        self.payload.note(note);
    }
}

/// A device with its driver.
pub struct Rig {
    pub device: Device,
    pub flash: Flash,
    pub now: Ticks,
}

impl Rig {
    /// Submits `request` with its bytes, and returns its version. This does not affect idle time: tests of idle time
    /// call `announce` and `retire`.
    pub fn submit(&mut self, token: u32, request: &Request, data: &[u8]) -> u64 {
        self.now += 1_000;
        let version = self.flash.payload.accept(request, data);
        self.flash.submitting = token;
        self.device
            .submit(token, request, self.now, &mut self.flash)
            .unwrap_or_else(|full| panic!("{request:?}: {full:?}"));
        version
    }

    /// Ends the transaction or the whole batch at `die`.
    pub fn end(&mut self, die: u32) {
        self.now += 1_000;
        let command = self.flash.commands[die as usize].take();
        assert!(command.is_some(), "die {die} does nothing");
        while self.flash.payload.medium().is_by_commands()
            && !self.flash.is_said_to_have_ended(die)
            && self.flash.go_on(die, self.now)
        {}
        self.flash.payload.end(die);
        for token in core::mem::take(&mut self.flash.tokens[die as usize]) {
            self.device
                .complete(token, self.now, &mut self.flash)
                .unwrap_or_else(|full| panic!("{full:?}"));
        }
    }

    /// Ends the command in progress at `die`. If no command is in progress, begins the next command of the step.
    /// Returns `false` if there is no such command either. The step itself does not end.
    pub fn go_on(&mut self, die: u32) -> bool {
        self.now += 1_000;
        self.flash.go_on(die, self.now)
    }

    /// The dies with a transaction that has begun.
    pub fn busy(&self) -> Vec<u32> {
        let commands = self.flash.commands.iter().enumerate();
        commands
            .filter(|(_, command)| command.is_some())
            .map(|(die, _)| die as u32)
            .collect()
    }

    /// Ends transactions, always at the busy die with the lowest number, until no die is busy.
    pub fn settle(&mut self) {
        while let Some(die) = self.busy().first() {
            self.end(*die);
        }
    }

    /// Reports to the device that the time of `alarm` has come.
    pub fn wake(&mut self, alarm: u32) {
        self.now += 1_000;
        self.device
            .wake(alarm, self.now, &mut self.flash)
            .unwrap_or_else(|full| panic!("{full:?}"));
    }

    /// Writes back all dirty pages.
    pub fn drain(&mut self) {
        self.now += 1_000;
        self.device
            .drain(self.now, &mut self.flash)
            .unwrap_or_else(|full| panic!("{full:?}"));
    }
}

/// A request of whole pages.
pub fn request(kind: RequestKind, first: u64, pages: u32) -> Request {
    Request {
        kind,
        span: Span::whole(first, pages),
        fua: false,
    }
}

/// Short calls for tests. A write fills its sectors with one letter.
impl Rig {
    /// Submits `request`, and returns its version. A write fills its sectors with `letter`.
    pub fn ask(&mut self, token: u32, request: Request, letter: u8) -> u64 {
        let span = request.span;
        let page_bytes = self.flash.payload.newest(Lpn(0)).bytes.len();
        let left_out = (span.head + span.tail) as usize * SECTOR_BYTES;
        let data = vec![letter; span.pages as usize * page_bytes - left_out];
        match request.kind {
            RequestKind::Write => self.submit(token, &request, &data),
            _ => self.submit(token, &request, &[]),
        }
    }

    /// Writes whole pages, and returns the version.
    pub fn write(&mut self, token: u32, first: u64, pages: u32, letter: u8) -> u64 {
        self.ask(token, request(RequestKind::Write, first, pages), letter)
    }

    /// Writes whole pages with force unit access, and returns the version.
    pub fn write_fua(&mut self, token: u32, first: u64, pages: u32, letter: u8) -> u64 {
        let mut request = request(RequestKind::Write, first, pages);
        request.fua = true;
        self.ask(token, request, letter)
    }

    /// Trims whole pages, and returns the version.
    pub fn trim(&mut self, token: u32, first: u64, pages: u32) -> u64 {
        self.ask(token, request(RequestKind::Trim, first, pages), 0)
    }

    /// Submits a flush.
    pub fn flush(&mut self, token: u32) {
        self.ask(token, request(RequestKind::Flush, 0, 1), 0);
    }

    /// Number of answers to `token`.
    pub fn answers(&self, token: u32) -> usize {
        let events = self.flash.events.iter();
        events
            .filter(|event| matches!(event, Event::Answer { token: one } if *one == token))
            .count()
    }

    /// Whether `token` was answered exactly once.
    pub fn is_answered(&self, token: u32) -> bool {
        self.answers(token) == 1
    }

    /// The versions of the effects on `page` that have ended, in the order of their ends. If `before` is given, only
    /// effects that ended before this request was answered.
    pub fn ended(&self, page: u64, before: Option<u32>) -> Vec<u64> {
        let mut versions = Vec::new();
        for event in &self.flash.events {
            match event {
                Event::Ended { page: one, version } if one.0 == page => versions.push(*version),
                Event::Answer { token } if Some(*token) == before => return versions,
                _ => {}
            }
        }
        assert!(before.is_none(), "request {before:?} is not answered");
        versions
    }

    /// Reads `page`, which has to be in RAM. Returns the first byte of each sector.
    pub fn read_in_ram(&mut self, token: u32, page: u64) -> Vec<u8> {
        let before = self.flash.events.len();
        self.ask(token, request(RequestKind::Read, page, 1), 0);
        let found = self.flash.events[before..]
            .iter()
            .find_map(|event| match event {
                Event::Read { contents, .. } => Some(contents.bytes.clone()),
                _ => None,
            });
        let bytes = found.unwrap_or_else(|| panic!("page {page} is not in RAM"));
        bytes.chunks(SECTOR_BYTES).map(|sector| sector[0]).collect()
    }

    /// The newest copy of `page` on flash: its version and the first byte of each sector.
    pub fn on_flash(&self, page: u64) -> Option<(u64, Vec<u8>)> {
        let (spare, bytes) = self.flash.payload.medium().newest(Lpn(page))?;
        let sectors = bytes.chunks(SECTOR_BYTES).map(|sector| sector[0]);
        Some((spare.version, sectors.collect()))
    }
}
