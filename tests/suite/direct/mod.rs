//! A model that sends requests straight to flash with dispatched commands. It has no buffer, no mapping table and
//! no garbage collection.
//!
//! This is MQSim's drive when it is empty and its cache is off (docs/SPEC.md, "Straight to flash"). [`place`]
//! defines the flash addresses of pages, [`host`] the times at which requests are accepted, and [`pcie`] the
//! times of messages between host and device. The flash itself is that of the simulator:
//! [`destage_nand::media::dispatch`].

mod events;
mod host;
mod pcie;
pub mod place;

use destage_base::Ticks;
use destage_nand::Kind;
use destage_nand::media::dispatch::{Clock, DispatchConfig, Dispatcher, Operation, Phase};
use destage_sim::engine::Replay;
use destage_sim::wire::Wire;
use destage_trace::request::SECTOR_BYTES;
use destage_trace::{self as trace, Request};

use self::events::EventList;
use self::host::{AtOnce, Host};
use self::pcie::{Direction, Link};
use self::place::{Order, Places};

/// The data pins of a channel.
#[derive(Clone, Copy, Debug)]
pub struct Pins {
    /// Bytes that are transferred in parallel.
    pub width_bytes: u32,
    /// Ticks of two transfers: one on the rising and one on the falling edge of the clock.
    pub pair: Ticks,
}

impl Pins {
    /// Ticks for which `bytes` are on the channel. If the number of transfers is odd, the last transfer takes no
    /// time.
    #[must_use]
    pub fn data(&self, bytes: u64) -> Ticks {
        bytes / u64::from(self.width_bytes) / 2 * self.pair
    }
}

/// The configuration of the flash and of everything between host and flash.
#[derive(Clone, Debug)]
pub struct DirectConfig {
    /// Dies and channels.
    pub flash: DispatchConfig,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Sectors of a page.
    pub page_sectors: u32,
    /// Number of page types, which is the number of bits per cell.
    pub page_types: u32,
    /// The speed of a channel.
    pub pins: Pins,
    /// How logical pages are distributed over channels, dies and planes.
    pub order: Order,
    /// The link to the host; without a link messages take no time.
    pub link: Option<Wire>,
    /// Whether requests arrive at the times of the trace.
    pub replay: Replay,
    /// The most requests in the device at a time. There is no limit if there is no link and requests arrive at
    /// the times of the trace.
    pub queue_depth: u32,
}

/// The number of commands of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Commands {
    /// Reads of one page.
    pub reads: u64,
    /// Reads of several pages.
    pub multiplane_reads: u64,
    /// Programs of one page.
    pub programs: u64,
    /// Programs of several pages.
    pub multiplane_programs: u64,
}

/// The result of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The completion time of each request, in ticks.
    pub completions: Vec<Ticks>,
    /// The commands that flash carried out.
    pub commands: Commands,
}

/// A scheduled event.
#[derive(Clone, Copy, Debug, Default)]
enum Event {
    /// The next request of the trace arrives.
    #[default]
    Arrival,
    /// A phase of a flash command of the die with this number has ended.
    Flash(Phase, u32),
    /// A message has crossed the link.
    Delivered(Direction),
}

/// The objects that the flash model calls back: clock, host and results.
struct Side {
    events: EventList<Event>,
    host: Host,
    /// For each request, the number of its pages that are not done.
    left: Vec<u32>,
    completions: Vec<Ticks>,
    commands: Commands,
}

impl Clock for Side {
    fn now(&self) -> Ticks {
        self.events.now()
    }

    fn begins(&mut self, phase: Phase, die: u32, length: Ticks) {
        self.events.after(length, Event::Flash(phase, die));
    }

    fn issued(&mut self, command: &[Operation]) {
        let Commands {
            reads,
            multiplane_reads,
            programs,
            multiplane_programs,
        } = &mut self.commands;
        let count = match (command.first().map(|first| first.kind), command.len()) {
            (Some(Kind::Read), 1) => reads,
            (Some(Kind::Read), _) => multiplane_reads,
            (_, 1) => programs,
            _ => multiplane_programs,
        };
        *count += 1;
    }

    fn done(&mut self, operation: &Operation) {
        let id = operation.token;
        let left = &mut self.left[id as usize];
        *left -= 1;
        if *left == 0 {
            let now = self.events.now();
            match &mut self.host {
                Host::AtOnce(host) => {
                    self.completions[id as usize] = now;
                    host.completed();
                }
                Host::Linked(link) => link.completed(id, &mut self.events),
            }
        }
    }
}

/// Serves `requests`, which are reads and writes in the order of their arrival, until all are complete.
///
/// # Errors
/// The text says which count is 0, or which request has no sectors or is neither a read nor a write.
pub fn run(config: &DirectConfig, requests: &[Request]) -> Result<Outcome, String> {
    check(config, requests)?;
    let host = match config.link {
        None => Host::AtOnce(AtOnce::new(config, requests)),
        Some(wire) => Host::Linked(Link::new(wire, config, requests)),
    };
    let mut side = Side {
        events: EventList::default(),
        host,
        left: vec![0; requests.len()],
        completions: vec![0; requests.len()],
        commands: Commands::default(),
    };
    let mut media = Dispatcher::new(config.flash.clone());
    let mut places = Places::new(config);
    if let Some(first) = requests.first() {
        side.events.at(first.arrival, Event::Arrival);
    }
    let mut arrived = 0;
    loop {
        // At each instant, all flash events precede the requests that are due.
        let is_over = side.events.next_time() != Some(side.events.now());
        if is_over
            && let Host::AtOnce(host) = &mut side.host
            && let Some(id) = host.take_due()
        {
            accept(config, &mut places, &mut media, &mut side, requests, id);
            continue;
        }
        let Some(event) = side.events.take() else {
            break;
        };
        match event {
            Event::Flash(phase, die) => media.end(phase, die, &mut side),
            Event::Arrival => {
                match &mut side.host {
                    Host::AtOnce(host) => host.arrived(),
                    Host::Linked(link) => link.arrived(&mut side.events),
                }
                arrived += 1;
                if let Some(next) = requests.get(arrived) {
                    side.events.at(next.arrival, Event::Arrival);
                }
            }
            Event::Delivered(direction) => {
                let Host::Linked(link) = &mut side.host else {
                    continue;
                };
                let heard = link.deliver(direction, &mut side.events);
                match heard {
                    pcie::Heard::Nothing => {}
                    pcie::Heard::Accepted(id) => {
                        accept(config, &mut places, &mut media, &mut side, requests, id);
                    }
                    pcie::Heard::Complete(id) => {
                        side.completions[id as usize] = side.events.now();
                    }
                }
                if let Host::Linked(link) = &mut side.host {
                    link.go_on(direction, &mut side.events);
                }
            }
        }
    }
    Ok(Outcome {
        completions: side.completions,
        commands: side.commands,
    })
}

/// Accepts request `id` into the device, page by page.
fn accept(
    config: &DirectConfig,
    places: &mut Places,
    media: &mut Dispatcher,
    side: &mut Side,
    requests: &[Request],
    id: u32,
) {
    let request = &requests[id as usize];
    let kind = match request.operation {
        trace::Operation::Read => Kind::Read,
        _ => Kind::Program,
    };
    let page_sectors = u64::from(config.page_sectors);
    let mut sector = request.sector;
    while sector < request.end() {
        let page = sector / page_sectors;
        let next = request.end().min((page + 1) * page_sectors);
        let at = places.of(page, kind == Kind::Program);
        media.push(Operation {
            kind,
            die: at.die,
            plane: at.plane,
            block: at.block,
            page: at.page,
            page_type: page_type(at.page, config.page_types),
            data: config.pins.data((next - sector) * SECTOR_BYTES),
            loads: false,
            caches: false,
            token: id,
        });
        side.left[id as usize] += 1;
        sector = next;
    }
    media.dispatch(side);
}

fn check(config: &DirectConfig, requests: &[Request]) -> Result<(), String> {
    let flash = &config.flash;
    for (name, count) in [
        ("channels", flash.channels),
        ("dies of a channel", flash.dies_per_channel),
        ("planes", flash.planes),
        ("pages of a block", config.pages_per_block),
        ("sectors of a page", config.page_sectors),
        ("types of page", config.page_types),
        ("bytes of a channel's width", config.pins.width_bytes),
        ("queue depth", config.queue_depth),
    ] {
        if count == 0 {
            return Err(format!("{name}: 0; expected at least 1"));
        }
    }
    let moves = |request: &&Request| {
        use trace::Operation::{Flush, Read, Trim, Write};
        match request.operation {
            Read | Write => request.sectors == 0,
            Flush | Trim => true,
        }
    };
    if let Some(request) = requests.iter().find(moves) {
        return Err(format!(
            "line {}: {} of {} sectors; expected reads and writes of at least one",
            request.line,
            request.operation.name(),
            request.sectors
        ));
    }
    Ok(())
}

/// The type of page `page` of a block with `types` types of pages, as in MQSim. With three types, a block begins
/// with six pages of the first type and two of the second. Then the type changes after every two pages.
fn page_type(page: u32, types: u32) -> u32 {
    if types != 3 {
        return page % types;
    }
    match page {
        0..=5 => 0,
        6..=7 => 1,
        _ => (page - 8) / 2 % 3,
    }
}
