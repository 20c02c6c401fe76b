//! Traces made from other traces: cut, scaled, merged, without traits that show the origin.
//!
//! Everything works request by request in the order of arrival, so traces of any length fit.

mod anonymize;
mod cut;
mod merge;
mod scale;

pub use anonymize::{Anonymizer, Regions};
pub use cut::Cut;
pub use merge::{Clocks, Merge, Volumes};
pub use scale::{Ratio, Scale};
