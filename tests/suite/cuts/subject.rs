//! A device that loses power, the ledger of the promises that the device made, and bugs that a test can plant
//! between the two.

use std::collections::{BTreeMap, BTreeSet};

use destage_base::{Lpn, Random, Ticks};
use destage_device::ledger::{Finding, Ledger, Terms};
use destage_device::payload::Payload;
use destage_device::power::{Capacitor, Energy, PowerLoss};
use destage_device::{RequestKind, Span};
use destage_ftl::mount::MountError;
use destage_nand::medium::{BadDrive, CutReport, Lost, Medium};

use crate::kit::{Event, Rig, SECTOR_BYTES, Stack, TIMING};
use crate::matrix::requests::{Asked, SECTORS, bytes, word};

/// A bug that is planted on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Plant {
    #[default]
    Nothing,
    /// Flushes are answered as soon as they are accepted.
    EarlyFlush,
    /// The flag for force unit access (FUA) is not passed on.
    NoFua,
    /// A trim reaches the device only after the next write of its pages.
    LateTrim,
    /// The spare area is programmed before the data.
    SpareFirst,
    /// The mount uses the newest copy of a page, even if this copy is torn.
    TrustsTorn,
    /// A flush covers only writes that arrived over the same connection.
    FlushPerConnection,
}

/// A request that is not answered yet.
#[derive(Clone)]
struct Open {
    asked: Asked,
}

/// See the [module](self).
pub struct Subject<'a> {
    pub stack: &'a Stack<'a>,
    pub rig: Rig,
    pub ledger: Ledger,
    pub plant: Plant,
    open: BTreeMap<u32, Open>,
    /// Tokens of requests whose answer the host already has, although the device has not answered.
    lied: BTreeSet<u32>,
    /// Trims that wait for the next write of their pages.
    late: Vec<(u32, Asked)>,
    answered: Vec<Span>,
    /// The number of accepted requests. A mount does not reset this number, so that data written before and after
    /// the mount differ.
    written: u64,
    /// Connections with answered changes that no flush of the same connection has covered.
    unflushed: BTreeSet<u32>,
}

/// The connection of the request `token`.
fn connection(token: u32) -> u32 {
    token % 2
}

impl<'a> Subject<'a> {
    pub fn new(stack: &'a Stack<'a>, plant: Plant) -> Self {
        let rig = stack.build();
        let terms = Terms {
            pages: rig.device.pages(),
            sectors: SECTORS as u32,
            sector_bytes: SECTOR_BYTES,
            volatile_cache: stack.config.volatile_cache,
            strict_trim: stack.config.strict_trim,
            relies_on_capacitor: false,
            remembered: 64,
        };
        Self {
            stack,
            rig,
            ledger: Ledger::new(terms),
            plant,
            open: BTreeMap::new(),
            lied: BTreeSet::new(),
            late: Vec::new(),
            answered: Vec::new(),
            written: 0,
            unflushed: BTreeSet::new(),
        }
    }

    pub fn outstanding(&self) -> usize {
        self.open.len()
    }

    /// The host submits a request.
    pub fn submit(&mut self, asked: &Asked) {
        let token =
            (0..).find(|token| !self.open.contains_key(token) && !self.lied.contains(token));
        let token = token.expect("a free token");
        self.open.insert(token, Open { asked: *asked });
        if !asked.is_flush() {
            self.rig.device.announce(&asked.request().span);
        }
        let own = self.unflushed.contains(&connection(token));
        let is_early = asked.is_flush()
            && (self.plant == Plant::EarlyFlush
                || (self.plant == Plant::FlushPerConnection && !own));
        if self.plant == Plant::LateTrim && asked.kind == RequestKind::Trim {
            // The host gets the answer at once, but the device gets the trim later.
            self.accept(token, asked);
            self.reply(token);
            self.lied.insert(token);
            self.late.push((token, *asked));
            return;
        }
        self.give(token, asked, true);
        if is_early && self.open.contains_key(&token) {
            self.reply(token);
            self.lied.insert(token);
        }
        if asked.kind == RequestKind::Write {
            let last = asked.first + asked.sectors;
            let (due, late) = std::mem::take(&mut self.late)
                .into_iter()
                .partition(|(_, trim)| {
                    trim.first < last && asked.first < trim.first + trim.sectors
                });
            self.late = late;
            let due: Vec<(u32, Asked)> = due;
            for (token, trim) in due {
                self.give(token, &trim, false);
            }
        }
        self.look();
    }

    fn accept(&mut self, token: u32, asked: &Asked) -> Vec<u8> {
        let data = match asked.kind {
            RequestKind::Write => self.data_of(asked),
            _ => Vec::new(),
        };
        self.written += 1;
        // The ledger uses the number of the request as the version, independently of the version numbers of the
        // device.
        self.ledger
            .accept(token, &asked.request(), self.written, [&data[..]]);
        data
    }

    /// Submits a request to the device.
    fn give(&mut self, token: u32, asked: &Asked, is_new: bool) {
        let data = match is_new {
            true => self.accept(token, asked),
            false => Vec::new(),
        };
        let mut request = asked.request();
        request.fua &= self.plant != Plant::NoFua;
        self.rig.submit(token, &request, &data);
    }

    fn data_of(&self, asked: &Asked) -> Vec<u8> {
        let all = self.ledger_pages() * SECTORS;
        let sectors = (asked.first..asked.first + asked.sectors).map(|sector| sector % all);
        let words = sectors.map(|sector| {
            word(
                sector / SECTORS,
                (sector % SECTORS) as usize,
                self.written + 1,
            )
        });
        bytes(&words.collect::<Vec<u64>>())
    }

    fn ledger_pages(&self) -> u64 {
        self.rig.device.pages()
    }

    /// Forwards the answers of the device to the host.
    fn look(&mut self) {
        for event in std::mem::take(&mut self.rig.flash.events) {
            let Event::Answer { token } = event else {
                continue;
            };
            if self.lied.remove(&token) {
                continue;
            }
            self.reply(token);
        }
    }

    fn reply(&mut self, token: u32) {
        let open = self.open.remove(&token).expect("an open request");
        self.ledger.answer(token);
        if open.asked.is_flush() {
            self.unflushed.remove(&connection(token));
        } else {
            if open.asked.kind != RequestKind::Read {
                self.unflushed.insert(connection(token));
            }
            self.answered.push(open.asked.request().span);
        }
    }

    /// One random event: an operation ends, an alarm fires, or the host retires an answered request.
    pub fn go_on(&mut self, random: &mut Random) {
        let busy = self.rig.busy();
        let alarms = self.rig.flash.alarms.len();
        let kind = random.below(10);
        if !self.answered.is_empty() && (kind < 3 || busy.is_empty()) {
            let which = random.below(self.answered.len() as u64) as usize;
            let span = self.answered.swap_remove(which);
            self.rig.device.retire(&span, &mut self.rig.flash);
        } else if alarms > 0 && (kind < 5 || busy.is_empty() || alarms > 20) {
            let which = random.below(alarms as u64) as usize;
            let alarm = self.rig.flash.alarms.swap_remove(which);
            self.rig.wake(alarm);
        } else if !busy.is_empty() {
            self.rig.end(busy[random.below(busy.len() as u64) as usize]);
        }
        self.look();
    }

    /// Runs until all requests are answered and no die is busy.
    pub fn finish(&mut self, random: &mut Random) {
        while !self.open.is_empty() {
            self.go_on(random);
        }
        while !self.rig.busy().is_empty() {
            self.go_on(random);
        }
    }

    /// Cuts the power of a copy of the device and returns the remains. `elapsed` gives, for each die, the ticks
    /// since the start of its step.
    pub fn cut(
        &self,
        elapsed: impl Fn(u32) -> Ticks,
        bad: &BadDrive,
        random: &mut Random,
    ) -> Remains {
        let mut payload = self.rig.flash.payload.clone();
        let mut bad = *bad;
        match self.plant {
            Plant::SpareFirst => bad.torn_sector_bytes = SECTOR_BYTES * SECTORS as usize,
            Plant::TrustsTorn => bad.torn_sector_bytes = SECTOR_BYTES,
            _ => {}
        }
        let mut report = payload.cut(elapsed, &TIMING, &bad, random);
        if matches!(self.plant, Plant::SpareFirst | Plant::TrustsTorn) {
            // The planted bug must be found although the drive claims to be a good one, so the drive reports no
            // losses.
            report.lost.clear();
        }
        Remains {
            payload,
            report,
            ledger: self.ledger.clone(),
            written: self.written,
        }
    }

    /// Cuts the power of the device itself and returns the remains. The device has a capacitor with energy for
    /// `programs` programs. A new device replaces it.
    pub fn fail(
        &mut self,
        elapsed: &dyn Fn(u32) -> Ticks,
        bad: BadDrive,
        programs: u64,
        random: &mut Random,
    ) -> Remains {
        let rig = std::mem::replace(&mut self.rig, self.stack.build());
        let mut payload = rig.flash.payload;
        let energy = Energy {
            program: 10,
            erase: 20,
            read: 1,
            ..Energy::default()
        };
        let loss = PowerLoss {
            now: rig.now,
            elapsed,
            timing: TIMING,
            units: None,
            bad,
            capacitor: (programs > 0).then_some(Capacitor {
                charge: 10 * programs,
                energy,
            }),
        };
        let mut fresh = || self.stack.fresh();
        let done = rig.device.cut(&mut payload, &loss, random, &mut fresh);
        let (report, dump) = done.expect("a layer that can be mounted");
        if let Some(dump) = dump {
            assert!(dump.energy <= 10 * programs);
            assert!(dump.left == 0 || programs < 1_000, "{dump:?}");
        }
        Remains {
            payload,
            report,
            ledger: self.ledger.clone(),
            written: self.written,
        }
    }

    /// For each busy die, the moments at which a power cut can hit its current step.
    pub fn moments(&self) -> Vec<(u32, Vec<Ticks>)> {
        let medium = self.rig.flash.payload.medium();
        let busy = self.rig.busy().into_iter();
        busy.map(|die| (die, medium.moments(die, &TIMING)))
            .collect()
    }

    /// Continues with the restored device.
    pub fn resume(&mut self, restored: Restored) {
        self.rig = restored.rig;
        self.ledger = restored.ledger;
        self.written = restored.written;
        self.open.clear();
        self.lied.clear();
        self.late.clear();
        self.answered.clear();
        self.unflushed.clear();
    }
}

/// What a power loss leaves: the contents of flash, and the ledger.
#[derive(Clone)]
pub struct Remains {
    pub payload: Payload,
    pub report: CutReport,
    ledger: Ledger,
    written: u64,
}

/// A device after its mount.
pub struct Restored {
    pub rig: Rig,
    pub ledger: Ledger,
    written: u64,
    /// Pages that break a promise.
    pub findings: Vec<(u64, Finding)>,
}

impl Remains {
    /// The same ledger, with the flash contents `medium` in place of the remaining ones.
    pub fn with(&self, medium: Medium) -> Self {
        let sectors = SECTORS as usize;
        Self {
            payload: Payload::new(medium, sectors * SECTOR_BYTES, sectors),
            ..self.clone()
        }
    }

    /// Mounts the remains and calls `watch` at each step of the mount.
    pub fn mount_only(self, stack: &Stack<'_>, watch: &mut dyn FnMut(&Medium, u32)) {
        let mounted = stack.remount(self.payload, &[], watch);
        mounted.expect("a mount");
    }

    /// Mounts the remains and compares all pages with the ledger; `future` has the future page writes.
    pub fn restore(self, stack: &Stack<'_>, future: &[Lpn]) -> Result<Restored, MountError> {
        let Self {
            payload,
            report: cut,
            mut ledger,
            written,
        } = self;
        let (rig, _) = stack.remount(payload, future, &mut |_, _| {})?;
        let lost: BTreeMap<Lpn, Lost> = cut.lost.into_iter().collect();
        let holds = &rig.flash.payload;
        let mut findings = Vec::new();
        for page in (0..rig.device.pages()).map(Lpn) {
            let held = holds.newest(page);
            findings.extend(ledger.check(page, &held.bytes, lost.get(&page).copied()));
            let is_mapped = rig.device.ftl().is_written(page);
            let is_there = holds.medium().newest(page).is_some();
            assert_eq!(is_mapped, is_there, "page {page} in the map and on flash");
        }
        ledger.restart(|page, bytes| bytes.extend_from_slice(&holds.newest(page).bytes));
        Ok(Restored {
            rig,
            ledger,
            written,
            findings,
        })
    }
}
