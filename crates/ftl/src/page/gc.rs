//! Garbage collection: moves the valid pages out of blocks and erases these blocks, so that they are free.
//!
//! With copy-back, pages move within their plane, and each plane is collected separately, one block at a time.
//! Without copy-back, the die is collected as a whole. The rules and their order follow the reference simulator.

use alloc::vec::Vec;

use destage_base::{Ticks, choices};

use super::die::Die;
use super::{greedy_wear, levelling, wear_aware};
use crate::NoSpace;
use destage_nand::array::Ppn;
use destage_nand::operation::{Cause, Operations};
use destage_nand::timing::Timing;

choices! {
    /// Which sealed block is collected.
    pub enum Policy {
        /// The block with the fewest valid pages.
        Greedy = "greedy",
        /// The greedy choice, but a worn block receives cold data instead of becoming free.
        WearAware = "wear_aware",
        /// The block with the best ratio of age times gained pages to moved pages.
        CostBenefit = "cost_benefit",
        /// The block that was closed first.
        Fifo = "fifo",
        /// The block with the fewest valid pages among some drawn at random.
        DChoices = "d_choices",
        /// The greedy choice, but a worn block is passed over, with a probability that grows with its wear.
        GreedyWear = "greedy_wear",
    }
}

/// The parameters of a garbage collection, except the die.
pub(crate) struct Rules<'a> {
    pub policy: Policy,
    /// With [`Policy::GreedyWear`]: a worn block receives cold data when it is collected.
    pub migrates: bool,
    /// Operation times to date erases, for wear-aware garbage collection only.
    pub erase_dates: &'a Timing,
    pub now: Ticks,
}

/// With copy-back: collects at most one block in each parallel unit of the die; the units work at the same time.
/// `pointers` holds, for each unit, the plane at which the search for a plane to collect begins. Returns whether a
/// block was collected.
pub(crate) fn collect_pools(
    die: &mut Die,
    pointers: &mut [u32],
    rules: &Rules<'_>,
    operations: &mut Operations,
) -> Result<bool, NoSpace> {
    let planes = die.pools.len() / pointers.len();
    let mut cleaned = false;
    for (unit, pointer) in pointers.iter_mut().enumerate() {
        let low = (0..planes)
            .map(|step| (*pointer as usize + step) % planes)
            .find(|offset| die.rest.asides[unit * planes + offset].needs_gc);
        let Some(offset) = low else { continue };
        let mark = operations.mark();
        if cleaned {
            operations.next_lane();
        }
        let plane = (unit * planes + offset) as u32;
        match collect_pool(die, plane, rules, operations) {
            Ok(one) => cleaned |= one,
            // The operations of earlier units are kept. In a later call, when this unit is the first one, it fails
            // again and the error is returned.
            Err(_) if cleaned => {
                operations.go_back(mark);
                continue;
            }
            Err(full) => return Err(full),
        }
        *pointer = ((offset + 1) % planes) as u32;
    }
    levelling::level(die, rules.now, operations);
    Ok(cleaned)
}

/// In steps: moves up to `most` pages of one block, or all of its pages if few blocks are free, and erases the
/// block after its last page. `pointer` holds the pool at which the search for a pool to collect begins. Returns
/// whether a step was done.
pub(crate) fn collect_step(
    die: &mut Die,
    pointer: &mut u32,
    most: u32,
    rules: &Rules<'_>,
    operations: &mut Operations,
) -> Result<bool, NoSpace> {
    let pools = die.pools.len();
    let in_turn = (0..pools).map(|step| (*pointer as usize + step) % pools);
    let is_urgent = |pool: &usize| die.pools[*pool].free < die.rules.floor;
    let mut needy = in_turn.filter(|pool| die.rest.asides[*pool].needs_gc);
    let Some(pool) = needy.clone().find(is_urgent).or_else(|| needy.next()) else {
        return Ok(false);
    };
    let most = if is_urgent(&pool) { u32::MAX } else { most };
    let (random, draws) = (die.random.clone(), die.victims.draws());
    let (victim, cold, from) = match die.rest.begun[pool] {
        Some((block, from)) => (block, None, from),
        None => match choose(die, pool as u32, rules) {
            Some(Victim { block, cold }) => (block, cold, 0),
            None => return Ok(false),
        },
    };
    if !die.has_room_for(victim, pool) {
        die.random = random;
        die.victims.set_draws(draws);
        return Err(die.exhausted(pool));
    }
    if let Some(cold) = cold {
        // Two blocks exchange their contents in one step, so that no other operation is served while some pages
        // are in neither block.
        wear_aware::exchange(die, victim, cold, rules, operations)?;
        *pointer = (pool as u32 + 1) % pools as u32;
        levelling::level(die, rules.now, operations);
        return Ok(true);
    }
    die.victims.remove(victim);
    let part = (from, most);
    let first_step = operations.all().len();
    let end = move_pages(die, victim, part, pool, Cause::Copy, operations, |_, _| {})?;
    die.rest.begun[pool] = Some((victim, end));
    if die.valid_of(victim) == 0 {
        die.rest.begun[pool] = None;
        die.finish_units(operations);
        operations.push_erase(Cause::Copy, Ppn(victim << die.shape.page_bits));
        let steps = &operations.all()[first_step..];
        let at = rules.now.saturating_add(rules.erase_dates.serial(steps));
        die.erase(victim, at);
        *pointer = (pool as u32 + 1) % pools as u32;
        levelling::level(die, rules.now, operations);
    }
    Ok(true)
}

/// A block that is to be collected.
pub(crate) struct Victim {
    /// The number of the block.
    pub block: u32,
    /// The block whose contents the victim receives, if the victim is worn.
    pub cold: Option<u32>,
}

/// The block of `pool` that the policy chooses; `None` if there is no candidate.
fn choose(die: &mut Die, pool: u32, rules: &Rules<'_>) -> Option<Victim> {
    let block = match rules.policy {
        Policy::WearAware => return wear_aware::choose(die, pool, rules),
        Policy::GreedyWear => greedy_wear::victim(die, pool),
        _ => {
            let blocks = &die.blocks;
            let valid = |block: u32| blocks.get(block as usize).valid;
            die.victims.first(pool, valid)
        }
    }?;
    let cold = match rules.migrates && wear_aware::is_worn(die, block) {
        true => wear_aware::coldest(die, pool, rules).filter(|cold| *cold != block),
        false => None,
    };
    Some(Victim { block, cold })
}

/// Moves up to `most` valid pages of `block` from page `from` on; returns the place at which a next call
/// continues. `moved` is called for each move with its position in `operations`, and with the block that the move
/// has filled, if any.
fn move_pages(
    die: &mut Die,
    block: u32,
    (from, most): (u32, u32),
    pool: usize,
    cause: Cause,
    operations: &mut Operations,
    mut moved: impl FnMut(usize, Option<u32>),
) -> Result<u32, NoSpace> {
    let first = block << die.shape.page_bits;
    let mut last = None;
    // Only this loop changes the number of valid pages of the block.
    let mut left = most.min(die.valid_of(block));
    for place in from..die.shape.data_pages {
        if left == 0 {
            return Ok(place);
        }
        let from = Ppn(first | place);
        let Some(page) = die.valid_at(from.0) else {
            continue;
        };
        let step = operations.all().len();
        let stream = die.stream_of_copy(page);
        let target = die.next_of(pool, stream)?;
        die.log_migration(page);
        die.invalidate(page);
        die.push_copy(cause, (from, target), last, stream, operations);
        let is_full = die.program(pool, stream, page, operations);
        moved(step, is_full.then_some(target.0 >> die.shape.page_bits));
        last = Some(from);
        left -= 1;
    }
    Ok(die.shape.data_pages)
}

/// Collects the block of `pool` that the policy chooses. Returns whether there was a candidate.
fn collect_pool(
    die: &mut Die,
    pool: u32,
    rules: &Rules<'_>,
    operations: &mut Operations,
) -> Result<bool, NoSpace> {
    // If the collection fails, the random draws are undone.
    let (random, draws) = (die.random.clone(), die.victims.draws());
    let Some(Victim { block, cold }) = choose(die, pool, rules) else {
        return Ok(false);
    };
    let pool = pool as usize;
    if !die.has_room_for(block, pool) {
        die.random = random;
        die.victims.set_draws(draws);
        return Err(die.exhausted(pool));
    }
    match cold {
        Some(cold) => wear_aware::exchange(die, block, cold, rules, operations)?,
        None => collect_block(die, block, pool, rules, operations, &mut Vec::new())?,
    }
    Ok(true)
}

/// The rule of the reference simulator without copy-back: collects blocks until enough blocks are free. The blocks
/// with the fewest valid pages are collected first. The die is busy until the end.
///
/// The order depends on the numbers of valid pages at the start. For most candidates, the table of victims still
/// has this number, since moves do not change it. The exceptions are the blocks that the moves fill. They are kept
/// in a separate list, with their number of valid pages at the start, and are added to the table at the end.
pub(crate) fn collect_die(
    die: &mut Die,
    rules: &Rules<'_>,
    operations: &mut Operations,
) -> Result<bool, NoSpace> {
    let planes = die.shape.planes;
    let number = |block: u32, of: &Die| {
        let (plane, index) = of.rules.plane_divider.split(block);
        index * planes + plane
    };
    let active_at_start = die.pools[0].active_block;
    let valid_at_start = die.blocks.get(active_at_start as usize).valid;
    // Blocks that this garbage collection has filled. An entry consists of the number of valid pages at the start,
    // the number of the block if blocks are counted across the planes, and the block.
    let mut filled: Vec<(u16, u32, u32)> = Vec::new();
    let mut sealed = Vec::new();
    let mut last = None;
    while let Some(next) = next_victim(die, &filled, last) {
        let (.., block) = next;
        if !die.has_room_for(block, 0) {
            if last.is_none() {
                return Err(die.exhausted(0));
            }
            break;
        }
        last = Some(next);
        filled.retain(|entry| entry.2 != block);
        sealed.clear();
        collect_block(die, block, 0, rules, operations, &mut sealed)?;
        for block in &sealed {
            let count = if *block == active_at_start {
                valid_at_start
            } else {
                0
            };
            if die.victims.contains(*block) {
                die.victims.remove(*block);
                filled.push((count, number(*block, die), *block));
            }
        }
        if die.pools[0].free >= die.rules.watermarks.high {
            break;
        }
    }
    for (.., block) in filled {
        let valid = die.blocks.get(block as usize).valid;
        die.victims.insert(block, valid);
    }
    die.settle(0);
    levelling::level(die, rules.now, operations);
    Ok(last.is_some())
}

/// The next candidate. Candidates are ordered by their numbers of valid pages when garbage collection began, and equal
/// candidates by block number.
fn next_victim(
    die: &Die,
    filled: &[(u16, u32, u32)],
    last: Option<(u16, u32, u32)>,
) -> Option<(u16, u32, u32)> {
    let filled = filled
        .iter()
        .copied()
        .filter(|entry| Some(*entry) > last)
        .min();
    let known = die.victims.fewest_valid_of_all();
    match (filled, known) {
        (Some(filled), Some(known)) => Some(filled.min(known)),
        (filled, known) => filled.or(known),
    }
}

/// Moves the valid pages of `block` to `pool`, in ascending order, and erases the block. Adds blocks that the
/// moves fill to `sealed`.
pub(crate) fn collect_block(
    die: &mut Die,
    block: u32,
    pool: usize,
    rules: &Rules<'_>,
    operations: &mut Operations,
    sealed: &mut Vec<u32>,
) -> Result<(), NoSpace> {
    let last_step = empty_block(die, block, pool, Cause::Copy, operations, sealed)?;
    let first = Ppn(block << die.shape.page_bits);
    die.finish_units(operations);
    operations.push_erase(Cause::Copy, first);
    die.erase(
        block,
        rules
            .now
            .saturating_add(rules.erase_dates.serial(&operations.all()[last_step..])),
    );
    Ok(())
}

/// Moves the valid pages of `block` to `pool`, counted under `cause`; returns the position of the last move in
/// `operations`.
pub(crate) fn empty_block(
    die: &mut Die,
    block: u32,
    pool: usize,
    cause: Cause,
    operations: &mut Operations,
    sealed: &mut Vec<u32>,
) -> Result<usize, NoSpace> {
    if !die.has_room_for(block, pool) {
        return Err(die.exhausted(pool));
    }
    let mut last_step = operations.all().len();
    let all = (0, u32::MAX);
    move_pages(die, block, all, pool, cause, operations, |step, full| {
        last_step = step;
        sealed.extend(full);
    })?;
    Ok(last_step)
}
