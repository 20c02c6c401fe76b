//! The server: one thread and one event loop for all connections, and the device.
//!
//! No thread is there for a connection or a request. Sockets are read and written as far as possible without waiting; a command goes to the device
//! when its last byte is there, and its answer is sent when the device has completed it.
//! The resources of a client are bounded: requests under way, bytes that it does not accept, memory for messages that arrive slowly, time for a
//! handshake. Who holds more waits, or is closed; others do not notice.

mod buffers;
mod commands;
mod core;
mod memory;
mod operators;
mod peer;
mod power;
mod stream;
mod syncer;
mod timer;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use destage_sim::metrics::Metrics;
use destage_sim::run::live::Broken;
use mio::{Events, Poll, Token, Waker};

use self::core::Core;
pub use self::core::Recorder;
use self::stream::Listener;
use self::syncer::Syncer;
use self::timer::Timer;
use crate::address::{Address, Place};
use crate::device::Front;
use crate::protocol::{Export, PAYLOAD_MAX, STRING_MAX};

const WAKER: Token = Token(0);
const TIMER: Token = Token(1);
const CLIENTS: Token = Token(2);
const OPERATORS: Token = Token(3);
const FIRST_PEER: usize = 4;

/// Most connections of clients, and of operators: clients never take the places of operators, who could end them.
const CLIENTS_MAX: usize = 4096;
const OPERATORS_MAX: usize = 32;
/// Open files of the server besides those of clients: operators, listeners, logs, the files behind the device.
const OTHER_FILES: usize = OPERATORS_MAX + 32;
/// Connections that are accepted before the present ones have their turn.
const ACCEPTED_MAX: usize = 256;
/// The server waits without sleep for events that are due within this time, as waking up takes about as long.
const TOO_SOON: Duration = Duration::from_micros(60);
/// A sleep shorter than this costs more than it saves: after one, the next event is waited for without sleep for as long.
const BRIEF: Duration = Duration::from_micros(40);
/// How long clients have to take their last answers.
const FAREWELL: Duration = Duration::from_secs(2);
/// When accepting is tried again after the system had no room.
const AGAIN: Duration = Duration::from_secs(1);

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where clients find it.
    pub place: Place,
    /// Where operators find it: a Unix socket.
    pub control: Option<PathBuf>,
    /// The name of the export.
    pub export: String,
    /// Whether it may only be read.
    pub read_only: bool,
    /// Whether it may listen where other machines reach it.
    pub anywhere: bool,
    /// One line about the device, for clients that ask.
    pub about: String,
}

/// Why a server cannot begin, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Not a place to listen at.
    #[error("{place}: {cause}; expected a place where a socket can be made")]
    Place {
        /// The place.
        place: String,
        /// The error of the system.
        cause: io::Error,
    },
    /// Other machines would reach it.
    #[error(
        "{0}: other machines can connect to that address, and there is no encryption; expected 127.0.0.1, a Unix socket, or --listen-anywhere"
    )]
    Exposed(String),
    /// The export cannot have this name.
    #[error("the export's name is longer than {STRING_MAX} bytes; expected a shorter one")]
    Name,
    /// The system failed.
    #[error("the event loop: {0}")]
    System(#[from] io::Error),
}

/// Ends a server, from any thread.
#[derive(Clone)]
pub struct Stopper {
    asked: Arc<AtomicBool>,
    waker: Arc<Waker>,
}

impl Stopper {
    /// Asks the server to end; it answers requests under way, and flushes.
    pub fn stop(&self) {
        self.asked.store(true, Ordering::Release);
        // If it cannot be woken it is gone.
        let _ = self.waker.wake();
    }
}

/// The remains of a server.
#[derive(Debug)]
pub struct Ended {
    /// The results of a run of the same requests.
    pub metrics: Metrics,
    /// Why the device could not be used to the end, if it could not.
    pub broken: Option<Broken>,
    /// Why not everything lasts that was answered, if it does not.
    pub unsaved: Option<&'static str>,
    /// Whether everything that clients did was recorded.
    pub recording: io::Result<()>,
}

/// A server. See the [module](self).
pub struct Server<'a> {
    poll: Poll,
    timer: Timer,
    clients: Listener,
    operators: Option<Listener>,
    address: Address,
    stopper: Stopper,
    /// Connections of clients, at most.
    clients_max: usize,
    /// Connections wait to be accepted at this time: the system had no room for them, or others had their turn first.
    accept_at: Option<Instant>,
    /// The last wait was [brief](BRIEF), and the machine has another processor for the program that ends the next wait.
    was_brief: bool,
    has_others: bool,
    core: Core<'a>,
}

impl<'a> Server<'a> {
    /// A server that listens, and does nothing until it runs.
    ///
    /// # Errors
    /// If it cannot or may not listen there.
    pub fn bind(
        settings: &Settings,
        mut front: Front<'a>,
        recorder: Option<Recorder<'a>>,
    ) -> Result<Self, ServeError> {
        if settings.export.len() > STRING_MAX {
            return Err(ServeError::Name);
        }
        if let Place::Tcp(address) = &settings.place
            && !(address.ip().is_loopback() || settings.anywhere)
        {
            return Err(ServeError::Exposed(address.to_string()));
        }
        let clients_max = allow_files().min(memory::clients_max()).max(1);
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let syncer = front.take_sync().map(|sync| Syncer::new(sync, &waker));
        let listen = |place: &Place, token| {
            let failed = |cause| ServeError::Place {
                place: match place {
                    Place::Unix(path) => path.display().to_string(),
                    Place::Tcp(address) => address.to_string(),
                },
                cause,
            };
            let mut listener = Listener::bind(place).map_err(failed)?;
            listener.register(poll.registry(), token)?;
            Ok::<_, ServeError>(listener)
        };
        let clients = listen(&settings.place, CLIENTS)?;
        let control = settings.control.as_ref();
        let operators = control
            .map(|path| listen(&Place::unix(path), OPERATORS))
            .transpose()?;
        if control.is_some() {
            // Every program that can connect to it may cut the power.
            front.keep_ledger();
        }
        let page = front.page_bytes();
        let export = Export {
            name: settings.export.clone(),
            bytes: front.bytes(),
            read_only: settings.read_only,
            preferred_block: match u32::try_from(page) {
                Ok(page) if page.is_power_of_two() && page <= PAYLOAD_MAX => page,
                _ => 4096,
            },
            about: settings.about.clone(),
        };
        Ok(Self {
            timer: Timer::new(poll.registry(), TIMER)?,
            poll,
            address: Address {
                place: clients.place(),
                export: settings.export.clone(),
            },
            clients,
            operators,
            stopper: Stopper {
                asked: Arc::default(),
                waker,
            },
            clients_max,
            accept_at: None,
            was_brief: false,
            has_others: thread::available_parallelism().is_ok_and(|count| count.get() > 1),
            core: Core::new(export, front, syncer.transpose()?, recorder),
        })
    }

    /// Where clients find it.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// What ends it.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Serves until it is stopped, then answers requests under way, and makes everything durable.
    ///
    /// # Errors
    /// If the system fails.
    pub fn run(mut self) -> Result<Ended, ServeError> {
        let mut events = Events::with_capacity(256);
        while !(self.stopper.asked.load(Ordering::Acquire) || self.core.is_to_stop()) {
            let timeout = self.timeout()?;
            self.wait_for_next(&mut events, timeout)?;
            for event in &events {
                match event.token() {
                    WAKER | TIMER => {}
                    CLIENTS => self.accept(true),
                    OPERATORS => self.accept(false),
                    Token(number) => {
                        self.core.ready(number - FIRST_PEER, event);
                    }
                }
            }
            if self.accept_at.is_some_and(|at| at <= Instant::now()) {
                self.accept_at = None;
                self.accept(false);
                self.accept(true);
            }
            self.core.work();
        }
        self.end(&mut events)
    }

    /// How long to sleep. The timer is set for times that are finer than that.
    fn timeout(&mut self) -> Result<Option<Duration>, ServeError> {
        let mut timeout = self.core.sleep();
        if let Some(at) = self.accept_at {
            let left = at.saturating_duration_since(Instant::now());
            timeout = Some(timeout.map_or(left, |timeout| timeout.min(left)));
        }
        let due = self.core.front.due_in();
        if due.is_some_and(|due| due < TOO_SOON) {
            return Ok(Some(Duration::ZERO));
        }
        let of_poll = self.timer.set(due.map(|due| due - TOO_SOON / 2))?;
        Ok(timeout.into_iter().chain(of_poll).min())
    }

    /// Waits for events, at first without sleep where the last have come at once. A client that sends its next request as soon as it is answered is
    /// served without a wake-up in this way, and a client that does not costs one such wait.
    fn wait_for_next(
        &mut self,
        events: &mut Events,
        timeout: Option<Duration>,
    ) -> Result<(), ServeError> {
        if timeout == Some(Duration::ZERO) {
            return self.wait(events, timeout);
        }
        let began = Instant::now();
        if self.was_brief {
            let most = timeout.map_or(BRIEF, |timeout| timeout.min(BRIEF));
            while began.elapsed() < most {
                self.wait(events, Some(Duration::ZERO))?;
                if !events.is_empty() {
                    return Ok(());
                }
            }
        }
        self.wait(events, timeout)?;
        self.was_brief = self.has_others && began.elapsed() < BRIEF;
        Ok(())
    }

    fn wait(&mut self, events: &mut Events, timeout: Option<Duration>) -> Result<(), ServeError> {
        match self.poll.poll(events, timeout) {
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => Ok(()),
            other => Ok(other?),
        }
    }

    /// Accepts the connections that wait.
    fn accept(&mut self, of_clients: bool) {
        let listener = if of_clients {
            Some(&self.clients)
        } else {
            self.operators.as_ref()
        };
        let Some(listener) = listener else { return };
        for _ in 0..ACCEPTED_MAX {
            let has_place = match of_clients {
                true => self.core.clients() < self.clients_max,
                false => self.core.operators() < OPERATORS_MAX,
            };
            match listener.accept() {
                // One connection too many: its client sees that it is closed.
                Ok(_) if !has_place => {}
                // Without power there are no clients to serve.
                Ok(_) if of_clients && !self.core.front.is_on() => {}
                Ok(stream) => {
                    let registry = self.poll.registry();
                    self.core.welcome(stream, of_clients, |stream, place| {
                        stream.register(registry, Token(FIRST_PEER + place))
                    });
                }
                Err(cause) => match cause.kind() {
                    io::ErrorKind::WouldBlock => return,
                    io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                    // No file is free, or no memory.
                    _ => {
                        self.accept_at = Some(Instant::now() + AGAIN);
                        return;
                    }
                },
            }
        }
        self.accept_at = Some(Instant::now());
    }

    fn end(mut self, events: &mut Events) -> Result<Ended, ServeError> {
        let metrics = self.core.finish();
        let until = Instant::now() + FAREWELL;
        while self.core.send_rest() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.wait(events, Some(left))?;
            for event in &*events {
                if let Some(place) = event.token().0.checked_sub(FIRST_PEER) {
                    self.core.ready(place, event);
                }
            }
        }
        Ok(Ended {
            metrics,
            broken: self.core.front.take_broken(),
            unsaved: self.core.unsaved,
            recording: self.core.recording,
        })
    }
}

/// Asks the system for as many open files as connections may need; how many of clients there may be then.
fn allow_files() -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let all = (CLIENTS_MAX + OTHER_FILES) as u64;
    let wanted = limit.maximum.map_or(all, |most| most.min(all));
    if limit.current.is_some_and(|current| current < wanted) {
        let before = limit.current;
        limit.current = Some(wanted);
        if setrlimit(Resource::Nofile, limit).is_err() {
            limit.current = before;
        }
    }
    let files = limit.current.map_or(all, |current| current.min(all));
    (files as usize).saturating_sub(OTHER_FILES)
}
