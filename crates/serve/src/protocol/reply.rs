//! The encoding of replies to commands.

use super::wire::{self, Put};
use super::{Command, CommandKind, ErrorCode, Export};

/// A range of the export, and its state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The length in bytes; not 0.
    pub bytes: u32,
    /// Whether the range was never written or was trimmed.
    pub is_hole: bool,
    /// Whether the range reads as zeros.
    pub is_zero: bool,
}

/// The properties of a command that are needed to encode the reply to the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    cookie: u64,
    offset: u64,
    length: u32,
    is_read: bool,
    structured: bool,
}

impl Reply {
    pub(super) fn to(command: &Command<'_>, structured: bool) -> Self {
        Self {
            cookie: command.cookie,
            offset: command.offset,
            length: command.length,
            is_read: command.kind == CommandKind::Read,
            structured,
        }
    }

    /// The first byte of the command's range.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of data bytes in a successful reply: the length of a read, otherwise 0.
    #[must_use]
    pub fn data_bytes(&self) -> u32 {
        if self.is_read { self.length } else { 0 }
    }

    /// Appends a successful reply. For a read, the caller then has to append the data.
    pub fn done(&self, out: &mut Vec<u8>) {
        if self.is_read && self.structured {
            self.chunk(wire::REPLY_OFFSET_DATA, 8 + self.length, out);
            out.put64(self.offset);
        } else {
            self.simple(0, out);
        }
    }

    /// Appends a reply that the command failed with `error`. `why` is a message for people. A structured reply
    /// contains the first 4096 bytes of the message. A simple reply contains no message.
    pub fn failed(&self, error: ErrorCode, why: &str, out: &mut Vec<u8>) {
        if !self.structured {
            return self.simple(error as u32, out);
        }
        let why = &why.as_bytes()[..why.len().min(super::STRING_MAX)];
        self.chunk(wire::REPLY_ERROR, 6 + why.len() as u32, out);
        out.put32(error as u32);
        out.put16(why.len() as u16);
        out.extend_from_slice(why);
    }

    /// Appends the reply to a block status. `extents` are the states of the range, from the start of the range. There
    /// must be at least one extent.
    pub fn block_status(&self, extents: &[Extent], out: &mut Vec<u8>) {
        self.chunk(wire::REPLY_BLOCK_STATUS, 4 + 8 * extents.len() as u32, out);
        out.put32(super::session::ALLOCATION_ID);
        for extent in extents {
            out.put32(extent.bytes);
            let hole = if extent.is_hole { wire::STATE_HOLE } else { 0 };
            let zero = if extent.is_zero { wire::STATE_ZERO } else { 0 };
            out.put32(hole | zero);
        }
    }

    fn simple(&self, error: u32, out: &mut Vec<u8>) {
        out.put32(wire::SIMPLE_REPLY);
        out.put32(error);
        out.put64(self.cookie);
    }

    /// Appends the header of a reply of a single chunk, which has `length` bytes after the header.
    fn chunk(&self, kind: u16, length: u32, out: &mut Vec<u8>) {
        out.put32(wire::STRUCTURED_REPLY);
        out.put16(wire::REPLY_FLAG_DONE);
        out.put16(kind);
        out.put64(self.cookie);
        out.put32(length);
    }
}

/// The error in `command` on `export`, as the error code of the protocol and a message; `None` if the command is
/// valid.
pub(super) fn fault(
    command: &Command<'_>,
    flags: u16,
    export: &Export,
    (structured, allocation): (bool, bool),
) -> Option<(ErrorCode, &'static str)> {
    use CommandKind::{BlockStatus, Cache, Disconnect, Flush, Read, Trim, Write, WriteZeroes};
    if command.kind == Disconnect {
        // A disconnect has no reply.
        return None;
    }
    let own = match command.kind {
        Read if structured => wire::CMD_FLAG_DF,
        WriteZeroes => wire::CMD_FLAG_NO_HOLE | wire::CMD_FLAG_FAST_ZERO,
        BlockStatus => wire::CMD_FLAG_REQ_ONE,
        _ => 0,
    };
    if flags & !(own | wire::CMD_FLAG_FUA) != 0 {
        return Some((ErrorCode::Invalid, "a flag that this command does not have"));
    }
    if command.kind == Flush {
        let is_plain = command.offset == 0 && command.length == 0;
        return (!is_plain).then_some((ErrorCode::Invalid, "a flush has no offset and no length"));
    }
    let writes = matches!(command.kind, Write | WriteZeroes | Trim);
    if writes && export.read_only {
        return Some((ErrorCode::Permission, "the export is read-only"));
    }
    if command.kind == BlockStatus && !allocation {
        return Some((ErrorCode::Invalid, "no metadata context was selected"));
    }
    if command.length == 0 {
        return Some((ErrorCode::Invalid, "a length of 0"));
    }
    let block = u64::from(super::BLOCK_MIN);
    if !command.offset.is_multiple_of(block) || !u64::from(command.length).is_multiple_of(block) {
        return Some((ErrorCode::Invalid, "not in whole blocks of 512 bytes"));
    }
    let end = command.offset.checked_add(command.length.into());
    if end.is_none_or(|end| end > export.bytes) {
        let code = match command.kind {
            Write | WriteZeroes => ErrorCode::NoSpace,
            Read | Trim | Cache | BlockStatus | Flush | Disconnect => ErrorCode::Invalid,
        };
        return Some((code, "ends beyond the export"));
    }
    let has_payload = matches!(command.kind, Read | Write);
    if has_payload && command.length > super::PAYLOAD_MAX {
        return Some((ErrorCode::Invalid, "longer than 32 MiB"));
    }
    if flags & wire::CMD_FLAG_FAST_ZERO != 0 {
        let why = "zeros are no faster than a write";
        return Some((ErrorCode::NotSupported, why));
    }
    None
}
