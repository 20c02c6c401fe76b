//! The parameters of `bpac`.

use destage_base::parameter::Kind;
use destage_base::{choices, parameters};

const SHARE: Kind = Kind::Number { min: 0.0, max: 1.0 };
const DISTANCE: Kind = Kind::Number {
    min: 0.0,
    max: f64::INFINITY,
};

choices! {
    /// The blocks whose distances are sampled.
    pub enum Scope {
        Resident = "resident",
        History = "history",
    }
}

choices! {
    /// What counts as a use of a block.
    pub enum Update {
        Unique = "unique",
        Any = "any",
    }
}

choices! {
    /// Which clusters become size-dependent when they are old.
    pub enum Ages {
        Unsequential = "unsequential",
        All = "all",
    }
}

choices! {
    /// How a cluster of one page is classified.
    pub enum LonePage {
        Random = "random",
        Sequential = "sequential",
    }
}

choices! {
    /// Which cluster leaves while the size-dependent region is empty.
    pub enum Fallback {
        Lru = "lru",
        Largest = "largest",
        LargestTail = "largest_tail",
    }
}

choices! {
    /// Which hot pages leave together.
    pub enum HotVictim {
        Page = "page",
        Block = "block",
    }
}

parameters! {
    /// The parameters of `bpac`.
    pub struct Parameters {
        /// Length of a period in page writes. At the end of a period, thresholds are computed from its sampled
        /// distances.
        bpac_period: u64 = "10000" in Kind::Integer { min: 1, max: 1 << 30 }, "page writes", "BPAC (MSST 2010).";
        /// Share of the sampled distances that a threshold covers.
        bpac_cover: f64 = "0.9" in SHARE, "", "BPAC (MSST 2010), IV.D, says that a threshold covers the most of the distribution; the number is ours.";
        /// The minimum number of samples in a period that changes a threshold.
        bpac_min_samples: u64 = "16", "samples", "Ours.";
        /// Threshold for pages until the first period ends: a hot page whose last write is longer ago than this leaves
        /// the list of hot pages; with `inf`, no page leaves it.
        bpac_pird_thd: f64 = "inf" in DISTANCE, "page writes", "Ours.";
        /// Threshold for clusters until the first period ends: a cluster whose last use is longer ago than this is old;
        /// with `inf`, no cluster is old.
        bpac_bird_thd: f64 = "inf" in DISTANCE, "page writes", "Ours.";
        /// Whether thresholds are learned; false: they keep their first values.
        bpac_adapts: bool = "true", "", "Ours, for comparison with fixed thresholds.";
        /// Blocks for which the distance between two uses is sampled: those that have a cluster, or all that were ever written.
        bird_scope: Scope = "resident", "", "BPAC (MSST 2010), IV.D.2: the last use of the corresponding cluster is looked up.";
        /// What counts as a use of a block: only a page that is new to its cluster, or hits as well.
        bird_update: Update = "unique", "", "BPAC (MSST 2010), IV.C and IV.D.2: uses of unique pages, noted upon a page miss.";
        /// The clusters that become size-dependent when they are old: those that are not sequential, or all.
        bpac_ages: Ages = "unsequential", "", "BPAC (MSST 2010), IV.E: looping and random clusters that run out of lifetime; sequential ones wait until they are complete.";
        /// How a cluster of one page, which shows no order of writing, is classified while `bpac_ages=unsequential`.
        bpac_lone_page: LonePage = "random", "", "Ours; the paper does not say.";
        /// Which cluster leaves while none is size-dependent: the oldest, the largest, or the largest of the oldest.
        bpac_fallback: Fallback = "lru", "", "Ours; the paper does not say.";
        /// Share of the clusters, from the oldest on and rounded up, that `largest_tail` considers.
        bpac_tail: f64 = "0.1" in SHARE, "", "Ours.";
        /// What leaves while there is no cluster: the least recently used hot page, or all hot pages of its block.
        bpac_plist_victim: HotVictim = "page", "", "Ours; the paper does not say.";
        /// Whether the hot pages of a block leave with its cluster.
        evict_hot_with_cluster: bool = "false", "", "BPAC (MSST 2010), abstract: hot pages are held separately from clusters.";
    }
}
