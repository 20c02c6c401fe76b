//! The completions of commands, which other threads report, and the clock that measures them.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use destage::Error;
use destage::drive::Done;
use destage_base::Ticks;
use destage_base::time::TICKS_PER_NS;

/// The time by which a sleep may last longer than requested.
const SLEEP: Duration = Duration::from_micros(80);

/// A clock that counts from its start.
#[derive(Clone, Copy)]
pub(super) struct Clock(Instant);

impl Clock {
    pub fn now(self) -> Ticks {
        let nanoseconds = u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX);
        nanoseconds.saturating_mul(TICKS_PER_NS)
    }
}

/// A completed command, or the error of the thread that reports it.
pub(super) type End = Result<Done, String>;

/// The receiver of completions.
pub(super) struct Ends {
    pub clock: Clock,
    pub sender: Sender<End>,
    receiver: Receiver<End>,
}

impl Ends {
    pub fn new() -> Self {
        let (sender, receiver) = channel();
        Self {
            clock: Clock(Instant::now()),
            sender,
            receiver,
        }
    }

    /// The next completed command. See [`Target::next`](destage::drive::Target::next).
    pub fn next(&self, until: Option<Ticks>) -> Result<Option<Done>, Error> {
        let Some(until) = until else {
            // `sender` belongs to this value, so the channel is never disconnected.
            let end = self.receiver.recv();
            let end = end.unwrap_or_else(|gone| Err(gone.to_string()));
            return end.map(Some).map_err(Error::Input);
        };
        loop {
            let left = until.saturating_sub(self.clock.now());
            let left = Duration::from_nanos(left / TICKS_PER_NS);
            let end = match left > SLEEP {
                true => match self.receiver.recv_timeout(left - SLEEP) {
                    Ok(end) => end,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(gone @ RecvTimeoutError::Disconnected) => Err(gone.to_string()),
                },
                false => match self.receiver.try_recv() {
                    Ok(end) => end,
                    Err(TryRecvError::Empty) if left.is_zero() => return Ok(None),
                    Err(TryRecvError::Empty) => {
                        std::hint::spin_loop();
                        continue;
                    }
                    Err(gone @ TryRecvError::Disconnected) => Err(gone.to_string()),
                },
            };
            return end.map(Some).map_err(Error::Input);
        }
    }
}
