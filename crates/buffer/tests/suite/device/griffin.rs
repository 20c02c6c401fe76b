//! Compares `griffin` with a naive model of its rule.

use destage_base::parameter::Value;

use super::common::{Bench, Completion, Device, Operation};
use super::{Model, SIZES, compare};
use destage_buffer::destage::Grouping;
use destage_buffer::find;
use destage_buffer::scheme::{IdleAgain, IdleRule};

const TICKS_PER_S: u64 = 10_000_000_000;

struct Griffin {
    capacity: usize,
    /// In ticks; 0 means that there is no timeout.
    timeout: u64,
    percent: u64,
    reads_min: u64,
    log_pages: u64,
    pages: Vec<u64>,
    since: u64,
    appended: u64,
    reads: u64,
    served: u64,
    due: bool,
}

impl Griffin {
    fn empty(&mut self) -> Vec<u64> {
        self.appended = 0;
        self.reads = 0;
        self.served = 0;
        self.due = false;
        let mut pages = std::mem::take(&mut self.pages);
        pages.sort_unstable();
        pages
    }

    fn look(&mut self, now: u64) {
        let old = self.timeout > 0 && now - self.since >= self.timeout;
        let read = self.reads >= self.reads_min && self.served * 100 > self.percent * self.reads;
        let long = self.log_pages > 0 && self.appended >= self.log_pages;
        self.due |= !self.pages.is_empty() && (old || read || long);
    }
}

impl Model for Griffin {
    fn write(&mut self, page: u64, now: u64, _: &Device) -> Vec<Vec<u64>> {
        let mut migrated = Vec::new();
        if !self.pages.contains(&page) {
            if self.pages.len() == self.capacity || self.due {
                migrated.push(self.empty());
            }
            if self.pages.is_empty() {
                self.since = now;
            }
            self.pages.push(page);
        }
        self.appended += 1;
        self.look(now);
        migrated
    }
    fn read(&mut self, page: u64, now: u64, _: &Device) -> Vec<Vec<u64>> {
        self.reads += 1;
        self.served += u64::from(self.pages.contains(&page));
        self.look(now);
        Vec::new()
    }
    fn trim(&mut self, page: u64) {
        let before = self.pages.len();
        self.pages.retain(|held| *held != page);
        if before > 0 && self.pages.is_empty() {
            self.empty();
        }
    }
    fn fua(&mut self, page: u64) -> bool {
        self.trim(page);
        true
    }
    fn flush(&mut self, _: &Device) -> Vec<u64> {
        // If no page is dirty, the buffer does not request a flush from the scheme, so the counters keep their
        // values.
        if self.pages.is_empty() {
            Vec::new()
        } else {
            self.empty()
        }
    }
    fn idle(&mut self, now: u64, _: &Device) -> Vec<u64> {
        self.look(now);
        if self.due { self.empty() } else { Vec::new() }
    }
}

#[test]
fn follows_its_rule() {
    for (capacity, pages) in SIZES {
        for (timeout_s, percent, reads_min, log_pages) in [
            (900, 5, 100, 0),
            (1, 100, 1, 0),
            (0, 25, 10, 0),
            (0, 100, 1, 50),
            (2, 50, 3, 90),
        ] {
            let mut model = Griffin {
                capacity,
                timeout: timeout_s * TICKS_PER_S,
                percent,
                reads_min,
                log_pages,
                pages: Vec::new(),
                since: 0,
                appended: 0,
                reads: 0,
                served: 0,
                due: false,
            };
            let set = [
                ("griffin_timeout_s", Value::Integer(timeout_s)),
                ("griffin_read_share", Value::Number(percent as f64 / 100.0)),
                ("griffin_reads_min", Value::Integer(reads_min)),
                ("griffin_log_pages", Value::Integer(log_pages)),
            ];
            compare(
                "griffin",
                &set,
                (capacity, pages),
                TICKS_PER_S / 20,
                &mut model,
            );
        }
    }
}

#[test]
fn a_log_in_which_nothing_happens_is_migrated_for_its_age() {
    let row = find("griffin").unwrap();
    let mut values = super::values(row, &[]);
    let build = |values: &_| Bench::new(row, 8, values, Completion::AtOnce);
    let mut bench = build(&values);
    let after = 900 * TICKS_PER_S;
    let rule = IdleRule {
        after,
        again: IdleAgain::AfterRecord,
        groups: 1,
    };
    assert_eq!(bench.buffer.idle_rule(), Some(rule));
    bench.run(&[Operation::Write(vec![3]), Operation::Write(vec![1])]);
    bench.pass(after - 2);
    bench.apply(&Operation::Idle);
    assert!(bench.records.is_empty());
    bench.pass(1);
    bench.run(&[Operation::Idle, Operation::Idle]);
    assert_eq!(bench.records.len(), 1);
    assert_eq!(bench.records[0].pages, [1, 3]);
    assert_eq!(bench.records[0].grouping, Grouping::Pages);
    values.set("griffin_timeout_s", Value::Integer(0));
    assert_eq!(build(&values).buffer.idle_rule(), None);
}

#[test]
fn each_migration_is_counted_under_its_trigger() {
    let row = find("griffin").unwrap();
    let set = [
        ("griffin_reads_min", Value::Integer(2)),
        ("griffin_log_pages", Value::Integer(3)),
    ];
    let values = super::values(row, &set);
    let mut bench = Bench::new(row, 8, &values, Completion::AtOnce);
    bench.run(&[Operation::Write(vec![1, 2, 3]), Operation::Write(vec![4])]);
    bench.run(&[Operation::Read(vec![4, 4]), Operation::Write(vec![5])]);
    bench.pass(901 * TICKS_PER_S);
    bench.run(&[Operation::Read(vec![9]), Operation::Write(vec![6])]);
    bench.apply(&Operation::Drain);
    let mut figures = Vec::new();
    bench
        .buffer
        .report(&mut |name, value| figures.push((name, value)));
    let expected = ["age", "reads", "size", "flush"];
    assert_eq!(figures.len(), expected.len());
    for ((name, value), trigger) in figures.into_iter().zip(expected) {
        assert_eq!(
            (name, value),
            (format!("migrations_by_{trigger}").as_str(), 1.0)
        );
    }
}
