//! Commands under way: a constant number, or with arrival times.

use destage_base::time::TICKS_PER_SECOND;
use destage_base::{Random, Ticks};
use serde::{Deserialize, Serialize};

use super::super::experiment::BLOCK;
use super::target::{Action, Command, Target};
use super::times::{PARTS, Spread, Times, spread};
use crate::error::Error;
use crate::progress::{Progress, Stage};

/// Commands between two reports of progress.
const REPORT: u64 = 1024;
/// A window ends after this multiple of the length that it was to have, however slow the drive has become.
const PATIENCE: f64 = 3.0;

/// How commands come.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arrivals {
    /// `per_s` requests a second, with exponential gaps; a request that finds `depth` under way waits, and its time counts from when it is handed in.
    Open { per_s: f64, depth: u32 },
    /// `depth` are under way at all times.
    Closed { depth: u32 },
}

/// The requests of a load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub arrivals: Arrivals,
    /// Share of writes.
    pub writes: f64,
    /// Bytes of a command.
    pub bytes: u32,
    /// Commands follow each other in address, from the first byte on.
    pub sequential: bool,
}

/// Duration of the measurement of a load; the load runs half as long before. The first of these limits ends it.
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
    /// The middle of the three repetitions of `percentile` of reads or of writes.
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

/// A command under way.
#[derive(Clone, Copy, Debug)]
struct Flight {
    is_write: bool,
    /// The part of the window in which it was issued.
    part: Option<usize>,
}

/// The part of the time that is measured.
struct Window {
    begin: Ticks,
    requests: u64,
    sent: u64,
}

/// A drive, and the part of it that is used.
pub(super) struct Bench<'a> {
    pub target: &'a mut dyn Target,
    /// Bytes that are used, from the first on.
    pub used: u64,
    pub progress: &'a dyn Progress,
    /// Commands issued so far.
    pub issued: u64,
    flights: Vec<Option<Flight>>,
    free: Vec<u32>,
}

/// The ended requests of a load.
#[derive(Default)]
struct Ended {
    times: [[Times; PARTS]; 2],
    /// By the end, of reads and of writes; kept to a window afterwards.
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

    /// Hands a command in.
    fn issue(
        &mut self,
        action: Action,
        (offset, bytes): (u64, u32),
        part: Option<usize>,
    ) -> Result<(), Error> {
        self.issued += 1;
        if self.issued.is_multiple_of(REPORT)
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

    /// The next command that ends by `until`, with when it was issued and when it ended.
    fn next(&mut self, until: Option<Ticks>) -> Result<Option<(Flight, Ticks, Ticks)>, Error> {
        let Some(done) = self.target.next(until)? else {
            return Ok(None);
        };
        let flight = self.flights.get_mut(done.tag as usize);
        let Some(flight) = flight.and_then(Option::take) else {
            return Err(Error::Internal(format!(
                "a drive answers command {}, which is not under way",
                done.tag
            )));
        };
        self.free.push(done.tag);
        Ok(Some((flight, done.begun, done.ended)))
    }

    /// Issues one command and waits for its end, while no other is under way; how long it took.
    pub fn alone(&mut self, action: Action, offset: u64, bytes: u32) -> Result<Ticks, Error> {
        self.issue(action, (offset, bytes), None)?;
        let ended = self.next(None)?;
        Ok(ended.map_or(0, |(_, begun, ended)| ended - begun))
    }

    /// Lets `ticks` pass while no command is under way.
    pub fn rest(&mut self, ticks: Ticks) -> Result<(), Error> {
        let until = self.target.now() + ticks;
        self.next(Some(until)).map(|_| ())
    }

    /// Waits for the end of all commands.
    pub fn drain(&mut self) -> Result<(), Error> {
        while self.under_way() > 0 {
            self.next(None)?;
        }
        Ok(())
    }

    /// Keeps `depth` commands of `action` under way, each at the place that `place` says, until that says nothing; then waits for the end of all.
    /// `ended` is called for each end, in order: when it was issued and when it ended.
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

    /// The steady state under `load`, by the numbers of `seed`.
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
                        // Requests that are under way when it begins belong to it.
                        let least = (2 * u64::from(depth)).min(length.requests);
                        window = Some(Window {
                            begin: now,
                            requests: (in_time as u64).clamp(least, length.requests),
                            sent: 0,
                        });
                    }
                }
                Some(window) => {
                    let limit = ticks(PATIENCE * length.seconds);
                    if window.sent == window.requests || (now - window.begin) as f64 > limit {
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
            let part = window.as_mut().map(|window| {
                window.sent += 1;
                ((window.sent - 1) * PARTS as u64 / window.requests) as usize
            });
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
        // Requests that ended after the window do not belong to it.
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

/// Commands of one block.
pub(super) const BLOCK_BYTES: u32 = BLOCK as u32;
