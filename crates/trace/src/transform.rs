//! Makes traces from other traces: cuts, scales and merges them, and removes what shows the origin of a trace.
//!
//! Each transform works request by request in the order of arrival, so a trace of any length can be
//! transformed.

mod anonymize;
mod cut;
mod merge;
mod scale;

pub use anonymize::{Anonymizer, Regions};
pub use cut::Cut;
pub use merge::{Clocks, Merge, Volumes};
pub use scale::{Ratio, Scale};
