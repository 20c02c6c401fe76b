//! Ctrl-C: runs stop at once, and unfinished files are removed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::errors::Failure;
use destage::files;

static ASKED: AtomicBool = AtomicBool::new(false);

/// The function that Ctrl-C calls instead of ending the program.
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
        // The command has not stopped by itself, because it is blocked, for instance in a read of standard input.
        files::abandon();
        let status = Failure::Interrupted.report();
        std::process::exit(i32::from(status));
    });
}

/// Makes Ctrl-C and termination signals call `act`. Only the first call of this function has an effect.
#[cfg(unix)]
pub(crate) fn instead(act: impl Fn() + Send + Sync + 'static) {
    let _ = INSTEAD.set(Box::new(act));
}

/// Makes Ctrl-C and termination signals only set a flag. The command then ends by itself, and may take as long as it
/// needs.
#[cfg(unix)]
pub(crate) fn end_in_order() {
    instead(|| ASKED.store(true, Ordering::Relaxed));
}

/// Whether the user has interrupted the command.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Returns an error if the user has interrupted the command.
pub(crate) fn check() -> Result<(), Failure> {
    if asked() {
        Err(Failure::Interrupted)
    } else {
        Ok(())
    }
}
