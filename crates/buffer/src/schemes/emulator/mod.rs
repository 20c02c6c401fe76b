//! The write buffers of emulators and simulators that are in use, so that their results can be compared with those of
//! other schemes.
//!
//! Each scheme follows the source that it names: which pages stay in the buffer, which leave, and when. Times are
//! those of the simulated device. If a source omits a duty of a device, such as flushes, FUA writes or reads from the
//! buffer, the scheme still performs it; the documentation page of the scheme says where.

pub mod femu;
pub mod mqsim;
pub mod nvmevirt;
pub mod simplessd;
