//! Units of the mapping: the pages of host and buffer, of which several share a page of flash.
//!
//! Everything above flash counts in units, so the typed parameters describe a device whose pages hold several units like a device with as many
//! smaller pages that are [programmed together](crate::media): a unit is the page.

use crate::parameters::Parameters;

/// The most units of a page.
pub(crate) const MOST_UNITS: u64 = 64;

/// Units of the mapping in a page of flash, if they fit.
pub(crate) fn units_per_page(parameters: &Parameters) -> Option<u32> {
    let (page, unit) = (parameters.flash.page_bytes, parameters.ftl.map_unit_bytes);
    if unit == 0 {
        return Some(1);
    }
    let fits = unit.is_multiple_of(512) && page.is_multiple_of(unit) && page / unit <= MOST_UNITS;
    fits.then(|| (page / unit) as u32)
}

/// `parameters` in units of the mapping, `units` of which share a page of flash.
pub(crate) fn in_units(mut parameters: Parameters, units: u32) -> Parameters {
    let flash = &mut parameters.flash;
    flash.page_bytes /= u64::from(units);
    flash.pages_per_block = flash.pages_per_block.saturating_mul(units);
    flash.program_unit = flash.program_unit.saturating_mul(units);
    parameters
}
