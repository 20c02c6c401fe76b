//! One trace out of another: cut, scaled, merged, without what gives its origin away.
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
