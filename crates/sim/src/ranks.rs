//! The values that have given ranks. Among many values they are found by counting, and among few values by partial
//! sorting.
//!
//! The first pass counts all values by their highest bits. The next pass considers only values that share these bits
//! with a wanted value, and counts them by the following bits. The passes continue down to the lowest bits. No value
//! is copied or moved. Equal values need no additional time, which matters because nine in ten response times may be
//! equal.

use destage_base::Ticks;

/// The number of bits by which one pass counts.
const BITS: u32 = 12;
const CLASSES: usize = 1 << BITS;

/// From this number of values on, counting by classes is cheaper than sorting.
const MANY: usize = 4 * CLASSES;

/// The number of values in each class.
type Counts = [usize; CLASSES];

/// The values with the given `ranks` among all values of `sets`. Ranks count from 0 and ascend; no value is above
/// `largest`.
pub(crate) fn values_of_ranks<const N: usize>(
    sets: &[&[Ticks]],
    largest: Ticks,
    ranks: [usize; N],
) -> [Ticks; N] {
    if sets.iter().map(|set| set.len()).sum::<usize>() < MANY {
        return among_few(sets.concat(), ranks);
    }
    let mut low_bits = (Ticks::BITS - largest.leading_zeros()).saturating_sub(BITS);
    let mut counts = Box::new([0; CLASSES]);
    count(sets, low_bits, &mut counts);
    // For each rank: the bits of its value above the low bits, and its rank among the values that share these bits.
    let mut found = ranks.map(|rank| place(&counts, rank));
    while low_bits > 0 {
        let behind = low_bits.saturating_sub(BITS);
        let mut counts = vec![[0; CLASSES]; N];
        let heads = found.map(|(head, _)| head);
        count_behind(sets, low_bits, behind, &heads, &mut counts);
        found = found.map(|(head, rank)| {
            let group = heads.iter().position(|other| *other == head);
            let (class, rank) = place(&counts[group.unwrap_or(0)], rank);
            (head << (low_bits - behind) | class, rank)
        });
        low_bits = behind;
    }
    found.map(|(value, _)| value)
}

fn among_few<const N: usize>(mut values: Vec<Ticks>, ranks: [usize; N]) -> [Ticks; N] {
    // Each selection moves all values at or above its rank to the end of the list. The next selection searches only
    // there.
    let mut below = 0;
    ranks.map(|rank| {
        let (_, value, _) = values[below..].select_nth_unstable(rank - below);
        below = rank;
        *value
    })
}

/// Counts all values by the bits above `low_bits`.
fn count(sets: &[&[Ticks]], low_bits: u32, counts: &mut Counts) {
    for set in sets {
        for value in *set {
            counts[(value >> low_bits) as usize % CLASSES] += 1;
        }
    }
}

/// Counts the values whose bits above `low_bits` equal one of `heads`, by the bits between `behind` and `low_bits`.
/// If several heads are equal, only the counts of the first of them contain these values.
fn count_behind<const N: usize>(
    sets: &[&[Ticks]],
    low_bits: u32,
    behind: u32,
    heads: &[Ticks; N],
    counts: &mut [Counts],
) {
    let mask = (1 << (low_bits - behind)) - 1;
    let [of_first, of_others @ ..] = counts else {
        return;
    };
    for set in sets {
        for value in *set {
            let head = value >> low_bits;
            let class = (value >> behind & mask) as usize % CLASSES;
            // Most values have the first head.
            if head == heads[0] {
                of_first[class] += 1;
            } else if let Some(group) = heads.iter().skip(1).position(|other| *other == head) {
                of_others[group][class] += 1;
            }
        }
    }
}

/// The class that contains `rank`, and the rank within that class.
fn place(counts: &Counts, rank: usize) -> (Ticks, usize) {
    let (mut class, mut rank) = (0, rank);
    while counts[class] <= rank {
        rank -= counts[class];
        class += 1;
    }
    (class as Ticks, rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_has_the_value_that_sorting_gives_it() {
        let mut random = destage_base::Random::new(7);
        for round in 0..120 {
            let most = if round % 2 == 0 { 300 } else { 3 * MANY as u64 };
            let count = 1 + random.below(most) as usize;
            let bits = 1 + random.below(63);
            let mut values: Vec<_> = (0..count)
                .map(|_| {
                    let bits = random.below(bits + 1);
                    random.below(1 << bits)
                })
                .collect();
            if round % 9 == 0 {
                values[0] = Ticks::MAX;
            }
            if round % 3 == 0 {
                // Many values are equal, and one differs from them in the lowest bit.
                let often = values[0];
                values
                    .iter_mut()
                    .skip(count / 4)
                    .for_each(|value| *value = often);
                values[count / 3] = often ^ 1;
            }
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let ranks = [0, count / 3, count / 3, count / 2, count - 1];
            let cut = random.below(count as u64 + 1) as usize;
            let (first, second) = values.split_at(cut);
            let found = values_of_ranks(&[first, second], sorted[count - 1], ranks);
            assert_eq!(found, ranks.map(|rank| sorted[rank]), "{values:?}");
        }
    }
}
