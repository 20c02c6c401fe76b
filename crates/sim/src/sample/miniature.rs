//! The configuration of a miniature.

use destage_base::parameter::{Kind, Value};
use destage_buffer::Sees;
use destage_ftl::BuildError;

use crate::error::{Argument, SimError};
use crate::settings::Config;

/// The parameter of layers for the number of log blocks of each die.
const LOG_BLOCKS: &str = "log_blocks";
/// The parameter of layers for the flash that they set aside.
const RESERVE: &str = "reserve_percent";
/// The parameter of layers for the number of entries of the mapping cache, which all dies share.
const MAP_ENTRIES: &str = "cmt_entries";

/// The parameter of layers for the share of the flash that is a cache.
const CACHE: &str = "cache_percent";

/// The largest reserve, in percent, that layers accept.
const MOST_RESERVE: f64 = 99.0;
/// The number of halvings with which the reserve of a miniature is found: exact to a block for planes of up to
/// a million blocks.
const HALVINGS: u32 = 20;

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
        let least = least(config, LOG_BLOCKS);
        // The least number may be at most a third more than the number that the rate gives.
        if wanted < 0.75 * least as f64 {
            return Err(too_small(
                config,
                rate,
                &format!(
                    "ftl.{LOG_BLOCKS} = {logs} on each of {dies} dies would be {wanted:.2} log blocks, and not at least {least},"
                ),
            ));
        }
        dies = ((dies as f64 * rate).round() as u64).clamp(1, dies);
        let scaled = ((wanted / dies as f64).round() as u64).max(least);
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
        let scaled = ((*entries as f64 * rate).round() as u64).max(least(config, MAP_ENTRIES));
        small.set_of_layer(MAP_ENTRIES, Value::Integer(scaled));
    }
    small.set("flash.dies", Value::Integer(dies));
    small.set("flash.planes_per_die", Value::Integer(planes));
    small.set("flash.parallel_units", Value::Integer(1));
    small.set("flash.channels", text(destage_base::parameter::AUTO));
    if config.ftl_parameter(RESERVE).is_some()
        && let Some(sized) = with_spare(config, &small, pages)?
    {
        return Ok(sized);
    }
    let blocks = small.blocks_for_capacity(pages * page_bytes)?;
    Ok(small.with_blocks(blocks))
}

/// The relative difference between the over-provisioning of `miniature` and that of `config`: layers set whole blocks
/// aside, and a miniature has few blocks. 0 if the layer has no reserve.
///
/// # Errors
/// An error that names the values that do not fit together.
pub fn spare_error(config: &Config, miniature: &Config) -> Result<f64, SimError> {
    if config.ftl_parameter(RESERVE).is_none() {
        return Ok(0.0);
    }
    let [full, own] = [pages_of(config)?, pages_of(miniature)?].map(over_provisioning);
    match full > 0.0 {
        true => Ok((own / full - 1.0).abs()),
        false => Ok(0.0),
    }
}

/// The pages of flash, and the pages that the device offers.
fn pages_of(config: &Config) -> Result<[u64; 2], SimError> {
    let flash = config.flash_bytes() / config.typed.flash.page_bytes;
    // The contents of the device do not matter, and a device without contents is built faster.
    let offered = config.ftl_with(false)?.pages();
    Ok([flash, offered.min(flash).max(1)])
}

/// The pages of flash that are not offered, as a fraction of the pages that are offered; see [`pages_of`].
fn over_provisioning([flash, offered]: [u64; 2]) -> f64 {
    (flash - offered) as f64 / offered as f64
}

/// `small` with another number of blocks and another reserve, so that it offers `pages` pages, and so that its
/// over-provisioning is as close as possible to that of the device of `config`. `None` if no number of blocks fits.
///
/// Each plane sets whole blocks aside, and some layers also keep a cache, a map or units of their own. So the
/// reserve is found by trial: of all flash that the device does not offer, it is what the rest does not occupy.
fn with_spare(config: &Config, small: &Config, pages: u64) -> Result<Option<Config>, SimError> {
    let full @ [flash, offered] = pages_of(config)?;
    let wanted = over_provisioning(full);
    let step = small.step_blocks();
    let step_pages = (step * small.row_pages()) as f64;
    let flash_pages = pages as f64 * (flash as f64 / offered as f64);
    let below = ((flash_pages / step_pages) as u64).max(1);
    let mut best: Option<(f64, Config)> = None;
    for steps in below..below + 3 {
        let Ok(blocks) = u32::try_from(steps * step) else {
            break;
        };
        let Some(sized) = filled(config, small, blocks, pages) else {
            continue;
        };
        let off = (over_provisioning(pages_of(&sized)?) - wanted).abs();
        if best.as_ref().is_none_or(|(least, _)| off < *least) {
            best = Some((off, sized));
        }
    }
    Ok(best.map(|(_, sized)| sized))
}

/// `small` with `blocks` blocks in a plane, and with the largest reserve with which it offers `pages` pages. Its cache
/// is the same fraction of a plane as in `config`. `None` if there is no such device.
fn filled(config: &Config, small: &Config, blocks: u32, pages: u64) -> Option<Config> {
    let mut sized = small.with_blocks(blocks);
    if let Some(Value::Number(percent)) = config.ftl_parameter(CACHE) {
        let of_plane = f64::from(config.geometry().blocks_per_plane);
        // The cache of a plane has whole blocks. A device with less than one has one block on each die.
        let cached = (of_plane * percent / 100.0).floor();
        if cached >= 1.0 {
            let scaled = (cached / of_plane * f64::from(blocks)).round();
            // Half a block more, so that rounding down gives this number.
            let percent = 100.0 * (scaled + 0.5) / f64::from(blocks);
            sized.set_of_layer(CACHE, Value::Number(percent));
        }
    }
    let mut offered = |percent: f64| {
        sized.set_of_layer(RESERVE, Value::Number(percent));
        sized.ftl_with(false).map(|ftl| ftl.pages())
    };
    // Too small a reserve is an error as well. Only a reserve that leaves too few pages is too large.
    let mut is_too_large = |percent: f64| match offered(percent) {
        Ok(offered) => offered < pages,
        Err(error) => matches!(error, SimError::Layer(BuildError::ReserveIsAll { .. })),
    };
    let (mut low, mut high) = (0.0, MOST_RESERVE);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        match is_too_large(middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    let is_enough = offered(low).is_ok_and(|offered| offered >= pages);
    is_enough.then_some(sized)
}

/// The smallest value of the layer's parameter `name`.
fn least(config: &Config, name: &str) -> u64 {
    let mut rows = config.ftl_row.parameters.iter();
    match rows.find(|row| row.name == name).map(|row| &row.kind) {
        Some(Kind::Integer { min, .. }) => *min,
        _ => 1,
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn config(pairs: &[&str]) -> Config {
        let shape = [
            "flash.dies=4",
            "flash.planes_per_die=2",
            "flash.blocks_per_plane=64",
            "flash.pages_per_block=32",
        ];
        let mut settings = Settings::new();
        for pair in shape.iter().chain(pairs) {
            settings.set_pair(pair).unwrap();
        }
        settings.resolve().unwrap()
    }

    fn percent(config: &Config, name: &str) -> f64 {
        match config.ftl_parameter(name) {
            Some(Value::Number(percent)) => *percent,
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn miniatures_set_the_same_share_of_blocks_aside() {
        // Half of the planes, with 64 blocks each as in the device. 6 of them are the reserve, 12 are the cache.
        for (pairs, data_blocks, cache_blocks) in [
            (&["ftl.kind=page", "ftl.reserve_percent=10"][..], 58, 0),
            (
                &[
                    "ftl.kind=pslc",
                    "flash.bits_per_cell=2",
                    "ftl.reserve_percent=10",
                    "ftl.cache_percent=20",
                ],
                46,
                12,
            ),
        ] {
            let config = config(pairs);
            assert_eq!(config.offered_pages().unwrap(), data_blocks * 8 * 32);
            let pages = data_blocks * 4 * 32;
            let small = miniature(&config, 0.5, pages).unwrap();
            assert_eq!(small.geometry().blocks_per_die(), 64, "{pairs:?}");
            assert_eq!(small.offered_pages().unwrap(), pages, "{pairs:?}");
            assert!(spare_error(&config, &small).unwrap() < 1e-9, "{pairs:?}");
            let blocks = |name| (64.0 * percent(&small, name) / 100.0) as u64;
            assert_eq!(blocks(RESERVE), 6, "{pairs:?}");
            if cache_blocks > 0 {
                assert_eq!(blocks(CACHE), cache_blocks, "{pairs:?}");
            }
        }
    }

    #[test]
    fn a_large_reserve_is_kept() {
        let pairs = [
            "ftl.kind=pslc",
            "flash.bits_per_cell=4",
            "ftl.reserve_percent=85",
            "ftl.cache_percent=10",
        ];
        let config = config(&pairs);
        let pages = config.offered_pages().unwrap() / 4;
        let small = miniature(&config, 0.25, pages).unwrap();
        assert!(small.offered_pages().unwrap() >= pages);
        assert!(spare_error(&config, &small).unwrap() < 0.05);
    }

    #[test]
    fn no_parameter_falls_below_its_least_value() {
        for (kind, logs) in [("fast", 2), ("last", 2), ("bast", 1)] {
            let kind = format!("ftl.kind={kind}");
            for log_blocks in 2_u32..9 {
                let given = format!("ftl.log_blocks={log_blocks}");
                let config = config(&[&kind, &given, "flash.dies=2"]);
                for rate in [0.03, 0.1, 0.2, 0.3, 0.5, 0.8] {
                    let pages = (config.offered_pages().unwrap() as f64 * rate) as u64;
                    let Ok(small) = miniature(&config, rate, pages) else {
                        assert!(
                            2.0 * f64::from(log_blocks) * rate < 1.5,
                            "{kind} {given} {rate}"
                        );
                        continue;
                    };
                    match small.ftl_parameter(LOG_BLOCKS) {
                        Some(Value::Integer(scaled)) if *scaled >= logs => {}
                        other => panic!("{kind} {given} {rate}: {other:?}"),
                    }
                    small.offered_pages().unwrap();
                }
            }
        }
    }
}
