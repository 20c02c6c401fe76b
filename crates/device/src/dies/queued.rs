//! Operations that wait with the driver, while their die begins others.
//!
//! They begin in the order of the queue, which is that of changes to the map, and end in any order. An operation of more than one command is never
//! among them: the die begins nothing after it before its end.

use super::{Dies, UnderWay};
use crate::operation::PageOperation;

impl Dies {
    /// The operation that `die` has just begun waits with the driver, and the die is free for the next.
    pub fn hand_over(&mut self, die: u32) {
        let has_units = self.has_units();
        let state = &mut self.dies[die as usize];
        state.in_service = 0;
        state.queued += 1;
        let operation = state.serving.take();
        self.under_way[state.in_table] = match operation {
            Some(operation) => UnderWay::Left(die, operation),
            None => UnderWay::Filling(die),
        };
        if has_units && !operation.is_some_and(PageOperation::is_read) {
            state.open.hand_over(state.in_table);
        }
    }

    /// An operation that waited with the driver of `die` has ended. Call [`Dies::start`] afterwards.
    #[inline]
    pub fn finish_queued(&mut self, die: u32) {
        self.dies[die as usize].queued -= 1;
    }

    /// The `operation`, which waited with the driver of `die` and belongs to no unit, has ended. Call [`Dies::start`] afterwards.
    #[inline(always)]
    pub fn finish_left(&mut self, die: u32, operation: PageOperation) {
        self.finish_queued(die);
        if self.rules.places_writes {
            self.forget_unfinished(operation);
        }
    }
}
