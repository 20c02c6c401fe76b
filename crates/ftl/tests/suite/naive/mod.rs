//! Naive models of the layers, one file for each. The models are as simple as possible, and the tests compare the
//! real layers with them.
#![allow(dead_code, reason = "every test program uses another part of it")]

pub mod bast;
pub mod block;
pub mod dftl;
pub mod fast;
pub mod hybrid;
pub mod last;
pub mod page;
pub mod replacement;
pub mod sast;
pub mod streams;
pub mod striped;
pub mod superblock;

use destage_base::{Lpn, Random};
use destage_ftl::{Ftl, PageWrite};
use destage_nand::operation::{MergeKind, Tally};
use destage_nand::{Cause, Operations};

use crate::kit::Setup;

/// Numbers of operations, as a model counts them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    pub reads: u64,
    pub programs: u64,
    pub copies: u64,
    pub map_reads: u64,
    pub map_programs: u64,
    pub erases: u64,
}

impl From<&Tally> for Counts {
    fn from(tally: &Tally) -> Self {
        Self {
            reads: tally.reads[Cause::Host as usize],
            programs: tally.programs[Cause::Host as usize],
            copies: tally.programs[Cause::Copy as usize],
            map_reads: tally.reads[Cause::Map as usize],
            map_programs: tally.programs[Cause::Map as usize],
            erases: tally.erases.iter().sum(),
        }
    }
}

/// A naive model of a layer.
pub trait Model {
    fn write(&mut self, page: u64);
    fn write_long(&mut self, page: u64) {
        self.write(page);
    }
    fn read(&mut self, page: u64);
    fn trim(&mut self, page: u64);
    fn counts(&self) -> Counts;
    /// All merges so far: for each, the number of the logical block in the device, and the kind of the merge.
    fn merges(&self) -> &[(u64, MergeKind)];
}

/// Runs the same random operations on the layer of `setup` and on `model`. After each operation, the counts and
/// the merges of both must be equal.
pub fn compare(setup: &Setup, model: &mut dyn Model, operations: u32, seed: u64) {
    let mut ftl = setup
        .build()
        .unwrap_or_else(|refusal| panic!("{refusal:?}"));
    let pages = ftl.pages();
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    let mut merges = 0;
    let mut out = Operations::default();
    let mut next = 0;
    // Some runs favour a few pages, some write in ascending order, and some are spread evenly.
    let (skewed, ascending) = (random.below(9), random.below(9));
    for step in 0..operations {
        let page = match random.below(10) {
            draw if draw < skewed => random.below(pages.div_ceil(6)),
            draw if draw < skewed + ascending => {
                next = (next + 1) % pages;
                next
            }
            _ => {
                next = random.below(pages);
                next
            }
        };
        let what = random.below(20);
        let die = ftl.die_of(Lpn(page));
        match what {
            0 => {
                out.clear();
                ftl.read(Lpn(page), &mut out).expect("room");
                model.read(page);
            }
            1 if step % 4 == 0 => {
                out.clear();
                ftl.trim(Lpn(page), &mut out).expect("room");
                model.trim(page);
            }
            _ => {
                loop {
                    out.clear();
                    if !clean(&mut *ftl, die, u64::from(step), &mut out) {
                        break;
                    }
                    tally.add(&out);
                }
                out.clear();
                let is_long = what % 3 == 2;
                if is_long {
                    model.write_long(page);
                } else {
                    model.write(page);
                }
                let write = PageWrite {
                    is_long,
                    has_stream: true,
                    ..PageWrite::host(Lpn(page))
                };
                let written = ftl.write(write, &mut out);
                written.unwrap_or_else(|full| panic!("{setup:?}: {full:?}"));
            }
        }
        tally.add(&out);
        let new: Vec<(u64, MergeKind)> = out
            .merges()
            .iter()
            .map(|merge| (merge.block, merge.kind))
            .collect();
        let expected = &model.merges()[merges..];
        merges += new.len();
        assert_eq!(new, expected, "step {step}, page {page}, {what}: {setup:?}");
        assert_eq!(
            Counts::from(&tally),
            model.counts(),
            "step {step}, page {page}, {what}: {setup:?}"
        );
    }
}

fn clean(ftl: &mut dyn Ftl, die: u32, now: u64, out: &mut Operations) -> bool {
    ftl.collect_garbage(die, now, out)
        .unwrap_or_else(|full| panic!("{full:?}"))
}
