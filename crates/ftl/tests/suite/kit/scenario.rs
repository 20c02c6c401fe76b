//! Scenarios in text form: a device, the operations on it, and their expected cost.
//!
//! ```text
//! device dies=1 planes=1 blocks=12 pages=4 filled=true copy_back=false summary=false
//! set log_blocks=2 partial=true
//! write 0 1 2 3-5 9
//! write_long 8-11
//! read 7
//! trim 3
//! reset
//! expect switch=1 partial=2 full=4 copies=20 erases=11
//! merges 0:switch 1:partial
//! report rw_victims=2
//! ```
//!
//! `expect` compares counts since the start or since the last `reset`: `switch`, `partial`, `full` merges,
//! `copies` (programs that move pages), `erases`, `reads` (all), `programs` (all), `map_reads`, `map_programs`,
//! `wear` (programs of wear levelling).

use super::{Device, Setup, about};
use destage_nand::Cause;
use destage_nand::operation::{MergeKind, Tally};

/// The kind of merge called `name`.
fn kind(name: &str) -> MergeKind {
    MergeKind::ALL
        .into_iter()
        .find(|kind| kind.name() == name)
        .unwrap_or_else(|| panic!("{name:?} is no kind of merge"))
}

/// Parses words such as `3-5` and `9` into page numbers.
fn pages(words: &str) -> Vec<u64> {
    let range = |word: &str| match word.split_once('-') {
        Some((first, last)) => first.parse().expect("a page")..=last.parse().expect("a page"),
        None => {
            let page = word.parse().expect("a page");
            page..=page
        }
    };
    words.split_whitespace().flat_map(range).collect()
}

fn pairs(words: &str) -> impl Iterator<Item = (&str, &str)> {
    words
        .split_whitespace()
        .map(|word| word.split_once('=').expect("name=value"))
}

fn count(tally: &Tally, name: &str) -> u64 {
    match name {
        "switch" | "partial" | "full" => tally.merges[kind(name) as usize],
        "copies" => tally.programs[Cause::Copy as usize],
        "erases" => tally.erases.iter().sum(),
        "reads" => tally.reads.iter().sum(),
        "programs" => tally.programs.iter().sum(),
        "map_reads" => tally.reads[Cause::Map as usize],
        "map_programs" => tally.programs[Cause::Map as usize],
        "wear" => tally.programs[Cause::Wear as usize],
        _ => panic!("{name:?} is not counted"),
    }
}

/// The state while a scenario is read. The device is built at the first line that uses it.
struct Reading {
    setup: Setup,
    device: Option<Device>,
}

impl Reading {
    fn device(&mut self) -> &mut Device {
        self.device.get_or_insert_with(|| Device::new(&self.setup))
    }

    fn describe_device(&mut self, words: &str) {
        *self = Self::new(&self.setup.ftl);
        let geometry = &mut self.setup.geometry;
        for (name, value) in pairs(words) {
            let number = || value.parse().expect("a number");
            match name {
                "dies" => geometry.dies = number(),
                "planes" => geometry.planes = number(),
                "blocks" => geometry.blocks_per_plane = number(),
                "pages" => geometry.pages_per_block = number(),
                "filled" => self.setup.filled = value == "true",
                "copy_back" => self.setup.copy_back = value == "true",
                "summary" => geometry.summary_page = value == "true",
                _ => panic!("{name:?} is nothing a device has"),
            }
        }
    }

    fn new(ftl: &str) -> Self {
        Self {
            setup: Setup::new(ftl, 1, 8, 4),
            device: None,
        }
    }

    fn line(&mut self, word: &str, rest: &str) {
        match word {
            "device" => self.describe_device(rest),
            "set" => {
                let settings = pairs(rest).map(|(name, value)| (name.to_owned(), value.to_owned()));
                self.setup.settings.extend(settings);
            }
            "write" => pages(rest)
                .into_iter()
                .for_each(|page| self.device().write(page)),
            "write_long" => pages(rest)
                .into_iter()
                .for_each(|page| self.device().write_long(page)),
            "read" => pages(rest)
                .into_iter()
                .for_each(|page| self.device().read(page)),
            "trim" => pages(rest)
                .into_iter()
                .for_each(|page| self.device().trim(page)),
            "reset" => {
                let device = self.device();
                device.ftl.reset_wear();
                device.ftl.reset_figures();
                device.tally = Tally::default();
                device.merges.clear();
            }
            "expect" => {
                for (name, value) in pairs(rest) {
                    let found = count(&self.device().tally, name).to_string();
                    assert_eq!(found, value, "{name}");
                }
            }
            "merges" => {
                let found: Vec<String> = self
                    .device()
                    .merges
                    .iter()
                    .map(|merge| format!("{}:{}", merge.block, merge.kind.name()))
                    .collect();
                assert_eq!(found.join(" "), rest);
            }
            "report" => {
                for (name, value) in pairs(rest) {
                    let mut found = None;
                    self.device().ftl.report(&mut |other, value| {
                        if other == name {
                            found = Some(value);
                        }
                    });
                    assert_eq!(found, value.parse().ok(), "{name}");
                }
            }
            _ => panic!("{word:?} is nothing a scenario does"),
        }
    }
}

/// Runs the scenario `text` on the layer `ftl`. If an expectation fails, panics and prints the line.
pub fn play(ftl: &str, text: &str) {
    let mut reading = Reading::new(ftl);
    let mut expectations = 0;
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        expectations += u32::from(matches!(word, "expect" | "merges"));
        let place = format!("{ftl}, line {}: {line}", number + 1);
        about(place, || reading.line(word, rest.trim()));
    }
    assert!(expectations > 0, "the scenario of {ftl} expects nothing");
}
