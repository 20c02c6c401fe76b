//! Checks decoded requests before the reader returns them: checks the length of each request, moves its address
//! into the address space of the device, and enforces the order of arrival.

use crate::address::{Addresses, Placement};
use crate::alignment::{Alignment, Misaligned};
use crate::error::Fault;
use crate::options::{Order, ZeroLength};
use crate::order::SortWindow;
use crate::request::{Operation, Request};
use destage_base::Ticks;

/// The rules of admission, and the state that these rules need from one request to the next.
pub(crate) struct Admission {
    addresses: Addresses,
    in_place: bool,
    zero_length: ZeroLength,
    clamp: bool,
    /// Sorts requests by arrival, and holds the requests that wait for sorting. `None` unless requests are
    /// sorted.
    window: Option<SortWindow>,
    /// The latest arrival of an admitted request, in ticks; not used if requests are sorted.
    latest: Ticks,
    /// Where the admitted requests begin, except for those that were only counted.
    alignment: Alignment,
    /// Number of admitted requests.
    pub admitted: u64,
    /// Number of requests that were dropped because they have no sectors.
    pub dropped: u64,
    /// Number of requests that arrived earlier than a request before them, and whose arrival was set to the
    /// latest arrival so far.
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
            alignment: Alignment::default(),
            admitted: 0,
            dropped: 0,
            clamped: 0,
        }
    }

    /// Whether a request is admitted unchanged and at once if it has sectors and does not arrive earlier than
    /// the request before it.
    pub fn is_plain(&self) -> bool {
        self.in_place && self.window.is_none()
    }

    /// Whether a first pass over the trace has placed its volumes, by their numbers.
    pub fn is_concatenated(&self) -> bool {
        matches!(self.addresses.placement, Placement::Concatenate(_))
    }

    /// How the requests are misaligned to 4 KiB. `None` if some of them were only counted, so that it is not known.
    pub fn misaligned(&self) -> Option<Misaligned> {
        let sees_all = self.alignment.requests() == self.admitted;
        let misaligned = self.alignment.misaligned(self.addresses.shift);
        misaligned.filter(|_| sees_all)
    }

    /// The latest arrival of an admitted request, in ticks.
    pub fn latest(&self) -> Ticks {
        self.latest
    }

    /// Counts `count` requests as admitted. The caller must have checked these requests. The last of these
    /// requests arrives at `latest`.
    pub fn pass(&mut self, count: u64, latest: Ticks) {
        self.admitted += count;
        self.latest = latest;
    }

    /// Applies the rules to the requests in `batch`, and leaves only those in `batch` that the reader may
    /// return now. Calls `bad` for each request that breaks a rule. `bad` returns whether the next request is
    /// checked too.
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

    /// Admits the requests before the first one that has no sectors or arrives too early, and returns their
    /// number. Nearly always the batch has no such request. Then the whole batch is admitted, and no request is
    /// moved within it. Returns 0 if requests are moved to other addresses or sorted.
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
        for request in &batch[..clean] {
            self.alignment.see(request.operation, request.sector);
        }
        self.latest = latest;
        self.admitted += clean as u64;
        clean
    }

    /// Notes the end of the trace. All requests that wait for sorting can then be returned.
    pub fn finish(&mut self) {
        if let Some(window) = &mut self.window {
            window.finish();
        }
    }

    /// Adds to `batch` up to `room` requests that waited for sorting and may be returned now.
    pub fn waited(&mut self, batch: &mut Vec<Request>, room: usize) {
        if let Some(window) = &mut self.window {
            window.drain(batch, room);
        }
    }

    /// Applies the rules to `request`. Returns whether the reader may return the request at once. Otherwise the
    /// request was dropped, or it waits for sorting.
    #[inline]
    fn check(&mut self, request: &mut Request) -> Result<bool, Fault> {
        if request.sectors == 0 && request.operation != Operation::Flush {
            if self.zero_length == ZeroLength::Error {
                return Err(Fault::ZeroLength);
            }
            self.dropped += 1;
            return Ok(false);
        }
        let sector = request.sector;
        if !self.in_place {
            self.addresses.place(request)?;
        }
        if let Some(window) = &mut self.window {
            window.push(*request)?;
            self.alignment.see(request.operation, sector);
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
        self.alignment.see(request.operation, sector);
        self.admitted += 1;
        Ok(true)
    }
}
