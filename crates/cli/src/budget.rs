//! The memory budget: `--memory-limit`, and the end of a command that would exceed it.

use destage_base::parameter::read_bytes;
use destage_memory::Excess;

use crate::errors::Failure;
use crate::output::numbers;
use destage::files;

/// Limits the memory of the program to half of the machine's memory, until `--memory-limit` sets another limit.
pub(crate) fn install() {
    destage_memory::on_excess(end);
    if let Some(bytes) = destage_memory::default_limit() {
        destage_memory::set_limit(bytes);
    }
}

/// Sets the memory limit to the value of `--memory-limit`.
pub(crate) fn set(text: Option<&str>) -> Result<(), Failure> {
    let Some(text) = text else { return Ok(()) };
    let bytes = read_bytes(text).filter(|bytes| *bytes > 0).ok_or_else(|| {
        Failure::input(format!(
            "--memory-limit: {text:?}: expected a size in bytes of at least 1, such as 8GiB, 512MiB or 8388608"
        ))
    })?;
    destage_memory::set_limit(bytes);
    Ok(())
}

/// Removes unfinished files, releases the resources of a crash test, and ends the program. The calling thread may hold
/// a lock, or be in the middle of a write to standard error. So this function waits for no lock without end, and writes
/// directly to the file of standard error.
fn end(excess: Excess) -> ! {
    files::abandon();
    let line = format!("destage: error: {}\n", sentence(&excess));
    errors_directly(line.as_bytes());
    #[cfg(unix)]
    destage_serve::crash::abandon();
    std::process::exit(2)
}

fn sentence(excess: &Excess) -> String {
    let doing = match &*excess.doing {
        "" => "starting",
        text => text,
    };
    let (asked, used) = (numbers::size(excess.asked), numbers::size(excess.used));
    match excess.limit {
        Some(limit) => format!(
            "{doing}: needs {asked} of memory besides the {used} in use, beyond the limit of {}; expected less to do, or a larger --memory-limit",
            numbers::size(limit)
        ),
        None => format!(
            "{doing}: needs {asked} of memory besides the {used} in use, which the system does not have; expected less to do"
        ),
    }
}

#[cfg(unix)]
fn errors_directly(bytes: &[u8]) {
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::AsFd;
    // If standard error is closed, the line is dropped.
    if let Ok(copy) = std::io::stderr().as_fd().try_clone_to_owned() {
        let _ = File::from(copy).write_all(bytes);
    }
}

#[cfg(windows)]
fn errors_directly(bytes: &[u8]) {
    use std::fs::File;
    use std::io::Write;
    use std::os::windows::io::AsHandle;
    // If standard error is closed, the line is dropped.
    if let Ok(copy) = std::io::stderr().as_handle().try_clone_to_owned() {
        let _ = File::from(copy).write_all(bytes);
    }
}
