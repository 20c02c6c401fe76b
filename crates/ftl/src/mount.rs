//! A mount rebuilds the state of a layer from the contents of the flash after a loss of power, and repairs the
//! blocks.
//!
//! A mount reads the spare area of every programmed page, ignores unreadable pages, and uses for each logical page
//! the copy with the highest version. [`Ftl::mount`] builds the state of a layer from these copies. The repairs
//! follow in steps ([`Ftl::mount_step`]), so that the caller can also cut the power during the repairs.

use destage_base::Ticks;
use destage_nand::found::Scan;
use destage_nand::medium::{Medium, Refusal};
use destage_nand::operation::{Operations, Tally};
use destage_nand::timing::Timing;

use crate::{Ftl, NoSpace, Shortage};

/// The reason why a mount has failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MountError {
    /// The layer has too few free blocks for its repairs.
    Full(NoSpace),
    /// The layer emitted an operation that flash cannot do, which is a bug in the layer.
    Refused(Refusal),
}

/// Duration and operations of a mount.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MountReport {
    /// Duration in ticks; all dies are mounted in parallel.
    pub time: Ticks,
    /// Spare areas read on the die with the most programmed pages.
    pub spare_reads: u64,
    /// The operations of the repairs.
    pub tally: Tally,
    /// The highest version that could be read; the next write gets a higher version.
    pub version: u64,
}

/// Builds the state of `ftl`, which was just built without contents, from the contents of `medium`, on which no
/// operation is in service. The caller then has to run the repair [`Steps`], as [`mount`] does.
pub fn take_over(ftl: &mut dyn Ftl, medium: &mut Medium) -> Scan {
    let scan = medium.scan();
    medium.expect_places(&scan);
    ftl.mount(&scan, &mut |place| medium.settle(&place));
    medium.keep_findings();
    scan
}

/// The repair steps of one die. The number of steps is limited. A layer that exceeds the limit has too few free
/// blocks, and [`Steps::next`] returns an error.
pub struct Steps {
    die: u32,
    done: u32,
    most: u32,
}

impl Steps {
    /// The steps of `die` of `medium`. The limit is four steps for each page of the die: a layer with enough free
    /// blocks needs no more.
    #[must_use]
    pub fn of(die: u32, medium: &Medium) -> Self {
        Self {
            die,
            done: 0,
            most: medium.pages_per_die().saturating_mul(4),
        }
    }

    /// Asks `ftl` for its next step and puts it into `operations`; returns whether there was a step.
    ///
    /// # Errors
    /// [`MountError::Full`] if the layer has too few free blocks or exceeded the limit of steps.
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

/// Mounts `ftl`, which was just built without contents, on `medium`, on which no operation is in service. `watch`
/// is called for each repair step, with the die, while the step is in service.
///
/// # Errors
/// If the layer has too few free blocks, or emitted an operation that flash refuses.
pub fn mount(
    ftl: &mut dyn Ftl,
    medium: &mut Medium,
    timing: &Timing,
    watch: &mut dyn FnMut(&Medium, u32),
) -> Result<MountReport, MountError> {
    let scan = take_over(ftl, medium);
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
