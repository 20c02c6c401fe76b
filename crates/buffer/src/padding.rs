//! Page padding. It completes a cluster, so that the log block with the cluster can replace the data block.

use alloc::vec::Vec;

use destage_base::Lpn;

use crate::config::PadUnwritten;
use crate::destage::{DirtyPage, Pad, PadContent};
use crate::view::View;

/// Fills `pads` with the pages that complete the cluster of `pages`, in ascending order. A page that is on flash gets
/// the content `written`. `unwritten` says how pages that were never written are treated. If the device ends within the
/// cluster, the cluster ends with the last page of the device.
///
/// `pages` are pages of one cluster, in ascending order. The contents of all other pages of the cluster come from the
/// flash, even if the buffer has a copy of such a page. The reason is that a record must not depend on the other
/// contents of the buffer.
pub fn pad(
    pages: &[DirtyPage],
    cluster_pages: u32,
    written: PadContent,
    unwritten: PadUnwritten,
    view: &dyn View,
    pads: &mut Vec<Pad>,
) {
    let cluster = u64::from(cluster_pages);
    let first = pages[0].page.0 / cluster * cluster;
    let end = (first + cluster).min(view.pages());
    let mut present = pages.iter().map(|dirty| dirty.page.0).peekable();
    let mut last_with_data = first;
    for number in first..end {
        let page = Lpn(number);
        if present.next_if_eq(&number).is_some() {
            last_with_data = number;
        } else if view.is_written(page) {
            last_with_data = number;
            pads.push(Pad {
                page,
                content: written,
            });
        } else if unwritten != PadUnwritten::Skip {
            pads.push(Pad {
                page,
                content: PadContent::Filler,
            });
        }
    }
    debug_assert!(
        present.next().is_none(),
        "a padded victim is not one cluster in ascending order"
    );
    if unwritten == PadUnwritten::StopAtLast {
        while pads.last().is_some_and(|pad| pad.page.0 > last_with_data) {
            pads.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::destage::Slot;

    /// A device on which only the listed pages were ever written.
    struct Written(&'static [u64]);
    impl View for Written {
        fn pages(&self) -> u64 {
            22
        }
        fn is_written(&self, page: Lpn) -> bool {
            self.0.contains(&page.0)
        }
    }

    fn padding(
        dirty: &[u64],
        written: &'static [u64],
        unwritten: PadUnwritten,
    ) -> Vec<(u64, bool)> {
        let pages: Vec<_> = dirty
            .iter()
            .map(|page| DirtyPage {
                page: Lpn(*page),
                slot: Slot(0),
            })
            .collect();
        let mut pads = Vec::new();
        let read = PadContent::Read;
        pad(&pages, 4, read, unwritten, &Written(written), &mut pads);
        let is_read = |pad: &Pad| pad.content == PadContent::Read;
        pads.iter().map(|pad| (pad.page.0, is_read(pad))).collect()
    }

    #[test]
    fn missing_pages_are_read_and_unwritten_ones_follow_the_rule() {
        use PadUnwritten::{Fill, Skip, StopAtLast};
        let all = [(13, true), (14, true)];
        for rule in [Fill, Skip, StopAtLast] {
            assert_eq!(padding(&[12, 15], &[12, 13, 14, 15], rule), all);
        }
        assert_eq!(padding(&[12, 15], &[14], Fill), [(13, false), (14, true)]);
        assert_eq!(
            padding(&[12, 15], &[14], StopAtLast),
            [(13, false), (14, true)]
        );
        assert_eq!(padding(&[12, 15], &[14], Skip), [(14, true)]);
        assert_eq!(
            padding(&[13], &[], Fill),
            [(12, false), (14, false), (15, false)]
        );
        assert_eq!(padding(&[13], &[], StopAtLast), [(12, false)]);
        assert_eq!(padding(&[12], &[14], StopAtLast), [(13, false), (14, true)]);
        assert_eq!(padding(&[12, 13, 14, 15], &[], Fill), []);
        // The device has 22 pages, so the last cluster has two.
        assert_eq!(padding(&[20], &[], Fill), [(21, false)]);
    }
}
