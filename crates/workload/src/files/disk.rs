//! The queue of the requests that a file system has issued and the workload has not yet returned.

use destage_trace::Operation;
use std::collections::VecDeque;

/// A request in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub page: u64,
    pub pages: u64,
    pub operation: Operation,
}

/// A queue that merges requests, like the block layer of an operating system. A request is merged with the previous
/// request if it begins where the previous request ends and has the same operation. A merged request is limited to a
/// maximum size.
#[derive(Clone, Debug)]
pub struct Disk {
    queue: VecDeque<Access>,
    most_write_pages: u64,
    most_read_pages: u64,
}

impl Disk {
    /// Creates a queue in which a write has at most `most_write_pages` pages, and a read at most
    /// `most_read_pages`.
    pub fn new(most_write_pages: u64, most_read_pages: u64) -> Self {
        Self {
            queue: VecDeque::new(),
            most_write_pages,
            most_read_pages,
        }
    }

    fn most_pages(&self, operation: Operation) -> u64 {
        match operation {
            Operation::Read => self.most_read_pages,
            _ => self.most_write_pages,
        }
    }

    pub fn write(&mut self, page: u64, pages: u64) {
        self.ask(page, pages, Operation::Write);
    }

    /// Writes pages as a separate request. It is not merged with the previous request, because the writer has waited
    /// between the two requests.
    pub fn write_unmerged(&mut self, page: u64, pages: u64) {
        self.push(page, pages, Operation::Write);
    }

    pub fn read(&mut self, page: u64, pages: u64) {
        self.ask(page, pages, Operation::Read);
    }

    /// Writes pages in the given order. Pages with consecutive addresses are merged.
    pub fn write_all(&mut self, pages: impl IntoIterator<Item = u64>) {
        for page in pages {
            self.write(page, 1);
        }
    }

    /// Removes the next request and returns it.
    pub fn pop(&mut self) -> Option<Access> {
        self.queue.pop_front()
    }

    fn ask(&mut self, mut page: u64, mut pages: u64, operation: Operation) {
        let most_pages = self.most_pages(operation);
        if let Some(last) = self.queue.back_mut()
            && last.operation == operation
            && last.page + last.pages == page
        {
            let more = pages.min(most_pages.saturating_sub(last.pages));
            last.pages += more;
            page += more;
            pages -= more;
        }
        self.push(page, pages, operation);
    }

    fn push(&mut self, mut page: u64, mut pages: u64, operation: Operation) {
        let most_pages = self.most_pages(operation);
        while pages > 0 {
            let part = pages.min(most_pages);
            self.queue.push_back(Access {
                page,
                pages: part,
                operation,
            });
            page += part;
            pages -= part;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_merge_up_to_the_largest_request() {
        let mut disk = Disk::new(4, 2);
        disk.write(10, 3);
        disk.write(13, 6);
        disk.read(19, 1);
        disk.read(20, 2);
        disk.write_all([1, 2, 4]);
        disk.write_unmerged(5, 1);
        let all: Vec<_> = std::iter::from_fn(|| disk.pop())
            .map(|access| (access.page, access.pages))
            .collect();
        assert_eq!(
            all,
            [
                (10, 4),
                (14, 4),
                (18, 1),
                (19, 2),
                (21, 1),
                (1, 2),
                (4, 1),
                (5, 1)
            ]
        );
    }
}
