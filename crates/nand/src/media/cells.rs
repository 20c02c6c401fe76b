//! How long cells take: by type of page.

use alloc::vec::Vec;

use destage_base::Ticks;

/// Times of the cells, in ticks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cells {
    /// A read, by type of page; the last one stands for all further types.
    pub read: Vec<Ticks>,
    /// A program, by type of page; the last one stands for all further types.
    pub program: Vec<Ticks>,
    /// An erase of a block.
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
    /// A read of a page of this type.
    #[must_use]
    pub fn read(&self, page_type: u32) -> Ticks {
        by_type(&self.read, page_type)
    }

    /// A program of a page of this type.
    #[must_use]
    pub fn program(&self, page_type: u32) -> Ticks {
        by_type(&self.program, page_type)
    }
}
