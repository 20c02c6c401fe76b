//! The write buffers of existing emulators and simulators, so that their results can be compared with those of other
//! schemes.
//!
//! Each scheme follows the source code that it names. The source code determines which pages remain in the buffer,
//! which pages are evicted, and when. Times are those of the simulated device. Some source code omits a duty of a
//! device, such as flushes, FUA writes or reads from the buffer. The scheme still performs that duty, and the
//! documentation page of the scheme says so.

pub mod femu;
pub mod mqsim;
pub mod nvmevirt;
pub mod simplessd;
