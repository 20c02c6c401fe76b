//! The NBD protocol without sockets: received bytes become commands, and replies become bytes to send.
//!
//! A [`Session`] is the state of one connection. A session gets the received bytes, reports how many of these bytes
//! it has used, and appends the bytes to send to an output. The session itself answers every invalid request of a
//! client. So a [`Command`] that the session returns is always valid. A client cannot make a session allocate memory
//! by announcing a large length: the session checks a length before it stores data, and skips data that are too long.
//!
//! A session supports these parts of the protocol: the fixed newstyle handshake and its options, simple and
//! structured replies, the commands of the baseline, and the commands write-zeroes, cache and block status. The terms
//! are those of the protocol's document (`doc/proto.md` of the reference implementation).

mod options;
mod reply;
mod session;
#[cfg(test)]
mod tests;
pub mod wire;

pub use reply::{Extent, Reply};
pub use session::{Command, CommandKind, Session, Step};

/// The largest number of bytes of a request's payload. The protocol's document asks every server to accept payloads
/// of this size.
pub const PAYLOAD_MAX: u32 = 1 << 25;
/// The smallest block that can be addressed, in bytes: a sector.
pub const BLOCK_MIN: u32 = 512;
/// The largest number of bytes of a string.
pub const STRING_MAX: usize = 4096;

/// The export that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The name. The empty name selects this export as well.
    pub name: String,
    /// The size in bytes, a multiple of [`BLOCK_MIN`].
    pub bytes: u64,
    /// Whether clients may only read.
    pub read_only: bool,
    /// The block size in bytes with which the device works best: a power of two from 512 to [`PAYLOAD_MAX`].
    pub preferred_block: u32,
    /// A line of text that describes the export to people.
    pub about: String,
}

impl Export {
    fn is_called(&self, name: &[u8]) -> bool {
        name.is_empty() || name == self.name.as_bytes()
    }

    fn transmission_flags(&self, structured: bool) -> u16 {
        let mut flags = wire::FLAG_HAS_FLAGS
            | wire::FLAG_SEND_FLUSH
            | wire::FLAG_SEND_FUA
            | wire::FLAG_CAN_MULTI_CONN
            | wire::FLAG_SEND_CACHE;
        flags |= if self.read_only {
            wire::FLAG_READ_ONLY
        } else {
            wire::FLAG_SEND_TRIM | wire::FLAG_SEND_WRITE_ZEROES | wire::FLAG_SEND_FAST_ZERO
        };
        if structured {
            flags |= wire::FLAG_SEND_DF;
        }
        flags
    }
}

/// The reason why a command failed, with the error number of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum ErrorCode {
    /// Operation not permitted.
    Permission = 1,
    /// Input or output error.
    Io = 5,
    /// There is no memory for the command.
    NoMemory = 12,
    /// Invalid argument.
    Invalid = 22,
    /// No space left on the device.
    NoSpace = 28,
    /// Operation not supported.
    NotSupported = 95,
    /// The server is being shut down.
    Shutdown = 108,
}
