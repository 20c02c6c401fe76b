//! The parameters of `bpac`.

use destage_base::parameter::{Kind, Parameter};

const SHARE: Kind = Kind::Number { min: 0.0, max: 1.0 };
const DISTANCE: Kind = Kind::Number {
    min: 0.0,
    max: f64::INFINITY,
};

/// All of them.
pub const ALL: &[Parameter] = &[
    Parameter {
        name: "bpac_period",
        kind: Kind::Integer {
            min: 1,
            max: 1 << 30,
        },
        default: "10000",
        unit: "page writes",
        about: "How long distances are sampled before the thresholds are set anew.",
        source: "BPAC (MSST 2010).",
    },
    Parameter {
        name: "bpac_cover",
        kind: SHARE,
        default: "0.9",
        unit: "",
        about: "Share of the sampled distances that a threshold covers.",
        source: "Ours; the paper says that it covers most of the distribution.",
    },
    Parameter {
        name: "bpac_min_samples",
        kind: Kind::Integer {
            min: 0,
            max: u64::MAX,
        },
        default: "16",
        unit: "samples",
        about: "A period with fewer samples leaves the threshold as it is.",
        source: "Ours.",
    },
    Parameter {
        name: "pird_thd",
        kind: DISTANCE,
        default: "inf",
        unit: "page writes",
        about: "The threshold of pages before the first period ends; `inf`: no page cools down.",
        source: "Ours.",
    },
    Parameter {
        name: "bird_thd",
        kind: DISTANCE,
        default: "inf",
        unit: "page writes",
        about: "The threshold of clusters before the first period ends; `inf`: no cluster ages.",
        source: "Ours.",
    },
    Parameter {
        name: "bpac_adapts",
        kind: Kind::Flag,
        default: "true",
        unit: "",
        about: "Whether thresholds are learnt, or stay what they are at first.",
        source: "Ours, for comparison with fixed thresholds.",
    },
    Parameter {
        name: "bird_scope",
        kind: Kind::Choice(&["resident", "history"]),
        default: "resident",
        unit: "",
        about: "Which blocks' distances are sampled: those with a cluster, or all that were ever written.",
        source: "Ours; the paper is silent.",
    },
    Parameter {
        name: "bird_update",
        kind: Kind::Choice(&["unique", "any"]),
        default: "unique",
        unit: "",
        about: "What counts as a use of a block: a page new to its cluster, or hits as well.",
        source: "BPAC (MSST 2010) counts unique pages.",
    },
    Parameter {
        name: "bpac_fallback",
        kind: Kind::Choice(&["lru", "largest", "largest_tail"]),
        default: "lru",
        unit: "",
        about: "Which cluster leaves while none is old: the oldest, the largest, or the largest of the oldest.",
        source: "Ours; the paper is silent.",
    },
    Parameter {
        name: "bpac_tail",
        kind: SHARE,
        default: "0.1",
        unit: "",
        about: "Which share of the clusters, rounded up, `largest_tail` looks at.",
        source: "Ours.",
    },
    Parameter {
        name: "bpac_plist_victim",
        kind: Kind::Choice(&["page", "block"]),
        default: "page",
        unit: "",
        about: "What leaves while there is no cluster: the hot page used longest ago, or all hot pages of its block.",
        source: "Ours; the paper is silent.",
    },
    Parameter {
        name: "evict_hot_with_cluster",
        kind: Kind::Flag,
        default: "false",
        unit: "",
        about: "Whether the hot pages of a block leave with its cluster.",
        source: "BPAC (MSST 2010) means hot pages to stay.",
    },
];
