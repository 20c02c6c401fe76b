//! The constants of the protocol, and the encoding of its numbers, which is big-endian.

/// Magic number: the start of the greeting.
pub const NBDMAGIC: u64 = 0x4e42_444d_4147_4943;
/// Magic number: the second number of the greeting, and the start of each option.
pub const IHAVEOPT: u64 = 0x4948_4156_454f_5054;
/// Magic number: the start of the reply to an option.
pub const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
/// Magic number: the start of a request.
pub const REQUEST: u32 = 0x2560_9513;
/// Magic number: the start of a simple reply.
pub const SIMPLE_REPLY: u32 = 0x6744_6698;
/// Magic number: the start of a chunk of a structured reply.
pub const STRUCTURED_REPLY: u32 = 0x668e_33ef;

/// Handshake flag of both sides: the server answers an invalid option with an error, and the handshake continues.
pub const FIXED_NEWSTYLE: u16 = 1;
/// Handshake flag of both sides: no zeros follow the answer to an export name.
pub const NO_ZEROES: u16 = 2;

/// Transmission flag: the flags are valid.
pub const FLAG_HAS_FLAGS: u16 = 1;
/// Transmission flag: the export is read-only.
pub const FLAG_READ_ONLY: u16 = 1 << 1;
/// Transmission flag: flush is supported.
pub const FLAG_SEND_FLUSH: u16 = 1 << 2;
/// Transmission flag: force unit access is supported.
pub const FLAG_SEND_FUA: u16 = 1 << 3;
/// Transmission flag: trim is supported.
pub const FLAG_SEND_TRIM: u16 = 1 << 5;
/// Transmission flag: write-zeroes is supported.
pub const FLAG_SEND_WRITE_ZEROES: u16 = 1 << 6;
/// Transmission flag: reads whose reply is in one chunk are supported.
pub const FLAG_SEND_DF: u16 = 1 << 7;
/// Transmission flag: all connections share one cache, so a flush on one connection covers the writes of all
/// connections.
pub const FLAG_CAN_MULTI_CONN: u16 = 1 << 8;
/// Transmission flag: cache is supported.
pub const FLAG_SEND_CACHE: u16 = 1 << 10;
/// Transmission flag: the server knows the command flag for fast zeroes. A write-zeroes with this flag fails if it
/// would not be faster than a write.
pub const FLAG_SEND_FAST_ZERO: u16 = 1 << 11;

/// Option: select this export, and end the options.
pub const OPT_EXPORT_NAME: u32 = 1;
/// Option: end the connection.
pub const OPT_ABORT: u32 = 2;
/// Option: list the exports.
pub const OPT_LIST: u32 = 3;
/// Option: use encryption.
pub const OPT_STARTTLS: u32 = 5;
/// Option: report the properties of this export.
pub const OPT_INFO: u32 = 6;
/// Option: report the properties of this export, select it, and end the options.
pub const OPT_GO: u32 = 7;
/// Option: use structured replies.
pub const OPT_STRUCTURED_REPLY: u32 = 8;
/// Option: list the metadata contexts.
pub const OPT_LIST_META_CONTEXT: u32 = 9;
/// Option: select these metadata contexts.
pub const OPT_SET_META_CONTEXT: u32 = 10;

/// Option reply: done.
pub const REP_ACK: u32 = 1;
/// Option reply: an export.
pub const REP_SERVER: u32 = 2;
/// Option reply: a fact about an export.
pub const REP_INFO: u32 = 3;
/// Option reply: a metadata context.
pub const REP_META_CONTEXT: u32 = 4;
/// Option reply: the option is not supported.
pub const REP_ERR_UNSUP: u32 = (1 << 31) + 1;
/// Option reply: the data of the option are invalid.
pub const REP_ERR_INVALID: u32 = (1 << 31) + 3;
/// Option reply: there is no such export.
pub const REP_ERR_UNKNOWN: u32 = (1 << 31) + 6;
/// Option reply: the data of the option are too long.
pub const REP_ERR_TOO_BIG: u32 = (1 << 31) + 9;

/// Fact: size and transmission flags.
pub const INFO_EXPORT: u16 = 0;
/// Fact: name.
pub const INFO_NAME: u16 = 1;
/// Fact: description for people.
pub const INFO_DESCRIPTION: u16 = 2;
/// Fact: block sizes.
pub const INFO_BLOCK_SIZE: u16 = 3;

/// Command: read.
pub const CMD_READ: u16 = 0;
/// Command: write.
pub const CMD_WRITE: u16 = 1;
/// Command: disconnect after all other commands are answered.
pub const CMD_DISC: u16 = 2;
/// Command: flush.
pub const CMD_FLUSH: u16 = 3;
/// Command: trim.
pub const CMD_TRIM: u16 = 4;
/// Command: cache, a hint that the range will be read soon.
pub const CMD_CACHE: u16 = 5;
/// Command: write-zeroes.
pub const CMD_WRITE_ZEROES: u16 = 6;
/// Command: block status.
pub const CMD_BLOCK_STATUS: u16 = 7;

/// Command flag: force unit access.
pub const CMD_FLAG_FUA: u16 = 1;
/// Command flag: the zeros stay allocated.
pub const CMD_FLAG_NO_HOLE: u16 = 1 << 1;
/// Command flag: reply in one chunk.
pub const CMD_FLAG_DF: u16 = 1 << 2;
/// Command flag: report one extent only.
pub const CMD_FLAG_REQ_ONE: u16 = 1 << 3;
/// Command flag: write zeros only if that is faster than a write.
pub const CMD_FLAG_FAST_ZERO: u16 = 1 << 4;

/// Structured reply flag: this is the last chunk.
pub const REPLY_FLAG_DONE: u16 = 1;
/// Chunk: no content.
pub const REPLY_NONE: u16 = 0;
/// Chunk: bytes.
pub const REPLY_OFFSET_DATA: u16 = 1;
/// Chunk: extents.
pub const REPLY_BLOCK_STATUS: u16 = 5;
/// Chunk: an error.
pub const REPLY_ERROR: u16 = (1 << 15) + 1;

/// Extent state: not allocated.
pub const STATE_HOLE: u32 = 1;
/// Extent state: reads as zeros.
pub const STATE_ZERO: u32 = 2;

/// The name of the only metadata context, which reports which ranges are allocated.
pub const ALLOCATION: &str = "base:allocation";

/// The number of bytes of a request without its payload.
pub const REQUEST_BYTES: usize = 28;
/// The number of bytes of an option without its data.
pub const OPTION_BYTES: usize = 16;

/// Reads big-endian numbers from the front of a slice of bytes. Each method returns `None` if too few bytes are
/// left.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// Reads the next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    /// Reads a number of 16 bits.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// Reads a number of 32 bits.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// Reads a number of 64 bits.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }
}

/// Appends big-endian numbers.
pub trait Put {
    /// Appends a number of 16 bits.
    fn put16(&mut self, value: u16);
    /// Appends a number of 32 bits.
    fn put32(&mut self, value: u32);
    /// Appends a number of 64 bits.
    fn put64(&mut self, value: u64);
}

impl Put for Vec<u8> {
    fn put16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_be_bytes());
    }
    fn put32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_be_bytes());
    }
    fn put64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_be_bytes());
    }
}
