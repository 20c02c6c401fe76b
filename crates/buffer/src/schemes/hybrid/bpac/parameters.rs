//! The parameters of `bpac`.

use destage_base::parameter::Kind;
use destage_base::{choices, parameters};

const SHARE: Kind = Kind::Number { min: 0.0, max: 1.0 };
const DISTANCE: Kind = Kind::Number {
    min: 0.0,
    max: f64::INFINITY,
};

choices! {
    /// The words of `bird_scope`.
    pub enum Scope {
        Resident = "resident",
        History = "history",
    }
}

choices! {
    /// The words of `bird_update`.
    pub enum Update {
        Unique = "unique",
        Any = "any",
    }
}

choices! {
    /// The words of `bpac_fallback`.
    pub enum Fallback {
        Lru = "lru",
        Largest = "largest",
        LargestTail = "largest_tail",
    }
}

choices! {
    /// The words of `bpac_plist_victim`.
    pub enum HotVictim {
        Page = "page",
        Block = "block",
    }
}

parameters! {
    /// What can be set of `bpac`.
    pub struct Parameters {
        /// How long distances are sampled before the thresholds are set anew.
        bpac_period: u64 = "10000" in Kind::Integer { min: 1, max: 1 << 30 }, "page writes", "BPAC (MSST 2010).";
        /// Share of the sampled distances that a threshold covers.
        bpac_cover: f64 = "0.98" in SHARE, "", "The reading under which most of the paper's claims hold (experiments/bpac); it says: most of the distribution.";
        /// A period with fewer samples leaves the threshold as it is.
        bpac_min_samples: u64 = "16", "samples", "Ours.";
        /// The threshold of pages before the first period ends; `inf`: no page cools down.
        pird_thd: f64 = "inf" in DISTANCE, "page writes", "Ours.";
        /// The threshold of clusters before the first period ends; `inf`: no cluster ages.
        bird_thd: f64 = "inf" in DISTANCE, "page writes", "Ours.";
        /// Whether thresholds are learnt, or stay what they are at first.
        bpac_adapts: bool = "true", "", "Ours, for comparison with fixed thresholds.";
        /// Which blocks' distances are sampled: those with a cluster, or all that were ever written.
        bird_scope: Scope = "resident", "", "The reading under which most of the paper's claims hold (experiments/bpac); it is silent.";
        /// What counts as a use of a block: a page new to its cluster, or hits as well.
        bird_update: Update = "any", "", "The reading under which most of the paper's claims hold (experiments/bpac), though it speaks of unique pages.";
        /// Which cluster leaves while none is old: the oldest, the largest, or the largest of the oldest.
        bpac_fallback: Fallback = "lru", "", "Ours; the paper is silent.";
        /// Which share of the clusters, rounded up, `largest_tail` looks at.
        bpac_tail: f64 = "0.1" in SHARE, "", "Ours.";
        /// What leaves while there is no cluster: the hot page used longest ago, or all hot pages of its block.
        bpac_plist_victim: HotVictim = "page", "", "Ours; the paper is silent.";
        /// Whether the hot pages of a block leave with its cluster.
        evict_hot_with_cluster: bool = "true", "", "The reading under which most of the paper's claims hold (experiments/bpac); it is silent.";
    }
}
