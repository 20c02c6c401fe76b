//! Tests of the promises of a device: the worked cases of the rules of order and durability, by their numbers, and
//! further statements of these rules.

use crate::kit;

mod batches;
mod commands;
mod cuts;
mod dies;
mod hollow;
mod idle;
mod order;
mod promises;
mod sectors;
mod trims;
