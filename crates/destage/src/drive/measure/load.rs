//! Loads on a drive: commands with a constant queue depth, or with arrival times.

use destage_base::time::TICKS_PER_SECOND;
use destage_base::{Random, Ticks};
use serde::{Deserialize, Serialize};

use super::super::experiment::BLOCK;
use super::target::{Action, Command, Target};
use super::times::{PARTS, Spread, Times, spread};
use crate::error::Error;
use crate::progress::{Progress, Stage};

/// The number of commands between two reports of progress: on a simulated drive, and on a real one, which may serve
/// only ten commands a second. A report also asks whether the measurement has to stop.
const REPORT: [u64; 2] = [1024, 16];
/// The measured window ends after this multiple of its planned duration, even if the drive has become so slow that
/// commands are left.
pub(super) const PATIENCE: f64 = 3.0;

/// How the commands of a load arrive.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arrivals {
    /// `per_s` requests arrive per second, with exponentially distributed gaps. A request waits while `depth`
    /// commands are outstanding. Its response time counts from its submission to the drive.
    Open { per_s: f64, depth: u32 },
    /// `depth` commands are always outstanding.
    Closed { depth: u32 },
}

/// A load: the arrivals, the kinds and the addresses of its requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub arrivals: Arrivals,
    /// The fraction of writes among the commands.
    pub writes: f64,
    /// Bytes of each command.
    pub bytes: u32,
    /// Whether the commands have ascending addresses, beginning with the first byte of the drive.
    pub sequential: bool,
}

/// The length of the measured window, in requests and in seconds; whichever limit is reached first ends the window.
/// The warm-up before the window has half of each limit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Length {
    pub requests: u64,
    pub seconds: f64,
}

/// The results of a load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Steady {
    pub reads_per_s: f64,
    pub writes_per_s: f64,
    pub reads: Vec<Spread>,
    pub writes: Vec<Spread>,
}

impl Steady {
    /// The `percentile` of the response times of reads or of writes, in microseconds: the median of three
    /// repetitions.
    pub fn us(&self, action: Action, percentile: &str) -> Option<f64> {
        self.spread(action, percentile).map(|spread| spread.median)
    }

    pub fn spread(&self, action: Action, percentile: &str) -> Option<&Spread> {
        let rows = match action {
            Action::Write => &self.writes,
            Action::Read | Action::Flush => &self.reads,
        };
        rows.iter().find(|row| row.percentile == percentile)
    }
}

/// An outstanding command.
#[derive(Clone, Copy, Debug)]
struct Flight {
    is_write: bool,
    /// The part of the window in which the command was issued; `None` outside the window.
    part: Option<usize>,
}

/// The measured time of a load, after the warm-up.
struct Window {
    begin: Ticks,
    /// The longest duration of the window, in ticks.
    ticks: f64,
    requests: u64,
    sent: u64,
}

impl Window {
    /// Counts a command that is issued at `now`. Returns the part of the window in which it is issued. The window ends
    /// after its duration or after its commands, whichever ends first, so the limit that is nearer to its end decides
    /// in which part the window is.
    fn part(&mut self, now: Ticks) -> usize {
        let of_commands = (self.sent * PARTS as u64 / self.requests) as usize;
        let of_time = (now - self.begin) as f64 * PARTS as f64 / self.ticks;
        self.sent += 1;
        of_commands.max(of_time as usize).min(PARTS - 1)
    }
}

/// A drive, its used capacity and its outstanding commands.
pub(super) struct Bench<'a> {
    pub target: &'a mut dyn Target,
    /// Bytes that are used, beginning with the first byte of the drive.
    pub used: u64,
    pub progress: &'a dyn Progress,
    /// The number of commands issued so far.
    pub issued: u64,
    flights: Vec<Option<Flight>>,
    free: Vec<u32>,
}

/// The completed commands of a load.
#[derive(Default)]
struct Ended {
    times: [[Times; PARTS]; 2],
    /// The numbers of reads and of writes that have completed since the window began.
    count: [u64; 2],
}

impl<'a> Bench<'a> {
    pub fn new(target: &'a mut dyn Target, used: u64, progress: &'a dyn Progress) -> Self {
        Self {
            target,
            used,
            progress,
            issued: 0,
            flights: Vec::new(),
            free: Vec::new(),
        }
    }

    fn under_way(&self) -> usize {
        self.flights.len() - self.free.len()
    }

    /// Submits a command to the drive.
    fn issue(
        &mut self,
        action: Action,
        (offset, bytes): (u64, u32),
        part: Option<usize>,
    ) -> Result<(), Error> {
        self.issued += 1;
        if self
            .issued
            .is_multiple_of(REPORT[usize::from(self.target.is_real())])
            && !self.progress.report(Stage::Simulation, self.issued, None)
        {
            return Err(Error::Interrupted);
        }
        let tag = self.free.pop().unwrap_or(self.flights.len() as u32);
        if tag as usize == self.flights.len() {
            self.flights.push(None);
        }
        self.flights[tag as usize] = Some(Flight {
            is_write: action == Action::Write,
            part,
        });
        self.target.submit(Command {
            action,
            offset,
            bytes,
            tag,
        })
    }

    /// The next command that completes by `until`, with its submission time and its completion time.
    fn next(&mut self, until: Option<Ticks>) -> Result<Option<(Flight, Ticks, Ticks)>, Error> {
        let Some(done) = self.target.next(until)? else {
            return Ok(None);
        };
        let flight = self.flights.get_mut(done.tag as usize);
        let Some(flight) = flight.and_then(Option::take) else {
            return Err(Error::Internal(format!(
                "the drive answers command {}, which is not outstanding",
                done.tag
            )));
        };
        self.free.push(done.tag);
        Ok(Some((flight, done.begun, done.ended)))
    }

    /// Issues one command while no other is outstanding, waits for its completion, and returns its response time.
    pub fn alone(&mut self, action: Action, offset: u64, bytes: u32) -> Result<Ticks, Error> {
        self.issue(action, (offset, bytes), None)?;
        let ended = self.next(None)?;
        Ok(ended.map_or(0, |(_, begun, ended)| ended - begun))
    }

    /// Lets `ticks` pass while no command is outstanding.
    pub fn rest(&mut self, ticks: Ticks) -> Result<(), Error> {
        let until = self.target.now() + ticks;
        self.next(Some(until)).map(|_| ())
    }

    /// Waits until all commands have completed.
    pub fn drain(&mut self) -> Result<(), Error> {
        while self.under_way() > 0 {
            self.next(None)?;
        }
        Ok(())
    }

    /// Keeps `depth` commands of `action` outstanding, each at an offset that `place` returns. When `place` returns
    /// `None`, the function waits until all commands have completed. It calls `ended` for each command, in the order
    /// of completion, with the submission time and the completion time.
    pub fn queue(
        &mut self,
        action: Action,
        bytes: u32,
        depth: u32,
        mut place: impl FnMut() -> Option<u64>,
        mut ended: impl FnMut(Ticks, Ticks),
    ) -> Result<(), Error> {
        while let Some(offset) = place() {
            while self.under_way() >= depth as usize {
                if let Some((_, begun, end)) = self.next(None)? {
                    ended(begun, end);
                }
            }
            self.issue(action, (offset, bytes), None)?;
        }
        while self.under_way() > 0 {
            if let Some((_, begun, end)) = self.next(None)? {
                ended(begun, end);
            }
        }
        Ok(())
    }

    /// Runs `load` until the measured window of `length` has ended. `seed` determines the offsets, the kinds and the
    /// arrival times of the commands.
    pub fn steady(&mut self, load: Load, length: Length, seed: u64) -> Result<Steady, Error> {
        let mut random = Random::new(seed);
        let places = (self.used / u64::from(load.bytes)).max(1);
        let (mut sequence, mut sent) = (0_u64, 0_u64);
        let begun = self.target.now();
        let mut due = begun as f64;
        let mut window: Option<Window> = None;
        let mut ended = Ended::default();
        let ticks = |seconds: f64| seconds * TICKS_PER_SECOND as f64;
        let end = loop {
            let now = self.target.now();
            match &mut window {
                None => {
                    let since = (now - begun) as f64;
                    let is_late = since >= ticks(length.seconds / 2.0);
                    if sent >= length.requests / 2 || (is_late && sent > 0) {
                        let in_time = sent as f64 / since.max(1.0) * ticks(length.seconds);
                        let (Arrivals::Open { depth, .. } | Arrivals::Closed { depth }) =
                            load.arrivals;
                        // Commands that are outstanding when the window begins count in its rates. The window
                        // therefore issues at least twice as many commands as the queue depth.
                        let least = (2 * u64::from(depth)).min(length.requests);
                        window = Some(Window {
                            begin: now,
                            ticks: ticks(PATIENCE * length.seconds),
                            requests: (in_time as u64).clamp(least, length.requests),
                            sent: 0,
                        });
                    }
                }
                Some(window) => {
                    let passed = (now - window.begin) as f64;
                    if window.sent == window.requests || passed > window.ticks {
                        break now;
                    }
                }
            }
            let begin = window.as_ref().map_or(Ticks::MAX, |window| window.begin);
            let depth = match load.arrivals {
                Arrivals::Closed { depth } => depth,
                Arrivals::Open { per_s, depth } => {
                    due -= libm::log(1.0 - random.unit()) / per_s * TICKS_PER_SECOND as f64;
                    let due = due as Ticks;
                    while let Some(flight) = self.next(Some(due))? {
                        ended.take(flight, begin);
                    }
                    depth
                }
            };
            while self.under_way() >= depth as usize {
                if let Some(flight) = self.next(None)? {
                    ended.take(flight, begin);
                }
            }
            let is_write = random.unit() < load.writes;
            let place = match load.sequential {
                true => sequence % places,
                false => random.below(places),
            };
            sequence += 1;
            sent += 1;
            let now = self.target.now();
            let part = window.as_mut().map(|window| window.part(now));
            let action = if is_write {
                Action::Write
            } else {
                Action::Read
            };
            let offset = place * u64::from(load.bytes);
            self.issue(action, (offset, load.bytes), part)?;
        };
        let begin = window.map_or(end, |window| window.begin);
        let count = ended.count;
        while self.under_way() > 0 {
            if let Some(flight) = self.next(None)? {
                ended.take(flight, begin);
            }
        }
        // Commands that complete after the end of the window do not count in its rates.
        let seconds = (end - begin) as f64 / TICKS_PER_SECOND as f64;
        let per_s = count.map(|count| match seconds > 0.0 {
            true => count as f64 / seconds,
            false => 0.0,
        });
        Ok(Steady {
            reads_per_s: per_s[0],
            writes_per_s: per_s[1],
            reads: spread(&ended.times[0]),
            writes: spread(&ended.times[1]),
        })
    }
}

impl Ended {
    fn take(&mut self, (flight, begun, ended): (Flight, Ticks, Ticks), begin: Ticks) {
        let action = usize::from(flight.is_write);
        if ended >= begin {
            self.count[action] += 1;
        }
        if let Some(part) = flight.part {
            self.times[action][part].push(ended - begun);
        }
    }
}

/// [`BLOCK`] as the length of a command, in bytes.
pub(super) const BLOCK_BYTES: u32 = BLOCK as u32;

#[cfg(test)]
mod tests {
    use super::Window;

    /// A window that ends after its duration has three parts, too, although only a few of its commands were issued.
    #[test]
    fn a_window_has_three_parts_whichever_limit_ends_it() {
        let parts = |gap: u64| -> Vec<usize> {
            let mut window = Window {
                begin: 1_000,
                ticks: 900.0,
                requests: 9,
                sent: 0,
            };
            (0..9)
                .map(|number| window.part(1_000 + gap * number))
                .collect()
        };
        assert_eq!(parts(1), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
        assert_eq!(parts(200)[..5], [0, 0, 1, 2, 2]);
    }
}
