//! Commands of dies that begin and end one by one: each is an interval.

use std::collections::{BTreeMap, VecDeque};

use destage_base::Ticks;
use destage_nand::array::Ppn;
use destage_nand::medium::{FlashCommand, Pass};
use destage_nand::{Kind, Operations};

use super::recording::{Interval, Part};

/// Die, physical page and kind of an operation.
type Key = (u32, u32, u8);

/// Operations whose commands are to come, and commands under way.
#[derive(Default)]
pub(super) struct Commands {
    /// The purpose of each operation, with equal ones in their order.
    to_come: BTreeMap<Key, VecDeque<Interval>>,
    /// The place among the intervals of each command under way, likewise.
    under_way: BTreeMap<Key, VecDeque<usize>>,
}

fn key(die: u32, Ppn(at): Ppn, kind: Kind) -> Key {
    (die, at, kind as u8)
}

impl Commands {
    /// The commands of `operations` will begin, for the purpose of `step`.
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
                // Merges are named once.
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

    /// `command` of `die` begins, and is interval `number`, which has these times: its begin, and how long it takes if nothing interrupts it.
    /// `None` if it is not known.
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
            // Another pass of it follows.
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

    /// `command` of `die` has ended: its interval.
    pub fn end(&mut self, die: u32, command: &FlashCommand) -> Option<usize> {
        take(&mut self.under_way, key(die, command.at, command.kind))
    }
}

/// Takes the first that `all` has for `key`.
fn take<T>(all: &mut BTreeMap<Key, VecDeque<T>>, key: Key) -> Option<T> {
    let of_key = all.get_mut(&key)?;
    let first = of_key.pop_front();
    if of_key.is_empty() {
        all.remove(&key);
    }
    first
}

/// `one` is part of the command that is `all`.
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
