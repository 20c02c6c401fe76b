//! The treatment of a decoded request before it is handed out: length, address, order.

use crate::address::Addresses;
use crate::error::Fault;
use crate::options::{Order, ZeroLength};
use crate::order::SortWindow;
use crate::request::{Operation, Request};
use destage_base::Ticks;

/// The rules, and the state they keep from one request to the next.
pub(crate) struct Admission {
    addresses: Addresses,
    in_place: bool,
    zero_length: ZeroLength,
    clamp: bool,
    /// Where requests are sorted: the waiting ones.
    window: Option<SortWindow>,
    /// The latest arrival.
    latest: Ticks,
    /// Requests let in.
    pub admitted: u64,
    /// Requests without sectors, dropped.
    pub dropped: u64,
    /// Requests whose time went back, set to the latest time.
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

    /// Whether requests are let in as they are, if they have a length and do not go back in time.
    pub fn is_plain(&self) -> bool {
        self.in_place && self.window.is_none()
    }

    /// The latest arrival.
    pub fn latest(&self) -> Ticks {
        self.latest
    }

    /// Lets in `count` requests that were looked at elsewhere, up to `latest`.
    pub fn pass(&mut self, count: u64, latest: Ticks) {
        self.admitted += count;
        self.latest = latest;
    }

    /// Applies the rules to `batch`, and leaves in it the requests that may be handed out now. `bad` gets each request
    /// that breaks one, and says whether to go on with the next.
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

    /// Admits requests up to the first that needs a closer look, and returns how many. Almost always these are all of them, and none has to be moved.
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

    /// The trace is over: waiting requests may leave.
    pub fn finish(&mut self) {
        if let Some(window) = &mut self.window {
            window.finish();
        }
    }

    /// Adds up to `room` requests that waited and may now be handed out.
    pub fn waited(&mut self, batch: &mut Vec<Request>, room: usize) {
        if let Some(window) = &mut self.window {
            window.drain(batch, room);
        }
    }

    /// Whether `request` may be handed out at once; if not, it was dropped or waits.
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
