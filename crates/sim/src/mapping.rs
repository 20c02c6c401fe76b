//! Units of the mapping. A unit is a page of the host and of the buffer. Several units may share a page of flash.
//!
//! Host, buffer and FTL count in units. So if a page of flash holds several units, the typed parameters describe
//! another device, whose page is the unit. This device has more and smaller pages, and the units of a page of flash
//! are [programmed together](crate::media).

use crate::parameters::Parameters;

/// The largest number of units in a page of flash.
pub(crate) const MOST_UNITS: u64 = 64;

/// The number of units of the mapping in a page of flash; `None` if `ftl.map_unit_bytes` does not fit the page.
pub(crate) fn units_per_page(parameters: &Parameters) -> Option<u32> {
    let (page, unit) = (parameters.flash.page_bytes, parameters.ftl.map_unit_bytes);
    if unit == 0 {
        return Some(1);
    }
    let fits = unit.is_multiple_of(512) && page.is_multiple_of(unit) && page / unit <= MOST_UNITS;
    fits.then(|| (page / unit) as u32)
}

/// Converts `parameters` so that their page is the unit of the mapping. `units` units share a page of flash.
pub(crate) fn in_units(mut parameters: Parameters, units: u32) -> Parameters {
    let flash = &mut parameters.flash;
    flash.page_bytes /= u64::from(units);
    flash.pages_per_block = flash.pages_per_block.saturating_mul(units);
    flash.program_unit = flash.program_unit.saturating_mul(units);
    parameters
}
