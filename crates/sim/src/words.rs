//! What the core says in numbers, in words: with the keys that can be set, their values, and what was expected.

use destage_buffer::Contradiction;
use destage_flash::GeometryError;
use destage_flash::ftl::{BuildError, Fixed, ReserveTooSmall, Shortage};

/// Counts that make no device.
pub fn geometry(error: GeometryError) -> String {
    match error {
        GeometryError::Empty => {
            "flash.*: a device has at least one die, one plane and one block".into()
        }
        GeometryError::PagesPerBlock {
            pages_per_block,
            summary_page,
            most,
        } => {
            let summary = if summary_page {
                " with a summary page"
            } else {
                ""
            };
            format!(
                "flash.*: pages_per_block = {pages_per_block}{summary} leaves no data page, or is more than {most}"
            )
        }
        GeometryError::DieTooLarge {
            planes,
            blocks_per_plane,
            pages_per_block,
        } => format!(
            "flash.*: a die of {planes} planes x {blocks_per_plane} blocks x {pages_per_block} pages has 2^32 pages or more; use more dies"
        ),
    }
}

/// Why a layer cannot be made.
pub fn layer(error: &BuildError) -> String {
    match *error {
        BuildError::Geometry(error) => geometry(error),
        BuildError::TooManyPages { pages } => {
            format!("flash.*: the device has {pages} pages; at most 2^32 - 2 are supported")
        }
        BuildError::NoDataBlock {
            blocks,
            logs: None,
            spare,
        } => format!(
            "a die has {blocks} blocks; ftl.spare_blocks = {spare} leaves none of them for data"
        ),
        BuildError::NoDataBlock {
            blocks,
            logs: Some(logs),
            spare,
        } => format!(
            "a die has {blocks} blocks; ftl.log_blocks = {logs} and ftl.spare_blocks = {spare} leave none of them for data"
        ),
        BuildError::ParallelUnits { units, planes } => format!(
            "flash.parallel_units = {units} does not divide flash.planes_per_die = {planes}"
        ),
        BuildError::Stride { stride, pages } => {
            format!("ftl.stride = {stride} is more than the {pages} logical pages of a die")
        }
        BuildError::ReserveIsAll { percent, blocks } => format!(
            "ftl.reserve_percent = {percent} leaves none of {blocks} blocks per plane for data"
        ),
        BuildError::ReserveIsNone { percent, blocks } => format!(
            "ftl.reserve_percent = {percent} of {blocks} blocks per plane is less than one block; a page-mapped device needs one to write to"
        ),
        BuildError::NoCopyBack => "ftl.gc_policy = wear_aware needs flash.copy_back = true".into(),
        BuildError::LowMark { low, least } => format!(
            "ftl.gc_low = {low} leaves no free block for what garbage collection moves; with ftl.separate_gc_block, ftl.gc_policy other than greedy and wear_aware, or a map in flash, it is at least {least}"
        ),
        BuildError::HighMark { high, low } => format!(
            "ftl.gc_high = {high} is less than ftl.gc_low = {low}: garbage collection would end before it starts"
        ),
        BuildError::Reserve(of) => reserve(&of),
        BuildError::Placement(fixed) => {
            let fixed = match fixed {
                Fixed::Stride(stride) => format!("ftl.stride = {stride}"),
                Fixed::ParallelUnits(units) => format!("flash.parallel_units = {units}"),
                Fixed::Plane => "ftl.allocation_pool = plane".into(),
            };
            format!(
                "ftl.placement = dynamic chooses a die for each write and cannot be joined with {fixed}"
            )
        }
    }
}

fn reserve(of: &ReserveTooSmall) -> String {
    let ReserveTooSmall {
        goal,
        min_free_percent,
        low,
        high,
        open,
        separate,
        map_blocks,
        reserve_percent,
        reserved,
        blocks,
    } = of;
    format!(
        "garbage collection keeps {goal} blocks free (ftl.min_free_percent = {min_free_percent}, ftl.gc_low = {low}, ftl.gc_high = {high}), {open} open (ftl.separate_gc_block = {separate}) and {map_blocks} for its map, but ftl.reserve_percent = {reserve_percent} sets aside only {reserved} of {blocks}: garbage collection would never end"
    )
}

/// Parameters of the buffer that contradict each other.
pub fn contradiction(error: Contradiction) -> String {
    match error {
        Contradiction::LowAboveHigh { low, high } => format!(
            "buffer.bg_low = {low} is above buffer.bg_high = {high}; expected at most {high}"
        ),
    }
}

/// What ran out, and which parameter helps.
pub fn shortage(shortage: &Shortage) -> String {
    match *shortage {
        Shortage::Pool {
            blocks, retired: 0, ..
        } => format!(
            "no free block is left among {blocks} blocks; the data does not fit with garbage collection at this reserve: raise ftl.reserve_percent or use a larger device"
        ),
        Shortage::Pool {
            blocks,
            retired,
            endurance,
        } => format!(
            "no free block is left: {retired} of {blocks} blocks were erased flash.endurance = {endurance} times and retired; use flash.wearout=ignore, a higher endurance, or a larger ftl.reserve_percent"
        ),
        Shortage::Spare {
            blocks, retired: 0, ..
        } => format!(
            "no free block is left among {blocks} blocks of a die; raise ftl.spare_blocks or use a larger device"
        ),
        Shortage::Spare {
            blocks,
            retired,
            endurance,
        } => format!(
            "no free block is left: {retired} of {blocks} blocks of a die were erased flash.endurance = {endurance} times and retired; use flash.wearout=ignore, a higher endurance, or more ftl.spare_blocks"
        ),
        Shortage::Log { logs } => {
            format!("none of {logs} log blocks of a die is unused; raise ftl.log_blocks")
        }
        Shortage::OnlyCollects { die, times } => format!(
            "die {die} collected garbage {times} times in a row without serving a request: it holds almost only valid data; raise ftl.reserve_percent, lower ftl.min_free_percent or use a larger device"
        ),
        Shortage::Requests { most } => format!("more than {most} requests are in flight at once"),
    }
}
