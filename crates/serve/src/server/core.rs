//! The work of the server for its connections: it submits commands to the device and sends the answers.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use destage_base::Ticks;
use destage_device::RequestKind;
use destage_device::backed::Fault;
use destage_sim::metrics::Metrics;
use destage_sim::run::live::{Ask, Broken};
use mio::event::Event;
use serde_json::Map;

use super::buffers::{ANSWER_MAX, Output};
use super::commands::{PART_SECTORS, SECTOR, asked, extents};
use super::memory::{Granted, Memory, Need};
use super::peer::{Peer, PeerId, Role};
use super::peers::Peers;
use super::requests::{InFlight, Requests};
use super::stream::Stream;
use super::syncer::Syncer;
use crate::control;
use crate::device::Front;
use crate::protocol::{CommandKind, ErrorCode, Export, Reply, Session, Step};

/// In one turn, the server reads from a connection at most this many times, and processes at most this many messages
/// after each read.
const TURN: usize = 64;
/// The longest time for which the server processes commands of one connection without a break. After this time the
/// turn of the connection ends: its answers are sent, and other connections have their turns. So commands that move
/// many bytes do not delay earlier answers.
const TURN_TIME: Duration = Duration::from_micros(100);
/// The error for a request that exceeds the program's memory limit.
const NO_MEMORY: &str = "the server's memory limit leaves no room for it";
/// The value of [`Deadlines::patience`], unless the owner of the server sets another one.
const PATIENCE: Duration = Duration::from_secs(30);

/// A function that records each request that enters the device, with its data. A long request without data enters in
/// parts. The second argument is the arrival time in ticks since the start of the device.
pub type Recorder<'a> = Box<dyn FnMut(&Ask<'_>, Ticks) -> io::Result<()> + 'a>;

/// The recording of the requests of clients.
pub(super) struct Recording<'a> {
    /// `None` if nothing is recorded.
    recorder: Option<Recorder<'a>>,
    /// The first error, which ends the recording.
    pub outcome: io::Result<()>,
}

impl Recording<'_> {
    fn add(&mut self, ask: &Ask<'_>, arrival: Ticks) {
        if let Some(record) = &mut self.recorder
            && self.outcome.is_ok()
        {
            self.outcome = record(ask, arrival);
        }
    }
}

/// The receiver of the answer to a request.
#[derive(Clone, Copy)]
pub(super) enum Owner {
    Client(PeerId, Reply),
    Operator(PeerId),
    /// No receiver. The server itself flushes the device when the server ends.
    Nobody,
}

/// What a connection waits for when it stops processing commands.
pub(super) enum Waits {
    /// More input.
    Input,
    /// Room: requests of this connection have to complete, or the client has to accept answers.
    Room,
    /// Memory that other connections have to free.
    Memory,
    /// A part of an earlier request, which has to be submitted before the next command.
    Part,
    /// Nothing. Only the turn of the connection is over.
    Turn,
}

/// The times at which connections are closed, unless their handshake or farewell is complete by then.
struct Deadlines {
    /// The deadlines, in the order of their times.
    all: BTreeSet<(Instant, PeerId)>,
    /// The longest duration of a handshake. The client of a connection that is about to end has the same time to
    /// accept its last answers.
    patience: Duration,
}

pub(super) struct Core<'a> {
    export: Export,
    pub front: Front<'a>,
    pub peers: Peers,
    pub requests: Requests,
    /// The connections that wait for a turn.
    turns: VecDeque<PeerId>,
    deadlines: Deadlines,
    pub(super) memory: Memory,
    /// The thread that makes bytes durable, if the media need one.
    syncer: Option<Syncer>,
    /// The reason why the server's last flush failed; `None` if it did not fail.
    pub unsaved: Option<&'static str>,
    pub recording: Recording<'a>,
    /// The operators that ordered the server to end, and wait for the answer.
    pub stopping: Vec<PeerId>,
    /// The operator that waits for the armed power loss.
    pub armed: Option<PeerId>,
    /// Files that operators must not overwrite.
    pub in_use: Vec<PathBuf>,
    /// Whether no more commands are accepted.
    closed: bool,
}

impl<'a> Core<'a> {
    pub fn new(
        export: Export,
        front: Front<'a>,
        syncer: Option<Syncer>,
        recorder: Option<Recorder<'a>>,
        in_use: Vec<PathBuf>,
    ) -> Self {
        Self {
            export,
            front,
            peers: Peers::default(),
            requests: Requests::default(),
            turns: VecDeque::new(),
            deadlines: Deadlines {
                all: BTreeSet::new(),
                patience: PATIENCE,
            },
            memory: Memory::new(),
            syncer,
            unsaved: None,
            recording: Recording {
                recorder,
                outcome: Ok(()),
            },
            stopping: Vec::new(),
            armed: None,
            in_use,
            closed: false,
        }
    }

    /// Sets the longest duration of a handshake and of a farewell. Deadlines that are already set do not change.
    pub fn set_patience(&mut self, patience: Duration) {
        self.deadlines.patience = patience;
    }

    /// Adds a new connection. `register` adds its socket to the poll.
    pub fn welcome(
        &mut self,
        mut stream: Stream,
        is_client: bool,
        register: impl FnOnce(&mut Stream, usize) -> io::Result<()>,
    ) {
        let place = self.peers.take_place();
        if register(&mut stream, place).is_err() {
            // The system has no resources for another connection.
            return self.peers.give_back(place);
        }
        let now = Instant::now();
        let mut output = Output::default();
        let role = if is_client {
            Role::Client(Session::new(output.piece(0)))
        } else {
            Role::Operator { waits: false }
        };
        let (id, peer) = self.peers.add(place, stream, role);
        peer.output = output;
        if is_client {
            self.set_deadline(id, Some(now + self.deadlines.patience));
        }
        self.queue(id);
    }

    /// Records that the socket of the connection with the index `place` is ready for reading or writing, and queues
    /// the connection for a turn.
    pub fn ready(&mut self, place: usize, event: &Event) {
        if let Some((id, peer)) = self.peers.at(place) {
            peer.socket.is_ending |= event.is_read_closed();
            peer.socket.is_gone |= event.is_write_closed();
            peer.socket.can_read |= event.is_readable() || event.is_read_closed();
            peer.socket.can_write |= event.is_writable() || event.is_write_closed();
            self.queue(id);
        }
    }

    pub(super) fn peer(&mut self, id: PeerId) -> Option<&mut Peer> {
        self.peers.get(id)
    }

    pub(super) fn queue(&mut self, id: PeerId) {
        if let Some(peer) = self.peer(id)
            && !std::mem::replace(&mut peer.queued, true)
        {
            self.turns.push_back(id);
        }
    }

    fn set_deadline(&mut self, id: PeerId, deadline: Option<Instant>) {
        let Some(peer) = self.peer(id) else { return };
        let before = std::mem::replace(&mut peer.deadline, deadline);
        if let Some(before) = before {
            self.deadlines.all.remove(&(before, id));
        }
        if let Some(deadline) = deadline {
            self.deadlines.all.insert((deadline, id));
        }
    }

    pub(super) fn close(&mut self, id: PeerId) {
        self.set_deadline(id, None);
        self.stop_waiting(id);
        self.count_memory(id);
        if let Some(peer) = self.peer(id) {
            let (held, in_device) = (peer.held, peer.under_way.bytes_in);
            self.memory.change(held, 0);
            self.memory.leave(in_device);
            self.peers.remove(id);
        }
    }

    /// How long the server may sleep before it has to serve or check a connection; `None` if no connection limits the
    /// time.
    pub fn sleep(&self) -> Option<Duration> {
        if !self.turns.is_empty() {
            return Some(Duration::ZERO);
        }
        let deadline = self.deadlines.all.first().map(|(deadline, _)| *deadline);
        let next = deadline.into_iter().chain(self.memory.next_look()).min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    /// Gives each connection that waits for a turn one turn, and closes connections whose deadline has passed.
    pub fn work(&mut self) {
        self.front.advance();
        self.deliver();
        self.deliver_synced();
        for _ in 0..self.turns.len() {
            if let Some(id) = self.turns.pop_front() {
                self.turn(id);
            }
        }
        self.feed_waiting();
        if !self.deadlines.all.is_empty() {
            let now = Instant::now();
            while let Some(&(at, id)) = self.deadlines.all.first()
                && at <= now
            {
                self.close(id);
            }
        }
    }

    fn turn(&mut self, id: PeerId) {
        let Some(peer) = self.peer(id) else { return };
        peer.queued = false;
        peer.waits_for_part = false;
        // Answers that completed since the last turn are sent before new commands are processed.
        if !peer.send() {
            return self.close(id);
        }
        let mut waits_for_memory = false;
        for _ in 0..TURN {
            let waits = match self.peer(id).map(|peer| &peer.role) {
                Some(Role::Client(_)) => self.commands(id),
                Some(Role::Operator { .. }) => self.orders(id),
                None => return,
            };
            let Some(peer) = self.peer(id) else { return };
            if !peer.send() {
                return self.close(id);
            }
            if peer.leaving {
                let (waits_for_order, has_orders) = (peer.waits_for_order(), peer.has_orders());
                if (peer.is_done() && !has_orders) || (peer.socket.is_gone && waits_for_order) {
                    return self.close(id);
                }
                if has_orders && peer.has_room() {
                    self.queue(id);
                    break;
                }
                // The end of a request may be far away, and so may a loss of power that an operator has ordered.
                let is_served = waits_for_order || peer.under_way.requests > 0;
                match (is_served, peer.deadline) {
                    (true, Some(_)) => self.set_deadline(id, None),
                    (false, None) => {
                        let deadline = Instant::now() + self.deadlines.patience;
                        self.set_deadline(id, Some(deadline));
                    }
                    _ => {}
                }
                break;
            }
            match waits {
                Waits::Input if peer.socket.can_read => match self.may_read(id) {
                    Granted::Yes => self.read(id),
                    Granted::Later => {
                        waits_for_memory = true;
                        break;
                    }
                    Granted::Never => {
                        if !self.pass_over(id) {
                            return self.close(id);
                        }
                    }
                },
                Waits::Memory => {
                    waits_for_memory = true;
                    break;
                }
                Waits::Part => {
                    peer.waits_for_part = true;
                    break;
                }
                Waits::Turn => {
                    self.queue(id);
                    break;
                }
                Waits::Room if peer.has_room() => {}
                Waits::Input | Waits::Room => break,
            }
        }
        if !waits_for_memory {
            self.stop_waiting(id);
        }
        let is_short = self.memory.is_short();
        let Some(peer) = self.peer(id) else { return };
        if is_short {
            peer.shrink();
        }
        let waits = waits_for_memory || peer.waits_for_part;
        let goes_on = peer.socket.can_read && peer.has_room() && !peer.leaving && !waits;
        self.count_memory(id);
        if goes_on {
            self.queue(id);
        }
    }

    fn read(&mut self, id: PeerId) {
        if let Some(peer) = self.peer(id)
            && !peer.read()
        {
            // The client may have closed only its sending side, and may still receive answers.
            peer.leaving = true;
        }
    }

    /// Skips the payload of the write that is arriving, because there is no memory for the payload. The client then
    /// gets an error. Returns `false` if the arriving message is not a write.
    fn pass_over(&mut self, id: PeerId) -> bool {
        let Some(peer) = self.peer(id) else {
            return false;
        };
        let Role::Client(session) = &mut peer.role else {
            return false;
        };
        let taken = session.pass_over(peer.input.bytes(), (ErrorCode::NoMemory, NO_MEMORY));
        if let Some(taken) = taken {
            peer.take(taken);
        }
        taken.is_some()
    }

    /// Processes the received commands of a client. Returns what the connection waits for afterwards.
    fn commands(&mut self, id: PeerId) -> Waits {
        let begun = Instant::now();
        for _ in 0..TURN {
            let allowance = self.allowance(id);
            let Some(peer) = self.peers.get(id) else {
                return Waits::Room;
            };
            let (has_room, is_done) = (peer.has_room(), peer.is_done());
            let Role::Client(session) = &mut peer.role else {
                return Waits::Room;
            };
            if peer.leaving || !has_room {
                return Waits::Room;
            }
            if allowance < ANSWER_MAX && !is_done {
                self.wait_for_memory(id, ANSWER_MAX);
                return Waits::Memory;
            }
            let was_transmitting = session.is_transmitting();
            let out = peer.output.piece(0);
            match session.step(&self.export, peer.input.bytes(), out) {
                Step::Needs(needed) => {
                    peer.needed = needed;
                    return Waits::Input;
                }
                Step::Took(count) => {
                    let is_transmitting = session.is_transmitting();
                    peer.take(count);
                    if is_transmitting && !was_transmitting {
                        self.set_deadline(id, None);
                    }
                }
                Step::Closed => {
                    peer.leaving = true;
                    return Waits::Room;
                }
                Step::Command(count, command, reply) => {
                    if command.kind == CommandKind::Disconnect {
                        peer.leaving = true;
                        return Waits::Room;
                    }
                    let refusal = if self.closed {
                        Some((ErrorCode::Shutdown, "the server ends"))
                    } else {
                        self.front.broken().map(broken)
                    };
                    let (request, ask) = asked(&command, Owner::Client(id, reply));
                    let refusal = refusal.or_else(|| match command.kind {
                        CommandKind::Write | CommandKind::WriteZeroes | CommandKind::Trim => {
                            let unsynced = self.syncer.as_ref().and_then(Syncer::fault);
                            let fault = unsynced.or_else(|| self.front.settle(ask.kind).err());
                            fault.map(failed)
                        }
                        _ => None,
                    });
                    let bytes_out = reply.data_bytes() as usize;
                    let more = command.data.len() + bytes_out;
                    let refusal = refusal.or_else(|| match command.kind {
                        // These commands move no data.
                        CommandKind::Cache | CommandKind::BlockStatus => None,
                        _ => {
                            let need = Need::of(&ask, &self.front);
                            let is_granted = need.is_granted() && self.memory.can_hold(bytes_out);
                            (!is_granted).then_some((ErrorCode::NoMemory, NO_MEMORY))
                        }
                    });
                    if refusal.is_none() && self.requests.have_rest_in(&(ask.sector..request.end)) {
                        peer.set_aside = None;
                        return Waits::Part;
                    }
                    // The data of a received write already occupy memory of the input, which is freed when the write
                    // is submitted. So a connection without other requests needs no additional memory for a write.
                    let moves = bytes_out == 0 && peer.under_way.requests == 0;
                    if refusal.is_none() && more > allowance && !moves {
                        peer.set_aside = None;
                        self.wait_for_memory(id, more);
                        return Waits::Memory;
                    }
                    if let Some((code, why)) = refusal {
                        reply.failed(code, why, out);
                    } else if command.kind == CommandKind::Cache {
                        // Nothing is done, because the command is only a hint. The buffer scheme alone decides which
                        // pages are in RAM.
                        reply.done(out);
                    } else if command.kind == CommandKind::BlockStatus {
                        reply.block_status(&extents(&self.front, &command), out);
                    } else {
                        peer.under_way.requests += 1;
                        peer.under_way.bytes_in += command.data.len();
                        peer.under_way.bytes_out += bytes_out;
                        let tag = u64::from(self.requests.insert(request));
                        let ask = Ask { tag, ..ask };
                        let arrival = self.front.submit(&ask);
                        self.recording.add(&ask, arrival);
                    }
                    peer.take(count);
                    if more > allowance {
                        peer.shrink();
                    }
                    self.deliver();
                    // If an answer waited until the next command is processed, it would be later than in the model.
                    let is_due = self.front.is_paced() && self.has_output(id);
                    if is_due || begun.elapsed() >= TURN_TIME {
                        return Waits::Turn;
                    }
                }
            }
        }
        Waits::Turn
    }

    fn has_output(&mut self, id: PeerId) -> bool {
        self.peer(id).is_some_and(|peer| !peer.output.is_empty())
    }

    /// Answers the requests that the device has completed. If a request is submitted in parts, submits the next part
    /// instead.
    pub(super) fn deliver(&mut self) {
        let mut is_rest_shorter = false;
        while let Some(completion) = self.front.completed() {
            let id = completion.tag as u32;
            let request = self.requests.get(id);
            self.take_back(&request);
            is_rest_shorter |= request.has_rest();
            if let Some(fault) = completion.fault {
                self.requests.remove(id);
                self.answer(request.owner, Some(failed(fault)));
                continue;
            }
            if request.has_rest() {
                let part = (request.end - request.next).min(PART_SECTORS);
                let ask = Ask {
                    kind: request.kind,
                    sector: request.next,
                    sectors: part as u32,
                    fua: request.fua,
                    data: &[],
                    tag: completion.tag,
                };
                if Need::of(&ask, &self.front).is_granted() {
                    self.requests.advance(id, part);
                    let arrival = self.front.submit(&ask);
                    self.recording.add(&ask, arrival);
                } else {
                    self.requests.remove(id);
                    self.answer(request.owner, Some((ErrorCode::NoMemory, NO_MEMORY)));
                }
                continue;
            }
            self.requests.remove(id);
            match &mut self.syncer {
                Some(syncer) if completion.is_durable => syncer.push(request.owner),
                _ => self.answer(request.owner, None),
            }
        }
        if let Some(why) = self.front.broken().map(broken) {
            for request in self.requests.take_all() {
                self.take_back(&request);
                is_rest_shorter |= request.has_rest();
                self.answer(request.owner, Some(why));
            }
        }
        if is_rest_shorter {
            self.queue_those_that_wait_for_a_part();
        }
        if self.front.has_failed() {
            self.fail_power(None);
        }
    }

    /// Queues the clients whose next command has to wait for a part of an earlier request.
    fn queue_those_that_wait_for_a_part(&mut self) {
        let all = self.peers.iter().filter(|(_, peer)| peer.waits_for_part);
        let all: Vec<PeerId> = all.map(|(id, _)| id).collect();
        for id in all {
            self.queue(id);
        }
    }

    /// Answers the requests whose sync has ended.
    fn deliver_synced(&mut self) {
        while let Some((owners, outcome)) = self.syncer.as_mut().and_then(Syncer::done) {
            for owner in owners {
                self.answer(owner, outcome.err().map(failed));
            }
        }
    }

    /// Frees the memory of the data of `request`, because the request has completed.
    fn take_back(&mut self, request: &InFlight) {
        if request.bytes == 0 {
            return;
        }
        if let Owner::Client(id, _) = request.owner
            && let Some(peer) = self.peer(id)
        {
            peer.under_way.bytes_in -= request.bytes;
            self.count_memory(id);
        } else {
            self.memory.answered(request.bytes);
        }
    }

    fn answer(&mut self, owner: Owner, failure: Option<(ErrorCode, &'static str)>) {
        match owner {
            Owner::Client(id, reply) => {
                let Self { peers, front, .. } = self;
                let Some(peer) = peers.get(id) else { return };
                peer.under_way.requests -= 1;
                peer.under_way.bytes_out -= reply.data_bytes() as usize;
                let bytes = if failure.is_none() {
                    reply.data_bytes()
                } else {
                    0
                };
                let out = peer.output.piece(bytes as usize);
                match failure {
                    Some((code, why)) => reply.failed(code, why, out),
                    None => {
                        let begin = out.len();
                        reply.done(out);
                        let sectors = reply.data_bytes() / SECTOR as u32;
                        if let Err(fault) = front.read(reply.offset() / SECTOR, sectors, out) {
                            out.truncate(begin);
                            let (code, why) = failed(fault);
                            reply.failed(code, why, out);
                        }
                    }
                }
                self.queue(id);
            }
            Owner::Operator(id) => {
                let said = match (self.front.broken(), failure) {
                    (Some(broken), _) => control::failed(&broken.to_string()),
                    (None, Some((_, why))) => control::failed(why),
                    (None, None) => control::done(Map::new()),
                };
                self.tell(id, &said);
            }
            Owner::Nobody => self.unsaved = failure.map(|(_, why)| why),
        }
    }

    pub(super) fn flush(&mut self, owner: Owner) {
        // A run of the recording has to do the flush too. The flush at the end is not part of the metrics.
        let is_recorded = matches!(owner, Owner::Operator(_));
        let request = InFlight {
            owner,
            kind: RequestKind::Flush,
            fua: false,
            bytes: 0,
            next: 0,
            end: 0,
        };
        let tag = u64::from(self.requests.insert(request));
        let ask = Ask {
            kind: RequestKind::Flush,
            sector: 0,
            sectors: 0,
            fua: false,
            data: &[],
            tag,
        };
        let arrival = self.front.submit(&ask);
        if is_recorded {
            self.recording.add(&ask, arrival);
        }
        self.deliver();
    }

    /// Whether an operator ordered the server to end.
    pub fn is_to_stop(&self) -> bool {
        !self.stopping.is_empty()
    }

    /// Answers all requests in flight, cancels an armed cut, and then makes all data durable. The server accepts no
    /// more commands. Returns the metrics after the last answer, before the final flush.
    pub fn finish(&mut self) -> Metrics {
        self.closed = true;
        self.hurry();
        // An armed cut must not happen during the last flush. If the device cannot cancel it, the device is broken.
        let _ = self.disarm("the server ends");
        let metrics = self.front.metrics();
        // The observer reports the requests of clients, and this flush is none.
        self.front.stop_responses();
        self.flush(Owner::Nobody);
        self.hurry();
        let failure = self.unsaved.map(|why| (ErrorCode::Io, why));
        if let Some(id) = self.armed.take() {
            self.tell(id, &control::failed("the server ends"));
        }
        for id in std::mem::take(&mut self.stopping) {
            self.answer(Owner::Operator(id), failure);
        }
        metrics
    }

    fn hurry(&mut self) {
        while self.front.hurry() {
            self.deliver();
        }
        self.deliver();
        while self.syncer.as_mut().is_some_and(Syncer::wait) {
            self.deliver_synced();
        }
    }

    /// Sends as much as can be sent. Returns whether bytes are left that the other side may still accept.
    pub fn send_rest(&mut self) -> bool {
        let mut left = false;
        for (_, peer) in self.peers.iter_mut() {
            left |= peer.send() && !peer.output.is_empty();
        }
        left
    }
}

/// The error that a client gets for a fault of the disk behind the buffer.
fn failed(fault: Fault) -> (ErrorCode, &'static str) {
    match fault {
        Fault::Full => (
            ErrorCode::NoSpace,
            "the file or disk behind the buffer has no room left",
        ),
        Fault::Io => (
            ErrorCode::Io,
            "the file or disk behind the buffer has failed",
        ),
    }
}

/// The error that a client gets when the device can no longer be used.
fn broken(why: &Broken) -> (ErrorCode, &'static str) {
    match why {
        Broken::Full(_) => (ErrorCode::NoSpace, "the flash has no room left"),
        Broken::Unkept(fault) => failed(*fault),
        Broken::Damaged => (ErrorCode::Io, "the image is damaged"),
        Broken::Refused(_) | Broken::Stuck => (ErrorCode::Io, "the device is broken"),
    }
}
