//! Ctrl-C: runs stop where they are, and no file is left.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::errors::Failure;
use destage::files;

static ASKED: AtomicBool = AtomicBool::new(false);

/// What Ctrl-C does before the command ends.
static INSTEAD: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// How long the command may take to stop by itself after Ctrl-C.
const GRACE: Duration = Duration::from_millis(700);

/// Installs the handler. On a system without signals, Ctrl-C ends the program at once.
pub(crate) fn install() {
    let _ = ctrlc::set_handler(|| {
        if let Some(instead) = INSTEAD.get() {
            return instead();
        }
        ASKED.store(true, Ordering::Relaxed);
        std::thread::sleep(GRACE);
        // Blocked in a read, for instance of standard input.
        files::abandon();
        let status = Failure::Interrupted.report();
        std::process::exit(i32::from(status));
    });
}

/// From now on Ctrl-C or a termination signal calls this function; it is called once.
#[cfg(unix)]
pub(crate) fn instead(act: impl Fn() + Send + Sync + 'static) {
    let _ = INSTEAD.set(Box::new(act));
}

/// From now on Ctrl-C or a termination signal only sets a flag: the command ends by itself, however long that takes.
#[cfg(unix)]
pub(crate) fn end_in_order() {
    instead(|| ASKED.store(true, Ordering::Relaxed));
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
