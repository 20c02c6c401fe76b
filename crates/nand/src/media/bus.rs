//! A channel: the time until which the channel is occupied, and bookings of later times.

use alloc::vec::Vec;

use destage_base::Ticks;

/// The largest number of bookings of a channel. If this number is reached, a further phase is not booked: no later
/// phase can start before its end.
const MOST_BOOKED: usize = 32;

/// One channel. The caller has to add the phases of commands in ascending order of the commands' times of issue.
#[derive(Clone, Default)]
pub struct Channel {
    held_until: Ticks,
    /// Begin and end of each booking, ascending, without overlap.
    booked: Vec<(Ticks, Ticks)>,
}

impl Channel {
    /// The earliest start, not before `earliest`, of a phase of `length` ticks that belongs to a command
    /// issued at `issued`.
    fn place(&mut self, issued: Ticks, earliest: Ticks, length: Ticks) -> Ticks {
        let past = self.booked.iter().take_while(|(_, end)| *end <= issued);
        let past = past.count();
        if past > 0 {
            self.booked.drain(..past);
        }
        let mut start = earliest.max(self.held_until);
        for (begin, end) in &self.booked {
            if start.saturating_add(length) <= *begin {
                break;
            }
            start = start.max(*end);
        }
        start
    }

    /// Adds a phase that runs as soon as possible. Phases added later cannot start before its end. Returns the end of
    /// the phase.
    pub fn hold(&mut self, issued: Ticks, earliest: Ticks, length: Ticks) -> Ticks {
        if length == 0 {
            return earliest;
        }
        let end = self.place(issued, earliest, length).saturating_add(length);
        self.held_until = end;
        end
    }

    /// Books a phase. Phases added later may still run before it. Returns the end of the phase.
    pub fn book(&mut self, issued: Ticks, earliest: Ticks, length: Ticks) -> Ticks {
        if length == 0 {
            return earliest;
        }
        let start = self.place(issued, earliest, length);
        let end = start.saturating_add(length);
        if self.booked.len() < MOST_BOOKED {
            let at = self.booked.partition_point(|(begin, _)| *begin < start);
            self.booked.insert(at, (start, end));
        } else {
            self.held_until = end;
        }
        end
    }

    /// Cancels the booking from `begin` to `end`.
    pub fn cancel(&mut self, begin: Ticks, end: Ticks) {
        self.booked.retain(|booked| *booked != (begin, end));
    }
}
