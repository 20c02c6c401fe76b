//! A device of elements that each map their own blocks: logical block `b` lives on element `b mod elements`,
//! with its log blocks and what it is merged into.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use destage_base::{Lpn, Ticks};

use super::{Blocks, LogicalPage};
use crate::divide::Divider;
use crate::ftl::{Ftl, NoSpace};
use crate::geometry::Geometry;
use crate::nand::Wear;
use crate::operation::{Cause, Operations};

/// One element of such a device. Everything it is asked is about its own blocks.
pub(in crate::ftl) trait Element {
    /// Reads `page`; no operation if it has no contents.
    fn read(&self, page: LogicalPage, operations: &mut Operations);

    /// Writes `page`.
    ///
    /// # Errors
    /// [`NoSpace`] if a free block is needed and none is left.
    fn write(
        &mut self,
        page: LogicalPage,
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace>;

    /// Pages one after the other from which on a write is long, if that makes a difference.
    fn long_write_pages(&self) -> Option<u32> {
        None
    }

    /// Writes `page` as part of a long write.
    ///
    /// # Errors
    /// [`NoSpace`] if a free block is needed and none is left.
    fn write_long(
        &mut self,
        page: LogicalPage,
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        self.write(page, cause, operations)
    }

    /// The contents of `page` are not needed any more.
    fn trim(&mut self, page: LogicalPage, operations: &mut Operations);

    /// Whether `page` has contents.
    fn is_written(&self, page: LogicalPage) -> bool;

    /// Its physical blocks.
    fn blocks(&self) -> &Blocks;

    /// The same, to change.
    fn blocks_mut(&mut self) -> &mut Blocks;

    /// RAM its maps would take in a device, in bytes.
    fn map_bytes(&self) -> u64;

    /// Figures of the device that are one sum over another: the name, and those of the sums.
    const RATIOS: &'static [[&'static str; 3]] = &[];

    /// Figures only this layer has, by name; the device's are their sums.
    fn report(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        let _ = tell;
    }

    /// Begins these figures anew.
    fn reset_figures(&mut self) {}
}

/// All elements. See the [module](self).
pub(in crate::ftl) struct Striped<E> {
    elements: Vec<E>,
    pages_per_block: Divider,
    over_elements: Divider,
    pages: u64,
    has_merges: bool,
}

impl<E: Element> Striped<E> {
    /// A device of elements with `logical_blocks` each, made by `make` from their number.
    ///
    /// # Errors
    /// What `make` says, or that the device has too many pages.
    pub fn new(
        geometry: &Geometry,
        logical_blocks: u32,
        has_merges: bool,
        make: impl FnMut(u32) -> Result<E, String>,
    ) -> Result<Self, String> {
        let data_pages = geometry.data_pages();
        let pages =
            u64::from(logical_blocks) * u64::from(data_pages) * u64::from(geometry.elements);
        if pages >= u64::from(u32::MAX) {
            return Err(format!(
                "the device has {pages} pages; at most 2^32 - 2 are supported"
            ));
        }
        Ok(Self {
            elements: (0..geometry.elements).map(make).collect::<Result<_, _>>()?,
            pages_per_block: Divider::new(data_pages),
            over_elements: Divider::new(geometry.elements),
            pages,
            has_merges,
        })
    }

    #[inline]
    fn locate(&self, page: Lpn) -> (usize, LogicalPage) {
        let (block, offset) = self.pages_per_block.split(page.0 as u32);
        let (block, element) = self.over_elements.split(block);
        (element as usize, LogicalPage { block, offset })
    }
}

impl<E: Element> Ftl for Striped<E> {
    fn pages(&self) -> u64 {
        self.pages
    }

    #[inline]
    fn element_of(&self, page: Lpn) -> u32 {
        self.locate(page).0 as u32
    }

    fn read(&mut self, page: Lpn, operations: &mut Operations) {
        let (element, page) = self.locate(page);
        self.elements[element].read(page, operations);
    }

    fn write(
        &mut self,
        page: Lpn,
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let (element, page) = self.locate(page);
        self.elements[element].write(page, cause, operations)
    }

    fn long_write_pages(&self) -> Option<u32> {
        self.elements.first()?.long_write_pages()
    }

    fn write_long(
        &mut self,
        page: Lpn,
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let (element, page) = self.locate(page);
        self.elements[element].write_long(page, cause, operations)
    }

    fn trim(&mut self, page: Lpn, operations: &mut Operations) {
        let (element, page) = self.locate(page);
        self.elements[element].trim(page, operations);
    }

    fn is_written(&self, page: Lpn) -> bool {
        let (element, page) = self.locate(page);
        self.elements[element].is_written(page)
    }

    /// Merging is part of the write that needs it.
    fn clean(&mut self, _: u32, _: Ticks, _: &mut Operations) -> Result<bool, NoSpace> {
        Ok(false)
    }

    fn has_merges(&self) -> bool {
        self.has_merges
    }

    fn wear(&self) -> Wear {
        self.elements
            .iter()
            .map(|element| element.blocks().wear())
            .fold(Wear::default(), Wear::and)
    }

    fn erases(&self, tell: &mut dyn FnMut(u32, u32, u32)) {
        for (element, state) in self.elements.iter().enumerate() {
            for (block, erases) in state.blocks().nand.erases().enumerate() {
                tell(element as u32, block as u32, erases);
            }
        }
    }

    fn reset_counters(&mut self) {
        for element in &mut self.elements {
            element.blocks_mut().reset_counters();
            element.reset_figures();
        }
    }

    fn map_bytes(&self) -> u64 {
        self.elements.iter().map(Element::map_bytes).sum()
    }

    fn report(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        let free_min = self
            .elements
            .iter()
            .map(|element| element.blocks().free_min());
        if let Some(fewest) = free_min.min() {
            tell("free_blocks_min", f64::from(fewest));
        }
        let mut sums: Vec<(&'static str, f64)> = Vec::new();
        for element in &self.elements {
            element.report(&mut |name, value| match sums
                .iter_mut()
                .find(|(other, _)| *other == name)
            {
                Some((_, sum)) => *sum += value,
                None => sums.push((name, value)),
            });
        }
        let sum = |wanted: &str| sums.iter().find(|(name, _)| *name == wanted);
        for [name, above, below] in E::RATIOS {
            if let (Some((_, above)), Some((_, below))) = (sum(above), sum(below))
                && *below > 0.0
            {
                tell(name, above / below);
            }
        }
        sums.iter().for_each(|(name, value)| tell(name, *value));
    }
}
