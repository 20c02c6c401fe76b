//! The replay of a trace against a server: at the times of the trace, or with a fixed queue depth.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use destage_base::Ticks;
use destage_base::time::TICKS_PER_NS;
use destage_device::slab::Slab;
use destage_sim::latencies::Latencies;
use destage_sim::measured::Measured;
use destage_sim::metrics::{FrontScope, Metrics, Scope, collect};
use destage_sim::observer::{Observer, Response};
use destage_trace::request::SECTOR_BYTES;
use destage_trace::{Operation, Request};

use crate::address::Address;
use crate::client::{Client, ClientError};
use crate::protocol::{PAYLOAD_MAX, wire};

/// The largest number of sectors of a command. A longer request is sent as several commands.
const PART_SECTORS: u64 = PAYLOAD_MAX as u64 / SECTOR_BYTES;
/// The number of response times that are stored individually.
const EXACT: usize = 1 << 20;
/// The time by which a sleep may last longer than requested.
const SLEEP: Duration = Duration::from_micros(80);

/// The times at which requests are sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Timing {
    /// At the times of the trace multiplied by this factor, even if earlier requests are unanswered.
    Open(f64),
    /// As soon as fewer than this many requests are in flight.
    Closed(u32),
}

/// The error for a request that does not lie within the export.
#[derive(Debug, thiserror::Error)]
#[error(
    "line {line}: request of {sectors} sectors at {sector} ends beyond the export, which has {export} sectors; expected addresses within it, or a larger device"
)]
pub struct Beyond {
    line: u32,
    sector: u64,
    sectors: u32,
    export: u64,
}

/// The reason why a replay has no result.
#[derive(Debug)]
pub enum ReplayError<E> {
    /// The trace cannot be read.
    Trace(E),
    /// A request does not lie within the export.
    Beyond(Beyond),
    /// The server is gone, or does not speak NBD.
    Client(ClientError),
}

impl<E> From<ClientError> for ReplayError<E> {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

/// The results of a replay.
#[derive(Debug)]
pub struct Replayed {
    /// The metrics `host.*`, `response.*` and `throughput.*`, as in the results of a run. A response time is counted
    /// from the time at which the request was due.
    pub metrics: Metrics,
    /// The number of requests that the server answered with an error. Then the line in the trace and the error number
    /// of the first such request. `None` if there was no error.
    pub failed: Option<(u64, u32, u32)>,
}

/// A request in flight.
#[derive(Clone, Copy)]
struct Flight {
    index: u64,
    due: Instant,
    request: Request,
    parts: u32,
    is_failed: bool,
}

struct State<'o> {
    began: Instant,
    flights: Slab<Flight>,
    measured: Measured,
    observer: &'o mut dyn Observer,
    failed: Option<(u64, u32, u32)>,
    /// The error that ended the receiver; `None` while the receiver runs.
    gone: Option<ClientError>,
    /// Whether the replay has ended. Then the end of the connection is not an error.
    finished: bool,
}

struct Shared<'o> {
    state: Mutex<State<'o>>,
    answered: Condvar,
}

impl<'o> Shared<'o> {
    fn new(began: Instant, observer: &'o mut dyn Observer) -> Self {
        let mut measured = Measured::default();
        measured.responses.host = Latencies::keeping(EXACT);
        Self {
            state: Mutex::new(State {
                began,
                flights: Slab::default(),
                measured,
                observer,
                failed: None,
                gone: None,
                finished: false,
            }),
            answered: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<'o>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until at most `most` requests are in flight. Returns whether the server is still connected.
    fn wait(&self, most: usize) -> bool {
        let busy = |state: &mut State<'_>| state.flights.len() > most && state.gone.is_none();
        let state = self.answered.wait_while(self.lock(), busy);
        state.unwrap_or_else(PoisonError::into_inner).gone.is_none()
    }

    /// Sleeps until shortly before `due`, and then waits in a busy loop. Returns early if the server is gone. Returns
    /// whether the server is still connected.
    fn wait_until(&self, due: Instant) -> bool {
        let left = due.saturating_duration_since(Instant::now());
        if left > SLEEP {
            let is_there = |state: &mut State<'_>| state.gone.is_none();
            let slept = self
                .answered
                .wait_timeout_while(self.lock(), left - SLEEP, is_there);
            let (state, _) = slept.unwrap_or_else(PoisonError::into_inner);
            if state.gone.is_some() {
                return false;
            }
        }
        while Instant::now() < due {
            std::hint::spin_loop();
        }
        true
    }

    fn receive(&self, client: &mut Client) {
        loop {
            let answer = client.receive(|cookie| match self.lock().is_in_flight(cookie as u32) {
                true => (cookie >> 32) as u32,
                false => 0,
            });
            let mut state = self.lock();
            let answer = answer.and_then(|answer| match state.is_in_flight(answer.cookie as u32) {
                true => Ok(answer),
                false => Err(ClientError::Protocol(
                    "it answers a request that was not sent",
                )),
            });
            match answer {
                Ok(answer) => state.take(answer.cookie as u32, answer.error),
                Err(_) if state.finished => return,
                Err(cause) => {
                    state.gone = Some(cause);
                    self.answered.notify_all();
                    return;
                }
            }
            self.answered.notify_all();
        }
    }
}

impl State<'_> {
    fn is_in_flight(&self, id: u32) -> bool {
        // An answered request keeps its place until another request takes it.
        self.flights.get(id).is_some_and(|flight| flight.parts > 0)
    }

    /// Counts the answer to a part of the request `id`, which is in flight.
    fn take(&mut self, id: u32, error: u32) {
        let flight = &mut self.flights[id];
        flight.parts -= 1;
        if error != 0 && !flight.is_failed {
            flight.is_failed = true;
            let (count, line, first) = self.failed.unwrap_or((0, flight.request.line, error));
            self.failed = Some((count + 1, line, first));
        }
        if flight.parts == 0 {
            let flight = *flight;
            self.flights.free(id);
            let Request {
                operation,
                sector,
                sectors,
                ..
            } = flight.request;
            // A request that the server has refused moved no data, and its answer is no response time.
            let response = (!flight.is_failed).then(|| ticks(flight.due.elapsed()));
            if let Some(response) = response {
                let bytes = u64::from(sectors) * SECTOR_BYTES;
                let host = &mut self.measured.host;
                match operation {
                    Operation::Read => host.bytes_read += bytes,
                    Operation::Write => host.bytes_written += bytes,
                    Operation::Flush | Operation::Trim => {}
                }
                host.completed += 1;
                let responses = &mut self.measured.responses.host;
                responses.push(response, operation != Operation::Read);
            }
            // A response log has the requests in the order of the trace, and so waits for the refused ones too.
            self.observer.response(&Response {
                index: flight.index,
                arrival: ticks(flight.due - self.began),
                waited: 0,
                response,
                sector,
                sectors,
                operation,
            });
        }
    }
}

fn ticks(time: Duration) -> Ticks {
    let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    nanoseconds.saturating_mul(TICKS_PER_NS)
}

/// Replays the requests of `next` to the export at `address`. `observer` gets the response to each request. Arrival
/// times are counted from the start of the replay.
///
/// # Errors
/// An error of the trace or of the server, or a request that does not lie within the export.
pub fn replay<E>(
    address: &Address,
    timing: Timing,
    observer: &mut dyn Observer,
    mut next: impl FnMut() -> Result<Option<Request>, E>,
) -> Result<Replayed, ReplayError<E>> {
    // Simple replies come in one piece each, from every server.
    let mut client = Client::connect(address, false)?;
    let mut receiver = client.try_clone()?;
    let began = Instant::now();
    let shared = Shared::new(began, observer);
    let outcome: Result<(), ReplayError<E>> = std::thread::scope(|scope| {
        let receiving = std::thread::Builder::new();
        receiving
            .spawn_scoped(scope, || shared.receive(&mut receiver))
            .map_err(ClientError::Socket)?;
        let sent = send_all(&mut client, &shared, timing, began, &mut next);
        if sent.is_ok() {
            shared.wait(0);
        }
        let mut state = shared.lock();
        state.measured.makespan = ticks(began.elapsed());
        state.finished = true;
        drop(state);
        // After the disconnect command the server closes the connection, and so the receiver ends. If the server is
        // gone, the receiver ends too.
        let _ = client.disconnect();
        sent
    });
    let mut state = shared.lock();
    if let Some(gone) = state.gone.take() {
        return Err(gone.into());
    }
    outcome?;
    let scope = Scope {
        timed: true,
        flash: false,
        prepared_pages: 0,
        merges: None,
        page_bytes: SECTOR_BYTES,
        retires: false,
        front: FrontScope::default(),
    };
    let metrics = collect(&state.measured, &scope);
    let is_known = |name: &str| {
        let is_of_pages = name.contains("page") || name == "host.saturated";
        ["host.", "response.", "throughput."]
            .iter()
            .any(|prefix| name.starts_with(prefix))
            && !is_of_pages
            && name != "throughput.op_model_mb_per_s"
    };
    Ok(Replayed {
        metrics: metrics
            .iter()
            .filter(|(name, _)| is_known(name))
            .map(|(name, number)| (name.to_owned(), number))
            .collect(),
        failed: state.failed,
    })
}

fn send_all<E>(
    client: &mut Client,
    shared: &Shared<'_>,
    timing: Timing,
    began: Instant,
    next: &mut impl FnMut() -> Result<Option<Request>, E>,
) -> Result<(), ReplayError<E>> {
    let mut data = Vec::new();
    let mut origin = None;
    while let Some(request) = next().map_err(ReplayError::Trace)? {
        let export = client.bytes / SECTOR_BYTES;
        if request.operation != Operation::Flush && request.end() > export {
            return Err(ReplayError::Beyond(Beyond {
                line: request.line,
                sector: request.sector,
                sectors: request.sectors,
                export,
            }));
        }
        let due = match timing {
            Timing::Open(scale) => {
                let since = request.arrival - *origin.get_or_insert(request.arrival);
                let nanoseconds = since as f64 / TICKS_PER_NS as f64 * scale;
                let due = began + Duration::from_nanos(nanoseconds as u64);
                if !shared.wait_until(due) {
                    return Ok(());
                }
                due
            }
            Timing::Closed(depth) => {
                let others = (depth as usize).saturating_sub(1);
                if !shared.wait(others) {
                    return Ok(());
                }
                Instant::now()
            }
        };
        let sectors = u64::from(request.sectors);
        let parts = sectors.div_ceil(PART_SECTORS).max(1);
        let mut state = shared.lock();
        if state.gone.is_some() {
            return Ok(());
        }
        let index = state.measured.host.requests;
        let id = state.flights.insert(|| Flight {
            index,
            due,
            request,
            parts: parts as u32,
            is_failed: false,
        });
        state.measured.host.requests += 1;
        drop(state);
        for part in 0..parts {
            let sector = request.sector + part * PART_SECTORS;
            let length = (request.end() - sector.min(request.end())).min(PART_SECTORS);
            let (command, range) = match request.operation {
                Operation::Read => (wire::CMD_READ, (sector * SECTOR_BYTES, length)),
                Operation::Write => (wire::CMD_WRITE, (sector * SECTOR_BYTES, length)),
                Operation::Trim => (wire::CMD_TRIM, (sector * SECTOR_BYTES, length)),
                Operation::Flush => (wire::CMD_FLUSH, (0, 0)),
            };
            let range = (range.0, (range.1 * SECTOR_BYTES) as u32);
            data.clear();
            if request.operation == Operation::Write {
                fill(&mut data, sector, length, id);
            }
            let fua = if request.fua { wire::CMD_FLAG_FUA } else { 0 };
            // The answer has to tell which request it belongs to, and how many bytes of data it has.
            let bytes = match request.operation {
                Operation::Read => range.1,
                Operation::Write | Operation::Trim | Operation::Flush => 0,
            };
            let cookie = u64::from(bytes) << 32 | u64::from(id);
            client.send((command, fua), cookie, range, &data)?;
        }
    }
    Ok(())
}

/// Appends the data of sectors. All words of a sector are equal. The word depends on the number of the sector and on
/// `salt`, which differs among the requests in flight.
fn fill(data: &mut Vec<u8>, first: u64, sectors: u64, salt: u32) {
    for sector in first..first + sectors {
        let word = (sector << 20 | u64::from(salt)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for _ in 0..SECTOR_BYTES / 8 {
            data.extend_from_slice(&word.to_le_bytes());
        }
    }
}
