//! What waits at a die, and which of it makes the next command.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use destage_base::Ticks;

use crate::operation::Kind;

/// One page that is read or programmed, or one block that is erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// What is done.
    pub kind: Kind,
    /// The die, counted through the dies of a channel, then the channels.
    pub die: u32,
    /// Plane of the die.
    pub plane: u32,
    /// Block of the plane.
    pub block: u32,
    /// Page of the block; of an erase nothing.
    pub page: u32,
    /// Type of the page within its cell.
    pub page_type: u32,
    /// Ticks for which its data are on the channel.
    pub data: Ticks,
    /// Whatever the driver knows it by.
    pub token: u32,
}

/// Whether a read or something else goes first where both wait at a die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// What came first.
    Arrival,
    /// Reads, but for a bound: when so many read commands have begun while something else waited, that goes. 0: no
    /// bound.
    ReadsFirst(u32),
}

/// Which waiting pages go together, as one command on several planes. They have the same offset in their blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Together {
    /// None.
    Never,
    /// Programs only if no earlier one of their plane waits: pages of a block are programmed in the order in which they
    /// were asked for.
    InOrder,
    /// All, as MQSim does it: a page of a block can be programmed before an earlier one.
    AnyOrder,
}

/// Which command is next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Reads against the rest.
    pub order: Order,
    /// Commands on several planes.
    pub together: Together,
    /// A read of a page whose program waits goes after it; without this it may go before, as in MQSim.
    pub reads_wait: bool,
}

#[derive(Clone, Copy)]
struct Waiting {
    operation: Operation,
    /// How many came before it to this die.
    rank: u64,
    /// Of a read: the rank of the program that it has to wait for.
    after: Option<u64>,
}

/// What waits at a die, in the order in which it came.
#[derive(Clone, Default)]
pub(super) struct Queue {
    reads: VecDeque<Waiting>,
    programs: VecDeque<Waiting>,
    erases: VecDeque<Waiting>,
    /// Ranks given.
    ranks: u64,
    /// Reads that wait for a program.
    held: usize,
    /// Read commands that have begun while something else waited.
    ahead: u32,
}

/// After every rank.
const NEVER: u64 = u64::MAX;

/// The rank of the oldest.
fn first_rank(queue: &VecDeque<Waiting>) -> u64 {
    queue.front().map_or(NEVER, |waiting| waiting.rank)
}

impl Queue {
    pub fn push(&mut self, operation: Operation, rules: &Rules) {
        let place = |of: &Operation| (of.plane, of.block, of.page);
        let mut after = None;
        if operation.kind == Kind::Read && rules.reads_wait {
            let mut programs = self.programs.iter().rev();
            let program = programs.find(|waiting| place(&waiting.operation) == place(&operation));
            after = program.map(|waiting| waiting.rank);
            self.held += usize::from(after.is_some());
        }
        let waiting = Waiting {
            operation,
            rank: self.ranks,
            after,
        };
        self.ranks += 1;
        match operation.kind {
            Kind::Read => self.reads.push_back(waiting),
            Kind::Program => self.programs.push_back(waiting),
            Kind::Erase => self.erases.push_back(waiting),
        }
    }

    /// Takes the operations of the next command, of up to `planes` planes, into the empty `command`; whether there are any.
    pub fn take(&mut self, rules: &Rules, planes: u32, command: &mut Vec<Operation>) -> bool {
        let read = self.reads.iter().find(|waiting| waiting.after.is_none());
        // Programs do not go past an erase, which may be of their block, and an erase goes past nothing.
        let [reads, programs, erases] = [&self.reads, &self.programs, &self.erases].map(first_rank);
        let is_erase = erases < programs.min(reads);
        let is_change = is_erase || programs < erases;
        let others_wait = programs.min(erases) < NEVER;
        let is_read = match (read, rules.order) {
            (None, _) => false,
            (Some(_), _) if !is_change => true,
            (Some(read), Order::Arrival) => read.rank < programs.min(erases),
            (Some(_), Order::ReadsFirst(most)) => most == 0 || self.ahead < most,
        };
        if is_read {
            self.ahead = if others_wait { self.ahead + 1 } else { 0 };
            let planes = Planes {
                together: if rules.together == Together::Never {
                    1
                } else {
                    planes
                },
                in_order: false,
            };
            let free = |waiting: &Waiting| waiting.after.is_none();
            gather(&mut self.reads, planes, free, |taken| {
                command.push(taken.operation)
            });
        } else if is_erase {
            self.ahead = 0;
            command.extend(self.erases.pop_front().map(|waiting| waiting.operation));
        } else if is_change {
            self.ahead = 0;
            let planes = Planes {
                together: if rules.together == Together::Never {
                    1
                } else {
                    planes
                },
                in_order: rules.together == Together::InOrder,
            };
            let Self {
                reads,
                programs,
                held,
                ..
            } = self;
            let free = |waiting: &Waiting| waiting.rank < erases;
            gather(programs, planes, free, |taken| {
                command.push(taken.operation);
                if *held > 0 {
                    *held -= release(reads, taken.rank);
                }
            });
        }
        !command.is_empty()
    }
}

/// Which of a queue go together.
#[derive(Clone, Copy)]
struct Planes {
    /// At most so many.
    together: u32,
    /// None that has an earlier one of its plane before it.
    in_order: bool,
}

/// Takes from `queue` the first that is `free`, and those that go with it.
fn gather(
    queue: &mut VecDeque<Waiting>,
    planes: Planes,
    free: impl Fn(&Waiting) -> bool,
    mut take: impl FnMut(Waiting),
) {
    let mut offset = None;
    // A bit for each plane; beyond 64 planes several share one, and fewer go together.
    let (mut settled, mut count) = (0u64, 0);
    let mut position = 0;
    while count < planes.together
        && let Some(waiting) = queue.get(position)
    {
        let Operation { plane, page, .. } = waiting.operation;
        let bit = 1u64 << (plane % 64);
        let joins = settled & bit == 0 && offset.is_none_or(|offset| offset == page);
        let joins = joins && free(waiting);
        if joins || planes.in_order {
            count += u32::from(settled & bit == 0);
            settled |= bit;
        }
        if joins && let Some(taken) = queue.remove(position) {
            offset = Some(page);
            take(taken);
        } else {
            position += 1;
        }
    }
}

/// Lets the reads go that wait for the program of `rank`; how many.
fn release(reads: &mut VecDeque<Waiting>, rank: u64) -> usize {
    let mut released = 0;
    for read in reads {
        if read.after == Some(rank) {
            read.after = None;
            released += 1;
        }
    }
    released
}
