//! The details of an operation, for a caller that carries out the operation on bytes: the contents of the page, and
//! the use of the block.

use destage_base::Lpn;

use crate::array::Ppn;

/// The contents that an operation writes, or that a read expects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// No contents: an erase, or a read that only moves zeros over the bus.
    None,
    /// A logical page. For a program, the bytes of the host or of padding; for a read, the bytes that the host reads.
    Host(Lpn),
    /// The contents of this physical page, moved unchanged.
    Copy(Ppn),
    /// The contents of this physical page of another die, moved unchanged.
    CopyFrom(u32, Ppn),
    /// A page of the map, given by its number within the die.
    Map(u32),
    /// The summary of the block, or another page that the drive uses itself.
    Summary,
    /// For reads: only the spare area of a page.
    Spare,
    /// Contents that are never read. The page is programmed only because the pages of a block have to be programmed
    /// in order.
    Filler,
}

/// The use of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The pages of one logical block.
    Data,
    /// Newer copies of pages. If the block has an owner, all pages are of this logical block; otherwise of any
    /// logical block.
    Log,
    /// Newer copies of the pages of one logical block, in ascending order from its first page on.
    SequentialLog,
    /// Newer copies of the pages of one logical block, each at its own offset.
    Replacement,
    /// Pages of several adjacent logical blocks. The owner is the first of these logical blocks.
    Update,
    /// Pages that the host or the buffer wrote, of any logical block.
    Host,
    /// Pages that garbage collection or wear levelling moved.
    Migrations,
    /// Pages of the map.
    Map,
    /// Pages that the host or the buffer wrote, in cells that hold one bit although they could hold more.
    Cache,
}

/// The use of a block, and the logical block that owns it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Purpose {
    /// The use.
    pub role: Role,
    /// The number, within the die, of the logical block to which the block belongs; `None` if the block holds pages
    /// of any logical block.
    pub owner: Option<u32>,
}

impl Purpose {
    /// The purpose of a block that holds pages of any logical block.
    #[must_use]
    pub fn shared(role: Role) -> Self {
        Self { role, owner: None }
    }

    /// The purpose of a block that belongs to the logical block `owner` of the die.
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
    /// The contents that the operation writes or, for a read, expects.
    pub content: Content,
    /// For a program, the use of the block.
    pub purpose: Option<Purpose>,
}
