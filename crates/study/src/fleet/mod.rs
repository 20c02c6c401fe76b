//! Fleets: a trace is split once into its volumes, and a buffer for each volume is compared with one buffer for
//! all volumes.
//!
//! | module | content |
//! | --- | --- |
//! | `folder` | the folder of a fleet, with its manifest |
//! | `partition` | writes such a folder |
//! | `curves` | the curves of a fleet, which can be computed in parts |
//! | `split` | the best sizes of the volumes' buffers for a total number of bytes |
//! | `report` | sums over volumes, as values and JSON |
//!
//! docs/FLEETS.md has the definitions and the limits.

mod curves;
mod folder;
mod partition;
mod report;
mod split;

pub use curves::{FleetPlan, PreparedFleet};
pub use folder::{Contents, FileFacts, Fleet, InputFacts, Origin, VolumeFacts};
pub use partition::Partition;
pub use report::{FleetCurve, FleetPoint, FleetReport};
