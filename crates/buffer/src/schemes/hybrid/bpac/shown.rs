//! The P-list and the two regions of the B-list, as the paper draws them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::monitor::NEVER;
use super::{Bpac, Class};
use crate::clusters::ClusterId;
use crate::shown::Shown;

impl Bpac {
    pub(super) fn show_regions(&self, shown: &mut Shown) {
        let [pird, bird] = [&self.monitor.pird, &self.monitor.bird].map(|of| match of.threshold {
            NEVER => String::from("not learnt yet"),
            threshold => format!("{threshold} page writes"),
        });
        let list = shown.list("P-list: hot pages", "latest hit", "cools down next");
        list.note(format!("PIRD threshold {pird}"));
        list.row(self.hot.iter());

        let last = |cluster: &ClusterId| self.clusters.data(*cluster).last;
        let is_dependent = |cluster: &ClusterId| self.clusters.data(*cluster).is_dependent;
        let (mut dependent, mut independent): (Vec<_>, Vec<_>) =
            self.clusters.ids().partition(is_dependent);
        independent.sort_by_key(|cluster| Reverse(last(cluster)));
        dependent.sort_by_key(|cluster| {
            let size = match self.leaves_first(*cluster) {
                true => self.full,
                false => self.clusters.pages(*cluster),
            };
            (size, Reverse(last(cluster)))
        });
        for (name, first, end, clusters) in [
            (
                "B-list: size-independent",
                "latest use",
                "grows old next",
                independent,
            ),
            (
                "B-list: size-dependent",
                "smallest",
                "largest leaves next",
                dependent,
            ),
        ] {
            let list = shown.list(name, first, end);
            list.note(format!("BIRD threshold {bird}"));
            for cluster in clusters {
                let pages = self.clusters.pages(cluster);
                let class = match self.clusters.data(cluster).class {
                    Class::Sequential if self.leaves_first(cluster) => "full sequence: leaves next",
                    Class::Sequential => "sequential",
                    Class::Looping => "looping",
                    Class::Random => "random",
                };
                self.clusters
                    .show(cluster, format!("{pages} pages, {class}"), list);
            }
        }
    }

    /// Whether `cluster` is evicted before all others, because it is a full sequence.
    fn leaves_first(&self, cluster: ClusterId) -> bool {
        self.clusters.data(cluster).class == Class::Sequential && self.clusters.is_complete(cluster)
    }
}
