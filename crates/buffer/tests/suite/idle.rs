//! Tests when the schemes that use idle time request idle steps, and which pages each idle step writes back.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common::is_resident;
use destage_base::Lpn;
use destage_base::parameter::{Value, Values};
use destage_base::time::TICKS_PER_US;
use destage_buffer::destage::DirtyPage;
use destage_buffer::scheme::{IdleAgain, IdleRule};
use destage_buffer::{
    Buffer, BufferConfig, COMMON, Common, Outlet, SCHEMES, SchemeConfig, View, find,
};

/// A device with four packages. The numbers are the operations that wait at each package.
#[derive(Default)]
struct Working([u32; 4]);

impl View for Working {
    fn die_of(&self, page: Lpn) -> u32 {
        (page.0 % 4) as u32
    }
    fn queue_length(&self, die: u32) -> u32 {
        self.0[die as usize]
    }
}

fn buffer(scheme: &str, set: &[(&'static str, Value)], writes: &[u64]) -> Buffer {
    let row = find(scheme).unwrap();
    let mut values = Values::defaults(COMMON.iter().chain(row.parameters));
    for (name, value) in set {
        values.set(name, value.clone());
    }
    let config = BufferConfig::from_parameters(16, 4, &Common::from_values(&values));
    let scheme = (row.build)(&SchemeConfig {
        dies: 4,
        ..SchemeConfig::new(16, 4, &values)
    });
    let mut buffer = Buffer::new(config, scheme);
    let keeps_pages = buffer.keeps_pages();
    for page in writes.iter().filter(|_| keeps_pages) {
        buffer.begin_request(1);
        let idle = Working::default();
        let mut outlet = Outlet::new(&mut buffer, &idle, |_| panic!("there is room"));
        assert!(!outlet.write(Lpn(*page), 0));
    }
    buffer
}

/// The pages of the latest record, or none if `has_record` is false.
fn pages(buffer: &Buffer, has_record: bool) -> Vec<u64> {
    let record = buffer.record();
    assert!(!has_record || record.retain);
    let pages = record.pages.iter().filter(|_| has_record);
    pages.map(|page| page.page.0).collect()
}

fn text(word: &str) -> Value {
    Value::Text(word.into())
}

#[test]
fn the_rule_says_how_long_to_wait_and_when_to_ask_on() {
    let rule = |scheme, set: &[_]| buffer(scheme, set, &[]).idle_rule();
    let default = IdleRule {
        after: 2000 * TICKS_PER_US,
        again: IdleAgain::AfterRecord,
        groups: 1,
    };
    for scheme in ["apu-lru", "apu-lfu", "apu-lru-d", "apu-lfu-d"] {
        assert_eq!(rule(scheme, &[]), Some(default));
    }
    assert_eq!(rule("wb", &[]), None);
    assert_eq!(rule("lru", &[]), None);
    let set = [
        ("idle_us", Value::Integer(7)),
        ("apu_round", text("pipelined")),
        ("apu_idle_scope", text("piece")),
        ("packages_per_piece", Value::Integer(1)),
    ];
    let expected = IdleRule {
        after: 7 * TICKS_PER_US,
        again: IdleAgain::AfterPage,
        groups: 4,
    };
    assert_eq!(rule("apu-lfu-d", &set), Some(expected));
}

#[test]
fn a_pipelined_round_leaves_out_packages_that_work() {
    let writes = [0, 4, 1, 5, 2];
    let mut piped = buffer("apu-lru-d", &[("apu_round", text("pipelined"))], &writes);
    let has_record = piped.idle(0, &Working([0, 1, 0, 0]));
    assert_eq!(pages(&piped, has_record), [0, 2]);
    let has_record = piped.idle(0, &Working([1, 0, 1, 0]));
    assert_eq!(pages(&piped, has_record), [1]);
    assert!(!piped.idle(0, &Working([1, 1, 1, 1])));
    let has_record = piped.idle(0, &Working::default());
    assert_eq!(pages(&piped, has_record), [4, 5]);
    // With the default `apu_round`, an idle step does not skip busy packages. The caller must wait until all
    // programs of the record have ended before it runs the next idle step.
    let mut barrier = buffer("apu-lru-d", &[], &writes);
    let has_record = barrier.idle(0, &Working([1, 1, 1, 1]));
    assert_eq!(pages(&barrier, has_record), [0, 1, 2]);
}

#[test]
fn a_piece_is_idle_by_itself() {
    let set = [
        ("apu_idle_scope", text("piece")),
        ("packages_per_piece", Value::Integer(2)),
    ];
    for scheme in ["apu-lru-d", "apu-lfu-d"] {
        let mut buffer = buffer(scheme, &set, &[0, 1, 4, 2, 6]);
        let groups = (0..8).map(|page| buffer.idle_group_of(Lpn(page)));
        assert_eq!(groups.collect::<Vec<_>>(), [0, 0, 1, 1, 0, 0, 1, 1]);
        let has_record = buffer.idle_in(1, 0, &Working::default());
        assert_eq!(pages(&buffer, has_record), [2]);
        let has_record = buffer.idle_in(0, 0, &Working::default());
        assert_eq!(pages(&buffer, has_record), [0, 1]);
        let has_record = buffer.idle_in(1, 0, &Working::default());
        assert_eq!(pages(&buffer, has_record), [6]);
        assert!(!buffer.idle_in(1, 0, &Working::default()));
    }
}

/// A device never runs an idle step on a scheme without an idle rule. If a test does so, the scheme must write
/// back nothing.
#[test]
fn whoever_has_no_rule_has_nothing_to_do() {
    for row in SCHEMES.iter().filter(|row| !row.needs_future()) {
        let mut buffer = buffer(row.name, &[], &[0, 1, 2, 3]);
        if buffer.idle_rule().is_none() {
            assert!(!buffer.idle(0, &Working::default()), "{}", row.name);
        }
    }
}

/// With `apu_clean_at=complete` a line is clean only after its program has ended, so page 8 is evicted, although
/// page 0 is older. With `issue` both lines are clean at once, and page 0 is evicted.
#[test]
fn a_line_in_flight_is_not_clean() {
    for (clean_at, in_ram) in [("complete", [true, false]), ("issue", [false, true])] {
        let set = [("apu_clean_at", text(clean_at)), ("ways", text("2"))];
        // Pages 0, 8 and 16 share a set of two lines.
        let mut buffer = buffer("apu-lru", &set, &[0, 8]);
        assert!(buffer.idle(0, &Working::default()));
        let first = buffer.record().pages[0];
        assert!(buffer.idle(0, &Working::default()));
        let second: DirtyPage = buffer.record().pages[0];
        assert_eq!((first.page, second.page), (Lpn(0), Lpn(8)));
        buffer.programmed(second, true, 0);
        buffer.begin_request(1);
        let idle = Working::default();
        let mut outlet = Outlet::new(&mut buffer, &idle, |_| panic!("a clean line makes room"));
        assert!(!outlet.write(Lpn(16), 0));
        assert_eq!([0, 8].map(|page| is_resident(&buffer, page)), in_ram);
        buffer.programmed(first, true, 0);
    }
}
