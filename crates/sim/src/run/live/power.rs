//! The loss of power of a live device, at once or after a given event, and the comparison of the device with its
//! promises.

use std::collections::BTreeMap;

use destage_base::{Lpn, Ticks};
use destage_device::ledger::{Finding, Ledger};
use destage_device::payload::Payload;
use destage_device::power::Dump;
use destage_ftl::mount::MountReport;
use destage_nand::medium::image::Damage;
use destage_nand::medium::{CutReport, Lost};
use destage_trace::request::SECTOR_BYTES;

use super::below::Below;
use super::{Broken, Config, Live};
use crate::engine::Parts;
use crate::error::SimError;
use crate::metrics::Metrics;
use crate::observer::Observer;
use crate::power::{Check, CutAt, CutPlan, Found, Trigger};

/// The number of old versions of a sector that the ledger of a live device stores. It is also the maximum number of
/// changes of a page that the ledger stores without a promise. These bounds limit the memory of the ledger, whatever
/// clients do.
const REMEMBERED: usize = 16;
/// Approximate maximum of the memory that a mount needs for each programmed page, in bytes.
const MOUNT_BYTES: u64 = 200;

/// The event after which the power fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutAfter {
    /// When the device accepts this write, counted from 1 after arming; write-zeroes are writes.
    Write(u64),
    /// When the device accepts this flush, counted from 1 after arming.
    Flush(u64),
    /// During this page program, counted from 1 after arming in the order in which programs begin.
    Program(u64),
    /// After this time of the model, in ticks.
    Time(Ticks),
}

/// A loss of power.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// The time of the loss, in model ticks.
    pub at: Ticks,
    /// The operations that the loss interrupted.
    pub report: CutReport,
    /// The pages that the capacitor saved, and their cost; `None` without a capacitor.
    pub dump: Option<Dump>,
}

/// The findings of the mount after a loss of power.
#[derive(Clone, Debug)]
pub struct Restored {
    /// The duration and the work of the mount.
    pub mount: MountReport,
    /// The number of sectors whose contents break a promise.
    pub bad: usize,
    /// The number of sectors that were lost by an option of a bad drive, or that cannot be judged, by the name of
    /// the cause.
    pub lost: BTreeMap<&'static str, u64>,
    /// The number of sectors that hold neither their newest answered write nor a later change, even if no flush
    /// covered that write.
    pub lost_answered: u64,
}

/// A device without power: its flash, and the ledger of its promises. The time of the device does not advance.
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
    /// Approximate maximum of the memory that a mount of `payload` needs while it runs, in bytes.
    fn mount_bytes(&self, payload: &Payload) -> u64 {
        let geometry = self.geometry();
        let blocks = u64::from(geometry.blocks_per_die()) * u64::from(geometry.dies);
        let pages = blocks * u64::from(geometry.pages_per_block);
        payload.medium().programmed_pages().min(pages) * MOUNT_BYTES
    }
}

impl<'a> Live<'a> {
    /// Approximate maximum of the memory that a mount would need if the power failed now, in bytes. 0 without flash.
    #[must_use]
    pub fn mount_bytes(&self) -> u64 {
        match &self.engine.probe().below {
            Below::Flash(payload) => self.config.mount_bytes(payload),
            Below::Disk(_) => 0,
        }
    }

    /// Begins the ledger of promises, so that the power may fail. Must be called before the first request.
    pub fn keep_ledger(&mut self) {
        let pages = self.sectors / self.sectors_per_page;
        let mut terms = self.config.terms(pages);
        terms.remembered = REMEMBERED;
        let mut ledger = Ledger::new(terms);
        let Below::Flash(payload) = &self.engine.probe().below else {
            return;
        };
        if payload.version() > 0 {
            // The image held data before this device was made.
            let on_flash = payload.medium().scan();
            for place in on_flash.written() {
                ledger.hold(place.page, &payload.look(place.page).bytes);
            }
            // Damage is ignored here, because a later read of a damaged page reports it.
            payload.medium().forgive_damage();
        }
        self.engine.probe_mut().ledger = Some(Box::new(ledger));
    }

    /// Whether the bytes are on simulated flash, whose power may fail. A disk below the buffer has its own power.
    #[must_use]
    pub fn has_flash(&self) -> bool {
        matches!(self.engine.probe().below, Below::Flash(_))
    }

    /// The ledger of promises; `None` if it was not begun.
    #[must_use]
    pub fn ledger(&self) -> Option<&Ledger> {
        self.engine.probe().ledger.as_deref()
    }

    /// Arms the loss of power: the power fails at the event `after`, counted from `now`. `None` disarms the loss.
    /// `seed` determines all random choices; the default is `sim.seed`.
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
        self.engine.probe_mut().trigger = trigger;
    }

    /// Whether a loss of power is armed.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.engine.probe().trigger.is_some()
    }

    /// The time at which the armed loss of power happened; `None` if the device has power. No event happens after
    /// this time.
    #[must_use]
    pub fn failed_at(&self) -> Option<Ticks> {
        self.failed_at
    }

    /// The time at which the power will fail; `None` as long as no event has determined this time. The passing of
    /// time alone does not determine it.
    pub fn fails_at(&mut self) -> Option<Ticks> {
        let now = self.engine.now();
        let bytes = self.engine.probe_mut();
        let trigger = bytes.trigger.as_mut()?;
        let Below::Flash(payload) = &bytes.below else {
            return None;
        };
        trigger.fails_at(now, payload.medium())
    }

    /// The time at which the power will fail if it was armed with [`CutAfter::Time`]; otherwise `None`.
    #[must_use]
    pub fn fails_at_time(&self) -> Option<Ticks> {
        match self.engine.probe().trigger.as_ref()?.plan().at {
            CutAt::Time(time) => Some(time),
            CutAt::Write(_) | CutAt::Flush(_) | CutAt::Program(_) => None,
        }
    }

    /// Whether the power fails before the event at `next`. An event at the very time of the loss happens first.
    pub(super) fn fails_before(&mut self, next: Option<Ticks>) -> bool {
        if self.failed_at.is_none()
            && let Some(at) = self.fails_at()
            && next.is_none_or(|next| next > at)
        {
            self.failed_at = Some(at);
        }
        self.failed_at.is_some()
    }

    /// Cuts the power at `at`, or at the time of the armed loss if this loss has already happened. `at` must not be
    /// before now. `seed` determines all random choices; the default is `sim.seed`. Without a
    /// [ledger](Self::keep_ledger), all contents that the mount finds count as bad.
    ///
    /// The second result is the report of the loss, or the reason why the capacitor could not save the data.
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
            probe: bytes,
            observer,
            begins,
            now,
            arrivals,
        } = engine.into_parts();
        let accepted = bytes.accepted;
        let at = failed_at.unwrap_or(at).max(now);
        let seed = bytes
            .trigger
            .filter(|_| failed_at.is_some())
            .map_or(seed.unwrap_or(config.typed.sim.seed), |trigger| {
                trigger.plan().seed
            });
        let Below::Flash(mut payload) = bytes.below else {
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
            ledger: bytes.ledger.unwrap_or_else(|| Box::new(Ledger::new(terms))),
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

    /// Sectors whose contents break a promise, in ascending order: the sectors found at earlier mounts, and the
    /// sectors whose contents are wrong now.
    ///
    /// # Errors
    /// The reason why the device cannot be used any more.
    pub fn bad_sectors(&self) -> Result<Vec<u64>, Broken> {
        self.check()?;
        let mut bad = self.bad.clone();
        if let (Some(ledger), Below::Flash(payload)) = (self.ledger(), &self.engine.probe().below) {
            for page in ledger.pages() {
                let found = ledger.check(page, &payload.look(page).bytes, None);
                let of_page = found.into_iter().filter(|(_, what)| *what == Finding::Bad);
                bad.extend(of_page.map(|(sector, _)| sector));
                // The damaged data are not used here, and clients that read the page get an error.
                if payload.medium().forgive_damage() {
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
    /// The report of the loss of power.
    #[must_use]
    pub fn cut(&self) -> &Cut {
        &self.cut
    }

    /// The number of writes, including write-zeroes, and the number of flushes that the device accepted before
    /// the loss.
    #[must_use]
    pub fn accepted(&self) -> [u64; 2] {
        self.accepted
    }

    /// Approximate maximum of the memory that a mount needs while it runs, in bytes.
    #[must_use]
    pub fn mount_bytes(&self) -> u64 {
        self.config.mount_bytes(&self.payload)
    }

    /// The results of a run that would have ended at the loss of power.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The ledger of promises.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Restores the power at `at`: mounts the device and compares its contents with the ledger. Then model time
    /// continues at the end of the mount, and ledger and metrics begin anew.
    ///
    /// # Errors
    /// If the device cannot be mounted, or if its image does not hold data that the mount needs. The device is then
    /// returned without power.
    pub fn restore(mut self, at: Ticks) -> Result<(Live<'a>, Restored), (Box<Self>, SimError)> {
        let (mut ftl, mount) = match self.config.mount(&mut self.payload) {
            Ok(mounted) => mounted,
            Err(error) => return Err((Box::new(self), error)),
        };
        if self.payload.medium().is_damaged() {
            return Err((Box::new(self), SimError::Image(Damage::Data)));
        }
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
        // The check and the ledger have read all pages. Clients that read a damaged page get an error.
        payload.medium().forgive_damage();
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
        live.engine.probe_mut().ledger = Some(ledger);
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
                // The ledger records a flush that never reaches the device. The check must find the write that
                // this flush would cover.
                let ledger = live.engine.probe_mut().ledger.as_mut().unwrap();
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
            // A later write of a bad sector does not remove it from the list.
            ask(&mut live, RequestKind::Write, 16, 9);
            assert_eq!(live.bad_sectors().unwrap(), bad);
        }
    }

    #[test]
    fn a_device_whose_contents_change_by_themselves_is_found() {
        let mut live = live();
        ask(&mut live, RequestKind::Write, 0, 7);
        ask(&mut live, RequestKind::Flush, 0, 0);
        let ledger = live.engine.probe_mut().ledger.as_mut().unwrap();
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
