//! Fleets: the volumes of a trace taken apart once, and buffers of their own beside one buffer that all of them share.
//!
//! | module | holds |
//! | --- | --- |
//! | `folder` | what a folder of volumes holds |
//! | `partition` | such a folder being made |
//! | `curves` | the curves that a fleet needs, each kept once it is known, and made in parts |
//! | `split` | the best sizes of volumes for a number of bytes in all |
//! | `report` | sums over volumes, as values and JSON |
//!
//! docs/FLEETS.md says what is measured and how large fleets may be.

mod curves;
mod folder;
mod partition;
mod report;
mod split;

pub use curves::{FleetPlan, PreparedFleet};
pub use folder::{Contents, FileFacts, Fleet, InputFacts, Origin, VolumeFacts};
pub use partition::Partition;
pub use report::{FleetCurve, FleetPoint, FleetReport};
