//! Reads that interrupt a program or an erase, compared with a model of a die that advances microsecond by
//! microsecond.

use std::collections::VecDeque;

use destage_base::Random;
use destage_nand::Kind;
use destage_nand::media::{BusTimes, Cells, Command, Media, MediaConfig, Suspend};

const READ: u64 = 40;
const PROGRAM: u64 = 200;
const ERASE: u64 = 700;
const COST: u64 = 5;

/// One die, whose channel phases take no time. A tick is a microsecond in these tests.
fn media(suspend: Suspend) -> Media {
    Media::new(MediaConfig {
        channels: 1,
        dies_per_channel: 1,
        planes: 1,
        cells: Cells {
            read: vec![READ],
            program: vec![PROGRAM],
            erase: ERASE,
        },
        bus: Some(BusTimes::default()),
        suspend: Some(suspend),
        registers: None,
    })
}

/// A model of a die that works on one operation in each microsecond.
#[derive(Default)]
struct Die {
    /// The numbers of the waiting reads. `reading` is the read on which the cells work, with the microseconds left.
    reads: VecDeque<usize>,
    reading: Option<(usize, u64)>,
    /// Microseconds left of the pulse in progress, which the cells finish before they stop.
    pulse_left: u64,
    /// Microseconds left until the cells have stopped.
    stopping: u64,
    /// The program or erase: its number, the microseconds left, and the number of its interruptions.
    change: Option<(usize, u64, u32)>,
    /// A program is not interrupted if it has no more than this many microseconds left; 0 for an erase.
    tail: u64,
    /// The reads that wait for the end of the program or erase.
    behind: VecDeque<usize>,
    done: Vec<u64>,
    /// Number of microseconds in which the die worked.
    worked: u64,
}

impl Die {
    fn issue(&mut self, number: usize, kind: Kind, suspend: &Suspend) {
        self.done.resize(number + 1, 0);
        match (kind, &mut self.change) {
            (Kind::Read, Some((_, left, interruptions))) => {
                let is_reading =
                    self.reading.is_some() || self.stopping > 0 || !self.reads.is_empty();
                let pulse_left = match suspend.pulse {
                    0 => 0,
                    pulse => *left % pulse,
                };
                let stops = *left - pulse_left > self.tail;
                if is_reading {
                    self.reads.push_back(number);
                } else if *interruptions < suspend.limit && stops && self.behind.is_empty() {
                    *interruptions += 1;
                    self.pulse_left = pulse_left;
                    self.stopping = COST;
                    self.reads.push_back(number);
                } else {
                    self.behind.push_back(number);
                }
            }
            (Kind::Read, None) => self.reads.push_back(number),
            (Kind::Program, _) => {
                self.change = Some((number, PROGRAM, 0));
                self.tail = suspend.tail;
            }
            (Kind::Erase, _) => {
                self.change = Some((number, ERASE, 0));
                self.tail = 0;
            }
        }
    }

    /// Advances by one microsecond, from `now` on.
    fn step(&mut self, now: u64) {
        if self.pulse_left > 0 {
            self.pulse_left -= 1;
            self.worked += 1;
            if let Some((_, left, _)) = &mut self.change {
                *left -= 1;
            }
            return;
        }
        if self.stopping > 0 {
            self.stopping -= 1;
            self.worked += 1;
            return;
        }
        if self.reading.is_none() {
            self.reading = self.reads.pop_front().map(|number| (number, READ));
        }
        if let Some((number, left)) = &mut self.reading {
            *left -= 1;
            self.worked += 1;
            if *left == 0 {
                self.done[*number] = now + 1;
                self.reading = None;
            }
            return;
        }
        if let Some((number, left, _)) = &mut self.change {
            *left -= 1;
            self.worked += 1;
            if *left == 0 {
                self.done[*number] = now + 1;
                self.change = None;
                self.reads.append(&mut self.behind);
            }
        }
    }
}

#[test]
fn random_streams_are_those_of_a_die_looked_at_every_microsecond() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let limit = random.below(4) as u32;
        let suspend = Suspend {
            cost: COST,
            limit,
            // Two thirds of the seeds have pulses, and half of the seeds have a tail.
            pulse: [0, 7, 60][seed as usize % 3],
            tail: [0, 30 + random.below(100)][seed as usize % 2],
            moves_end: true,
        };
        let mut media = media(suspend);
        let mut die = Die::default();
        // The ends that `media` returned. After each command, the end of the last program or erase is updated,
        // because interruptions move it.
        let mut answers: Vec<u64> = Vec::new();
        let mut change = None;
        let mut expected_work = 0;
        for now in 0..20_000 {
            let is_free = die.change.is_none() && die.reads.is_empty() && die.reading.is_none();
            let kind = match random.below(120) {
                0 | 1 => Kind::Read,
                2 if is_free => Kind::Program,
                3 if is_free => Kind::Erase,
                _ => {
                    die.step(now);
                    continue;
                }
            };
            // While a read waits for the end of a program or erase, no further read is issued, because the model does
            // not support it.
            if kind == Kind::Read && !die.behind.is_empty() {
                die.step(now);
                continue;
            }
            let number = answers.len();
            die.issue(number, kind, &suspend);
            let command = Command {
                kind,
                die: 0,
                plane: 0,
                page_type: 0,
                data: Some(0),
            };
            answers.push(media.operate(now, &command));
            expected_work += match kind {
                Kind::Read => READ,
                Kind::Program => PROGRAM,
                Kind::Erase => ERASE,
            };
            if kind != Kind::Read {
                change = Some(number);
            }
            if let Some(change) = change {
                answers[change] = media.change_done(0);
            }
            die.step(now);
        }
        for now in 20_000..40_000 {
            die.step(now);
        }
        assert_eq!(die.done, answers, "seed {seed}, {suspend:?}");
        // The working time of the die is the sum of the times of all operations, plus `COST` for each interruption.
        let stops = die.worked - expected_work;
        assert!(
            stops.is_multiple_of(COST) && (limit > 0 || stops == 0),
            "{stops}"
        );
    }
}
