//! Checks that the values of parameters fit each other and the size of the device. Each error names the key, its value
//! and what was expected.

use destage_base::parameter::CountOrAuto;
use destage_buffer::Contradiction;

use crate::config::Config;
use crate::error::Misfit;
use crate::front::{WEIGHT_MAX, weights};
use crate::mapping::{MOST_UNITS, units_per_page};
use crate::media::{MOST_TYPES, times};
use crate::parameters::{ByHandle, CellMode};
use crate::power::is_capacitor;
use crate::precondition::{self, Precondition};

/// A check of a configuration.
type Fits = fn(&Config) -> Result<(), Misfit>;

/// All checks, in the order in which errors are reported.
pub static FITS: &[Fits] = &[
    sectors,
    precondition,
    map_unit,
    times_by_type,
    units,
    groups,
    channels,
    queue_weights,
    capacitor,
    idle_marks,
    capacity,
    shares,
];

fn sectors(config: &Config) -> Result<(), Misfit> {
    let page = config.typed.flash.page_bytes;
    if !page.is_multiple_of(512) {
        return Err(Misfit::new("flash.page_bytes", page, "a multiple of 512"));
    }
    let unit = config.typed.trace.align_bytes;
    match unit.is_multiple_of(512) {
        true => Ok(()),
        false => Err(Misfit::new(
            "trace.align_bytes",
            unit,
            "a multiple of 512, or 0",
        )),
    }
}

fn precondition(config: &Config) -> Result<(), Misfit> {
    let text = &config.typed.sim.precondition;
    match config.state.is_some() || Precondition::read(text).is_some() {
        true => Ok(()),
        false => Err(Misfit::new(
            "sim.precondition",
            format!("{text:?}"),
            precondition::EXPECTED,
        )),
    }
}

fn map_unit(config: &Config) -> Result<(), Misfit> {
    let given = config.as_given();
    match units_per_page(&given) {
        Some(_) => Ok(()),
        None => Err(Misfit::new(
            "ftl.map_unit_bytes",
            given.ftl.map_unit_bytes,
            format!(
                "a multiple of 512 that divides flash.page_bytes = {} into at most {MOST_UNITS} units, or 0",
                given.flash.page_bytes
            ),
        )),
    }
}

fn times_by_type(config: &Config) -> Result<(), Misfit> {
    let flash = &config.typed.flash;
    let mut types = [1; 2];
    for (types, (key, text)) in types.iter_mut().zip([
        ("flash.read_times_us", &flash.read_times_us),
        ("flash.program_times_us", &flash.program_times_us),
    ]) {
        if text.is_empty() {
            continue;
        }
        let Some(times) = times(text) else {
            return Err(Misfit::new(
                key,
                format!("{text:?}"),
                format!(
                    "one to {MOST_TYPES} numbers of microseconds with / between them, such as 56.5/77.5/106"
                ),
            ));
        };
        *types = times.len();
    }
    let [reads, programs] = types;
    match reads == 1 || programs == 1 || reads == programs {
        true => Ok(()),
        false => Err(Misfit::TypesOfPage { programs, reads }),
    }
}

fn units(config: &Config) -> Result<(), Misfit> {
    let Some(units) = config.units_in_effect() else {
        return Ok(());
    };
    if units.block_pages.is_multiple_of(units.pages) {
        return Ok(());
    }
    let (flash, of_flash) = (&config.typed.flash, config.units_per_page);
    let all = flash.pages_per_block / of_flash;
    let block = match config.cell_mode() {
        CellMode::Native => format!("flash.pages_per_block = {all}"),
        CellMode::Pslc => format!(
            "the {} pages of a block with one bit in each cell (flash.cell_mode = pslc, flash.pages_per_block = {all}, flash.bits_per_cell = {})",
            units.block_pages / of_flash,
            flash.bits_per_cell
        ),
    };
    Err(Misfit::new(
        "flash.program_unit",
        units.pages / of_flash,
        format!("a number that divides {block}"),
    ))
}

/// Checks the size of the groups of planes that work in rounds. The layer does not know these groups, so it cannot
/// check their size.
fn groups(config: &Config) -> Result<(), Misfit> {
    let flash = &config.typed.flash;
    let (units, planes) = (flash.parallel_units, flash.planes_per_die);
    match !config.works_in_rounds() || planes.is_multiple_of(units) {
        true => Ok(()),
        false => Err(Misfit::new(
            "flash.parallel_units",
            units,
            format!("a number that divides flash.planes_per_die = {planes}"),
        )),
    }
}

fn channels(config: &Config) -> Result<(), Misfit> {
    let flash = &config.typed.flash;
    match flash.channels {
        CountOrAuto::Count(channels) if !flash.dies.is_multiple_of(channels) => Err(Misfit::new(
            "flash.channels",
            channels,
            format!("a number that divides flash.dies = {}", flash.dies),
        )),
        _ => Ok(()),
    }
}

fn queue_weights(config: &Config) -> Result<(), Misfit> {
    let host = &config.typed.host;
    match weights(&host.queue_weights, host.queues) {
        Some(_) => Ok(()),
        None => Err(Misfit::new(
            "host.queue_weights",
            format!("{:?}", host.queue_weights),
            format!(
                "a number from 1 to {WEIGHT_MAX} for all queues, or one for each of host.queues = {} with / between them",
                host.queues
            ),
        )),
    }
}

fn capacitor(config: &Config) -> Result<(), Misfit> {
    let text = &config.typed.device.plp;
    match is_capacitor(text) {
        true => Ok(()),
        false => Err(Misfit::new(
            "device.plp",
            format!("{text:?}"),
            "none, failed, or an energy from 0 to 1000000 J",
        )),
    }
}

/// Checks the watermarks of destaging in idle time. If the buffer does not destage in idle time, the watermarks have
/// no effect, and all values are accepted.
fn idle_marks(config: &Config) -> Result<(), Misfit> {
    match config.common().check() {
        Err(Contradiction::LowAboveHigh { low, high }) if config.common().bg_destage => {
            Err(Misfit::LowAboveHigh { low, high })
        }
        _ => Ok(()),
    }
}

fn capacity(config: &Config) -> Result<(), Misfit> {
    const KEY: &str = "buffer.capacity_bytes";
    let (capacity, page) = (
        config.typed.buffer.capacity_bytes,
        config.typed.flash.page_bytes,
    );
    if capacity < page && config.keeps_pages() {
        return Err(Misfit::because(
            KEY,
            capacity,
            format!("{} cannot hold a page of {page} bytes", config.scheme.name),
            format!("at least {page}, or buffer.kind=nocache for no buffer at all"),
        ));
    }
    let held = match config.is_timed() {
        true => u64::from(config.pages_in_units()),
        false => 0,
    };
    if held > 0 && capacity / page <= held && capacity > 0 && config.keeps_pages() {
        return Err(Misfit::because(
            KEY,
            capacity,
            format!("up to {held} pages of {page} bytes wait for the rest of their program units"),
            format!("more than {}, or buffer.kind=nocache", held * page),
        ));
    }
    match capacity / page > u64::from(u32::MAX / 2) {
        false => Ok(()),
        true => Err(Misfit::new(
            KEY,
            capacity,
            format!("at most 2^31 pages of {page} bytes"),
        )),
    }
}

/// Checks that a buffer that is divided among placement handles has at least one slot for each.
fn shares(config: &Config) -> Result<(), Misfit> {
    if config.by_handle() == ByHandle::Shared {
        return Ok(());
    }
    let held = match config.is_timed() {
        true => config.pages_in_units(),
        false => 0,
    };
    let pages = config.typed.buffer.capacity_bytes / config.typed.flash.page_bytes;
    let (pages, handles) = (pages.saturating_sub(held.into()), config.handles());
    match pages == 0 || pages >= handles.into() {
        true => Ok(()),
        false => Err(Misfit::because(
            "buffer.by_handle",
            "equal",
            format!(
                "a buffer of {pages} pages is too small to give each of ftl.handles = {handles} a page"
            ),
            "shared, or a larger buffer",
        )),
    }
}
