//! The operations that wait at a die, and the choice of the operations that form the next command.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use destage_base::Ticks;

use super::line::{Line, Waiting};
use crate::operation::Kind;

/// One page that is read or programmed, or one block that is erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The kind of operation.
    pub kind: Kind,
    /// The die. Dies are numbered channel by channel.
    pub die: u32,
    /// Plane of the die.
    pub plane: u32,
    /// Block of the plane.
    pub block: u32,
    /// Page of the block. The number has no meaning for an erase.
    pub page: u32,
    /// Type of the page: which bit of its cells the page stores.
    pub page_type: u32,
    /// Ticks for which the data of the operation occupy the channel.
    pub data: Ticks,
    /// Whether the operation only transfers data to the die. The cells do nothing, and the operation ends with its
    /// command phase. Never set if planes have cache registers.
    pub loads: bool,
    /// Whether the die may begin the next command before this operation is done, if the cache registers allow it.
    pub caches: bool,
    /// A number by which the driver identifies the operation.
    pub token: u32,
}

/// Which operation is served first, if a read and another operation (a program or an erase) wait at a die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The operation that arrived first.
    Arrival,
    /// The read is served first, up to a limit: when this many read commands in a row have begun while another
    /// operation waited, the other operation is served. 0 means no limit.
    ReadsFirst(u32),
}

/// Which waiting operations are joined to one command on several planes. Joined operations have the same type of
/// page. Except with `Groups`, they also have the same page offset in their blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Together {
    /// No operations are joined.
    Never,
    /// A program is joined only if no earlier program of its plane waits. The pages of a block are then programmed in
    /// the order in which they were requested.
    InOrder,
    /// All operations can be joined, as in MQSim. A page of a block can then be programmed before a page that was
    /// requested earlier.
    AnyOrder,
    /// The planes are divided into groups of this many consecutive planes, and one operation of each group is joined,
    /// at any page offset. A program is joined only if no earlier program of its plane waits.
    Groups(u32),
}

impl Together {
    /// Whether a program is joined only if no earlier program of its plane waits.
    fn keeps_planes(self) -> bool {
        matches!(self, Self::InOrder | Self::Groups(_))
    }
}

/// The rules for the choice of the next command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Whether reads are served before other operations.
    pub order: Order,
    /// Which operations are joined to commands on several planes.
    pub together: Together,
    /// Whether a read of a page whose program waits is served after that program. Otherwise the read may be served
    /// before the program, as in MQSim.
    pub reads_wait: bool,
}

impl Rules {
    /// Whether the commands of a plane begin in the order in which their operations arrived.
    #[must_use]
    pub fn keep_order(&self) -> bool {
        self.order == Order::Arrival && self.together == Together::Never
    }
}

/// The operations that wait at a die.
#[derive(Clone, Default)]
pub(super) struct Queue {
    /// Reads that do not wait for a program.
    reads: Line,
    programs: Line,
    erases: VecDeque<Waiting>,
    /// Reads that wait for a program of the page that they read, each with the rank of that program. The program
    /// arrived before the read, so these reads are never the oldest operation of the die.
    held: Vec<(u64, Waiting)>,
    /// The ranks of the waiting programs, by plane modulo [`PLANES`]. Used only if the programs of a plane are served
    /// in their order.
    in_planes: Vec<VecDeque<u64>>,
    /// Ranks of the programs of the latest command. The list is a field only to reuse its memory.
    taken: Vec<u64>,
    /// Number of ranks assigned so far.
    ranks: u64,
    /// Number of read commands that have begun in a row while a program or an erase waited.
    ahead: u32,
}

/// The kind of the next command: a read if `is_read`, else an erase if `is_erase`, else a program.
struct Turn {
    is_read: bool,
    is_erase: bool,
    /// Whether a program or an erase may be served.
    is_change: bool,
    /// Whether a program or an erase waits.
    others_wait: bool,
    /// The rank of the oldest waiting erase.
    erase: u64,
}

/// A rank larger than every assigned rank. It means that no operation waits.
const NEVER: u64 = u64::MAX;
/// Number of planes that the queue distinguishes. If a die has more planes, planes whose numbers are equal modulo
/// this number count as one plane, so that fewer operations are joined.
const PLANES: u32 = u64::BITS;

/// The plane of an operation, modulo [`PLANES`].
fn plane(waiting: &Waiting) -> usize {
    (waiting.operation.plane % PLANES) as usize
}

/// The bit for the plane of `operation`.
pub(super) fn plane_bit(operation: &Operation) -> u64 {
    1 << (operation.plane % PLANES)
}

fn rank(oldest: Option<&Waiting>) -> u64 {
    oldest.map_or(NEVER, |waiting| waiting.rank)
}

impl Queue {
    /// Whether no operation waits. If an operation waits, there is a next command.
    pub fn is_empty(&self) -> bool {
        // `held` need not be checked: a read in `held` waits for a program in `programs`.
        self.programs.is_empty() && self.reads.is_empty() && self.erases.is_empty()
    }

    #[inline(always)]
    pub fn push(&mut self, operation: Operation, rules: &Rules) {
        let waiting = Waiting {
            operation,
            rank: self.ranks,
        };
        self.ranks += 1;
        match operation.kind {
            Kind::Read => match self.program_before(&operation, rules) {
                Some(program) => self.held.push((program, waiting)),
                None => self.reads.push(waiting),
            },
            Kind::Program => {
                if rules.together.keeps_planes() {
                    self.push_in_plane(&waiting);
                }
                self.programs.push(waiting);
            }
            Kind::Erase => self.erases.push_back(waiting),
        }
    }

    /// The rank of the program that `read` has to wait for.
    #[inline(never)]
    fn program_before(&self, read: &Operation, rules: &Rules) -> Option<u64> {
        let may_wait = rules.reads_wait && !self.programs.is_empty();
        may_wait.then(|| self.programs.last_of(read)).flatten()
    }

    #[inline(never)]
    fn push_in_plane(&mut self, program: &Waiting) {
        let plane = plane(program);
        if self.in_planes.len() <= plane {
            self.in_planes.resize(plane + 1, VecDeque::new());
        }
        self.in_planes[plane].push_back(program.rank);
    }

    /// Which operation is next.
    #[inline(always)]
    fn turn(&self, rules: &Rules) -> Turn {
        let read = rank(self.reads.first());
        // Programs do not overtake an erase, because the erase may be of their block. An erase overtakes no other
        // operation.
        let (program, erase) = (rank(self.programs.first()), rank(self.erases.front()));
        let change = program.min(erase);
        let is_erase = erase < program.min(read);
        let is_change = is_erase || program < erase;
        let is_read = match rules.order {
            _ if read == NEVER => false,
            _ if !is_change => true,
            Order::Arrival => read < change,
            Order::ReadsFirst(most) => most == 0 || self.ahead < most,
        };
        Turn {
            is_read,
            is_erase,
            is_change,
            others_wait: change < NEVER,
            erase,
        }
    }

    /// The first operation of the next command; `None` if no operation waits.
    pub fn next(&self, rules: &Rules) -> Option<&Operation> {
        let turn = self.turn(rules);
        let next = match (turn.is_read, turn.is_erase) {
            (true, _) => self.reads.first(),
            (false, true) => self.erases.front(),
            (false, false) => self.programs.first().filter(|_| turn.is_change),
        };
        next.map(|waiting| &waiting.operation)
    }

    /// Moves the operations of the next command to `command`, which is empty before. The command has at most `planes`
    /// planes.
    pub fn take(&mut self, rules: &Rules, planes: u32, command: &mut Vec<Operation>) {
        let turn = self.turn(rules);
        let planes = match rules.together {
            Together::Never => 1,
            Together::InOrder | Together::AnyOrder => planes,
            Together::Groups(of) => planes.div_ceil(of),
        };
        if turn.is_read {
            self.ahead = if turn.others_wait { self.ahead + 1 } else { 0 };
            gather(
                &mut self.reads,
                (planes, rules.together),
                |_| true,
                |read| command.push(read.operation),
            );
        } else if turn.is_erase {
            self.ahead = 0;
            command.extend(self.erases.pop_front().map(|waiting| waiting.operation));
        } else if turn.is_change {
            self.ahead = 0;
            self.take_programs(planes, turn.erase, rules.together, command);
        }
    }

    /// Moves the first program, and the programs that are joined to it, to `command`. Only programs with a rank below
    /// `erase` may be joined.
    fn take_programs(
        &mut self,
        planes: u32,
        erase: u64,
        together: Together,
        command: &mut Vec<Operation>,
    ) {
        let Self {
            reads,
            programs,
            held,
            in_planes,
            taken,
            ..
        } = self;
        let in_order = together.keeps_planes();
        let is_next = |program: &Waiting| {
            let of_plane =
                |planes: &[VecDeque<u64>]| planes[plane(program)].front() == Some(&program.rank);
            program.rank < erase && (!in_order || of_plane(in_planes))
        };
        taken.clear();
        gather(programs, (planes, together), is_next, |program| {
            command.push(program.operation);
            taken.push(program.rank);
        });
        if in_order {
            for program in command.iter() {
                in_planes[(program.plane % PLANES) as usize].pop_front();
            }
        }
        if !held.is_empty() {
            let released = held.extract_if(.., |(program, _)| taken.contains(program));
            released.for_each(|(_, read)| reads.insert(read));
        }
    }
}

/// Removes the first operation of `line` and the operations that are joined to it, and passes each of them to `take`.
/// Joined operations are of different planes or groups, have the type of page of the first operation, and satisfy
/// `free`. At most `planes` operations are removed.
#[inline]
fn gather(
    line: &mut Line,
    (planes, together): (u32, Together),
    free: impl Fn(&Waiting) -> bool,
    mut take: impl FnMut(&Waiting),
) {
    let Some(first) = line.first() else {
        return;
    };
    take(first);
    let Operation {
        page,
        page_type,
        loads,
        ..
    } = first.operation;
    let group = |waiting: &Waiting| match together {
        Together::Groups(planes) => 1_u64 << (waiting.operation.plane / planes % PLANES),
        _ => 1 << plane(waiting),
    };
    let (mut taken, mut count) = (group(first), 1);
    line.drop_first();
    if planes == 1 || line.is_empty() {
        return;
    }
    let joins = |waiting: &Waiting| {
        if count == planes {
            return None;
        }
        let bit = group(waiting);
        let of = waiting.operation;
        let is_alike = (of.page_type, of.loads) == (page_type, loads);
        let joins = taken & bit == 0 && is_alike && free(waiting);
        if joins {
            taken |= bit;
            count += 1;
            take(waiting);
        }
        Some(joins)
    };
    match together {
        Together::Groups(_) => line.take_any(joins),
        _ => line.take_alike(page, joins),
    }
}
