//! Limits the memory of connections: the memory of each connection, and the memory of all connections together. A
//! connection that needs more memory waits in a queue. The memory limit of the program is checked too.
//!
//! A connection holds three kinds of memory: the message that is arriving, the data of its requests that the device
//! has not answered, and the answers that its client has not accepted. Each connection may always hold [`SHARE`]
//! bytes. A connection gets more memory only if all connections together then hold no more than the pool. Otherwise
//! the connection waits, and the server reads nothing more from its socket.
//!
//! The waiting connections are served in the order of fair queueing. This is the order in which they would be
//! complete if freed memory were given to all of them byte by byte, one byte to each connection in turn. So of two
//! requests that begin to wait at the same time, the shorter request is served first. A short request never waits for
//! all the longer requests that began to wait earlier.
//!
//! When a connection has waited for [`STARVED`], the server closes connections that have held more than [`SHARE`] for
//! at least the same time. Such a connection holds memory because its message does not end, or because its client
//! does not accept answers. Requests in the device are no reason to close a connection, because the device completes
//! them as model time advances.
//!
//! The pool is only for the memory of connections. The device also needs memory: contents in RAM grow with the
//! written data. So the server refuses a command if the memory for it would exceed the memory limit of the program. A
//! part of the limit always stays free for tables that grow without such a check.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use destage_device::RequestKind;
use destage_sim::run::live::Ask;

use super::buffers::SMALL;
use super::commands::SECTOR;
use super::core::Core;
use super::peer::{PeerId, SetAside};
use crate::device::Front;

/// The number of bytes that each connection may always hold.
pub(super) const SHARE: usize = 1 << 17;
/// The largest number of bytes that all connections may hold together.
const POOL_MAX: usize = 1 << 28;
/// The pool may use the program's memory limit divided by this number. The shares of all clients together may use the
/// same amount.
const PART: u64 = 4;
/// The memory in bytes that a page of contents needs besides its data: spare area, entries in tables, and entry in
/// the ledger.
const PAGE: usize = 512;
/// How long a connection waits for memory before the server closes other connections. Only connections that have held
/// memory for at least this time are closed.
const STARVED: Duration = Duration::from_secs(2);
/// The interval at which the server looks for connections to close after a connection has waited for [`STARVED`].
const LOOK: Duration = Duration::from_millis(100);

/// A connection that waits for `wanted` more bytes.
struct Waiting {
    id: PeerId,
    wanted: usize,
    since: Instant,
    /// The value of `Queue::due` when this connection began to wait.
    began: u64,
}

impl Waiting {
    /// The value of `Queue::due` at which this connection has its turn.
    fn turn(&self) -> u64 {
        self.began + self.wanted as u64
    }
}

/// The waiting connections, in the order of fair queueing by bytes.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// The number of bytes that fair queueing would have given so far to a connection that has always waited.
    due: u64,
}

impl Queue {
    /// Lets `id` wait for `wanted` more bytes from `now` on. If the connection waits already, `wanted` replaces the
    /// earlier amount, and the time at which the wait began stays the same. Returns whether the first connection of
    /// the queue has changed.
    fn push(&mut self, id: PeerId, wanted: usize, now: Instant) -> bool {
        let place = self.waiting.iter().position(|each| each.id == id);
        // Nothing changes for a connection that still wants the same. Inserted again, it would come after others with
        // the same turn, and would so make them the first, one after the other and without end.
        if place.is_some_and(|place| self.waiting[place].wanted == wanted) {
            return false;
        }
        let before = place.and_then(|place| self.waiting.remove(place));
        let waiting = Waiting {
            id,
            wanted,
            since: before.as_ref().map_or(now, |before| before.since),
            began: before.map_or(self.due, |before| before.began),
        };
        let turn = waiting.turn();
        let to = self.waiting.partition_point(|each| each.turn() <= turn);
        self.waiting.insert(to, waiting);
        (to == 0) != (place == Some(0))
    }

    /// The time at which the connection that has waited longest began to wait. This connection is not always the
    /// first of the queue.
    fn since(&self) -> Option<Instant> {
        self.waiting.iter().map(|each| each.since).min()
    }

    fn first(&self) -> Option<&Waiting> {
        self.waiting.front()
    }

    /// Removes `id`, which has received its memory or no longer waits.
    fn remove(&mut self, id: PeerId) {
        let Some(place) = self.waiting.iter().position(|each| each.id == id) else {
            return;
        };
        let all = self.waiting.len() as u64;
        if let Some(served) = self.waiting.remove(place) {
            self.due += served.wanted as u64 / all;
        }
    }
}

/// The memory of all connections.
pub(super) struct Memory {
    pool: usize,
    /// The number of bytes that connections hold. `gone` is the number of bytes of requests in the device whose
    /// connection is closed.
    held: usize,
    gone: usize,
    queue: Queue,
    /// Whether memory was freed since the first waiting connection last tried to get memory.
    has_freed: bool,
}

/// The memory that a command needs. It has to fit below the program's limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Need {
    /// A number of bytes that stay in use, such as contents.
    Contents(usize),
    /// A number of bytes that are freed soon.
    Passing(usize),
}

impl Need {
    /// The memory that the device behind `front` needs to carry out `ask`. For a command that adds contents, the
    /// memory of the next mount is included, because a mount needs more memory if there are more contents.
    pub fn of(ask: &Ask<'_>, front: &Front<'_>) -> Self {
        let bytes = u64::from(ask.sectors) * SECTOR;
        let of_pages = (bytes.div_ceil(front.page_bytes()) as usize + 1) * PAGE;
        let of_mount = front.mount_bytes() as usize;
        match ask.kind {
            RequestKind::Write => Self::Contents(bytes as usize + of_pages + of_mount),
            RequestKind::WriteZeroes => Self::Contents(of_pages + of_mount),
            RequestKind::Trim => Self::Passing(of_pages),
            RequestKind::Read => Self::Passing(bytes as usize),
            RequestKind::Flush => Self::Passing(0),
        }
    }

    /// Whether this memory fits below the program's limit. An eighth of the limit has to stay free after contents are
    /// added, and a sixteenth after other memory is used.
    pub fn is_granted(self) -> bool {
        let (bytes, part) = match self {
            Self::Contents(bytes) => (bytes, 8),
            Self::Passing(bytes) => (bytes, 16),
        };
        let limit = destage_memory::limit();
        destage_memory::used().saturating_add(bytes as u64) <= limit - limit / part
    }
}

/// The largest number of clients whose shares fit together into the program's limit divided by [`PART`].
pub(super) fn clients_max() -> usize {
    let shares = destage_memory::limit() / PART / SHARE as u64;
    usize::try_from(shares).unwrap_or(usize::MAX)
}

impl Memory {
    pub fn new() -> Self {
        let part = destage_memory::limit() / PART;
        Self {
            pool: usize::try_from(part).map_or(POOL_MAX, |part| part.min(POOL_MAX)),
            held: 0,
            gone: 0,
            queue: Queue::default(),
            has_freed: false,
        }
    }

    /// Whether `bytes` can ever be granted to one connection.
    pub fn can_hold(&self, bytes: usize) -> bool {
        bytes <= self.pool
    }

    /// Whether any connection waits.
    pub fn is_short(&self) -> bool {
        self.queue.first().is_some()
    }

    /// Updates the total: a connection that held `before` bytes now holds `now` bytes.
    pub fn change(&mut self, before: usize, now: usize) {
        self.held = self.held + now - before;
        self.has_freed |= now < before;
    }

    /// Counts `bytes` of requests in the device whose connection is being closed.
    pub fn leave(&mut self, bytes: usize) {
        self.gone += bytes;
    }

    /// Frees `bytes` of a request of a closed connection, which the device has answered.
    pub fn answered(&mut self, bytes: usize) {
        self.gone -= bytes;
        self.has_freed = true;
    }

    /// Frees all memory of requests of closed connections, because the device has no requests any more.
    pub fn forget_gone(&mut self) {
        self.gone = 0;
        self.has_freed = true;
    }

    /// The time at which the waiting connections have to be checked next; `None` if none waits.
    pub fn next_look(&self) -> Option<Instant> {
        Some((self.queue.since()? + STARVED).max(Instant::now() + LOOK))
    }

    fn fits(&self, more: usize) -> bool {
        self.held + self.gone + more <= self.pool
    }
}

impl Core<'_> {
    /// Updates the number of bytes that `id` holds.
    pub(super) fn count_memory(&mut self, id: PeerId) {
        if let Some(peer) = self.peer(id) {
            let now = peer.memory();
            let before = std::mem::replace(&mut peer.held, now);
            self.memory.change(before, now);
        }
    }

    /// The number of bytes that `id` may hold in addition to the bytes that it holds now.
    pub(super) fn allowance(&mut self, id: PeerId) -> usize {
        let Some(peer) = self.peer(id) else { return 0 };
        let (before, now) = (peer.held, peer.memory());
        let share = SHARE.saturating_sub(now);
        let memory = &self.memory;
        let is_first = memory.queue.first().is_none_or(|first| first.id == id);
        let others = memory.held + memory.gone - before;
        match is_first {
            true => share.max(memory.pool.saturating_sub(others + now)),
            false => share,
        }
    }

    /// Makes `id` wait for `wanted` more bytes. The connection has its next turn when the memory may be available.
    pub(super) fn wait_for_memory(&mut self, id: PeerId, wanted: usize) {
        let Some(peer) = self.peer(id) else { return };
        let has_waited = std::mem::replace(&mut peer.waits_for_memory, true);
        if self.memory.queue.push(id, wanted, Instant::now()) {
            // The new first connection may need less memory than the former first connection. So it has to try to get
            // memory.
            self.memory.has_freed = true;
        }
        if has_waited {
            return;
        }
        // All connections free the unused memory of their input buffers.
        for (_, peer) in self.peers.iter_mut() {
            peer.shrink();
            let now = peer.memory();
            let before = std::mem::replace(&mut peer.held, now);
            self.memory.change(before, now);
        }
    }

    /// Ends the wait of `id` for memory.
    pub(super) fn stop_waiting(&mut self, id: PeerId) {
        if let Some(peer) = self.peer(id)
            && std::mem::take(&mut peer.waits_for_memory)
        {
            self.memory.queue.remove(id);
            self.memory.has_freed = true;
        }
    }

    /// Gives the first waiting connection a turn if memory was freed. If a connection has waited for [`STARVED`],
    /// first closes connections that hold too much memory.
    pub(super) fn feed_waiting(&mut self) {
        let Some(first) = self.memory.queue.first() else {
            return;
        };
        let (id, wanted) = (first.id, first.wanted);
        let since = self.memory.queue.since();
        if since.is_some_and(|since| since.elapsed() >= STARVED) {
            while !self.memory.fits(wanted)
                && let Some(oldest) = self.longest_holder()
            {
                self.close(oldest);
            }
        }
        if std::mem::take(&mut self.memory.has_freed) {
            self.queue(id);
        }
    }

    /// The connection that has held more than [`SHARE`] for the longest time, if this time is at least [`STARVED`].
    /// The message of this connection does not end, or its client does not accept answers.
    fn longest_holder(&self) -> Option<PeerId> {
        let holders = self.peers.iter().filter_map(|(id, peer)| {
            let coming = peer.set_aside.map(|set_aside| set_aside.since);
            let since = coming.into_iter().chain(peer.output.since).min()?;
            let is_holder = peer.memory() > SHARE && since.elapsed() >= STARVED;
            is_holder.then_some((since, id))
        });
        holders.min().map(|(_, id)| id)
    }

    /// Whether `id` gets the memory that the next read needs. For a long message, this is the memory of the whole
    /// message, otherwise the memory of a larger input buffer.
    pub(super) fn may_read(&mut self, id: PeerId) -> Granted {
        let Some(peer) = self.peer(id) else {
            return Granted::Later;
        };
        let is_long = peer.needed > SHARE;
        let wanted = match is_long {
            true => peer.needed,
            false if peer.input.is_full() => peer.input.grown(peer.needed),
            false => return Granted::Yes,
        };
        let more = wanted.saturating_sub(peer.incoming());
        if more == 0 {
            return Granted::Yes;
        }
        let is_granted = wanted <= SMALL || Need::Passing(more).is_granted();
        if !is_granted || !self.memory.can_hold(wanted) {
            return Granted::Never;
        }
        if more > self.allowance(id) {
            self.wait_for_memory(id, more);
            return Granted::Later;
        }
        if is_long && let Some(peer) = self.peer(id) {
            peer.set_aside = Some(SetAside {
                bytes: wanted,
                since: Instant::now(),
            });
            self.count_memory(id);
        }
        Granted::Yes
    }
}

/// The decision about a request for memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Granted {
    Yes,
    /// After other connections have freed memory.
    Later,
    /// Never, because the memory exceeds the pool or the program's limit.
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn id(place: usize) -> PeerId {
        PeerId {
            place,
            generation: 1,
        }
    }

    /// Removes the first connection of the queue and returns its place.
    fn serve(queue: &mut Queue) -> usize {
        let first = queue.first().unwrap().id;
        queue.remove(first);
        first.place
    }

    #[test]
    fn a_request_does_not_wait_behind_all_longer_ones_that_came_before() {
        let mut queue = Queue::default();
        for place in 0..300 {
            queue.push(id(place), 32 * MIB, Instant::now());
        }
        for place in 0..100 {
            assert_eq!(serve(&mut queue), place);
        }
        // By now, fair queueing would have given 12.9 MiB to each of the other connections. They still lack more than
        // 8 MiB, so a new wait for 8 MiB is served first.
        assert!(queue.push(id(300), 8 * MIB, Instant::now()));
        assert!(!queue.push(id(301), 8 * MIB, Instant::now()));
        assert_eq!((serve(&mut queue), serve(&mut queue)), (300, 301));
        assert_eq!(serve(&mut queue), 100);
    }

    #[test]
    fn a_connection_that_tries_in_vain_keeps_its_place() {
        let mut queue = Queue::default();
        for place in 0..3 {
            queue.push(id(place), 32 * MIB, Instant::now());
        }
        // The first connection has its turn, and there is still no memory.
        assert!(!queue.push(id(0), 32 * MIB, Instant::now()));
        assert_eq!([serve(&mut queue), serve(&mut queue)], [0, 1]);
    }

    #[test]
    fn those_who_come_first_for_a_moment_do_not_hide_how_long_others_wait() {
        let mut queue = Queue::default();
        let begin = Instant::now();
        queue.push(id(0), 32 * MIB, begin);
        for place in 1..10 {
            queue.push(id(place), MIB, begin + STARVED * place as u32);
            assert_eq!(queue.first().unwrap().id, id(place));
            assert_eq!(queue.since(), Some(begin));
            queue.remove(id(place));
        }
    }

    #[test]
    fn one_that_wants_something_else_by_now_waits_for_that() {
        let mut queue = Queue::default();
        let now = Instant::now();
        // Connection 0 first waits for memory for a short answer. Then it needs memory for a long message.
        assert!(queue.push(id(0), MIB, now));
        assert!(!queue.push(id(1), 8 * MIB, now));
        assert!(!queue.push(id(0), MIB, now));
        assert!(queue.push(id(0), 32 * MIB, now));
        let wanted: Vec<usize> = queue.waiting.iter().map(|each| each.wanted).collect();
        assert_eq!(wanted, [8 * MIB, 32 * MIB]);
        assert_eq!((serve(&mut queue), serve(&mut queue)), (1, 0));
        assert!(queue.first().is_none());
    }

    #[test]
    fn requests_of_one_length_have_their_turn_in_the_order_of_coming() {
        let mut queue = Queue::default();
        for place in 0..50 {
            queue.push(id(place), 8 * MIB, Instant::now());
        }
        for place in 0..1000 {
            assert_eq!(serve(&mut queue), place);
            queue.push(id(place + 50), 8 * MIB, Instant::now());
        }
    }

    #[test]
    fn a_long_request_has_its_turn_however_many_short_ones_come() {
        let mut queue = Queue::default();
        for place in 0..9 {
            queue.push(id(place), MIB, Instant::now());
        }
        queue.push(id(1000), 32 * MIB, Instant::now());
        let served = (9..1000).take_while(|place| {
            queue.push(id(*place), MIB, Instant::now());
            serve(&mut queue) != 1000
        });
        // A new short wait is served before the long wait until fair queueing would have given 31 MiB to each of the
        // eleven waiting connections. Then ten short waits are left that are served before the long wait.
        assert_eq!(served.count(), 31 * 11 + 10);
    }
}
