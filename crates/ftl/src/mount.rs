//! A mount: the state of a layer after a loss of power, from what is found on flash, and the repairs.
//!
//! A mount reads the spare area of every programmed page, ignores unreadable pages, and takes for each logical page the copy with the highest
//! version. [`Ftl::mount`] builds the state of a layer from them; repairs are made step by step afterwards
//! ([`Ftl::mount_step`]), so that the power may fail there as well.

use destage_base::Ticks;
use destage_nand::found::Scan;
use destage_nand::medium::{Medium, Refusal};
use destage_nand::operation::{Operations, Tally};
use destage_nand::timing::Timing;

use crate::{Ftl, NoSpace, Shortage};

/// Why a mount has failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MountError {
    /// The layer cannot be mounted.
    Unsupported,
    /// The findings leave no room for repairs.
    Full(NoSpace),
    /// The layer does something that flash cannot do: a bug in it.
    Refused(Refusal),
}

/// The time and operations of a mount.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MountReport {
    /// How long it took, dies side by side.
    pub time: Ticks,
    /// Spare areas read on the die that had most to read.
    pub spare_reads: u64,
    /// The repairs that were made.
    pub tally: Tally,
    /// The highest version that could be read: the next one is above it.
    pub version: u64,
}

/// Makes `ftl`, which was just built without contents, the layer of the contents of `medium`, on which no operation is in service. Steps that put
/// blocks in order may have to follow, as in [`mount`].
///
/// # Errors
/// If the layer cannot be mounted.
pub fn take_over(ftl: &mut dyn Ftl, medium: &mut Medium) -> Result<Scan, MountError> {
    let scan = medium.scan();
    medium.expect_places(&scan);
    ftl.mount(&scan, &mut |place| medium.settle(&place))?;
    medium.make_found_last();
    Ok(scan)
}

/// The steps in which a die is put in order. A layer that never finishes has no room, and gets that error.
pub struct Steps {
    die: u32,
    done: u32,
    most: u32,
}

impl Steps {
    /// The steps of `die` of `medium`: a layer with room needs none of them more than four times for each of its pages.
    #[must_use]
    pub fn of(die: u32, medium: &Medium) -> Self {
        Self {
            die,
            done: 0,
            most: medium.pages_per_die().saturating_mul(4),
        }
    }

    /// Lets `ftl` say its next step in `operations`; whether there was one.
    ///
    /// # Errors
    /// If the layer found no room.
    pub fn next(
        &mut self,
        ftl: &mut dyn Ftl,
        operations: &mut Operations,
    ) -> Result<bool, MountError> {
        if self.done == self.most {
            let endless = Shortage::OnlyCollects {
                die: self.die,
                times: self.done,
            };
            return Err(MountError::Full(endless.into()));
        }
        self.done += 1;
        let has_done = ftl.mount_step(self.die, operations);
        has_done.map_err(MountError::Full)
    }
}

/// Mounts `ftl`, which was just built without contents, on `medium`, on which nothing is in service. `watch` sees each step
/// that puts something in order, while it is in service on the die it gets.
///
/// # Errors
/// If the layer cannot be mounted, or found no room.
pub fn mount(
    ftl: &mut dyn Ftl,
    medium: &mut Medium,
    timing: &Timing,
    watch: &mut dyn FnMut(&Medium, u32),
) -> Result<MountReport, MountError> {
    let scan = take_over(ftl, medium)?;
    let reads = scan.reads();
    let mut report = MountReport {
        time: reads * (timing.read + timing.sector_transfer),
        spare_reads: reads,
        tally: Tally::default(),
        version: scan.version(),
    };
    let mut operations = Operations::detailed();
    let mut longest = 0;
    let dies = scan.dies.len() as u32;
    drop(scan);
    for die in 0..dies {
        let mut time = 0;
        operations.set_die(die);
        let mut steps = Steps::of(die, medium);
        while steps.next(ftl, &mut operations)? {
            medium
                .start_whole(die, &operations, &[])
                .map_err(MountError::Refused)?;
            watch(medium, die);
            medium.end(die);
            report.tally.add(&operations);
            time += timing.parallel(&operations);
            operations.clear();
        }
        longest = longest.max(time);
    }
    report.time += longest;
    Ok(report)
}
