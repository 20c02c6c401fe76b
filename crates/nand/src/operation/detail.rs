//! Details of an operation for a caller that carries it out: contents, and the use of blocks.

use destage_base::Lpn;

use crate::array::Ppn;

/// The contents that an operation writes, or that a read expects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Nothing: an erase, or a read that only moves zeros over the bus.
    None,
    /// A logical page: the bytes being written (padding too), or those the host asked for.
    Host(Lpn),
    /// The contents of the physical page, moved unchanged.
    Copy(Ppn),
    /// The contents of the physical page of another die, moved unchanged.
    CopyFrom(u32, Ppn),
    /// A page of the map, by its number within the die.
    Map(u32),
    /// The summary of the block.
    Summary,
    /// Only the spare area of a page (reads).
    Spare,
    /// Contents that no reader needs: the page is programmed so that others can be.
    Filler,
}

/// The use of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The pages of one logical block.
    Data,
    /// Newer copies of pages of any logical block, or of one if there is an owner.
    Log,
    /// Newer copies of pages of one logical block, from its first page on.
    SequentialLog,
    /// Newer copies of pages of one logical block, each at its own offset.
    Replacement,
    /// Pages of several adjacent logical blocks, of which the owner is the first.
    Update,
    /// Pages written from above, wherever they belong.
    Host,
    /// Pages that garbage collection or wear levelling moved.
    Migrations,
    /// Pages of the map.
    Map,
    /// Pages written from above, with one bit a cell where others hold more.
    Cache,
}

/// The use of a block, and its user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Purpose {
    /// What for.
    pub role: Role,
    /// The logical block it belongs to, counted within the die; `None` if it is shared by all.
    pub owner: Option<u32>,
}

impl Purpose {
    /// A block that serves all logical blocks.
    #[must_use]
    pub fn shared(role: Role) -> Self {
        Self { role, owner: None }
    }

    /// A block that belongs to logical block `owner` of the die.
    #[must_use]
    pub fn owned(role: Role, owner: u32) -> Self {
        Self {
            role,
            owner: Some(owner),
        }
    }
}

/// The details of a [detailed](super::Operations::detailed) operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Detail {
    /// The contents that it writes, or expects.
    pub content: Content,
    /// For a program: the use of the block.
    pub purpose: Option<Purpose>,
}
