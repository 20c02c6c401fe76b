//! A large table that uses memory only for the chunks that were touched.
//!
//! A 512 GiB device has 2^27 pages, and a trace touches few of them. The table is cut into chunks of [`CHUNK`]
//! entries. The first touch of a chunk allocates the chunk and gives each of its entries the value that the table's
//! rule defines. So the table of a new device needs only one pointer per chunk. Its memory grows with the number of
//! pages that the trace touches, not with the capacity of the device.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::archive::{Archive, Archived, Damaged};

const CHUNK_BITS: u32 = 10;
const WORD: usize = u64::BITS as usize;
/// Entries in a chunk: 4 KiB of `u32`.
pub const CHUNK: usize = 1 << CHUNK_BITS;

/// The rule that gives each entry its initial value.
pub trait Initial {
    /// The entry type.
    type Entry: Copy;
    /// The initial value of entry `index`.
    fn at(&self, index: usize) -> Self::Entry;

    /// The initial value of all entries, if the rule gives the same value to all of them. Default: `None`, not known.
    fn of_all(&self) -> Option<Self::Entry> {
        None
    }

    /// Appends the initial values of the entries in `of` to `entries`. The default computes one entry after the
    /// other. A rule may implement a faster method.
    fn fill(&self, of: Range<usize>, entries: &mut Vec<Self::Entry>) {
        entries.extend(of.map(|index| self.at(index)));
    }
}

/// The rule that gives each entry the same value.
#[derive(Clone, Copy, Debug)]
pub struct Same<E>(pub E);

impl<E: Copy> Initial for Same<E> {
    type Entry = E;

    #[inline]
    fn at(&self, _: usize) -> E {
        self.0
    }

    fn of_all(&self) -> Option<E> {
        Some(self.0)
    }
}

/// The chunks whose entries all have the same value. These chunks use no memory for their entries.
#[derive(Clone)]
struct Uniform<E> {
    value: E,
    /// One bit per chunk of the table.
    chunks: Vec<u64>,
}

impl<E> Uniform<E> {
    fn has(&self, chunk: usize) -> bool {
        self.chunks[chunk / WORD] >> (chunk % WORD) & 1 == 1
    }
}

/// A table of `len` entries. Entries of untouched chunks have the values that the rule `I` gives, and use no memory.
#[derive(Clone)]
pub struct LazyTable<I: Initial> {
    chunks: Vec<Option<Box<[I::Entry; CHUNK]>>>,
    /// The chunks that [`LazyTable::set_all`] has set; `None` before the first of them.
    uniform: Option<Box<Uniform<I::Entry>>>,
    initial: I,
    len: usize,
}

/// Cuts `range` into parts that are whole chunks of a table, except the first and the last part.
pub fn parts(range: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
    let Range { start, end } = *range;
    let chunks = start >> CHUNK_BITS..end.div_ceil(CHUNK);
    chunks.filter_map(move |chunk| {
        let first = chunk << CHUNK_BITS;
        let part = first.max(start)..(first + CHUNK).min(end);
        (!part.is_empty()).then_some(part)
    })
}

impl<I: Initial> LazyTable<I> {
    /// A table of `len` untouched entries.
    pub fn new(len: usize, initial: I) -> Self {
        Self {
            // The allocator provides zeroed memory only when it is used, so even the pointers need no memory before
            // their use.
            chunks: vec![None; len.div_ceil(CHUNK)],
            uniform: None,
            initial,
            len,
        }
    }

    /// The rule that gives untouched entries their values.
    #[must_use]
    pub fn rule(&self) -> &I {
        &self.initial
    }

    /// The value of entry `index`. Reading does not touch the chunk of the entry.
    ///
    /// # Panics
    /// If `index` is not below the table's length.
    #[inline]
    pub fn get(&self, index: usize) -> I::Entry {
        match &self.chunks[index >> CHUNK_BITS] {
            Some(chunk) => chunk[index & (CHUNK - 1)],
            None => match self.uniform_of(index >> CHUNK_BITS) {
                Some(value) => value,
                None => self.initial.at(index),
            },
        }
    }

    /// The value of all entries of `chunk`, if [`LazyTable::set_all`] has set it and no entry was touched since.
    #[inline]
    fn uniform_of(&self, chunk: usize) -> Option<I::Entry> {
        let uniform = self.uniform.as_ref()?;
        uniform.has(chunk).then_some(uniform.value)
    }

    /// Whether the table knows without a look at the entries that all entries in the chunk of entry `index` have `value`.
    /// It knows this of an untouched chunk that [`LazyTable::set_all`] or the rule of the table gave this value.
    #[must_use]
    pub fn has_only(&self, index: usize, value: I::Entry) -> bool
    where
        I::Entry: PartialEq,
    {
        let of_all = match self.uniform_of(index >> CHUNK_BITS) {
            Some(set) => Some(set),
            None if self.touched_at(index).is_none() => self.initial.of_all(),
            None => None,
        };
        of_all == Some(value)
    }

    /// Gives `value` to the entries in `part`. If `part` is a whole chunk, its entries use no memory afterwards until
    /// one of them is touched, and all such calls for a table have to give the same value.
    ///
    /// # Panics
    /// If an entry of `part` is not in the table.
    pub fn set_all(&mut self, part: Range<usize>, value: I::Entry) {
        let is_whole =
            part.start.is_multiple_of(CHUNK) && part.end == self.len.min(part.start + CHUNK);
        match is_whole {
            true => self.set_chunk(part.start >> CHUNK_BITS, value),
            false => part.for_each(|index| *self.get_mut(index) = value),
        }
    }

    /// Gives `value` to the entries in `range`, as [`LazyTable::set_all`] does, and calls `replaced` for each other value
    /// that an entry had, in ascending order of the entries.
    ///
    /// # Panics
    /// If an entry of `range` is not in the table.
    pub fn replace_all(
        &mut self,
        range: &Range<usize>,
        value: I::Entry,
        mut replaced: impl FnMut(I::Entry),
    ) where
        I::Entry: PartialEq,
    {
        for part in parts(range) {
            if self.has_only(part.start, value) {
                continue;
            }
            let mut has_others = false;
            for old in part.clone().map(|index| self.get(index)) {
                if old != value {
                    replaced(old);
                    has_others = true;
                }
            }
            if has_others {
                self.set_all(part, value);
            }
        }
    }

    /// Gives `value` to all entries of chunk number `chunk`. The entries use no memory until one of them is touched.
    fn set_chunk(&mut self, chunk: usize, value: I::Entry) {
        self.chunks[chunk] = None;
        let words = self.chunks.len().div_ceil(WORD);
        let uniform = self.uniform.get_or_insert_with(|| {
            let chunks = vec![0; words];
            Box::new(Uniform { value, chunks })
        });
        uniform.chunks[chunk / WORD] |= 1 << (chunk % WORD);
    }

    /// The value of entry `index`, or `None` if its chunk is untouched. A chunk that [`LazyTable::set_all`] has set
    /// counts as untouched, too.
    #[inline(always)]
    pub fn touched_at(&self, index: usize) -> Option<I::Entry> {
        let chunk = self.chunks.get(index >> CHUNK_BITS)?.as_ref()?;
        Some(chunk[index & (CHUNK - 1)])
    }

    /// A mutable reference to entry `index`. The call touches the chunk of the entry.
    ///
    /// # Panics
    /// If `index` is not below the table's length.
    #[inline(always)]
    pub fn get_mut(&mut self, index: usize) -> &mut I::Entry {
        let slot = &mut self.chunks[index >> CHUNK_BITS];
        let chunk = match slot {
            Some(chunk) => chunk,
            None => slot.insert(match &mut self.uniform {
                None => Self::fill(&self.initial, index, self.len),
                Some(uniform) => Self::fill_set(uniform, &self.initial, index, self.len),
            }),
        };
        &mut chunk[index & (CHUNK - 1)]
    }

    /// A mutable reference to entry `index`, or `None` if the chunk of the entry is untouched. A chunk that
    /// [`LazyTable::set_all`] has set counts as untouched, too.
    #[inline(always)]
    pub fn touched_mut(&mut self, index: usize) -> Option<&mut I::Entry> {
        let chunk = self.chunks.get_mut(index >> CHUNK_BITS)?.as_mut()?;
        Some(&mut chunk[index & (CHUNK - 1)])
    }

    /// Indices and values of all entries of touched chunks, in ascending order of the index. The chunks that
    /// [`LazyTable::set_all`] has set are left out.
    pub fn touched(&self) -> impl Iterator<Item = (usize, I::Entry)> + '_ {
        self.chunks
            .iter()
            .enumerate()
            .filter_map(|(number, chunk)| Some((number, chunk.as_ref()?)))
            .flat_map(move |(number, chunk)| {
                let first = number << CHUNK_BITS;
                chunk
                    .iter()
                    .take(self.len - first)
                    .enumerate()
                    .map(move |(offset, entry)| (first + offset, *entry))
            })
    }

    /// Indices and values of the entries in `range` that belong to touched chunks. The chunks that
    /// [`LazyTable::set_all`] has set are left out. The cost grows with the number of chunks that overlap the range.
    pub fn touched_in(&self, range: Range<usize>) -> impl Iterator<Item = (usize, I::Entry)> + '_ {
        let range = range.start..range.end.min(self.len).max(range.start);
        let chunks = range.start >> CHUNK_BITS..range.end.div_ceil(CHUNK);
        chunks
            .filter_map(|number| Some((number << CHUNK_BITS, self.chunks[number].as_ref()?)))
            .flat_map(move |(first, chunk)| {
                let from = range.start.max(first);
                let to = range.end.min(first + CHUNK);
                (from..to).map(move |index| (index, chunk[index - first]))
            })
    }

    /// Calls `change` on every entry of every touched chunk.
    pub fn for_each_touched(&mut self, change: impl FnMut(&mut I::Entry)) {
        self.chunks
            .iter_mut()
            .flatten()
            .flat_map(|chunk| chunk.iter_mut())
            .for_each(change);
    }

    /// The number of entries, touched or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the table has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// [`LazyTable::fill`], if some chunks of the table are set. The chunk of entry `index` is no longer one of them.
    #[cold]
    fn fill_set(
        uniform: &mut Uniform<I::Entry>,
        initial: &I,
        index: usize,
        len: usize,
    ) -> Box<[I::Entry; CHUNK]> {
        let chunk = index >> CHUNK_BITS;
        if !uniform.has(chunk) {
            return Self::fill(initial, index, len);
        }
        uniform.chunks[chunk / WORD] &= !(1 << (chunk % WORD));
        Box::new([uniform.value; CHUNK])
    }

    #[cold]
    fn fill(initial: &I, index: usize, len: usize) -> Box<[I::Entry; CHUNK]> {
        let first = index & !(CHUNK - 1);
        let mut chunk = Vec::with_capacity(CHUNK);
        initial.fill(first..len.min(first + CHUNK), &mut chunk);
        // Entries past the end of the table are never read, so the rule need not define their values.
        chunk.resize(CHUNK, chunk[0]);
        match chunk.into_boxed_slice().try_into() {
            Ok(chunk) => chunk,
            Err(_) => unreachable!("a chunk has this many entries"),
        }
    }
}

/// The archive has one flag per chunk, and after the flag of a touched chunk the entries of that chunk. A chunk that
/// [`LazyTable::set_all`] has set is archived like a touched one.
impl<I: Initial<Entry: Archived>> Archived for LazyTable<I> {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<(), Damaged> {
        for number in 0..self.chunks.len() {
            let is_set = self.uniform_of(number).is_some();
            let mut is_touched = self.chunks[number].is_some() || is_set;
            is_touched.archive(archive)?;
            if !is_touched {
                self.chunks[number] = None;
                continue;
            }
            let first = number << CHUNK_BITS;
            self.get_mut(first);
            let entries = self.chunks[number]
                .iter_mut()
                .flat_map(|chunk| &mut **chunk);
            for entry in entries.take(self.len - first) {
                entry.archive(archive)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tests::read;
    use crate::archive::to_bytes;

    #[derive(Clone)]
    struct Doubled;
    impl Initial for Doubled {
        type Entry = u32;
        fn at(&self, index: usize) -> u32 {
            index as u32 * 2
        }
    }

    #[test]
    fn a_chunk_that_was_set_has_one_value_until_an_entry_changes() {
        let mut table = LazyTable::new(3 * CHUNK + 3, Doubled);
        *table.get_mut(CHUNK) = 5;
        for part in parts(&(CHUNK..2 * CHUNK)).chain(parts(&(3 * CHUNK..3 * CHUNK + 3))) {
            table.set_all(part, 9);
        }
        let expected = |index: usize| match index >> CHUNK_BITS {
            1 | 3 => 9,
            _ => 2 * index as u32,
        };
        assert!((0..table.len()).all(|index| table.get(index) == expected(index)));
        assert_eq!(table.touched().count(), 0);
        let ends = [0, CHUNK, 2 * CHUNK, 3 * CHUNK];
        let known = ends.map(|index| table.has_only(index, 9));
        assert_eq!(known, [false, true, false, true]);
        assert!(!table.has_only(CHUNK, 8));
        let mut loaded = LazyTable::new(table.len(), Doubled);
        read(&mut loaded, &to_bytes(&mut table.clone()).unwrap()).unwrap();
        assert!((0..table.len()).all(|index| loaded.get(index) == expected(index)));
        *table.get_mut(CHUNK + 1) = 7;
        assert_eq!([0, 1, 2].map(|place| table.get(CHUNK + place)), [9, 7, 9]);
        assert_eq!(table.get(3 * CHUNK), 9);
        let mut replaced = Vec::new();
        table.replace_all(&(CHUNK - 1..2 * CHUNK), 9, |old| replaced.push(old));
        assert_eq!(replaced, [2 * (CHUNK as u32 - 1), 7]);
        assert_eq!([0, 1, 2].map(|place| table.get(CHUNK - 1 + place)), [9; 3]);
        assert_eq!(table.touched().count(), CHUNK);
    }

    #[test]
    fn untouched_entries_follow_the_rule_and_touched_ones_keep_their_value() {
        let mut table = LazyTable::new(CHUNK + 3, Doubled);
        assert_eq!(table.get(CHUNK + 2), 2 * (CHUNK as u32 + 2));
        *table.get_mut(CHUNK) = 5;
        assert_eq!(
            (table.get(CHUNK), table.get(CHUNK + 1)),
            (5, 2 * (CHUNK as u32 + 1))
        );
        assert_eq!(table.touched().count(), 3);
        let near = |range| {
            table
                .touched_in(range)
                .map(|(index, _)| index)
                .collect::<Vec<_>>()
        };
        assert_eq!(near(0..CHUNK + 2), [CHUNK, CHUNK + 1]);
        assert_eq!(near(CHUNK + 2..usize::MAX), [CHUNK + 2]);
        assert_eq!(near(0..CHUNK), [0; 0]);
        assert_eq!(near(4 * CHUNK..5 * CHUNK), [0; 0]);
    }
}
