//! Ctrl-C and other signals: runs stop at once, and unfinished files are removed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[cfg(unix)]
use nix::sys::signal::{SigSet, Signal};

use crate::errors::Failure;
use destage::files;

static ASKED: AtomicBool = AtomicBool::new(false);

/// The function that Ctrl-C calls instead of ending the program. If Ctrl-C ends the program, the handler sets this to
/// [`wait_for_end`], so that nothing can take its place any more.
static ON_INTERRUPT: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// How long the command may take to stop by itself after Ctrl-C.
const GRACE: Duration = Duration::from_millis(700);

/// Installs the handler. On a system without signals, Ctrl-C ends the program at once. This function has to be called
/// before the first thread is started.
pub(crate) fn install() {
    #[cfg(unix)]
    block();
    let _ = ctrlc::set_handler(|| {
        if let Some(act) = ON_INTERRUPT.get() {
            return act();
        }
        ASKED.store(true, Ordering::Relaxed);
        std::thread::sleep(GRACE);
        // A server that was starting may be ready by now. If it is not, it must not become ready any more: it could
        // answer writes that the end of the program would then lose.
        if ON_INTERRUPT.set(Box::new(wait_for_end)).is_err()
            && let Some(act) = ON_INTERRUPT.get()
        {
            return act();
        }
        // The command has not stopped by itself, because it is blocked, for instance in a read of standard input.
        files::abandon();
        let status = Failure::Interrupted.report();
        std::process::exit(i32::from(status));
    });
}

/// Waits until the handler ends the program. This function never returns.
fn wait_for_end() {
    loop {
        std::thread::park();
    }
}

/// Blocks signals that are to have no effect, in this thread and in all threads that it starts.
///
/// If the signal XFSZ is blocked, a write beyond the limit of the size of a file is an error, as on a full file system.
/// If a signal is ignored from the start, the user does not want it to end the program: `nohup` ignores HUP, and a
/// script ignores INT for its jobs in the background. The handler of this program would otherwise replace this choice.
///
/// All programs that this program starts inherit the blocked signals, because the standard library leaves the signal
/// mask as it is, and a function that runs in the child before the other program (`pre_exec`) would need unsafe code.
/// docs/CRASH.md says what this means for the programs that `destage crash` starts.
#[cfg(unix)]
fn block() {
    let mut blocked = SigSet::empty();
    blocked.add(Signal::SIGXFSZ);
    // Only Linux has this file. On another system, no signal counts as ignored.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for signal in [Signal::SIGHUP, Signal::SIGINT] {
        if is_ignored(signal, &status) {
            blocked.add(signal);
        }
    }
    // If this call fails, the signals have their usual effects.
    let _ = blocked.thread_block();
}

/// Whether a process ignores `signal`. `status` is the file `status` of the process in /proc.
#[cfg(unix)]
fn is_ignored(signal: Signal, status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| (mask >> (signal as i32 - 1)) & 1 == 1)
}

/// Makes Ctrl-C and termination signals call `act`. Only the first call of this function has an effect. If the user has
/// interrupted the command already, `act` is called at once. If the handler is already ending the program, this
/// function does not return.
#[cfg(unix)]
pub(crate) fn on_interrupt(act: impl Fn() + Send + Sync + 'static) {
    // If the handler was first, this is `wait_for_end`, and the flag has been set before it.
    let act = ON_INTERRUPT.get_or_init(|| Box::new(act));
    if asked() {
        act();
    }
}

/// Makes Ctrl-C and termination signals only set a flag. The command then ends by itself, and may take as long as it
/// needs.
#[cfg(unix)]
pub(crate) fn end_in_order() {
    on_interrupt(|| ASKED.store(true, Ordering::Relaxed));
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_signal_is_found_in_the_status() {
        let status = "Name:\tdestage\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001001\n";
        assert!(is_ignored(Signal::SIGHUP, status));
        assert!(!is_ignored(Signal::SIGINT, status));
        assert!(is_ignored(Signal::SIGPIPE, status));
        assert!(!is_ignored(Signal::SIGHUP, ""));
    }
}
