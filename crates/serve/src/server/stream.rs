//! Unix and TCP sockets behind one type.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use mio::event::Source;
use mio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use mio::{Interest, Registry, Token};
use rustix::fs::Mode;

use crate::address::Place;

/// A connection.
pub(super) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
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

impl Stream {
    /// Registers the socket with `registry`, which reports its events under `token`.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let interests = Interest::READABLE | Interest::WRITABLE;
        match self {
            Self::Unix(stream) => stream.register(registry, token, interests),
            Self::Tcp(stream) => stream.register(registry, token, interests),
        }
    }
}

/// A socket that accepts connections. A Unix socket is removed from the file system when this value is dropped.
pub(super) enum Listener {
    /// The entry is dropped first. As long as the socket is open, no other file can have its number.
    Unix(Entry, UnixListener),
    Tcp(TcpListener, SocketAddr),
}

/// The path of a Unix socket, and the device and the number of the file at this path.
pub(super) struct Entry {
    path: PathBuf,
    file: (u64, u64),
}

impl Entry {
    fn new(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            file: file_at(path)?,
        })
    }
}

impl Drop for Entry {
    /// Removes the socket, unless another file has its path by now, such as the socket of another server.
    fn drop(&mut self) {
        if file_at(&self.path).is_ok_and(|file| file == self.file) {
            // If the socket cannot be removed, the next server replaces it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The device and the number of the file at `path`.
fn file_at(path: &Path) -> io::Result<(u64, u64)> {
    let data = std::fs::symlink_metadata(path)?;
    Ok((data.dev(), data.ino()))
}

impl Listener {
    /// Listens at `place`. A Unix socket whose server is gone is replaced.
    pub fn bind(place: &Place) -> io::Result<Self> {
        match place {
            Place::Unix(path) => {
                remove_stale(path)?;
                // The umask is set before the socket is made. So the socket never has wider permissions.
                let before = rustix::process::umask(Mode::from_raw_mode(0o177));
                let bound = UnixListener::bind(path);
                rustix::process::umask(before);
                let listener = bound?;
                Ok(Self::Unix(Entry::new(path)?, listener))
            }
            Place::Tcp(address) => {
                let listener = TcpListener::bind(*address)?;
                let bound = listener.local_addr()?;
                Ok(Self::Tcp(listener, bound))
            }
        }
    }

    /// The address at which the socket listens.
    pub fn place(&self) -> Place {
        match self {
            Self::Unix(entry, _) => Place::Unix(entry.path.clone()),
            Self::Tcp(_, address) => Place::Tcp(*address),
        }
    }

    /// Registers the socket with `registry`, which reports its events under `token`.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match self {
            Self::Unix(_, listener) => listener.register(registry, token, Interest::READABLE),
            Self::Tcp(listener, _) => listener.register(registry, token, Interest::READABLE),
        }
    }

    /// Accepts the next waiting connection.
    pub fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Unix(_, listener) => Ok(Stream::Unix(listener.accept()?.0)),
            Self::Tcp(listener, _) => {
                let (stream, _) = listener.accept()?;
                // Replies are small, and clients wait for each reply. So the system must not delay a reply.
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
        }
    }
}

/// Removes the socket at `path` if its server is gone.
fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(data) = std::fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !data.file_type().is_socket() {
        let text = "exists and is not a socket";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
    }
    // The connection does not block. If it would, a server listens there that does not accept connections just now.
    match UnixStream::connect(path) {
        Err(cause) if cause.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path)
        }
        Err(cause) if cause.kind() != io::ErrorKind::WouldBlock => Err(cause),
        _ => {
            let text = "a server listens there";
            Err(io::Error::new(io::ErrorKind::AddrInUse, text))
        }
    }
}
