//! Wear-aware garbage collection: worn blocks receive cold data.
//!
//! Garbage collection is greedy as long as the chosen block is not worn. A block is worn if its remaining life is
//! clearly less than the mean of its pool. A worn block is collected and then filled with the contents of the
//! coldest block of the pool. The coldest block becomes free instead.
//!
//! The reference simulator also skips a very worn block with some probability, but only if the worn block is
//! itself the coldest block. In this case, the reference simulator loses track of the block. This module collects
//! the block instead, and draws no random number.

use alloc::vec::Vec;

use super::die::{Die, Stream};
use super::gc::{Rules, Victim, collect_block, empty_block};
use super::shape::NONE;
use crate::NoSpace;
use destage_nand::array::Ppn;
use destage_nand::operation::{Cause, Operations, Transfer};

/// A block with less than this share of the mean remaining life of its pool receives cold data.
const WORN_PERCENT: u64 = 85;

/// The block of `pool` that is collected next, and if it is worn, the block whose contents it receives.
pub(crate) fn choose(die: &Die, pool: u32, rules: &Rules<'_>) -> Option<Victim> {
    let of_pool = &die.pools[pool as usize];
    let count = u64::from(of_pool.blocks);
    let blocks = of_pool.first_block..of_pool.first_block + of_pool.blocks;

    // The loop visits the blocks in ascending order, and lists each candidate that has at most as many valid pages
    // as all candidates before it. So the last one in the list is the greedy choice.
    let mut candidates = Vec::new();
    let mut fewest = u16::MAX;
    let mut life_sum = 0u64;
    for block in blocks {
        life_sum += remaining_life(die, block);
        let valid = die.blocks.get(block as usize).valid;
        if die.victims.contains(block) && valid <= fewest {
            fewest = valid;
            candidates.push(block);
        }
    }
    // If only one block is listed, it is collected and receives no cold data, however worn it is.
    let block = candidates.pop()?;
    let is_worn = !candidates.is_empty()
        && remaining_life(die, block) * count * 100 < WORN_PERCENT * life_sum;
    let cold = match is_worn {
        true => coldest(die, pool, rules).filter(|cold| *cold != block),
        false => None,
    };
    Some(Victim { block, cold })
}

fn remaining_life(die: &Die, block: u32) -> u64 {
    u64::from(
        die.rules
            .endurance
            .saturating_sub(die.nand.block(block).erases),
    )
}

/// Whether the remaining life of `block` is clearly less than the mean of its pool.
pub(crate) fn is_worn(die: &Die, block: u32) -> bool {
    let (blocks, life_sum) = die.life_of_pool(die.pool_of(block));
    remaining_life(die, block) * blocks * 100 < WORN_PERCENT * life_sum
}

/// The full block of `pool` that has valid pages and was erased longest ago; among equals, the first. A block that
/// is being collected in steps is left out, since some of its pages have already moved. A block with pages of the
/// map is also left out.
pub(crate) fn coldest(die: &Die, pool: u32, rules: &Rules<'_>) -> Option<u32> {
    let shape = die.shape;
    let times = die.extras.last_erase.as_ref()?;
    let begun = die.rest.begun[pool as usize].map(|(block, _)| block);
    let pool = &die.pools[pool as usize];
    (pool.first_block..pool.first_block + pool.blocks)
        .filter(|block| {
            // An open block is still being written, so its contents cannot move.
            u32::from(die.nand.block(*block).programmed) >= shape.data_pages
                && die.blocks.get(*block as usize).valid > 0
                && times.get(*block as usize) < rules.now
                && begun != Some(*block)
                && (shape.map_pages == 0 || stream_of(die, *block) != Stream::Map)
        })
        .min_by_key(|block| times.get(*block as usize))
}

/// The stream to which the valid pages of `block` move; it is the same stream for all of them.
fn stream_of(die: &Die, block: u32) -> Stream {
    let first = block << die.shape.page_bits;
    let mut pages = first..first + die.shape.data_pages;
    let page = pages.find_map(|ppn| die.valid_at(ppn));
    page.map_or(Stream::Migrations, |page| die.stream_of_copy(page))
}

/// Collects `worn`, moves the contents of `cold` into `worn` at the same offsets, and erases `cold`.
pub(crate) fn exchange(
    die: &mut Die,
    worn: u32,
    cold: u32,
    rules: &Rules<'_>,
    operations: &mut Operations,
) -> Result<(), NoSpace> {
    let pool = die.pool_of(worn);
    let last_step = empty_block(die, worn, pool, Cause::Copy, operations, &mut Vec::new())?;
    let first = Ppn(worn << die.shape.page_bits);
    die.finish_units(operations);
    operations.push_erase(Cause::Wear, first);
    let erased = rules
        .now
        .saturating_add(rules.erase_dates.serial(&operations.all()[last_step..]));
    die.erase_keeping(worn, erased);

    move_contents(die, cold, worn, operations);
    collect_block(die, cold, pool, rules, operations, &mut Vec::new())
}

/// Moves the contents of block `from` into the erased block `to`, each page to the same offset.
pub(crate) fn move_contents(die: &mut Die, from: u32, to: u32, operations: &mut Operations) {
    let state = die.blocks.get(from as usize);
    let transfer = if die.copies_are_free(from, to) {
        Transfer::None
    } else {
        Transfer::TwoPages
    };
    let (source, target) = (from << die.shape.page_bits, to << die.shape.page_bits);
    // If handles are isolated, all pages of the block belong to one handle.
    let stream = match stream_of(die, from) {
        own @ Stream::FurtherMigrations(_) => own,
        _ => Stream::Migrations,
    };
    let purpose = || stream.purpose();
    let filled_to = die.fills_gaps_to(from);
    for offset in 0..die.shape.data_pages {
        let page = die.valid_at(source + offset);
        *die.owner.get_mut((target + offset) as usize) = page.unwrap_or(NONE);
        let Some(page) = page else {
            if offset < filled_to {
                die.program_filler(Ppn(target + offset));
                operations.push_filler(Ppn(target + offset), purpose);
            }
            continue;
        };
        die.log_migration(page);
        die.nand.program(to, offset);
        *die.map.get_mut(page as usize) = target + offset;
        let (from, to) = (Ppn(source + offset), Ppn(target + offset));
        operations.push_copy(Cause::Wear, transfer, from, to, purpose);
    }
    if filled_to == die.shape.data_pages && die.rules.summary_page {
        // The summary page ends the unit of the last pages.
        die.program_summary(to, stream, operations);
    }
    *die.blocks.get_mut(to as usize) = state;
    let pool = die.pool_of(to);
    let pointing = &mut die.pools[pool];
    if pointing.active_block == to && pointing.active_page == die.shape.data_pages {
        // The active block was sealed and then emptied. It now gets the sequence number of the block whose data it
        // receives.
        pointing.active_sequence = state.sequence;
    }
    die.offer(to, state.valid);
    die.blocks.get_mut(from as usize).valid = 0;
}
