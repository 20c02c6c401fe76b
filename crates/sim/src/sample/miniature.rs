//! The configuration of a miniature.

use destage_base::parameter::Value;
use destage_buffer::Sees;

use crate::error::{Argument, SimError};
use crate::settings::Config;

/// The parameter of layers for the number of log blocks of each die.
const LOG_BLOCKS: &str = "log_blocks";
/// The parameter of layers for the flash that they set aside.
const RESERVE: &str = "reserve_percent";
/// The parameter of layers for the number of entries of the mapping cache, which all dies share.
const MAP_ENTRIES: &str = "cmt_entries";

/// Pages of a sampled block: the least common multiple of the pages of an erase block and of a cluster of the buffer.
///
/// # Errors
/// If a block has no page for data.
pub fn block_pages(config: &Config) -> Result<u64, SimError> {
    let pages = u64::from(config.data_pages()?);
    let cluster = match config.buffer_parameter("cluster_pages") {
        Some(Value::Integer(cluster)) if *cluster > 0 => *cluster,
        _ => pages,
    };
    let (mut one, mut other) = (pages, cluster);
    while other > 0 {
        (one, other) = (other, one % other);
    }
    Ok(pages / one * cluster)
}

/// The reason why `config` can have no miniature, and what was expected. `None` if it can have one.
#[must_use]
pub fn refusal(config: &Config) -> Option<String> {
    let common = config.common();
    if config.scheme.needs_future() {
        return Some(format!(
            "{} needs the coming writes, which a sample does not have; expected other schemes, or no sample",
            config.scheme.name
        ));
    }
    if config.scheme.sees.contains(&Sees::Numbers) {
        return Some(format!(
            "{} selects the lines for a page by its number, and a sample numbers its pages anew; expected other schemes, or no sample",
            config.scheme.name
        ));
    }
    let text = match () {
        () if config.needs_prepass() => {
            "trace.addr_map=shrink maps pages by the addresses of the whole trace"
        }
        () if common.bypass_pages > 0 => "buffer.bypass_pages counts pages of whole requests",
        () if config.typed.sim.warmup_requests > 0 => {
            "sim.warmup_requests counts requests of the whole trace"
        }
        () if config.state.is_some() => "sim.precondition=file:PATH keeps a device of one size",
        () => return None,
    };
    Some(format!(
        "{text}, and a sample has only a part of the trace and of the device; expected the default, or no sample"
    ))
}

/// The miniature of `config` for the fraction `rate` of all blocks. If `config` has flash, the device of the
/// miniature holds `pages` pages. The buffer of the miniature has the size of the full buffer; the caller changes
/// this size with `buffer.capacity_bytes`.
///
/// # Errors
/// If the device is too small for this fraction.
pub fn miniature(config: &Config, rate: f64, pages: u64) -> Result<Config, SimError> {
    let mut small = config.clone();
    let page_bytes = config.typed.flash.page_bytes;
    let text = |text: &str| Value::Text(text.to_owned());
    small.set("sim.costing", text("op_count"));
    small.set("sim.dirty_ages", Value::Flag(false));
    // The requests of a miniature are whole pages already, and none lies beyond the device.
    if config.typed.trace.align == crate::paging::Align::Nearest {
        small.set("trace.align", text("cover"));
    }
    small.set("trace.align_bytes", Value::Integer(0));
    small.set("trace.addr_map", text("error"));
    small.set("flash.wearout", text("ignore"));
    small.explain = false;
    if !config.has_flash() {
        if small.is_open() {
            let blocks = small.lazy_blocks()?;
            small = small.with_blocks(blocks);
        }
        return Ok(small);
    }
    let geometry = config.geometry();
    let (mut dies, mut planes) = (u64::from(geometry.dies), u64::from(geometry.planes));
    if let Some(Value::Integer(logs)) = config.ftl_parameter(LOG_BLOCKS) {
        // The miniature has fewer dies than the full device. Each of its dies has about as many log blocks as a die
        // of the full device.
        let all = logs * dies;
        let wanted = all as f64 * rate;
        if wanted < 0.75 {
            return Err(too_small(
                config,
                rate,
                &format!(
                    "ftl.{LOG_BLOCKS} = {logs} on each of {dies} dies would be {wanted:.2} log blocks"
                ),
            ));
        }
        dies = ((dies as f64 * rate).round() as u64).clamp(1, dies);
        let scaled = ((wanted / dies as f64).round() as u64).max(1);
        small.set_of_layer(LOG_BLOCKS, Value::Integer(scaled));
        planes = 1;
    } else {
        // Each plane has one or two open blocks. So with fewer planes, the fraction of blocks that are open stays the
        // same. The number of dies is reduced only when each die has one plane left, because some schemes depend on
        // the number of dies.
        let units = ((dies * planes) as f64 * rate).round() as u64;
        planes = (units / dies).clamp(1, planes);
        dies = dies.min(units.max(1));
    }
    if let Some(Value::Integer(entries)) = config.ftl_parameter(MAP_ENTRIES) {
        let scaled = ((*entries as f64 * rate).round() as u64).max(1);
        small.set_of_layer(MAP_ENTRIES, Value::Integer(scaled));
    }
    small.set("flash.dies", Value::Integer(dies));
    small.set("flash.planes_per_die", Value::Integer(planes));
    small.set("flash.parallel_units", Value::Integer(1));
    small.set("flash.channels", text(destage_base::parameter::AUTO));
    if config.ftl_parameter(RESERVE).is_some() {
        // Each plane sets whole blocks aside. The miniature can have another number of planes, but in total it sets
        // the same fraction of its flash aside as the full device.
        let raw = config.flash_bytes() / page_bytes;
        let offered = config.offered_pages()?.min(raw);
        let percent = 100.0 * (raw - offered) as f64 / raw.max(1) as f64;
        small.set_of_layer(RESERVE, Value::Number(percent));
    }
    let blocks = small.blocks_for_capacity(pages * page_bytes)?;
    Ok(small.with_blocks(blocks))
}

fn too_small(config: &Config, rate: f64, what: &str) -> SimError {
    SimError::Argument(Argument {
        name: "sample".to_owned(),
        what: format!(
            " {rate}: {}: {what} of the miniature; expected a larger rate",
            config.ftl_row.name
        ),
    })
}
