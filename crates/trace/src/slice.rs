//! The part of a trace that is read, by the positions and the operations of the requests.

use crate::request::{Operation, Request};

/// Which requests of a trace or workload are read. The default is all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// The number of requests at the start, in order of arrival, that are left out. The times of the other
    /// requests do not change.
    pub skip: u64,
    /// The number of requests that are read after [`Self::skip`]; with `None` all of them.
    pub limit: Option<u64>,
    /// Whether reads are dropped from the requests that `skip` and `limit` select.
    pub writes_only: bool,
}

impl Slice {
    /// Whether the slice has no requests, whatever the trace contains.
    pub(crate) fn is_empty(&self) -> bool {
        self.limit == Some(0)
    }

    /// The number of requests from the start of the trace to the end of the slice.
    pub(crate) fn end(&self) -> u64 {
        self.limit
            .map_or(u64::MAX, |limit| limit.saturating_add(self.skip))
    }

    /// Whether all requests with `operation` are in the slice. `None` stands for all operations.
    pub(crate) fn has_all(&self, operation: Option<Operation>) -> bool {
        let may_be_read = operation.is_none_or(|operation| operation == Operation::Read);
        let drops = self.writes_only && may_be_read;
        self.skip == 0 && self.limit.is_none() && !drops
    }

    /// Drops the requests of `batch` that are not in the slice. The slice then counts from the first request
    /// after the batch.
    pub(crate) fn cut(&mut self, batch: &mut Vec<Request>) {
        if self.skip > 0 {
            let skipped =
                usize::try_from(self.skip).map_or(batch.len(), |skip| skip.min(batch.len()));
            batch.drain(..skipped);
            self.skip -= skipped as u64;
        }
        if let Some(limit) = &mut self.limit {
            batch.truncate(usize::try_from(*limit).unwrap_or(usize::MAX));
            *limit -= batch.len() as u64;
        }
        if self.writes_only {
            batch.retain(|request| request.operation != Operation::Read);
        }
    }
}
