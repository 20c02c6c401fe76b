//! Greedy garbage collection that collects a worn block the more rarely, the more it is worn.
//!
//! A block is worn if its remaining life is less than four fifths of the mean remaining life of the blocks of its
//! pool. A worn block is passed over with a probability. This probability rises linearly from 0, at four fifths of
//! the mean, to 1, for a block with no remaining life (Agrawal et al., USENIX ATC 2008, section 5.5).

use super::die::Die;

/// Share of the mean remaining life, in percent, below which a block may be passed over.
const LIMITED_PERCENT: u64 = 80;

/// The block of `pool` to collect: the first in the greedy order that is not passed over. If all blocks are passed
/// over, it is the first in the greedy order.
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
