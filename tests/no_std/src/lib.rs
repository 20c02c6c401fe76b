//! A buffer over a flash device, linked without an operating system.
#![no_std]
extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};

use destage_device::{BatchStep, Device, Driver, Progress, Request, Token, Transaction};
use destage_nand::Operations;

/// Real firmware has an allocator of its own. This allocator only makes the library link.
struct NoMemory;

// SAFETY: `alloc` always returns null. An allocator may always report in this way that no memory is available.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: NoMemory = NoMemory;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// A driver that executes no operation.
struct Nobody;

impl Driver for Nobody {
    fn begin(&mut self, _: u32, _: Transaction, _: &Operations, _: u64, _: Token) -> Progress {
        Progress::Ended
    }
    fn serve_batch(&mut self, _: u32, _: BatchStep<'_>) {}
    fn answer(&mut self, _: u32) {}
    fn wake_after(&mut self, _: u64, _: u32) {}
}

/// Submits a request, so that the whole code of the device is linked.
///
/// # Safety
/// Each pointer must point to a valid value of its type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn destage_submit(device: *mut Device, request: *const Request) -> bool {
    let (device, request) = unsafe { (&mut *device, &*request) };
    device.submit(0, request, 0, &mut Nobody).is_ok()
}

/// Uses every scheme and every FTL, so that the code of all schemes and FTLs is linked.
#[unsafe(no_mangle)]
pub extern "C" fn destage_registries() -> usize {
    destage_buffer::SCHEMES.len() + destage_ftl::FTLS.len()
}
