//! A timer with a resolution finer than a millisecond. The timeout of a poll is rounded up to milliseconds.

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::time::Duration;

    use mio::unix::SourceFd;
    use mio::{Interest, Registry, Token};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };

    /// A timer that makes a poll return.
    pub struct Timer {
        file: OwnedFd,
        is_set: bool,
    }

    impl Timer {
        /// A timer that is not set. Its expiry is reported under `token`.
        pub fn new(registry: &Registry, token: Token) -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let file = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            let raw = file.as_raw_fd();
            registry.register(&mut SourceFd(&raw), token, Interest::READABLE)?;
            Ok(Self {
                file,
                is_set: false,
            })
        }

        /// Sets the timer to `delay` from now, or stops it if `delay` is `None`. Returns the additional timeout for
        /// the poll, which is always `None` here.
        pub fn set(&mut self, delay: Option<Duration>) -> io::Result<Option<Duration>> {
            if delay.is_none() && !self.is_set {
                return Ok(None);
            }
            let zero = Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            let due = delay.map_or(zero, |delay| Timespec {
                tv_sec: i64::try_from(delay.as_secs()).unwrap_or(i64::MAX),
                // The value 0 would stop the timer.
                tv_nsec: i64::from(delay.subsec_nanos()).max(1),
            });
            let spec = Itimerspec {
                it_interval: zero,
                it_value: due,
            };
            timerfd_settime(&self.file, TimerfdTimerFlags::empty(), &spec)?;
            self.is_set = delay.is_some();
            Ok(None)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::time::Duration;

    use mio::{Registry, Token};

    /// On this system the timeout of the poll itself is fine enough.
    pub struct Timer;

    impl Timer {
        /// Does nothing, because the poll has the timeout.
        pub fn new(_: &Registry, _: Token) -> io::Result<Self> {
            Ok(Self)
        }

        /// Returns `delay` as the timeout for the poll.
        pub fn set(&mut self, delay: Option<Duration>) -> io::Result<Option<Duration>> {
            Ok(delay)
        }
    }
}

pub(super) use system::Timer;
