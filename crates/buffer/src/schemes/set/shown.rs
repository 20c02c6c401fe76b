//! Shows the sets and their lines, with a row of positions for each set.

use alloc::format;
use alloc::string::String;

use super::cache::SetCache;
use super::dirty::DirtyLines;
use super::lines::VACANT;
use crate::shown::{Frame, Shown};

impl SetCache {
    pub(super) fn show_sets(&self, shown: &mut Shown) {
        let counts = matches!(self.dirty, DirtyLines::Frequent(_));
        for piece in 0..self.places.pieces() {
            let name = match self.places.pieces() {
                1 => String::from("Sets"),
                _ => {
                    let packages = self.places.packages_of(piece);
                    format!(
                        "Sets of packages {} to {}",
                        packages.start,
                        packages.end - 1
                    )
                }
            };
            let list = shown.list(
                name,
                "latest access of each set",
                "least recently used: its clean line leaves first",
            );
            if counts {
                list.note("the number is how often a line was accessed");
            }
            for (number, set) in self.places.sets(piece).enumerate() {
                let places = set.len() as u32;
                let group = list.group(format!("set {number}"), Frame::Places(places));
                for slot in self.lines.of(set).iter().filter(|slot| **slot != VACANT) {
                    let frequency = self.frequencies[*slot as usize];
                    let mark = if counts {
                        format!("{frequency}")
                    } else {
                        String::new()
                    };
                    group.page(self.entry(*slot), mark);
                }
            }
        }
    }
}
