//! The bytes of a device at a loss of power: data that are lost, pages in RAM that a capacitor saves, and the mount.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use destage_base::{Lpn, Random, Ticks};
use destage_ftl::Ftl;
use destage_ftl::mount::{MountError, MountReport, mount};
use destage_nand::medium::{BadDrive, CutReport, ImageKind, Medium, Refusal};
use destage_nand::{Operations, Timing};

use super::effect::{Effect, Leaving};
use super::table::PageTable;
use super::{Payload, image_of};

impl Payload {
    /// The power fails. The contents of RAM are lost, and the unfinished operations of each step in service are cut
    /// off. `elapsed` gives the ticks since the step in service at a die began.
    pub fn cut(
        &mut self,
        elapsed: impl Fn(u32) -> Ticks,
        timing: &Timing,
        bad: &BadDrive,
        random: &mut Random,
    ) -> CutReport {
        self.clear_ram();
        self.medium.cut(elapsed, timing, bad, random)
    }

    /// Mounts `ftl` after a [cut](Self::cut). `ftl` is a new layer without contents, of the kind that was in use
    /// before the cut. A device with this layer and an empty buffer can then use the payload. `watch` is called for
    /// each step that repairs blocks, while the step is in service on a die.
    ///
    /// # Errors
    /// If the layer finds no room for its repairs.
    pub fn mount(
        &mut self,
        ftl: &mut dyn Ftl,
        timing: &Timing,
        watch: &mut dyn FnMut(&Medium, u32),
    ) -> Result<MountReport, MountError> {
        let report = mount(ftl, &mut self.medium, timing, watch)?;
        self.version = report.version;
        Ok(report)
    }

    /// The medium, for callers that program pages without the device.
    pub(crate) fn medium_mut(&mut self) -> &mut Medium {
        &mut self.medium
    }

    /// The pages in RAM whose newest contents are not on flash. First come pages that were emitted, in the order of
    /// emission, then pages of `dirty`, in the order of that list. Each page occurs once.
    pub(crate) fn unsaved(&self, dirty: &[Lpn]) -> Vec<Lpn> {
        let is_wanted = |page: Lpn| {
            let newest = self.newest(page);
            newest.kind != ImageKind::Fill && !self.is_on_flash(page, newest.version)
        };
        let pages = self.leaving.iter();
        let emitted =
            pages.filter_map(|(page, leaving)| Some((self.first_unsaved(page, leaving)?, page)));
        let mut emitted: Vec<(u64, Lpn)> = emitted.filter(|(_, page)| is_wanted(*page)).collect();
        emitted.sort_unstable();
        let mut named: BTreeSet<Lpn> = BTreeSet::new();
        let all = emitted.into_iter().map(|(_, page)| page);
        let all = all.chain(dirty.iter().copied().filter(|page| is_wanted(*page)));
        all.filter(|page| named.insert(*page)).collect()
    }

    /// The number of the first emitted program of `page` that is not on flash; `None` if there is no such program.
    fn first_unsaved(&self, page: Lpn, leaving: &Leaving) -> Option<u64> {
        let mut effects = leaving.effects.iter();
        let is_unsaved = |effect: &Effect| match effect {
            Effect::Program(contents) => !self.is_on_flash(page, contents.version),
            Effect::Pad(_) | Effect::Trim(_) => false,
        };
        let first = effects.find(|emitted| is_unsaved(&emitted.effect));
        first.map(|emitted| emitted.number)
    }

    fn is_on_flash(&self, page: Lpn, version: u64) -> bool {
        let newest = self.medium.newest_spare(page);
        newest.is_some_and(|spare| spare.version >= version)
    }

    /// Programs the contents of `page` from RAM. `operations` are the operations of `die` for this program, which end
    /// at once.
    pub(crate) fn save(
        &mut self,
        die: u32,
        page: Lpn,
        operations: &Operations,
    ) -> Result<(), Refusal> {
        let contents = self.newest(page);
        let image = image_of(page, &contents);
        self.medium.start_whole(die, operations, &[image])?;
        self.medium.end(die);
        Ok(())
    }

    /// Called when the capacitor is empty. The contents of RAM are lost, and the places of all pages are unknown
    /// until the next mount.
    pub(crate) fn forget_ram(&mut self) {
        self.clear_ram();
        self.medium.forget_places();
    }

    fn clear_ram(&mut self) {
        self.residents = PageTable::new();
        self.leaving = PageTable::new();
    }
}
