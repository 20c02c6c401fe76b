//! The flash commands that the operations of a die come to, where these are timed one by one.

use std::collections::VecDeque;

use destage_base::Ticks;
use destage_device::Units;
use destage_nand::array::Ppn;
use destage_nand::divide::Divider;
use destage_nand::medium::{FlashCommand, Pass};
use destage_nand::{Geometry, Kind, Operation, Operations, Timing, Transfer};

use crate::explain::moves;

/// How pages lie in blocks and cells.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Types of page. In the tables of times that of a first pass stands behind them, and then that of cells of one bit.
    pub page_types: u32,
    /// Pages that are programmed together, if any are.
    pub units: Option<Units>,
    /// Pages that share a page of flash.
    pub units_per_page: u32,
    /// Pages of flash go through the types in turn from the first on.
    pub types_in_turn: bool,
}

/// A command of one page, of one unit, or of one block.
#[derive(Clone, Copy)]
pub(super) struct Planned {
    pub kind: Kind,
    /// Time of its data on the channel; none if it is half of a copy inside its die.
    pub data: Option<Ticks>,
    pub plane: u32,
    /// Block of the plane.
    pub block: u32,
    /// Page of the block; of a unit its last.
    pub page: u32,
    pub page_type: u32,
    /// Its data come or leave, and the cells have no part in it: another command programs them, or has read them.
    pub loads: bool,
    /// It moves or erases what was there, and serves no request.
    pub moves: bool,
}

impl Planned {
    /// Whether it is a program or an erase of the cells.
    pub fn changes(&self) -> bool {
        self.kind != Kind::Read && !self.loads
    }
}

/// Knows which commands the operations of a die come to.
pub(super) struct Planner {
    timing: Timing,
    layout: Layout,
    page_bits: u32,
    blocks_per_plane: Divider,
    plane_blocks: u32,
    planes: u32,
    /// By die and plane, the number of the page of flash that is in the register; `u32::MAX` if it is not known. Empty unless several units of the
    /// mapping share a page of flash, and commands begin in the order in which they are planned.
    held: Vec<u32>,
}

impl Planner {
    /// Commands `begin_in_order`: as they are planned.
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
        }
    }

    /// Whether pages are programmed in units.
    pub fn has_units(&self) -> bool {
        self.layout.units.is_some()
    }

    /// Whether `operation`, which is all that a page operation does, is one command, whatever was before it. With units an erase, as a trim
    /// may bring it about, is a step, like all that ends by itself and reads nothing.
    #[inline(always)]
    pub fn is_one(&self, operation: &Operation) -> bool {
        let is_apart = operation.kind == Kind::Read || operation.one_bit;
        self.held.is_empty() && (self.layout.units.is_none() || is_apart)
    }

    /// Whether `operation` is programmed with others of its unit.
    #[inline(always)]
    fn is_in_unit(&self, operation: &Operation) -> bool {
        self.layout.units.is_some() && operation.kind == Kind::Program && !operation.one_bit
    }

    /// The command that `operation` is, if it is [one](Planner::is_one).
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
                false => self.layout.page_type(page),
            },
            loads: false,
            moves: moves(operation),
        }
    }

    /// Adds to `commands` those of `operations` of `die`, one after the other; whether they `collect` garbage.
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

    /// Whether `operation` of `die` reads from the page register of `plane`; what is there afterwards.
    #[cold]
    fn is_held(&mut self, die: u32, operation: &Operation, plane: u32) -> bool {
        let page = operation.at.0 & ((1 << self.page_bits) - 1);
        let held = &mut self.held[(die * self.planes + plane) as usize];
        // Of the block with the number of its first page.
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

    /// Adds what the program of the page at `at` comes to where it is programmed with the others of its unit.
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
            // For the second pass the data come again.
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

    /// As what a command of this kind on `page` of `block` of `plane` is told; nothing of one that [loads](Planned::loads) what
    /// another programs.
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

    /// As what `planned` is told.
    pub fn told_of(&self, planned: &Planned) -> Option<FlashCommand> {
        let place = (planned.plane, planned.block, planned.page);
        self.told(planned.kind, place, planned.page_type, planned.loads)
    }
}

impl Layout {
    /// The type of the page of flash with page `page` of a block.
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

/// The type of page `page` of a block whose cells hold pages of `types` types: that of three, which begin with pages of
/// the first and the second type, is the one which MQSim and FEMU have.
#[inline(always)]
fn page_type(page: u32, types: u32) -> u32 {
    match (types, page) {
        (3, 0..=5) => 0,
        (3, 6..=7) => 1,
        (3, _) => (page - 8) / 2 % 3,
        _ => page % types,
    }
}
