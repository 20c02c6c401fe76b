//! The streams of pages that move, and the operations that move them.

use super::{Die, Stream};
use destage_nand::array::Ppn;
use destage_nand::operation::{Cause, Operations, Transfer};

impl Die {
    /// Whether a page that moves from block `from` to block `to` does not cross the bus.
    pub fn copies_are_free(&self, from: u32, to: u32) -> bool {
        self.rules.free_inside_planes && self.plane_of(from) == self.plane_of(to)
    }

    /// Emits the copy of the page at `from` to `to`, which belongs to `stream`. `last` is the page that the same
    /// step has read before. If `last` and `from` share a page of flash, that page of flash is not read again.
    #[inline]
    pub fn push_copy(
        &self,
        cause: Cause,
        (from, to): (Ppn, Ppn),
        last: Option<Ppn>,
        stream: Stream,
        operations: &mut Operations,
    ) {
        let (source, target) = (from.0 >> self.shape.page_bits, to.0 >> self.shape.page_bits);
        let transfer = match self.copies_are_free(source, target) {
            true => Transfer::None,
            false => Transfer::TwoPages,
        };
        if self.rules.units_per_page > 1 && last.is_some_and(|last| self.share_a_page(last, from)) {
            operations.push_program_of_copy(cause, transfer, from, to, || stream.purpose());
        } else {
            operations.push_copy(cause, transfer, from, to, || stream.purpose());
        }
    }

    /// Whether two units of the mapping share a page of flash.
    fn share_a_page(&self, one: Ppn, other: Ppn) -> bool {
        let place = |Ppn(at): Ppn| {
            let within = at & ((1 << self.shape.page_bits) - 1);
            (
                at >> self.shape.page_bits,
                within / self.rules.units_per_page,
            )
        };
        place(one) == place(other)
    }

    /// Notes the move of `page`, if moves are noted on this die.
    #[inline]
    pub fn log_migration(&mut self, page: u32) {
        if self.rules.notes_moves {
            self.note_move(page);
        }
    }

    #[inline(never)]
    fn note_move(&mut self, page: u32) {
        if page >= self.shape.numbers() {
            return;
        }
        self.note_change();
        if let Some(streams) = &mut self.extras.streams {
            streams.note_copy(page);
        }
        if let Some(migrated) = &mut self.extras.migrated {
            migrated.push(page);
        }
    }

    /// The stream to which garbage collection moves `page`.
    pub fn stream_of_copy(&self, page: u32) -> Stream {
        if page >= self.shape.numbers() {
            Stream::Map
        } else if self.rules.most_for_copies > 2
            && let Some(kept) = self
                .extras
                .streams
                .as_ref()
                .and_then(|own| own.of_copy(page))
        {
            kept
        } else if self.rules.separate_migrations {
            Stream::Migrations
        } else {
            Stream::Host
        }
    }
}
