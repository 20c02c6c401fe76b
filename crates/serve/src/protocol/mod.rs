//! The NBD protocol without sockets: bytes in, commands out, replies as bytes.
//!
//! A [`Session`] is one connection. It is given the bytes that have arrived, says how many it took, and appends the bytes to send to an output.
//! Everything that a client may get wrong is answered here; a [`Command`] that comes out is legal. Nothing grows with a client's claims: lengths are
//! checked before anything is kept, and data that are too long are skipped.
//!
//! The supported part of the protocol: the fixed newstyle handshake and its options, simple and structured replies, and the commands of the baseline
//! with write-zeroes, cache and block status. The terms are those of the protocol's document (`doc/proto.md` of the reference implementation).

mod options;
mod reply;
mod session;
#[cfg(test)]
mod tests;
pub mod wire;

pub use reply::{Extent, Reply};
pub use session::{Command, CommandKind, Session, Step};

/// Most bytes of a request's payload; the document asks every server to accept that many.
pub const PAYLOAD_MAX: u32 = 1 << 25;
/// Bytes of the smallest addressable block: a sector.
pub const BLOCK_MIN: u32 = 512;
/// Bytes of a string, at most.
pub const STRING_MAX: usize = 4096;

/// What is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Its name; the empty name asks for it as well.
    pub name: String,
    /// Bytes; a multiple of [`BLOCK_MIN`].
    pub bytes: u64,
    /// Whether it may only be read.
    pub read_only: bool,
    /// Bytes of the block that is best: a power of two from 512 to [`PAYLOAD_MAX`].
    pub preferred_block: u32,
    /// One line for people.
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

/// Why a command failed, as the protocol says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum ErrorCode {
    /// Operation not permitted.
    Permission = 1,
    /// Input or output error.
    Io = 5,
    /// There is no memory for it.
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
