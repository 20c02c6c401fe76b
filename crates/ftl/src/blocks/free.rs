//! The free blocks of a die, and the order in which they are used.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

use destage_base::archive::{Archive, Archived, Damaged};
use destage_base::archived;

use destage_nand::array::BlockSlot;

/// The order in which the free blocks of a plane are used.
#[derive(Clone)]
enum Queue {
    /// The block that has been free longest is used first.
    Oldest(VecDeque<BlockSlot>),
    /// The least worn block is used first; among equally worn blocks, the one that has been free longest. An entry
    /// consists of the erase count, a number that grows with each block that becomes free, and the block.
    LeastWorn(BTreeSet<(u32, u64, BlockSlot)>),
}

impl Archived for Queue {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        match self {
            Self::Oldest(queue) => queue.archive(archive),
            Self::LeastWorn(queue) => queue.archive(archive),
        }
    }
}

#[derive(Clone)]
struct Plane {
    /// The blocks `fresh..end` were free from the start and have not been used yet.
    fresh: BlockSlot,
    end: BlockSlot,
    returned: Queue,
}

archived!(Plane {
    fresh,
    end,
    returned
});

/// Free blocks by plane. Blocks that were free from the start are used first, in ascending order.
#[derive(Clone)]
pub(super) struct FreePool {
    planes: Vec<Plane>,
    count: u32,
    returns: u64,
}

archived!(FreePool {
    planes,
    count,
    returns
});

impl FreePool {
    /// The pool of a die with `planes` planes of `blocks_per_plane` blocks. All blocks are free except
    /// `full_blocks` blocks: the first block of each plane in turn, then the second block of each plane, and so
    /// on.
    pub fn new(planes: u32, blocks_per_plane: u32, full_blocks: u32, least_worn: bool) -> Self {
        let plane = |plane: u32| {
            let full = (full_blocks + planes - 1 - plane) / planes;
            Plane {
                fresh: plane * blocks_per_plane + full,
                end: (plane + 1) * blocks_per_plane,
                returned: if least_worn {
                    Queue::LeastWorn(BTreeSet::new())
                } else {
                    Queue::Oldest(VecDeque::new())
                },
            }
        };
        Self {
            planes: (0..planes).map(plane).collect(),
            count: planes * blocks_per_plane - full_blocks,
            returns: 0,
        }
    }

    /// Makes no block free.
    pub fn clear(&mut self) {
        for plane in &mut self.planes {
            plane.fresh = plane.end;
            match &mut plane.returned {
                Queue::Oldest(queue) => queue.clear(),
                Queue::LeastWorn(queue) => queue.clear(),
            }
        }
        self.count = 0;
    }

    /// Number of free blocks.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Removes and returns a free block of `plane`. If `plane` has none, the block is from the next plane that has
    /// one.
    pub fn take(&mut self, plane: u32) -> Option<BlockSlot> {
        let planes = self.planes.len();
        let block = (0..planes)
            .map(|step| (plane as usize + step) % planes)
            .find_map(|plane| self.planes[plane].take())?;
        self.count -= 1;
        Some(block)
    }

    /// Makes `block` of `plane`, which was erased `erases` times, free.
    #[inline]
    pub fn put(&mut self, plane: u32, block: BlockSlot, erases: u32) {
        self.count += 1;
        self.returns += 1;
        match &mut self.planes[plane as usize].returned {
            Queue::Oldest(queue) => queue.push_back(block),
            Queue::LeastWorn(queue) => {
                queue.insert((erases, self.returns, block));
            }
        }
    }

    /// Removes the most worn free block of all planes and returns it with its erase count. Among equally worn
    /// blocks, the one that has been free longest is returned. `None` if free blocks are not ordered by wear, or
    /// if all free blocks have been free from the start.
    pub fn take_most_worn(&mut self) -> Option<(BlockSlot, u32)> {
        let most = |plane: &Plane| match &plane.returned {
            Queue::LeastWorn(queue) => {
                let (erases, ..) = *queue.last()?;
                queue.range((erases, 0, 0)..).next().copied()
            }
            Queue::Oldest(_) => None,
        };
        let (erases, rank, block) = self
            .planes
            .iter()
            .filter_map(most)
            .max_by_key(|(erases, rank, _)| (*erases, core::cmp::Reverse(*rank)))?;
        for plane in &mut self.planes {
            if let Queue::LeastWorn(queue) = &mut plane.returned {
                queue.remove(&(erases, rank, block));
            }
        }
        self.count -= 1;
        Some((block, erases))
    }
}

impl Plane {
    fn take(&mut self) -> Option<BlockSlot> {
        if self.fresh < self.end {
            self.fresh += 1;
            return Some(self.fresh - 1);
        }
        match &mut self.returned {
            Queue::Oldest(queue) => queue.pop_front(),
            Queue::LeastWorn(queue) => queue.pop_first().map(|(.., block)| block),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(pool: &mut FreePool, plane: u32) -> Vec<BlockSlot> {
        core::iter::from_fn(|| pool.take(plane)).collect()
    }

    #[test]
    fn fresh_blocks_come_first_and_then_the_oldest() {
        // Planes of 3 blocks; blocks 0 and 1 of plane 0 and block 0 of plane 1 are full.
        let mut pool = FreePool::new(2, 3, 3, false);
        assert_eq!(pool.count(), 3);
        pool.put(0, 1, 5);
        pool.put(0, 0, 1);
        assert_eq!(drain(&mut pool, 0), [2, 1, 0, 4, 5]);
        assert_eq!(pool.count(), 0);
    }

    #[test]
    fn the_least_worn_comes_first_and_the_most_worn_on_request() {
        let mut pool = FreePool::new(1, 4, 4, true);
        for (block, erases) in [(0, 7), (1, 2), (2, 7), (3, 5)] {
            pool.put(0, block, erases);
        }
        assert_eq!(pool.take_most_worn(), Some((0, 7)));
        assert_eq!(drain(&mut pool, 0), [1, 3, 2]);
    }
}
