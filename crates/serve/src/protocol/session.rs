//! The state of a connection, from the greeting through the options to the commands.

use super::options::{self, Negotiated, Next};
use super::reply::{self, Reply};
use super::wire::{self, Fields, Put};
use super::{ErrorCode, Export, PAYLOAD_MAX};

/// The number that identifies the metadata context `base:allocation` once a client has selected it.
pub(super) const ALLOCATION_ID: u32 = 1;

/// The kinds of commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommandKind {
    /// Send bytes to the client.
    Read,
    /// Write bytes from the client.
    Write,
    /// Make the range read as zeros.
    WriteZeroes,
    /// The client does not need the range any more.
    Trim,
    /// Make the data of all answered commands durable.
    Flush,
    /// The client will read the range soon.
    Cache,
    /// Report the state of the range.
    BlockStatus,
    /// End the connection after all other commands are answered.
    Disconnect,
}

/// A command that was checked and is valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command<'i> {
    /// The kind of the command.
    pub kind: CommandKind,
    /// The cookie by which the client identifies the command.
    pub cookie: u64,
    /// The offset of the range in the export, in bytes. The offset is a multiple of 512, and the range is within the
    /// export.
    pub offset: u64,
    /// The number of bytes of the range. The number is a multiple of 512, and is 0 only for a flush.
    pub length: u32,
    /// Whether the command has the flag for force unit access (FUA).
    pub fua: bool,
    /// For a block status: whether the reply must have one extent, no longer than the range.
    pub one_extent: bool,
    /// The payload of a write; empty for other commands.
    pub data: &'i [u8],
}

/// The result of one step.
#[derive(Debug)]
pub enum Step<'i> {
    /// Nothing was processed. This many bytes of input are needed.
    Needs(usize),
    /// This many bytes of input were used.
    Took(usize),
    /// This many bytes of input were used. They contained this command. The [`Reply`] encodes the answer to the
    /// command.
    Command(usize, Command<'i>, Reply),
    /// The connection has to be closed after the output was sent.
    Closed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The greeting was sent. Next, the client sends its flags.
    Greeted,
    Options,
    /// `left` bytes of the data of `option` have to be skipped. Then the option is refused with the reply
    /// `refusal`.
    PassingOption {
        option: u32,
        left: u32,
        refusal: u32,
    },
    Commands,
    /// `left` bytes of the payload of a command have to be skipped. Then the command fails with `error`.
    PassingPayload {
        left: u32,
        reply: Reply,
        error: (ErrorCode, &'static str),
    },
    Closed,
}

/// The state of a connection.
#[derive(Debug)]
pub struct Session {
    state: State,
    /// The handshake flags of the client: fixed newstyle, and no zeros.
    client: u16,
    negotiated: Negotiated,
}

impl Session {
    /// A new connection. The greeting is appended to `out`.
    #[must_use]
    pub fn new(out: &mut Vec<u8>) -> Self {
        out.put64(wire::NBDMAGIC);
        out.put64(wire::IHAVEOPT);
        out.put16(wire::FIXED_NEWSTYLE | wire::NO_ZEROES);
        Self {
            state: State::Greeted,
            client: 0,
            negotiated: Negotiated::default(),
        }
    }

    /// Whether the handshake is complete, so that the client may send commands.
    #[must_use]
    pub fn is_transmitting(&self) -> bool {
        matches!(self.state, State::Commands | State::PassingPayload { .. })
    }

    /// Processes one step of `input`, and appends replies to `out`.
    pub fn step<'i>(&mut self, export: &Export, input: &'i [u8], out: &mut Vec<u8>) -> Step<'i> {
        match self.state {
            State::Greeted => self.greet(input),
            State::Options => self.option(export, input, out),
            State::PassingOption {
                option,
                left,
                refusal,
            } => {
                let Some((taken, left)) = pass(input, left) else {
                    return Step::Needs(1);
                };
                self.state = if left > 0 {
                    State::PassingOption {
                        option,
                        left,
                        refusal,
                    }
                } else {
                    options::reply(option, refusal, &[], out);
                    State::Options
                };
                Step::Took(taken)
            }
            State::Commands => self.command(export, input, out),
            State::PassingPayload { left, reply, error } => {
                let Some((taken, left)) = pass(input, left) else {
                    return Step::Needs(1);
                };
                self.state = if left > 0 {
                    State::PassingPayload { left, reply, error }
                } else {
                    reply.failed(error.0, error.1, out);
                    State::Commands
                };
                Step::Took(taken)
            }
            State::Closed => Step::Closed,
        }
    }

    fn close<'i>(&mut self) -> Step<'i> {
        self.state = State::Closed;
        Step::Closed
    }

    fn greet<'i>(&mut self, input: &'i [u8]) -> Step<'i> {
        let Some(flags) = Fields(input).u32() else {
            return Step::Needs(4);
        };
        if flags & !u32::from(wire::FIXED_NEWSTYLE | wire::NO_ZEROES) != 0 {
            return self.close();
        }
        self.client = flags as u16;
        self.state = State::Options;
        Step::Took(4)
    }

    fn option<'i>(&mut self, export: &Export, input: &'i [u8], out: &mut Vec<u8>) -> Step<'i> {
        let mut fields = Fields(input);
        let header = (fields.u64(), fields.u32(), fields.u32());
        let (Some(magic), Some(option), Some(length)) = header else {
            return Step::Needs(wire::OPTION_BYTES);
        };
        let is_fixed = self.client & wire::FIXED_NEWSTYLE != 0;
        // A client without fixed newstyle understands only the reply to `EXPORT_NAME`. So any other option ends the
        // connection.
        if magic != wire::IHAVEOPT || !(is_fixed || option == wire::OPT_EXPORT_NAME) {
            return self.close();
        }
        if length as usize > options::data_max(option) {
            if option == wire::OPT_EXPORT_NAME {
                return self.close();
            }
            self.state = State::PassingOption {
                option,
                left: length,
                refusal: options::refusal_of_length(option),
            };
            return Step::Took(wire::OPTION_BYTES);
        }
        let Some(data) = fields.bytes(length as usize) else {
            return Step::Needs(wire::OPTION_BYTES + length as usize);
        };
        match self.negotiated.take(export, self.client, option, data, out) {
            Next::Options => {}
            Next::Commands => self.state = State::Commands,
            Next::Close => return self.close(),
        }
        Step::Took(wire::OPTION_BYTES + length as usize)
    }

    /// Skips the payload of the write whose header is at the start of `input`. After its payload was skipped, the
    /// write fails with `error`. The server uses this if it has no memory for the payload. Returns the number of
    /// bytes of input that were used, or `None` if `input` does not start with the header of a write.
    pub fn pass_over(&mut self, input: &[u8], error: (ErrorCode, &'static str)) -> Option<usize> {
        let header = Header::read(input)?;
        let is_write = header.magic == wire::REQUEST && header.number == wire::CMD_WRITE;
        if self.state != State::Commands || !is_write || header.length == 0 {
            return None;
        }
        self.state = State::PassingPayload {
            left: header.length,
            reply: Reply::to(
                &header.command(CommandKind::Write),
                self.negotiated.structured,
            ),
            error,
        };
        Some(wire::REQUEST_BYTES)
    }

    fn command<'i>(&mut self, export: &Export, input: &'i [u8], out: &mut Vec<u8>) -> Step<'i> {
        let Some(header) = Header::read(input) else {
            return Step::Needs(wire::REQUEST_BYTES);
        };
        if header.magic != wire::REQUEST {
            return self.close();
        }
        let Header {
            flags,
            number,
            length,
            ..
        } = header;
        let kind = match number {
            wire::CMD_READ => Some(CommandKind::Read),
            wire::CMD_WRITE => Some(CommandKind::Write),
            wire::CMD_DISC => Some(CommandKind::Disconnect),
            wire::CMD_FLUSH => Some(CommandKind::Flush),
            wire::CMD_TRIM => Some(CommandKind::Trim),
            wire::CMD_CACHE => Some(CommandKind::Cache),
            wire::CMD_WRITE_ZEROES => Some(CommandKind::WriteZeroes),
            wire::CMD_BLOCK_STATUS => Some(CommandKind::BlockStatus),
            _ => None,
        };
        let structured = self.negotiated.structured;
        let mut command = header.command(kind.unwrap_or(CommandKind::Flush));
        let reply = Reply::to(&command, structured);
        let mut taken = wire::REQUEST_BYTES;
        if command.kind == CommandKind::Write {
            if length > PAYLOAD_MAX {
                self.state = State::PassingPayload {
                    left: length,
                    reply,
                    error: (ErrorCode::Invalid, "longer than 32 MiB"),
                };
                return Step::Took(taken);
            }
            let Some(data) = Fields(&input[taken..]).bytes(length as usize) else {
                return Step::Needs(taken + length as usize);
            };
            command.data = data;
            taken += length as usize;
        }
        if kind.is_none() {
            reply.failed(ErrorCode::Invalid, "an unknown command", out);
            return Step::Took(taken);
        }
        let negotiated = (structured, self.negotiated.allocation);
        if let Some((code, why)) = reply::fault(&command, flags, export, negotiated) {
            reply.failed(code, why, out);
            return Step::Took(taken);
        }
        if command.kind == CommandKind::Disconnect {
            self.state = State::Closed;
        }
        Step::Command(taken, command, reply)
    }
}

/// The fields of a command as they were received.
struct Header {
    magic: u32,
    flags: u16,
    number: u16,
    cookie: u64,
    offset: u64,
    length: u32,
}

impl Header {
    fn read(input: &[u8]) -> Option<Self> {
        let mut fields = Fields(input);
        Some(Self {
            magic: fields.u32()?,
            flags: fields.u16()?,
            number: fields.u16()?,
            cookie: fields.u64()?,
            offset: fields.u64()?,
            length: fields.u32()?,
        })
    }

    /// The command of this `kind`, without its payload.
    fn command<'i>(&self, kind: CommandKind) -> Command<'i> {
        Command {
            kind,
            cookie: self.cookie,
            offset: self.offset,
            length: self.length,
            fua: self.flags & wire::CMD_FLAG_FUA != 0,
            one_extent: self.flags & wire::CMD_FLAG_REQ_ONE != 0,
            data: &[],
        }
    }
}

/// Skips bytes of `input`, at most `left`. Returns the number of skipped bytes, and the number of bytes that still
/// have to be skipped. Returns `None` if no byte can be skipped.
fn pass(input: &[u8], left: u32) -> Option<(usize, u32)> {
    let taken = u32::try_from(input.len()).unwrap_or(u32::MAX).min(left);
    (taken > 0).then_some((taken as usize, left - taken))
}
