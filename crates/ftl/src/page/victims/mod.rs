//! The sealed blocks of a die, ordered so that each policy finds its victim without a look at every block.

mod aged;
mod drawn;
mod fewest;

use alloc::vec::Vec;

use destage_base::Random;
use destage_base::archive::{Archive, Archived, Damaged};
use destage_base::archived;
use destage_base::list::List;

use self::aged::Aged;
use self::drawn::Drawn;
pub use self::fewest::Fewest;
use self::fewest::closed;
use crate::page::shape::Shape;

/// The order in which candidates are collected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// By valid pages, then by block number.
    FewestNumbered,
    /// By valid pages, then by the time when they were closed.
    FewestClosed,
    /// By the time when they were closed.
    Closed,
    /// By the ratio of benefit to cost.
    Aged,
    /// By valid pages among a number of randomly drawn blocks.
    Drawn {
        /// Number of blocks that are drawn.
        draws: u32,
        /// Seed of the draws.
        seed: u64,
    },
}

#[derive(Clone)]
enum Table {
    FewestNumbered(Fewest<u16>),
    FewestClosed(Fewest<u64>),
    /// A list per pool; blocks are counted from the first block of the pool.
    Closed(Vec<List<u32>>),
    Aged(Aged),
    Drawn(Drawn),
}

impl Archived for Table {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        match self {
            Self::FewestNumbered(table) => table.archive(archive),
            Self::FewestClosed(table) => table.archive(archive),
            Self::Closed(lists) => lists.archive(archive),
            Self::Aged(table) => table.archive(archive),
            Self::Drawn(table) => table.archive(archive),
        }
    }
}

/// All candidates of a die: sealed blocks that are not worn out.
#[derive(Clone)]
pub struct Victims {
    table: Table,
    blocks_per_pool: u32,
    /// Planes per pool, if the table keeps planes separately.
    planes: u32,
    /// Number of blocks closed so far.
    closings: u64,
}

archived!(Victims { table, closings } fixed { blocks_per_pool, planes });

impl Victims {
    /// A table without candidates, for `pools` pools of `blocks_per_pool` blocks. Each pool has `planes` planes,
    /// and each block `pages` data pages.
    pub fn none(order: Order, pools: u32, blocks_per_pool: u32, planes: u32, pages: u32) -> Self {
        Self {
            table: match order {
                Order::FewestNumbered => {
                    Table::FewestNumbered(Fewest::none(pools * planes, blocks_per_pool / planes))
                }
                Order::FewestClosed => Table::FewestClosed(Fewest::none(pools, blocks_per_pool)),
                Order::Closed => {
                    Table::Closed((0..pools).map(|_| List::new(blocks_per_pool)).collect())
                }
                Order::Aged => Table::Aged(Aged::none(pools, blocks_per_pool, pages)),
                Order::Drawn { draws, seed } => {
                    Table::Drawn(Drawn::none(pools, blocks_per_pool, draws, seed))
                }
            },
            blocks_per_pool,
            planes,
            closings: 0,
        }
    }

    /// The state of the random numbers; `None` if candidates are not drawn at random ([`Order::Drawn`]).
    pub fn draws(&self) -> Option<Random> {
        match &self.table {
            Table::Drawn(table) => Some(table.random.clone()),
            _ => None,
        }
    }

    /// Restores the state that [`Victims::draws`] returned.
    pub fn set_draws(&mut self, draws: Option<Random>) {
        if let (Table::Drawn(table), Some(draws)) = (&mut self.table, draws) {
            table.random = draws;
        }
    }

    /// Adds the blocks that are full at the start according to `shape`, in the order in which they were filled.
    pub fn insert_full(&mut self, shape: &Shape) {
        let full = shape.full_blocks();
        let Some(last) = full.checked_sub(1) else {
            return;
        };
        // A device may start with hundreds of thousands of full blocks, so they are not inserted one by one. All
        // of them except the last have the same number of valid pages.
        let valid = shape.valid_of_full(0);
        let of_plane = |plane: u32| {
            let first = plane * shape.blocks_per_plane;
            first..first + shape.full_in(plane)
        };
        let (closings, last_valid) = (self.closings, shape.valid_of_full(last));
        match &mut self.table {
            Table::FewestNumbered(table) => {
                (0..shape.planes).for_each(|plane| table.fill(of_plane(plane), |_| valid));
                table.remove(shape.slot(last));
                table.insert(shape.slot(last), last_valid);
            }
            Table::FewestClosed(table) => {
                for plane in 0..shape.planes {
                    let first = closings + u64::from(plane) + 1;
                    let planes = u64::from(shape.planes);
                    let key = |index: u64| closed(valid, first + index * planes);
                    table.fill(of_plane(plane), key);
                }
                table.remove(shape.slot(last));
                table.insert(
                    shape.slot(last),
                    closed(last_valid, closings + u64::from(full)),
                );
            }
            Table::Closed(_) | Table::Aged(_) | Table::Drawn(_) => {
                return (0..full).for_each(|number| {
                    self.insert(shape.slot(number), shape.valid_of_full(number))
                });
            }
        }
        self.closings += u64::from(full);
    }

    /// Adds `block`, which was closed with `valid` valid pages, to the candidates.
    pub fn insert(&mut self, block: u32, valid: u16) {
        self.closings += 1;
        match &mut self.table {
            Table::FewestNumbered(table) => table.insert(block, valid),
            Table::FewestClosed(table) => table.insert(block, closed(valid, self.closings)),
            Table::Closed(lists) => lists[(block / self.blocks_per_pool) as usize]
                .push_back(block % self.blocks_per_pool),
            Table::Aged(table) => table.insert(block, valid),
            Table::Drawn(table) => table.insert(block, self.closings),
        }
    }

    /// Notes that a page of `block`, candidate or not, is not valid any more.
    #[inline(always)]
    pub fn lower(&mut self, block: u32) {
        // Every overwrite calls this function, so only one order is handled inline.
        match &mut self.table {
            Table::FewestNumbered(table) => table.lower(block),
            _ => self.lower_other(block),
        }
    }

    #[inline(never)]
    fn lower_other(&mut self, block: u32) {
        match &mut self.table {
            Table::FewestNumbered(table) => table.lower(block),
            Table::FewestClosed(table) => table.lower(block),
            Table::Aged(table) => table.lower(block),
            Table::Closed(_) | Table::Drawn(_) => {}
        }
    }

    /// Removes `block` from the candidates, if it is one.
    pub fn remove(&mut self, block: u32) {
        match &mut self.table {
            Table::FewestNumbered(table) => {
                table.remove(block);
            }
            Table::FewestClosed(table) => {
                table.remove(block);
            }
            Table::Closed(lists) => {
                let list = &mut lists[(block / self.blocks_per_pool) as usize];
                let index = block % self.blocks_per_pool;
                if list.contains(index) {
                    list.remove(index);
                }
            }
            Table::Aged(table) => table.remove(block),
            Table::Drawn(table) => table.remove(block),
        }
    }

    /// Whether `block` is a candidate.
    pub fn contains(&self, block: u32) -> bool {
        match &self.table {
            Table::FewestNumbered(table) => table.contains(block),
            Table::FewestClosed(table) => table.contains(block),
            Table::Closed(lists) => lists[(block / self.blocks_per_pool) as usize]
                .contains(block % self.blocks_per_pool),
            Table::Aged(table) => table.contains(block),
            Table::Drawn(table) => table.contains(block),
        }
    }

    /// The first candidate of `pool`; `valid` returns the number of valid pages of a block.
    pub fn first(&mut self, pool: u32, valid: impl Fn(u32) -> u16) -> Option<u32> {
        match &mut self.table {
            Table::FewestNumbered(table) if self.planes > 1 => {
                table.fewest_valid_of_all().map(|(.., block)| block)
            }
            Table::FewestNumbered(table) => table.first(pool),
            Table::FewestClosed(table) => table.first(pool),
            Table::Closed(lists) => lists[pool as usize]
                .front()
                .map(|block| block + pool * self.blocks_per_pool),
            Table::Aged(table) => table.best(pool),
            Table::Drawn(table) => table.draw(pool, valid),
        }
    }

    /// The first candidate of `pool` for which `skips` returns false; the very first candidate if `skips` returns
    /// true for all. `None` if the order is not [`Order::FewestClosed`].
    pub fn first_but(&mut self, pool: u32, mut skips: impl FnMut(u32) -> bool) -> Option<u32> {
        let Table::FewestClosed(table) = &mut self.table else {
            return None;
        };
        let mut skipped = Vec::new();
        let mut found = None;
        while let Some(block) = table.first(pool) {
            if !skips(block) {
                found = Some(block);
                break;
            }
            skipped.push((block, table.remove(block)));
        }
        let very_first = skipped.first().map(|(block, _)| *block);
        for (block, key) in skipped {
            table.insert(block, key);
        }
        found.or(very_first)
    }

    /// The candidate with the fewest valid pages of all planes, with the number of its valid pages and its block
    /// number. Blocks are numbered across the planes: one block of each plane in turn. Among equals, the candidate
    /// with the lowest number is returned. `None` if the order is not [`Order::FewestNumbered`].
    pub fn fewest_valid_of_all(&self) -> Option<(u16, u32, u32)> {
        match &self.table {
            Table::FewestNumbered(table) => table.fewest_valid_of_all(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use destage_nand::geometry::Geometry;

    #[test]
    fn blocks_that_are_full_at_the_start_come_as_if_each_was_closed() {
        let geometry = Geometry {
            dies: 1,
            planes: 3,
            blocks_per_plane: 70,
            pages_per_block: 8,
            summary_page: true,
            page_bytes: 4096,
        };
        let full = [(0, 0), (0, 3), (1, 0), (150, 2), (210, 0)];
        let orders = [Order::FewestNumbered, Order::FewestClosed];
        for (order, pools) in orders
            .into_iter()
            .flat_map(|order| [(order, 3), (order, 1)])
        {
            for (data_blocks, map_pages) in full {
                let shape = Shape::new(&geometry, data_blocks, map_pages, true);
                let none = || Victims::none(order, pools, 210 / pools, 3 / pools, shape.data_pages);
                let (mut at_once, mut one_by_one) = (none(), none());
                at_once.insert_full(&shape);
                for number in 0..shape.full_blocks() {
                    one_by_one.insert(shape.slot(number), shape.valid_of_full(number));
                }
                assert_eq!(at_once.closings, one_by_one.closings);
                for pool in 0..pools {
                    loop {
                        let block = one_by_one.first(pool, |_| 0);
                        let context = format!("{order:?} {pools} {data_blocks}");
                        assert_eq!(at_once.first(pool, |_| 0), block, "{context}");
                        if order == Order::FewestNumbered {
                            assert_eq!(
                                at_once.fewest_valid_of_all(),
                                one_by_one.fewest_valid_of_all(),
                                "{context}"
                            );
                        }
                        let Some(block) = block else { break };
                        at_once.remove(block);
                        one_by_one.remove(block);
                    }
                }
            }
        }
    }
}
