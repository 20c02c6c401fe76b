//! Random operations on small devices of every kind; after them, the maps must agree with each other.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use destage_base::{Lpn, Random};

use super::die::{Die, Separation};
use super::gc::Policy;
use super::parameters::{Below, Collection, Room};
use super::shape::{NONE, Shape};
use super::*;
use crate::blocks::WearLevelling;
use destage_nand::geometry::Geometry;
use destage_nand::timing::Timing;

const TIMING: Timing = Timing {
    read: 25,
    program: 200,
    erase: 1500,
    one_bit: [0; 2],
    page_transfer: 105,
    sector_transfer: 13,
};

fn config(units: u32, copy_back: bool, policy: Policy) -> PageConfig {
    PageConfig {
        below: Below {
            geometry: Geometry {
                dies: 2,
                planes: 4,
                blocks_per_plane: 12,
                pages_per_block: 6,
                summary_page: true,
                page_bytes: 4096,
            },
            erase_dates: TIMING,
            copy_back,
            parallel_units: units,
            units_per_page: 1,
            endurance: 1_000_000,
            retire: true,
            power_may_fail: false,
            units: None,
            filled: true,
            seed: 1,
        },
        room: Room {
            reserve_percent: 40.0,
            min_free_percent: 10.0,
            allocation_pool: AllocationPool::Die,
            separate_migrations: false,
            gc_low: 0,
            gc_high: 0,
            floor: 4,
            aside: 0,
        },
        gc: Collection {
            policy,
            draws: 3,
            reference_ties: true,
            migrates: true,
            step_pages: 0,
            in_background: false,
        },
        separation: Separation::NONE,
        journal: None,
        stride: 1,
        dynamic: false,
        levelling: WearLevelling::None,
        mappings_per_page: None,
    }
}

/// `base` with the modification `change`.
fn with(mut base: PageConfig, change: impl FnOnce(&mut PageConfig)) -> PageConfig {
    change(&mut base);
    base
}

pub(super) fn every_kind() -> Vec<PageConfig> {
    let mut configs = Vec::new();
    for gc in [
        Policy::Greedy,
        Policy::WearAware,
        Policy::CostBenefit,
        Policy::Fifo,
        Policy::DChoices,
        Policy::GreedyWear,
    ] {
        for (units, copy_back) in [(1, true), (2, true), (1, false)] {
            configs.push(with(config(units, copy_back, gc), |config| {
                config.gc.reference_ties = false;
                config.room.separate_migrations = true;
                config.below.endurance = 200;
                config.below.retire = false;
            }));
        }
    }
    for filled in [true, false] {
        for pool in [AllocationPool::Die, AllocationPool::Plane] {
            for (units, copy_back, gc) in [
                (1, true, Policy::Greedy),
                (2, true, Policy::Greedy),
                (4, true, Policy::Greedy),
                (1, false, Policy::Greedy),
                (1, true, Policy::WearAware),
            ] {
                let base = config(units, copy_back, gc);
                configs.push(with(base, |config| {
                    config.below.filled = filled;
                    config.room.allocation_pool = pool;
                }));
            }
        }
    }
    configs
}

/// Checks that map and owner are inverse, that the valid pages of blocks and the free blocks of pools are counted
/// correctly, and that the need for garbage collection agrees with the watermarks.
fn check(die: &Die, shape: &Shape) {
    let mut valid: BTreeMap<u32, u16> = BTreeMap::new();
    for page in 0..shape.pages() {
        let ppn = die.map.get(page as usize);
        if ppn != NONE {
            assert_eq!(die.owner.get(ppn as usize), page, "owner of {ppn}");
            let block = ppn >> shape.page_bits;
            let offset = ppn & ((1 << shape.page_bits) - 1);
            assert!(
                u32::from(die.nand.block(block).programmed) > offset,
                "{ppn} is erased"
            );
            *valid.entry(block).or_default() += 1;
        }
    }
    let blocks = shape.planes * shape.blocks_per_plane;
    for block in 0..blocks {
        let counted = valid.get(&block).copied().unwrap_or(0);
        assert_eq!(
            die.blocks.get(block as usize).valid,
            counted,
            "block {block}"
        );
    }
    for pool in &die.pools {
        let free = (pool.first_block..pool.first_block + pool.blocks)
            .filter(|block| die.free.blocks.first_in(*block, block + 1).is_some())
            .count() as u32;
        // Without copy-back, the first active block still counts as free.
        assert!(
            pool.free == free || pool.free == free + 1,
            "{} {free}",
            pool.free
        );
    }
    for (pool, aside) in die.pools.iter().zip(&die.rest.asides) {
        let (low, high) = (die.rules.watermarks.low, die.rules.watermarks.high);
        assert!(if aside.needs_gc {
            pool.free < high
        } else {
            pool.free >= low
        });
    }
    let needs_gc = die
        .rest
        .asides
        .iter()
        .filter(|aside| aside.needs_gc)
        .count();
    assert_eq!(die.rest.needy as usize, needs_gc);
}

#[test]
fn maps_stay_inverse_under_every_kind_of_device() {
    for (number, config) in every_kind().into_iter().enumerate() {
        let mut ftl = PageFtl::new(&config).unwrap();
        let shape = ftl.dies[0].shape;
        let mut random = Random::new(number as u64);
        let mut operations = Operations::default();
        let mut now = 1;
        for step in 0..20_000u32 {
            // A quarter of the pages gets most writes, so that the blocks differ in their valid pages.
            let pages = if random.below(4) > 0 {
                ftl.pages() / 4
            } else {
                ftl.pages()
            };
            let page = Lpn(random.below(pages));
            let die = ftl.die_of(page);
            now += 1;
            operations.clear();
            let mut times = 0;
            while ftl.collect_garbage(die, now, &mut operations).unwrap() {
                times += 1;
                assert!(times < 1000, "{config:?} at {step} {page:?}");
                now += TIMING.parallel(&operations);
                operations.clear();
            }
            match random.below(10) {
                0 => {
                    ftl.trim(page, &mut operations).unwrap();
                    assert!(!ftl.is_written(page));
                }
                1 => ftl.read(page, &mut operations).unwrap(),
                _ => {
                    ftl.write(PageWrite::host(page), &mut operations).unwrap();
                    assert!(ftl.is_written(page));
                }
            }
            if step % 500 == 0 {
                ftl.dies.iter().for_each(|die| check(die, &shape));
            }
        }
        assert!(ftl.wear().sum > 100, "{config:?} was hardly cleaned");
    }
}

#[test]
fn a_batch_writes_what_single_writes_would_and_waits_for_its_rounds() {
    let mut ftl = PageFtl::new(&config(2, true, Policy::Greedy)).unwrap();
    let shape = ftl.dies[0].shape;
    let writes: Vec<_> = (0..8).map(|page| (Lpn(2 * page), Cause::Host)).collect();
    let reads = [Lpn(0), Lpn(2)];
    let (mut batch, mut operations) = (Batch::default(), Operations::default());
    let taken = ftl
        .serve(0, &reads, &writes, &mut batch, &mut operations)
        .unwrap();
    assert_eq!(taken, writes.len());
    check(&ftl.dies[0], &shape);
    let times: Vec<_> = batch
        .finish_times(&TIMING)
        .map(|(entry, time)| (entry.write, time))
        .collect();
    // Both pages that are read are in the first block, and so in the same parallel unit. So each read is a round
    // of its own.
    assert_eq!(times[..2], [(false, 130), (false, 260)]);
    // The writes follow in four rounds of two writes. In each round, the second unit transfers its page after the
    // first unit.
    let expected: Vec<_> = (0..4)
        .flat_map(|round| [305, 410].map(|end| (true, 260 + 410 * round + end)))
        .collect();
    assert_eq!(times[2..], expected);
}

#[test]
fn a_batch_takes_no_more_writes_than_there_are_free_pages() {
    let base = config(2, true, Policy::Greedy);
    let mut ftl = PageFtl::new(&with(base, |config| {
        config.room.allocation_pool = AllocationPool::Plane;
    }))
    .unwrap();
    // All writes are to pages that must stay in plane 0, and there are more writes than free pages in it.
    let room = ftl.dies[0].pages_left(0) as usize;
    let data_pages = u64::from(base.below.geometry.data_pages());
    let same_plane = (0..ftl.pages() / 2).filter(|page| page / data_pages % 4 == 0);
    let writes: Vec<_> = same_plane
        .map(|page| (Lpn(2 * page), Cause::Host))
        .collect();
    assert!(writes.len() > room, "{} {room}", writes.len());
    let (mut batch, mut operations) = (Batch::default(), Operations::default());
    let taken = ftl
        .serve(0, &[], &writes, &mut batch, &mut operations)
        .unwrap();
    assert_eq!((taken, batch.entries.len()), (room, room));
}

#[test]
fn worn_blocks_receive_cold_data() {
    // Each policy gets the same skewed writes; wear-aware garbage collection must spread the erases more evenly.
    let spread = |gc| {
        let base = config(1, true, gc);
        let mut ftl = PageFtl::new(&with(base, |config| config.below.endurance = 400)).unwrap();
        let (mut random, mut operations, mut now) = (Random::new(5), Operations::default(), 1);
        for _ in 0..20_000 {
            let page = Lpn(random.below(ftl.pages() / 8));
            let die = ftl.die_of(page);
            loop {
                operations.clear();
                if !ftl.collect_garbage(die, now, &mut operations).unwrap() {
                    break;
                }
                now += TIMING.parallel(&operations);
            }
            ftl.write(PageWrite::host(page), &mut operations).unwrap();
            now += 300;
        }
        let wear = ftl.wear();
        (wear.max - wear.min, wear.sum)
    };
    let (greedy, wear_aware) = (spread(Policy::Greedy), spread(Policy::WearAware));
    assert!(wear_aware.0 < greedy.0, "{wear_aware:?} {greedy:?}");
}

#[test]
fn contradictions_are_refused() {
    let base = config(1, true, Policy::Greedy);
    type Check = fn(BuildError) -> bool;
    let cases: [(PageConfig, Check); 3] = [
        (
            with(base, |config| config.room.min_free_percent = 40.0),
            |error| matches!(error, BuildError::Reserve(of) if of.min_free_percent == 40.0),
        ),
        (
            with(base, |config| config.room.reserve_percent = 5.0),
            |error| {
                matches!(
                    error,
                    BuildError::ReserveIsNone {
                        percent: 5.0,
                        blocks: 12
                    }
                )
            },
        ),
        (
            with(base, |config| config.below.parallel_units = 3),
            |error| {
                matches!(
                    error,
                    BuildError::ParallelUnits {
                        units: 3,
                        planes: 4
                    }
                )
            },
        ),
    ];
    for (config, is_expected) in cases {
        let error = PageFtl::new(&config).err().unwrap();
        assert!(is_expected(error), "{error:?}");
    }
}

/// A literal implementation of garbage collection without copy-back. It sorts a snapshot of the numbers of valid
/// pages of all blocks.
fn collect_by_snapshot(die: &mut Die, rules: &Rules<'_>, operations: &mut Operations) -> bool {
    if die.rest.needy == 0 {
        return false;
    }
    let shape = die.shape;
    let mut order: Vec<_> = (0..shape.planes * shape.blocks_per_plane)
        .map(|block| {
            let (plane, index) = (
                block / shape.blocks_per_plane,
                block % shape.blocks_per_plane,
            );
            let valid = die.blocks.get(block as usize).valid;
            (valid, index * shape.planes + plane, block)
        })
        .collect();
    order.sort_unstable();
    let mut cleaned = false;
    for (.., block) in order {
        if die.victims.contains(block) {
            gc::collect_block(die, block, 0, rules, operations, &mut Vec::new()).unwrap();
            cleaned = true;
            if die.pools[0].free >= die.rules.watermarks.high {
                break;
            }
        }
    }
    die.settle(0);
    cleaned
}

#[test]
fn gc_without_copy_back_follows_the_snapshot() {
    for (seed, pages_per_block, reserve_percent) in
        [(1, 6, 40.0), (2, 4, 30.0), (3, 2, 50.0), (4, 9, 20.0)]
    {
        let base = config(1, false, Policy::Greedy);
        let geometry = Geometry {
            pages_per_block,
            ..base.below.geometry
        };
        let config = with(base, |config| {
            config.below.geometry = geometry;
            config.room.reserve_percent = reserve_percent;
        });
        let mut ours = PageFtl::new(&config).unwrap();
        let mut naive = PageFtl::new(&config).unwrap();
        let mut random = Random::new(seed);
        let (mut our_operations, mut naive_operations) =
            (Operations::default(), Operations::default());
        for _ in 0..20_000 {
            let pages = if random.below(3) > 0 {
                ours.pages() / 3
            } else {
                ours.pages()
            };
            let page = Lpn(random.below(pages));
            let die = ours.die_of(page);
            our_operations.clear();
            naive_operations.clear();
            while ours.collect_garbage(die, 1, &mut our_operations).unwrap() {}
            let rules = Rules {
                policy: Policy::Greedy,
                migrates: false,
                erase_dates: &TIMING,
                now: 1,
            };
            let state = &mut naive.dies[die as usize];
            while collect_by_snapshot(state, &rules, &mut naive_operations) {}
            ours.write(PageWrite::host(page), &mut our_operations)
                .unwrap();
            naive
                .write(PageWrite::host(page), &mut naive_operations)
                .unwrap();
            assert_eq!(our_operations.all(), naive_operations.all());
            let within = (page.0 / 2) as usize;
            let place = |ftl: &PageFtl| ftl.dies[die as usize].map.get(within);
            assert_eq!(place(&ours), place(&naive));
        }
        assert!(ours.wear().sum > 1000);
        assert_eq!(ours.wear(), naive.wear());
    }
}
