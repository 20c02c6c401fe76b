//! An address for each block of a profile: neighbours stay neighbours, all else is moved within its region.

use std::collections::HashSet;

use destage_base::Random;

use super::deck::Deck;
use super::history::BLOCK_SECTORS;
use super::profile::{Profile, REGIONS};

/// Places that are tried for a run of blocks; the region grows by its own length after every eighth.
const TRIES: u64 = 64;
const TRIES_A_REGION: u64 = 8;
/// A later try has to be better only up to so many free blocks in a row, so that long runs cost no more.
const ENOUGH: u64 = 512;

/// The number of each block on the device, in the order in which blocks are first written.
pub(super) fn lay_out(profile: &Profile, random: &mut Random) -> Vec<u64> {
    let blocks = (profile.footprint_sectors / BLOCK_SECTORS).max(1);
    let mut used = HashSet::new();
    let mut regions = Deck::of(&profile.first_places);
    let mut reached_end = false;
    let mut addresses: Vec<u64> = Vec::with_capacity(profile.layout.len());
    let runs = runs(&profile.layout);
    for (index, back) in profile.layout.iter().enumerate() {
        let next = (*back > 0)
            .then(|| addresses[index - *back as usize] + 1)
            .filter(|next| *next < blocks && !used.contains(next));
        let address = next.unwrap_or_else(|| {
            let region = u64::from(regions.draw(random).unwrap_or(0));
            let want = runs[index];
            // The device that the addresses ask for is as large as the trace's.
            if region == REGIONS as u64 - 1 && !std::mem::replace(&mut reached_end, true) {
                return blocks.saturating_sub(want);
            }
            free_run(&used, blocks, region, want, random)
        });
        used.insert(address);
        addresses.push(address);
    }
    addresses
}

/// How many blocks follow each other from each one on.
fn runs(layout: &[u32]) -> Vec<u64> {
    let mut runs = vec![1u64; layout.len()];
    for index in (0..layout.len()).rev() {
        let back = layout[index] as usize;
        if back > 0 {
            runs[index - back] = runs[index] + 1;
        }
    }
    runs
}

/// The first of `want` free blocks in or behind `region`, or of as many as some tries find.
fn free_run(used: &HashSet<u64>, blocks: u64, region: u64, want: u64, random: &mut Random) -> u64 {
    let region_blocks = (blocks / REGIONS as u64).max(1);
    let mut best = (0, region * region_blocks);
    for tries in 0..TRIES {
        let span = region_blocks * (1 + tries / TRIES_A_REGION);
        let first = (region * region_blocks + random.below(span)) % blocks;
        let limit = want.min(if best.0 > 0 { ENOUGH } else { want });
        let free = (0..limit)
            .take_while(|more| first + more < blocks && !used.contains(&(first + more)))
            .count() as u64;
        if free > best.0 {
            best = (free, first);
            if free == limit {
                break;
            }
        }
    }
    best.1
}
