//! `griffin`: collects writes in a log in front of the device, and migrates all of them at once, in page order.
//!
//! ```text
//!   log, on a disk    7  3  9  3' 8  7' 3"        each write is appended
//!   newest copies           9     8  7' 3"        the contents of the buffer's slots
//!   migration         3" 7' 8  9                  one record in ascending order
//! ```
//!
//! The log is not in RAM but on a disk, which appends fast and reads slowly. The log absorbs overwrites before they
//! reach the flash. The whole log is migrated in three cases: it is full (no slot is free, or `griffin_log_pages`
//! pages were appended), its oldest write is `griffin_timeout_s` old, or it serves too large a share of the reads.
//! The pages in slots are an unordered table. They are sorted only when they are migrated.
//!
//! The scheme checks for these cases with each page that the host reads or writes. It migrates the log before the
//! next page enters. If the device is idle for `griffin_timeout_s`, the log is migrated in that idle time.
//!
//! Cost: O(log n) amortised per page, for the sorting. Memory: 20 bytes per slot.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::parameter::Kind;
use destage_base::time::TICKS_PER_US;
use destage_base::{Lpn, Ticks, parameters, table};

use crate::config::millionths;
use crate::registry::{SchemeRow, Sees};
use crate::scheme::{
    Access, AccessKind, Entry, IdleAgain, IdleRule, Need, Properties, Scheme, Victim,
};
use crate::shown::Shown;
use crate::view::View;

const SOURCE: &str = "Griffin (FAST 2010).";
const TICKS_PER_S: u64 = 1_000_000 * TICKS_PER_US;

parameters! {
    /// The parameters of `griffin`.
    struct Parameters {
        /// The log is migrated when its oldest write is this old; 0: never because of its age.
        griffin_timeout_s: u64 = "900" in Kind::Integer { min: 0, max: u64::MAX / TICKS_PER_S }, "s", SOURCE;
        /// The log is migrated when it has served more than this share of the reads since the last migration.
        griffin_read_share: f64 = "0.05" in Kind::Number { min: 0.0, max: 1.0 }, "", SOURCE;
        /// The share of reads is considered only after this many page reads since the last migration.
        griffin_reads_min: u64 = "100" in Kind::Integer { min: 1, max: u64::MAX }, "page reads", "Ours: after only a few reads, a share of reads is a matter of chance.";
        /// The log is migrated after this many appended pages, overwritten ones included; 0: when no slot is free.
        griffin_log_pages: u64 = "0", "pages", "Ours; Griffin (2010) limits the size of the log.";
    }
}

/// The row of `griffin`.
pub const ROW: SchemeRow = SchemeRow {
    name: "griffin",
    family: "tier",
    about: "Collects writes in a log and migrates all of them in page order when they are old, when they are read, or when the log is full.",
    source: "Soundararajan and others, Extending SSD Lifetimes with Disk-Based Write Caches, FAST 2010.",
    reconstructed: true,
    parameters: Parameters::ROWS,
    sees: &[Sees::Time],
    ..SchemeRow::of(&|config| {
        let or_never = |value| if value == 0 { u64::MAX } else { value };
        let parameters = Parameters::from_values(config.values);
        let timeout = parameters.griffin_timeout_s * TICKS_PER_S;
        Box::new(Griffin {
            entries: Vec::with_capacity(table::prepared(config.capacity_pages)),
            places: Vec::new(),
            log: Log::default(),
            is_due: None,
            timeout: or_never(timeout),
            read_share: millionths(parameters.griffin_read_share),
            reads_min: parameters.griffin_reads_min,
            log_pages: or_never(parameters.griffin_log_pages),
            migrations: [0; 4],
        })
    })
};

/// The reason why the log is migrated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trigger {
    Age,
    Reads,
    Size,
    Flush,
}

/// Counts of events since the log was last empty.
#[derive(Clone, Copy, Default)]
struct Log {
    /// The time at which the first page of the log was appended.
    since: Ticks,
    appended: u64,
    reads: u64,
    reads_served: u64,
}

struct Griffin {
    /// The newest copy of each page in the log, in no particular order.
    entries: Vec<Entry>,
    /// By slot: the index of the slot's page in `entries`.
    places: Vec<u32>,
    log: Log,
    is_due: Option<Trigger>,
    timeout: Ticks,
    /// The share `griffin_read_share`, in millionths.
    read_share: u64,
    reads_min: u64,
    log_pages: u64,
    /// The number of migrations by [`Trigger`].
    migrations: [u64; 4],
}

impl Scheme for Griffin {
    fn properties(&self) -> Properties {
        Properties {
            idle_rule: (self.timeout < u64::MAX).then_some(IdleRule {
                after: self.timeout,
                again: IdleAgain::AfterRecord,
                groups: 1,
            }),
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, access: &Access) {
        if self.entries.is_empty() {
            self.log.since = access.now;
        }
        let place = self.entries.len() as u32;
        *table::at(&mut self.places, entry.slot.0 as usize, 0) = place;
        self.entries.push(entry);
        self.log.appended += 1;
        self.look_for_trigger(access.now);
    }

    fn touch(&mut self, _: Entry, access: &Access) {
        match access.kind {
            AccessKind::Write => self.log.appended += 1,
            AccessKind::Read => {
                self.log.reads += 1;
                self.log.reads_served += 1;
            }
        }
        self.look_for_trigger(access.now);
    }

    fn read_missed(&mut self, _: Lpn, access: &Access) {
        self.log.reads += 1;
        self.look_for_trigger(access.now);
    }

    fn remove(&mut self, entry: Entry) {
        let place = self.places[entry.slot.0 as usize] as usize;
        debug_assert!(self.entries[place] == entry, "{entry:?} is not at {place}");
        self.entries.swap_remove(place);
        if let Some(moved) = self.entries.get(place) {
            self.places[moved.slot.0 as usize] = place as u32;
        }
        if self.entries.is_empty() {
            self.begin_log();
        }
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        match need {
            Need::FlushPage(entry) => {
                self.remove(entry);
                victim.entries.push(entry);
            }
            Need::Evict(_) => self.migrate(self.is_due.unwrap_or(Trigger::Size), victim),
            Need::Flush => self.migrate(Trigger::Flush, victim),
        }
    }

    fn is_full_for(&self, _: Lpn, free: usize) -> bool {
        free == 0 || self.is_due.is_some()
    }

    fn idle(&mut self, _: Range<u32>, now: Ticks, _: &dyn View, victim: &mut Victim) {
        self.look_for_trigger(now);
        if let Some(trigger) = self.is_due {
            self.migrate(trigger, victim);
        }
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        let names = [
            "migrations_by_age",
            "migrations_by_reads",
            "migrations_by_size",
            "migrations_by_flush",
        ];
        for (name, count) in names.into_iter().zip(self.migrations) {
            emit(name, count as f64);
        }
    }

    fn reset_figures(&mut self) {
        self.migrations = [0; 4];
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list("Log", "least page", "greatest page");
        list.note(format!(
            "{} pages appended; all leave together, in this order",
            self.log.appended
        ));
        let mut entries = self.entries.clone();
        entries.sort_unstable_by_key(|entry| entry.page);
        list.row(entries);
    }

    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl Griffin {
    fn look_for_trigger(&mut self, now: Ticks) {
        if self.is_due.is_some() || self.entries.is_empty() {
            return;
        }
        let Log {
            since,
            appended,
            reads,
            reads_served,
        } = self.log;
        let serves_too_much =
            || reads >= self.reads_min && reads_served * 1_000_000 > self.read_share * reads;
        self.is_due = if now.saturating_sub(since) >= self.timeout {
            Some(Trigger::Age)
        } else if serves_too_much() {
            Some(Trigger::Reads)
        } else {
            (appended >= self.log_pages).then_some(Trigger::Size)
        };
    }

    fn migrate(&mut self, trigger: Trigger, victim: &mut Victim) {
        self.migrations[trigger as usize] += u64::from(!self.entries.is_empty());
        victim.entries.append(&mut self.entries);
        victim.entries.sort_unstable_by_key(|entry| entry.page);
        self.begin_log();
    }

    /// Begins an empty log.
    fn begin_log(&mut self) {
        self.log = Log::default();
        self.is_due = None;
    }
}
