//! The bytes of a device: what RAM holds of each page, and the medium below.
//!
//! A driver that moves bytes keeps a [`Payload`] and passes on to it what the device tells. A driver without bytes
//! has none of this, and the device knows nothing of it.
//!
//! Every accepted write, write-zeroes and trim has a version number. A page in RAM is at most one *resident* image,
//! which is dirty, and the *effects* on it that were emitted and have not ended, in their order. The newest of all
//! these is what a read finds; without any, the flash has it.

mod power;

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::Lpn;
use destage_buffer::destage::{Destage, DestageCause};
use destage_flash::medium::{Image, ImageKind, Medium, Refusal, SpareKind};
use destage_flash::{Cause, Operations};

use crate::driver::BatchStep;
use crate::operation::PageOperation;
use crate::request::{Request, RequestKind, Span};

/// The contents of a page at one version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contents {
    /// The newest version among its sectors; 0 before the first write.
    pub version: u64,
    /// As many as a page has.
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

/// What a read of a page finds, where it stands.
#[derive(Clone, Debug)]
pub struct Newest<'a> {
    /// The newest version among its sectors; 0 before the first write.
    pub version: u64,
    /// As many as a page has.
    pub bytes: Cow<'a, [u8]>,
    /// What they are; fillers where there is nothing.
    pub kind: ImageKind,
}

/// Something that happens to a page on flash.
#[derive(Clone)]
enum Effect {
    /// Its own bytes are programmed.
    Program(Contents),
    /// It is programmed to pad a cluster. With what is settled when the program begins.
    Pad(Option<Contents>),
    /// It is trimmed, as this version.
    Trim(u64),
}

impl Effect {
    /// Whether `operation` carries it out.
    fn is_by(&self, operation: PageOperation) -> bool {
        match self {
            Self::Program(_) => operation.write_cause() == Some(Cause::Host),
            Self::Pad(_) => operation.write_cause() == Some(Cause::Pad),
            Self::Trim(_) => operation.is_trim(),
        }
    }
}

#[derive(Clone, Default)]
struct InRam {
    resident: Option<Contents>,
    effects: VecDeque<Effect>,
    /// When each of them was emitted, in the order of all.
    emitted: VecDeque<u64>,
    /// How many of the effects have begun.
    begun: usize,
}

impl InRam {
    /// `effect` is emitted, as the latest of all.
    fn emit(&mut self, effect: Effect, emissions: &mut u64) {
        *emissions += 1;
        self.emitted.push_back(*emissions);
        self.effects.push_back(effect);
    }
}

/// The request that is being submitted.
#[derive(Clone)]
struct Accepted {
    version: u64,
    span: Span,
    zeroes: bool,
    data: Vec<u8>,
}

/// Bytes in RAM and on flash. See the [module](self).
#[derive(Clone)]
pub struct Payload {
    medium: Medium,
    pages: BTreeMap<Lpn, InRam>,
    page_bytes: usize,
    sector_bytes: usize,
    version: u64,
    /// Effects emitted so far.
    emissions: u64,
    accepted: Accepted,
    /// Bytes of zeros.
    zeros: Arc<[u8]>,
}

impl Payload {
    /// Over `medium`, whose pages have `sectors` sectors in `page_bytes` bytes.
    ///
    /// # Panics
    /// If a page is not whole sectors.
    #[must_use]
    pub fn new(medium: Medium, page_bytes: usize, sectors: usize) -> Self {
        assert!(
            sectors > 0 && page_bytes.is_multiple_of(sectors),
            "a page of {page_bytes} bytes has no {sectors} sectors"
        );
        Self {
            medium,
            pages: BTreeMap::new(),
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

    /// How many pages have bytes in RAM.
    #[must_use]
    pub fn pages_in_ram(&self) -> usize {
        self.pages.len()
    }

    /// `request` is submitted next; `data` has the bytes of a write, sector after sector. Returns its version, which
    /// is new if it changes anything.
    ///
    /// # Panics
    /// If a write has more or fewer bytes than its span.
    pub fn accept(&mut self, request: &Request, data: &[u8]) -> u64 {
        self.accepted.data.clear();
        self.accepted.data.extend_from_slice(data);
        self.accept_kept(request)
    }

    /// The same of bytes that are not needed any more: what is in `data` then means nothing.
    ///
    /// # Panics
    /// As [`Payload::accept`].
    pub fn accept_taken(&mut self, request: &Request, data: &mut Vec<u8>) -> u64 {
        core::mem::swap(&mut self.accepted.data, data);
        self.accept_kept(request)
    }

    fn accept_kept(&mut self, request: &Request) -> u64 {
        let changes = matches!(
            request.kind,
            RequestKind::Write | RequestKind::WriteZeroes | RequestKind::Trim
        );
        self.version += u64::from(changes);
        self.accepted.version = self.version;
        self.accepted.span = match request.kind {
            // What it changes at all it changes whole.
            RequestKind::Trim => Span::whole(request.span.first, request.span.pages),
            _ => request.span,
        };
        self.accepted.zeroes = request.kind != RequestKind::Write;
        if request.kind == RequestKind::Write {
            let span = &request.span;
            let left_out = (span.head + span.tail) as usize * self.sector_bytes;
            assert_eq!(
                self.accepted.data.len(),
                span.pages as usize * self.page_bytes - left_out,
                "bytes of a write of {span:?}"
            );
        }
        self.version
    }

    /// What a read of `page` finds now.
    #[must_use]
    pub fn newest(&self, page: Lpn) -> Contents {
        let in_ram = self.pages.get(&page);
        if let Some(resident) = in_ram.and_then(|state| state.resident.as_ref()) {
            return resident.clone();
        }
        let effects = in_ram.map_or(0, |state| state.effects.len());
        self.before(page, effects)
            .unwrap_or_else(|| self.nothing(0))
    }

    /// The same by reference: nothing is copied.
    #[must_use]
    pub fn look(&self, page: Lpn) -> Newest<'_> {
        let nothing = Newest {
            version: 0,
            bytes: Cow::Borrowed(&self.zeros),
            kind: ImageKind::Fill,
        };
        if let Some(state) = self.pages.get(&page) {
            if let Some(resident) = &state.resident {
                return resident.by_reference();
            }
            for effect in state.effects.iter().rev() {
                match effect {
                    Effect::Program(contents) | Effect::Pad(Some(contents)) => {
                        return contents.by_reference();
                    }
                    Effect::Trim(_) => return nothing,
                    Effect::Pad(None) => {}
                }
            }
        }
        self.medium
            .newest(page)
            .map_or(nothing, |(spare, bytes)| Newest {
                version: spare.version,
                bytes,
                kind: kind_of(spare.kind),
            })
    }

    /// What kind of page a read of `page` finds now.
    #[must_use]
    pub fn kind(&self, page: Lpn) -> ImageKind {
        if self.pages.contains_key(&page) {
            return self.look(page).kind;
        }
        let spare = self.medium.newest_spare(page);
        spare.map_or(ImageKind::Fill, |spare| kind_of(spare.kind))
    }

    /// The contents of `page` before the effect at `position`; none where it was never written or is trimmed.
    fn before(&self, page: Lpn, position: usize) -> Option<Contents> {
        let effects = self.pages.get(&page).map(|state| &state.effects);
        for effect in effects
            .into_iter()
            .flat_map(|all| all.range(..position).rev())
        {
            match effect {
                Effect::Program(contents) | Effect::Pad(Some(contents)) => {
                    return (contents.kind != ImageKind::Fill).then(|| contents.clone());
                }
                Effect::Trim(_) => return None,
                Effect::Pad(None) => {}
            }
        }
        let (spare, bytes) = self.medium.newest(page)?;
        Some(Contents {
            version: spare.version,
            bytes: (&*bytes).into(),
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

    /// Page `offset` of the accepted request as it is from now on: its sectors, and the others as they were.
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
        let head = span.head as usize * self.sector_bytes;
        if !is_partial {
            let start = offset as usize * self.page_bytes - head;
            return Contents {
                version,
                bytes: data[start..start + self.page_bytes].into(),
                kind: ImageKind::Host,
            };
        }
        let mut bytes = self.look(page).bytes.into_owned();
        let tail = span.tail as usize * self.sector_bytes;
        let from = if offset == 0 { head } else { 0 };
        let to = self.page_bytes - if offset + 1 == span.pages { tail } else { 0 };
        if zeroes {
            bytes[from..to].fill(0);
        } else {
            let start = offset as usize * self.page_bytes + from - head;
            bytes[from..to].copy_from_slice(&data[start..start + to - from]);
        }
        Contents {
            version,
            bytes: bytes.into(),
            kind: ImageKind::Host,
        }
    }

    // ---- what the device tells ---------------------------------------------------------------------------

    /// See [`Driver::taken_in`](crate::Driver::taken_in).
    pub fn taken_in(&mut self, page: Lpn, offset: u32) {
        let written = self.written(page, offset);
        self.pages.entry(page).or_default().resident = Some(written);
    }

    /// See [`Driver::bypassed`](crate::Driver::bypassed).
    pub fn bypassed(&mut self, page: Lpn, offset: u32) {
        let written = self.written(page, offset);
        let state = self.pages.entry(page).or_default();
        state.resident = None;
        state.emit(Effect::Program(written), &mut self.emissions);
    }

    /// See [`Driver::trimmed`](crate::Driver::trimmed).
    pub fn trimmed(&mut self, page: Lpn) {
        let state = self.pages.entry(page).or_default();
        state.resident = None;
        state.emit(Effect::Trim(self.accepted.version), &mut self.emissions);
    }

    /// See [`Driver::record`](crate::Driver::record).
    ///
    /// # Panics
    /// If a dirty page of the record has no bytes here.
    pub fn record(&mut self, record: &Destage) {
        if record.cause == DestageCause::Bypass {
            return;
        }
        for dirty in &record.pages {
            let state = self.pages.entry(dirty.page).or_default();
            let contents = if record.retain {
                state.resident.clone()
            } else {
                state.resident.take()
            };
            let Some(contents) = contents else {
                panic!("page {} leaves the buffer without bytes", dirty.page);
            };
            state.emit(Effect::Program(contents), &mut self.emissions);
        }
        for pad in &record.pads {
            let state = self.pages.entry(pad.page).or_default();
            state.emit(Effect::Pad(None), &mut self.emissions);
        }
    }

    /// See [`Driver::serve`](crate::Driver::serve).
    ///
    /// # Errors
    /// What the medium refuses.
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

    /// See [`Driver::collect_garbage`](crate::Driver::collect_garbage).
    ///
    /// # Errors
    /// What the medium refuses.
    pub fn collect_garbage(&mut self, die: u32, operations: &Operations) -> Result<(), Refusal> {
        self.medium.start(die, operations, &[])
    }

    /// See [`Driver::serve_batch`](crate::Driver::serve_batch).
    ///
    /// # Errors
    /// What the medium refuses.
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
                // A trim between the programs of this page was not served by itself.
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

    /// The command in service at `die` has ended, all of a batch included.
    pub fn end(&mut self, die: u32) {
        self.medium.end(die);
    }

    /// See [`Driver::ended`](crate::Driver::ended). Returns the version that has become durable, if one has.
    ///
    /// # Panics
    /// If no effect of that page is in flight.
    pub fn ended(&mut self, operation: PageOperation) -> Option<u64> {
        if operation.is_read() {
            return None;
        }
        let page = operation.page();
        let state = self.pages.get_mut(&page);
        let effect = state.and_then(|state| {
            state.begun -= 1;
            state.emitted.pop_front();
            Some((state.effects.pop_front()?, state))
        });
        let Some((effect, state)) = effect else {
            panic!("{operation:?} ended, and was never emitted");
        };
        let version = match effect {
            Effect::Program(contents) | Effect::Pad(Some(contents)) => {
                let is_same = |resident: &Contents| {
                    resident.version == contents.version
                        && Arc::ptr_eq(&resident.bytes, &contents.bytes)
                };
                if state.resident.as_ref().is_some_and(is_same) {
                    // It was written back and is clean: the flash has it.
                    state.resident = None;
                }
                contents.version
            }
            Effect::Trim(version) => version,
            Effect::Pad(None) => panic!("{operation:?} ended, and never began"),
        };
        if state.resident.is_none() && state.effects.is_empty() {
            self.pages.remove(&page);
        }
        Some(version)
    }

    // ---- effects -----------------------------------------------------------------------------------------

    /// The next effect on the page of `operation` begins; what padding carries is settled.
    fn begin(&mut self, operation: PageOperation) {
        let page = operation.page();
        let begun = self.pages.get(&page).map_or(0, |state| state.begun);
        let is_open_pad = self
            .pages
            .get(&page)
            .and_then(|state| state.effects.get(begun))
            .is_some_and(|effect| matches!(effect, Effect::Pad(None)));
        let padding = is_open_pad.then(|| match self.before(page, begun) {
            Some(contents) => Contents {
                kind: ImageKind::Copy,
                ..contents
            },
            None => self.nothing(0),
        });
        let state = self.pages.entry(page).or_default();
        let next = state.effects.get(state.begun);
        assert!(
            next.is_some_and(|effect| effect.is_by(operation)),
            "{operation:?} of page {page} begins out of its turn"
        );
        if padding.is_some() {
            state.effects[begun] = Effect::Pad(padding);
        }
        state.begun += 1;
    }

    /// What the latest program of `page` that has begun writes.
    fn latest_begun(&self, page: Lpn) -> Contents {
        let state = self.pages.get(&page);
        let begun = state
            .into_iter()
            .flat_map(|state| state.effects.range(..state.begun).rev());
        for effect in begun {
            if let Effect::Program(contents) | Effect::Pad(Some(contents)) = effect {
                return contents.clone();
            }
        }
        panic!("no program of page {page} has begun");
    }

    fn last_begun_is_trim(&self, page: Lpn) -> bool {
        let state = self.pages.get(&page);
        let last = state.and_then(|state| state.effects.range(..state.begun).next_back());
        matches!(last, Some(Effect::Trim(_)))
    }
}

/// As what a page of this kind is found.
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
