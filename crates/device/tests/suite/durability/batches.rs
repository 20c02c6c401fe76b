//! Dies with parallel units serve waiting operations together, in batches.

use crate::kit::{Command, Stack};

#[test]
fn d23_writes_and_trims_of_a_page_in_one_batch_are_one_program() {
    let mut stack = Stack::new("fifo", 1, "page", 1, 8);
    (stack.geometry.planes, stack.parallel_units, stack.copy_back) = (2, 2, true);
    stack.config.blocks_per_die = 16;
    let mut rig = stack.build();
    rig.write(0, 30, 1, b'x');
    let first = rig.write(1, 1, 1, b'a');
    rig.write(2, 9, 1, b'y');
    let trim = rig.trim(3, 1, 1);
    let second = rig.write(4, 1, 1, b'b');
    rig.flush(5);
    assert!(
        matches!(rig.flash.commands[0], Some(Command::Batch(1))),
        "page 30"
    );
    rig.end(0);
    assert!(
        matches!(rig.flash.commands[0], Some(Command::Batch(2))),
        "pages 1 and 9"
    );
    assert!(rig.ended(1, None).is_empty() && !rig.is_answered(5));
    rig.end(0);
    assert_eq!(rig.ended(1, Some(5)), [first, trim, second]);
    assert_eq!(rig.on_flash(1), Some((second, vec![b'b'])));
    let newest = rig.flash.payload.medium().newest(destage_base::Lpn(1));
    assert!(newest.unwrap().0.program <= 3, "one program of page 1");
    assert!(rig.is_answered(3) && rig.device.ftl().is_written(destage_base::Lpn(1)));
}
