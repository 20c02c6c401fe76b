//! The parameters of a run that belong to no scheme and no FTL: device, host, run.
//!
//! Those of schemes, FTLs, traces and workloads stand beside their code; [`crate::settings`] joins them.

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
/// The run has a clock.
const CLOCK: &str = "clock";

choices! {
    /// How many bits cells hold.
    pub enum CellMode {
        /// All they can.
        Native = "native",
        /// One.
        Pslc = "pslc",
    }
}

choices! {
    /// What a die does next.
    pub enum Scheduling {
        /// Page operations, in the order in which they came.
        Arrival = "arrival",
        /// Page operations, host reads first, up to a bound.
        ReadsFirst = "reads_first",
        /// The same, and garbage collection last.
        GarbageLast = "garbage_last",
        /// Commands that wait in queues, in the order in which they came.
        CommandsArrival = "commands_arrival",
        /// Commands that wait in queues, reads first, up to a bound.
        CommandsReadsFirst = "commands_reads_first",
    }
}

/// Which of the commands that wait at a die is next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// None waits: a die does one page operation at a time.
    Off,
    /// What came first.
    Arrival,
    /// Reads, up to a bound.
    ReadsFirst,
}

impl Scheduling {
    /// In which order a die does page operations.
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

    /// Whether reads go before what came earlier.
    #[must_use]
    pub fn lets_reads_pass(self) -> bool {
        !matches!(self, Self::Arrival | Self::CommandsArrival)
    }

    /// How commands that wait in queues are dispatched, if they do.
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
    /// Which pages that wait go together.
    pub enum MultiPlane {
        /// None.
        Off = "off",
        /// Those that leave the order of programs in a block as it is.
        InOrder = "in_order",
        /// All of one offset.
        AnyOrder = "any_order",
    }
}

choices! {
    /// Whether reads interrupt programs and erases.
    pub enum Suspend {
        /// They wait.
        Never = "never",
        /// They do, and what they interrupt is done when it would have been: only its die is in use for longer.
        KeepsEnd = "keeps_end",
        /// They do, and what they interrupt is done so much later.
        MovesEnd = "moves_end",
    }
}

choices! {
    /// What becomes of a block at the end of its endurance.
    pub enum Wearout {
        /// It is used on.
        Ignore = "ignore",
        /// It is never used again.
        Retire = "retire",
    }
}

choices! {
    /// Whether writes are answered from RAM.
    pub enum VolatileCache {
        /// They are.
        On = "on",
        /// Each is answered when it is durable.
        Off = "off",
    }
}

choices! {
    /// How placement handles share the buffer.
    pub enum ByHandle {
        /// One scheme for all.
        Shared = "shared",
        /// Each has a scheme of its own, and as many slots as the others.
        Equal = "equal",
    }
}

choices! {
    /// What a trim does.
    pub enum Trim {
        /// Drops the pages it covers whole.
        Default = "default",
        /// Writes zeros there.
        Strict = "strict",
    }
}

choices! {
    /// What a program that is cut off leaves.
    pub enum Torn {
        /// An unreadable page.
        None = "none",
        /// Its spare area, and of each sector what was there, what was to be there, or nonsense.
        Sectors = "sectors",
    }
}

choices! {
    /// How time passes.
    pub enum Costing {
        /// By events on parallel dies.
        Event = "event",
        /// As the serial sum of all operations.
        OpCount = "op_count",
    }
}

parameters! {
    /// The flash and its channel.
    pub struct Flash in "flash." {
        /// Independently working flash packages.
        dies: u32 = "8" in COUNT, "", DISKSIM;
        /// Planes in a die.
        planes_per_die: u32 = "8" in COUNT, "", DISKSIM;
        /// Blocks in a plane; auto: the smallest power of two with which the device holds the addresses of the input, or, where that can be read only once, the largest that starts at once.
        blocks_per_plane: CountOrAuto = "auto" in Kind::CountOrAuto { min: 1, max: u32::MAX }, "", OURS;
        /// Pages in a block, the summary page included if there is one.
        pages_per_block: u32 = "64" in Kind::Integer { min: 1, max: 1 << 15 }, "pages", DISKSIM;
        /// Bytes of data in a page: a multiple of 512. Also the page of the buffer.
        page_bytes: u64 = "4096" in Kind::Bytes { min: 512, max: 1 << 24 }, "bytes", DISKSIM;
        /// The last page of each block holds metadata and no data.
        summary_page: bool = "false", "", "true in DiskSim's SSD extension", excludes SUMMARY;
        /// Bytes that cross the channel with each 512 bytes of data.
        spare_bytes_per_sector: u32 = "0" in Kind::Integer { min: 0, max: 512 }, "bytes", "16 in DiskSim's SSD extension", needs &["flash"];
        /// Valid pages are moved inside their plane, without crossing the channel.
        copy_back: bool = "true", "", DISKSIM, needs &["flash"];
        /// Groups of planes of a die that work side by side; divides the planes.
        parallel_units: u32 = "1" in COUNT, "", DISKSIM, needs &[CLOCK, "plane-groups and flash.copy_back = true", "ftl.placement = stripe"];
        /// Cells to page register.
        read_us: f64 = "25" in MICROSECONDS, "us", DISKSIM, needs &["flash"];
        /// Page register to cells.
        program_us: f64 = "200" in MICROSECONDS, "us", DISKSIM, needs &["flash"];
        /// Times of a read by type of the page in its cell, in microseconds with / between them, in place of flash.read_us.
        read_times_us: String = "", "us", "none: one type of page", needs &[CLOCK];
        /// Times of a program by type of page, in place of flash.program_us.
        program_times_us: String = "", "us", "none: one type; FEMU's TLC: 820.5, 2225 and 5734 us", needs &[CLOCK];
        /// Pages of a block, one after the other, that are programmed together when the last of them is there; the others wait for it, and so does who waits for them. A program then takes its time once for all of them.
        program_unit: u32 = "1" in COUNT, "pages", "1: each by itself; a word line of TLC has 3", needs &[CLOCK], excludes UNITS;
        /// Passes in which a unit is programmed: 2, a first one when it is full, and the one of flash.program_us when the next unit of its block has had its first.
        program_passes: u32 = "1" in Kind::Integer { min: 1, max: 2 }, "", "1; 2: QLC flash that is programmed coarsely and then finely", needs &[CLOCK], excludes UNITS;
        /// First of two passes.
        first_pass_us: f64 = "0" in MICROSECONDS, "us", "none", needs &[CLOCK, "flash.program_passes = 2"];
        /// How long a unit with pages that a flush, force unit access or a write past the buffer waits for stays open while its die has nothing to do; then fillers complete it. 0: at once.
        unit_wait_us: f64 = "0" in MICROSECONDS, "us", OURS, needs &[CLOCK, "units"];
        /// Erase of a block.
        erase_us: f64 = "1500" in MICROSECONDS, "us", DISKSIM, needs &["flash"];
        /// Energy of reading a page from the cells. Energies matter only for what a capacitor pays for.
        read_uj: f64 = "2.1" in MICROJOULES, "uJ", ENERGIES, needs &["bytes and device.plp != none|failed"];
        /// Energy of programming a page.
        program_uj: f64 = "16.5" in MICROJOULES, "uJ", ENERGIES, needs &["bytes and device.plp != none|failed"];
        /// Energy of erasing a block.
        erase_uj: f64 = "124" in MICROJOULES, "uJ", ENERGIES, needs &["bytes and device.plp != none|failed"];
        /// Energy of a byte on the channel.
        transfer_uj_per_byte: f64 = "0.002" in MICROJOULES, "uJ", ENERGIES, needs &["bytes and device.plp != none|failed"];
        /// Bits a cell holds; matters for flash.cell_mode=pslc, and for device.paired_loss: so many pages share a word line.
        bits_per_cell: u32 = "1" in Kind::Integer { min: 1, max: 8 }, "bits", OURS, needs &["flash.cell_mode = pslc or cell-modes or bytes and device.paired_loss > 0"];
        /// Cells hold all their bits, or one (pSLC): a block then has pages_per_block / bits_per_cell pages, read and programmed in the pslc times.
        cell_mode: CellMode = "native", "", "data sheets of TLC and QLC flash", needs &["flash"];
        /// Cells to page register with one bit a cell.
        pslc_read_us: f64 = "25" in MICROSECONDS, "us", "orders of magnitude", needs &["flash.cell_mode = pslc or cell-modes"];
        /// Page register to cells with one bit a cell.
        pslc_program_us: f64 = "200" in MICROSECONDS, "us", "orders of magnitude", needs &["flash.cell_mode = pslc or cell-modes"];
        /// Channels, each shared by as many dies; auto: each die has its own. Dies take channels in turn.
        channels: CountOrAuto = "auto" in Kind::CountOrAuto { min: 1, max: u32::MAX }, "", "auto: DiskSim 4.0 SSD extension", needs &[CLOCK];
        /// Command and address of a flash command on its channel.
        command_ns: f64 = "0" in Kind::Number { min: 0.0, max: 1e9 }, "ns", "FEMU's media layer: 1000 in its examples, off by default", needs &[CLOCK];
        /// Status of a read or an erase on its channel.
        status_ns: f64 = "0" in Kind::Number { min: 0.0, max: 1e9 }, "ns", "FEMU's media layer, off by default", needs &[CLOCK];
        /// What a die does next: arrival, page operations as they came, and garbage collection before them where it is due; reads_first, host reads and then that; garbage_last, host reads, the rest as it came while there is room, and garbage collection last (docs/SPEC.md, Order of service); commands_arrival and commands_reads_first, commands that wait in queues until channel and die are free, as they came or reads first (docs/SPEC.md, Commands dispatched).
        scheduling: Scheduling = "arrival", "", "arrival: DiskSim 4.0 SSD extension; garbage_last: MQSim, whose order is mapping, urgent collection, reads, writes, collection; commands_reads_first: MQSim (FAST 2018)", needs &[CLOCK];
        /// Host reads that may go ahead of something else that waits at their die: after so many it is its turn.
        read_starvation_limit: u32 = "16" in COUNT, "reads", OURS, needs &[CLOCK, "flash.scheduling = reads_first|garbage_last|commands_reads_first"];
        /// Reads that go ahead interrupt a program or an erase of their die: never; keeps_end: it is done when it would have been, and its die in use for longer; moves_end: it is done so much later.
        suspend: Suspend = "never", "", "keeps_end: FEMU's media layer", needs &[CLOCK, "flash.scheduling = reads_first|garbage_last|commands_reads_first"], excludes SUSPENSION;
        /// Time to interrupt a program or an erase.
        suspend_us: f64 = "5" in MICROSECONDS, "us", "FEMU's media layer, its examples", needs &[CLOCK, "flash.suspend != never"];
        /// How often one program or erase is interrupted; reads that come meanwhile join.
        suspend_limit: u32 = "8" in COUNT, "", OURS, needs &[CLOCK, "flash.suspend != never"];
        /// Cells that program or erase work in pulses of this length, counted back from the end, and stop for a read only between two of them. 0: anywhere.
        suspend_pulse_us: f64 = "0" in MICROSECONDS, "us", "0; 6 to 150 us in enterprise drives, as their reads under writes say (docs/DRIVES.md)", needs &[CLOCK, "flash.suspend != never"], excludes PULSES;
        /// A program is not interrupted in its last part, of this length. 0: it always is.
        suspend_tail_us: f64 = "0" in MICROSECONDS, "us", "0; 300 to 480 us in enterprise drives, as their reads under writes say (docs/DRIVES.md)", needs &[CLOCK, "flash.suspend != never"], excludes PULSES;
        /// Pages that wait at a die go as one command if they are of several planes and have one offset in their blocks: off; in_order, where no page is programmed before an earlier one of its block; any_order, wherever it can be.
        multi_plane: MultiPlane = "off", "", "any_order: MQSim (FAST 2018)", needs &[CLOCK, "flash.scheduling = commands_arrival|commands_reads_first", "flash.parallel_units = 1"], excludes OUT_OF_ORDER;
        /// Command and address of a program, where commands wait in queues; flash.command_ns is then that of reads and erases.
        program_command_ns: f64 = "0" in Kind::Number { min: 0.0, max: 1e9 }, "ns", "MQSim: 361", needs &[CLOCK, "flash.scheduling = commands_arrival|commands_reads_first"];
        /// From the cells of a read to its data, where commands wait in queues.
        ready_ns: f64 = "0" in Kind::Number { min: 0.0, max: 1e9 }, "ns", "MQSim: 20", needs &[CLOCK, "flash.scheduling = commands_arrival|commands_reads_first"];
        /// Between the planes of a read on several.
        plane_gap_read_ns: f64 = "0" in Kind::Number { min: 0.0, max: 1e9 }, "ns", "MQSim: 360", needs &[CLOCK, "flash.multi_plane != off"];
        /// Between the planes of a program on several.
        plane_gap_program_ns: f64 = "0" in Kind::Number { min: 0.0, max: 1e9 }, "ns", "MQSim: 455", needs &[CLOCK, "flash.multi_plane != off"];
        /// A cache register lets a die read on while the page before leaves. docs/SPEC.md, Cache registers.
        cache_read: bool = "false", "", "ONFI, read cache", needs &[CLOCK], excludes REGISTERS;
        /// From page register to cache register, with flash.cache_read (tRCBSY).
        cache_read_busy_us: f64 = "0" in MICROSECONDS, "us", "none; data sheets of ONFI flash have some us", needs &[CLOCK, "flash.cache_read = true"];
        /// A cache register takes the data of a program while its die programs the page before.
        cache_program: bool = "false", "", "ONFI, program page cache", needs &[CLOCK], excludes REGISTERS;
        /// From cache register to page register, with flash.cache_program (tPCBSY).
        cache_program_busy_us: f64 = "0" in MICROSECONDS, "us", "none; data sheets of ONFI flash have some us", needs &[CLOCK, "flash.cache_program = true"];
        /// A channel, per byte.
        transfer_ns_per_byte: f64 = "25" in Kind::Number { min: 0.0, max: 1e6 }, "ns", DISKSIM, needs &["flash"];
        /// Erases a block survives.
        endurance: u32 = "100000" in COUNT, "erases", "SLC, BPLRU (FAST 2008)", needs &["flash.wearout = retire or ftl.gc_policy = wear_aware|greedy_wear"];
        /// A block erased flash.endurance times is used on, or never used again.
        wearout: Wearout = "ignore", "", OURS, needs &["flash"];
    }
}

parameters! {
    /// Which translation layer.
    pub struct Layer in "ftl." {
        /// The translation layer; see `destage list ftls`.
        kind: String = "page", "", OURS, excludes NO_FLASH;
        /// Bytes of a unit of the mapping, which is the page of host and buffer: so many of them as fit share a page of flash (flash.page_bytes), are programmed together and read by reading it. 0: a page of flash.
        map_unit_bytes: u64 = "0" in Kind::Bytes { min: 0, max: 1 << 24 }, "bytes", "0: DiskSim 4.0 SSD extension; 4096 under pages of 8 and 16 KiB in drives of today (MQSim, FAST 2018)", excludes MAP_UNITS;
    }
}

parameters! {
    /// The host.
    pub struct Host in "host." {
        /// Requests kept outstanding at the device.
        queue_depth: u32 = "20" in COUNT, "requests", DISKSIM, needs &[CLOCK];
        /// Which waiting request is sent next: cyclic ascending by address, or in arrival order.
        scheduler: Scheduler = "fifo", "", "clook: DiskSim", needs &[CLOCK], excludes FOREKNOWN;
        /// Host bus, per 512-byte sector.
        bus_ns_per_sector: f64 = "238.4" in Kind::Number { min: 0.0, max: 1e9 }, "ns", DISKSIM, needs &[CLOCK, "host.link_lane_gb_per_s = 0"];
        /// Requests arrive by their timestamps, or each when an earlier one completes.
        replay: Replay = "trace", "", OURS, needs &[CLOCK];
        /// Factor on times of arrival.
        time_scale: f64 = "1" in Kind::Number { min: 0.0, max: 1e9 }, "", OURS;
        /// Outstanding requests at which the run stops, and says so; 0: never.
        saturation: u64 = "0", "requests", "10000 in DiskSim", needs &[CLOCK];
        /// Whose response time a completion ends: its own request's, or by DiskSim's look-up by address.
        attribution: Attribution = "request", "", OURS, needs &[CLOCK];
        /// Queues in which requests wait; weighted round robin says whose is sent next. docs/SPEC.md, Front end.
        queues: u32 = "1" in Kind::Integer { min: 1, max: 256 }, "", "NVMe has up to 65535", needs &[CLOCK], excludes FOREKNOWN;
        /// Weights of the queues: one number for all, or one for each with / between them, from 1 to 256.
        queue_weights: String = "1", "", "weighted round robin of NVMe, there by class", needs &[CLOCK, "host.queues > 1"];
        /// Requests of a queue in its turn, for each 1 of its weight.
        queue_burst: u32 = "1" in Kind::Integer { min: 1, max: 1 << 16 }, "requests", "the arbitration burst of NVMe", needs &[CLOCK, "host.queues > 1"];
        /// Requests of one queue in the device at a time; 0: no bound but host.queue_depth, which is that of all together.
        queue_requests: u32 = "0", "requests", OURS, needs &[CLOCK, "host.queues > 1 or host.link_lane_gb_per_s > 0 or device.firmware_ns > 0 or device.firmware_read_ns > 0 or device.firmware_page_ns > 0 or device.dram_access_ns > 0 or device.dram_ns_per_byte > 0"];
        /// The queue of a request: volume, its volume's number modulo the queues; round_robin, its place in the input modulo the queues.
        queue_by: QueueBy = "volume", "", OURS, needs &[CLOCK, "host.queues > 1"];
        /// Bytes a nanosecond of each lane of the link, in place of host.bus_ns_per_sector; 0: no link. docs/SPEC.md, Front end.
        link_lane_gb_per_s: f64 = "0" in Kind::Number { min: 0.0, max: 1e6 }, "GB/s", "MQSim: 1; PCIe 3.0, 4.0, 5.0: 0.985, 1.969, 3.938", needs &[CLOCK];
        /// Lanes of the link.
        link_lanes: u32 = "4" in Kind::Integer { min: 1, max: 32 }, "", "MQSim", needs &[CLOCK, "host.link_lane_gb_per_s > 0"];
        /// Most bytes of data in a packet of the link.
        link_payload_bytes: u32 = "128" in Kind::Integer { min: 1, max: 4096 }, "bytes", "MQSim", needs &[CLOCK, "host.link_lane_gb_per_s > 0"];
        /// Bytes that come with each packet.
        link_overhead_bytes: u32 = "28" in Kind::Integer { min: 0, max: 4096 }, "bytes", "MQSim", needs &[CLOCK, "host.link_lane_gb_per_s > 0"];
        /// Energy of a byte on the link, packets whole; for energy.link_mj.
        link_uj_per_byte: f64 = "0" in MICROJOULES, "uJ", "none", needs &[CLOCK, "host.link_lane_gb_per_s > 0"];
    }
}

parameters! {
    /// What the device promises.
    pub struct Promises in "device." {
        /// Volatile write cache: on, writes are answered from RAM; off, each is answered when it is durable, as if it had force unit access.
        vwc: VolatileCache = "on", "", "VWC of NVMe";
        /// What a trim does: drops the pages it covers whole; strict: writes zeros there, so that a flushed trim survives a loss of power.
        trim: Trim = "default", "", OURS, needs &["trims"];
        /// What a program leaves when the power fails: none, an unreadable page; sectors, a bad drive: some of its sectors, which mount takes.
        torn: Torn = "none", "", OURS, needs &["bytes"];
        /// Probability that a program that is cut off takes the earlier pages of its word line with it: a bad drive.
        paired_loss: f64 = "0" in Kind::Number { min: 0.0, max: 1.0 }, "", OURS, needs &["bytes"];
        /// The device keeps free what programs that are cut off may need, however often the power fails: docs/DURABILITY.md, Room. A served device does unless told otherwise, and one whose power fails in a run always.
        power_may_fail: bool = "false", "", OURS, excludes NO_MOUNT;
        /// A core of the firmware, per request, before the buffer has it.
        firmware_ns: f64 = "0" in NANOSECONDS, "ns", "FEMU's fw_cpu_ns, off by default; NVMeVirt, as a delay: 4000 for a write to a 970 PRO", needs &[CLOCK];
        /// A core of the firmware, per read; 0: as firmware_ns.
        firmware_read_ns: f64 = "0" in NANOSECONDS, "ns", "NVMeVirt, as a delay: 21500 for 4 KiB of a 970 PRO", needs &[CLOCK];
        /// The same per page that is read or written.
        firmware_page_ns: f64 = "0" in NANOSECONDS, "ns", "NVMeVirt, as a delay: 460 for each 4 KiB written to a 970 PRO", needs &[CLOCK];
        /// Cores of the firmware: so many requests at a time.
        firmware_cores: u32 = "1" in Kind::Integer { min: 1, max: 1024 }, "", OURS, needs &[CLOCK, "device.firmware_ns > 0 or device.firmware_read_ns > 0 or device.firmware_page_ns > 0"], excludes FOREKNOWN_CORES;
        /// Energy of a request on a core; for energy.firmware_mj.
        firmware_uj: f64 = "0" in MICROJOULES, "uJ", "none", needs &[CLOCK, "device.firmware_ns > 0 or device.firmware_read_ns > 0 or device.firmware_page_ns > 0"];
        /// DRAM of the buffer, per page that goes in or out: until the first byte.
        dram_access_ns: f64 = "0" in NANOSECONDS, "ns", "MQSim: 26, tRCD and tCL", needs &[CLOCK];
        /// The same per byte of the page.
        dram_ns_per_byte: f64 = "0" in Kind::Number { min: 0.0, max: 1e6 }, "ns", "MQSim: 0.15625, a pair of 4 bytes in 1.25 ns at 800 MT/s", needs &[CLOCK];
        /// Energy of a byte that goes into the DRAM or out of it; for energy.dram_mj.
        dram_uj_per_byte: f64 = "0" in MICROJOULES, "uJ", "none", needs &[CLOCK, "device.dram_access_ns > 0 or device.dram_ns_per_byte > 0"];
        /// Energy of the capacitor when the power fails, in joules; none; or failed: as none, found out too late.
        plp: String = "none", "J", OURS, needs &["bytes"];
    }
}

parameters! {
    /// Which buffer, and how large.
    pub struct Ram in "buffer." {
        /// The scheme; see `destage list buffers`.
        kind: String = "lru", "", OURS, excludes LIVE_FUTURE;
        /// RAM for buffered pages; parts of a page are not used.
        capacity_bytes: u64 = "8MiB" in Kind::Bytes { min: 0, max: 1 << 44 }, "bytes", "the prototype of BPLRU (FAST 2008)";
        /// How placement handles (ftl.handles) share the buffer: one scheme for all, or a scheme and an equal share of the slots for each.
        by_handle: ByHandle = "shared", "", OURS, needs &["handles", "shares"];
    }
}

parameters! {
    /// How requests become pages.
    pub struct Pages in "trace." {
        /// Requests off page boundaries: every touched page whole; as many pages as the size is nearest to; or cover, reading first what is partly written.
        align: Align = "cover", "", "nearest: EPO (2011)", excludes OTHER_BYTES;
        /// Unit that requests are aligned to before pages are made of them: nearest rounds to it, cover and rmw enlarge to it (trims stay as they are). A multiple of 512; 0: nearest rounds to pages, the others enlarge nothing.
        align_bytes: u64 = "0" in Kind::Bytes { min: 0, max: 1 << 24 }, "bytes", "4096 in EPO (2011), whatever the page", excludes OTHER_BYTES_LIVE;
        /// Requests beyond the device: an error, wrapped round, or all addresses shrunk evenly.
        addr_map: AddressMap = "error", "", "shrink: EPO (2011)", needs &["input"];
    }
}

parameters! {
    /// The run.
    pub struct Run in "sim." {
        /// Time by events on parallel dies, or as the serial sum of all operations.
        costing: Costing = "event", "", "op_count: BPLRU (FAST 2008)", needs &["flash"], excludes NO_CLOCK;
        /// The reads of merges count in ftl.merge_time_ms.
        merge_time_reads: bool = "false", "", "not in BPAC (MSST 2010)", needs &["merges"];
        /// The transfers of merges count in ftl.merge_time_ms: out and in again, one page each.
        merge_time_transfers: bool = "false", "", "not in BPAC (MSST 2010)", needs &["merges"];
        /// Destage what is left in the buffer after the last request.
        drain: bool = "false", "", "BPLRU (FAST 2008), table 1", needs &["pages"];
        /// After the last request a device with a clock goes on until it is clean, or has nothing to do by itself; sim.drain then destages the rest.
        run_out: bool = "false", "", OURS, needs &[CLOCK];
        /// Fixes every random choice of workload, scheme and FTL.
        seed: u64 = "1", "", OURS;
        /// Contents of the device before the first request: none; sequential_fill, every page written once in order; or random_fill:k, that and then k times as many overwrites as there are pages, of random pages; or file:PATH, what `destage precondition` wrote.
        precondition: String = "sequential_fill", "", DISKSIM, needs &["flash"];
        /// The first so many requests are simulated as all others, and are left out of all statistics.
        warmup_requests: u64 = "0", "requests", OURS;
        /// When statistics close: when every request is complete, or when the last one arrives.
        window: Window = "complete", "", "last_arrival: DiskSim", needs &[CLOCK];
        /// Response times kept one by one (30 bytes each at the end); with more, percentiles are exact to a thousandth.
        exact_responses: u32 = "16777216", "", OURS, needs &[CLOCK, "many-requests"];
        /// Also report how long pages were dirty, as buffer.dirty_age.*: percentiles are exact to a thousandth.
        dirty_ages: bool = "false", "", OURS, needs &["pages"];
        /// How times are added: in whole ticks of 0.1 ns, or in double-precision milliseconds with their drift.
        clock: Clock = "exact", "", "double_ms: DiskSim", needs &[CLOCK], excludes DRIFT;
        /// Whether effects on one page happen in the order of their emission, always, or as in the reference simulator, where only padding waits for its reads and a repeated page of a batch is done at once.
        write_order: Ordering = "strict", "", "reference: DiskSim", needs &[CLOCK], excludes LOSES;
    }
}

parameters! {
    /// Device, host and run parameters, by their full dotted names.
    pub struct Parameters {
        /// The flash and its channel.
        flash: Flash;
        /// Which translation layer.
        ftl: Layer;
        /// The host.
        host: Host;
        /// What the device promises.
        device: Promises;
        /// Which buffer, and how large.
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
pub const PARAMETERS: &[Parameter] = Parameters::ROWS;
