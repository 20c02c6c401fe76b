//! Fast paths for the most frequent kinds of writes.

use super::Die;
use crate::page::shape::NONE;
use destage_nand::array::Ppn;
use destage_nand::operation::{Cause, Operations};

impl Die {
    /// Writes logical `page` for the host if this is a plain overwrite. Three conditions must hold: the page has
    /// contents; it may be written to the first of the pools with the most room; and the write does not fill the
    /// open block of that pool. Otherwise returns `false`, and the caller has to use [`Die::next_pool`] and
    /// [`Die::write`], which work for any write but take twice as long. This method must not be called on a die
    /// that [limits its pools](Die::limits_pools).
    #[inline(always)]
    pub fn overwrite(&mut self, page: u32, cause: Cause, operations: &mut Operations) -> bool {
        debug_assert!(!self.limits_pools(), "valid pages of pools are not counted");
        let Some(index) = self.first_with_most_room() else {
            return false;
        };
        let page_bits = self.shape.page_bits;
        let Some(home) = self.map.touched_mut(page as usize) else {
            return false;
        };
        let left_page = *home;
        if left_page == NONE {
            return false;
        }
        let left_block = left_page >> page_bits;
        let Some(left) = self.blocks.touched_mut(left_block as usize) else {
            return false;
        };
        let pool = &mut self.pools[index as usize];
        let (block, place) = (pool.active_block, pool.active_page);
        if place + 1 >= self.shape.data_pages {
            return false;
        }
        let ppn = block << page_bits | place;
        // The condition of `Pool::is_behind` must hold: the new place is in a block that was opened later, or at a
        // higher page number in the same block.
        if pool.active_sequence <= left.sequence && (block != left_block || ppn <= left_page) {
            return false;
        }
        // The owner written here only counts once the page is mapped to this place.
        let Some(owner) = self.owner.touched_mut(ppn as usize) else {
            return false;
        };
        *owner = page;
        if !self.nand.program_next(block, place) {
            return false;
        }
        *home = ppn;
        left.valid -= 1;
        pool.active_page = place + 1;
        self.search.front.lower_first(index);
        self.move_pointer_behind(index as usize);
        operations.push_host_program(cause, Ppn(ppn), || super::Stream::Host.purpose());
        self.victims.lower(left_block);
        self.blocks.get_mut(block as usize).valid += 1;
        true
    }

    /// Writes logical `page`, which has no contents yet, for the host under the same conditions as
    /// [`Die::overwrite`]. Returns `false` if these conditions do not hold.
    #[inline(always)]
    pub fn write_first(&mut self, page: u32, cause: Cause, operations: &mut Operations) -> bool {
        let Some(index) = self.first_with_most_room() else {
            return false;
        };
        let pool = &mut self.pools[index as usize];
        let (block, place) = (pool.active_block, pool.active_page);
        if place + 1 >= self.shape.data_pages || pool.valid >= self.rules.most_valid {
            return false;
        }
        let ppn = block << self.shape.page_bits | place;
        let home = self.map.touched_mut(page as usize);
        let (Some(home), Some(owner)) = (home, self.owner.touched_mut(ppn as usize)) else {
            return false;
        };
        // The owner written here only counts once the page is mapped to this place.
        *owner = page;
        if !self.nand.program_next(block, place) {
            return false;
        }
        *home = ppn;
        pool.active_page = place + 1;
        if self.rules.most_valid != u32::MAX {
            pool.valid += 1;
        }
        self.search.front.lower_first(index);
        self.move_pointer_behind(index as usize);
        operations.push_host_program(cause, Ppn(ppn), || super::Stream::Host.purpose());
        self.blocks.get_mut(block as usize).valid += 1;
        true
    }

    /// Among the pools with the most room, the first from the rotating pointer on; `None` if these pools are not
    /// known.
    #[inline(always)]
    fn first_with_most_room(&mut self) -> Option<u32> {
        let pages_per_block = self.shape.pages_per_block;
        if self.search.front.pools() == 0 && !self.search.front.find(&self.pools, pages_per_block) {
            return None;
        }
        let all = self.search.front.pools();
        let from_pointer = all & u64::MAX << self.search.pointer;
        let first = if from_pointer == 0 { all } else { from_pointer };
        Some(first.trailing_zeros())
    }
}

#[cfg(test)]
mod tests {
    use destage_base::{Lpn, Random};

    use super::super::Stream;
    use crate::page::tests::every_kind;
    use crate::page::{AllocationPool, PageFtl};
    use crate::{Ftl, PageWrite};
    use destage_nand::operation::{Cause, Operations};

    #[test]
    fn writes_without_a_comparison_go_where_one_puts_them() {
        let mut operations = Operations::default();
        // Writes that the fast paths served: of pages without contents, and of pages with contents.
        let mut plain = [0, 0];
        for (seed, config) in (0..).zip(every_kind()) {
            if config.room.allocation_pool == AllocationPool::Plane {
                continue;
            }
            let mut config = config;
            config.below.filled = false;
            let mut ftl = PageFtl::new(&config).unwrap();
            let mut random = Random::new(seed);
            for now in 0..2000 {
                let page = Lpn(random.below(ftl.pages()));
                let number = ftl.die_of(page);
                while ftl.collect_garbage(number, now, &mut operations).unwrap() {}
                operations.clear();
                let (die, within) = ftl.locate(page);
                let mut compared = ftl.die(die).clone();
                let old = compared.old_copy(within);
                let pool = compared.choose_pool(within, old, false, |_| 0);
                let target = compared.next_of(pool, Stream::Host).unwrap();
                compared
                    .write(pool, within, old, Cause::Host, &mut operations)
                    .unwrap();
                let mut tried = ftl.die(die).clone();
                let is_plain = match old {
                    None => tried.write_first(within, Cause::Host, &mut operations),
                    Some(_) if tried.limits_pools() => false,
                    Some(_) => tried.overwrite(within, Cause::Host, &mut operations),
                };
                plain[usize::from(old.is_some())] += u32::from(is_plain);
                ftl.write(PageWrite::host(page), &mut operations).unwrap();
                let die = ftl.die(die);
                assert_eq!(die.map.get(within as usize), target.0, "{config:?} {now}");
                assert_eq!(die.search.pointer, compared.search.pointer);
                for (pool, other) in die.pools.iter().zip(&compared.pools) {
                    let of = |pool: &super::super::Pool| (pool.active_page, pool.valid);
                    assert_eq!(of(pool), of(other), "{config:?} {now}");
                }
            }
        }
        assert!(plain.iter().all(|count| *count > 500), "{plain:?}");
    }
}
