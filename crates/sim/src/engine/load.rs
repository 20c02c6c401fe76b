//! The load of the drive: the number of pages that the host wrote in the last window of time.

use destage_base::Ticks;

/// Counts the host's page writes in windows of equal length, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Load {
    /// The length of a window, in ticks; at least 1.
    window: Ticks,
    /// The number of pages in a window from which on the drive is loaded.
    enough: u32,
    /// The number of the present window, from 0.
    present: Ticks,
    /// The pages of the present window so far.
    pages: u32,
    /// The pages of the window before.
    before: u32,
}

impl Load {
    /// No page has been written yet.
    pub fn new(window: Ticks, enough: u32) -> Self {
        Self {
            window: window.max(1),
            enough,
            present: 0,
            pages: 0,
            before: 0,
        }
    }

    fn go_on(&mut self, now: Ticks) {
        let present = now / self.window;
        if present != self.present {
            let follows = present == self.present + 1;
            self.before = if follows { self.pages } else { 0 };
            (self.present, self.pages) = (present, 0);
        }
    }

    /// The host writes `pages` pages now.
    pub fn count(&mut self, pages: u32, now: Ticks) {
        self.go_on(now);
        self.pages = self.pages.saturating_add(pages);
    }

    /// Whether enough pages were written in the last complete window.
    pub fn is_high(&mut self, now: Ticks) -> bool {
        self.go_on(now);
        self.before >= self.enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_complete_window_counts() {
        let mut load = Load::new(10, 3);
        load.count(2, 5);
        load.count(1, 9);
        assert!(!load.is_high(9), "the window is not complete");
        assert!(load.is_high(10));
        load.count(2, 15);
        assert!(load.is_high(19));
        assert!(!load.is_high(20), "two pages in the window from 10");
        load.count(3, 25);
        assert!(!load.is_high(40), "no page in the window from 30");
    }
}
