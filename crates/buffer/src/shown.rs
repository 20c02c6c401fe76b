//! The lists and regions of a scheme as its paper draws them, for a recording.
//!
//! ```text
//!   list "Recency"       latest write                      leaves next
//!     group "block 3"    [ 12 ][ .. ][ 14 ][ .. ]          a block, with holes for pages that are not buffered
//!     group "block 0"    [  0 ][  1 ]
//! ```
//!
//! Every resident page is shown once. The structure is built only when a recording needs it. Without a recording, it
//! costs nothing.

use alloc::string::String;
use alloc::vec::Vec;

use destage_base::Lpn;

use crate::scheme::Entry;

/// All pages of a scheme, list by list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The lists, in the order in which they are drawn.
    pub lists: Vec<ShownList>,
}

/// One list or region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownList {
    /// The name of the list in the scheme's paper.
    pub name: String,
    /// The meaning of the first position, such as "latest write"; empty if the order has no meaning.
    pub first: &'static str,
    /// The meaning of the last position, such as "leaves next"; empty if the order has no meaning.
    pub last: &'static str,
    /// A note, such as a threshold; often empty.
    pub note: String,
    /// The groups of the list, from the first position to the last.
    pub groups: Vec<ShownGroup>,
}

/// The number of page positions of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Frame {
    /// As many positions as the group has pages.
    Row,
    /// One position for each page of a logical block. The position of a missing page is empty.
    Block {
        /// The first page of the block.
        first: Lpn,
        /// The number of pages of the block.
        pages: u32,
    },
    /// The given number of positions. The positions after the pages are vacant.
    Places(u32),
}

/// Pages that are shown together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownGroup {
    /// A few words, such as a count. May be empty.
    pub label: String,
    /// The number of positions of the group.
    pub frame: Frame,
    /// The pages in their order. The pages of a block are in ascending order.
    pub pages: Vec<ShownPage>,
}

/// A page of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownPage {
    /// The page and its slot.
    pub entry: Entry,
    /// A few letters, such as a frequency. Usually empty.
    pub mark: String,
}

impl Shown {
    /// Adds a list without groups.
    pub fn list(
        &mut self,
        name: impl Into<String>,
        first: &'static str,
        last: &'static str,
    ) -> &mut ShownList {
        self.lists.push(ShownList {
            name: name.into(),
            first,
            last,
            note: String::new(),
            groups: Vec::new(),
        });
        let end = self.lists.len() - 1;
        &mut self.lists[end]
    }

    /// All pages shown, in the order of the lists.
    pub fn pages(&self) -> impl Iterator<Item = &ShownPage> + '_ {
        let groups = self.lists.iter().flat_map(|list| &list.groups);
        groups.flat_map(|group| &group.pages)
    }
}

impl ShownList {
    /// Sets the note of the list.
    pub fn note(&mut self, note: impl Into<String>) -> &mut Self {
        self.note = note.into();
        self
    }

    /// Adds a group without pages.
    pub fn group(&mut self, label: impl Into<String>, frame: Frame) -> &mut ShownGroup {
        self.groups.push(ShownGroup {
            label: label.into(),
            frame,
            pages: Vec::new(),
        });
        let end = self.groups.len() - 1;
        &mut self.groups[end]
    }

    /// Adds a group without a label. The group has a position for each of `pages`.
    pub fn row(&mut self, pages: impl IntoIterator<Item = Entry>) {
        let row = self.group("", Frame::Row);
        pages.into_iter().for_each(|entry| row.page(entry, ""));
    }
}

impl ShownGroup {
    /// Adds a page, marked with a few letters.
    pub fn page(&mut self, entry: Entry, mark: impl Into<String>) {
        self.pages.push(ShownPage {
            entry,
            mark: mark.into(),
        });
    }
}
