//! The lists and regions of a scheme as its paper draws them, for a recording.
//!
//! ```text
//!   list "Recency"       latest write                      leaves next
//!     group "block 3"    [ 12 ][ .. ][ 14 ][ .. ]          a block, with holes for the pages that are not here
//!     group "block 0"    [  0 ][  1 ]
//! ```
//!
//! Every resident page is shown once. It is built at each look, so it costs nothing while no recording is made.

use alloc::string::String;
use alloc::vec::Vec;

use destage_base::Lpn;

use crate::scheme::Entry;

/// Everything a scheme keeps, list by list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// In the order in which they are to be drawn.
    pub lists: Vec<ShownList>,
}

/// One list or region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownList {
    /// The name that its paper uses.
    pub name: String,
    /// The meaning of the first place, such as "latest write"; empty if the order means nothing.
    pub first: &'static str,
    /// The meaning of the last place, such as "leaves next"; empty if the order means nothing.
    pub last: &'static str,
    /// A note, such as a threshold; often empty.
    pub note: String,
    /// First to last.
    pub groups: Vec<ShownGroup>,
}

/// How many places a group has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Frame {
    /// As many as it has pages.
    Row,
    /// One entry for each page of a logical block; a missing page leaves a hole.
    Block {
        /// The first page of the block.
        first: Lpn,
        /// How many it has.
        pages: u32,
    },
    /// This many places; those after the pages are vacant.
    Places(u32),
}

/// Pages that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownGroup {
    /// A few words, such as a count; may be empty.
    pub label: String,
    /// How many places it has.
    pub frame: Frame,
    /// In their order; pages of a block ascend.
    pub pages: Vec<ShownPage>,
}

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownPage {
    /// Which, and where it is.
    pub entry: Entry,
    /// A few letters, such as a frequency; mostly empty.
    pub mark: String,
}

impl Shown {
    /// Begins a list, without groups.
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

    /// All pages, in the order of the lists.
    pub fn pages(&self) -> impl Iterator<Item = &ShownPage> + '_ {
        let groups = self.lists.iter().flat_map(|list| &list.groups);
        groups.flat_map(|group| &group.pages)
    }
}

impl ShownList {
    /// Adds a note.
    pub fn note(&mut self, note: impl Into<String>) -> &mut Self {
        self.note = note.into();
        self
    }

    /// Adds a group, without pages.
    pub fn group(&mut self, label: impl Into<String>, frame: Frame) -> &mut ShownGroup {
        self.groups.push(ShownGroup {
            label: label.into(),
            frame,
            pages: Vec::new(),
        });
        let end = self.groups.len() - 1;
        &mut self.groups[end]
    }

    /// Adds a group of single pages.
    pub fn row(&mut self, pages: impl IntoIterator<Item = Entry>) {
        let row = self.group("", Frame::Row);
        pages.into_iter().for_each(|entry| row.page(entry, ""));
    }
}

impl ShownGroup {
    /// Adds a page, with a few letters beside it.
    pub fn page(&mut self, entry: Entry, mark: impl Into<String>) {
        self.pages.push(ShownPage {
            entry,
            mark: mark.into(),
        });
    }
}
