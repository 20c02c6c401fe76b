//! The position at which a page may be: the piece of the cache, the set of the piece, and the lines of the set.
//!
//! The package of a page is `page mod packages`, and a piece serves consecutive packages. The page numbers of one
//! piece therefore have only a few different remainders modulo `packages`. If the set number is computed from the
//! page number (`raw`), most sets of a piece never have a page. If it is computed from the number of the page *within
//! the piece* (`local`), all sets are used.

use alloc::vec::Vec;
use core::ops::Range;

use destage_base::Lpn;

use super::lines::WAYS_MAX;

/// A divisor. A division by a power of two is replaced by a shift, because divisions are frequent.
#[derive(Clone, Copy)]
struct Divisor {
    value: u64,
    /// The number of bits to shift by, if the value is a power of two.
    shift: Option<u32>,
}

impl Divisor {
    fn new(value: u64) -> Self {
        let shift = value.is_power_of_two().then(|| value.trailing_zeros());
        Self { value, shift }
    }

    #[inline]
    fn quotient(self, number: u64) -> u64 {
        match self.shift {
            Some(shift) => number >> shift,
            None => number / self.value,
        }
    }

    #[inline]
    fn remainder(self, number: u64) -> u64 {
        match self.shift {
            Some(_) => number & (self.value - 1),
            None => number % self.value,
        }
    }
}

/// One of the independent caches.
#[derive(Clone, Copy)]
struct Piece {
    first_line: usize,
    ways: usize,
    sets: Divisor,
    /// The number of packages that the piece serves.
    packages: Divisor,
}

/// All sets of all pieces.
pub struct Places {
    pieces: Vec<Piece>,
    packages: Divisor,
    packages_per_piece: Divisor,
    is_raw: bool,
    lines: usize,
}

impl Places {
    /// Divides `lines` lines into pieces, and each piece into sets of `ways` lines. Each piece serves
    /// `packages_per_piece` of the `packages` packages.
    ///
    /// A piece gets lines in proportion to the number of its packages, rounded down. It has as many full sets as
    /// these lines allow. The last piece may serve fewer packages. Every piece has at least one line.
    pub fn new(
        lines: u32,
        ways: u32,
        packages: u32,
        packages_per_piece: u32,
        is_raw: bool,
    ) -> Self {
        let mut pieces = Vec::new();
        let mut first_line = 0;
        for first in (0..packages).step_by(packages_per_piece as usize) {
            let served = packages_per_piece.min(packages - first);
            let share = u64::from(lines) * u64::from(served) / u64::from(packages);
            let ways = u64::from(ways).min(share.max(1));
            let sets = (share / ways).max(1);
            pieces.push(Piece {
                first_line,
                ways: ways as usize,
                sets: Divisor::new(sets),
                packages: Divisor::new(u64::from(served)),
            });
            first_line += ((sets * ways) as usize).next_multiple_of(WAYS_MAX);
        }
        Self {
            pieces,
            packages: Divisor::new(u64::from(packages)),
            packages_per_piece: Divisor::new(u64::from(packages_per_piece)),
            is_raw,
            lines: first_line,
        }
    }

    /// The number of lines of all pieces. It includes lines that remain unused so that no set crosses a multiple of
    /// [`WAYS_MAX`].
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// The number of pieces.
    pub fn pieces(&self) -> u32 {
        self.pieces.len() as u32
    }

    /// The number of packages.
    pub fn packages(&self) -> u32 {
        self.packages.value as u32
    }

    /// The package of `page`.
    #[inline]
    pub fn package_of(&self, page: Lpn) -> u32 {
        self.packages.remainder(page.0) as u32
    }

    /// The piece that serves `package`.
    #[inline]
    pub fn piece_of(&self, package: u32) -> u32 {
        self.packages_per_piece.quotient(u64::from(package)) as u32
    }

    /// The packages that `piece` serves.
    pub fn packages_of(&self, piece: u32) -> Range<u32> {
        let first = piece * self.packages_per_piece.value as u32;
        first..first + self.pieces[piece as usize].packages.value as u32
    }

    /// The lines of each set of `piece`.
    pub fn sets(&self, piece: u32) -> impl Iterator<Item = Range<usize>> + use<> {
        let Piece {
            first_line,
            ways,
            sets,
            ..
        } = self.pieces[piece as usize];
        (0..sets.value as usize)
            .map(move |set| first_line + set * ways..first_line + (set + 1) * ways)
    }

    /// The lines in which `page` may be.
    #[inline]
    pub fn set_of(&self, page: Lpn) -> Range<usize> {
        let (piece, number) = if self.pieces.len() == 1 {
            (&self.pieces[0], page.0)
        } else {
            let package = self.packages.remainder(page.0);
            let piece = &self.pieces[self.packages_per_piece.quotient(package) as usize];
            let number = if self.is_raw {
                page.0
            } else {
                let within = self.packages_per_piece.remainder(package);
                self.packages.quotient(page.0) * piece.packages.value + within
            };
            (piece, number)
        };
        let first = piece.first_line + piece.sets.remainder(number) as usize * piece.ways;
        first..first + piece.ways
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn local_numbers_use_every_set_and_raw_ones_few() {
        for (is_raw, used) in [(false, 16), (true, 4)] {
            let places = Places::new(16, 1, 4, 1, is_raw);
            let mut seen = vec![false; places.lines()];
            (0..1000).for_each(|page| seen[places.set_of(Lpn(page)).start] = true);
            assert_eq!(seen.iter().filter(|seen| **seen).count(), used);
        }
    }

    #[test]
    fn whatever_the_sizes_every_page_has_lines_and_sets_are_apart() {
        for lines in 1..40 {
            for ways in [1, 2, 4] {
                for packages in 1..9 {
                    for per_piece in 1..=packages {
                        let places = Places::new(lines, ways, packages, per_piece, false);
                        let used = |piece: &Piece| piece.sets.value as usize * piece.ways;
                        let used: usize = places.pieces.iter().map(used).sum();
                        assert!(used <= lines.max(places.pieces()) as usize);
                        for page in (0..500).map(Lpn) {
                            let set = places.set_of(page);
                            let piece =
                                &places.pieces[places.piece_of(places.package_of(page)) as usize];
                            assert!(!set.is_empty() && set.end <= places.lines());
                            assert!((set.start - piece.first_line).is_multiple_of(piece.ways));
                            assert_eq!(set.start / WAYS_MAX, (set.end - 1) / WAYS_MAX);
                        }
                    }
                }
            }
        }
    }
}
