//! Dies that share channels: a step of a die is carried out command by command, each placed on its channel when it begins.
//!
//! Without it a die has a channel of its own, and the time of a step is a sum that is known when it begins.

use std::collections::VecDeque;

use destage_base::Ticks;
use destage_flash::media::{Command, Media, MediaConfig, Target};
use destage_flash::{Geometry, Kind, Operations, Timing, Transfer};

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
}

/// The channels, and what is to come on each die.
pub(super) struct Channels {
    media: Media,
    channels: u32,
    dies_per_channel: u32,
    timing: Timing,
    page_bits: u32,
    blocks_per_plane: u32,
    steps: Vec<Step>,
}

impl Channels {
    /// Idle channels of `media` under a device of `geometry`.
    pub fn new(media: MediaConfig, geometry: &Geometry, timing: Timing) -> Self {
        Self {
            channels: media.channels,
            dies_per_channel: media.dies_per_channel,
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
        let blocks_per_plane = self.blocks_per_plane;
        let commands = operations.all().iter().map(|operation| Phase {
            kind: operation.kind,
            transfer: operation.transfer,
            plane: (operation.at.0 >> self.page_bits) / blocks_per_plane,
        });
        step.commands.extend(commands);
    }

    /// Issues the next command of the step of `die`; how long it takes. None if the step has ended.
    pub fn issue(&mut self, die: u32, now: Ticks) -> Option<Ticks> {
        let step = &mut self.steps[die as usize];
        let Some(phase) = step.commands.pop_front() else {
            let left = step.not_before.saturating_sub(now);
            return (left > 0).then_some(left);
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
                page_type: 0,
                age_s: 0,
                data,
            },
        );
        Some(answer.done - now)
    }

    /// How long the step of `die`, which ends `now`, collected garbage.
    pub fn collected(&self, die: u32, now: Ticks) -> Ticks {
        let step = &self.steps[die as usize];
        if step.collects { now - step.began } else { 0 }
    }
}
