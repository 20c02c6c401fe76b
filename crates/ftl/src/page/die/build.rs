//! Builds a die.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::Random;
use destage_base::lazy::{LazyTable, Same};

use super::{
    Aside, Die, DieRules, Extras, Free, Front, Journal, Open, Pool, Rest, Search, Separation,
    Streams, Watermarks,
};
use crate::blocks::WearLevelling;
use crate::page::free::FreeBlocks;
use crate::page::levelling::ByWear;
use crate::page::shape::{InitialBlock, InitialMap, InitialOwner, Shape};
use crate::page::victims::{Order, Victims};
use destage_nand::array::Nand;
use destage_nand::divide::Divider;
use destage_nand::geometry::Geometry;

/// The parameters by which the pools and tables of a die are built.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    pub shape: Shape,
    pub rules: DieRules,
    /// If true, each plane is a pool; otherwise the die is one pool.
    pub copy_back: bool,
    pub order: Order,
    pub seed: u64,
    pub keeps_erase_times: bool,
    pub levelling: WearLevelling,
    /// The die lists the logical pages that garbage collection moves.
    pub logs_migrations: bool,
    /// How writes are divided into streams.
    pub separation: Separation,
    /// Number of changes in a page of the map's journal, and number of journal pages.
    pub journal: Option<(u32, u32)>,
}

impl DieRules {
    /// The rules of a die of `geometry` whose garbage collection works between `watermarks` and whose writes are
    /// divided by `separation`. Optional rules are off, and there are no other limits.
    pub fn of(
        geometry: &Geometry,
        watermarks: Watermarks,
        separation: Separation,
        notes_moves: bool,
    ) -> Self {
        Self {
            watermarks,
            plane_divider: Divider::new(geometry.blocks_per_plane),
            endurance: u32::MAX,
            retire_at: u32::MAX,
            most_valid: u32::MAX,
            separate_migrations: false,
            free_inside_planes: false,
            units_per_page: 1,
            units: None,
            summary_page: geometry.summary_page,
            counts_first_open: false,
            notes_moves,
            most_for_copies: 2 + separation.further_migrations(),
            floor: 0,
        }
    }
}

impl Die {
    pub fn new(geometry: &Geometry, layout: &Layout) -> Self {
        let shape = layout.shape;
        let blocks = geometry.blocks_per_die();
        let full = shape.full_blocks();
        let mut free = FreeBlocks::none(blocks);
        for plane in 0..shape.planes {
            let first = plane * shape.blocks_per_plane;
            free.set_all(first + shape.full_in(plane), first + shape.blocks_per_plane);
        }
        let (pools, planes) = match layout.copy_back {
            true => (shape.planes, 1),
            false => (1, shape.planes),
        };
        let mut victims = Victims::none(
            layout.order,
            pools,
            blocks / pools,
            planes,
            shape.data_pages,
        );
        victims.insert_full(&shape);

        let mut die = Self {
            rules: layout.rules,
            shape,
            map: LazyTable::new(
                (shape.numbers() + shape.map_pages) as usize,
                InitialMap(shape),
            ),
            owner: LazyTable::new((blocks as usize) << shape.page_bits, InitialOwner(shape)),
            blocks: LazyTable::new(blocks as usize, InitialBlock(shape)),
            nand: Nand::new(geometry, full),
            free: Free {
                blocks: free,
                by_wear: None,
            },
            victims,
            pools: Vec::new(),
            rest: Rest {
                asides: Vec::new(),
                needy: 0,
                begun: vec![None; pools as usize],
            },
            random: Random::new(layout.seed),
            next_sequence: full + 1,
            search: Search {
                pointer: 0,
                before: 0,
                front: Front::default(),
            },
            extras: Extras {
                last_erase: layout
                    .keeps_erase_times
                    .then(|| LazyTable::new(blocks as usize, Same(0))),
                migrated: layout.logs_migrations.then(Vec::new),
                streams: Streams::new(
                    layout.separation,
                    pools,
                    shape.numbers(),
                    Open {
                        block: 0,
                        page: shape.data_pages,
                    },
                ),
                journal: layout.journal.map(Journal::new),
            },
        };
        for pool in 0..pools {
            let first = pool * (blocks / pools);
            let full = match layout.copy_back {
                true => shape.full_in(pool),
                false => full,
            };
            let open = u32::from(!layout.rules.counts_first_open);
            die.add_pool(first, blocks / pools, blocks / pools - full - open);
        }
        die.free.by_wear = ByWear::new(pools, layout.levelling);
        if die.free.by_wear.is_some() {
            for block in 0..blocks {
                die.set_free(block, die.free.blocks.contains(block));
            }
        }
        if die.limits_pools()
            && let Some(last) = full.checked_sub(1)
        {
            // All full blocks except the last have the same number of valid pages.
            let each = u32::from(shape.valid_of_full(0));
            for (pool, plane) in die.pools.iter_mut().zip(0..) {
                let full = match layout.copy_back {
                    true => shape.full_in(plane),
                    false => full,
                };
                pool.valid = full * each;
            }
            let pool = die.pool_of(shape.slot(last));
            die.pools[pool].valid -= each - u32::from(shape.valid_of_full(last));
        }
        die
    }

    /// Adds a pool whose first free block is open from the start.
    fn add_pool(&mut self, first_block: u32, blocks: u32, free: u32) {
        let active = self
            .free
            .blocks
            .first_in(first_block, first_block + blocks)
            .unwrap_or(first_block);
        self.free.blocks.set(active, false);
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.blocks.get_mut(active as usize).sequence = sequence;
        let needs_gc = free < self.rules.watermarks.low;
        self.rest.needy += u32::from(needs_gc);
        self.pools.push(Pool {
            first_block,
            blocks,
            active_block: active,
            active_page: 0,
            active_sequence: sequence,
            free,
            pointer: first_block,
            valid: 0,
        });
        // The open blocks of the other streams are marked as sealed, so the first page of a stream opens a block.
        let sealed = Open {
            block: active,
            page: self.shape.data_pages,
        };
        self.rest.asides.push(Aside {
            open: [sealed; 2],
            needs_gc,
            erased: 0,
        });
    }
}
