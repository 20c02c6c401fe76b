//! A device that is used, and whose power fails: now, or when something has happened; what was promised, and whether it
//! is there.

use std::collections::BTreeMap;

use destage_base::{Lpn, Ticks};
use destage_device::ledger::{Finding, Ledger};
use destage_device::payload::Payload;
use destage_device::power::Dump;
use destage_ftl::mount::MountReport;
use destage_nand::medium::{CutReport, Lost};
use destage_trace::request::SECTOR_BYTES;

use super::below::Below;
use super::{Broken, Config, Live};
use crate::engine::Parts;
use crate::error::SimError;
use crate::metrics::Metrics;
use crate::observer::Observer;
use crate::power::{Check, CutAt, CutPlan, Found, Trigger};

/// Old versions of a sector that the ledger of a live device knows, and changes of a page that it knows without a promise,
/// at most: its memory has a bound, whatever clients do.
const REMEMBERED: usize = 16;
/// Bytes that a mount takes for a page that is programmed, at most about.
const MOUNT_BYTES: u64 = 200;

/// How long the power lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutAfter {
    /// Until the device accepts this write from now on, counted from 1; write-zeroes are writes.
    Write(u64),
    /// Until the device accepts this flush from now on, counted from 1.
    Flush(u64),
    /// Until some time in this page program from now on, counted from 1 in the order in which steps begin.
    Program(u64),
    /// This long in model time.
    Time(Ticks),
}

/// The power has failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// When, in model time.
    pub at: Ticks,
    /// What was cut off.
    pub report: CutReport,
    /// What the capacitor paid for, if there is one.
    pub dump: Option<Dump>,
}

/// The device is mounted again.
#[derive(Clone, Debug)]
pub struct Restored {
    /// What the mount took.
    pub mount: MountReport,
    /// Sectors that do not hold what they must.
    pub bad: usize,
    /// Sectors that an option of a bad drive took, or that cannot be judged, by the name of that.
    pub lost: BTreeMap<&'static str, u64>,
    /// Sectors that hold neither their newest answered write nor a later change, whether a flush covered that write or not.
    pub lost_answered: u64,
}

/// A device without power: its flash, and what was promised. Its time stands still.
pub struct Off<'a> {
    config: Config,
    payload: Payload,
    ledger: Box<Ledger>,
    observer: Box<dyn Observer + 'a>,
    arrivals: u64,
    accepted: [u64; 2],
    cut: Cut,
    metrics: Metrics,
    bad: Vec<u64>,
}

impl Config {
    /// Bytes of memory that a mount of `payload` takes while it lasts, at most about.
    fn mount_bytes(&self, payload: &Payload) -> u64 {
        let geometry = self.geometry();
        let blocks = u64::from(geometry.blocks_per_die()) * u64::from(geometry.dies);
        let pages = blocks * u64::from(geometry.pages_per_block);
        payload.medium().programmed_pages().min(pages) * MOUNT_BYTES
    }
}

impl<'a> Live<'a> {
    /// Bytes of memory that a mount would take while it lasts if the power failed now, at most about.
    #[must_use]
    pub fn mount_bytes(&self) -> u64 {
        match &self.engine.mover().below {
            Below::Flash(payload) => self.config.mount_bytes(payload),
            Below::Disk(_) => 0,
        }
    }

    /// From now on it is known what was promised, so that the power may fail. Before the first request.
    pub fn keep_ledger(&mut self) {
        let pages = self.sectors / self.sectors_per_page;
        let mut terms = self.config.terms(pages);
        terms.remembered = REMEMBERED;
        let mut ledger = Ledger::new(terms);
        let Below::Flash(payload) = &self.engine.mover().below else {
            return;
        };
        if payload.version() > 0 {
            // It was on flash before this device was made.
            let on_flash = payload.medium().scan();
            for place in on_flash.written() {
                ledger.hold(place.page, &payload.look(place.page).bytes);
            }
            // A read of a damaged page will tell of it.
            payload.medium().forgive_damage();
        }
        self.engine.mover_mut().ledger = Some(Box::new(ledger));
    }

    /// Whether the bytes are on flash, whose power may fail; a disk behind the buffer has a power of its own.
    #[must_use]
    pub fn has_flash(&self) -> bool {
        matches!(self.engine.mover().below, Below::Flash(_))
    }

    /// What was promised, if that is known.
    #[must_use]
    pub fn ledger(&self) -> Option<&Ledger> {
        self.engine.mover().ledger.as_deref()
    }

    /// From `now` on the power is to fail after `after`; none takes that back. `seed` fixes what is left open;
    /// `sim.seed` if there is none.
    pub fn arm(&mut self, after: Option<CutAfter>, now: Ticks, seed: Option<u64>) {
        let seed = seed.unwrap_or(self.config.typed.sim.seed);
        let timing = self.config.timing();
        let trigger = after.map(|after| {
            let at = match after {
                CutAfter::Write(number) => CutAt::Write(number),
                CutAfter::Flush(number) => CutAt::Flush(number),
                CutAfter::Program(number) => CutAt::Program(number),
                CutAfter::Time(time) => CutAt::Time(now.saturating_add(time)),
            };
            Box::new(Trigger::new(CutPlan { at, seed }, timing))
        });
        self.engine.mover_mut().trigger = trigger;
    }

    /// Whether the power is to fail some time.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.engine.mover().trigger.is_some()
    }

    /// When the power has failed by itself, as it was armed; nothing happens any more then.
    #[must_use]
    pub fn failed_at(&self) -> Option<Ticks> {
        self.failed_at
    }

    /// When the power will fail, if that is settled already by something that has happened. A clock alone settles nothing.
    pub fn fails_at(&mut self) -> Option<Ticks> {
        let now = self.engine.now();
        let bytes = self.engine.mover_mut();
        let trigger = bytes.trigger.as_mut()?;
        let Below::Flash(payload) = &bytes.below else {
            return None;
        };
        trigger.fails_at(now, payload.medium())
    }

    /// The time at which the power is to fail whatever happens, if it was armed so.
    #[must_use]
    pub fn fails_at_time(&self) -> Option<Ticks> {
        match self.engine.mover().trigger.as_ref()?.plan().at {
            CutAt::Time(time) => Some(time),
            CutAt::Write(_) | CutAt::Flush(_) | CutAt::Program(_) => None,
        }
    }

    /// Whether the power fails before `next`, with all that is due at its time behind it.
    pub(super) fn fails_before(&mut self, next: Option<Ticks>) -> bool {
        if self.failed_at.is_none()
            && let Some(at) = self.fails_at()
            && next.is_none_or(|next| next > at)
        {
            self.failed_at = Some(at);
        }
        self.failed_at.is_some()
    }

    /// The power fails at `at`, which is not before now, or when it was armed to. `seed` fixes what is left open;
    /// `sim.seed` if there is none. Without a [ledger](Self::keep_ledger) everything that is found then is bad.
    ///
    /// The second is what has happened, or why the capacitor could not do its work.
    pub fn fail(self, at: Ticks, seed: Option<u64>) -> (Off<'a>, Result<Cut, SimError>) {
        let Self {
            mut engine,
            config,
            scope,
            sectors,
            sectors_per_page,
            failed_at,
            bad,
        } = self;
        engine.report_unfinished();
        let metrics = crate::metrics::collect(&engine.measure(), &scope);
        let Parts {
            device,
            mover,
            observer,
            begins,
            now,
            arrivals,
        } = engine.into_parts();
        let accepted = mover.accepted;
        let at = failed_at.unwrap_or(at).max(now);
        let seed = mover
            .trigger
            .filter(|_| failed_at.is_some())
            .map_or(seed.unwrap_or(config.typed.sim.seed), |trigger| {
                trigger.plan().seed
            });
        let Below::Flash(mut payload) = mover.below else {
            panic!("a disk behind the buffer has a power of its own");
        };
        let done = config.fail_power(device, &mut payload, &begins, at, seed);
        let (report, dump, error) = match done {
            Ok((report, dump)) => (report, dump, None),
            Err(error) => (CutReport::default(), None, Some(error)),
        };
        let cut = Cut { at, report, dump };
        let terms = config.terms(sectors / sectors_per_page);
        let off = Off {
            ledger: mover.ledger.unwrap_or_else(|| Box::new(Ledger::new(terms))),
            config,
            payload,
            observer,
            arrivals,
            accepted,
            metrics,
            bad,
            cut: cut.clone(),
        };
        (off, error.map_or(Ok(cut), Err))
    }

    /// Sectors that do not hold what they must: those found at the latest mount, and those that do not read so now.
    /// Ascending.
    ///
    /// # Errors
    /// Why the device is used no more.
    pub fn bad_sectors(&self) -> Result<Vec<u64>, Broken> {
        self.check()?;
        let mut bad = self.bad.clone();
        if let (Some(ledger), Below::Flash(payload)) = (self.ledger(), &self.engine.mover().below) {
            for page in ledger.pages() {
                let found = ledger.check(page, &payload.look(page).bytes, None);
                let of_page = found.into_iter().filter(|(_, what)| *what == Finding::Bad);
                bad.extend(of_page.map(|(sector, _)| sector));
                if payload.medium().is_damaged() {
                    // Nothing was made of what was read, and clients that read it are told.
                    payload.medium().forgive_damage();
                    let first = page.0 * self.sectors_per_page;
                    bad.extend(first..first + self.sectors_per_page);
                }
            }
        }
        bad.sort_unstable();
        bad.dedup();
        Ok(bad)
    }
}

impl<'a> Off<'a> {
    /// How the power failed.
    #[must_use]
    pub fn cut(&self) -> &Cut {
        &self.cut
    }

    /// Writes that the device had accepted when the power failed, write-zeroes included, and flushes.
    #[must_use]
    pub fn accepted(&self) -> [u64; 2] {
        self.accepted
    }

    /// Bytes of memory that a mount takes while it lasts, at most about.
    #[must_use]
    pub fn mount_bytes(&self) -> u64 {
        self.config.mount_bytes(&self.payload)
    }

    /// What a run would have for results that ended when the power failed.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// What was promised.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The power is back at `at`: the device is mounted, and held against what was promised, which begins anew. Its time
    /// goes on behind the mount, its metrics begin again.
    ///
    /// # Errors
    /// Why it cannot be mounted; it is as before.
    pub fn restore(mut self, at: Ticks) -> Result<(Live<'a>, Restored), (Box<Self>, SimError)> {
        let (mut ftl, mount) = match self.config.mount(&mut self.payload) {
            Ok(mounted) => mounted,
            Err(error) => return Err((Box::new(self), error)),
        };
        let lost: BTreeMap<Lpn, Lost> = self.cut.report.lost.iter().copied().collect();
        let check = Check {
            ledger: &self.ledger,
            lost,
            payload: &mut self.payload,
            ftl: &mut *ftl,
        };
        let Found {
            bad,
            lost,
            lost_answered,
        } = check.run();
        let start = self.cut.at.max(at).saturating_add(mount.time);
        let restored = Restored {
            bad: bad.len(),
            lost,
            lost_answered,
            mount,
        };
        self.bad.extend(bad);
        let payload = &self.payload;
        self.ledger
            .restart(|page, bytes| bytes.extend_from_slice(&payload.look(page).bytes));
        let Self {
            config,
            payload,
            ledger,
            observer,
            arrivals,
            bad,
            ..
        } = self;
        let pages = ftl.pages();
        let sectors = pages * (config.geometry().page_bytes / SECTOR_BYTES);
        let made = Live::over(config, ftl, Below::Flash(payload), sectors, observer);
        let mut live = made.unwrap_or_else(|error| panic!("it was made like this before: {error}"));
        live.engine.go_on_from(start, arrivals);
        live.engine.mover_mut().ledger = Some(ledger);
        live.bad = bad;
        Ok((live, restored))
    }
}

#[cfg(test)]
mod tests {
    use destage_base::Ticks;
    use destage_device::{Request, RequestKind, Span};

    use super::*;
    use crate::observer::Silent;
    use crate::run::live::Ask;
    use crate::settings::Settings;

    fn live() -> Live<'static> {
        let mut settings = Settings::new();
        for pair in [
            "flash.blocks_per_plane=16",
            "flash.pages_per_block=8",
            "sim.precondition=none",
            "buffer.capacity_bytes=64KiB",
        ] {
            settings.set_pair(pair).unwrap();
        }
        let mut live = Live::new(&settings.resolve().unwrap(), Box::new(Silent)).unwrap();
        live.keep_ledger();
        live
    }

    fn ask(live: &mut Live<'_>, kind: RequestKind, sector: u64, letter: u8) {
        let data = [letter; 4096];
        let (sectors, data) = match kind {
            RequestKind::Write => (8, &data[..]),
            _ => (0, &data[..0]),
        };
        let ask = Ask {
            kind,
            sector,
            sectors,
            fua: false,
            data,
            tag: 0,
        };
        live.submit(live.now(), &ask).unwrap();
        live.advance_to_completion().unwrap();
        assert!(live.completed().is_some());
    }

    const LATER: Ticks = 1_000_000_000;

    #[test]
    fn a_flush_that_is_answered_and_does_nothing_is_found() {
        for is_planted in [false, true] {
            let mut live = live();
            ask(&mut live, RequestKind::Write, 0, 7);
            ask(&mut live, RequestKind::Flush, 0, 0);
            ask(&mut live, RequestKind::Write, 16, 8);
            if is_planted {
                // The host hears of a flush of which the device does not.
                let ledger = live.engine.mover_mut().ledger.as_mut().unwrap();
                let flush = Request {
                    kind: RequestKind::Flush,
                    span: Span::default(),
                    fua: false,
                };
                ledger.accept(1000, &flush, 0, []);
                ledger.answer(1000);
            }
            assert_eq!(live.bad_sectors().unwrap(), []);
            let (off, cut) = live.fail(LATER, None);
            assert_eq!(cut.unwrap().at, LATER);
            let Ok((mut live, restored)) = off.restore(LATER) else {
                panic!("it can be mounted");
            };
            let bad: Vec<u64> = if is_planted {
                (16..24).collect()
            } else {
                vec![]
            };
            assert_eq!(restored.bad, bad.len());
            assert_eq!(live.bad_sectors().unwrap(), bad);
            assert!(live.now() > LATER);
            // What was found stays found.
            ask(&mut live, RequestKind::Write, 16, 9);
            assert_eq!(live.bad_sectors().unwrap(), bad);
        }
    }

    #[test]
    fn a_device_whose_contents_change_by_themselves_is_found() {
        let mut live = live();
        ask(&mut live, RequestKind::Write, 0, 7);
        ask(&mut live, RequestKind::Flush, 0, 0);
        let ledger = live.engine.mover_mut().ledger.as_mut().unwrap();
        let write = Request {
            kind: RequestKind::Write,
            span: Span::whole(0, 1),
            fua: true,
        };
        ledger.accept(1000, &write, 100, [&[9; 4096][..]]);
        ledger.answer(1000);
        assert_eq!(live.bad_sectors().unwrap(), (0..8).collect::<Vec<u64>>());
    }
}
