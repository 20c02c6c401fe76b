//! Where reads go: by what was read and written before, as their kind says.

use destage_base::Random;

use super::deck::{Deck, in_bin};
use super::history::{
    BESIDE, BLOCK_PAGES, BLOCK_SECTORS, Block, History, ITEM_LABELS, LABELS, PAGE_SECTORS, Via,
};
use super::profile::{DIES, FORMS, Form, Kind, PICKS, Phase, Profile, REGIONS};

/// Blocks that are tried for a read of new ground.
const TRIES: usize = 16;
/// Untouched blocks in a row that are enough for it.
const ROOM: u64 = 8;

/// What the reads of the phase go by.
#[derive(Debug, Default)]
pub(super) struct Reads {
    depths: Vec<Deck>,
    forms: Vec<Deck>,
    regions: Deck,
    reached_end: bool,
}

/// A block to look near, drawn from a profile.
struct Near {
    /// How many blocks were touched after it.
    depth: usize,
    label: u32,
    /// What else the card says: a rank of pages, or a side.
    pick: usize,
}

impl Near {
    fn of(card: u32, random: &mut Random) -> Self {
        Self {
            depth: in_bin(random, card / (PICKS * LABELS)),
            label: card / PICKS % LABELS,
            pick: in_bin(random, card % PICKS),
        }
    }

    /// How like the block it is: 6 if entirely, and its fill counts for more.
    fn suits(&self, block: &Block) -> usize {
        let (own, wanted) = (block.label(), self.label);
        4 * usize::from(own / 4 == wanted / 4) + 2 * usize::from(own % 4 == wanted % 4)
    }
}

impl Reads {
    pub(super) fn enter(&mut self, phase: &Phase) {
        self.depths = phase.depths.iter().map(Deck::of).collect();
        self.forms = phase.forms.iter().map(Deck::of).collect();
        self.regions = Deck::of(&phase.regions);
    }

    /// The next read of a kind: first sector, sectors, how it came there.
    pub(super) fn place(
        &mut self,
        kind: Kind,
        profile: &Profile,
        (written, read): (&History, &History),
        random: &mut Random,
    ) -> (u64, u32, Via) {
        let card = self.depths[kind as usize].draw(random);
        let card_of_form = self.forms[kind as usize].draw(random).unwrap_or(0);
        let size = profile.sizes[(card_of_form / FORMS) as usize];
        let form = Form::of(card_of_form);
        let history = if kind.reads_written() { written } else { read };
        let footprint = profile.footprint_sectors;
        let mut target = kind;
        if kind.by_item() {
            let found = at_item(kind, card.unwrap_or(0), size, history, footprint, random);
            if let Some((sector, via)) = found {
                let via = match kind {
                    Kind::ReadWritten => read
                        .began(sector)
                        .map_or(Via::Jump, |(depth, _)| Via::Again(depth)),
                    _ => via,
                };
                return (sector, size, via);
            }
            target = match kind {
                Kind::ReadWritten => Kind::ReadNearWritten,
                _ => Kind::ReadFresh,
            };
        }
        let mut sector = None;
        if target != Kind::ReadFresh && history.order.len() > 0 {
            let card = card
                .filter(|_| target == kind)
                .or_else(|| self.depths[target as usize].draw(random));
            let near = Near::of(card.unwrap_or(0), random);
            sector = match target {
                Kind::ReadNearWritten => on_written(&near, &form, history),
                Kind::ReadBeside => beside(&near, &form, size, history, footprint, random),
                _ => Some(in_hole(&near, &form, size, history, random)),
            };
        }
        let sector = sector.unwrap_or_else(|| {
            let form = match kind {
                Kind::ReadFresh | Kind::ReadBeside => form,
                _ => Form::of(
                    self.forms[Kind::ReadFresh as usize]
                        .draw(random)
                        .unwrap_or(1),
                ),
            };
            self.fresh(&form, size, history, footprint, random)
        });
        (sector, size, Via::Jump)
    }

    /// On new ground in a region.
    fn fresh(
        &mut self,
        form: &Form,
        size: u32,
        history: &History,
        footprint: u64,
        random: &mut Random,
    ) -> u64 {
        let region = u64::from(self.regions.draw(random).unwrap_or(0));
        let region_sectors = footprint.div_ceil(REGIONS as u64);
        let within = page(form, random) * PAGE_SECTORS + form.align;
        let first = region * region_sectors / BLOCK_SECTORS;
        let until = ((region + 1) * region_sectors)
            .min(footprint)
            .div_ceil(BLOCK_SECTORS);
        let want = (within + u64::from(size)).div_ceil(BLOCK_SECTORS).max(ROOM);
        let mut best = (0, first);
        for _ in 0..TRIES {
            let block = first + random.below(until.saturating_sub(first).max(1));
            let free = (0..want)
                .take_while(|more| history.find((block + more) * BLOCK_SECTORS).is_none())
                .count() as u64;
            if free > best.0 {
                best = (free, block);
                if free == want {
                    break;
                }
            }
        }
        // The device that the addresses ask for is as large as the trace's.
        if region == REGIONS as u64 - 1 && !std::mem::replace(&mut self.reached_end, true) {
            best.1 = footprint.saturating_sub(within + u64::from(size)) / BLOCK_SECTORS;
        }
        best.1 * BLOCK_SECTORS + within
    }
}

/// The page of a block to begin on: the first, or any other on its die.
fn page(form: &Form, random: &mut Random) -> u64 {
    if form.is_first_page {
        return 0;
    }
    let rows = BLOCK_PAGES / DIES;
    let row = if form.die == 0 {
        1 + random.below(rows - 1)
    } else {
        random.below(rows)
    };
    form.die + DIES * row
}

/// Depths from `depth` on, nearest first.
fn around(depth: usize, len: usize) -> impl Iterator<Item = usize> {
    let depth = depth.min(len.max(1) - 1);
    let reach = (depth / 4).clamp(2, 24);
    (0..2 * reach)
        .filter_map(move |step| {
            if step % 2 == 0 {
                Some(depth + step / 2)
            } else {
                depth.checked_sub(step / 2 + 1)
            }
        })
        .filter(move |depth| *depth < len)
}

/// Behind an earlier request, or at its start: the one most like what the card says.
fn at_item(
    kind: Kind,
    card: u32,
    size: u32,
    history: &History,
    footprint: u64,
    random: &mut Random,
) -> Option<(u64, Via)> {
    /// Score of one that is all that was asked for.
    const BEST: u32 = 13;
    let items = history.items.len();
    if items == 0 {
        return None;
    }
    let (goes_on, same) = (kind.goes_on(), kind.keeps_size());
    let depth = in_bin(random, card / ITEM_LABELS);
    let label = (card % ITEM_LABELS) as u8;
    let mut best = (0, None);
    for depth in around(depth, items) {
        let item = history.item(depth);
        if goes_on && item.end() + u64::from(size) > footprint {
            continue;
        }
        let near = match item.label.abs_diff(label) {
            0 => 4,
            apart if item.label / 16 == label / 16 => 2 + u32::from(apart == 1),
            _ => 0,
        };
        let score = 1 + 8 * u32::from(!same || item.sectors == size) + near;
        if score > best.0 {
            let place = if goes_on {
                (item.end(), Via::On(depth))
            } else {
                (item.start, Via::Again(depth))
            };
            best = (score, Some(place));
        }
        if best.0 == BEST {
            break;
        }
    }
    best.1
}

/// On a written page.
fn on_written(near: &Near, form: &Form, history: &History) -> Option<u64> {
    /// Score of a block that is all that was asked for.
    const BEST: usize = 8;
    let mut best = (0, None);
    for depth in around(near.depth, history.order.len()) {
        let block = history.at(depth);
        let score = 1 + usize::from(block.recent.len() > near.pick) + near.suits(block);
        if score > best.0 {
            let page = u64::from(block.recent[near.pick.min(block.recent.len() - 1)]);
            let sector = block.number * BLOCK_SECTORS + page * PAGE_SECTORS + form.align;
            best = (score, Some(sector));
        }
        if score == BEST {
            break;
        }
    }
    best.1
}

/// In an untouched block near a touched one.
fn beside(
    near: &Near,
    form: &Form,
    size: u32,
    history: &History,
    footprint: u64,
    random: &mut Random,
) -> Option<u64> {
    /// Score of a block that is all that was asked for.
    const BEST: usize = 7;
    let delta = BESIDE[near.pick.min(BESIDE.len() - 1)];
    let mut best = (0, None);
    for depth in around(near.depth, history.order.len()) {
        let block = history.at(depth);
        let free = block.number.checked_add_signed(delta).filter(|number| {
            history.find(number * BLOCK_SECTORS).is_none()
                && (number + 1) * BLOCK_SECTORS <= footprint
        });
        let score = 1 + near.suits(block);
        let Some(number) = free.filter(|_| score > best.0) else {
            continue;
        };
        let from = number * BLOCK_SECTORS;
        let grid = form
            .is_on_grid
            .then(|| on_grid(block.last_start, from, u64::from(size), random))
            .flatten();
        let page = page(form, random);
        best = (
            score,
            Some(grid.unwrap_or(from + page * PAGE_SECTORS + form.align)),
        );
        if score == BEST {
            break;
        }
    }
    best.1
}

/// A place in the block from `from` on that lies whole lengths from `anchor`, if the block has one.
fn on_grid(anchor: u64, from: u64, length: u64, random: &mut Random) -> Option<u64> {
    let first = from + (anchor % length + length - from % length) % length;
    let count = (from + BLOCK_SECTORS)
        .saturating_sub(first)
        .div_ceil(length)
        .max(1);
    let sector = first + random.below(count) * length;
    Some(sector).filter(|sector| *sector < from + BLOCK_SECTORS)
}

/// In a touched block, best in a hole that the request fits in.
fn in_hole(near: &Near, form: &Form, size: u32, history: &History, random: &mut Random) -> u64 {
    /// Score of a page that is all that was asked for.
    const BEST: usize = 13;
    /// What a page may add to the score of its block, and one more.
    const PAGE: usize = 8;
    let len = history.order.len();
    let (mut best, mut equals) = ((0, 0), 0u64);
    for depth in around(near.depth, len) {
        let block = history.at(depth);
        let base = near.suits(block);
        if base + PAGE < best.0 {
            continue;
        }
        for page in (0..BLOCK_PAGES).filter(|page| !block.has(*page)) {
            let (sector, score) = hole(block, page, form, size);
            let score = base + score;
            if score > best.0 {
                equals = 1;
                best = (score, sector);
            } else if score == best.0 {
                equals += 1;
                if random.below(equals) == 0 {
                    best.1 = sector;
                }
            }
        }
        if best.0 >= BEST {
            break;
        }
    }
    if best.0 > 0 {
        return best.1;
    }
    history.at(near.depth.min(len - 1)).number * BLOCK_SECTORS + form.align
}

/// The sector to begin at on an untouched page, and how good that is.
fn hole(block: &Block, page: u64, form: &Form, size: u32) -> (u64, usize) {
    let pages = (form.align + u64::from(size))
        .div_ceil(PAGE_SECTORS)
        .min(BLOCK_PAGES);
    let until = (page + pages).min(BLOCK_PAGES);
    let mask = u64::MAX >> (BLOCK_PAGES - (until - page)) << page;
    let start = block.number * BLOCK_SECTORS + page * PAGE_SECTORS;
    let (sector, fits) = if form.is_on_grid {
        let sector = start + block.last_start % PAGE_SECTORS;
        let apart = block.last_start.abs_diff(sector);
        (sector, apart.is_multiple_of(u64::from(size)))
    } else {
        (start + form.align, page % DIES == form.die)
    };
    let is_hole = block.pages & mask == 0;
    (sector, 1 + 4 * usize::from(is_hole) + 2 * usize::from(fits))
}
