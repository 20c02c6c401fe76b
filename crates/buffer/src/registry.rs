//! The table of all schemes. The names, parameters and sources of schemes are written only here and in the rows of
//! the schemes.
//!
//! A new scheme needs three additions: a file in a family folder of `schemes/` with the row of the scheme, a line in
//! [`SCHEMES`], and a scenario text in `tests/scenarios/`. The conformance tests find the scheme by its row.

use alloc::boxed::Box;

use destage_base::Lpn;
use destage_base::parameter::{Parameter, Values};

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

/// The arguments from which a scheme is built.
#[derive(Clone, Copy, Debug)]
pub struct SchemeConfig<'a> {
    /// The number of pages that the buffer holds; 0 for a buffer that keeps none. Slots are numbered from 0. Slot
    /// numbers exceed the capacity while requests wait for victims that are not programmed yet. A table by slot
    /// therefore has to grow. The lists of [`crate::order`] do so.
    pub capacity_pages: u32,
    /// The number of pages of a cluster.
    pub cluster_pages: u32,
    /// The number of dies of the device. Dies work independently of one another, and pages are striped over them.
    pub dies: u32,
    /// All future page writes in order, each as its page. Only schemes that need to know future writes use this list
    /// ([`Sees::Future`]).
    pub future: Option<&'a [Lpn]>,
    /// The seed of every random choice that the scheme makes.
    pub seed: u64,
    /// A value for each parameter of the row. Values of other parameters may also be present.
    pub values: &'a Values,
}

impl<'a> SchemeConfig<'a> {
    /// Arguments for a device with one die and without knowledge of future writes. The seed is 1.
    #[must_use]
    pub fn new(capacity_pages: u32, cluster_pages: u32, values: &'a Values) -> Self {
        Self {
            capacity_pages,
            cluster_pages,
            dies: 1,
            future: None,
            seed: 1,
            values,
        }
    }
}

/// The information that the decisions of a scheme may depend on, in addition to the order of requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sees {
    /// Which pages belong to the same cluster: [`SchemeConfig::cluster_pages`].
    Clusters,
    /// The time of events: [`Access::now`](crate::scheme::Access::now), idle time, or the end of a program.
    Time,
    /// The lengths of the queues of the dies, or the operations that the dies are executing.
    Queues,
    /// All future writes: [`SchemeConfig::future`]. If the list is missing, `build` panics. A caller that does not know
    /// all future writes therefore has to refuse the scheme.
    Future,
    /// The numbers of pages, if the number of a page selects the lines in which the page may be. Pages with other numbers
    /// would then take the place of one another.
    Numbers,
}

/// The function that builds a scheme. It may capture values if its row is created at run time.
pub type Build = dyn Fn(&SchemeConfig) -> Box<dyn Scheme> + Sync;

/// One scheme of the table.
pub struct SchemeRow {
    /// The value of `buffer.kind`.
    pub name: &'static str,
    /// The unit that the scheme orders. It is also the name of the folder with the scheme's file.
    pub family: &'static str,
    /// One sentence on the scheme's rule.
    pub about: &'static str,
    /// The publication of the scheme.
    pub source: &'static str,
    /// Whether the rules of the scheme were combined from descriptions in other publications.
    pub reconstructed: bool,
    /// The scheme's own parameters. Their names omit the prefix `buffer.`.
    pub parameters: &'static [Parameter],
    /// The information that the scheme's decisions depend on, in addition to the order of requests.
    pub sees: &'static [Sees],
    /// Builds the scheme.
    pub build: &'static Build,
}

/// The family of schemes that are bounds.
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
    /// A row without names and texts, from which other rows are built. Its scheme has no parameters, and decides by
    /// nothing but the order of requests.
    #[must_use]
    pub const fn of(build: &'static Build) -> Self {
        Self {
            name: "",
            family: "",
            about: "",
            source: "",
            reconstructed: false,
            parameters: &[],
            sees: &[],
            build,
        }
    }

    /// Whether the scheme needs to know all future writes.
    #[must_use]
    pub fn needs_future(&self) -> bool {
        self.sees.contains(&Sees::Future)
    }

    /// Whether this row is a bound. A bound is not a scheme that a device could implement.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.family == BOUND
    }
}

/// All schemes, from the simplest to the most complex. The table is a static and not a constant. Each crate that uses
/// a constant would compile all schemes again.
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

/// The row of the scheme called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static SchemeRow> {
    SCHEMES.iter().find(|row| row.name == name)
}
