//! The reasons for which the medium refuses operations, with the message for each reason.

use core::fmt;

use destage_base::Lpn;

/// A physical page. A block is denoted by its first page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    /// The number of the die.
    pub die: u32,
    /// The number of the block in the die.
    pub block: u32,
    /// The number of the page in the block.
    pub page: u32,
}

impl fmt::Display for Spot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { die, block, page } = self;
        write!(out, "page {page} of block {block} of die {die}")
    }
}

/// The reason why an operation was not carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// A step began on a die whose latest step has not ended.
    Busy {
        /// The die.
        die: u32,
    },
    /// The operations were given without their contents.
    NotDetailed,
    /// A program of a page that is programmed already, or whose number is beyond the last page of the block.
    ProgramOfProgrammed(Spot),
    /// A program of a page before the last programmed page, on flash whose pages are programmed in ascending order.
    OutOfOrder {
        /// The page that was to be programmed.
        spot: Spot,
        /// The number after the last programmed page of the block.
        end: u32,
    },
    /// A program without its contents, or without the use of its block.
    WithoutContent(Spot),
    /// A program for the host without an image of the page.
    WithoutImage {
        /// The logical page.
        page: Lpn,
        /// The page that was to be programmed.
        spot: Spot,
    },
    /// An image whose number of bytes is not that of a page.
    WrongLength {
        /// The logical page.
        page: Lpn,
        /// Bytes of the image.
        given: usize,
        /// Bytes of a page.
        wanted: usize,
    },
    /// A program of a version that is older than the newest programmed version. The write order was violated.
    StaleProgram {
        /// The logical page.
        page: Lpn,
        /// The version that was to be programmed.
        version: u64,
        /// The newest version that was programmed.
        newest: u64,
    },
    /// A program of a logical page while another program of this page is in flight on another die.
    InFlight {
        /// The logical page.
        page: Lpn,
        /// The die of the program in flight.
        die: u32,
    },
    /// A copy of a page that its lane has not read.
    CopyOfUnread {
        /// The page that is copied.
        from: Spot,
        /// The page to which it was to be copied.
        spot: Spot,
    },
    /// A read of an erased page.
    ReadOfErased(Spot),
    /// A read of a page whose program or erase was cut off.
    ReadOfUnreadable(Spot),
    /// A read of a logical page at a physical page that does not hold its newest copy.
    ReadOfOld {
        /// The logical page.
        page: Lpn,
        /// The page that is read.
        spot: Spot,
        /// The place of the newest copy, if the logical page has one.
        newest: Option<Spot>,
    },
    /// A read of a page of the map at a physical page that holds other data.
    NotTheMap {
        /// The page of the map.
        map_page: u32,
        /// The page that is read.
        spot: Spot,
    },
    /// An erase that does not begin at the first page of a block.
    EraseOfPage(Spot),
    /// An erase of a block that holds the newest copy of a logical page.
    EraseOfNewest {
        /// The block.
        spot: Spot,
        /// The logical page.
        page: Lpn,
    },
    /// An erase of a block with a copy whose replacement is still being programmed.
    EraseOfHeld {
        /// The block.
        spot: Spot,
        /// The logical page.
        page: Lpn,
        /// The die of the program in flight.
        by: u32,
    },
    /// A program command in a block whose erase has not ended.
    ProgramBeforeErase(Spot),
    /// An erase of a block with a page that was read in order to copy it, but whose copy is not programmed yet.
    EraseBeforeCopies {
        /// The block.
        spot: Spot,
        /// The page of the block.
        page: u32,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy { die } => write!(out, "a step on die {die}, whose last step has not ended"),
            Self::NotDetailed => write!(out, "operations without their contents"),
            Self::ProgramOfProgrammed(spot) => {
                write!(out, "program of {spot}, which is programmed or not there")
            }
            Self::OutOfOrder { spot, end } => write!(
                out,
                "program of {spot}, which is programmed up to page {end} and takes pages in ascending order only"
            ),
            Self::WithoutContent(spot) => {
                write!(out, "program of {spot} without its content")
            }
            Self::WithoutImage { page, spot } => write!(
                out,
                "program of logical page {} at {spot} without its bytes",
                page.0
            ),
            Self::WrongLength {
                page,
                given,
                wanted,
            } => write!(
                out,
                "{given} bytes for logical page {}; a page has {wanted}",
                page.0
            ),
            Self::StaleProgram {
                page,
                version,
                newest,
            } => write!(
                out,
                "program of version {version} of logical page {} after version {newest}",
                page.0
            ),
            Self::InFlight { page, die } => write!(
                out,
                "program of logical page {} while another one is in flight on die {die}",
                page.0
            ),
            Self::CopyOfUnread { from, spot } => {
                write!(out, "copy of {from} to {spot} without a read before it")
            }
            Self::ReadOfErased(spot) => write!(out, "read of {spot}, which is erased"),
            Self::ReadOfUnreadable(spot) => {
                write!(out, "read of {spot}, whose program or erase was cut off")
            }
            Self::ReadOfOld { page, spot, newest } => {
                write!(out, "read of logical page {} at {spot}; ", page.0)?;
                match newest {
                    Some(newest) => write!(out, "its newest copy is {newest}"),
                    None => write!(out, "it has no contents"),
                }
            }
            Self::NotTheMap { map_page, spot } => write!(
                out,
                "read of page {map_page} of the map at {spot}, which holds other data"
            ),
            Self::EraseOfPage(spot) => {
                write!(out, "erase at {spot}, which is not the first of its block")
            }
            Self::EraseOfNewest { spot, page } => write!(
                out,
                "erase of block {} of die {}, which holds the newest copy of logical page {}",
                spot.block, spot.die, page.0
            ),
            Self::EraseOfHeld { spot, page, by } => write!(
                out,
                "erase of block {} of die {}, which holds logical page {} until its program on die {by} has ended",
                spot.block, spot.die, page.0
            ),
            Self::ProgramBeforeErase(spot) => {
                write!(
                    out,
                    "program of {spot} before the erase of its block has ended"
                )
            }
            Self::EraseBeforeCopies { spot, page } => write!(
                out,
                "erase of block {} of die {} before the copy of its page {page} has ended",
                spot.block, spot.die
            ),
        }
    }
}

impl core::error::Error for Refusal {}
