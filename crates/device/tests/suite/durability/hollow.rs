//! If there is no flash, the device may skip all page operations for a driver. All other events, counts and states of
//! the device are the same as without skipping.

use destage_base::{Lpn, Random, Ticks};
use destage_buffer::SCHEMES;
use destage_device::{
    BatchStep, Driver, Note, Ordering, Progress, Request, RequestKind, Span, Token, Transaction,
};
use destage_nand::Operations;

use super::kit::Stack;

/// A driver that records all events except commands. `SKIPS` says whether the device may skip page operations.
#[derive(Default)]
struct Told<const SKIPS: bool> {
    lines: Vec<String>,
    commands: usize,
}

impl<const SKIPS: bool> Driver for Told<SKIPS> {
    const SKIPS_HOLLOW: bool = SKIPS;

    fn begin(
        &mut self,
        _: u32,
        transaction: Transaction,
        operations: &Operations,
        _: Ticks,
        _: Token,
    ) -> Progress {
        assert_ne!(transaction, Transaction::Collection, "there is no flash");
        assert!(operations.all().is_empty(), "there is no flash");
        self.commands += 1;
        Progress::Ended
    }

    fn serve_batch(&mut self, _: u32, _: BatchStep<'_>) {
        unreachable!("there is no flash")
    }

    fn answer(&mut self, token: u32) {
        self.lines.push(format!("answer {token}"));
    }

    fn wake_after(&mut self, _: Ticks, _: u32) {}

    fn wants_records(&self) -> bool {
        true
    }

    fn note(&mut self, note: &Note<'_>) {
        match *note {
            Note::Emitted(record, now) => self.lines.push(format!("{now} {record:?}")),
            Note::RecordEnded { emitted, now } => self.lines.push(format!("ended {emitted} {now}")),
            Note::SlotGiven => self.lines.push("slot".to_owned()),
            _ => {}
        }
    }
}

fn requests(random: &mut Random) -> Vec<Request> {
    let request = |_| {
        let pages = 1 + random.below(9) as u32;
        Request {
            kind: match random.below(20) {
                0..5 => RequestKind::Read,
                5 => RequestKind::Trim,
                6 => RequestKind::Flush,
                _ => RequestKind::Write,
            },
            span: Span {
                head: random.below(2) as u32,
                tail: random.below(2) as u32,
                ..Span::whole(random.below(200), pages)
            },
            fua: random.below(15) == 0,
        }
    };
    (0..2500).map(request).collect()
}

/// The events of a device built from `stack` that serves `requests`, and the number of commands.
fn told<const SKIPS: bool>(stack: &Stack<'_>, requests: &[Request]) -> (Vec<String>, usize) {
    let mut device = stack.build().device;
    let mut driver = Told::<SKIPS>::default();
    for (request, now) in requests.iter().zip((0..).step_by(10)) {
        let done = device.submit(0, request, now, &mut driver);
        done.expect("there is room");
        let state = format!(
            "{:?} {} {:?} {}",
            device.buffer().counts(),
            device.at_risk_max(),
            device.clean_since(),
            device.is_settled()
        );
        driver.lines.push(state);
    }
    let drained = device.drain(1 << 20, &mut driver);
    drained.expect("there is room");
    let shown = format!("{:?} {:?}", device.buffer().show(), device.clean_since());
    driver.lines.push(shown);
    (driver.lines, driver.commands)
}

#[test]
fn a_device_without_flash_is_the_same_where_commands_are_skipped() {
    let requests = requests(&mut Random::new(3));
    let writes = requests.iter();
    let writes = writes.filter(|request| request.kind == RequestKind::Write);
    let pages = writes.flat_map(|request| {
        let Span { first, pages, .. } = request.span;
        (first..first + u64::from(pages)).map(Lpn)
    });
    let future: Vec<Lpn> = pages.collect();
    for row in SCHEMES {
        for release in ["complete", "issue"] {
            for ordering in [Ordering::Strict, Ordering::Reference] {
                let mut stack = Stack::new(row.name, 32, "none", 4, 64);
                stack.scheme_settings.push(("release", release));
                stack.future = &future;
                stack.config.ordering = ordering;
                stack.config.reads_partial = true;
                let (plain, commands) = told::<false>(&stack, &requests);
                let (skipping, none) = told::<true>(&stack, &requests);
                assert!(commands > 0, "{}: nothing to skip", row.name);
                assert_eq!(none, 0, "{}", row.name);
                for (number, (one, other)) in plain.iter().zip(&skipping).enumerate() {
                    assert_eq!(one, other, "{} {release} line {number}", row.name);
                }
                assert_eq!(plain.len(), skipping.len(), "{}", row.name);
            }
        }
    }
}
