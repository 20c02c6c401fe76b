//! What a device promises, case by case, as long as the power lasts: the worked cases of the rules of order and
//! durability, by their numbers, and what the rules say beside them.

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
