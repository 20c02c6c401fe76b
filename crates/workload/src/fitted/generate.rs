//! From a profile to requests.
use std::sync::Arc;

use super::history::{
    BESIDE, BLOCK_SECTORS, Block, History, ITEM_LABELS, LABELS, PAGE_SECTORS, Via,
};
use super::profile::*;
use destage_base::Random;
use destage_trace::{Operation, Request};

/// Draws without replacement, and from all again once none is left.
#[derive(Clone, Debug, Default)]
struct Deck {
    cards: Vec<u32>,
    left: usize,
}
impl Deck {
    fn of(tally: &Tally) -> Self {
        let mut cards = Vec::new();
        for (v, c) in tally {
            cards.resize(cards.len() + *c as usize, *v);
        }
        Self {
            left: cards.len(),
            cards,
        }
    }
    fn draw(&mut self, random: &mut Random) -> Option<u32> {
        if self.cards.is_empty() {
            return None;
        }
        if self.left == 0 {
            self.left = self.cards.len();
        }
        let i = random.below(self.left as u64) as usize;
        self.left -= 1;
        self.cards.swap(i, self.left);
        Some(self.cards[self.left])
    }
}

/// A write to come: its block, size, and where in the block.
#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u64,
    block: u32,
    size: u32,
    class: u32,
    new: u64,
    on: bool,
    again: bool,
}

/// The writes of a phase, in order.
fn slots(
    phase: &Phase,
    sizes: &[u32],
    random: &mut Random,
) -> [std::collections::VecDeque<Slot>; WRITES] {
    const UNIT: u64 = 1 << 32;
    let mut slots = Vec::new();
    for s in &phase.map {
        // Each block has its share; a share begins where the one before has got to.
        let (from, until) = (u64::from(s.from) * UNIT, u64::from(s.until) * UNIT);
        let blocks = u64::from(s.blocks);
        for i in 0..blocks {
            let share = |n: u32| (i + 1) * u64::from(n) / blocks - i * u64::from(n) / blocks;
            let (n, new, on, again) = (share(s.writes), share(s.new), share(s.on), share(s.again));
            let (low, high) = (
                from + (until - from) * i / blocks,
                from + (until - from) * (i + 1) / blocks,
            );
            // Old and new by turns.
            for j in 0..n {
                let turn = |n_of: u64, salt: u64| {
                    ((j + 1) * n_of + salt) / n.max(1) != (j * n_of + salt) / n.max(1)
                };
                let width = (high - low) / n.max(1);
                let key = low
                    + width * j
                    + if 2 * s.on > s.writes {
                        width / 2
                    } else {
                        random.below(width.max(1))
                    };
                slots.push(Slot {
                    key,
                    block: s.block + i as u32,
                    size: 0,
                    class: s.size,
                    new: (j + 1) * new / n.max(1) - j * new / n.max(1),
                    on: turn(on, n - 1),
                    again: turn(again, 0),
                });
            }
        }
    }
    // The smallest sizes go where writes are smallest.
    let mut all: Vec<u32> = phase
        .sizes
        .iter()
        .flat_map(|(size, count)| std::iter::repeat_n(sizes[*size as usize], *count as usize))
        .collect();
    all.sort_unstable();
    let mut order: Vec<(u32, u64, usize)> = slots
        .iter()
        .enumerate()
        .map(|(i, s)| (s.class, random.next_u64(), i))
        .collect();
    order.sort_unstable();
    for ((_, _, i), size) in order.into_iter().zip(all) {
        slots[i].size = size;
    }
    slots.sort_by_key(|s| s.key);
    let mut of: [std::collections::VecDeque<Slot>; WRITES] = Default::default();
    for slot in slots {
        of[Kind::of_write(slot.size) as usize].push_back(slot);
    }
    of
}

#[derive(Debug)]
struct Decks {
    steps: Vec<Deck>,
    depths: Vec<Deck>,
    forms: Vec<Deck>,
    agains: Deck,
    olds: Deck,
    debt: std::collections::HashMap<u32, i64>,
    regions: Deck,
    slots: [std::collections::VecDeque<Slot>; WRITES],
}

/// The requests of a profile.
#[derive(Debug)]
pub struct Fitted {
    profile: Arc<Profile>,
    random: Random,
    made: u64,
    now: u64,
    context: usize,
    written: History,
    read: History,
    decks: Option<Decks>,
    gaps: Vec<Deck>,
    places: Deck,
    ahead: std::collections::VecDeque<(Kind, u64)>,
    drawn: u64,
    addresses: Vec<u64>,
    reads_reached_end: bool,
}

impl Fitted {
    /// The requests of `profile`, as `seed` has them, without an end.
    #[must_use]
    pub fn new(profile: Arc<Profile>, seed: u64) -> Self {
        let gaps = profile
            .gaps
            .iter()
            .map(|g| Deck::of(&(0..g.len() as u32).map(|i| (i, 1)).collect()))
            .collect();
        Self {
            places: Deck::of(&profile.places),
            random: Random::new(seed),
            made: 0,
            now: 0,
            context: 0,
            written: History::default(),
            read: History::default(),
            decks: None,
            gaps,
            profile,
            addresses: Vec::new(),
            reads_reached_end: false,
            ahead: Default::default(),
            drawn: 0,
        }
    }
    fn phase(&self, at: u64) -> &Phase {
        &self.profile.phases[(at % self.profile.requests / self.profile.phase_requests) as usize]
    }
    fn enter(&mut self) {
        if self.made.is_multiple_of(self.profile.requests) {
            self.lay_out();
        }
        let p = &self.profile.phases
            [(self.made % self.profile.requests / self.profile.phase_requests) as usize];
        let d = |t: &[Tally]| t.iter().map(Deck::of).collect::<Vec<_>>();
        let decks = Decks {
            steps: Vec::new(),
            depths: d(&p.depths),
            forms: d(&p.forms),
            agains: Deck::of(&p.agains),
            olds: Deck::of(&p.olds),
            debt: Default::default(),
            regions: Deck::of(&p.regions),
            slots: slots(p, &self.profile.sizes, &mut self.random.clone()),
        };
        let steps = self.decks.take().map(|d| d.steps).unwrap_or_default();
        self.decks = Some(Decks { steps, ..decks });
    }
    /// Gives each block an address.
    fn lay_out(&mut self) {
        let profile = Arc::clone(&self.profile);
        let blocks = (profile.footprint_sectors / BLOCK_SECTORS).max(1);
        let mut used: std::collections::HashMap<u64, u32> = std::collections::HashMap::new();
        let mut regions = Deck::of(&profile.first_places);
        let mut reached_end = false;
        let mut addresses: Vec<u64> = Vec::with_capacity(profile.layout.len());
        // How far each place goes on.
        let mut ahead = vec![1u64; profile.layout.len()];
        for i in (0..profile.layout.len()).rev() {
            let k = profile.layout[i] as usize;
            if k > 0 {
                ahead[i - k] = ahead[i] + 1;
            }
        }
        let region_blocks = (blocks / REGIONS as u64).max(1);
        for (i, k) in profile.layout.iter().enumerate() {
            let next = (*k > 0)
                .then(|| addresses[i - *k as usize] + 1)
                .filter(|n| *n < blocks && !used.contains_key(n));
            let address = next.unwrap_or_else(|| {
                let region = u64::from(regions.draw(&mut self.random).unwrap_or(0));
                let want = ahead[i];
                // The device that the addresses ask for is as large as the trace's.
                if region == REGIONS as u64 - 1 && !std::mem::replace(&mut reached_end, true) {
                    return blocks.saturating_sub(want);
                }
                let mut best = (0, region * region_blocks);
                for tries in 0..64u64 {
                    let span = region_blocks * (1 + tries / 8);
                    let b = (region * region_blocks + self.random.below(span)) % blocks;
                    let limit = want.min(if best.0 > 0 { 512 } else { want });
                    let free = (0..limit)
                        .take_while(|j| b + j < blocks && !used.contains_key(&(b + j)))
                        .count() as u64;
                    if free > best.0 {
                        best = (free, b);
                        if free == limit {
                            break;
                        }
                    }
                }
                best.1
            });
            used.insert(address, i as u32);
            addresses.push(address);
        }
        // The device is to be as large.
        self.addresses = addresses;
    }

    /// Draws the steps of the next stretch.
    fn look_ahead(&mut self) {
        let mut decks = match self.decks.take() {
            Some(d) => d,
            None => return,
        };
        let at = self.drawn % self.profile.requests;
        let stretch = (at / self.profile.pace_requests) as usize;
        let count = self.profile.pace_requests.min(self.profile.requests - at);
        let (mut sum, mut drawn) = (0u64, Vec::new());
        for i in 0..count {
            if (at + i).is_multiple_of(self.profile.phase_requests) {
                decks.steps = self.phase(at + i).steps.iter().map(Deck::of).collect();
            }
            let random = &mut self.random;
            if decks.steps[self.context].left == 0 {
                let total: usize = decks.steps.iter().map(|d| d.left).sum();
                let mut n = random.below(total.max(1) as u64) as usize;
                for (c, d) in decks.steps.iter().enumerate() {
                    if n < d.left {
                        self.context = c;
                        break;
                    }
                    n -= d.left;
                }
            }
            let step = decks.steps[self.context].draw(random).unwrap_or(0) as usize;
            let kind = Kind::ALL[step / GAP_CLASSES];
            let class = step % GAP_CLASSES;
            self.context = context_of(kind, class);
            let gap = self.gaps[class]
                .draw(random)
                .map_or(0, |g| self.profile.gaps[class][g as usize]);
            sum = u64::saturating_add(sum, gap);
            drawn.push((kind, gap));
        }
        self.drawn += count;
        fit_to(&mut drawn, sum, self.profile.pace[stretch]);
        self.ahead.extend(drawn);
        self.decks = Some(decks);
    }
}

/// Makes the gaps of `drawn`, `sum` in all, `target` in all. The largest take what is missing, or give what is too
/// much: small gaps make bursts, and stay as they are.
fn fit_to(drawn: &mut [(Kind, u64)], sum: u64, target: u64) {
    if sum <= target {
        if let Some(largest) = drawn.iter_mut().max_by_key(|(_, gap)| *gap) {
            largest.1 += target - sum;
        }
        return;
    }
    let mut gaps: Vec<u64> = drawn.iter().map(|(_, gap)| *gap).collect();
    gaps.sort_unstable();
    let (mut left, mut level) = (target, 0);
    for (index, gap) in gaps.iter().enumerate() {
        // Were all from here on as large as this one, they would not fit.
        let count = (gaps.len() - index) as u64;
        level = left / count;
        if *gap > level {
            break;
        }
        left -= gap;
    }
    for (_, gap) in drawn {
        *gap = (*gap).min(level);
    }
}

fn in_bin(random: &mut Random, bin: u32) -> usize {
    let (a, b) = bin_range(bin);
    (a + random.below(b - a)) as usize
}

/// Depths from `depth` on, nearest first.
fn around(depth: usize, len: usize) -> impl Iterator<Item = usize> {
    let depth = depth.min(len.max(1) - 1);
    let reach = (depth / 4).clamp(2, 24);
    (0..2 * reach)
        .filter_map(move |i| {
            if i % 2 == 0 {
                Some(depth + i / 2)
            } else {
                depth.checked_sub(i / 2 + 1)
            }
        })
        .filter(move |d| *d < len)
}

impl Iterator for Fitted {
    type Item = Request;
    fn next(&mut self) -> Option<Request> {
        if (self.made % self.profile.requests).is_multiple_of(self.profile.phase_requests) {
            self.enter();
        }
        if self.ahead.is_empty() {
            self.look_ahead();
        }
        let (kind, gap) = self.ahead.pop_front()?;
        if self.made > 0 {
            self.now = self.now.saturating_add(gap);
        }
        let mut decks = self.decks.take()?;
        let random = &mut self.random;
        let k = kind as usize;
        let card = decks.depths[k].draw(random);
        let form = decks.forms[k].draw(random).unwrap_or(0);
        let footprint = self.profile.footprint_sectors;
        if kind.writes() {
            let slot = decks.slots[k]
                .pop_front()
                .or_else(|| decks.slots.iter_mut().find_map(|slots| slots.pop_front()));
            if let Some(slot) = slot {
                let number = self.addresses[slot.block as usize];
                let from = number * BLOCK_SECTORS;
                let pages = u64::from(slot.size).div_ceil(PAGE_SECTORS);
                let h = &self.written;
                let mut via = Via::Jump;
                let debt = decks.debt.entry(slot.block).or_default();
                *debt += slot.new as i64;
                let want = *debt;
                // How far from the new pages that are wanted.
                let off = |at: u64| {
                    let n = h.new_pages(at, slot.size) as i64;
                    if (n > 0) == (want > 0) {
                        (n - want).unsigned_abs().min(64)
                    } else {
                        64 + (n - want).unsigned_abs().min(64)
                    }
                };
                let mut sector = from;
                match h.find(from) {
                    None => {
                        if !slot.on {
                            sector = from + self.places.draw(random).map_or(0, u64::from);
                        }
                    }
                    Some((_, b)) => {
                        let goes_on = slot.on && b.last_end < from + BLOCK_SECTORS;
                        let mut best = (u64::MAX, from);
                        if goes_on {
                            let o = off(b.last_end);
                            if o < 64 || want > 0 {
                                best = (0, b.last_end);
                            } else {
                                best = (o, b.last_end);
                            }
                        }
                        if best.0 > 0 && (slot.again || want <= 0) && !b.items.is_empty() {
                            let rank = decks
                                .agains
                                .draw(random)
                                .map_or(0, |r| in_bin(random, r))
                                .min(b.items.len() - 1);
                            if slot.again || want <= 0 && !slot.on {
                                for (j, item) in b.items.iter().enumerate() {
                                    let item = h.items[*item as usize];
                                    let cost = 8 * off(item.start)
                                        + 24 * u64::from(item.sectors != slot.size)
                                        + 4 * u64::from(
                                            (j.max(1) as u64 * 2)
                                                .ilog2()
                                                .abs_diff((rank.max(1) as u64 * 2).ilog2()),
                                        )
                                        + 2 * (j.abs_diff(rank).min(8) as u64) / 4;
                                    if slot.again && cost < best.0 {
                                        best = (cost, item.start);
                                    }
                                }
                            }
                        }
                        if best.0 >= 512 || (!slot.again && best.0 > 0) {
                            let mut count = 0;
                            let align = b.last_start % PAGE_SECTORS;
                            let rank = if want <= 0 {
                                decks.olds.draw(random).map(|r| in_bin(random, r))
                            } else {
                                None
                            };
                            if let Some(rank) = rank.filter(|_| !b.recent.is_empty()) {
                                let page = u64::from(b.recent[rank.min(b.recent.len() - 1)]);
                                best = (
                                    8 * off(from + page * PAGE_SECTORS + align),
                                    from + page * PAGE_SECTORS + align,
                                );
                            }
                            if best.0 >= 512 || want > 0 {
                                if want > 0 {
                                    best.0 = u64::MAX;
                                }
                                for page in 0..64u64 {
                                    let until = (page + pages).min(64);
                                    let at = from + page * PAGE_SECTORS + align;
                                    let grid = slot.size > 8
                                        && b.last_start.abs_diff(at) % u64::from(slot.size) == 0;
                                    let cost = 8 * off(at)
                                        + 4 * u64::from(!grid)
                                        + 2 * u64::from(!b.touches(page, until));
                                    if cost < best.0 {
                                        count = 1;
                                        best = (cost, at);
                                    } else if cost == best.0 {
                                        count += 1;
                                        if random.below(count) == 0 {
                                            best.1 = at;
                                        }
                                    }
                                }
                            }
                        }
                        sector = best.1;
                        if let Some((d, _)) = h.began(sector) {
                            via = Via::Again(d);
                        }
                    }
                }
                let n = h.new_pages(sector, slot.size) as i64;
                if let Some(debt) = decks.debt.get_mut(&slot.block) {
                    *debt -= n;
                }
                if sector + u64::from(slot.size) > footprint {
                    sector = (footprint.saturating_sub(u64::from(slot.size))) / 8 * 8;
                }
                self.written.record(sector, slot.size, via);
                self.made += 1;
                self.decks = Some(decks);
                return Some(Request {
                    arrival: self.now,
                    sector,
                    sectors: slot.size,
                    volume: 0,
                    line: u32::try_from(self.made).unwrap_or(u32::MAX),
                    operation: Operation::Write,
                    fua: false,
                    stream: 0,
                });
            }
        }
        let history = match kind {
            Kind::ReadWritten | Kind::ReadNearWritten => &self.written,
            _ => &self.read,
        };
        let size = self.profile.sizes[form as usize / 256];
        let mut place: Option<u64> = None;
        let mut target = kind;
        let mut via = Via::Jump;
        let items = history.items.len();
        let on = matches!(kind, Kind::ReadOnSame | Kind::ReadOn);
        let again = matches!(
            kind,
            Kind::ReadAgain | Kind::ReadAgainResized | Kind::ReadWritten
        );
        if (on || again) && items > 0 {
            let card = card.unwrap_or(0);
            let depth = in_bin(random, card / ITEM_LABELS);
            let label = (card % ITEM_LABELS) as u8;
            let same = matches!(kind, Kind::ReadOnSame | Kind::ReadAgain);
            let mut best = 0;
            for d in around(depth, items) {
                let item = history.item(d);
                let last = item.end() + u64::from(size) - 1;
                let fits = match kind {
                    Kind::ReadOnSame | Kind::ReadOn => last < footprint,
                    _ => true,
                };
                if !fits {
                    continue;
                }
                let near = if item.label == label {
                    4
                } else if item.label / 16 == label / 16 {
                    2 + 2 * u32::from(item.label.abs_diff(label) == 1)
                        - u32::from(item.label.abs_diff(label) == 1)
                } else {
                    0
                };
                let score = 1 + 8 * u32::from(!same || item.sectors == size) + near;
                if score > best {
                    best = score;
                    place = Some(if on { item.end() } else { item.start });
                    via = if on { Via::On(d) } else { Via::Again(d) };
                }
                if best == 13 {
                    break;
                }
            }
            if kind == Kind::ReadWritten {
                via = self
                    .read
                    .began(place.unwrap_or(0))
                    .map_or(Via::Jump, |(d, _)| Via::Again(d));
            }
        }
        if place.is_none() && (on || again) {
            target = match kind {
                Kind::ReadWritten => Kind::ReadNearWritten,
                _ => Kind::ReadFresh,
            };
        }
        let len = history.order.len();
        if place.is_none() && len > 0 && target != Kind::ReadFresh {
            let card = card
                .filter(|_| target == kind)
                .or_else(|| decks.depths[target as usize].draw(random))
                .unwrap_or(0);
            let depth = in_bin(random, card / (32 * LABELS));
            let label = card / 32 % LABELS;
            let suits = |b: &Block| {
                4 * usize::from(b.label() / 4 == label / 4)
                    + 2 * usize::from(b.label() % 4 == label % 4)
            };
            let pick = in_bin(random, card % 32);
            let align = u64::from(form / 32 % 8);
            let die = u64::from(form / 4 % 8);
            match target {
                Kind::ReadNearWritten => {
                    let mut best = (0, None);
                    for d in around(depth, len) {
                        let b = history.at(d);
                        let score = 1 + usize::from(b.recent.len() > pick) + suits(b);
                        if score > best.0 {
                            best = (
                                score,
                                Some(
                                    b.number * BLOCK_SECTORS
                                        + u64::from(b.recent[pick.min(b.recent.len() - 1)])
                                            * PAGE_SECTORS
                                        + align,
                                ),
                            );
                        }
                        if score == 8 {
                            break;
                        }
                    }
                    place = best.1;
                }
                Kind::ReadBeside => {
                    let delta = BESIDE[pick.min(7)];
                    let mut best = 0;
                    for d in around(depth, len) {
                        let b = history.at(d);
                        let n = b.number.checked_add_signed(delta);
                        if let Some(n) = n.filter(|n| {
                            history.find(n * BLOCK_SECTORS).is_none()
                                && (n + 1) * BLOCK_SECTORS <= footprint
                        }) {
                            let score = 1 + suits(b);
                            if score <= best {
                                continue;
                            }
                            best = score;
                            let from = n * BLOCK_SECTORS;
                            let grid = (form & 2 == 2)
                                .then(|| {
                                    let step = u64::from(size);
                                    // The first place on the grid in the block, and one of those that follow.
                                    let first =
                                        from + (b.last_start % step + step - from % step) % step;
                                    let count = (from + BLOCK_SECTORS)
                                        .saturating_sub(first)
                                        .div_ceil(step)
                                        .max(1);
                                    first + random.below(count) * step
                                })
                                .filter(|p| *p < from + BLOCK_SECTORS);
                            let page = if form & 1 == 1 {
                                0
                            } else {
                                die + 8
                                    * (if die == 0 {
                                        1 + random.below(7)
                                    } else {
                                        random.below(8)
                                    })
                            };
                            place = Some(grid.unwrap_or(from + page * PAGE_SECTORS + align));
                            if best == 7 {
                                break;
                            }
                        }
                    }
                }
                _ => {
                    // A hole that the request fits in.
                    let pages = (align + u64::from(size)).div_ceil(PAGE_SECTORS).min(64);
                    let (mut best, mut count) = ((0, 0), 0u64);
                    for d in around(depth, len) {
                        let b = history.at(d);
                        let base = suits(b);
                        if base + 8 < best.0 {
                            continue;
                        }
                        let from = b.number * BLOCK_SECTORS;
                        let anchor = Some(b.last_start);
                        for page in 0..64 {
                            if b.has(page) {
                                continue;
                            }
                            let until = (page + pages).min(64);
                            let mask = u64::MAX >> (64 - (until - page)) << page;
                            let hole = b.pages & mask == 0;
                            let mut at = from + page * PAGE_SECTORS + align;
                            let fits = match (form & 2 == 2, anchor) {
                                (true, Some(anchor)) => {
                                    at = from + page * PAGE_SECTORS + anchor % PAGE_SECTORS;
                                    anchor.abs_diff(at) % u64::from(size) == 0
                                }
                                _ => page % 8 == die,
                            };
                            let score = base + 1 + 4 * usize::from(hole) + 2 * usize::from(fits);
                            if score > best.0 {
                                count = 1;
                                best = (score, at);
                            } else if score == best.0 {
                                count += 1;
                                if random.below(count) == 0 {
                                    best.1 = at;
                                }
                            }
                        }
                        if best.0 >= 13 {
                            break;
                        }
                    }
                    place = Some(if best.0 > 0 {
                        best.1
                    } else {
                        history.at(depth.min(len - 1)).number * BLOCK_SECTORS + align
                    });
                }
            }
        }
        let mut sector = if let Some(p) = place {
            p
        } else {
            let form = if matches!(kind, Kind::ReadFresh | Kind::ReadBeside) {
                form
            } else {
                decks.forms[Kind::ReadFresh as usize]
                    .draw(random)
                    .unwrap_or(1)
            };
            let region = decks.regions.draw(random).unwrap_or(0);
            let rs = footprint.div_ceil(REGIONS as u64);
            let die = u64::from(form / 4 % 8);
            let page = if form & 1 == 1 {
                0
            } else {
                die + 8
                    * (if die == 0 {
                        1 + random.below(7)
                    } else {
                        random.below(8)
                    })
            };
            let within = page * PAGE_SECTORS + u64::from(form / 32 % 8);
            let (b0, b1) = (
                u64::from(region) * rs / BLOCK_SECTORS,
                ((u64::from(region) + 1) * rs)
                    .min(footprint)
                    .div_ceil(BLOCK_SECTORS),
            );
            let need = (within + u64::from(size)).div_ceil(BLOCK_SECTORS);
            let mut best = (0, b0);
            for _ in 0..16 {
                let b = b0 + random.below((b1 - b0).max(1));
                let want = need.max(8);
                let free = (0..want)
                    .take_while(|i| history.find((b + i) * BLOCK_SECTORS).is_none())
                    .count() as u64;
                if free > best.0 {
                    best = (free, b);
                    if free == want {
                        break;
                    }
                }
            }
            if region as usize == REGIONS - 1 && !self.reads_reached_end {
                self.reads_reached_end = true;
                best.1 = footprint.saturating_sub(within + u64::from(size)) / BLOCK_SECTORS;
            }
            best.1 * BLOCK_SECTORS + within
        };
        if sector + u64::from(size) > footprint {
            sector = (footprint.saturating_sub(u64::from(size))) / 8 * 8;
        }
        if kind.writes() {
            self.written.record(sector, size, via);
        } else {
            self.read.record(sector, size, via);
        }
        self.made += 1;
        self.decks = Some(decks);
        Some(Request {
            arrival: self.now,
            sector,
            sectors: size,
            volume: 0,
            line: u32::try_from(self.made).unwrap_or(u32::MAX),
            operation: if kind.writes() {
                Operation::Write
            } else {
                Operation::Read
            },
            fua: false,
            stream: 0,
        })
    }
}
