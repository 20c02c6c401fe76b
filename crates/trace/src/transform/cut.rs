//! Cuts a part out of a trace: by time, volume and address.

use crate::request::{Operation, Request};
use destage_base::Ticks;

/// The conditions under which a request is kept. The default keeps all requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Keeps arrivals at or after this time, in ticks.
    pub from: Option<Ticks>,
    /// Keeps arrivals before this time, in ticks.
    pub until: Option<Ticks>,
    /// Keeps these volumes; all if empty.
    pub volumes: Vec<u32>,
    /// Keeps the sectors from the first number on and before the second. Of a request that reaches beyond this
    /// range, the part inside is kept. This condition does not apply to a flush, which has no address.
    pub sectors: Option<(u64, u64)>,
}

impl Cut {
    /// The part of `request` that is kept; `None` if nothing is kept.
    ///
    /// ```
    /// use destage_trace::{Operation, Request, transform::Cut};
    /// let request = Request { sector: 90, sectors: 20, operation: Operation::Write, ..Request::BLANK };
    /// let cut = Cut { sectors: Some((100, 200)), ..Cut::default() };
    /// let kept = cut.keep(&request).unwrap();
    /// assert_eq!((kept.sector, kept.sectors), (100, 10));
    /// ```
    #[must_use]
    pub fn keep(&self, request: &Request) -> Option<Request> {
        let timely = self.from.is_none_or(|from| request.arrival >= from)
            && self.until.is_none_or(|until| request.arrival < until);
        let asked_for = self.volumes.is_empty() || self.volumes.contains(&request.volume);
        if !timely || !asked_for {
            return None;
        }
        let mut kept = *request;
        if let Some((first, end)) = self.sectors
            && request.operation != Operation::Flush
        {
            kept.sector = request.sector.max(first);
            let end = request.end().min(end);
            kept.sectors = end
                .checked_sub(kept.sector)
                .filter(|sectors| *sectors > 0)
                .and_then(|sectors| u32::try_from(sectors).ok())?;
        }
        Some(kept)
    }

    /// Whether no request that arrives at or after `arrival` is kept.
    #[must_use]
    pub fn is_over(&self, arrival: Ticks) -> bool {
        self.until.is_some_and(|until| arrival >= until)
    }
}
