//! The write buffers of emulators and simulators in use today, so that their results can be compared with others.
//!
//! Each follows the rules of the source it names: which pages wait, which leave, and when. Times are those of the simulated device, and so are reads,
//! flushes and forced writes where a source leaves out a duty of a device; the page of each scheme says where.

pub mod femu;
pub mod mqsim;
pub mod nvmevirt;
pub mod simplessd;
