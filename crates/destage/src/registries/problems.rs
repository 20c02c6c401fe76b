//! Errors and warnings that users meet, each with its cause and what to do, found by words of the message.

/// One kind of message.
pub struct Problem {
    /// What it is called.
    pub name: &'static str,
    /// Words that every such message has.
    pub phrase: &'static str,
    /// What it means, and how it comes about.
    pub about: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

/// All of them. The phrases are those of the messages: a test finds each in the sources.
pub const PROBLEMS: &[Problem] = &[
    Problem {
        name: "unknown-parameter",
        phrase: "unknown parameter",
        about: "No parameter has this dotted name. Parameters stand in settings, in configuration files and in profiles.",
        remedy: "`destage show` lists all parameters, `destage show flash` those of a section, and `destage explain KEY` says what one is.",
    },
    Problem {
        name: "parameter-of-another-scheme",
        phrase: "is a parameter of",
        about: "The parameter exists, but it belongs to another buffer or translation layer than the one that is chosen.",
        remedy: "Choose that buffer (buffer.kind) or layer (ftl.kind), or leave the parameter out. `destage show buffer NAME` lists what a buffer takes.",
    },
    Problem {
        name: "unknown-format",
        phrase: "no known format fits",
        about: "The first lines of the trace look like none of the formats that are read.",
        remedy: "`destage list formats` shows a line of each. A table of your own is read as csv: put names such as time,op,offset,bytes into its first line, or give them by trace.columns and read it in the format csv; docs/guides/bring-a-trace.md shows how.",
    },
    Problem {
        name: "several-formats",
        phrase: "several formats fit",
        about: "The lines of the trace could be of several formats, whose columns mean different things, and the ending of the file's name decides for none.",
        remedy: "Name the format, or end the file's name in the format's name, such as t.disksim.",
    },
    Problem {
        name: "missing-column",
        phrase: "the first line has",
        about: "The first line of the table names some columns, and one that every request needs is missing or there twice: the time, where a request begins (offset in bytes, or sector), or how long it is (bytes or sectors).",
        remedy: "Rename the column in the file, or give all names by trace.columns, with - for a column that plays no part, and read it in the format csv.",
    },
    Problem {
        name: "no-requests",
        phrase: "holds no requests",
        about: "The trace was read to its end, and no line of it made a request. Logs of the block layer have several events for each request, of which trace.event names the one that counts.",
        remedy: "Try trace.event = queue or complete for blkparse and blktrace, and look at what is left out: skip, limit, writes only, bad lines.",
    },
    Problem {
        name: "time-goes-back",
        phrase: "the time goes back",
        about: "A request arrives before the one on the line above it, in a format whose lines are in order of arrival.",
        remedy: "trace.order = sort puts requests in order within a window of 65536, trace.order = clamp lets such a request arrive with the latest one before it.",
    },
    Problem {
        name: "doubtful-time-unit",
        phrase: "which is no device's pace",
        about: "With the unit that the times were taken for, the requests come far faster or slower than any device works, so that response times mean nothing.",
        remedy: "Name the unit by trace.time_unit = s, ms, us or ns; the warning says which of them would make it a device at work.",
    },
    Problem {
        name: "overload",
        phrase: "overload: a request takes",
        about: "Requests arrive faster than the device completes them, so they wait longer and longer: the mean response grows with the length of the trace and says nothing about the buffer.",
        remedy: "Check the unit of the times (trace.time_unit). Otherwise stretch the times (host.time_scale = 10), let each request wait for the one before it (host.replay = closed), or simulate a faster device.",
    },
    Problem {
        name: "device-full",
        phrase: "the device is full",
        about: "The translation layer had to write and found no free block, and no block that cleaning would free.",
        remedy: "Give the device more over-provisioning (device.op_percent) or more capacity (device.capacity_bytes), or use a layer that needs fewer spare blocks.",
    },
    Problem {
        name: "beyond-device",
        phrase: "ends beyond the device",
        about: "The trace writes to addresses that the device does not have.",
        remedy: "Leave the size of the device out, so that it follows from the trace, name a larger one (device.capacity_bytes), or fold addresses by trace.addr_map = modulo or shrink.",
    },
    Problem {
        name: "memory-limit",
        phrase: "beyond the limit of",
        about: "The command would need more memory than the memory limit allows; unless it is set, that is half of the machine's memory.",
        remedy: "Raise the memory limit, use fewer threads, take fewer runs at a time, or a smaller device.",
    },
    Problem {
        name: "no-erases",
        phrase: "No block was erased",
        about: "The trace writes less than the device has free, so cleaning never began: erases are 0, and write amplification is that of an empty device.",
        remedy: "Fill the device first (sim.precondition = random_fill:1), take a smaller device (device.capacity_bytes) or a longer trace.",
    },
    Problem {
        name: "volumes-overlap",
        phrase: "several volumes lie over one another",
        about: "The trace has several disks or volumes, and all of them are read into the same addresses.",
        remedy: "trace.volumes = separate gives each its own part of the device, concatenate puts one after the other, and `destage trace cut` keeps one.",
    },
];
