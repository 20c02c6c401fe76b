//! Messages for errors of the crates `nand` and `ftl`, which describe errors with numbers. The messages name the keys
//! to set, the values of the keys, and what was expected.

use destage_ftl::{BuildError, ReserveTooSmall, Shortage};
use destage_nand::GeometryError;

/// The message for numbers of dies, planes, blocks and pages that make no possible device.
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
                "flash.*: pages_per_block = {pages_per_block}{summary} leaves no data page, or exceeds {most}"
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

/// The message for a layer that cannot be built.
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
        // One block of n is 100 / n percent of the flash, and 100 / (n - 1) percent of the rest.
        BuildError::ReserveIsNone { percent, blocks } => format!(
            "ftl.reserve_percent = {percent} of {blocks} blocks per plane is less than one block; a page-mapped device needs one to write to; expected at least {}, which is device.op_percent = {}, or more flash.blocks_per_plane",
            rounded_up(100.0 / f64::from(blocks)),
            rounded_up(100.0 / f64::from(blocks.saturating_sub(1).max(1)))
        ),
        BuildError::LowMark { low, least } => format!(
            "ftl.gc_low = {low} leaves no free block for the pages that garbage collection moves; with ftl.separate_gc_block, ftl.gc_policy other than greedy and wear_aware, a map in flash, or power that may fail, it has to be at least {least}"
        ),
        BuildError::HighMark { high, low } => format!(
            "ftl.gc_high = {high} is less than ftl.gc_low = {low}: garbage collection would end before it starts"
        ),
        BuildError::Reserve(of) => reserve(&of),
        BuildError::Zone {
            zone_blocks,
            blocks,
            data_pages,
        } => format!(
            "ftl.zone_blocks = {zone_blocks}: expected a number that divides the {blocks} blocks of a die, and zones of at most 32768 pages (a block has {data_pages})"
        ),
        BuildError::NoDataUnit {
            percent,
            die,
            units,
            pages,
        } => format!(
            "ftl.own_percent = {percent}: the drive would keep all of die {die} for itself, because the blocks of a superblock on a die have only {units} program unit{} of {pages} page{}; expected larger blocks (flash.pages_per_block), a smaller flash.program_unit, or ftl.own_percent = 0",
            if units == 1 { "" } else { "s" },
            if pages == 1 { "" } else { "s" },
        ),
        BuildError::Floor { floor, least } => format!(
            "ftl.gc_hard_threshold = {floor} leaves garbage collection in steps no room for the pages that it moves; expected at least {least}"
        ),
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

/// The message for a resource that ran out, with the parameter that the user can change.
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

/// `percent`, rounded up to hundredths.
fn rounded_up(percent: f64) -> f64 {
    (percent * 100.0).ceil() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    /// The error for the device that `pairs` describe.
    fn refusal(pairs: &str) -> String {
        let mut settings = Settings::new();
        settings.set_pair("flash.blocks_per_plane=2048").unwrap();
        for pair in pairs.split(' ') {
            settings.set_pair(pair).unwrap();
        }
        match settings.resolve() {
            Ok(config) => config.ftl().err().expect(pairs).to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn contradictions_name_both_keys_and_their_values() {
        for (pairs, expected) in [
            (
                "buffer.bg_destage=true buffer.bg_high=0.5",
                "buffer.bg_low = 0.7 is above buffer.bg_high = 0.5; expected at most 0.5",
            ),
            (
                "flash.summary_page=true flash.pages_per_block=1",
                "flash.*: pages_per_block = 1 with a summary page leaves no data page, or exceeds 32768",
            ),
            (
                "flash.planes_per_die=65536 flash.blocks_per_plane=65536",
                "flash.*: a die of 65536 planes x 65536 blocks x 64 pages has 2^32 pages or more; use more dies",
            ),
            (
                "flash.dies=1000000",
                "flash.*: the device has 891392000000 pages; at most 2^32 - 2 are supported",
            ),
            (
                "ftl.kind=block flash.planes_per_die=1 flash.blocks_per_plane=2",
                "a die has 2 blocks; ftl.spare_blocks = 2 leaves none of them for data",
            ),
            (
                "ftl.kind=bast flash.planes_per_die=1 flash.blocks_per_plane=9",
                "a die has 9 blocks; ftl.log_blocks = 7 and ftl.spare_blocks = 2 leave none of them for data",
            ),
            (
                "flash.parallel_units=3",
                "flash.parallel_units = 3 does not divide flash.planes_per_die = 8",
            ),
            (
                "ftl.stride=1000000",
                "ftl.stride = 1000000 is more than the 891392 logical pages of a die",
            ),
            (
                "ftl.reserve_percent=0",
                "ftl.reserve_percent = 0 of 2048 blocks per plane is less than one block; a page-mapped device needs one to write to; expected at least 0.05, which is device.op_percent = 0.05, or more flash.blocks_per_plane",
            ),
            (
                "ftl.gc_low=1 ftl.separate_gc_block=true",
                "ftl.gc_low = 1 leaves no free block for the pages that garbage collection moves; with ftl.separate_gc_block, ftl.gc_policy other than greedy and wear_aware, a map in flash, or power that may fail, it has to be at least 2",
            ),
            (
                "ftl.gc_low=5 ftl.gc_high=4",
                "ftl.gc_high = 4 is less than ftl.gc_low = 5: garbage collection would end before it starts",
            ),
            (
                "ftl.min_free_percent=40",
                "garbage collection keeps 820 blocks free (ftl.min_free_percent = 40, ftl.gc_low = 0, ftl.gc_high = 0), 1 open (ftl.separate_gc_block = false) and 0 for its map, but ftl.reserve_percent = 15 sets aside only 307 of 2048: garbage collection would never end",
            ),
            (
                "flash.suspend=keeps_end flash.scheduling=commands_reads_first",
                "flash.suspend = keeps_end: a read that keeps the end of what it interrupts needs an end that is known when the command is issued; expected flash.suspend = never, or to be without flash.scheduling = commands_arrival or commands_reads_first",
            ),
        ] {
            assert_eq!(refusal(pairs), expected, "{pairs}");
        }
    }

    #[test]
    fn a_shortage_names_a_key_that_helps() {
        let (blocks, endurance) = (20, 5);
        for (short, expected) in [
            (
                Shortage::Pool {
                    blocks,
                    retired: 0,
                    endurance,
                },
                "raise ftl.reserve_percent",
            ),
            (
                Shortage::Pool {
                    blocks,
                    retired: 3,
                    endurance,
                },
                "3 of 20 blocks were erased flash.endurance = 5 times",
            ),
            (
                Shortage::Spare {
                    blocks,
                    retired: 0,
                    endurance,
                },
                "raise ftl.spare_blocks",
            ),
            (
                Shortage::Spare {
                    blocks,
                    retired: 3,
                    endurance,
                },
                "3 of 20 blocks of a die were erased flash.endurance = 5 times",
            ),
            (Shortage::Log { logs: 7 }, "raise ftl.log_blocks"),
            (
                Shortage::OnlyCollects { die: 1, times: 96 },
                "lower ftl.min_free_percent",
            ),
            (Shortage::Requests { most: 9 }, "more than 9 requests"),
        ] {
            let text = shortage(&short);
            assert!(text.contains(expected), "{short:?}: {text}");
        }
    }
}
