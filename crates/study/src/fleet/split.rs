//! Divides a given amount of memory among the buffers of the volumes, so that the buffers together absorb as many
//! writes as possible. The method is greedy: the next bytes always go to the volume where each byte absorbs the
//! most additional writes.
//!
//! The curve of a volume gives the number of absorbed writes for each buffer size. A step leads from one size to
//! a larger one; its gain is the number of writes that the larger size absorbs in addition. A curve need not be
//! concave, so a step can have a larger gain per byte than the step before it. The method therefore uses only the
//! sizes on the upper convex hull of each curve. Between these sizes, the gain per byte decreases from step to
//! step.
//!
//! All steps of all volumes are sorted by their gain per byte. In this order, the steps of each volume are in the
//! order of its sizes. The order of steps is the same for every amount of memory. A step that does not fit into
//! the remaining memory is skipped, together with the later steps of its volume. The number of writes that the
//! result absorbs differs from the optimum by less than the gain of one step. If equal sizes for all volumes
//! absorb at least as many writes, the result is equal sizes.

use std::cmp::Ordering;

/// A step of a volume from one buffer size to a larger one. The sizes are given by their indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Step {
    volume: usize,
    from: usize,
    to: usize,
    bytes: u64,
    gain: u64,
}

impl Step {
    /// Orders steps by their gain per byte, the largest first.
    fn order(&self, other: &Self) -> Ordering {
        let product = |one: u64, two: u64| u128::from(one) * u128::from(two);
        product(other.gain, self.bytes)
            .cmp(&product(self.gain, other.bytes))
            .then_with(|| (self.volume, self.from).cmp(&(other.volume, other.from)))
    }
}

/// Returns a split of the memory for each of `sizes`, which are in ascending order. The total memory of a split
/// is that size times the number of volumes. A split gives the buffer size of each volume, as an index into
/// `sizes`. `absorbed[volume][size]` is the number of writes that a buffer of that size absorbs for that volume.
pub(super) fn best(sizes: &[u64], absorbed: &[Vec<u64>]) -> Vec<Vec<usize>> {
    let of_volume = |(volume, absorbed): (usize, &Vec<u64>)| steps(volume, sizes, absorbed);
    let mut all: Vec<Step> = absorbed.iter().enumerate().flat_map(of_volume).collect();
    all.sort_by(Step::order);
    let totals = 0..sizes.len();
    totals
        .map(|equal| within(equal, sizes, absorbed, &all))
        .collect()
}

/// Returns the split whose total memory is `sizes[equal]` times the number of volumes. `steps` has the steps of
/// all volumes in descending order of their gain per byte.
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

/// The steps along the upper convex hull of the curve `absorbed` of one volume, from the smallest size on. Only
/// steps with a gain above 0 are included.
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
            // The next step has a larger gain per byte than the previous step, so the size between the two steps
            // is not on the hull. One step replaces both.
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
        // The size 20 absorbs no more writes than the size 10, so the hull has a single step from 10 to 40.
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
        // The total for the second of the sizes is 6 bytes, 3 more than three buffers of the smallest size need.
        // With these bytes, the steps along the hulls absorb 110 writes, but equal sizes absorb 111.
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
