//! The table of all schemes: names, parameters and sources are written here and nowhere else.
//!
//! A new scheme needs a file in a family folder of `schemes/` that ends in its row, a line in [`SCHEMES`], and a scenario text in `tests/scenarios/`;
//! the conformance tests find it by the row.

use alloc::boxed::Box;

use destage_base::Lpn;
use destage_base::parameter::{Parameter, Values};

use crate::config::BufferConfig;
use crate::scheme::Scheme;
use crate::schemes::block::{block_lru, bp_ref, bplru, clc, fab, lar, lb_clock, pud_lru, vbbms};
use crate::schemes::bound::{belady, infinite};
use crate::schemes::device::{co_active, ecr, gcar};
use crate::schemes::die::epo;
use crate::schemes::emulator::{femu, mqsim, nvmevirt, simplessd};
use crate::schemes::hybrid::{bpac, cbm};
use crate::schemes::page::{cflru, fifo, lirs_wsr, lru, nocache, recently_evicted};
use crate::schemes::run::{dulo, req_block};
use crate::schemes::set::{apu_lfu, apu_lfu_d, apu_lru, apu_lru_d, wb};
use crate::schemes::tier::griffin;

/// The arguments for building a scheme.
#[derive(Clone, Copy, Debug)]
pub struct SchemeConfig<'a> {
    /// Pages the buffer holds; 0 for a buffer that keeps none. Slots are numbered from 0. The numbers exceed this while requests wait whose victims
    /// are not programmed yet, so per-slot data has to grow, as the lists of [`crate::order`] do.
    pub capacity_pages: u32,
    /// Pages of a cluster.
    pub cluster_pages: u32,
    /// Independently working dies (packages) of the device beneath, over which pages are striped.
    pub dies: u32,
    /// All coming page writes, in order, for schemes that have to know them ([`SchemeRow::needs_future`]).
    pub future: Option<&'a [Lpn]>,
    /// Fixes every random choice, should the scheme make one.
    pub seed: u64,
    /// A value for each of the row's parameters; others may be among them.
    pub values: &'a Values,
}

/// What the decisions of a scheme may depend on besides the order of requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sees {
    /// Which pages are of one cluster: [`SchemeConfig::cluster_pages`].
    Clusters,
    /// When something happens: [`Access::now`](crate::scheme::Access::now), idle time, or the end of a program.
    Time,
    /// The queues of the dies, or their present work.
    Queues,
}

/// Makes a scheme. A row that is made while the program runs may capture values.
pub type Build = dyn Fn(&SchemeConfig) -> Box<dyn Scheme> + Sync;

/// One scheme.
pub struct SchemeRow {
    /// The value of `buffer.kind`.
    pub name: &'static str,
    /// Which unit it orders: the folder it is in.
    pub family: &'static str,
    /// One sentence on the scheme's rule.
    pub about: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// Its rules were combined from descriptions by others.
    pub reconstructed: bool,
    /// Its own parameters, without the `buffer.` in front.
    pub parameters: &'static [Parameter],
    /// Whether it can only be made from a [`SchemeConfig::future`]. Without them its `build` panics, so a caller that has none refuses the scheme
    /// before.
    pub needs_future: bool,
    /// What the scheme's decisions depend on besides the order of requests.
    pub sees: &'static [Sees],
    /// Makes it.
    pub build: &'static Build,
}

/// The family of bounds.
const BOUND: &str = "bound";

impl core::fmt::Debug for SchemeRow {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter
            .debug_tuple("SchemeRow")
            .field(&self.name)
            .finish()
    }
}

impl SchemeRow {
    /// Whether it is a bound, and no scheme that a device could have.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.family == BOUND
    }

    /// Makes the scheme with the defaults of its parameters, for a buffer made from `config` over one die.
    ///
    /// # Panics
    /// If the scheme needs the future.
    #[must_use]
    pub fn build_default(&self, config: &BufferConfig) -> Box<dyn Scheme> {
        let values = Values::defaults(self.parameters);
        (self.build)(&SchemeConfig {
            capacity_pages: config.capacity_pages,
            cluster_pages: config.cluster_pages,
            dies: 1,
            future: None,
            seed: 1,
            values: &values,
        })
    }
}

/// All schemes, simplest first. A static: of a constant, every crate that looks a scheme up would compile all of them again.
pub static SCHEMES: &[SchemeRow] = &[
    nocache::ROW,
    fifo::ROW,
    lru::ROW,
    cflru::ROW,
    lirs_wsr::ROW,
    dulo::ROW,
    fab::ROW,
    block_lru::ROW,
    bplru::ROW,
    clc::ROW,
    lb_clock::ROW,
    bpac::ROW,
    epo::ROW,
    wb::ROW,
    apu_lru::ROW,
    apu_lfu::ROW,
    apu_lru_d::ROW,
    apu_lfu_d::ROW,
    gcar::ROW,
    ecr::ROW,
    co_active::ROW,
    griffin::ROW,
    infinite::ROW,
    belady::ROW,
    pud_lru::ROW,
    recently_evicted::ROW,
    bp_ref::ROW,
    lar::ROW,
    cbm::ROW,
    vbbms::ROW,
    req_block::ROW,
    femu::ROW,
    mqsim::ROW,
    simplessd::ROW,
    nvmevirt::ROW,
];

/// The scheme called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static SchemeRow> {
    SCHEMES.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::COMMON;

    #[test]
    fn names_are_unique_and_defaults_are_legal() {
        for (index, row) in SCHEMES.iter().enumerate() {
            assert!(
                SCHEMES[..index].iter().all(|other| other.name != row.name),
                "{}",
                row.name
            );
            let all = COMMON.iter().chain(row.parameters);
            // Two parameters of one name would share a value.
            assert_eq!(
                Values::defaults(all.clone()).iter().count(),
                all.count(),
                "{}",
                row.name
            );
        }
    }
}
