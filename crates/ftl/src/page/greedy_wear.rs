//! Greedy garbage collection in which worn blocks are collected more rarely, the more they are worn.
//!
//! A block with less than four fifths of the mean remaining life of its pool is passed over with a probability
//! that rises evenly from 0 at that share to 1 for a block with no life left (Agrawal et al., USENIX ATC 2008,
//! section 5.5).

use super::die::Die;

/// Share of the mean remaining life, in percent, below which a block may be passed over.
const LIMITED_PERCENT: u64 = 80;

/// The block of `pool` to collect: the first in the greedy order that is not passed over; the greedy choice if
/// all are.
pub(crate) fn victim(die: &mut Die, pool: u32) -> Option<u32> {
    let (blocks, life_sum) = die.life_of_pool(pool as usize);
    let threshold = LIMITED_PERCENT * life_sum;
    let (nand, random, endurance) = (&die.nand, &mut die.random, die.rules.endurance);
    die.victims.first_but(pool, |block| {
        let life = u64::from(endurance.saturating_sub(nand.block(block).erases));
        let share = life * blocks * 100;
        // The block is collected with probability share / threshold.
        share < threshold && random.below(threshold) >= share
    })
}
