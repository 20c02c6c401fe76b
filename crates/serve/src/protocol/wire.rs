//! The numbers of the protocol, and how they stand in bytes: the highest byte first.

/// Begins the greeting.
pub const NBDMAGIC: u64 = 0x4e42_444d_4147_4943;
/// Follows it, and begins each option.
pub const IHAVEOPT: u64 = 0x4948_4156_454f_5054;
/// Begins the reply to an option.
pub const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
/// Begins a request.
pub const REQUEST: u32 = 0x2560_9513;
/// Begins a simple reply.
pub const SIMPLE_REPLY: u32 = 0x6744_6698;
/// Begins a chunk of a structured reply.
pub const STRUCTURED_REPLY: u32 = 0x668e_33ef;

/// Handshake, both sides: errors may be answered, and options go on.
pub const FIXED_NEWSTYLE: u16 = 1;
/// Handshake, both sides: no zeros behind the answer to an export name.
pub const NO_ZEROES: u16 = 2;

/// Transmission flags are there.
pub const FLAG_HAS_FLAGS: u16 = 1;
/// The export is read-only.
pub const FLAG_READ_ONLY: u16 = 1 << 1;
/// Flush is known.
pub const FLAG_SEND_FLUSH: u16 = 1 << 2;
/// Force unit access is known.
pub const FLAG_SEND_FUA: u16 = 1 << 3;
/// Trim is known.
pub const FLAG_SEND_TRIM: u16 = 1 << 5;
/// Write-zeroes is known.
pub const FLAG_SEND_WRITE_ZEROES: u16 = 1 << 6;
/// Reads in one piece are known.
pub const FLAG_SEND_DF: u16 = 1 << 7;
/// One cache for all connections.
pub const FLAG_CAN_MULTI_CONN: u16 = 1 << 8;
/// Cache is known.
pub const FLAG_SEND_CACHE: u16 = 1 << 10;
/// Fast zeroes are known, and refused where they are not fast.
pub const FLAG_SEND_FAST_ZERO: u16 = 1 << 11;

/// Option: this export, and no more options.
pub const OPT_EXPORT_NAME: u32 = 1;
/// Option: the end.
pub const OPT_ABORT: u32 = 2;
/// Option: which exports there are.
pub const OPT_LIST: u32 = 3;
/// Option: encryption.
pub const OPT_STARTTLS: u32 = 5;
/// Option: the properties of this export.
pub const OPT_INFO: u32 = 6;
/// Option: the same, and no more options.
pub const OPT_GO: u32 = 7;
/// Option: structured replies.
pub const OPT_STRUCTURED_REPLY: u32 = 8;
/// Option: which metadata contexts there are.
pub const OPT_LIST_META_CONTEXT: u32 = 9;
/// Option: these metadata contexts.
pub const OPT_SET_META_CONTEXT: u32 = 10;

/// Option reply: done.
pub const REP_ACK: u32 = 1;
/// Option reply: an export.
pub const REP_SERVER: u32 = 2;
/// Option reply: a fact about an export.
pub const REP_INFO: u32 = 3;
/// Option reply: a metadata context.
pub const REP_META_CONTEXT: u32 = 4;
/// Option reply: not known here.
pub const REP_ERR_UNSUP: u32 = (1 << 31) + 1;
/// Option reply: makes no sense.
pub const REP_ERR_INVALID: u32 = (1 << 31) + 3;
/// Option reply: no such export.
pub const REP_ERR_UNKNOWN: u32 = (1 << 31) + 6;
/// Option reply: too long.
pub const REP_ERR_TOO_BIG: u32 = (1 << 31) + 9;

/// Fact: size and flags.
pub const INFO_EXPORT: u16 = 0;
/// Fact: the name.
pub const INFO_NAME: u16 = 1;
/// Fact: a line for people.
pub const INFO_DESCRIPTION: u16 = 2;
/// Fact: sizes of blocks.
pub const INFO_BLOCK_SIZE: u16 = 3;

/// Command.
pub const CMD_READ: u16 = 0;
/// Command.
pub const CMD_WRITE: u16 = 1;
/// Command: the end, once all others are answered.
pub const CMD_DISC: u16 = 2;
/// Command.
pub const CMD_FLUSH: u16 = 3;
/// Command.
pub const CMD_TRIM: u16 = 4;
/// Command: soon to be read.
pub const CMD_CACHE: u16 = 5;
/// Command.
pub const CMD_WRITE_ZEROES: u16 = 6;
/// Command.
pub const CMD_BLOCK_STATUS: u16 = 7;

/// Command flag: force unit access.
pub const CMD_FLAG_FUA: u16 = 1;
/// Command flag: zeros take their place.
pub const CMD_FLAG_NO_HOLE: u16 = 1 << 1;
/// Command flag: the answer in one piece.
pub const CMD_FLAG_DF: u16 = 1 << 2;
/// Command flag: one extent.
pub const CMD_FLAG_REQ_ONE: u16 = 1 << 3;
/// Command flag: zeros, if that is faster than a write.
pub const CMD_FLAG_FAST_ZERO: u16 = 1 << 4;

/// Structured reply: the last chunk.
pub const REPLY_FLAG_DONE: u16 = 1;
/// Chunk: no content.
pub const REPLY_NONE: u16 = 0;
/// Chunk: bytes.
pub const REPLY_OFFSET_DATA: u16 = 1;
/// Chunk: zeros.
pub const REPLY_OFFSET_HOLE: u16 = 2;
/// Chunk: extents.
pub const REPLY_BLOCK_STATUS: u16 = 5;
/// Chunk: an error.
pub const REPLY_ERROR: u16 = (1 << 15) + 1;

/// Extent: not allocated.
pub const STATE_HOLE: u32 = 1;
/// Extent: reads as zeros.
pub const STATE_ZERO: u32 = 2;

/// The one metadata context: which ranges are allocated.
pub const ALLOCATION: &str = "base:allocation";

/// Bytes of a request without its payload.
pub const REQUEST_BYTES: usize = 28;
/// Bytes of an option without its data.
pub const OPTION_BYTES: usize = 16;

/// Takes numbers from the front of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// This many bytes, if they are there.
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    /// 16 bits.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// 32 bits.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// 64 bits.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }
}

/// Appends numbers.
pub trait Put {
    /// 16 bits.
    fn put16(&mut self, value: u16);
    /// 32 bits.
    fn put32(&mut self, value: u32);
    /// 64 bits.
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
