//! Page mapping under uniformly random writes, compared with theory.

use crate::kit;

use destage_base::Random;
use destage_nand::Cause;
use destage_sample::sampled;
use kit::{Device, Setup};

/// Programs per written page in the steady state of random overwrites, if `percent` percent of all pages are
/// logical pages.
fn amplification(policy: &str, percent: u32) -> f64 {
    let blocks = 1_000;
    let mut setup = Setup::new("page", 1, blocks, 32)
        .with("gc_policy", policy)
        .with("separate_gc_block", "false")
        .with("gc_low", "2")
        .with("gc_high", "2")
        .with("reserve_percent", &(100 - percent).to_string());
    setup.copy_back = true;
    let mut device = Device::new(&setup);
    let pages = device.pages();
    let mut random = Random::new(u64::from(percent));
    let mut programs = |device: &mut Device, passes: u64| {
        let before = device.tally.programs.iter().sum::<u64>();
        for _ in 0..passes * pages {
            device.write(random.below(pages));
        }
        device.tally.programs.iter().sum::<u64>() - before
    };
    programs(&mut device, 6);
    let measured = programs(&mut device, 6);
    assert_eq!(
        device.tally.reads[Cause::Copy as usize],
        device.tally.programs[Cause::Copy as usize]
    );
    measured as f64 / (6 * pages) as f64
}

/// Write amplification of first in, first out, if the share of logical pages is `share`: 1 / (1 - x), where x is
/// the solution of (x - 1) / ln x = share (Desnoyers, SYSTOR 2012).
fn first_in_first_out(share: f64) -> f64 {
    let (mut low, mut high) = (1e-9, 1.0 - 1e-9);
    for _ in 0..200 {
        let x = f64::midpoint(low, high);
        if (x - 1.0) / f64::ln(x) < share {
            low = x;
        } else {
            high = x;
        }
    }
    1.0 / (1.0 - low)
}

#[test]
fn gc_in_order_of_closing_amplifies_as_computed_and_greedy_never_more() {
    for &percent in sampled(&[75, 90][..], &[60, 75, 85, 90]) {
        let fifo = amplification("fifo", percent);
        let expected = first_in_first_out(f64::from(percent) / 100.0);
        assert!(
            (fifo / expected - 1.0).abs() < 0.05,
            "{percent} %: {fifo} where {expected} is computed"
        );
        let greedy = amplification("greedy", percent);
        assert!(greedy <= fifo, "{percent} %: greedy {greedy}, fifo {fifo}");
        let drawn = amplification("d_choices", percent);
        assert!(
            greedy <= drawn && drawn <= fifo,
            "{percent} %: d_choices {drawn}, greedy {greedy}, fifo {fifo}"
        );
    }
}
