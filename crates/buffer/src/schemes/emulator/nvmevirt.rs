//! `nvmevirt`: fills word lines in the order of arrival, and programs a word line when its last page arrives.
//!
//! ```text
//!   partition 0   [ 8  0  4  . ]      open: waits for one more page
//!   partition 1   [ 5  1  9 13 ]      full: programmed as one; its slots become free when the program ends
//! ```
//!
//! The scheme chooses no victims and absorbs no rewrites: a page that is written twice occupies two positions of word
//! lines. The size of the buffer limits the number of word lines that are being programmed at the same time. When the
//! buffer is full of such word lines, a write waits for the flash.
//!
//! If a page keeps its address when it is written again, a rewrite of a page in an open word line overwrites the page
//! in its slot. A page keeps its address if there is no translation layer or no device.
//!
//! Cost: O(1) per page. O(partitions) for a word line that is evicted before it is full. Memory: one list node per
//! slot.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::parameter::Kind;
use destage_base::{Lpn, parameters};

use crate::order::SlotLists;
use crate::registry::SchemeRow;
use crate::scheme::{Access, Entry, Need, Properties, Scheme, Victim};
use crate::shown::{Frame, Shown};
use crate::view::View;

parameters! {
    /// The parameters of `nvmevirt`.
    struct Parameters {
        /// Pages of a word line; they are programmed as one.
        nvmevirt_word_line_pages: u32 = "8" in Kind::Integer { min: 1, max: 65536 }, "pages", "NVMeVirt, SAMSUNG_970PRO: ONESHOT_PAGE_SIZE of 32 KiB, mapped by 4 KiB.";
        /// Number of partitions, each with an open word line; the partition of a page is the page number modulo the
        /// number of partitions.
        nvmevirt_partitions: u32 = "4" in Kind::Integer { min: 1, max: 4096 }, "", "NVMeVirt, SAMSUNG_970PRO: SSD_PARTITIONS.";
    }
}

/// The row of `nvmevirt`.
pub const ROW: SchemeRow = SchemeRow {
    name: "nvmevirt",
    family: "emulator",
    about: "Fills word lines in order of arrival and programs each when its last page arrives; absorbs nothing.",
    source: "snu-csl/nvmevirt, conv_ftl.c and ssd.c at 61c90f77.",
    parameters: Parameters::ROWS,
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        let partitions = parameters.nvmevirt_partitions;
        Box::new(NvmeVirt {
            pages: SlotLists::new(partitions, config.capacity_pages),
            open: vec![WordLine::default(); partitions as usize],
            word_line_pages: parameters.nvmevirt_word_line_pages,
            arrivals: 0,
            filled: None,
        })
    })
};

/// The open word line of a partition.
#[derive(Clone, Copy, Default)]
struct WordLine {
    /// The number of pages that arrived, in all partitions, before the first page of the word line.
    since: u64,
    /// The number of occupied positions of the word line. If a page leaves before the word line is full, its position
    /// remains occupied.
    taken: u32,
}

struct NvmeVirt {
    /// One list per partition. Front: the latest arrival.
    pages: SlotLists,
    /// The open word line of each partition.
    open: Vec<WordLine>,
    word_line_pages: u32,
    arrivals: u64,
    /// The partition whose word line has just become full.
    filled: Option<u32>,
}

impl Scheme for NvmeVirt {
    fn properties(&self) -> Properties {
        Properties {
            knows_addresses: true,
            is_eager: true,
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, _: &Access) {
        let partition = self.partition_of(entry.page);
        self.pages.push_front(partition, entry);
        let line = &mut self.open[partition as usize];
        if line.taken == 0 {
            line.since = self.arrivals;
        }
        self.arrivals += 1;
        line.taken += 1;
        if line.taken >= self.word_line_pages {
            self.filled = Some(partition);
        }
    }

    fn touch(&mut self, _: Entry, _: &Access) {}

    fn remove(&mut self, entry: Entry) {
        self.pages.remove(entry.slot);
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        if let Need::FlushPage(entry) = need {
            self.remove(entry);
            victim.entries.push(entry);
        } else if let Some(partition) = self.oldest() {
            self.close(partition, victim);
        }
    }

    fn eager(&mut self, _: &Access, _: &dyn View, victim: &mut Victim) {
        if let Some(partition) = self.filled.take() {
            self.close(partition, victim);
        }
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list("Open word lines", "latest arrival", "");
        for (partition, line) in (0..).zip(&self.open) {
            if self.pages.is_list_empty(partition) {
                continue;
            }
            let label = format!(
                "partition {partition}: {} of {}",
                line.taken, self.word_line_pages
            );
            let group = list.group(label, Frame::Row);
            for entry in self.pages.iter(partition) {
                group.page(entry, "");
            }
        }
    }

    fn len(&self) -> usize {
        self.pages.len()
    }
}

impl NvmeVirt {
    fn partition_of(&self, page: Lpn) -> u32 {
        (page.0 % self.open.len() as u64) as u32
    }

    /// Among the partitions with buffered pages, the one with the oldest word line.
    fn oldest(&self) -> Option<u32> {
        let partitions = (0..).zip(&self.open);
        let with_pages = partitions.filter(|(partition, _)| !self.pages.is_list_empty(*partition));
        let oldest = with_pages.min_by_key(|(_, line)| line.since);
        oldest.map(|(partition, _)| partition)
    }

    /// Evicts the word line of `partition`, full or not, in the order of arrival.
    fn close(&mut self, partition: u32, victim: &mut Victim) {
        let pages = core::iter::from_fn(|| self.pages.pop_back(partition));
        victim.entries.extend(pages);
        self.open[partition as usize].taken = 0;
    }
}
