//! What an operation says besides to one who carries it out: contents, and what blocks are used for.

use destage_base::Lpn;

use crate::nand::Ppn;

/// What an operation writes, or what a read looks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Nothing: an erase, or a read that only moves zeros over the bus.
    None,
    /// A logical page: the bytes being written (padding too), or those the host asked for.
    Host(Lpn),
    /// What the physical page holds, moved as it is.
    Copy(Ppn),
    /// What the physical page of another die holds, moved as it is.
    CopyFrom(u32, Ppn),
    /// A page of the map, by its number within the die.
    Map(u32),
    /// The summary of the block.
    Summary,
    /// Only the spare area of a page (reads).
    Spare,
    /// Nothing that anybody needs: the page is programmed so that others can be.
    Filler,
}

/// What a block is used for.
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

/// What a block is used for, and by whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Purpose {
    /// What for.
    pub role: Role,
    /// The logical block it belongs to, counted within the die; none if it is shared by all.
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

/// What a [detailed](super::Operations::detailed) operation says besides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Detail {
    /// What it writes, or looks for.
    pub content: Content,
    /// Of a program: what the block is used for.
    pub purpose: Option<Purpose>,
}
