//! A row of places, some of them marked, and the number of marks before a place.

/// Bits of a word.
const WORD: usize = u64::BITS as usize;
/// Words of a block: as many as one line of the processor's cache has.
const BLOCK: usize = 8;

/// A set of places below a bound. Counting costs the logarithm of a five-hundredth of the bound.
pub(super) struct Marks {
    words: Vec<u64>,
    /// Marks by block, as a binary indexed tree.
    tree: Vec<u32>,
    total: u32,
}

impl Marks {
    /// No place of `places` places is marked.
    pub(super) fn new(places: usize) -> Self {
        let blocks = places.div_ceil(WORD * BLOCK);
        Self {
            words: vec![0; blocks * BLOCK],
            tree: vec![0; blocks + 1],
            total: 0,
        }
    }

    /// How many there are.
    #[inline]
    pub(super) fn total(&self) -> u32 {
        self.total
    }

    /// Marks `place`, which was not marked.
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

    /// `place`, which was marked, is no more.
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
