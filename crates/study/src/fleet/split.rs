//! The best buffer sizes of volumes for a total number of bytes: memory goes to the volume where it absorbs the
//! most writes for each byte.
//!
//! The curve of a volume need not be concave. Along its upper hull, the gain for each byte falls from step to
//! step. So the step with the largest gain for each byte, among those of all volumes, is always the next step of
//! its volume, and all totals have the same order of steps. If a step does not fit into the remaining memory,
//! later steps that fit are taken. The result is the best split along the hulls up to one step, and it is never
//! worse than equal sizes.

use std::cmp::Ordering;

/// A step of a volume from one size to a larger one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Step {
    volume: usize,
    from: usize,
    to: usize,
    bytes: u64,
    gain: u64,
}

impl Step {
    /// Orders steps by their gain for each byte, the largest first.
    fn order(&self, other: &Self) -> Ordering {
        let product = |one: u64, two: u64| u128::from(one) * u128::from(two);
        product(other.gain, self.bytes)
            .cmp(&product(self.gain, other.bytes))
            .then_with(|| (self.volume, self.from).cmp(&(other.volume, other.from)))
    }
}

/// The best splits. There is one for each of `sizes`, which are in ascending order: its total is that size times
/// the number of volumes. A split has an index into `sizes` for each volume. `absorbed` has, by volume and then
/// by size, the number of writes that a buffer of that size absorbs.
pub(super) fn best(sizes: &[u64], absorbed: &[Vec<u64>]) -> Vec<Vec<usize>> {
    let of_volume = |(volume, absorbed): (usize, &Vec<u64>)| steps(volume, sizes, absorbed);
    let mut all: Vec<Step> = absorbed.iter().enumerate().flat_map(of_volume).collect();
    all.sort_by(Step::order);
    let totals = 0..sizes.len();
    totals
        .map(|equal| within(equal, sizes, absorbed, &all))
        .collect()
}

/// The split of as many bytes as all volumes have together if each has `sizes[equal]`.
fn within(equal: usize, sizes: &[u64], absorbed: &[Vec<u64>], steps: &[Step]) -> Vec<usize> {
    let mut chosen = vec![0; absorbed.len()];
    let volumes = absorbed.len() as u64;
    let mut left = (sizes[equal] - sizes[0]).saturating_mul(volumes);
    for step in steps {
        if chosen[step.volume] == step.from && step.bytes <= left {
            chosen[step.volume] = step.to;
            left -= step.bytes;
        }
    }
    let sum = |size: &dyn Fn(usize) -> usize| -> u64 {
        let volumes = absorbed.iter().enumerate();
        volumes.map(|(volume, of)| of[size(volume)]).sum()
    };
    match sum(&|_| equal) >= sum(&|volume| chosen[volume]) {
        true => vec![equal; absorbed.len()],
        false => chosen,
    }
}

/// The steps along the upper hull of one curve, from its first size on, as long as they absorb more writes.
fn steps(volume: usize, sizes: &[u64], absorbed: &[u64]) -> Vec<Step> {
    let mut hull: Vec<Step> = Vec::new();
    for to in 1..sizes.len() {
        let step = |from: usize| {
            let gain = absorbed[to]
                .checked_sub(absorbed[from])
                .filter(|gain| *gain > 0)?;
            Some(Step {
                volume,
                from,
                to,
                bytes: sizes[to] - sizes[from],
                gain,
            })
        };
        let Some(mut next) = step(hull.last().map_or(0, |last| last.to)) else {
            continue;
        };
        while let Some(last) = hull.pop_if(|last| next.order(last) == Ordering::Less) {
            // If the next step gains more for each byte than the previous step, then one step that combines both
            // also gains more for each byte than the previous step.
            next = step(last.from).unwrap_or(next);
        }
        hull.push(next);
    }
    hull
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::Random;

    fn total(chosen: &[usize], absorbed: &[Vec<u64>]) -> u64 {
        let volumes = chosen.iter().zip(absorbed);
        volumes.map(|(size, of)| of[*size]).sum()
    }

    #[test]
    fn steps_follow_the_hull() {
        // Between 10 and 20 nothing is gained, so the hull has a single step from 10 to 40.
        let found = steps(3, &[10, 20, 40, 80], &[5, 5, 95, 100]);
        let ends: Vec<_> = found
            .iter()
            .map(|step| (step.from, step.to, step.gain))
            .collect();
        assert_eq!(ends, [(0, 2, 90), (2, 3, 5)]);
        assert!(
            steps(0, &[1, 2], &[7, 3]).is_empty(),
            "a larger buffer may do worse"
        );
    }

    #[test]
    fn bytes_go_where_they_absorb_most() {
        let absorbed = vec![
            vec![0, 100, 110, 111],
            vec![0, 10, 90, 95],
            vec![0, 1, 2, 3],
        ];
        let best = best(&[1, 2, 4, 8], &absorbed);
        // With 3 bytes beyond the smallest sizes, steps along the hulls absorb 110 writes, but equal sizes absorb
        // 111.
        assert_eq!(best[..3], [[0, 0, 0], [1, 1, 1], [2, 2, 2]]);
        assert_eq!(total(&best[3], &absorbed), 209);
        let uneven = vec![vec![0, 100, 200, 400], vec![0, 1, 2, 3]];
        assert_eq!(super::best(&[1, 2, 4, 8], &uneven)[2], [2, 2]);
        assert_eq!(super::best(&[1, 2, 3, 5], &uneven)[2], [3, 0]);
    }

    #[test]
    fn a_split_keeps_to_its_bytes_and_is_near_the_best_of_all() {
        let sizes = [1, 2, 4, 8];
        let mut random = Random::new(4);
        for _ in 0..200 {
            let curve = |random: &mut Random| {
                let mut sum = 0;
                let mut next = || {
                    sum += random.below(50);
                    sum
                };
                (0..4).map(|_| next()).collect::<Vec<_>>()
            };
            let absorbed: Vec<_> = (0..4).map(|_| curve(&mut random)).collect();
            for (equal, chosen) in best(&sizes, &absorbed).iter().enumerate() {
                let bytes: u64 = chosen.iter().map(|size| sizes[*size]).sum();
                assert!(bytes <= 4 * sizes[equal]);
                let found = total(chosen, &absorbed);
                assert!(found >= total(&[equal; 4], &absorbed));
                let all = (0..256usize).map(|number| [0, 2, 4, 6].map(|shift| number >> shift & 3));
                let fits = |each: &[usize; 4]| {
                    each.iter().map(|size| sizes[*size]).sum::<u64>() <= 4 * sizes[equal]
                };
                let most = all.filter(fits).map(|each| total(&each, &absorbed)).max();
                let step = absorbed.iter().map(|of| of[3] - of[0]).max();
                assert!(found + step.unwrap_or(0) >= most.unwrap_or(0));
            }
        }
    }
}
