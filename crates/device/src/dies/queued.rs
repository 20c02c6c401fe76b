//! Operations that wait in a queue of the driver, while their die begins other operations.
//!
//! The device begins these operations in the order of the die's queue, and they change the map in this order. They
//! end in any order. An operation of several commands is never passed to a queue of the driver, but occupies its die
//! until its end.

use super::{Dies, UnderWay};
use crate::operation::PageOperation;

impl Dies {
    /// Called when the operation that `die` has just begun waits with the driver. The operation no longer occupies
    /// the die.
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

    /// Called when an operation of `die` that waited with the driver has ended. The caller has to call
    /// [`Dies::start`] afterwards.
    #[inline]
    pub fn finish_queued(&mut self, die: u32) {
        self.dies[die as usize].queued -= 1;
    }

    /// Ends `operation` of `die`, which waited with the driver and belongs to no unit. The caller has to call
    /// [`Dies::start`] afterwards.
    #[inline(always)]
    pub fn finish_left(&mut self, die: u32, operation: PageOperation) {
        self.finish_queued(die);
        if self.rules.places_writes {
            self.forget_unfinished(operation);
        }
    }
}
