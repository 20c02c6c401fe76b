//! A small NBD client: one connection, with any number of requests in flight.
//!
//! Replays and tests use this client. The client sends every request as given, even a request that a server has to
//! refuse.

use std::io::{self, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::address::{Address, Place};
use crate::protocol::wire::{self, Fields, Put};
use crate::protocol::{PAYLOAD_MAX, STRING_MAX};

/// The largest number of bytes of the reply to an option.
const OPTION_REPLY_MAX: u32 = 1 << 16;

/// A socket, either Unix or TCP.
enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    fn connect(place: &Place) -> io::Result<Self> {
        Ok(match place {
            Place::Unix(path) => Self::Unix(UnixStream::connect(path)?),
            Place::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                Self::Tcp(stream)
            }
        })
    }

    fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
        })
    }

    fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_read_timeout(timeout),
            Self::Tcp(stream) => stream.set_read_timeout(timeout),
        }
    }

    fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_write_timeout(timeout),
            Self::Tcp(stream) => stream.set_write_timeout(timeout),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The reason why there is no connection or no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The socket fails, or the server has closed the connection.
    #[error("{0}")]
    Socket(#[from] io::Error),
    /// The server sends something that the NBD protocol does not allow.
    #[error("the server violates the protocol: {0}")]
    Protocol(&'static str),
    /// The server refuses the export.
    #[error("the server refuses the export: {0}")]
    Refused(String),
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The cookie by which the caller identifies the command.
    pub cookie: u64,
    /// 0 on success, otherwise the error number of the protocol.
    pub error: u32,
    /// The bytes that a read returns. For a block status, numbers of 32 bits: first the identifier of the metadata
    /// context, then the length and the state of each extent.
    pub data: Vec<u8>,
}

/// A connection after the handshake. See the [module](self).
pub struct Client {
    socket: Socket,
    from: BufReader<Socket>,
    /// The size of the export in bytes.
    pub bytes: u64,
    /// The transmission flags of the export.
    pub flags: u16,
    structured: bool,
}

impl Client {
    /// Connects to the export that `address` names. With `structured`, the client negotiates structured replies and
    /// block status.
    ///
    /// # Errors
    /// If there is no such server or export, or the server violates the protocol.
    pub fn connect(address: &Address, structured: bool) -> Result<Self, ClientError> {
        let mut socket = Socket::connect(&address.place)?;
        let mut from = BufReader::with_capacity(1 << 16, socket.try_clone()?);
        let greeting: [u8; 18] = read(&mut from)?;
        let mut fields = Fields(&greeting);
        if (fields.u64(), fields.u64()) != (Some(wire::NBDMAGIC), Some(wire::IHAVEOPT)) {
            return Err(ClientError::Protocol("no greeting of fixed newstyle"));
        }
        let flags = fields.u16().unwrap_or(0) & (wire::FIXED_NEWSTYLE | wire::NO_ZEROES);
        socket.write_all(&u32::from(flags).to_be_bytes())?;
        let mut client = Self {
            socket,
            from,
            bytes: 0,
            flags: 0,
            structured: false,
        };
        if structured {
            client.structured = client.option(wire::OPT_STRUCTURED_REPLY, &[])?.is_ok();
            if client.structured {
                let mut data = name_of(&address.export);
                data.put32(1);
                data.put32(wire::ALLOCATION.len() as u32);
                data.extend_from_slice(wire::ALLOCATION.as_bytes());
                // A server may refuse this context. Then block status is not available, and all other commands are.
                let _ = client.option(wire::OPT_SET_META_CONTEXT, &data)?;
            }
        }
        let mut data = name_of(&address.export);
        data.put16(1);
        data.put16(wire::INFO_BLOCK_SIZE);
        let facts = client
            .option(wire::OPT_GO, &data)?
            .map_err(ClientError::Refused)?;
        for fact in &facts {
            let mut fields = Fields(fact);
            if fields.u16() == Some(wire::INFO_EXPORT) {
                client.bytes = fields.u64().unwrap_or(0);
                client.flags = fields.u16().unwrap_or(0);
            }
        }
        Ok(client)
    }

    /// Sends an option, and receives the replies to the option. Returns the data of each reply, or the text of the
    /// server's error.
    fn option(
        &mut self,
        option: u32,
        data: &[u8],
    ) -> Result<Result<Vec<Vec<u8>>, String>, ClientError> {
        let mut bytes = Vec::new();
        bytes.put64(wire::IHAVEOPT);
        bytes.put32(option);
        bytes.put32(data.len() as u32);
        bytes.extend_from_slice(data);
        self.socket.write_all(&bytes)?;
        let mut all = Vec::new();
        loop {
            let header: [u8; 20] = read(&mut self.from)?;
            let mut fields = Fields(&header);
            let (magic, of) = (fields.u64(), fields.u32());
            let (kind, length) = (fields.u32().unwrap_or(0), fields.u32().unwrap_or(0));
            if (magic, of) != (Some(wire::OPTION_REPLY), Some(option)) {
                return Err(ClientError::Protocol("no reply to the option"));
            }
            let data = bytes_of(&mut self.from, length, OPTION_REPLY_MAX)?;
            match kind {
                wire::REP_ACK => return Ok(Ok(all)),
                error if error >> 31 != 0 => {
                    let text = String::from_utf8_lossy(&data).into_owned();
                    return Ok(Err(format!("{text} (reply {error:#x})")));
                }
                _ => all.push(data),
            }
            if all.len() > STRING_MAX {
                return Err(ClientError::Protocol("an option has no end of replies"));
            }
        }
    }

    /// Sends a command. `data` is the payload of a write. The server may answer commands in an order other than
    /// the one in which it receives them.
    ///
    /// # Errors
    /// If the server is gone.
    pub fn send(
        &mut self,
        (command, flags): (u16, u16),
        cookie: u64,
        (offset, length): (u64, u32),
        data: &[u8],
    ) -> Result<(), ClientError> {
        let mut header = Vec::with_capacity(wire::REQUEST_BYTES + data.len());
        header.put32(wire::REQUEST);
        header.put16(flags);
        header.put16(command);
        header.put64(cookie);
        header.put64(offset);
        header.put32(length);
        header.extend_from_slice(data);
        Ok(self.socket.write_all(&header)?)
    }

    /// Receives the next answer. `length_of` gets the cookie of a successful answer, and returns the number of data
    /// bytes of this answer. The client calls `length_of` only for simple replies, because simple replies do not
    /// contain their length.
    ///
    /// # Errors
    /// If the server is gone, or violates the protocol.
    pub fn receive(&mut self, length_of: impl FnOnce(u64) -> u32) -> Result<Answer, ClientError> {
        let magic = u32::from_be_bytes(read(&mut self.from)?);
        if magic == wire::SIMPLE_REPLY {
            let error = u32::from_be_bytes(read(&mut self.from)?);
            let cookie = u64::from_be_bytes(read(&mut self.from)?);
            let length = if error == 0 { length_of(cookie) } else { 0 };
            return Ok(Answer {
                cookie,
                error,
                data: bytes_of(&mut self.from, length, PAYLOAD_MAX)?,
            });
        }
        if magic != wire::STRUCTURED_REPLY || !self.structured {
            return Err(ClientError::Protocol("no reply"));
        }
        let header: [u8; 16] = read(&mut self.from)?;
        let mut fields = Fields(&header);
        let (flags, kind) = (fields.u16().unwrap_or(0), fields.u16().unwrap_or(0));
        let (cookie, length) = (fields.u64().unwrap_or(0), fields.u32().unwrap_or(0));
        let chunk = bytes_of(&mut self.from, length, PAYLOAD_MAX + 64)?;
        if flags & wire::REPLY_FLAG_DONE == 0 {
            return Err(ClientError::Protocol("a reply in several pieces"));
        }
        let mut fields = Fields(&chunk);
        let (error, data) = match kind {
            wire::REPLY_NONE => (0, Vec::new()),
            wire::REPLY_OFFSET_DATA => {
                let _ = fields.u64();
                (0, fields.0.to_vec())
            }
            wire::REPLY_BLOCK_STATUS => (0, chunk),
            wire::REPLY_ERROR => (fields.u32().unwrap_or(u32::MAX), Vec::new()),
            _ => return Err(ClientError::Protocol("an unknown piece of a reply")),
        };
        Ok(Answer {
            cookie,
            error,
            data,
        })
    }

    /// Sends a command and waits for its answer. No other command may be in flight.
    ///
    /// # Errors
    /// If the server is gone, or violates the protocol.
    pub fn ask(
        &mut self,
        command: (u16, u16),
        (offset, length): (u64, u32),
        data: &[u8],
    ) -> Result<Answer, ClientError> {
        self.send(command, 0, (offset, length), data)?;
        let of_read = if command.0 == wire::CMD_READ {
            length
        } else {
            0
        };
        self.receive(|_| of_read)
    }

    /// Sets how long [`Client::receive`] waits for an answer. The default, `None`, waits for ever. If no answer
    /// arrives in this time, `receive` returns a socket error of kind `WouldBlock` or `TimedOut`. After this error,
    /// the client can be used only if no part of an answer had arrived.
    ///
    /// # Errors
    /// If the socket option cannot be set.
    pub fn set_timeout(&self, timeout: Option<Duration>) -> Result<(), ClientError> {
        Ok(self.from.get_ref().set_read_timeout(timeout)?)
    }

    /// Sets how long [`Client::send`] waits for the server to accept a command. The default, `None`, waits for ever.
    /// The server never answers a command that was sent only in part.
    ///
    /// # Errors
    /// If the socket option cannot be set.
    pub fn set_send_timeout(&self, timeout: Option<Duration>) -> Result<(), ClientError> {
        Ok(self.socket.set_write_timeout(timeout)?)
    }

    /// A second handle of the same connection, for receiving in another thread.
    ///
    /// # Errors
    /// If the system cannot duplicate the socket.
    pub fn try_clone(&self) -> Result<Self, ClientError> {
        Ok(Self {
            socket: self.socket.try_clone()?,
            from: BufReader::with_capacity(1 << 16, self.socket.try_clone()?),
            ..*self
        })
    }

    /// Sends the disconnect command, which ends the connection.
    ///
    /// # Errors
    /// If the server is gone already.
    pub fn disconnect(mut self) -> Result<(), ClientError> {
        self.send((wire::CMD_DISC, 0), 0, (0, 0), &[])
    }
}

fn name_of(export: &str) -> Vec<u8> {
    let mut data = Vec::new();
    data.put32(export.len() as u32);
    data.extend_from_slice(export.as_bytes());
    data
}

fn read<const N: usize>(from: &mut impl Read) -> Result<[u8; N], ClientError> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn bytes_of(from: &mut impl Read, length: u32, most: u32) -> Result<Vec<u8>, ClientError> {
    if length > most {
        return Err(ClientError::Protocol("a reply that is too long"));
    }
    let mut bytes = vec![0; length as usize];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}
