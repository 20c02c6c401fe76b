//! Puts requests in the order of their arrival, in bounded memory.

use crate::error::Fault;
use crate::request::Request;
use destage_base::Ticks;

/// The largest number of requests with a later arrival that may precede a request in the trace.
pub(crate) const WINDOW: usize = 1 << 16;

/// Sorts a stream that is nearly sorted. Requests with the same arrival keep the order of the trace.
///
/// Requests are collected until there are twice [`WINDOW`] of them. Then they are sorted, and the earlier half
/// is released. So a request gets its right position if at most [`WINDOW`] requests before it arrive later. A
/// request that arrives earlier than the last released one is refused at once.
#[derive(Default)]
pub(crate) struct SortWindow {
    /// Requests that are not yet sorted.
    held: Vec<Request>,
    /// Sorted requests. The requests before index `next` have been returned.
    leaving: Vec<Request>,
    next: usize,
    /// The latest arrival among the released requests.
    settled: Ticks,
}

impl SortWindow {
    /// Adds a request, or refuses it with [`Fault::BackInTime`].
    pub fn push(&mut self, request: Request) -> Result<(), Fault> {
        if request.arrival < self.settled {
            return Err(Fault::BackInTime);
        }
        self.held.push(request);
        if self.held.len() == 2 * WINDOW {
            self.settle(WINDOW);
        }
        Ok(())
    }

    /// Ends the trace: releases all requests.
    pub fn finish(&mut self) {
        self.settle(self.held.len());
    }

    /// Moves up to `room` released requests to `batch`.
    pub fn drain(&mut self, batch: &mut Vec<Request>, room: usize) {
        let end = self.leaving.len().min(self.next + room);
        batch.extend_from_slice(&self.leaving[self.next..end]);
        self.next = end;
    }

    fn settle(&mut self, count: usize) {
        self.leaving.drain(..self.next);
        self.next = 0;
        self.held.sort_by_key(|request| request.arrival);
        self.leaving.extend(self.held.drain(..count));
        if let Some(last) = self.leaving.last() {
            self.settled = last.arrival;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Operation;

    fn at(arrival: Ticks, line: u32) -> Request {
        Request {
            arrival,
            sectors: 1,
            line,
            operation: Operation::Write,
            ..Request::BLANK
        }
    }

    /// The requests that the window returns for `late` requests that arrive at 5, followed by one request that
    /// arrives at 4.
    fn displaced_by(late: usize) -> Result<Vec<Request>, Fault> {
        let mut window = SortWindow::default();
        for line in 0..late {
            window.push(at(5, line as u32))?;
        }
        window.push(at(4, u32::MAX))?;
        window.finish();
        let mut all = Vec::new();
        window.drain(&mut all, usize::MAX >> 1);
        Ok(all)
    }

    #[test]
    fn the_window_repairs_what_it_promises_and_refuses_the_rest() {
        let all = displaced_by(WINDOW).unwrap();
        assert_eq!((all[0], all.len()), (at(4, u32::MAX), WINDOW + 1));
        assert!(
            all[1..].is_sorted_by_key(|request| request.line),
            "equal times keep their order"
        );
        assert!(displaced_by(2 * WINDOW).is_err());
    }
}
