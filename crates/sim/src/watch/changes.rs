//! The difference between two sequences of tokens, as a few splices.
//!
//! Most events insert and remove only a few tokens. So both sequences are compared token by token. Where they differ,
//! the nearest pair of positions is searched from which the sequences agree again. If no such pair is near, all
//! remaining tokens are matched in one step.
//!
//! In that step, the tokens that occur exactly once in both sequences are candidates. Almost all tokens are
//! candidates. The longest series of candidates that has the same order in both sequences stays unchanged (the
//! longest increasing subsequence). The tokens between two members of this series are replaced. The step needs O(n
//! log n) time for any change. A page that moves to the front of a list needs two splices, however long the list is.

use std::collections::HashMap;
use std::hash::Hash;

use super::Token;

/// One replacement: from position `at` on, `removed` tokens are replaced by `inserted`. Positions count in the
/// sequence that the earlier splices have produced.
#[derive(Clone, Debug, PartialEq)]
pub struct Splice<T = Token> {
    /// First position that changes, from 0.
    pub at: u32,
    /// Number of tokens that are removed.
    pub removed: u32,
    /// Tokens that are inserted.
    pub inserted: Vec<T>,
}

/// Maximum number of tokens, in both sequences together, that the search for agreement skips. Most blocks have fewer
/// pages.
const AHEAD: usize = 160;
/// Number of consecutive tokens that have to be equal for two positions to agree.
const ALIKE: usize = 3;

/// The splices that turn `old` into `new`, in the order in which they are to be applied.
#[must_use]
pub fn changes<T: Clone + Eq + Hash>(old: &[T], new: &[T]) -> Vec<Splice<T>> {
    let mut splices = Vec::new();
    let (mut from_old, mut from_new) = (0, 0);
    loop {
        let (rest_old, rest_new) = (&old[from_old..], &new[from_new..]);
        let pairs = rest_old.iter().zip(rest_new);
        let alike = pairs.take_while(|(one, other)| one == other).count();
        (from_old, from_new) = (from_old + alike, from_new + alike);
        let (rest_old, rest_new) = (&rest_old[alike..], &rest_new[alike..]);
        if rest_old.is_empty() && rest_new.is_empty() {
            return splices;
        }
        let Some((removed, inserted)) = agreement(rest_old, rest_new) else {
            match_all(rest_old, rest_new, from_new, &mut splices);
            return splices;
        };
        splices.push(Splice {
            // The tokens before this position already equal those of `new`.
            at: from_new as u32,
            removed: removed as u32,
            inserted: rest_new[..inserted].to_vec(),
        });
        (from_old, from_new) = (from_old + removed, from_new + inserted);
    }
}

/// The nearest positions from which `old` and `new` agree: one position in each sequence. The first tokens of the
/// sequences differ.
fn agreement<T: Eq>(old: &[T], new: &[T]) -> Option<(usize, usize)> {
    let agree = |(from_old, from_new): &(usize, usize)| match (
        old.get(*from_old..),
        new.get(*from_new..),
    ) {
        (Some(old), Some(new)) => old.iter().take(ALIKE).eq(new.iter().take(ALIKE)),
        _ => false,
    };
    (1..=AHEAD)
        .flat_map(|both| (0..=both).map(move |removed| (removed, both - removed)))
        .find(agree)
}

/// Adds the splices that turn `old` into `new`. Before each of these sequences there are `start` tokens that already
/// agree.
fn match_all<T: Clone + Eq + Hash>(
    old: &[T],
    new: &[T],
    start: usize,
    splices: &mut Vec<Splice<T>>,
) {
    let (mut from_old, mut from_new) = (0, 0);
    let end = (old.len(), new.len());
    for (until_old, until_new) in anchors(old, new).into_iter().chain([end]) {
        if until_old > from_old || until_new > from_new {
            splices.push(Splice {
                at: (start + from_new) as u32,
                removed: (until_old - from_old) as u32,
                inserted: new[from_new..until_new].to_vec(),
            });
        }
        (from_old, from_new) = (until_old + 1, until_new + 1);
    }
}

/// Pairs of positions with equal tokens in `old` and `new`. From pair to pair, both positions ascend.
fn anchors<T: Eq + Hash>(old: &[T], new: &[T]) -> Vec<(usize, usize)> {
    let places = |tokens| {
        let mut places: HashMap<&T, Option<usize>> = HashMap::new();
        for (place, token) in Iterator::enumerate(<[T]>::iter(tokens)) {
            places
                .entry(token)
                .and_modify(|place| *place = None)
                .or_insert(Some(place));
        }
        places
    };
    let (in_old, in_new) = (places(old), places(new));
    let once = |token: &T| in_old.get(token).copied().flatten().is_some();
    let pairs: Vec<(usize, usize)> = (0..)
        .zip(old)
        .filter(|(_, token)| once(token))
        .filter_map(|(place, token)| Some((place, in_new.get(token).copied().flatten()?)))
        .collect();

    // The index is the length of a subsequence, minus one. Of all pairs at which a subsequence of this length ends,
    // the entry is the one with the smallest position in `new`.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, (_, place)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *place);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut run: Vec<_> = std::iter::successors(ends.last().copied(), |pair| before[*pair])
        .map(|pair| pairs[pair])
        .collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use destage_base::Random;

    use super::*;

    fn apply(old: &[u64], splices: &[Splice<u64>]) -> Vec<u64> {
        let mut tokens = old.to_vec();
        for splice in splices {
            let at = splice.at as usize;
            let removed = at..at + splice.removed as usize;
            tokens.splice(removed, splice.inserted.iter().copied());
        }
        tokens
    }

    #[test]
    fn splices_make_the_new_of_the_old() {
        let mut random = Random::new(3);
        for _ in 0..20_000 {
            let mut sequence = |kinds| -> Vec<u64> {
                let length = random.below(12);
                (0..length).map(|_| random.below(kinds)).collect()
            };
            let (old, new) = (sequence(9), sequence(9));
            assert_eq!(apply(&old, &changes(&old, &new)), new, "{old:?}");
            let mut matched = Vec::new();
            match_all(&old, &new, 0, &mut matched);
            assert_eq!(apply(&old, &matched), new, "{old:?}");
        }
    }

    #[test]
    fn a_page_that_moves_takes_two_splices() {
        let old: Vec<u64> = (0..1000).collect();
        let mut new = old.clone();
        let page = new.remove(700);
        new.insert(0, page);
        let splices = changes(&old, &new);
        let sizes = splices.iter().map(|one| (one.removed, one.inserted.len()));
        assert_eq!(sizes.collect::<Vec<_>>(), [(0, 1), (1, 0)]);
        assert_eq!(apply(&old, &splices), new);
    }

    #[test]
    fn what_moves_as_a_whole_is_kept_where_it_is_cheaper() {
        let old: Vec<u64> = (0..1000).collect();
        let mut new = old.clone();
        new.rotate_left(400);
        let splices = changes(&old, &new);
        assert_eq!(apply(&old, &splices), new);
        let inserted: usize = splices.iter().map(|one| one.inserted.len()).sum();
        assert_eq!(inserted, 400);
    }
}
