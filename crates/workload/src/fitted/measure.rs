//! A walk over the requests of a trace: what each one goes by, counted phase by phase.

use std::collections::{BTreeMap, HashMap};

use destage_trace::{Operation, Request};

use super::classes::{GapClasses, sizes};
use super::history::{
    BESIDE, BLOCK_PAGES, BLOCK_SECTORS, History, ITEM_LABELS, LABELS, PAGE_SECTORS, Via,
};
use super::profile::{
    CONTEXTS, DIES, FORMS, Form, GAP_CLASSES, Kind, PICKS, Phase, Profile, REGIONS, Tally, bin,
    context_of,
};
use super::segments::{Mark, segments};

/// Requests of a phase, at least.
const LEAST_PHASE: u64 = 40;
/// Stretches of a profile, at most, and requests of each, at least.
const STRETCHES: u64 = 1024;
const LEAST_STRETCH: u64 = 16;
/// A block that so many others were touched after is near nothing any more.
const FAR: usize = 256;

/// The profile of `requests`, at least one, in so many `phases` or fewer.
pub(super) fn profile(requests: &[Request], phases: u64) -> Profile {
    let count = requests.len() as u64;
    let phases = phases.min(count.div_ceil(LEAST_PHASE)).max(1);
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for request in requests {
        *counts.entry(request.sectors).or_default() += 1;
    }
    let (sizes, size_of) = sizes(&counts);
    let gaps = gaps(requests);
    let mut sorted: Vec<u64> = gaps.iter().copied().filter(|gap| *gap > 0).collect();
    sorted.sort_unstable();
    let classes = GapClasses::of(&sorted);
    let end = requests.iter().map(Request::end).max().unwrap_or(1);
    let pace_requests = (count / STRETCHES).max(LEAST_STRETCH);
    let profile = Profile {
        requests: count,
        footprint_sectors: end.next_multiple_of(PAGE_SECTORS),
        phase_requests: count.div_ceil(phases),
        sizes,
        gaps: classes.gaps(&sorted),
        pace_requests,
        pace: gaps
            .chunks(pace_requests as usize)
            .map(|gaps| gaps.iter().sum())
            .collect(),
        ..Profile::default()
    };
    let mut walk = Walk {
        profile,
        size_of,
        written: History::default(),
        read: History::default(),
        context: 0,
        marks: Vec::new(),
    };
    for (index, (request, gap)) in requests.iter().zip(&gaps).enumerate() {
        walk.take(index as u64, request, classes.class(*gap));
    }
    walk.finish()
}

/// Time since the request before, in ticks.
fn gaps(requests: &[Request]) -> Vec<u64> {
    let mut last = requests.first().map_or(0, |request| request.arrival);
    let since = |request: &Request| {
        request
            .arrival
            .saturating_sub(std::mem::replace(&mut last, request.arrival))
    };
    requests.iter().map(since).collect()
}

struct Walk {
    profile: Profile,
    /// Which size of the profile stands for a size.
    size_of: HashMap<u32, u32>,
    written: History,
    read: History,
    context: usize,
    marks: Vec<Mark>,
}

/// What a request goes by.
struct Way {
    kind: Kind,
    /// Depth and label of what it goes by, as a card.
    card: Option<u32>,
    /// The side it lies on, of [`BESIDE`].
    side: usize,
    via: Via,
}

impl Way {
    const fn of(kind: Kind) -> Self {
        Self {
            kind,
            card: None,
            side: 0,
            via: Via::Jump,
        }
    }

    fn item(kind: Kind, depth: usize, label: u8, via: Via) -> Self {
        Self {
            card: Some(bin(depth) * ITEM_LABELS + u32::from(label)),
            via,
            ..Self::of(kind)
        }
    }

    fn block(kind: Kind, depth: usize, label: u32, pick: usize) -> Self {
        Self {
            card: Some((bin(depth) * LABELS + label) * PICKS + bin(pick)),
            ..Self::of(kind)
        }
    }
}

fn count(tally: &mut Tally, value: u32) {
    *tally.entry(value).or_default() += 1;
}

impl Walk {
    fn take(&mut self, index: u64, request: &Request, gap: usize) {
        let phase = (index / self.profile.phase_requests) as usize;
        if self.profile.phases.len() <= phase {
            self.profile.phases.push(Phase {
                steps: vec![Tally::new(); CONTEXTS],
                ..Phase::default()
            });
        }
        let writes = request.operation == Operation::Write;
        let way = if writes {
            Way::of(Kind::of_write(request.sectors))
        } else {
            self.read_way(request)
        };
        let kind = way.kind as usize;
        let counts = &mut self.profile.phases[phase];
        count(
            &mut counts.steps[self.context],
            (kind * GAP_CLASSES + gap) as u32,
        );
        self.context = context_of(way.kind, gap);
        if let Some(card) = way.card {
            count(&mut counts.depths[kind], card);
        }
        if writes {
            self.take_write(phase, request);
            self.written
                .record(request.sector, request.sectors, way.via);
        } else {
            self.take_read(phase, request, &way);
            self.read.record(request.sector, request.sectors, way.via);
        }
    }

    fn read_way(&self, request: &Request) -> Way {
        let (sector, sectors) = (request.sector, request.sectors);
        let (mut on, mut again) = (self.read.ended(sector), self.read.began(sector));
        // Of the two, the one that was used last.
        if let (Some((on_depth, _)), Some((again_depth, _))) = (on, again) {
            if on_depth <= again_depth {
                again = None;
            } else {
                on = None;
            }
        }
        if self.written.has_page(sector) && on.is_none() {
            return self.written_way(sector, again.map(|(depth, _)| depth));
        }
        if let Some((depth, item)) = on {
            let kind = if item.sectors == sectors {
                Kind::ReadOnSame
            } else {
                Kind::ReadOn
            };
            return Way::item(kind, depth, item.label, Via::On(depth));
        }
        if let Some((depth, item)) = again {
            let kind = if item.sectors == sectors {
                Kind::ReadAgain
            } else {
                Kind::ReadAgainResized
            };
            return Way::item(kind, depth, item.label, Via::Again(depth));
        }
        if let Some((index, block)) = self.read.find(sector) {
            let depth = self.read.order.depth(index);
            return Way::block(Kind::ReadNear, depth, block.label(), 0);
        }
        if let Some((depth, label, side)) = beside(&self.read, sector) {
            let way = Way::block(Kind::ReadBeside, depth, label, side);
            return Way { side, ..way };
        }
        Way::of(Kind::ReadFresh)
    }

    /// That of a read of a page that was written; `again` is the depth of the read that began there.
    fn written_way(&self, sector: u64, again: Option<usize>) -> Way {
        if let Some((depth, item)) = self.written.began(sector) {
            let via = again.map_or(Via::Jump, Via::Again);
            return Way::item(Kind::ReadWritten, depth, item.label, via);
        }
        match self.written.find(sector) {
            Some((index, block)) => {
                let depth = self.written.order.depth(index);
                let pick = block.rank(sector).unwrap_or(0);
                Way::block(Kind::ReadNearWritten, depth, block.label(), pick)
            }
            None => Way::of(Kind::ReadFresh),
        }
    }

    fn take_write(&mut self, phase: usize, request: &Request) {
        let (sector, sectors) = (request.sector, request.sectors);
        let size = self.size_of[&sectors];
        let written = &self.written;
        let within = sector % BLOCK_SECTORS;
        let again = written.began(sector).is_some();
        let counts = &mut self.profile.phases[phase];
        count(&mut counts.sizes, size);
        let (block, on, again) = match written.find(sector) {
            Some((id, block)) => (id, block.last_end == sector, again),
            None => (written.block_count() as u32, within == 0, false),
        };
        self.marks.push(Mark {
            phase,
            block,
            new: written.new_pages(sector, sectors) as u32,
            on,
            again,
            sectors,
        });
        match written.find(sector) {
            Some((_, block)) if !on && again => {
                let mut items = block.items.iter();
                let rank = items.position(|item| written.items[*item as usize].start == sector);
                if let Some(rank) = rank {
                    count(&mut counts.agains, bin(rank));
                }
            }
            Some((_, block)) if !on => {
                if let Some(rank) = block.rank(sector) {
                    count(&mut counts.olds, bin(rank));
                }
            }
            None if within != 0 => count(&mut self.profile.places, within as u32),
            _ => {}
        }
    }

    fn take_read(&mut self, phase: usize, request: &Request, way: &Way) {
        let form = self.form(request, way);
        let region = request.sector / self.region_sectors();
        let card = self.size_of[&request.sectors] * FORMS + form.card();
        let counts = &mut self.profile.phases[phase];
        count(&mut counts.forms[way.kind as usize], card);
        if way.kind == Kind::ReadFresh {
            count(&mut counts.regions, region as u32);
        }
    }

    /// How a read lies in its block, as far as its kind does not say so.
    fn form(&self, request: &Request, way: &Way) -> Form {
        let sector = request.sector;
        let page = sector / PAGE_SECTORS % BLOCK_PAGES;
        let is_on_grid = |delta| on_grid(&self.read, sector, delta, request.sectors);
        let grid = Form {
            is_on_grid: true,
            ..Form::default()
        };
        let aligned = Form {
            align: sector % PAGE_SECTORS,
            ..Form::default()
        };
        let placed = Form {
            die: page % DIES,
            ..aligned
        };
        match way.kind {
            Kind::ReadBeside if is_on_grid(BESIDE[way.side]) => grid,
            Kind::ReadNear if is_on_grid(0) => grid,
            Kind::ReadBeside | Kind::ReadFresh => Form {
                is_first_page: page == 0,
                ..placed
            },
            Kind::ReadNear => placed,
            Kind::ReadNearWritten => aligned,
            _ => Form::default(),
        }
    }

    fn region_sectors(&self) -> u64 {
        self.profile.footprint_sectors.div_ceil(REGIONS as u64)
    }

    fn finish(mut self) -> Profile {
        let region_sectors = self.region_sectors();
        self.profile.layout = self.written.layout();
        for sector in self.written.places() {
            count(
                &mut self.profile.first_places,
                (sector / region_sectors) as u32,
            );
        }
        let mut rest = &self.marks[..];
        for (index, phase) in self.profile.phases.iter_mut().enumerate() {
            let own = rest.iter().take_while(|mark| mark.phase == index).count();
            let (own, more) = rest.split_at(own);
            phase.map = segments(own);
            rest = more;
        }
        self.profile
    }
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
            if d < FAR && best.is_none_or(|(o, _, _)| d < o) {
                best = Some((d, b.label(), code));
            }
        }
    }
    best
}
