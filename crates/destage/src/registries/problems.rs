//! Errors and warnings of the program, each with its cause, a remedy, and the words by which it is recognised.

/// A kind of message.
pub struct Problem {
    /// The name of the kind.
    pub name: &'static str,
    /// Words that every message of this kind contains.
    pub phrase: &'static str,
    /// The meaning and the cause of the message.
    pub about: &'static str,
    /// What the user can do about the message.
    pub remedy: &'static str,
}

/// A class of errors in Python.
pub struct ErrorClass {
    /// The name of the class.
    pub name: &'static str,
    /// The meaning of the class.
    pub about: &'static str,
    /// The names of kinds of messages that errors of this class have.
    pub messages: &'static [&'static str],
}

/// The classes of errors in Python, by which users look up what an exception means.
pub const ERROR_CLASSES: &[ErrorClass] = &[
    ErrorClass {
        name: "InputError",
        about: "An argument cannot be used: an unknown name, an empty grid, or inputs that cannot be combined.",
        messages: &[],
    },
    ErrorClass {
        name: "TraceError",
        about: "The trace cannot be read.",
        messages: &[
            "unknown-format",
            "several-formats",
            "missing-column",
            "no-requests",
            "time-goes-back",
        ],
    },
    ErrorClass {
        name: "ConfigError",
        about: "A parameter is unknown, out of range, or contradicts another parameter.",
        messages: &["unknown-parameter", "profile-key"],
    },
    ErrorClass {
        name: "DeviceFull",
        about: "The device is too small for the trace.",
        messages: &["device-full", "beyond-device"],
    },
];

/// All kinds of messages. A test checks that each phrase occurs in the sources.
pub const PROBLEMS: &[Problem] = &[
    Problem {
        name: "unknown-parameter",
        phrase: "unknown parameter",
        about: "No parameter has this dotted name. Parameters stand in settings, in configuration files and in profiles.",
        remedy: "`destage show` lists all parameters, `destage show flash` those of a section, and `destage explain KEY` describes one.",
    },
    Problem {
        name: "parameter-of-another-scheme",
        phrase: "is a parameter of",
        about: "The parameter exists, but belongs to another buffer or translation layer than the chosen one.",
        remedy: "Choose that buffer (buffer.kind) or layer (ftl.kind), or leave the parameter out. `destage show buffer NAME` lists the parameters of a buffer.",
    },
    Problem {
        name: "profile-key",
        phrase: "is in no table",
        about: "The keys about, source and inherits of a profile describe the profile; they belong into its table [profile].",
        remedy: "Write the line [profile] above them, before the first other table. docs/guides/own-profile.md shows a whole profile.",
    },
    Problem {
        name: "unknown-format",
        phrase: "no known format fits",
        about: "The first lines of the trace match none of the known formats.",
        remedy: "`destage list formats` shows a line of each. A table of your own is read as csv: put names such as time,op,offset,bytes into its first line, or give them by trace.columns and read it in the format csv; docs/guides/bring-a-trace.md shows how.",
    },
    Problem {
        name: "several-formats",
        phrase: "several formats fit",
        about: "The lines of the trace match several formats, whose columns mean different things, and the ending of the file's name names none of them.",
        remedy: "Name the format, or end the file's name in the format's name, such as t.disksim.",
    },
    Problem {
        name: "missing-column",
        phrase: "the first line has",
        about: "The first line of the table names some columns, but a column that every request needs is missing or occurs twice: the time, the beginning of the request (offset in bytes, or sector), or its length (bytes or sectors), or what it does (op).",
        remedy: "Rename the column in the file, or name all columns in trace.columns, with - for a column that is ignored.",
    },
    Problem {
        name: "no-requests",
        phrase: "holds no requests",
        about: "The trace was read to its end, and none of its lines gave a request. Logs of the block layer have several events for each request; trace.event names the event that counts.",
        remedy: "Try trace.event = queue or complete for blkparse and blktrace, and check which settings leave requests out: skip, limit, writes only, bad lines.",
    },
    Problem {
        name: "time-goes-back",
        phrase: "the time goes back",
        about: "A request arrives before the request of the line above it, in a format whose lines are in order of arrival.",
        remedy: "trace.order = sort sorts requests within a window of 65536; trace.order = clamp gives such a request the latest arrival time before it.",
    },
    Problem {
        name: "doubtful-time-unit",
        phrase: "which is no plausible rate for a device",
        about: "With the unit that the program assumed for the times, requests arrive far faster or slower than any device works, so response times mean nothing.",
        remedy: "Name the unit by trace.time_unit = s, ms, us or ns; the warning says which unit would give a plausible rate.",
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
        about: "The translation layer had to write and found no free block, and no block that garbage collection would free.",
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
        about: "The command would need more memory than the memory limit allows; unless you set a limit, it is half of the machine's memory.",
        remedy: "Raise the memory limit, use fewer threads, run fewer combinations at a time, or simulate a smaller device.",
    },
    Problem {
        name: "no-erases",
        phrase: "No block was erased",
        about: "The trace writes less than the device has free, so garbage collection never began: erases are 0, and write amplification is that of an empty device.",
        remedy: "Fill the device first (sim.precondition = random_fill:1), take a smaller device (device.capacity_bytes) or a longer trace.",
    },
    Problem {
        name: "volumes-overlap",
        phrase: "several volumes overlap in one address space",
        about: "The trace has several disks or volumes, and their equal addresses are read as the same addresses.",
        remedy: "trace.volumes = separate gives each its own part of the device, concatenate puts one after the other, and `destage trace cut` keeps one.",
    },
];
