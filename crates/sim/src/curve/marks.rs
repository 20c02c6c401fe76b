//! A set of marked places. A place is an index below a bound. The set counts the marks from a place on.

/// Bits of a word.
const WORD: usize = u64::BITS as usize;
/// Words of a block: as many as fit into one cache line of the processor.
const BLOCK: usize = 8;

/// A set of places below a bound. The time to count marks grows with the logarithm of the number of blocks, each of
/// 512 places.
pub(super) struct Marks {
    words: Vec<u64>,
    /// Number of marks in each block, as a binary indexed tree.
    tree: Vec<u32>,
    total: u32,
}

impl Marks {
    /// A set for `places` places, without a mark.
    pub(super) fn new(places: usize) -> Self {
        let blocks = places.div_ceil(WORD * BLOCK);
        Self {
            words: vec![0; blocks * BLOCK],
            tree: vec![0; blocks + 1],
            total: 0,
        }
    }

    /// The number of marks.
    #[inline]
    pub(super) fn total(&self) -> u32 {
        self.total
    }

    /// Marks `place`, which is not marked.
    #[inline]
    pub(super) fn set(&mut self, place: usize) {
        self.words[place / WORD] |= 1 << (place % WORD);
        self.total += 1;
        let mut node = place / (WORD * BLOCK) + 1;
        while node < self.tree.len() {
            self.tree[node] += 1;
            node += node & node.wrapping_neg();
        }
    }

    /// Removes the mark of `place`, which is marked.
    #[inline]
    pub(super) fn clear(&mut self, place: usize) {
        self.words[place / WORD] &= !(1 << (place % WORD));
        self.total -= 1;
        let mut node = place / (WORD * BLOCK) + 1;
        while node < self.tree.len() {
            self.tree[node] -= 1;
            node += node & node.wrapping_neg();
        }
    }

    /// The number of marks at `place` and after it.
    #[inline]
    pub(super) fn from(&self, place: usize) -> u32 {
        let (word, block) = (place / WORD, place / (WORD * BLOCK));
        let mut before = 0;
        let mut node = block;
        while node > 0 {
            before += self.tree[node];
            node &= node - 1;
        }
        for whole in &self.words[block * BLOCK..word] {
            before += whole.count_ones();
        }
        let mask = (1_u64 << (place % WORD)) - 1;
        before += (self.words[word] & mask).count_ones();
        self.total - before
    }

    /// All marked places, in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(index * WORD + bit)
            })
        })
    }
}
