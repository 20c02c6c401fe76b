//! The commands of dies, if commands are timed one by one. Each command is then an interval of the recording.

use std::collections::{BTreeMap, VecDeque};

use destage_base::Ticks;
use destage_nand::array::Ppn;
use destage_nand::medium::{FlashCommand, Pass};
use destage_nand::{Kind, Operations};

use super::recording::{Interval, Part};

/// Die, physical page and kind of an operation.
type Key = (u32, u32, u8);

/// Operations whose commands have not begun, and commands under way.
#[derive(Default)]
pub(super) struct Commands {
    /// For each operation whose command has not begun: an interval with the purpose of the operation. Operations with
    /// the same key are in the order in which they were announced.
    to_come: BTreeMap<Key, VecDeque<Interval>>,
    /// For each command under way: the index of its interval. Commands with the same key are in the order in which
    /// they began.
    under_way: BTreeMap<Key, VecDeque<usize>>,
}

fn key(die: u32, Ppn(at): Ppn, kind: Kind) -> Key {
    (die, at, kind as u8)
}

impl Commands {
    /// Announces the commands of `operations`, which have the purpose of `step`.
    pub fn plan(&mut self, step: Interval, operations: &Operations) {
        for (number, operation) in operations.all().iter().enumerate() {
            let part = Part {
                kind: operation.kind,
                cause: operation.cause,
                count: operation.count,
                time: 0,
            };
            let interval = Interval {
                parts: vec![part],
                // Only the first operation carries the merges of the step.
                merges: match number {
                    0 => step.merges.clone(),
                    _ => Vec::new(),
                },
                ..step.clone()
            };
            let key = key(step.die, operation.at, operation.kind);
            self.to_come.entry(key).or_default().push_back(interval);
        }
    }

    /// `command` of `die` begins. The interval of the command gets the index `number`. `begin` is the time at which
    /// the command begins. `time` is the length of the command if nothing interrupts it. Returns the interval, or
    /// `None` if its operations were not announced.
    pub fn begin(
        &mut self,
        die: u32,
        command: &FlashCommand,
        number: usize,
        (begin, time): (Ticks, Ticks),
    ) -> Option<Interval> {
        let Ppn(last) = command.at;
        let mut all: Option<Interval> = None;
        for at in last + 1 - command.pages..=last {
            let key = key(die, Ppn(at), command.kind);
            // A second pass over the same pages follows, so the operations stay in the list.
            let one = match command.pass {
                Pass::First => self.to_come.get(&key).and_then(|all| all.front()).cloned(),
                Pass::Only | Pass::Second => take(&mut self.to_come, key),
            };
            let Some(one) = one else { continue };
            match &mut all {
                None => all = Some(one),
                Some(all) => join(all, one),
            }
        }
        let mut all = all?;
        (all.begin, all.time) = (begin, time);
        if let Some(part) = all.parts.first_mut() {
            part.time = time;
        }
        let key = key(die, command.at, command.kind);
        self.under_way.entry(key).or_default().push_back(number);
        Some(all)
    }

    /// `command` of `die` has ended. Returns the index of its interval.
    pub fn end(&mut self, die: u32, command: &FlashCommand) -> Option<usize> {
        take(&mut self.under_way, key(die, command.at, command.kind))
    }
}

/// Takes the first value of `key` from `all`.
fn take<T>(all: &mut BTreeMap<Key, VecDeque<T>>, key: Key) -> Option<T> {
    let of_key = all.get_mut(&key)?;
    let first = of_key.pop_front();
    if of_key.is_empty() {
        all.remove(&key);
    }
    first
}

/// Adds `one` to the interval `all` of the same command.
fn join(all: &mut Interval, one: Interval) {
    all.pages.extend(one.pages);
    all.record = all.record.or(one.record);
    all.request = all.request.or(one.request);
    for part in one.parts {
        let alike = |other: &&mut Part| (other.kind, other.cause) == (part.kind, part.cause);
        match all.parts.iter_mut().find(alike) {
            Some(other) => other.count += part.count,
            None => all.parts.push(part),
        }
    }
}
