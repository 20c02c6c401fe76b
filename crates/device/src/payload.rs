//! The bytes of a device: the contents of the pages in RAM, and the flash medium.
//!
//! A driver that moves bytes has a [`Payload`], and passes the events of the device to the payload. The device does
//! not depend on the payload, and a driver without bytes has none.
//!
//! Every accepted write, write-zeroes and trim has a version number. In RAM, a page has at most one *resident* image,
//! which is dirty. The *effects* on the page that were emitted but have not ended are also in RAM, in the order of
//! their emission. A read finds the newest contents among the resident image and the effects. If a page has neither,
//! a read finds the contents on flash.

mod effect;
mod power;
mod table;

use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::{Destage, DestageCause};
use destage_nand::Operations;
use destage_nand::medium::{FlashCommand, Image, ImageKind, Medium, Refusal, SpareKind};

use self::effect::{Effect, Emitted, Leaving};
use self::table::PageTable;
use crate::driver::{BatchStep, Note, Transaction};
use crate::operation::PageOperation;
use crate::request::{Request, RequestKind, Span};

/// The contents of a page at one version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contents {
    /// The newest version among the sectors of the page; 0 before the first write.
    pub version: u64,
    /// The bytes, as many as a page has.
    pub bytes: Arc<[u8]>,
    kind: ImageKind,
}

impl Contents {
    fn by_reference(&self) -> Newest<'_> {
        Newest {
            version: self.version,
            bytes: Cow::Borrowed(&self.bytes),
            kind: self.kind,
        }
    }
}

/// The contents that a read of a page finds.
#[derive(Clone, Debug)]
pub struct Newest<'a> {
    /// The newest version among the sectors of the page; 0 before the first write.
    pub version: u64,
    /// The bytes, as many as a page has.
    pub bytes: Cow<'a, Arc<[u8]>>,
    /// The kind of the contents; `Fill` if the page has none.
    pub kind: ImageKind,
}

impl Newest<'_> {
    fn into_contents(self) -> Contents {
        Contents {
            version: self.version,
            bytes: self.bytes.into_owned(),
            kind: self.kind,
        }
    }
}

/// A page in the buffer. If the host has requested zeros for the whole page, `bytes` is the allocation of
/// [`Payload::zeros`]. The bytes of no other page are in this allocation.
#[derive(Clone)]
struct Resident {
    version: u64,
    bytes: Arc<[u8]>,
}

/// The request that is being submitted.
#[derive(Clone)]
struct Accepted {
    version: u64,
    span: Span,
    zeroes: bool,
    /// For a write, the bytes for each page of the span.
    data: Vec<Arc<[u8]>>,
}

/// The bytes in RAM and on flash. See the [module](self).
#[derive(Clone)]
pub struct Payload {
    medium: Medium,
    residents: PageTable<Option<Resident>>,
    leaving: PageTable<Leaving>,
    page_bytes: usize,
    sector_bytes: usize,
    version: u64,
    /// Number of effects emitted so far.
    emissions: u64,
    accepted: Accepted,
    /// The bytes of a page of zeros.
    zeros: Arc<[u8]>,
}

impl Payload {
    /// An empty payload over `medium`, with pages of `sectors` sectors and `page_bytes` bytes.
    ///
    /// # Panics
    /// If a page does not consist of whole sectors.
    #[must_use]
    pub fn new(medium: Medium, page_bytes: usize, sectors: usize) -> Self {
        assert!(
            sectors > 0 && page_bytes.is_multiple_of(sectors),
            "a page of {page_bytes} bytes has no {sectors} sectors"
        );
        Self {
            medium,
            residents: PageTable::new(),
            leaving: PageTable::new(),
            page_bytes,
            sector_bytes: page_bytes / sectors,
            version: 0,
            emissions: 0,
            accepted: Accepted {
                version: 0,
                span: Span::default(),
                zeroes: false,
                data: Vec::new(),
            },
            zeros: vec![0; page_bytes].into(),
        }
    }

    /// The medium.
    #[must_use]
    pub fn medium(&self) -> &Medium {
        &self.medium
    }

    /// The newest version that was accepted, or that a mount has found.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The number of resident pages, and the number of pages with effects that have not ended.
    #[must_use]
    pub fn pages_in_ram(&self) -> [usize; 2] {
        [self.residents.len(), self.leaving.len()]
    }

    /// The caller reports that `request` is submitted next. `data` has the bytes of a write, sector after sector.
    /// Returns the version of the request: a new version if the request changes contents, otherwise the latest
    /// version.
    ///
    /// # Panics
    /// If the number of bytes of a write does not match its span.
    pub fn accept(&mut self, request: &Request, data: &[u8]) -> u64 {
        let head = request.span.head as usize * self.sector_bytes;
        let mut pieces = core::mem::take(&mut self.accepted.data);
        cut_up(data, head, self.page_bytes, &mut pieces);
        self.accepted.data = pieces;
        self.accept_request(request)
    }

    /// Like [`Payload::accept`], for bytes that were [cut up](cut_up) before. After the call, the contents of
    /// `pieces` are undefined.
    ///
    /// # Panics
    /// The reasons are those of [`Payload::accept`].
    pub fn accept_pieces(&mut self, request: &Request, pieces: &mut Vec<Arc<[u8]>>) -> u64 {
        core::mem::swap(&mut self.accepted.data, pieces);
        self.accept_request(request)
    }

    /// The version of `request` if it is accepted next.
    #[must_use]
    pub fn version_of(&self, request: &Request) -> u64 {
        let changes = matches!(
            request.kind,
            RequestKind::Write | RequestKind::WriteZeroes | RequestKind::Trim
        );
        self.version + u64::from(changes)
    }

    fn accept_request(&mut self, request: &Request) -> u64 {
        self.version = self.version_of(request);
        self.accepted.version = self.version;
        self.accepted.span = match request.kind {
            // A trim changes only whole pages.
            RequestKind::Trim => Span::whole(request.span.first, request.span.pages),
            _ => request.span,
        };
        self.accepted.zeroes = request.kind != RequestKind::Write;
        if request.kind == RequestKind::Write {
            let span = &request.span;
            let left_out = (span.head + span.tail) as usize * self.sector_bytes;
            assert_eq!(
                self.accepted
                    .data
                    .iter()
                    .map(|piece| piece.len())
                    .sum::<usize>(),
                span.pages as usize * self.page_bytes - left_out,
                "bytes of a write of {span:?}"
            );
        }
        self.version
    }

    /// The contents that a read of `page` finds now.
    #[must_use]
    pub fn newest(&self, page: Lpn) -> Contents {
        self.look(page).into_contents()
    }

    /// The contents that a read of `page` finds now, by reference.
    #[must_use]
    pub fn look(&self, page: Lpn) -> Newest<'_> {
        if let Some(resident) = self.resident(page) {
            return resident;
        }
        let leaving = self.leaving.get(page);
        let found = self.before(page, leaving.map_or(0, |leaving| leaving.effects.len()));
        found.unwrap_or(Newest {
            version: 0,
            bytes: Cow::Borrowed(&self.zeros),
            kind: ImageKind::Fill,
        })
    }

    fn resident(&self, page: Lpn) -> Option<Newest<'_>> {
        let resident = self.residents.get(page)?.as_ref()?;
        Some(Newest {
            version: resident.version,
            bytes: Cow::Borrowed(&resident.bytes),
            kind: self.kind_of_resident(&resident.bytes),
        })
    }

    fn kind_of_resident(&self, bytes: &Arc<[u8]>) -> ImageKind {
        match Arc::ptr_eq(bytes, &self.zeros) {
            true => ImageKind::Zeros,
            false => ImageKind::Host,
        }
    }

    /// The kind of the contents that a read of `page` finds now.
    #[must_use]
    pub fn kind(&self, page: Lpn) -> ImageKind {
        if let Some(resident) = self.resident(page) {
            return resident.kind;
        }
        if self.leaving.get(page).is_some() {
            return self.look(page).kind;
        }
        let spare = self.medium.newest_spare(page);
        spare.map_or(ImageKind::Fill, |spare| kind_of(spare.kind))
    }

    /// The contents of `page` before the effect at `position`. `None` if the page was never written, or if it is
    /// trimmed.
    fn before(&self, page: Lpn, position: usize) -> Option<Newest<'_>> {
        let leaving = self.leaving.get(page);
        let effects = leaving.into_iter().flat_map(|all| all.before(position));
        for effect in effects {
            match effect {
                Effect::Program(contents) | Effect::Pad(Some(contents)) => {
                    return (contents.kind != ImageKind::Fill).then(|| contents.by_reference());
                }
                Effect::Trim(_) => return None,
                Effect::Pad(None) => {}
            }
        }
        let (spare, bytes) = self.medium.newest(page)?;
        Some(Newest {
            version: spare.version,
            bytes,
            kind: kind_of(spare.kind),
        })
    }

    fn nothing(&self, version: u64) -> Contents {
        Contents {
            version,
            bytes: self.zeros.clone(),
            kind: ImageKind::Fill,
        }
    }

    /// The new contents of page `offset` of the accepted request. Sectors that the request does not cover keep their
    /// contents.
    fn written(&self, page: Lpn, offset: u32) -> Contents {
        let Accepted {
            version,
            span,
            zeroes,
            ref data,
        } = self.accepted;
        let is_partial = span.is_partial(offset);
        if zeroes && !is_partial {
            return Contents {
                version,
                bytes: self.zeros.clone(),
                kind: ImageKind::Zeros,
            };
        }
        if !is_partial {
            return Contents {
                version,
                bytes: data[offset as usize].clone(),
                kind: ImageKind::Host,
            };
        }
        let mut bytes = self.look(page).bytes.to_vec();
        let changed = &mut bytes[span.covered(offset, self.sector_bytes, self.page_bytes)];
        match zeroes {
            true => changed.fill(0),
            false => changed.copy_from_slice(&data[offset as usize]),
        }
        Contents {
            version,
            bytes: bytes.into(),
            kind: ImageKind::Host,
        }
    }

    // ---- events of the device ----------------------------------------------------------------------------

    /// Handles the events of [`Driver::note`](crate::Driver::note) that concern contents.
    ///
    /// # Panics
    /// If the payload has no bytes for a dirty page of a record, or if an operation that was never emitted has ended.
    pub fn note(&mut self, note: &Note<'_>) {
        match *note {
            Note::Emitted(record, _) => self.record(record),
            Note::TakenIn { page, offset } => self.taken_in(page, offset),
            Note::Bypassed { page, offset } => self.bypassed(page, offset),
            Note::Trimmed(page) => self.trimmed(page),
            Note::TrimmedAll { pages, .. } => self.medium.trim_all(pages),
            Note::Ended(operation) => _ = self.ended(operation),
            _ => {}
        }
    }

    /// Handles [`Note::TakenIn`].
    pub fn taken_in(&mut self, page: Lpn, offset: u32) {
        let Contents { version, bytes, .. } = self.written(page, offset);
        *self.residents.place(page) = Some(Resident { version, bytes });
    }

    fn bypassed(&mut self, page: Lpn, offset: u32) {
        let written = self.written(page, offset);
        self.take_resident(page);
        self.emit(page, Effect::Program(written));
    }

    fn trimmed(&mut self, page: Lpn) {
        self.take_resident(page);
        self.emit(page, Effect::Trim(self.accepted.version));
    }

    fn record(&mut self, record: &Destage) {
        if record.cause == DestageCause::Bypass {
            return;
        }
        for dirty in &record.pages {
            let contents = if record.retain {
                self.resident(dirty.page).map(Newest::into_contents)
            } else {
                self.take_resident(dirty.page)
            };
            let Some(contents) = contents else {
                panic!("page {} leaves the buffer without bytes", dirty.page);
            };
            self.emit(dirty.page, Effect::Program(contents));
        }
        for pad in &record.pads {
            self.emit(pad.page, Effect::Pad(None));
        }
    }

    fn take_resident(&mut self, page: Lpn) -> Option<Contents> {
        let Resident { version, bytes } = self.residents.vacate(page)?.take()?;
        Some(Contents {
            version,
            kind: self.kind_of_resident(&bytes),
            bytes,
        })
    }

    /// Adds `effect` on `page` as the latest of all effects.
    fn emit(&mut self, page: Lpn, effect: Effect) {
        self.emissions += 1;
        let number = self.emissions;
        let effects = &mut self.leaving.place(page).effects;
        effects.push_back(Emitted { effect, number });
    }

    /// Handles the beginning of `transaction`: see [`Driver::begin`](crate::Driver::begin).
    ///
    /// # Errors
    /// If the medium refuses the operation.
    pub fn transaction(
        &mut self,
        die: u32,
        transaction: Transaction,
        operations: &Operations,
    ) -> Result<(), Refusal> {
        match transaction {
            Transaction::Page(page) | Transaction::ReadBetween(page) => {
                self.serve(die, page, operations)
            }
            Transaction::Collection | Transaction::Fillers => self.collect_garbage(die, operations),
        }
    }

    /// Handles the beginning of a page operation: see [`Driver::begin`](crate::Driver::begin).
    ///
    /// # Errors
    /// If the medium refuses the operation.
    pub fn serve(
        &mut self,
        die: u32,
        operation: PageOperation,
        operations: &Operations,
    ) -> Result<(), Refusal> {
        let page = operation.page();
        if operation.is_read() {
            return self.medium.start(die, operations, &[]);
        }
        self.begin(operation);
        if operation.is_trim() {
            self.medium.trim(page);
            return self.medium.start(die, operations, &[]);
        }
        let contents = self.latest_begun(page);
        let image = image_of(page, &contents);
        self.medium.start(die, operations, &[image])
    }

    /// Handles the beginning of a step of garbage collection: see [`Driver::begin`](crate::Driver::begin).
    ///
    /// # Errors
    /// If the medium refuses the operation.
    pub fn collect_garbage(&mut self, die: u32, operations: &Operations) -> Result<(), Refusal> {
        self.medium.start(die, operations, &[])
    }

    /// Handles the beginning of a batch: see [`Driver::serve_batch`](crate::Driver::serve_batch).
    ///
    /// # Errors
    /// If the medium refuses the operation.
    pub fn serve_batch(&mut self, die: u32, step: BatchStep<'_>) -> Result<(), Refusal> {
        let followers = step.followers.iter().map(|(_, operation)| *operation);
        let all: Vec<PageOperation> = step.taken.iter().copied().chain(followers).collect();
        let (at_once, served) = all.split_at(step.at_once as usize);
        for trim in at_once.iter().filter(|operation| operation.is_trim()) {
            self.begin(*trim);
            self.medium.trim(trim.page());
        }
        for operation in served.iter().filter(|operation| !operation.is_read()) {
            self.begin(*operation);
        }
        let writes = served
            .iter()
            .filter(|operation| operation.write_cause().is_some());
        let mut contents: Vec<(Lpn, Contents)> = Vec::new();
        for write in writes {
            if contents.iter().all(|(page, _)| *page != write.page()) {
                contents.push((write.page(), self.latest_begun(write.page())));
            }
        }
        let images: Vec<Image<'_>> = contents
            .iter()
            .map(|(page, contents)| image_of(*page, contents))
            .collect();
        self.medium
            .start_batch(die, step.operations, &step.batch.entries, &images)?;
        for (page, contents) in &contents {
            if contents.kind == ImageKind::Fill {
                // The latest program of this page is a filler after a trim. The medium got no operation for this
                // trim, so the trim is reported here.
                self.medium.trim(*page);
            }
        }
        for trim in served.iter().filter(|operation| operation.is_trim()) {
            if self.last_begun_is_trim(trim.page()) {
                self.medium.trim(trim.page());
            }
        }
        Ok(())
    }

    /// Passes a command that begins to the medium: see [`Medium::command_begins`].
    ///
    /// # Errors
    /// If the medium refuses the operation.
    pub fn command_begins(
        &mut self,
        die: u32,
        command: &FlashCommand,
        begins: Ticks,
        time: Ticks,
    ) -> Result<(), Refusal> {
        self.medium.command_begins(die, command, begins, time)
    }

    /// Passes a command that has ended to the medium: see [`Medium::command_ended`].
    pub fn command_ended(&mut self, die: u32, command: &FlashCommand) {
        self.medium.command_ended(die, command);
    }

    /// Ends the step or the whole batch in service at `die`.
    pub fn end(&mut self, die: u32) {
        self.medium.end(die);
    }

    /// Handles [`Note::Ended`]. Returns the version that has become durable, if there is one.
    ///
    /// # Panics
    /// If no effect on the page of `operation` is in progress.
    pub fn ended(&mut self, operation: PageOperation) -> Option<u64> {
        if operation.is_read() {
            return None;
        }
        let page = operation.page();
        let leaving = self.leaving.get_mut(page);
        let ended = leaving.and_then(|leaving| {
            leaving.begun -= 1;
            let ended = leaving.effects.pop_front()?;
            Some((ended.effect, leaving.effects.is_empty()))
        });
        let Some((effect, is_last)) = ended else {
            panic!("{operation:?} ended, and was never emitted");
        };
        if is_last {
            self.leaving.vacate(page);
        }
        match effect {
            Effect::Program(contents) | Effect::Pad(Some(contents)) => {
                let is_same = |resident: Newest<'_>| {
                    resident.version == contents.version
                        && Arc::ptr_eq(&resident.bytes, &contents.bytes)
                };
                if self.resident(page).is_some_and(is_same) {
                    // The page was written back and has not changed since. It is clean now, because its contents are
                    // on flash.
                    self.take_resident(page);
                }
                Some(contents.version)
            }
            Effect::Trim(version) => Some(version),
            Effect::Pad(None) => panic!("{operation:?} ended, and never began"),
        }
    }

    // ---- effects -----------------------------------------------------------------------------------------

    /// Begins the next effect on the page of `operation`. If the effect is padding, determines its contents.
    fn begin(&mut self, operation: PageOperation) {
        let page = operation.page();
        let out_of_turn = || -> ! { panic!("{operation:?} of page {page} begins out of its turn") };
        let Some(leaving) = self.leaving.get_mut(page) else {
            out_of_turn()
        };
        let begun = leaving.begun;
        leaving.begun += 1;
        let next = leaving.effects.get(begun).map(|next| &next.effect);
        if !next.is_some_and(|effect| effect.is_by(operation)) {
            out_of_turn()
        }
        if matches!(next, Some(Effect::Pad(None))) {
            let padding = match self.before(page, begun) {
                Some(found) => Contents {
                    kind: ImageKind::Copy,
                    ..found.into_contents()
                },
                None => self.nothing(0),
            };
            self.leaving.place(page).effects[begun].effect = Effect::Pad(Some(padding));
        }
    }

    /// The contents that the latest begun program of `page` writes.
    fn latest_begun(&self, page: Lpn) -> Contents {
        for effect in self.begun(page) {
            if let Effect::Program(contents) | Effect::Pad(Some(contents)) = effect {
                return contents.clone();
            }
        }
        panic!("no program of page {page} has begun");
    }

    fn last_begun_is_trim(&self, page: Lpn) -> bool {
        matches!(self.begun(page).next(), Some(Effect::Trim(_)))
    }

    /// The effects on `page` that have begun, the latest effect first.
    fn begun(&self, page: Lpn) -> impl Iterator<Item = &Effect> {
        let leaving = self.leaving.get(page).into_iter();
        leaving.flat_map(|leaving| leaving.before(leaving.begun))
    }
}

/// Divides the bytes of a request into one piece for each page. `head` is the number of bytes of the first page that
/// lie before the request. The pieces replace the contents of `pieces`.
pub fn cut_up(data: &[u8], head: usize, page_bytes: usize, pieces: &mut Vec<Arc<[u8]>>) {
    pieces.clear();
    let (first, rest) = data.split_at(data.len().min(page_bytes - head));
    let first = Some(first).filter(|first| !first.is_empty());
    pieces.extend(
        first
            .into_iter()
            .chain(rest.chunks(page_bytes))
            .map(Arc::from),
    );
}

/// The kind of contents that a read finds in a page whose spare area has this `kind`.
fn kind_of(kind: SpareKind) -> ImageKind {
    match kind {
        SpareKind::Zeros => ImageKind::Zeros,
        _ => ImageKind::Host,
    }
}

fn image_of(page: Lpn, contents: &Contents) -> Image<'_> {
    Image {
        page,
        version: contents.version,
        kind: contents.kind,
        data: &contents.bytes,
    }
}
