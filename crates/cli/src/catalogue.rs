//! The row of a parameter by its dotted name.

use destage_base::parameter::Parameter;
use destage_buffer::{COMMON, SchemeRow};
use destage_flash::ftl::FtlRow;
use destage_sim::parameters::PARAMETERS;
use destage_trace::PARAMETERS as TRACE_PARAMETERS;

/// The row of `key`, where `scheme` and `ftl` are chosen.
pub(crate) fn find(key: &str, scheme: &SchemeRow, ftl: &FtlRow) -> Option<&'static Parameter> {
    let named = |rows: &'static [Parameter], name: &str| rows.iter().find(|row| row.name == name);
    if let Some(row) = named(PARAMETERS, key).or_else(|| named(TRACE_PARAMETERS, key)) {
        return Some(row);
    }
    match key.split_once('.')? {
        ("buffer", name) => named(COMMON, name).or_else(|| named(scheme.parameters, name)),
        ("ftl", name) => named(ftl.parameters, name),
        _ => None,
    }
}
