//! A loss of power, and the operations that a drive completes with the energy of its capacitor.
//!
//! Without a capacitor, only the effects of operations that have ended remain ([`Payload::cut`]). With a capacitor,
//! each die first ends the operation in service. Then pages are programmed in dump order as long as the energy lasts.
//! First come pages that were emitted but are not on flash, in the order of emission. Then come dirty pages, in the
//! order in which the scheme would flush them. The energy is spent in dump order, whatever the dies of the pages. The
//! dies work in parallel.
//!
//! ```text
//! device + payload --cut--> payload (flash only) --mount, with a layer just built--> payload + layer --> a new device
//! ```

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::{Lpn, Random, Ticks};
use destage_ftl::mount::{MountError, Steps, take_over};
use destage_ftl::{Ftl, PageWrite};
use destage_nand::array::Ppn;
use destage_nand::medium::{BadDrive, CutReport};
use destage_nand::operation::Purpose;
use destage_nand::{Kind, Operation, Operations, Timing, Transfer};

use crate::device::Device;
use crate::dies::{Units, gc_limit};
use crate::payload::Payload;

/// Energies of operations, in picojoules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Energy {
    /// Energy of a read: the page moves from the cells to the page register.
    pub read: u64,
    /// Energy of a program: the page moves from the page register to the cells.
    pub program: u64,
    /// Energy of the erase of a block.
    pub erase: u64,
    /// Energy to transfer one page, with its spare bytes, over the channel.
    pub page_transfer: u64,
    /// Energy to transfer one sector, with its spare bytes, over the channel.
    pub sector_transfer: u64,
}

impl Energy {
    /// Energy of `operation`, in picojoules; if it stands for several equal operations, the sum of theirs.
    #[must_use]
    pub fn of(&self, operation: &Operation) -> u64 {
        let cells = match operation.kind {
            Kind::Read => self.read,
            Kind::Program => self.program,
            Kind::Erase => self.erase,
        };
        let channel = match operation.transfer {
            Transfer::None => 0,
            Transfer::Page => self.page_transfer,
            Transfer::Sector => self.sector_transfer,
            Transfer::TwoPages => self.page_transfer.saturating_mul(2),
        };
        let one = cells.saturating_add(channel);
        one.saturating_mul(u64::from(operation.count))
    }

    fn of_all(&self, operations: &Operations) -> u64 {
        let all = operations.all().iter();
        all.fold(0, |sum, operation| sum.saturating_add(self.of(operation)))
    }
}

/// A charged capacitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capacitor {
    /// The energy of the capacitor, in picojoules.
    pub charge: u64,
    /// The energy of each kind of operation.
    pub energy: Energy,
}

/// How the power fails.
pub struct PowerLoss<'a> {
    /// The time of the loss.
    pub now: Ticks,
    /// For a die, the ticks since its step in service began.
    pub elapsed: &'a dyn Fn(u32) -> Ticks,
    /// The times of operations.
    pub timing: Timing,
    /// The program units, if pages are programmed in units, and the ticks of a first pass.
    pub units: Option<(Units, Ticks)>,
    /// The faults by which a bad drive loses further data.
    pub bad: BadDrive,
    /// The drive's energy reserve, if it has one.
    pub capacitor: Option<Capacitor>,
}

/// The work that was done with the energy of a capacitor.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Dump {
    /// Number of pages that were programmed after the loss of power.
    pub pages: u64,
    /// Number of pages in RAM that were not programmed, because energy or room was not sufficient.
    pub left: u64,
    /// Picojoules spent, including the energy of the operations that were in service.
    pub energy: u64,
    /// Ticks from the loss of power to the end of the last operation.
    pub time: Ticks,
}

impl Device {
    /// The power fails. After the call, `payload` has only the contents of flash. `random` decides those effects of
    /// `loss` that depend on chance. `fresh` builds a layer like the layer of this device, without contents. It is
    /// called only with a capacitor, and only if the state of the device's layer includes operations that the flash
    /// has not completed: a step was interrupted before its last operation, erases wait, or an operation was put off.
    ///
    /// # Errors
    /// If the layer from `fresh` cannot be mounted, or if a layer requests an operation that the medium refuses.
    pub fn cut(
        self,
        payload: &mut Payload,
        loss: &PowerLoss<'_>,
        random: &mut Random,
        fresh: &mut dyn FnMut() -> Box<dyn Ftl>,
    ) -> Result<(CutReport, Option<Dump>), MountError> {
        let PowerLoss { timing, bad, .. } = loss;
        let Some(capacitor) = &loss.capacitor else {
            return Ok((payload.cut(loss.elapsed, timing, bad, random), None));
        };
        let mut charge = capacitor.charge;
        let pays = |operation: &Operation| {
            let left = charge.checked_sub(capacitor.energy.of(operation));
            charge = left.unwrap_or(charge);
            left.is_some()
        };
        let is_ahead = self.is_ahead();
        let medium = payload.medium_mut();
        let report = medium.wind_up(loss.elapsed, timing, bad, random, pays);
        let blocks_per_die = self.blocks_per_die();
        let (mut ftl, dirty) = self.into_preserved(loss.now);
        let most_collections = gc_limit(blocks_per_die, ftl.properties().gc_steps);
        let mut dump = Dumping {
            payload,
            capacitor,
            charge,
            timing,
            units: loss.units,
            open: vec![None; report.went_on.len()],
            busy: report.went_on.clone(),
            most_collections,
            done: Dump::default(),
        };
        let mut goes_on = true;
        if report.is_cut_short || is_ahead {
            ftl = fresh();
            goes_on = dump.put_in_order(&mut *ftl)?;
        }
        let pages = dump.payload.unsaved(&dirty);
        for page in &pages {
            goes_on = goes_on && dump.program(&mut *ftl, *page, loss.now)?;
        }
        dump.complete_units()?;
        dump.done.left = pages.len() as u64 - dump.done.pages;
        dump.done.energy = capacitor.charge - dump.charge;
        dump.done.time = dump.busy.iter().copied().max().unwrap_or(0);
        let done = dump.done;
        payload.forget_ram();
        Ok((report, Some(done)))
    }
}

/// A dump in progress.
struct Dumping<'a> {
    payload: &'a mut Payload,
    capacitor: &'a Capacitor,
    charge: u64,
    timing: &'a Timing,
    /// The program units, if pages are programmed in units, and the ticks of a first pass.
    units: Option<(Units, Ticks)>,
    /// By die, the physical page of the latest program from RAM and the use of its block, if the unit of this program
    /// is not complete. The energy of the whole unit was spent with its first page.
    open: Vec<Option<(Ppn, Purpose)>>,
    /// By die, the ticks for which the die has worked since the loss of power.
    busy: Vec<Ticks>,
    most_collections: u32,
    done: Dump,
}

impl Dumping<'_> {
    /// Spends the energy of `operations` of `die`. Returns whether the energy was sufficient.
    fn pay(&mut self, die: u32, operations: &Operations) -> bool {
        let energy = self.capacitor.energy.of_all(operations);
        self.spend(die, energy, self.time_of(operations))
    }

    fn spend(&mut self, die: u32, energy: u64, time: Ticks) -> bool {
        let Some(left) = self.charge.checked_sub(energy) else {
            return false;
        };
        self.charge = left;
        self.busy[die as usize] += time;
        true
    }

    /// Ticks of `operations`. The pages of a unit are transferred one by one, and the cells are programmed when the
    /// last page has arrived.
    fn time_of(&self, operations: &Operations) -> Ticks {
        let Some((units, first_pass)) = self.units else {
            return self.timing.parallel(operations);
        };
        let passes = self.timing.program + Ticks::from(units.passes - 1) * first_pass;
        let times = operations.all().iter().map(|operation| {
            let alone = self.timing.of(*operation);
            match operation.kind {
                Kind::Program if !operation.one_bit => {
                    let cells = if units.is_last(operation.at) {
                        passes
                    } else {
                        0
                    };
                    alone - self.timing.program + cells
                }
                _ => alone,
            }
        });
        times.sum()
    }

    /// [`Dumping::pay`] for the program of a page from RAM. With the first page of a unit, the energy for all passes
    /// over the whole unit is spent.
    fn pay_page(&mut self, die: u32, operations: &Operations) -> bool {
        let Some((units, _)) = self.units else {
            return self.pay(die, operations);
        };
        let mut energy: u64 = 0;
        let mut open = self.open[die as usize];
        for (operation, detail) in operations.all().iter().zip(operations.details()) {
            let alone = self.capacitor.energy.of(operation);
            if operation.kind != Kind::Program || operation.one_bit {
                energy = energy.saturating_add(alone);
                continue;
            }
            if !open.is_some_and(|(open, _)| units.are_together(open, operation.at)) {
                let pages = u64::from(units.left_from(operation.at) * units.passes);
                energy = energy.saturating_add(alone.saturating_mul(pages));
            }
            let purpose = detail.purpose.filter(|_| !units.is_last(operation.at));
            open = purpose.map(|purpose| (operation.at, purpose));
        }
        let is_paid = self.spend(die, energy, self.time_of(operations));
        if is_paid {
            self.open[die as usize] = open;
        }
        is_paid
    }

    /// Completes with fillers the units that pages from RAM have begun. The energy for the fillers is spent already.
    /// The fillers do not come from the layer, because its map may include a write for which the energy was not
    /// sufficient.
    fn complete_units(&mut self) -> Result<(), MountError> {
        let Some((units, _)) = self.units else {
            return Ok(());
        };
        let mut operations = Operations::detailed();
        for die in 0..self.open.len() as u32 {
            let Some((Ppn(at), purpose)) = self.open[die as usize].take() else {
                continue;
            };
            for page in 1..units.left_from(Ppn(at)) {
                operations.push_filler(Ppn(at + page), || purpose);
            }
            self.busy[die as usize] += self.time_of(&operations);
            self.carry_out(die, &operations)?;
            operations.clear();
        }
        Ok(())
    }

    /// Mounts the new layer `ftl` on the contents of the medium, because the state of the old layer includes
    /// operations that the flash has not completed. Returns whether the energy was sufficient. The mount costs no
    /// energy for reads, because the controller knows the place of each page.
    fn put_in_order(&mut self, ftl: &mut dyn Ftl) -> Result<bool, MountError> {
        let medium = self.payload.medium_mut();
        medium.forget_places();
        let scan = take_over(ftl, medium);
        let mut operations = Operations::detailed();
        for die in 0..scan.dies.len() as u32 {
            let mut steps = Steps::of(die, self.payload.medium_mut());
            while steps.next(ftl, &mut operations)? {
                if !self.pay(die, &operations) {
                    return Ok(false);
                }
                self.carry_out(die, &operations)?;
                operations.clear();
            }
        }
        Ok(true)
    }

    fn carry_out(&mut self, die: u32, operations: &Operations) -> Result<(), MountError> {
        let medium = self.payload.medium_mut();
        let started = medium.start_whole(die, operations, &[]);
        started.map_err(MountError::Refused)?;
        medium.end(die);
        Ok(())
    }

    /// Programs `page` with its contents in RAM, after any garbage collection that the layer needs before this
    /// program. Returns whether energy and room were sufficient.
    fn program(&mut self, ftl: &mut dyn Ftl, page: Lpn, now: Ticks) -> Result<bool, MountError> {
        let busy = &self.busy;
        let load = |die: u32| u32::try_from(busy[die as usize]).unwrap_or(u32::MAX);
        let die = ftl.place(page, &load);
        let mut operations = Operations::detailed();
        for _ in 0..self.most_collections {
            let at = ftl.collects_at(die);
            match ftl.collect_garbage(at, now, &mut operations) {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => return Ok(false),
            }
            if !self.pay(at, &operations) {
                return Ok(false);
            }
            self.carry_out(at, &operations)?;
            operations.clear();
            // The collection has completed all incomplete units of the die before its erases.
            self.open[at as usize] = None;
        }
        if ftl.write(PageWrite::host(page), &mut operations).is_err()
            || !self.pay_page(die, &operations)
        {
            return Ok(false);
        }
        let saved = self.payload.save(die, page, &operations);
        saved.map_err(MountError::Refused)?;
        self.done.pages += 1;
        Ok(true)
    }
}
