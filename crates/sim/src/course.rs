//! The course of a run: totals at moments that are equally far apart. Their number is bounded for a run of any length.

use destage_base::Ticks;
use destage_device::{Device, Request, Transaction};
use destage_nand::Operations;
use destage_nand::operation::Tally;

use crate::engine::{Command, Completion, Probe};
use crate::explain::{FIRST_LENGTH, INTERVALS};
use crate::observer::Observer;

/// Totals at one moment of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Point {
    /// Ticks since the first request arrived.
    pub passed: Ticks,
    /// Number of requests that are complete.
    pub completed: u64,
    /// Number of pages whose program has begun, for whatever cause.
    pub programs: u64,
}

/// The probe that records a course.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// The moment at which the first request arrived; `None` before it, and after statistics closed.
    start: Option<Ticks>,
    now: Ticks,
    /// Ticks between two points.
    distance: Ticks,
    /// The moment of the next point.
    next: Ticks,
    completed: u64,
    tally: Tally,
    points: Vec<Point>,
}

impl Course {
    /// Adds a point with the totals so far, at the moment `at`. When there are as many points as a series has intervals,
    /// every second one is removed, so the distance of points doubles.
    fn point(&mut self, at: Ticks, start: Ticks) {
        self.points.push(Point {
            passed: at - start,
            completed: self.completed,
            programs: self.tally.programs.iter().sum(),
        });
        if self.points.len() == INTERVALS {
            let mut number = 0;
            self.points.retain(|_| {
                number += 1;
                number % 2 == 0
            });
            self.distance = self.distance.saturating_mul(2);
        }
    }
}

impl Probe for Course {
    fn moment(&mut self, now: Ticks, _: &Device) {
        self.now = now;
        let Some(start) = self.start else {
            return;
        };
        while now >= self.next {
            self.point(self.next, start);
            let next = self.next.saturating_add(self.distance);
            if next == std::mem::replace(&mut self.next, next) {
                break;
            }
        }
    }

    fn closed(&mut self, _: &Device) {
        let Some(start) = self.start.take() else {
            return;
        };
        // What happens at the moment of the last point belongs to this point.
        let is_at_end = |last: &Point| last.passed == self.now - start;
        if self.points.last().is_some_and(is_at_end) {
            self.points.pop();
        }
        self.point(self.now, start);
    }

    fn tells(&mut self, observer: &mut dyn Observer) {
        observer.course(&self.points);
    }

    fn arrived(&mut self, _: u32, _: &mut Request) {
        if self.start.is_none() && self.points.is_empty() {
            self.start = Some(self.now);
            self.distance = FIRST_LENGTH;
            self.next = self.now.saturating_add(FIRST_LENGTH);
        }
    }

    fn completed(&mut self, _: &Completion<'_>, _: Ticks) {
        self.completed += 1;
    }

    fn transaction(&mut self, _: u32, transaction: Transaction, operations: &Operations) {
        if matches!(transaction, Transaction::ReadBetween(_)) {
            self.tally.add(operations);
        }
    }

    fn begins(&mut self, command: &Command<'_>) {
        self.tally.add(command.operations);
    }

    fn overlapping_begins(
        &mut self,
        _: u32,
        _: u32,
        operations: &Operations,
        _: [(Ticks, Ticks); 2],
    ) {
        self.tally.add(operations);
    }
}
