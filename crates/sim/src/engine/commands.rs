//! A step of a die, command by command: each is placed on die and channel when it begins.
//!
//! Only where dies share channels or pages have types: else the time of a step is a sum that is known when it begins.

use std::collections::VecDeque;

use destage_base::Ticks;
use destage_flash::media::{Command, Media, MediaConfig, Target};
use destage_flash::{Geometry, Kind, Operations, Timing, Transfer};

use crate::explain::moves;

/// What a die is doing.
#[derive(Clone, Default)]
struct Step {
    /// What is left of it.
    commands: VecDeque<Phase>,
    began: Ticks,
    /// It does not end before: the map is busy until then.
    not_before: Ticks,
    collects: bool,
}

#[derive(Clone, Copy)]
struct Phase {
    kind: Kind,
    transfer: Transfer,
    plane: u32,
    page_type: u32,
    /// It moves or erases what was there.
    moves: bool,
}

/// A command that was issued.
pub(super) struct Issued {
    /// How long it takes.
    pub time: Ticks,
    /// It moves or erases what was there, and serves no request.
    pub moves: bool,
}

/// The media, and what is to come on each die.
pub(super) struct Commands {
    media: Media,
    channels: u32,
    dies_per_channel: u32,
    timing: Timing,
    page_types: u32,
    page_bits: u32,
    blocks_per_plane: u32,
    steps: Vec<Step>,
}

impl Commands {
    /// Idle `media` under a device of `geometry`.
    pub fn new(media: MediaConfig, geometry: &Geometry, timing: Timing) -> Self {
        Self {
            channels: media.channels,
            dies_per_channel: media.dies_per_channel,
            page_types: media.cells.read.len().max(media.cells.program.len()) as u32,
            media: Media::new(media),
            timing,
            page_bits: geometry.page_bits(),
            blocks_per_plane: geometry.blocks_per_plane,
            steps: vec![Step::default(); geometry.dies as usize],
        }
    }

    /// `die` begins `operations`, one after the other; meanwhile the map is busy for `map_time`. `collects`: they are a
    /// garbage collection.
    pub fn begin(
        &mut self,
        die: u32,
        operations: &Operations,
        now: Ticks,
        map_time: Ticks,
        collects: bool,
    ) {
        let step = &mut self.steps[die as usize];
        step.began = now;
        step.not_before = now.saturating_add(map_time);
        step.collects = collects;
        let (page_bits, blocks_per_plane) = (self.page_bits, self.blocks_per_plane);
        let page_types = self.page_types;
        let commands = operations.all().iter().map(|operation| Phase {
            kind: operation.kind,
            transfer: operation.transfer,
            plane: (operation.at.0 >> page_bits) / blocks_per_plane,
            moves: collects || moves(operation),
            page_type: page_type(operation.at.0 & ((1 << page_bits) - 1), page_types),
        });
        step.commands.extend(commands);
    }

    /// Issues the next command of the step of `die`, or waits for the map. None if the step has ended.
    pub fn issue(&mut self, die: u32, now: Ticks) -> Option<Issued> {
        let step = &mut self.steps[die as usize];
        let Some(phase) = step.commands.pop_front() else {
            let left = step.not_before.saturating_sub(now);
            return (left > 0).then_some(Issued {
                time: left,
                moves: false,
            });
        };
        let data = match phase.transfer {
            Transfer::None => (phase.kind == Kind::Erase).then_some(0),
            Transfer::Page => Some(self.timing.page_transfer),
            Transfer::Sector => Some(self.timing.sector_transfer),
            Transfer::TwoPages => Some(2 * self.timing.page_transfer),
        };
        let target = Target {
            plane: phase.plane,
            erases: 0,
        };
        // Neighbours in the stripe of dies are on different channels.
        let (way, channel) = (die / self.channels, die % self.channels);
        let answer = self.media.operate(
            now,
            &Command {
                kind: phase.kind,
                die: channel * self.dies_per_channel + way,
                targets: &[target],
                page_type: phase.page_type,
                age_s: 0,
                data,
            },
        );
        Some(Issued {
            time: answer.done - now,
            moves: phase.moves,
        })
    }

    /// How long the step of `die`, which ends `now`, collected garbage.
    pub fn collected(&self, die: u32, now: Ticks) -> Ticks {
        let step = &self.steps[die as usize];
        if step.collects { now - step.began } else { 0 }
    }
}

/// The type of page `page` of a block whose cells hold pages of `types` types: that of three, which begin with pages of
/// the first and the second type, is the one which MQSim and FEMU have.
pub(crate) fn page_type(page: u32, types: u32) -> u32 {
    match (types, page) {
        (3, 0..=5) => 0,
        (3, 6..=7) => 1,
        (3, _) => (page - 8) / 2 % 3,
        _ => page % types,
    }
}
