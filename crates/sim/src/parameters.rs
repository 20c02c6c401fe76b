//! The parameters of a run that belong to no scheme and no FTL: the parameters of device, host and run.
//!
//! Parameters of schemes, FTLs, traces and workloads are declared next to their code. [`crate::settings`]
//! combines all of them.

use destage_base::parameter::{CountOrAuto, Kind, Parameter};
use destage_base::{choices, parameters};
use destage_device::{Ordering, ServiceOrder};

use crate::engine::{Replay, Window};
use crate::events::Clock;
use crate::exclusions::*;
use crate::host::{Attribution, Scheduler};
use crate::paging::{AddressMap, Align};
use crate::queues::QueueBy;

const COUNT: Kind = Kind::Integer {
    min: 1,
    max: u32::MAX as u64,
};
const MICROSECONDS: Kind = Kind::Number { min: 0.0, max: 1e9 };
const MICROJOULES: Kind = Kind::Number { min: 0.0, max: 1e9 };
const ENERGIES: &str = "25 mA, the most that Samsung's K9F5608U0C states (ICC2, ICC3; Numonyx NAND01G-B2B: 10 mA typical, 20 mA at most), at 3.3 V for as long as the operation takes";
const NANOSECONDS: Kind = Kind::Number { min: 0.0, max: 1e9 };
const DISKSIM: &str = "DiskSim 4.0 SSD extension, validation parameters";
const OURS: &str = "ours";
/// The condition that the run has a clock.
const CLOCK: &str = "clock";
const FIRMWARE: &str = "device.firmware_ns > 0 or device.firmware_read_ns > 0 or device.firmware_page_ns > 0 or device.firmware_program_ns > 0";
choices! {
    /// The number of bits that each cell stores.
    pub enum CellMode {
        /// All bits that the cells can hold.
        Native = "native",
        /// One bit in each cell (pSLC).
        Pslc = "pslc",
    }
}

choices! {
    /// Rule that selects the operation that a die serves next.
    pub enum Scheduling {
        /// Page operations, in order of arrival.
        Arrival = "arrival",
        /// Page operations: host reads first, up to a limit.
        ReadsFirst = "reads_first",
        /// Page operations: host reads first, and garbage collection last.
        GarbageLast = "garbage_last",
        /// Commands that wait in queues, in order of arrival.
        CommandsArrival = "commands_arrival",
        /// Commands that wait in queues: reads first, up to a limit.
        CommandsReadsFirst = "commands_reads_first",
    }
}

/// Rule that selects the next command among the commands that wait for a die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// Commands do not wait in queues: a die serves one page operation at a time.
    Off,
    /// The command that arrived first.
    Arrival,
    /// Reads first, up to a limit.
    ReadsFirst,
}

impl Scheduling {
    /// The order in which a die serves page operations.
    #[must_use]
    pub fn service(self) -> ServiceOrder {
        match self {
            Self::Arrival | Self::CommandsArrival | Self::CommandsReadsFirst => {
                ServiceOrder::Arrival
            }
            Self::ReadsFirst => ServiceOrder::ReadsFirst,
            Self::GarbageLast => ServiceOrder::GarbageLast,
        }
    }

    /// Whether reads may overtake operations that arrived earlier.
    #[must_use]
    pub fn lets_reads_pass(self) -> bool {
        !matches!(self, Self::Arrival | Self::CommandsArrival)
    }

    /// The rule for commands that wait in queues; [`Dispatch::Off`] if commands do not wait.
    #[must_use]
    pub fn dispatch(self) -> Dispatch {
        match self {
            Self::Arrival | Self::ReadsFirst | Self::GarbageLast => Dispatch::Off,
            Self::CommandsArrival => Dispatch::Arrival,
            Self::CommandsReadsFirst => Dispatch::ReadsFirst,
        }
    }
}

choices! {
    /// Which waiting pages one command reads or programs together.
    pub enum MultiPlane {
        /// Every page has a command of its own.
        Off = "off",
        /// Pages whose joint command keeps the order of programs in every block.
        InOrder = "in_order",
        /// Any pages with the same offset in their blocks.
        AnyOrder = "any_order",
    }
}

choices! {
    /// Whether reads interrupt programs and erases.
    pub enum Suspend {
        /// Reads do not interrupt; they wait.
        Never = "never",
        /// Reads interrupt an operation, which still ends at the planned time. Only the die is busy for longer.
        KeepsEnd = "keeps_end",
        /// Reads interrupt an operation, which ends later by the time of the reads.
        MovesEnd = "moves_end",
    }
}

choices! {
    /// Treatment of a block at the end of its endurance.
    pub enum Wearout {
        /// The block stays in use.
        Ignore = "ignore",
        /// The block is retired and never used again.
        Retire = "retire",
    }
}

choices! {
    /// Whether writes are answered from RAM.
    pub enum VolatileCache {
        /// Writes are answered from RAM.
        On = "on",
        /// Each write is answered when it is durable.
        Off = "off",
    }
}

choices! {
    /// How placement handles share the buffer.
    pub enum ByHandle {
        /// One scheme serves all handles.
        Shared = "shared",
        /// Each handle has a scheme of its own and an equal share of the slots.
        Equal = "equal",
    }
}

choices! {
    /// Effect of a trim.
    pub enum Trim {
        /// The trim drops the pages that it covers completely.
        Default = "default",
        /// The trim writes zeros to its range.
        Strict = "strict",
    }
}

choices! {
    /// State of a page whose program was interrupted.
    pub enum Torn {
        /// The page is unreadable.
        None = "none",
        /// The spare area is readable; each sector holds its old bytes, its new bytes, or garbage.
        Sectors = "sectors",
    }
}

choices! {
    /// The computation of time.
    pub enum Costing {
        /// Time follows from simulated events on dies that work in parallel.
        Event = "event",
        /// Time is the serial sum of all operations.
        OpCount = "op_count",
    }
}

parameters! {
    /// The flash and its channel.
    pub struct Flash in "flash." {
        /// Dies, which work independently of each other.
        dies: u32 = "8" in COUNT, "", DISKSIM;
        /// Planes in a die.
        planes_per_die: u32 = "8" in COUNT, "", DISKSIM;
        /// Blocks in a plane. With auto, the smallest power of two with which the device holds the addresses of the input; if the input can be read
        /// only once, the largest power of two with which the device has at most 2^23 blocks.
        blocks_per_plane: CountOrAuto = "auto" in Kind::CountOrAuto { min: 1, max: u32::MAX }, "", OURS, needs &["flash"];
        /// Pages in a block, including the summary page if there is one.
        pages_per_block: u32 = "64" in Kind::Integer { min: 1, max: 1 << 15 }, "pages", DISKSIM;
        /// Bytes of data in a page: a multiple of 512. The buffer has pages of the same size.
        page_bytes: u64 = "4096" in Kind::Bytes { min: 512, max: 1 << 24 }, "bytes", DISKSIM;
        /// The last page of each block holds metadata and no data.
        summary_page: bool = "false", "", "true in DiskSim's SSD extension", excludes SUMMARY;
        /// Bytes that cross the channel with each 512 bytes of data.
        spare_bytes_per_sector: u32 = "0" in Kind::Integer { min: 0, max: 512 }, "bytes", "16 in DiskSim's SSD extension", needs &["flash"];
        /// Valid pages are moved inside their plane, without crossing the channel.
        copy_back: bool = "true", "", DISKSIM, needs &["flash"];
        /// Groups of planes that work in parallel within a die; the number has to divide the number of planes.
        parallel_units: u32 = "1" in COUNT, "", DISKSIM, needs &[CLOCK, "plane-groups and flash.copy_back = true", "ftl.placement = stripe"];
        /// Time to move a page from the cells to the page register.
        read_us: f64 = "25" in MICROSECONDS, "us", DISKSIM, needs &["flash"];
        /// Time to program the cells from the page register.
        program_us: f64 = "200" in MICROSECONDS, "us", DISKSIM, needs &["flash"];
        /// Times of a read in microseconds, one for each type of page, separated by /. They replace flash.read_us.
        read_times_us: String = "", "us", "none: one type of page", needs &[CLOCK];
        /// Times of a program for each type of page, in place of flash.program_us.
        program_times_us: String = "", "us", "none: one type of page; FEMU's TLC: 820.5, 2225 and 5734 us", needs &[CLOCK];
        /// Consecutive pages of a block that one program writes. The program begins when the last of these pages has
        /// arrived. Until then, the earlier pages wait, and so do requests that need the slots of these pages. All
        /// pages of the unit together need the time of one program.
        program_unit: u32 = "1" in COUNT, "pages", "1: each page by itself; a word line of TLC has 3", needs &["clock or whole-units or fillers"], excludes UNITS;
        /// Number of passes in which a unit is programmed. With 2, the first pass (flash.first_pass_us) begins when
        /// the unit is full. The second pass (flash.program_us) begins when the next unit of the block has had its
        /// first pass.
        program_passes: u32 = "1" in Kind::Integer { min: 1, max: 2 }, "", "1; 2: QLC flash that is programmed coarsely and then finely", needs &["clock or fillers"], excludes UNITS;
        /// Time of the first of two passes.
        first_pass_us: f64 = "0" in MICROSECONDS, "us", "none", needs &[CLOCK, "flash.program_passes = 2"];
        /// How long a unit stays open for more pages while its die is idle, if a flush, a force unit access or a
        /// write that bypasses the buffer waits for one of its pages; after that time filler pages complete the unit.
        /// 0: fillers complete the unit at once.
        unit_wait_us: f64 = "0" in MICROSECONDS, "us", OURS, needs &[CLOCK, "units"];
        /// Time to erase a block.
        erase_us: f64 = "1500" in MICROSECONDS, "us", DISKSIM, needs &["flash"];
        /// Energy of reading a page from the cells. The energies of flash matter only for the capacitor (device.plp).
        read_uj: f64 = "2.1" in MICROJOULES, "uJ", ENERGIES, needs &["bytes and device.plp != none|failed"];
        /// Energy of programming a page.
        program_uj: f64 = "16.5" in MICROJOULES, "uJ", ENERGIES, needs &["bytes and device.plp != none|failed"];
        /// Energy of erasing a block.
        erase_uj: f64 = "124" in MICROJOULES, "uJ", ENERGIES, needs &["bytes and device.plp != none|failed"];
        /// Energy of a byte on the channel.
        transfer_uj_per_byte: f64 = "0.002" in MICROJOULES, "uJ", ENERGIES, needs &["bytes and device.plp != none|failed"];
        /// Bits that a cell holds. The value is used for flash.cell_mode=pslc, and for device.paired_loss, where it is the
        /// number of pages that share a word line.
        bits_per_cell: u32 = "1" in Kind::Integer { min: 1, max: 8 }, "bits", OURS, needs &["flash.cell_mode = pslc or cell-modes or bytes and device.paired_loss > 0"];
        /// Whether cells hold all their bits, or one bit (pSLC). With one bit, a block has pages_per_block /
        /// bits_per_cell pages, which are read in flash.pslc_read_us and programmed in flash.pslc_program_us.
        cell_mode: CellMode = "native", "", "data sheets of TLC and QLC flash", needs &["one-cell-mode"];
        /// Time to move a page from the cells to the page register, with one bit a cell.
        pslc_read_us: f64 = "25" in MICROSECONDS, "us", "orders of magnitude", needs &["flash.cell_mode = pslc or cell-modes"];
        /// Time to program the cells from the page register, with one bit a cell.
        pslc_program_us: f64 = "200" in MICROSECONDS, "us", "orders of magnitude", needs &["flash.cell_mode = pslc or cell-modes"];
        /// Number of channels. All channels have the same number of dies; with auto, each die has a channel of its
        /// own. Consecutive dies are on different channels.
        channels: CountOrAuto = "auto" in Kind::CountOrAuto { min: 1, max: u32::MAX }, "", "auto: DiskSim 4.0 SSD extension", needs &[CLOCK];
        /// Time that command and address of a flash command occupy the channel.
        command_ns: f64 = "0" in Kind::Number { min: 0.0, max: 1e9 }, "ns", "FEMU's media layer: 1000 in its examples, off by default", needs &[CLOCK];
        /// Time that the status of a program, a read or an erase occupies the channel.
        status_ns: f64 = "0" in Kind::Number { min: 0.0, max: 1e9 }, "ns", "FEMU's media layer, off by default", needs &[CLOCK];
        /// Which operation a die serves next. arrival: page operations in order of arrival, except that garbage
        /// collection that is due comes first. reads_first: host reads first, then all other operations as with
        /// arrival. garbage_last: host reads first, and garbage collection after all others as long as there is room
        /// (docs/SPEC.md, Order of service). commands_arrival and commands_reads_first: commands wait in queues until
        /// channel and die are free, and are served in order of arrival or reads first (docs/SPEC.md, Commands
        /// dispatched).
        scheduling: Scheduling = "arrival", "", "arrival: DiskSim 4.0 SSD extension; garbage_last: MQSim, whose order is mapping, urgent collection, reads, writes, collection; commands_reads_first: MQSim (FAST 2018)", needs &[CLOCK];
        /// Largest number of host reads that may overtake a waiting operation of the same die; then this
        /// operation is served.
        read_starvation_limit: u32 = "16" in COUNT, "reads", OURS, needs &[CLOCK, "flash.scheduling = reads_first|garbage_last|commands_reads_first"];
        /// Whether a read interrupts a program or an erase of its die. never: it does not. keeps_end: the interrupted
        /// operation ends at the time that was planned, and its die is busy for longer. moves_end: the interrupted
        /// operation ends later by the time that the reads take.
        suspend: Suspend = "never", "", "keeps_end: FEMU's media layer", needs &[CLOCK, "flash.scheduling = reads_first|garbage_last|commands_reads_first"], excludes SUSPENSION;
        /// Time to interrupt a program or an erase.
        suspend_us: f64 = "5" in MICROSECONDS, "us", "FEMU's media layer, its examples", needs &[CLOCK, "flash.suspend != never"];
        /// Largest number of interruptions of a program or an erase; reads that arrive during an interruption are
        /// served within it.
        suspend_limit: u32 = "8" in COUNT, "", OURS, needs &[CLOCK, "flash.suspend != never"];
        /// Length of the pulses in which cells are programmed or erased, counted back from the end; an operation can be interrupted only between two
        /// pulses. 0: at any time.
        suspend_pulse_us: f64 = "0" in MICROSECONDS, "us", "0; 20 to 150 us in enterprise drives, estimated from their read latencies under writes (docs/DRIVES.md)", needs &[CLOCK, "flash.suspend != never"], excludes PULSES;
        /// A program cannot be interrupted during this time before its end. 0: it can be interrupted until its end.
        suspend_tail_us: f64 = "0" in MICROSECONDS, "us", "0; 340 to 952 us in enterprise drives, estimated from their read latencies under writes (docs/DRIVES.md)", needs &[CLOCK, "flash.suspend != never"], excludes PULSES;
        /// Additional time of the cells for a read of a host page while the drive is loaded (device.loaded_pages), in per cent of the time of the page.
        read_loaded_percent: f64 = "0" in Kind::Number { min: 0.0, max: 10_000.0 }, "%", "0; 79 in one of the enterprise drives, estimated from its read latencies under writes (docs/DRIVES.md)", needs &[CLOCK];
        /// Share of the pages of flash whose reads fail at first and are repeated with other voltages (read retry).
        read_retry_percent: f64 = "0" in Kind::Number { min: 0.0, max: 100.0 }, "%", "0; 2 in a SATA drive, estimated from its latencies at depth 1 (docs/DRIVES.md)", needs &[CLOCK];
        /// Time by which the repetitions lengthen such a read.
        read_retry_us: f64 = "50" in MICROSECONDS, "us", OURS, needs &[CLOCK, "flash.read_retry_percent > 0"];
        /// Whether waiting pages of several planes of a die, with one offset in their blocks, share a command: off; in_order, if no page is
        /// programmed before an earlier page of its block; any_order, whenever possible.
        multi_plane: MultiPlane = "off", "", "any_order: MQSim (FAST 2018)", needs &[CLOCK, "flash.scheduling = commands_arrival|commands_reads_first", "flash.parallel_units = 1"], excludes OUT_OF_ORDER;
        /// Time that command and address of a program occupy the channel, where commands wait in queues; flash.command_ns then applies to reads and
        /// erases.
        program_command_ns: f64 = "0" in Kind::Number { min: 0.0, max: 1e9 }, "ns", "MQSim: 361", needs &[CLOCK, "flash.scheduling = commands_arrival|commands_reads_first"];
        /// Time from the end of a read in the cells to its data on the channel, where commands wait in queues.
        ready_ns: f64 = "0" in Kind::Number { min: 0.0, max: 1e9 }, "ns", "MQSim: 20", needs &[CLOCK, "flash.scheduling = commands_arrival|commands_reads_first"];
        /// Time between the planes of a read on several planes.
        plane_gap_read_ns: f64 = "0" in Kind::Number { min: 0.0, max: 1e9 }, "ns", "MQSim: 360", needs &[CLOCK, "flash.multi_plane != off"];
        /// Time between the planes of a program on several planes.
        plane_gap_program_ns: f64 = "0" in Kind::Number { min: 0.0, max: 1e9 }, "ns", "MQSim: 455", needs &[CLOCK, "flash.multi_plane != off"];
        /// A cache register lets a die read the next page while the previous page crosses the channel.
        /// docs/SPEC.md, Cache registers.
        cache_read: bool = "false", "", "ONFI, read cache", needs &[CLOCK], excludes REGISTERS;
        /// Time to move a page from the page register to the cache register, with flash.cache_read (tRCBSY).
        cache_read_busy_us: f64 = "0" in MICROSECONDS, "us", "none; data sheets of ONFI flash have some us", needs &[CLOCK, "flash.cache_read = true"];
        /// A cache register receives the data of a page while the die programs the previous page.
        cache_program: bool = "false", "", "ONFI, program page cache", needs &[CLOCK], excludes REGISTERS;
        /// Time to move a page from the cache register to the page register, with flash.cache_program (tPCBSY).
        cache_program_busy_us: f64 = "0" in MICROSECONDS, "us", "none; data sheets of ONFI flash have some us", needs &[CLOCK, "flash.cache_program = true"];
        /// Time per byte on a channel.
        transfer_ns_per_byte: f64 = "25" in Kind::Number { min: 0.0, max: 1e6 }, "ns", DISKSIM, needs &["flash"];
        /// Erases that a block survives.
        endurance: u32 = "100000" in COUNT, "erases", "SLC, BPLRU (FAST 2008)", needs &["flash.wearout = retire or ftl.gc_policy = wear_aware|greedy_wear"];
        /// Whether a block that has been erased flash.endurance times stays in use, or is never used again.
        wearout: Wearout = "ignore", "", OURS, needs &["flash"];
    }
}

parameters! {
    /// The choice of the translation layer.
    pub struct Layer in "ftl." {
        /// The translation layer; see `destage list ftls`.
        kind: String = "page", "", OURS, excludes NO_FLASH;
        /// Bytes of a unit of the mapping, which is also the page of host and buffer. A page of flash
        /// (flash.page_bytes) holds as many units as fit: they are programmed together, and a read of one unit
        /// reads the whole page. 0: a unit is a page of flash.
        map_unit_bytes: u64 = "0" in Kind::Bytes { min: 0, max: 1 << 24 }, "bytes", "0: DiskSim 4.0 SSD extension; 4096 under pages of 8 and 16 KiB in drives of today (MQSim, FAST 2018)", excludes MAP_UNITS;
    }
}

parameters! {
    /// The host.
    pub struct Host in "host." {
        /// Largest number of requests that the host keeps outstanding at the device.
        queue_depth: u32 = "20" in COUNT, "requests", DISKSIM, needs &[CLOCK];
        /// Which waiting request the host sends next: in cyclic ascending order of addresses, or in order of arrival.
        scheduler: Scheduler = "fifo", "", "clook: DiskSim", needs &[CLOCK], excludes FOREKNOWN;
        /// Time that a sector of 512 bytes occupies the host bus.
        bus_ns_per_sector: f64 = "238.4" in Kind::Number { min: 0.0, max: 1e9 }, "ns", DISKSIM, needs &[CLOCK, "host.link_lane_gb_per_s = 0"];
        /// Whether requests arrive at the times of the trace, or each when an earlier request completes.
        replay: Replay = "trace", "", OURS, needs &[CLOCK];
        /// Time that the thread of the host that issues the requests of a closed loop spends on each request: it collects the
        /// answer, and sends the next request. It serves one request at a time; others wait for it. docs/SPEC.md, Host.
        job_ns: f64 = "0" in NANOSECONDS, "ns", "fio with one job over AHCI: 17000 to 20000, from a measured D3-S4610 (docs/DRIVES.md)", needs &[CLOCK, "host.replay = closed"];
        /// The same time for a read; 0: host.job_ns.
        job_read_ns: f64 = "0" in NANOSECONDS, "ns", "fio with one job over AHCI: 17000, from a measured D3-S4610 (docs/DRIVES.md)", needs &[CLOCK, "host.replay = closed"];
        /// Additional time of that thread for a request whose answer it had to wait for: the thread slept, and was woken.
        job_sleep_ns: f64 = "0" in NANOSECONDS, "ns", "fio with one job over AHCI, one write outstanding: about 10000, from a measured D3-S4610 (docs/DRIVES.md)", needs &[CLOCK, "host.replay = closed"];
        /// Factor by which arrival times are multiplied.
        time_scale: f64 = "1" in Kind::Number { min: 0.0, max: 1e9 }, "", OURS, needs &["host.replay = trace"];
        /// Number of outstanding requests at which the run stops, with a warning; 0: the run never stops for that reason.
        saturation: u64 = "0", "requests", "10000 in DiskSim", needs &[CLOCK];
        /// Request that a completion is credited to: the completed request, or the request that DiskSim finds by
        /// its address.
        attribution: Attribution = "request", "", OURS, needs &[CLOCK];
        /// Number of queues in which requests wait; weighted round robin decides which queue sends next. docs/SPEC.md, Front end.
        queues: u32 = "1" in Kind::Integer { min: 1, max: 256 }, "", "NVMe has up to 65535", needs &[CLOCK], excludes FOREKNOWN;
        /// Weights of the queues, from 1 to 256: one number for all queues, or one number for each queue, separated by /.
        queue_weights: String = "1", "", "NVMe has weighted round robin between classes of queues", needs &[CLOCK, "host.queues > 1"];
        /// Largest number of requests that a queue sends in its turn, for each unit of its weight.
        queue_burst: u32 = "1" in Kind::Integer { min: 1, max: 1 << 16 }, "requests", "the arbitration burst of NVMe", needs &[CLOCK, "host.queues > 1"];
        /// Largest number of requests of one queue in the device at a time; 0: the only limit is host.queue_depth,
        /// which applies to all queues together.
        queue_requests: u32 = "0", "requests", OURS, needs &[CLOCK, "front-end"];
        /// How the queue of a request is chosen: volume, by the number of its volume modulo the queues;
        /// round_robin, by its position in the input modulo the queues.
        queue_by: QueueBy = "volume", "", OURS, needs &[CLOCK, "host.queues > 1"];
        /// Bytes that each lane of the link moves in a nanosecond, in place of host.bus_ns_per_sector; 0: there is no link. docs/SPEC.md, Front end.
        link_lane_gb_per_s: f64 = "0" in Kind::Number { min: 0.0, max: 1e6 }, "GB/s", "MQSim: 1; PCIe 3.0, 4.0, 5.0: 0.985, 1.969, 3.938", needs &[CLOCK];
        /// Lanes of the link.
        link_lanes: u32 = "4" in Kind::Integer { min: 1, max: 32 }, "", "MQSim", needs &[CLOCK, "host.link_lane_gb_per_s > 0"];
        /// Largest number of bytes of data in a packet of the link.
        link_payload_bytes: u32 = "128" in Kind::Integer { min: 1, max: 4096 }, "bytes", "MQSim", needs &[CLOCK, "host.link_lane_gb_per_s > 0"];
        /// Bytes of overhead in each packet.
        link_overhead_bytes: u32 = "28" in Kind::Integer { min: 0, max: 4096 }, "bytes", "MQSim", needs &[CLOCK, "host.link_lane_gb_per_s > 0"];
        /// Energy of a byte on the link, overhead included; for energy.link_mj.
        link_uj_per_byte: f64 = "0" in MICROJOULES, "uJ", "none", needs &[CLOCK, "host.link_lane_gb_per_s > 0"];
    }
}

parameters! {
    /// The promises of the device.
    pub struct Promises in "device." {
        /// Volatile write cache: on, writes are answered from RAM; off, each write is answered when it is durable, as
        /// if it had force unit access.
        vwc: VolatileCache = "on", "", "VWC of NVMe";
        /// What a trim does: drops the pages that it covers completely; or, with strict, writes zeros, so that a flushed trim survives a loss of
        /// power.
        trim: Trim = "default", "", OURS, needs &["trims"], excludes FOREKNOWN_TRIMS;
        /// What an interrupted program leaves when the power fails. none: an unreadable page. sectors: a page whose sectors hold old data, new
        /// data or garbage, and which the mount accepts; only a faulty drive does this.
        torn: Torn = "none", "", OURS, needs &["bytes"];
        /// Probability that an interrupted program destroys the earlier pages of its word line; only a faulty drive does this.
        paired_loss: f64 = "0" in Kind::Number { min: 0.0, max: 1.0 }, "", OURS, needs &["bytes"];
        /// Whether the device keeps enough room free to repeat interrupted programs, however often the power
        /// fails: docs/DURABILITY.md, Room. A served device has this by default, and a run whose power fails has it
        /// always.
        power_may_fail: bool = "false", "", OURS;
        /// Time of a firmware core for each request, before the buffer sees the request.
        firmware_ns: f64 = "0" in NANOSECONDS, "ns", "FEMU's fw_cpu_ns, off by default; NVMeVirt, as a delay: 4000 for a write to a 970 PRO", needs &[CLOCK];
        /// Time of a firmware core for each read; 0: the same as device.firmware_ns.
        firmware_read_ns: f64 = "0" in NANOSECONDS, "ns", "NVMeVirt, as a delay: 21500 for 4 KiB of a 970 PRO", needs &[CLOCK];
        /// Time of a firmware core for each page that is read or written.
        firmware_page_ns: f64 = "0" in NANOSECONDS, "ns", "NVMeVirt, as a delay: 460 for each 4 KiB written to a 970 PRO", needs &[CLOCK];
        /// Time of a firmware core for each program unit (flash.program_unit) that the written pages complete, in addition: for the write that brings
        /// the last page of the unit. docs/SPEC.md, Front end.
        firmware_program_ns: f64 = "0" in NANOSECONDS, "ns", "0; 40,000 in a SATA drive, estimated from its write latencies (docs/DRIVES.md)", needs &[CLOCK];
        /// Number of firmware cores, each of which handles one request at a time.
        firmware_cores: u32 = "1" in Kind::Integer { min: 1, max: 1024 }, "", OURS, needs &[CLOCK, FIRMWARE], excludes FOREKNOWN_CORES;
        /// Energy of a request on a firmware core; for energy.firmware_mj.
        firmware_uj: f64 = "0" in MICROJOULES, "uJ", "none", needs &[CLOCK, FIRMWARE];
        /// Maximum number of commands that the device holds at a time; 0 for no limit. A command beyond this number
        /// waits until another command is answered, and its response time includes this wait.
        command_slots: u32 = "0", "", "no limit", needs &[CLOCK];
        /// Access time of the buffer's DRAM for each page read or written, until the first byte.
        dram_access_ns: f64 = "0" in NANOSECONDS, "ns", "MQSim: 26, tRCD and tCL", needs &[CLOCK];
        /// Time of the buffer's DRAM for each byte of the page.
        dram_ns_per_byte: f64 = "0" in Kind::Number { min: 0.0, max: 1e6 }, "ns", "MQSim: 0.15625, a pair of 4 bytes in 1.25 ns at 800 MT/s", needs &[CLOCK];
        /// Time of the buffer's DRAM for each program of a page or a unit, of the host or of garbage collection. Pages of host requests that need the
        /// DRAM meanwhile wait for it.
        dram_program_ns: f64 = "0" in NANOSECONDS, "ns", "0; 33,000 in one of the enterprise drives, estimated from its write latencies (docs/DRIVES.md)", needs &[CLOCK];
        /// Energy of a byte read from the DRAM or written to it; for energy.dram_mj.
        dram_uj_per_byte: f64 = "0" in MICROJOULES, "uJ", "none", needs &[CLOCK, "device.dram_access_ns > 0 or device.dram_ns_per_byte > 0 or device.dram_program_ns > 0"];
        /// The drive is loaded if the host has written this many pages or more in the last complete window of device.load_window_us.
        loaded_pages: u32 = "1" in COUNT, "pages", OURS, needs &[CLOCK, "flash.read_loaded_percent > 0"];
        /// Length of the windows in which pages are counted for device.loaded_pages.
        load_window_us: f64 = "1000" in Kind::Number { min: 1.0, max: 1e9 }, "us", OURS, needs &[CLOCK, "flash.read_loaded_percent > 0"];
        /// Energy that the capacitor holds when the power fails, in joules; none, for no capacitor; or failed, for a capacitor that turns out empty
        /// when the power fails.
        plp: String = "none", "J", OURS, needs &["bytes"];
    }
}

parameters! {
    /// The kind and the size of the buffer.
    pub struct Ram in "buffer." {
        /// The scheme; see `destage list buffers`.
        kind: String = "lru", "", OURS, excludes LIVE_FUTURE;
        /// RAM for buffered pages; a remainder smaller than a page is not used.
        capacity_bytes: u64 = "8MiB" in Kind::Bytes { min: 0, max: 1 << 44 }, "bytes", "the prototype of BPLRU (FAST 2008)";
        /// How placement handles (ftl.handles) share the buffer: one scheme for all, or a scheme and an equal share of the slots for each.
        by_handle: ByHandle = "shared", "", OURS, needs &["handles", "shares"];
    }
}

parameters! {
    /// How requests become pages.
    pub struct Pages in "trace." {
        /// How requests that do not begin and end at page boundaries become pages. cover: every touched page counts.
        /// nearest: the size is rounded to the nearest number of pages. rmw: as cover, and partly written pages are
        /// read first.
        align: Align = "cover", "", "nearest: EPO (2011)", excludes OTHER_BYTES;
        /// Unit to which requests are aligned before they are divided into pages, a multiple of 512 bytes. With trace.align
        /// = nearest, sizes are rounded to it; with cover and rmw, requests except trims are enlarged to it. 0: nearest
        /// rounds to pages, and the other rules do not enlarge requests.
        align_bytes: u64 = "0" in Kind::Bytes { min: 0, max: 1 << 24 }, "bytes", "4096 in EPO (2011), whatever the page", excludes OTHER_BYTES_LIVE;
        /// What happens to a request beyond the device: it is an error; its address is wrapped round; or all
        /// addresses of the trace are shrunk evenly.
        addr_map: AddressMap = "error", "", "shrink: EPO (2011)", needs &["input"];
    }
}

parameters! {
    /// The run.
    pub struct Run in "sim." {
        /// How time is computed: by events on parallel dies, or as the sum of the times of all operations.
        costing: Costing = "event", "", "op_count: BPLRU (FAST 2008)", needs &["flash"], excludes NO_CLOCK;
        /// Whether reads of merges count in ftl.merge_time_ms.
        merge_time_reads: bool = "false", "", "not in BPAC (MSST 2010)", needs &["merges"];
        /// Whether transfers of merges count in ftl.merge_time_ms: for each copied page, one out of the flash and one
        /// into it.
        merge_time_transfers: bool = "false", "", "not in BPAC (MSST 2010)", needs &["merges"];
        /// Whether the dirty pages that remain in the buffer after the last request are destaged.
        drain: bool = "false", "", "BPLRU (FAST 2008), table 1", needs &["pages"];
        /// Whether a device with a clock continues after the last request until its buffer is clean or its background
        /// work ends; sim.drain then destages the remaining pages.
        run_out: bool = "false", "", OURS, needs &[CLOCK];
        /// Seed of every random choice of workload, scheme and FTL.
        seed: u64 = "1", "", OURS;
        /// Contents of the device before the first request. none: the device is empty. sequential_fill: every
        /// page is written once in order. random_fill:k: as sequential_fill, followed by overwrites of random
        /// pages, k times as many as there are pages. file:PATH: the state that `destage precondition` wrote.
        precondition: String = "sequential_fill", "", DISKSIM, needs &["flash"];
        /// Number of requests at the beginning that are simulated like the others, and left out of all statistics.
        warmup_requests: u64 = "0", "requests", OURS;
        /// When statistics close: when every request is complete, or when the last one arrives.
        window: Window = "complete", "", "last_arrival: DiskSim", needs &[CLOCK];
        /// Largest number of response times that are stored one by one (30 bytes each at the end of the run); if
        /// there are more, percentiles are at most a thousandth too large.
        exact_responses: u32 = "16777216", "", OURS, needs &[CLOCK, "many-requests"];
        /// Whether the run also reports how long pages were dirty (buffer.dirty_age.*); percentiles are at most a
        /// thousandth too large.
        dirty_ages: bool = "false", "", OURS, needs &["pages"];
        /// How times are added: in whole ticks of 0.1 ns, or in double-precision milliseconds with their rounding errors.
        clock: Clock = "exact", "", "double_ms: DiskSim", needs &[CLOCK], excludes DRIFT;
        /// In which order operations on one page take effect: strict, always in the order in which they were
        /// issued; reference, as in the reference simulator, where only padding waits for its reads and a
        /// repeated page of a batch completes at once.
        write_order: Ordering = "strict", "", "reference: DiskSim", needs &[CLOCK], excludes LOSES;
    }
}

parameters! {
    /// Parameters of device, host and run, by their full dotted names.
    pub struct Parameters {
        /// The flash and its channel.
        flash: Flash;
        /// The choice of the translation layer.
        ftl: Layer;
        /// The host.
        host: Host;
        /// The promises of the device.
        device: Promises;
        /// The kind and the size of the buffer.
        buffer: Ram;
        /// How requests become pages.
        trace: Pages;
        /// The run.
        sim: Run;
    }
}

/// The default of `sim.exact_responses`.
pub const EXACT_RESPONSES: u32 = 16_777_216;

/// The rows of [`Parameters`].
pub static PARAMETERS: &[Parameter] = Parameters::ROWS;
