//! Ctrl-C: runs stop where they are, and no file is left.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::errors::Failure;
use crate::output::files;

static ASKED: AtomicBool = AtomicBool::new(false);

/// How long the command may take to stop by itself.
const GRACE: Duration = Duration::from_millis(700);

/// Installs the handler. Without one (a system that has no signals), Ctrl-C just ends the program.
pub(crate) fn install() {
    let _ = ctrlc::set_handler(|| {
        ASKED.store(true, Ordering::Relaxed);
        std::thread::sleep(GRACE);
        // Blocked in a read, for instance of standard input.
        files::abandon();
        let status = Failure::Interrupted.report();
        std::process::exit(i32::from(status));
    });
}

/// Whether the user asked to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// An error if the user asked to stop.
pub(crate) fn check() -> Result<(), Failure> {
    if asked() {
        Err(Failure::Interrupted)
    } else {
        Ok(())
    }
}
