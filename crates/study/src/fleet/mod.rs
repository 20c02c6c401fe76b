//! Fleets: a trace split once into its volumes, and a buffer for each volume compared with one buffer for all.
//!
//! | module | holds |
//! | --- | --- |
//! | `folder` | the content of a folder of volumes |
//! | `partition` | such a folder being made |
//! | `curves` | the curves that a fleet needs, each kept once it is known, and made in parts |
//! | `split` | the best sizes of volumes for a number of bytes in all |
//! | `report` | sums over volumes, as values and JSON |
//!
//! docs/FLEETS.md gives the definitions and the limits.

mod curves;
mod folder;
mod partition;
mod report;
mod split;

pub use curves::{FleetPlan, PreparedFleet};
pub use folder::{Contents, FileFacts, Fleet, InputFacts, Origin, VolumeFacts};
pub use partition::Partition;
pub use report::{FleetCurve, FleetPoint, FleetReport};
