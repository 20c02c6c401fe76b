//! Draws cards without replacement. Therefore each card is drawn as often as in the fitted trace, whatever the seed.

use destage_base::Random;

/// Draws cards without replacement. When no card is left, all cards are put back.
#[derive(Clone, Debug, Default)]
pub(super) struct Deck {
    cards: Vec<u64>,
    left: usize,
}

impl Deck {
    pub(super) const fn new(cards: Vec<u64>) -> Self {
        Self {
            left: cards.len(),
            cards,
        }
    }

    /// The next card; `None` if the deck has no cards.
    pub(super) fn draw(&mut self, random: &mut Random) -> Option<u64> {
        if self.cards.is_empty() {
            return None;
        }
        if self.left == 0 {
            self.left = self.cards.len();
        }
        let i = random.below(self.left as u64) as usize;
        self.left -= 1;
        self.cards.swap(i, self.left);
        Some(self.cards[self.left])
    }
}
