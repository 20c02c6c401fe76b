//! Every test of this crate that needs no allocator of its own, in one program.

mod adaptive;
mod background;
mod block_goldens;
mod block_models;
mod common;
mod conformance;
mod device;
mod features;
mod goldens;
mod goldens_epo_sets;
mod idle;
mod models;
mod models_bounds;
mod models_emulators;
mod models_epo_cflru;
mod models_sets;
mod scenarios;
mod shown;
mod unbounded_admission;
mod waiting;
