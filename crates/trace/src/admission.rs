//! Admits decoded requests before they are handed out: checks their length, places their address, enforces
//! their order.

use crate::address::Addresses;
use crate::error::Fault;
use crate::options::{Order, ZeroLength};
use crate::order::SortWindow;
use crate::request::{Operation, Request};
use destage_base::Ticks;

/// The rules of admission, and the state that they keep from one request to the next.
pub(crate) struct Admission {
    addresses: Addresses,
    in_place: bool,
    zero_length: ZeroLength,
    clamp: bool,
    /// Sorts requests by arrival and holds those that wait; `None` unless requests are sorted.
    window: Option<SortWindow>,
    /// The latest arrival of an admitted request, in ticks. Unused where requests are sorted.
    latest: Ticks,
    /// Number of admitted requests.
    pub admitted: u64,
    /// Number of requests that were dropped because they have no sectors.
    pub dropped: u64,
    /// Number of requests whose time was earlier than the latest one and was set to it.
    pub clamped: u64,
}

impl Admission {
    pub fn new(addresses: Addresses, zero_length: ZeroLength, order: Order) -> Self {
        let in_place = addresses.is_identity();
        let window = (order == Order::Sort).then(SortWindow::default);
        let clamp = order == Order::Clamp;
        Self {
            addresses,
            in_place,
            zero_length,
            clamp,
            window,
            latest: 0,
            admitted: 0,
            dropped: 0,
            clamped: 0,
        }
    }

    /// Whether each request that has sectors and does not go back in time is admitted unchanged and at once.
    pub fn is_plain(&self) -> bool {
        self.in_place && self.window.is_none()
    }

    /// The latest arrival of an admitted request, in ticks.
    pub fn latest(&self) -> Ticks {
        self.latest
    }

    /// Counts `count` requests as admitted that the caller has checked itself, the last one with the arrival
    /// `latest`.
    pub fn pass(&mut self, count: u64, latest: Ticks) {
        self.admitted += count;
        self.latest = latest;
    }

    /// Applies the rules to `batch`, and keeps in it only the requests that may be handed out now. Calls `bad`
    /// for each request that breaks a rule; `bad` returns whether to continue with the next request.
    pub fn admit(
        &mut self,
        batch: &mut Vec<Request>,
        mut bad: impl FnMut(&Request, Fault) -> bool,
    ) {
        let clean = self.clean(batch);
        let mut kept = clean;
        for index in clean..batch.len() {
            let mut request = batch[index];
            match self.check(&mut request) {
                Ok(true) => {
                    batch[kept] = request;
                    kept += 1;
                }
                Ok(false) => {}
                Err(fault) => {
                    if !bad(&request, fault) {
                        break;
                    }
                }
            }
        }
        batch.truncate(kept);
    }

    /// Admits requests up to the first one that needs a closer look, and returns their number. Nearly always
    /// this is the whole batch, and no request has to be moved within it.
    fn clean(&mut self, batch: &[Request]) -> usize {
        if !self.in_place || self.window.is_some() {
            return 0;
        }
        let mut latest = self.latest;
        let odd = |request: &Request| {
            let empty = request.sectors == 0 && request.operation != Operation::Flush;
            if empty || request.arrival < latest {
                return true;
            }
            latest = request.arrival;
            false
        };
        let clean = batch.iter().position(odd).unwrap_or(batch.len());
        self.latest = latest;
        self.admitted += clean as u64;
        clean
    }

    /// Ends the trace, so that all requests that wait for sorting can be handed out.
    pub fn finish(&mut self) {
        if let Some(window) = &mut self.window {
            window.finish();
        }
    }

    /// Adds to `batch` up to `room` requests that waited for sorting and may now be handed out.
    pub fn waited(&mut self, batch: &mut Vec<Request>, room: usize) {
        if let Some(window) = &mut self.window {
            window.drain(batch, room);
        }
    }

    /// Whether `request` may be handed out at once. If not, it was dropped, or it waits for sorting.
    #[inline]
    fn check(&mut self, request: &mut Request) -> Result<bool, Fault> {
        if request.sectors == 0 && request.operation != Operation::Flush {
            if self.zero_length == ZeroLength::Error {
                return Err(Fault::ZeroLength);
            }
            self.dropped += 1;
            return Ok(false);
        }
        if !self.in_place {
            self.addresses.place(request)?;
        }
        if let Some(window) = &mut self.window {
            window.push(*request)?;
            self.admitted += 1;
            return Ok(false);
        }
        if request.arrival < self.latest {
            if !self.clamp {
                return Err(Fault::BackInTime);
            }
            self.clamped += 1;
            request.arrival = self.latest;
        }
        self.latest = request.arrival;
        self.admitted += 1;
        Ok(true)
    }
}
