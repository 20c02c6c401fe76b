//! The times of the cells, by type of page.

use alloc::vec::Vec;

use destage_base::Ticks;

/// Times of the cells, in ticks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cells {
    /// Times of a read, by type of page. All types beyond the last entry have the time of the last entry.
    pub read: Vec<Ticks>,
    /// Times of a program, by type of page. All types beyond the last entry have the time of the last entry.
    pub program: Vec<Ticks>,
    /// Time of the erase of a block.
    pub erase: Ticks,
}

fn by_type(times: &[Ticks], page_type: u32) -> Ticks {
    let last = times.len().saturating_sub(1);
    times
        .get(last.min(page_type as usize))
        .copied()
        .unwrap_or(0)
}

impl Cells {
    /// Ticks of the read of a page of this type.
    #[must_use]
    pub fn read(&self, page_type: u32) -> Ticks {
        by_type(&self.read, page_type)
    }

    /// Ticks of the program of a page of this type.
    #[must_use]
    pub fn program(&self, page_type: u32) -> Ticks {
        by_type(&self.program, page_type)
    }
}
