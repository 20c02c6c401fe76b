//! How long cells take: by type of page, wear and age.

use alloc::vec::Vec;

use destage_base::Ticks;

/// Reads that get slower in steps, as blocks wear and data age.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tiers {
    /// Ticks of each step.
    pub step: Ticks,
    /// Erases to a step; 0: wear adds none.
    pub erases: u32,
    /// Seconds to a step; 0: age adds none.
    pub age_s: u64,
    /// No more steps than this.
    pub most: u64,
}

/// Times of the cells, in ticks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cells {
    /// By type of page; the last stands for all further.
    pub read: Vec<Ticks>,
    /// The same.
    pub program: Vec<Ticks>,
    /// A block.
    pub erase: Ticks,
    /// Slower reads.
    pub tiers: Tiers,
}

fn by_type(times: &[Ticks], page_type: u32) -> Ticks {
    let last = times.len().saturating_sub(1);
    times
        .get(last.min(page_type as usize))
        .copied()
        .unwrap_or(0)
}

impl Cells {
    /// A read of a page of type `page_type` in a block of `erases`, written `age_s` seconds ago.
    #[must_use]
    pub fn read(&self, page_type: u32, erases: u32, age_s: u64) -> Ticks {
        let Tiers {
            step,
            erases: by_wear,
            age_s: by_age,
            most,
        } = self.tiers;
        let worn = u64::from(erases.checked_div(by_wear).unwrap_or(0));
        let aged = age_s.checked_div(by_age).unwrap_or(0);
        by_type(&self.read, page_type) + step * most.min(worn + aged)
    }

    /// A program of a page of this type.
    #[must_use]
    pub fn program(&self, page_type: u32) -> Ticks {
        by_type(&self.program, page_type)
    }
}
