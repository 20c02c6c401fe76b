//! Fleets: traces of many volumes. A trace is first split into one file for each volume. Then a separate buffer
//! for each volume is compared with one buffer that all volumes share.
//!
//! | module | content |
//! | --- | --- |
//! | `folder` | reads the folder of a fleet and its manifest |
//! | `partition` | writes the folder of a fleet |
//! | `curves` | computes the curves of a fleet: results over the buffer size for each volume and for all volumes |
//! | `split` | divides a given amount of memory among the buffers of the volumes |
//! | `report` | sums the curves over the volumes, and reports the sums as values and JSON |
//!
//! docs/FLEETS.md defines the terms, and lists the limits of the comparison.

mod curves;
mod folder;
mod partition;
mod report;
mod split;

pub use curves::{FleetPlan, PreparedFleet};
pub use folder::{Contents, FileFacts, Fleet, InputFacts, Origin, VolumeFacts};
pub use partition::Partition;
pub use report::{FleetCurve, FleetPoint, FleetReport};
