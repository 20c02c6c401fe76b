//! The list of the features of a device. Tests combine these features in pairs and at random.

use destage_sim::check::Purpose;

/// A feature that a user can turn on.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// The name in reports.
    pub name: &'static str,
    /// The settings that turn the feature on.
    pub pairs: &'static [&'static str],
    /// The purpose of the run, if the feature determines it.
    pub purpose: Option<Purpose>,
    /// Whether the feature makes a run explained.
    pub explains: bool,
}

const fn set(name: &'static str, pairs: &'static [&'static str]) -> Feature {
    Feature {
        name,
        pairs,
        purpose: None,
        explains: false,
    }
}

const fn use_for(name: &'static str, purpose: Purpose) -> Feature {
    Feature {
        name,
        pairs: &[],
        purpose: Some(purpose),
        explains: false,
    }
}

/// All features.
pub const FEATURES: &[Feature] = &[
    set("parallel units", &["flash.parallel_units=2"]),
    set("channels", &["flash.channels=2"]),
    set(
        "types of page",
        &[
            "flash.read_times_us=25/30",
            "flash.program_times_us=200/400",
        ],
    ),
    set("command phase", &["flash.command_ns=300"]),
    set("status phase", &["flash.status_ns=100"]),
    set("reads first", &["flash.scheduling=reads_first"]),
    set("collection last", &["flash.scheduling=garbage_last"]),
    set(
        "queued, as they came",
        &["flash.scheduling=commands_arrival"],
    ),
    set(
        "queued, reads first",
        &["flash.scheduling=commands_reads_first"],
    ),
    set(
        "suspension",
        &["flash.scheduling=reads_first", "flash.suspend=moves_end"],
    ),
    set(
        "suspension between pulses",
        &[
            "flash.scheduling=reads_first",
            "flash.suspend=moves_end",
            "flash.suspend_pulse_us=30",
            "flash.suspend_tail_us=80",
        ],
    ),
    set(
        "several planes",
        &[
            "flash.scheduling=commands_arrival",
            "flash.multi_plane=in_order",
        ],
    ),
    set(
        "cache read",
        &["flash.cache_read=true", "flash.cache_read_busy_us=3"],
    ),
    set(
        "cache program",
        &["flash.cache_program=true", "flash.cache_program_busy_us=3"],
    ),
    set("program units", &["flash.program_unit=2"]),
    set(
        "two passes",
        &["flash.program_passes=2", "flash.first_pass_us=70"],
    ),
    set(
        "units that wait",
        &["flash.program_unit=4", "flash.unit_wait_us=500"],
    ),
    set(
        "map units",
        &["flash.page_bytes=16KiB", "ftl.map_unit_bytes=4096"],
    ),
    set(
        "one bit a cell",
        &["flash.bits_per_cell=2", "flash.cell_mode=pslc"],
    ),
    set("no copy-back", &["flash.copy_back=false"]),
    set("summary page", &["flash.summary_page=true"]),
    set("retired blocks", &["flash.wearout=retire"]),
    set("dynamic placement", &["ftl.placement=dynamic"]),
    set("stride", &["ftl.stride=4"]),
    set("pool of a plane", &["ftl.allocation_pool=plane"]),
    set("wear-aware collection", &["ftl.gc_policy=wear_aware"]),
    set("cost and benefit", &["ftl.gc_policy=cost_benefit"]),
    set(
        "d choices",
        &["ftl.gc_policy=d_choices", "ftl.gc_choices=4"],
    ),
    set(
        "cold data into worn blocks",
        &["ftl.gc_policy=greedy_wear", "ftl.wl_migrate=true"],
    ),
    set("collection in steps", &["ftl.gc_step_pages=4"]),
    set("background collection", &["ftl.background_gc=true"]),
    set(
        "static wear levelling",
        &["ftl.wl=static", "ftl.wl_period=50"],
    ),
    set("handles", &["ftl.handles=2"]),
    set("hot window", &["ftl.hot_window=64"]),
    set("journal", &["ftl.journal_changes=64"]),
    set("reference's ties", &["ftl.victim_ties=reference"]),
    set("power may fail", &["device.power_may_fail=true"]),
    set(
        "capacitor",
        &["device.plp=0.01", "buffer.flush_mode=ignore"],
    ),
    set("no clock", &["sim.costing=op_count"]),
    set("link", &["host.link_lane_gb_per_s=1"]),
    set("host queues", &["host.queues=2"]),
    set(
        "firmware",
        &["device.firmware_ns=100", "device.firmware_cores=2"],
    ),
    set(
        "completed program units",
        &["device.firmware_program_ns=5000"],
    ),
    set("command slots", &["device.command_slots=3"]),
    set("DRAM", &["device.dram_ns_per_byte=0.1"]),
    set(
        "programs through the DRAM",
        &["device.dram_program_ns=5000"],
    ),
    set("slower reads", &["flash.read_loaded_percent=40"]),
    set("pages read again", &["flash.read_retry_percent=5"]),
    set("closed loop", &["host.replay=closed"]),
    set(
        "host's thread",
        &[
            "host.replay=closed",
            "host.job_ns=9000",
            "host.job_sleep_ns=4000",
        ],
    ),
    set("C-LOOK", &["host.scheduler=clook"]),
    set("warm-up", &["sim.warmup_requests=50"]),
    set("reference's clock", &["sim.clock=double_ms"]),
    set("reference's write order", &["sim.write_order=reference"]),
    set("reference's attribution", &["host.attribution=disksim"]),
    set("window to the last arrival", &["sim.window=last_arrival"]),
    set(
        "shares of handles",
        &["buffer.by_handle=equal", "ftl.handles=2"],
    ),
    set("read, modify, write", &["trace.align=rmw"]),
    set("nearest alignment", &["trace.align=nearest"]),
    set("modulo", &["trace.addr_map=modulo"]),
    set("no volatile cache", &["device.vwc=off"]),
    set("strict trim", &["device.trim=strict"]),
    set("drain", &["sim.drain=true"]),
    set("run out", &["sim.run_out=true"]),
    set("dirty ages", &["sim.dirty_ages=true"]),
    set("bypass", &["buffer.bypass_pages=3"]),
    set("background destage", &["buffer.bg_destage=true"]),
    set("slots at issue", &["buffer.release=issue"]),
    set("fast", &["ftl.kind=fast"]),
    set("bast", &["ftl.kind=bast"]),
    set("superblock", &["ftl.kind=superblock"]),
    set("dftl", &["ftl.kind=dftl"]),
    set("hat", &["ftl.kind=hat"]),
    set("pslc", &["ftl.kind=pslc", "flash.bits_per_cell=2"]),
    set("zns", &["ftl.kind=zns"]),
    set("striped", &["ftl.kind=striped"]),
    set("no flash", &["ftl.kind=none"]),
    set("no buffer", &["buffer.kind=nocache"]),
    set("bplru", &["buffer.kind=bplru"]),
    set("cflru", &["buffer.kind=cflru"]),
    set("belady", &["buffer.kind=belady"]),
    set("apu", &["buffer.kind=apu-lru-d"]),
    use_for("payload and cut", Purpose::Cut),
    use_for("served", Purpose::Live),
    use_for("watched", Purpose::Watch),
    Feature {
        name: "explained",
        pairs: &[],
        purpose: None,
        explains: true,
    },
];

/// Whether `one` and `other` cannot be combined, because they set a key to different values or because both determine
/// the purpose of the run.
#[must_use]
pub fn are_one(one: &Feature, other: &Feature) -> bool {
    let split = |pair: &&'static str| pair.split_once('=').expect("a pair");
    let clash = one.pairs.iter().map(split).any(|(key, value)| {
        let mut others = other.pairs.iter().map(split);
        others.any(|(name, another)| name == key && another != value)
    });
    clash || (one.purpose.is_some() && other.purpose.is_some())
}
