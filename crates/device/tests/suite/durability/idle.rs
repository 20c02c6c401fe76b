//! Write-backs in idle time, on a device whose pages form many groups with separate idle times.

use destage_device::Span;

use crate::kit::{Command, Stack};

#[test]
fn seventy_thousand_dies_are_watched_one_by_one() {
    const DIES: u32 = 70_000;
    let mut stack = Stack::new("apu-lru-d", 4 * DIES, "page", DIES, 6);
    stack.geometry.pages_per_block = 1;
    stack.scheme_settings = vec![("packages_per_piece", "1"), ("apu_idle_scope", "piece")];
    stack.layer_settings = vec![("reserve_percent", "50"), ("min_free_percent", "10")];
    let mut rig = stack.build();
    let last = u64::from(DIES) - 1;
    for page in [0, 65_535, 65_536, last] {
        let span = Span::whole(page, 1);
        rig.device.announce(&span);
        let version = rig.write(0, page, 1, b'a');
        rig.device.retire(&span, &mut rig.flash);
        let alarm = rig.flash.alarms.pop().expect("its die is idle");
        assert!(rig.flash.alarms.is_empty() && rig.busy().is_empty());
        rig.wake(alarm);
        assert!(
            matches!(rig.flash.commands[page as usize], Some(Command::Serve(_))),
            "page {page}"
        );
        rig.settle();
        assert_eq!(rig.on_flash(page), Some((version, vec![b'a'])));
    }
}
