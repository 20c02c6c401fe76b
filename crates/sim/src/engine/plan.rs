//! Converts the operations of a die into flash commands, if commands are timed one by one.

use std::collections::VecDeque;

use destage_base::Ticks;
use destage_device::Units;
use destage_nand::array::Ppn;
use destage_nand::divide::Divider;
use destage_nand::medium::{FlashCommand, Pass};
use destage_nand::{Cause, Geometry, Kind, Operation, Operations, Timing, Transfer};

use crate::explain::moves;

/// The fraction of the golden ratio, in parts of 2^32. Its multiples are spread evenly over all numbers (Knuth, The Art of
/// Computer Programming 3, section 6.4).
const GOLDEN_RATIO: u32 = 0x9E37_79B9;

/// How pages are arranged in blocks and cells.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Number of page types. A table of times has an entry for each type, then an entry for a first pass, then an
    /// entry for a page in cells of one bit. A table for reads can have three further groups, with an entry for each
    /// type: for reads while the drive is loaded, for pages that are read again, and for pages that are read again
    /// while the drive is loaded.
    pub page_types: u32,
    /// The share of pages that are read again, in parts of 2^32.
    pub retried_share: u32,
    /// The units of pages that are programmed together, if there are units.
    pub units: Option<Units>,
    /// Number of units of the mapping that share a page of flash; 1 if a unit is a page of flash.
    pub units_per_page: u32,
    /// Whether the types of the pages of a block alternate from the first page on.
    pub types_in_turn: bool,
}

/// A command on one page, one unit or one block.
#[derive(Clone, Copy)]
pub(super) struct Planned {
    pub kind: Kind,
    /// Ticks for which the data of the command occupy the channel. 0 for an erase. `None` for the read and the
    /// program of a copy inside a die.
    pub data: Option<Ticks>,
    pub plane: u32,
    /// Block of the plane.
    pub block: u32,
    /// Page of the block; for a unit, its last page.
    pub page: u32,
    pub page_type: u32,
    /// Whether the command only moves data over the channel. Another command programs these data, or has read them
    /// from the cells.
    pub loads: bool,
    /// Whether the command moves or erases existing contents, and serves no request.
    pub moves: bool,
}

impl Planned {
    /// Whether the command programs or erases cells.
    pub fn changes(&self) -> bool {
        self.kind != Kind::Read && !self.loads
    }
}

/// Converts operations of dies into commands.
pub(super) struct Planner {
    timing: Timing,
    layout: Layout,
    page_bits: u32,
    blocks_per_plane: Divider,
    plane_blocks: u32,
    planes: u32,
    /// For each die and plane: the number of the page of flash in the page register, or `u32::MAX` if the number is
    /// not known. Empty unless several units of the mapping share a page of flash and commands begin in the order in
    /// which they are planned.
    held: Vec<u32>,
    /// Whether the drive was loaded when the latest read of a page began. Then the host's reads take longer; only
    /// transactions that read a page contain such reads.
    pub is_loaded: bool,
}

impl Planner {
    /// A planner for pages arranged by `layout`. `begin_in_order` says whether commands begin in the order in which
    /// they are planned.
    pub fn new(layout: Layout, geometry: &Geometry, timing: Timing, begin_in_order: bool) -> Self {
        Self {
            timing,
            layout,
            page_bits: geometry.page_bits(),
            blocks_per_plane: Divider::new(geometry.blocks_per_plane),
            plane_blocks: geometry.blocks_per_plane,
            planes: geometry.planes,
            held: match layout.units_per_page > 1 && begin_in_order {
                false => Vec::new(),
                true => vec![u32::MAX; (geometry.dies * geometry.planes) as usize],
            },
            is_loaded: false,
        }
    }

    /// Whether pages are programmed in units.
    pub fn has_units(&self) -> bool {
        self.layout.units.is_some()
    }

    /// Whether `operation`, the only flash operation of a page operation, is exactly one command, whatever operations
    /// preceded it. With units, only reads, and operations on cells of one bit, are one command. An erase, which a
    /// trim may cause, is then a step.
    #[inline(always)]
    pub fn is_one(&self, operation: &Operation) -> bool {
        let is_apart = operation.kind == Kind::Read || operation.one_bit;
        self.held.is_empty() && (self.layout.units.is_none() || is_apart)
    }

    /// Whether `operation` is programmed together with the other pages of its unit.
    #[inline(always)]
    fn is_in_unit(&self, operation: &Operation) -> bool {
        self.layout.units.is_some() && operation.kind == Kind::Program && !operation.one_bit
    }

    /// The command for `operation`, if it is [one](Planner::is_one).
    #[inline(always)]
    pub fn one(&self, operation: &Operation) -> Planned {
        let (plane, block) = self
            .blocks_per_plane
            .split(operation.at.0 >> self.page_bits);
        let page = operation.at.0 & ((1 << self.page_bits) - 1);
        Planned {
            kind: operation.kind,
            data: match operation.transfer {
                Transfer::None => (operation.kind == Kind::Erase).then_some(0),
                Transfer::Page => Some(self.timing.page_transfer),
                Transfer::Sector => Some(self.timing.sector_transfer),
                Transfer::TwoPages => Some(2 * self.timing.page_transfer),
            },
            plane,
            block,
            page,
            page_type: match operation.one_bit {
                true => self.layout.page_types + 1,
                false => self.layout.page_type(page) + self.longer(operation),
            },
            loads: false,
            moves: moves(operation),
        }
    }

    /// The number of entries between the time of a read of its type and the time of this read, in the table of times. It is
    /// 0 unless the drive is loaded or the page has to be read again.
    #[inline(always)]
    fn longer(&self, operation: &Operation) -> u32 {
        if operation.kind != Kind::Read || !(self.is_loaded || self.layout.retried_share > 0) {
            return 0;
        }
        let loaded = self.is_loaded && operation.cause == Cause::Host;
        let is_retried = self.layout.is_retried(operation.at);
        match (is_retried, loaded) {
            (false, false) => 0,
            (false, true) => self.layout.page_types + 2,
            (true, false) => 2 * self.layout.page_types + 2,
            (true, true) => 3 * self.layout.page_types + 2,
        }
    }

    /// Adds the commands for `operations` of `die` to `commands`, in order. `collect` says whether the operations
    /// collect garbage.
    pub fn plan(
        &mut self,
        die: u32,
        operations: &Operations,
        collect: bool,
        commands: &mut VecDeque<Planned>,
    ) {
        for operation in operations.all() {
            let mut command = self.one(operation);
            command.moves |= collect;
            command.loads = !self.held.is_empty() && self.is_held(die, operation, command.plane);
            match self.layout.units {
                Some(units) if self.is_in_unit(operation) => {
                    self.plan_in_unit(units, operation.at, command, commands);
                }
                _ => commands.push_back(command),
            }
        }
    }

    /// Whether `operation` of `die` reads a page of flash that the page register of `plane` already holds. Notes
    /// the new contents of the register.
    #[cold]
    fn is_held(&mut self, die: u32, operation: &Operation, plane: u32) -> bool {
        let page = operation.at.0 & ((1 << self.page_bits) - 1);
        let held = &mut self.held[(die * self.planes + plane) as usize];
        // The number of the first page of the block, plus the position of the page of flash in the block.
        let wanted = (operation.at.0 - page) + page / self.layout.units_per_page;
        match operation.kind {
            Kind::Read if operation.transfer == Transfer::Page => {
                std::mem::replace(held, wanted) == wanted
            }
            _ => {
                *held = u32::MAX;
                false
            }
        }
    }

    /// Adds the commands for the program of the page at `at`, which is programmed together with the other pages of
    /// its unit.
    fn plan_in_unit(
        &self,
        units: Units,
        at: Ppn,
        command: Planned,
        commands: &mut VecDeque<Planned>,
    ) {
        if !units.is_last(at) {
            commands.push_back(Planned {
                loads: true,
                ..command
            });
            return;
        }
        commands.extend(units.commands(at).map(|of_unit| match of_unit.pass {
            Pass::Only => command,
            Pass::First => Planned {
                page_type: self.layout.page_types,
                ..command
            },
            // The second pass needs the data of the whole unit again.
            Pass::Second => {
                let page = of_unit.at.0 & ((1 << self.page_bits) - 1);
                Planned {
                    page,
                    page_type: self.layout.page_type(page),
                    data: Some(u64::from(units.pages) * self.timing.page_transfer),
                    ..command
                }
            }
        }));
    }

    /// A command of this kind on `page` of `block` of `plane`, as reported to the probe; `None` if it only
    /// [loads](Planned::loads) data that another command programs.
    pub fn told(
        &self,
        kind: Kind,
        (plane, block, page): (u32, u32, u32),
        page_type: u32,
        loads: bool,
    ) -> Option<FlashCommand> {
        let at = Ppn((plane * self.plane_blocks + block) << self.page_bits | page);
        let by_itself = FlashCommand {
            kind,
            at,
            pages: 1,
            pass: Pass::Only,
        };
        match (kind, self.layout.units) {
            (Kind::Program, _) if loads => None,
            (Kind::Program, Some(units)) if page_type <= self.layout.page_types => {
                Some(FlashCommand {
                    pages: units.pages,
                    pass: match units.passes {
                        1 => Pass::Only,
                        _ if page_type == self.layout.page_types => Pass::First,
                        _ => Pass::Second,
                    },
                    ..by_itself
                })
            }
            _ => Some(by_itself),
        }
    }

    /// The command `planned`, as reported to the probe.
    pub fn told_of(&self, planned: &Planned) -> Option<FlashCommand> {
        let place = (planned.plane, planned.block, planned.page);
        self.told(planned.kind, place, planned.page_type, planned.loads)
    }
}

impl Layout {
    /// Whether the page of flash that holds the page at `at` is read again: as many pages as
    /// [`retried_share`](Self::retried_share) says, spread over all blocks.
    #[inline(always)]
    fn is_retried(&self, at: Ppn) -> bool {
        let page_of_flash = at.0 / self.units_per_page;
        page_of_flash.wrapping_mul(GOLDEN_RATIO) < self.retried_share
    }

    /// The type of the page of flash that holds page `page` of a block, from 0.
    #[inline(always)]
    pub fn page_type(&self, page: u32) -> u32 {
        let page = match self.units_per_page {
            1 => page,
            units => page / units,
        };
        match self.types_in_turn {
            true => page % self.page_types,
            false => page_type(page, self.page_types),
        }
    }
}

/// The type of page `page` of a block whose cells hold `types` pages. With three types, a block begins with pages
/// of the first and the second type, as in MQSim and FEMU.
#[inline(always)]
fn page_type(page: u32, types: u32) -> u32 {
    match (types, page) {
        (3, 0..=5) => 0,
        (3, 6..=7) => 1,
        (3, _) => (page - 8) / 2 % 3,
        _ => page % types,
    }
}
