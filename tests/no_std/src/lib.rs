//! A buffer over a flash device, linked without an operating system.
#![no_std]
extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};

/// A device has its own allocator; this one only has to link.
struct NoMemory;

// SAFETY: it never hands out memory, which an allocator may always refuse to do.
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

/// Uses every scheme and every FTL, so that all of their code is linked.
#[unsafe(no_mangle)]
pub extern "C" fn destage_registries() -> usize {
    destage_buffer::SCHEMES.len() + destage_flash::ftl::FTLS.len()
}
