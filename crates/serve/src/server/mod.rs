//! The server: one thread and one event loop for the device and all connections.
//!
//! There is no thread for each connection or request. The server reads and writes each socket as far as possible
//! without waiting. It submits a command to the device when the last byte of the command has arrived, and sends the
//! answer when the device has completed the request.
//!
//! The resources of each client are limited: requests in flight, answers that the client has not accepted, memory for
//! messages that arrive slowly, and time for a handshake. A client that reaches a limit has to wait, or the server
//! closes its connection. So it does not disturb other clients.

mod buffers;
mod commands;
mod core;
mod memory;
mod operators;
mod peer;
mod peers;
mod power;
mod requests;
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

/// The largest numbers of connections of clients and of operators. The two limits are separate. So an operator, who
/// can stop the server, can always connect, even if there are too many clients.
const CLIENTS_MAX: usize = 4096;
const OPERATORS_MAX: usize = 32;
/// The number of open files besides the sockets of clients: sockets of operators, listeners, logs, and the files
/// behind the device.
const OTHER_FILES: usize = OPERATORS_MAX + 32;
/// The largest number of connections that are accepted before the existing connections have their turns.
const ACCEPTED_MAX: usize = 256;
/// The server waits in a busy loop for events that are due within this time, because waking up from sleep takes about
/// the same time.
const BUSY_WAIT: Duration = Duration::from_micros(60);
/// A sleep shorter than this costs more than it saves. After such a sleep, the server first polls for this time
/// before it sleeps again.
const BRIEF: Duration = Duration::from_micros(40);
/// How long clients may take to accept their last answers when the server ends.
const FAREWELL: Duration = Duration::from_secs(2);
/// If the system has no resources for a new connection, the server tries again after this delay.
const ACCEPT_RETRY: Duration = Duration::from_secs(1);

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address at which clients connect.
    pub place: Place,
    /// The path of the control socket, a Unix socket at which operators connect; `None` for no control socket.
    pub control: Option<PathBuf>,
    /// The name of the export.
    pub export: String,
    /// Whether clients may only read.
    pub read_only: bool,
    /// Whether the server may listen at an address that other machines can reach.
    pub anywhere: bool,
    /// A line about the device, for clients that ask for a description.
    pub about: String,
    /// Files that operators must not overwrite: the image or disk with the bytes, and the logs.
    pub in_use: Vec<PathBuf>,
}

/// The sockets of a server, at which nothing is served yet. They are made before anything else, so that a server that
/// cannot listen changes no file.
pub struct Sockets {
    clients: Listener,
    operators: Option<Listener>,
}

impl Sockets {
    /// Makes the sockets.
    ///
    /// # Errors
    /// If the server cannot listen at the addresses, or must not listen because other machines could connect.
    pub fn new(settings: &Settings) -> Result<Self, ServeError> {
        if settings.export.len() > STRING_MAX {
            return Err(ServeError::Name);
        }
        if let Place::Tcp(address) = &settings.place
            && !(address.ip().is_loopback() || settings.anywhere)
        {
            return Err(ServeError::Exposed(address.to_string()));
        }
        let listen = |place: &Place| {
            Listener::bind(place).map_err(|cause| ServeError::Place {
                place: match place {
                    Place::Unix(path) => path.display().to_string(),
                    Place::Tcp(address) => address.to_string(),
                },
                cause,
            })
        };
        let control = settings.control.as_ref();
        Ok(Self {
            clients: listen(&settings.place)?,
            operators: control.map(|path| listen(&Place::unix(path))).transpose()?,
        })
    }
}

/// The reason why a server cannot start, or has failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The server cannot listen at this place.
    #[error("{place}: {cause}; expected a place where a socket can be made")]
    Place {
        /// The place as text.
        place: String,
        /// The error of the system.
        cause: io::Error,
    },
    /// Other machines could connect.
    #[error(
        "{0}: other machines can connect to that address, and there is no encryption; expected 127.0.0.1, a Unix socket, or --listen-anywhere"
    )]
    Exposed(String),
    /// The name of the export is too long.
    #[error("the export's name is longer than {STRING_MAX} bytes; expected a shorter one")]
    Name,
    /// The system failed.
    #[error("the event loop: {0}")]
    System(#[from] io::Error),
}

/// A handle that ends a server from any thread.
#[derive(Clone)]
pub struct Stopper {
    asked: Arc<AtomicBool>,
    waker: Arc<Waker>,
}

impl Stopper {
    /// Makes the server end. Before its end, the server answers the requests in flight, and flushes the device.
    pub fn stop(&self) {
        self.asked.store(true, Ordering::Release);
        // If the waker fails, the server has ended already.
        let _ = self.waker.wake();
    }
}

/// The results of a server that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The metrics that a simulated run of the same requests would give.
    pub metrics: Metrics,
    /// The reason why the device could no longer be used; `None` if it could be used to the end.
    pub broken: Option<Broken>,
    /// The reason why some answered data may not be durable; `None` if all answered data are durable.
    pub unsaved: Option<&'static str>,
    /// `Ok` if all requests of clients were recorded, otherwise the error of the recorder.
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
    /// The largest number of connections of clients.
    clients_max: usize,
    /// The time at which the server tries to accept more connections. It is set if the system had no resources for a
    /// connection, or if other connections first have their turns.
    accept_at: Option<Instant>,
    /// Whether the last sleep was [brief](BRIEF). `has_others` is whether the machine has more than one processor,
    /// so that a client can run while the server polls.
    was_brief: bool,
    has_others: bool,
    core: Core<'a>,
}

impl<'a> Server<'a> {
    /// Makes a server that listens. It serves no client before [`run`](Self::run) is called.
    ///
    /// # Errors
    /// If the server cannot listen at the addresses, or must not listen because other machines could connect.
    pub fn bind(
        settings: &Settings,
        front: Front<'a>,
        recorder: Option<Recorder<'a>>,
    ) -> Result<Self, ServeError> {
        Self::on(Sockets::new(settings)?, settings, front, recorder)
    }

    /// Makes a server that listens at `sockets`, which were made from `settings`.
    ///
    /// # Errors
    /// If a call of the system fails.
    pub fn on(
        sockets: Sockets,
        settings: &Settings,
        mut front: Front<'a>,
        recorder: Option<Recorder<'a>>,
    ) -> Result<Self, ServeError> {
        let clients_max = allow_files().min(memory::clients_max()).max(1);
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let syncer = front.take_sync().map(|sync| Syncer::new(sync, &waker));
        let Sockets {
            mut clients,
            mut operators,
        } = sockets;
        clients.register(poll.registry(), CLIENTS)?;
        if let Some(operators) = &mut operators {
            operators.register(poll.registry(), OPERATORS)?;
            // A program that connects to the control socket may cut the power, which needs the ledger.
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
            core: Core::new(
                export,
                front,
                syncer.transpose()?,
                recorder,
                settings.in_use.clone(),
            ),
        })
    }

    /// The address at which clients connect.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Sets how long the handshake of a client may take, and how long a client whose connection is about to end may
    /// take to accept its last answers. The default is 30 seconds. The time in which the device carries out requests
    /// does not count.
    pub fn set_patience(&mut self, patience: Duration) {
        self.core.set_patience(patience);
    }

    /// A handle that ends the server.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Serves until the server is stopped. Then answers the requests in flight, and makes all data durable.
    ///
    /// # Errors
    /// If a call of the system fails.
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

    /// The timeout of the next poll. Also sets the timer for the next event of the device, because the timer has a
    /// finer resolution than the timeout of a poll.
    fn timeout(&mut self) -> Result<Option<Duration>, ServeError> {
        let mut timeout = self.core.sleep();
        if let Some(at) = self.accept_at {
            let left = at.saturating_duration_since(Instant::now());
            timeout = Some(timeout.map_or(left, |timeout| timeout.min(left)));
        }
        let due = self.core.front.due_in();
        if due.is_some_and(|due| due < BUSY_WAIT) {
            return Ok(Some(Duration::ZERO));
        }
        let of_poll = self.timer.set(due.map(|due| due - BUSY_WAIT / 2))?;
        Ok(timeout.into_iter().chain(of_poll).min())
    }

    /// Waits for events. If the last sleep was brief, this function first polls for the time [`BRIEF`] without
    /// sleeping. So if a client sends its next request directly after an answer, the server need not be woken up. If
    /// no client does so, this time is wasted once.
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

    /// Accepts the waiting connections.
    fn accept(&mut self, of_clients: bool) {
        let listener = if of_clients {
            Some(&self.clients)
        } else {
            self.operators.as_ref()
        };
        let Some(listener) = listener else { return };
        for _ in 0..ACCEPTED_MAX {
            let has_place = match of_clients {
                true => self.core.peers.clients() < self.clients_max,
                false => self.core.peers.operators() < OPERATORS_MAX,
            };
            match listener.accept() {
                // There are too many connections, so this one is closed at once.
                Ok(_) if !has_place => {}
                // Without power no client is served, so this connection is closed at once.
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
                    // The system has no free file descriptor or no memory.
                    _ => {
                        self.accept_at = Some(Instant::now() + ACCEPT_RETRY);
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
            recording: self.core.recording.outcome,
        })
    }
}

/// Raises the process's limit of open files to the number that all connections need. Returns the number of clients
/// that the resulting limit allows.
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
