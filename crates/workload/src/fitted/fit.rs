//! From requests to a profile.
use std::collections::{BTreeMap, HashMap};

use super::history::{BESIDE, BLOCK_SECTORS, History, ITEM_LABELS, LABELS, PAGE_SECTORS, Via};
use super::profile::*;
use destage_trace::{Operation, Request};

/// Phases of a profile where nobody says how many.
pub const PHASES: u64 = 128;
/// Fewer than that are not made of it, however many segments they have.
const LEAST_PHASES: u64 = 16;
/// Requests of a phase, at least.
const LEAST_PHASE: u64 = 40;
/// Segments of all phases, at most, unless there are few phases.
const MOST_SEGMENTS: usize = 6000;

/// Takes in the requests of a trace, in the order of their arrival, and makes a profile of them. Keeps all of them,
/// since phases are parts of the whole.
#[derive(Debug, Default)]
pub struct Fitter {
    requests: Vec<Request>,
}

impl Fitter {
    /// Takes in the next request. Flushes and trims are left out.
    pub fn add(&mut self, request: &Request) {
        if matches!(request.operation, Operation::Read | Operation::Write) {
            self.requests.push(*request);
        }
    }

    /// The requests so far.
    #[must_use]
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// The profile of all requests in at most so many phases; none if there were none.
    #[must_use]
    pub fn finish(self, phases: u64) -> Option<Profile> {
        if self.requests.is_empty() {
            return None;
        }
        let mut phases = phases.max(1);
        loop {
            let profile = profile(&self.requests, phases);
            let segments: usize = profile.phases.iter().map(|phase| phase.map.len()).sum();
            if segments <= MOST_SEGMENTS || phases <= LEAST_PHASES {
                return Some(profile);
            }
            phases /= 2;
        }
    }
}

/// The profile of `requests`, at least one, in so many `phases` or fewer.
fn profile(requests: &[Request], phases: u64) -> Profile {
    let mut profile = Profile::default();
    let n = requests.len() as u64;
    profile.requests = n;
    profile.footprint_sectors = requests
        .iter()
        .map(Request::end)
        .max()
        .unwrap_or(1)
        .next_multiple_of(8);
    let phases = phases.min(n.div_ceil(LEAST_PHASE)).max(1);
    profile.phase_requests = n.div_ceil(phases);
    profile.pace_requests = (n / 1024).max(16);
    // sizes
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for r in requests {
        *counts.entry(r.sectors).or_default() += 1;
    }
    let (sizes, size_of) = sizes(&counts);
    profile.sizes = sizes;
    // gaps
    let gaps: Vec<u64> = requests
        .iter()
        .scan(requests.first().map_or(0, |r| r.arrival), |last, r| {
            let g = r.arrival.saturating_sub(*last);
            *last = r.arrival;
            Some(g)
        })
        .collect();
    let mut sorted: Vec<u64> = gaps.iter().copied().filter(|g| *g > 0).collect();
    sorted.sort_unstable();
    let mut bounds = [u64::MAX; GAP_CLASSES];
    bounds[0] = 0;
    for (class, share) in [(1, 0.3), (2, 0.6), (3, 0.85), (4, 0.97)] {
        if let Some(g) = sorted.get((sorted.len() as f64 * share) as usize) {
            bounds[class] = *g;
        }
    }
    let class_of = |g: u64| {
        (0..GAP_CLASSES)
            .find(|c| g <= bounds[*c])
            .unwrap_or(GAP_CLASSES - 1)
    };
    for class in 0..GAP_CLASSES {
        let of: Vec<u64> = sorted
            .iter()
            .copied()
            .filter(|g| class_of(*g) == class)
            .collect();
        let groups = of.len().min(24);
        profile.gaps[class] = (0..groups)
            .map(|i| {
                let part = &of[i * of.len() / groups..(i + 1) * of.len() / groups];
                (part.iter().map(|g| *g as u128).sum::<u128>() / part.len() as u128) as u64
            })
            .collect();
    }
    // walk
    let (mut written, mut read) = (History::default(), History::default());
    let mut context = 0;
    let mut marks: Vec<Mark> = Vec::new();
    let region_sectors = profile.footprint_sectors.div_ceil(REGIONS as u64);
    for (index, r) in requests.iter().enumerate() {
        let phase = (index as u64 / profile.phase_requests) as usize;
        if profile.phases.len() <= phase {
            profile.phases.push(Phase {
                steps: vec![Tally::new(); CONTEXTS],
                ..Phase::default()
            });
        }
        let p = &mut profile.phases[phase];
        if (index as u64).is_multiple_of(profile.pace_requests) {
            profile.pace.push(0);
        }
        if let Some(l) = profile.pace.last_mut() {
            *l += gaps[index];
        }
        let writes = r.operation == Operation::Write;
        let (mut depth, mut item, mut pick, mut via) = (None, None, 0, Via::Jump);
        let history = if writes { &written } else { &read };
        let (mut on, mut again) = (history.ended(r.sector), history.began(r.sector));
        if let (Some(o), Some(a)) = (on, again) {
            if o.0 <= a.0 {
                again = None;
            } else {
                on = None;
            }
        }
        let kind = if writes {
            Kind::of_write(r.sectors)
        } else if written.has_page(r.sector) && on.is_none() {
            if let Some((d, i)) = written.began(r.sector) {
                item = Some((d, i.label));
                if let Some((d, _)) = again {
                    via = Via::Again(d);
                }
                Kind::ReadWritten
            } else if let Some((i, b)) = written.find(r.sector) {
                depth = Some((written.order.depth(i), b.label()));
                pick = b.rank(r.sector).unwrap_or(0);
                Kind::ReadNearWritten
            } else {
                Kind::ReadFresh
            }
        } else if let Some((d, i)) = on {
            item = Some((d, i.label));
            via = Via::On(d);
            if i.sectors == r.sectors {
                Kind::ReadOnSame
            } else {
                Kind::ReadOn
            }
        } else if let Some((d, i)) = again {
            item = Some((d, i.label));
            via = Via::Again(d);
            if i.sectors == r.sectors {
                Kind::ReadAgain
            } else {
                Kind::ReadAgainResized
            }
        } else if let Some((i, b)) = history.find(r.sector) {
            depth = Some((history.order.depth(i), b.label()));
            Kind::ReadNear
        } else if let Some((d, l, delta)) = beside(history, r.sector) {
            depth = Some((d, l));
            pick = delta;
            Kind::ReadBeside
        } else {
            Kind::ReadFresh
        };
        let k = kind as usize;
        let gap = class_of(gaps[index]);
        *p.steps[context]
            .entry((k * GAP_CLASSES + gap) as u32)
            .or_default() += 1;
        context = context_of(kind, gap);
        if let Some((d, l)) = depth {
            *p.depths[k]
                .entry((bin(d) * LABELS + l) * 32 + bin(pick))
                .or_default() += 1;
        }
        if let Some((d, l)) = item {
            *p.depths[k]
                .entry(bin(d) * ITEM_LABELS + u32::from(l))
                .or_default() += 1;
        }
        let page = r.sector / PAGE_SECTORS % 64;
        let place = (r.sector % PAGE_SECTORS * 8 + page % 8) as u32 * 4;
        let form = match kind {
            _ if writes => None,
            Kind::ReadBeside if on_grid(&read, r.sector, BESIDE[pick], r.sectors) => Some(2),
            Kind::ReadBeside | Kind::ReadFresh => Some(place + u32::from(page == 0)),
            Kind::ReadNear => Some(if on_grid(&read, r.sector, 0, r.sectors) {
                2
            } else {
                place
            }),
            Kind::ReadNearWritten => Some((r.sector % PAGE_SECTORS * 8) as u32 * 4),
            _ => Some(0),
        };
        if writes {
            *p.sizes.entry(size_of[&r.sectors]).or_default() += 1;
            let known = written.find(r.sector).map(|(id, b)| {
                (
                    id,
                    b.last_end == r.sector,
                    written.began(r.sector).is_some(),
                )
            });
            let (id, on, again) = known.unwrap_or((
                written.block_count() as u32,
                r.sector % BLOCK_SECTORS == 0,
                false,
            ));
            marks.push(Mark {
                phase,
                block: id,
                new: written.new_pages(r.sector, r.sectors) as u32,
                on,
                again,
                sectors: r.sectors,
            });
            if let (Some((_, false, _)), Some((_, b))) = (known, written.find(r.sector)) {
                if again {
                    if let Some(j) = b
                        .items
                        .iter()
                        .position(|i| written.items[*i as usize].start == r.sector)
                    {
                        *p.agains.entry(bin(j)).or_default() += 1;
                    }
                } else if let Some(j) = b.rank(r.sector) {
                    *p.olds.entry(bin(j)).or_default() += 1;
                }
            }
            if known.is_none() && r.sector % BLOCK_SECTORS != 0 {
                *profile
                    .places
                    .entry((r.sector % BLOCK_SECTORS) as u32)
                    .or_default() += 1;
            }
        }
        if let Some(f) = form {
            *p.forms[k].entry(size_of[&r.sectors] * 256 + f).or_default() += 1;
        }
        if kind == Kind::ReadFresh {
            *p.regions
                .entry((r.sector / region_sectors) as u32)
                .or_default() += 1;
        }
        if writes {
            written.record(r.sector, r.sectors, via);
        } else {
            read.record(r.sector, r.sectors, via);
        }
    }
    profile.layout = written.layout();
    for sector in written.places() {
        *profile
            .first_places
            .entry((sector / region_sectors) as u32)
            .or_default() += 1;
    }
    let mut rest = &marks[..];
    let count = profile.phases.len();
    for at in 0..count {
        let n = rest.iter().take_while(|m| m.phase == at).count();
        let (own, more) = rest.split_at(n);
        rest = more;
        profile.phases[at].map = segments(own);
    }
    profile
}

struct Mark {
    phase: usize,
    block: u32,
    new: u32,
    on: bool,
    again: bool,
    sectors: u32,
}

/// What the writes of a phase have in common, block by block.
fn segments(marks: &[Mark]) -> Vec<Segment> {
    let total = marks.len().max(1) as u64;
    let mut of: BTreeMap<u32, (Segment, u64)> = BTreeMap::new();
    for (at, m) in marks.iter().enumerate() {
        let slice = (at as u64 * u64::from(SLICES) / total) as u32;
        let (s, sectors) = of.entry(m.block).or_insert((
            Segment {
                block: m.block,
                blocks: 1,
                from: slice,
                ..Segment::default()
            },
            0,
        ));
        s.writes += 1;
        s.new += m.new;
        s.on += u32::from(m.on);
        s.again += u32::from(m.again && !m.on);
        s.until = slice + 1;
        *sectors += u64::from(m.sectors);
    }
    let mut out: Vec<Segment> = Vec::new();
    for (_, (mut s, sectors)) in of {
        let mean = (sectors / u64::from(s.writes)).max(1);
        s.size = 2 * mean.ilog2() + u32::from(mean * mean >= 2 << (2 * mean.ilog2()));
        if let Some(last) = out.last_mut() {
            let alike = |a: u32, b: u32| {
                let (a, b) = (a * s.blocks, b);
                let a = a / last.blocks.max(1);
                a.abs_diff(b) <= (a.max(b)) / 4
            };
            if last.block + last.blocks == s.block
                && last.size.abs_diff(s.size) <= 1
                && alike(last.writes, s.writes)
                && alike(last.new, s.new)
                && alike(last.on, s.on)
                && alike(last.again, s.again)
                && s.from >= last.from
                && s.from <= last.until + 1
                && s.until >= last.until
                && s.until - s.from <= (last.until - last.from) / last.blocks + 2
            {
                last.blocks += 1;
                last.writes += s.writes;
                last.new += s.new;
                last.on += s.on;
                last.again += s.again;
                last.until = s.until;
                continue;
            }
        }
        out.push(s);
    }
    out
}

/// Whether `sector` lies whole lengths of the request from the last one in the block that is `delta` before.
fn on_grid(history: &History, sector: u64, delta: i64, sectors: u32) -> bool {
    let at = (sector / BLOCK_SECTORS).checked_add_signed(-delta);
    at.and_then(|n| history.find(n * BLOCK_SECTORS))
        .is_some_and(|(_, b)| {
            sectors > 8 && b.last_start.abs_diff(sector) % u64::from(sectors) == 0
        })
}

/// The touched block near that of `sector` that was touched last: depth, label, and where it lies.
fn beside(history: &History, sector: u64) -> Option<(usize, u32, usize)> {
    let mut best: Option<(usize, u32, usize)> = None;
    for (code, delta) in BESIDE.iter().enumerate() {
        let at = (sector / BLOCK_SECTORS).checked_add_signed(-delta);
        if let Some((i, b)) = at.and_then(|n| history.find(n * BLOCK_SECTORS)) {
            let d = history.order.depth(i);
            if d < 256 && best.is_none_or(|(o, _, _)| d < o) {
                best = Some((d, b.label(), code));
            }
        }
    }
    best
}

fn sizes(counts: &BTreeMap<u32, u64>) -> (Vec<u32>, HashMap<u32, u32>) {
    let mut popular: Vec<(u64, u32)> = counts.iter().map(|(s, c)| (*c, *s)).collect();
    popular.sort_unstable_by(|a, b| b.cmp(a));
    let mut rest: Vec<(u32, u64)> = popular
        .split_off(popular.len().min(64))
        .into_iter()
        .map(|(c, s)| (s, c))
        .collect();
    rest.sort_unstable();
    let mut sizes: Vec<u32> = popular.iter().map(|(_, s)| *s).collect();
    let mut of: HashMap<u32, u32> = sizes
        .iter()
        .enumerate()
        .map(|(i, s)| (*s, i as u32))
        .collect();
    let total: u64 = rest.iter().map(|r| r.1).sum();
    let (mut seen, mut group, mut groups): (u64, usize, Vec<Vec<(u32, u64)>>) =
        (0, usize::MAX, Vec::new());
    for (s, c) in rest {
        let g = (seen * 64 / total.max(1)) as usize;
        seen += c;
        if g != group {
            group = g;
            groups.push(Vec::new());
        }
        if let Some(last) = groups.last_mut() {
            last.push((s, c));
        }
    }
    for g in groups {
        let count: u64 = g.iter().map(|x| x.1).sum();
        let mean = g.iter().map(|x| u64::from(x.0) * x.1).sum::<u64>() / count;
        for (s, _) in &g {
            of.insert(*s, sizes.len() as u32);
        }
        sizes.push(mean as u32);
    }
    (sizes, of)
}
