//! The refusals of the medium, in numbers and in words.

use core::fmt;

use destage_base::Lpn;

/// A physical page, or a block by its first page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    /// The die.
    pub die: u32,
    /// The block of the die.
    pub block: u32,
    /// The page of the block.
    pub page: u32,
}

impl fmt::Display for Spot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { die, block, page } = self;
        write!(out, "page {page} of block {block} of die {die}")
    }
}

/// An operation that was not carried out, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// A step on a die whose last step has not ended.
    Busy {
        /// The die.
        die: u32,
    },
    /// Operations without their contents.
    NotDetailed,
    /// A program of a page that is programmed, or that the block does not have.
    ProgramOfProgrammed(Spot),
    /// A program before the last page programmed, where only ascending order is possible.
    OutOfOrder {
        /// The page.
        spot: Spot,
        /// The page after the last one programmed.
        end: u32,
    },
    /// A program without its content, or without the use of its block.
    WithoutContent(Spot),
    /// A program for the host without an image of the page.
    WithoutImage {
        /// The logical page.
        page: Lpn,
        /// Where it was to go.
        spot: Spot,
    },
    /// An image that has not as many bytes as a page.
    WrongLength {
        /// The logical page.
        page: Lpn,
        /// Bytes of the image.
        given: usize,
        /// Bytes of a page.
        wanted: usize,
    },
    /// A program of a version older than one programmed before: the order of writes was broken.
    StaleProgram {
        /// The logical page.
        page: Lpn,
        /// The version.
        version: u64,
        /// The newest version programmed.
        newest: u64,
    },
    /// A program of a page while another one of the same page is in flight on another die.
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
        /// Where it was to go.
        spot: Spot,
    },
    /// A read of an erased page.
    ReadOfErased(Spot),
    /// A read of a page whose program or erase was cut off.
    ReadOfUnreadable(Spot),
    /// A read of a logical page at a place that is not its newest copy.
    ReadOfOld {
        /// The logical page.
        page: Lpn,
        /// The page that is read.
        spot: Spot,
        /// Where the newest copy is, if there is one.
        newest: Option<Spot>,
    },
    /// A read of a page of the map at a place that holds other data.
    NotTheMap {
        /// The page of the map.
        map_page: u32,
        /// The page that is read.
        spot: Spot,
    },
    /// An erase that does not begin at the first page of a block.
    EraseOfPage(Spot),
    /// An erase of a block that holds the newest copy of a page.
    EraseOfNewest {
        /// The block.
        spot: Spot,
        /// The logical page.
        page: Lpn,
    },
    /// An erase of a block with a copy whose replacement is still in flight.
    EraseOfHeld {
        /// The block.
        spot: Spot,
        /// The logical page.
        page: Lpn,
        /// The die of the program in flight.
        by: u32,
    },
    /// A command that programs a page of a block whose erase has not ended.
    ProgramBeforeErase(Spot),
    /// An erase of a block before a page that was read to be copied is programmed elsewhere.
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
