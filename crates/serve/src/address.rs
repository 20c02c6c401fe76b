//! The address of a server (a socket in the file system, or a port), and the name of the export.

use std::ffi::OsString;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The default TCP port of NBD.
const PORT: u16 = 10809;

/// The location of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A Unix socket at this path.
    Unix(PathBuf),
    /// A TCP address with its port.
    Tcp(SocketAddr),
}

/// A server and one of its exports, as the NBD URI names them: `nbd+unix:///EXPORT?socket=PATH` or
/// `nbd://HOST:PORT/EXPORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The location of the server.
    pub place: Place,
    /// The name of the export. The empty name selects the default export.
    pub export: String,
}

/// The error for a text that does not name a server.
#[derive(Debug, thiserror::Error)]
#[error("{text:?}: {why}; expected nbd+unix:///EXPORT?socket=PATH or nbd://HOST:PORT/EXPORT")]
pub struct AddressError {
    text: String,
    why: String,
}

impl Address {
    /// Parses an NBD URI.
    ///
    /// # Errors
    /// If the text is not the URI of an NBD server, or the host in the URI cannot be resolved.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let refuse = |why: &str| AddressError {
            text: text.to_owned(),
            why: why.to_owned(),
        };
        if let Some(rest) = text.strip_prefix("nbd+unix://") {
            let rest = rest
                .strip_prefix('/')
                .ok_or_else(|| refuse("names a host"))?;
            let (export, query) = rest
                .split_once('?')
                .ok_or_else(|| refuse("names no socket"))?;
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let (_, socket) = pairs
                .find(|(key, _)| *key == "socket")
                .ok_or_else(|| refuse("names no socket"))?;
            let socket = decoded(socket).ok_or_else(|| refuse("has a broken escape"))?;
            return Ok(Self {
                place: Place::Unix(OsString::from_vec(socket).into()),
                export: export_of(export).map_err(refuse)?,
            });
        }
        let rest = text
            .strip_prefix("nbd://")
            .ok_or_else(|| refuse("is no address of NBD"))?;
        let (host, export) = rest.split_once('/').unwrap_or((rest, ""));
        let export = export_of(export).map_err(refuse)?;
        let place = socket_address(host).map_err(|why| refuse(&why))?;
        Ok(Self {
            place: Place::Tcp(place),
            export,
        })
    }
}

/// Resolves `HOST:PORT`, or `HOST` with the default port 10809.
///
/// # Errors
/// The reason why the text does not resolve to an address.
pub fn socket_address(text: &str) -> Result<SocketAddr, String> {
    let host = text.rsplit_once(':').map_or(text, |(host, _)| host);
    if host.bytes().all(|byte| byte.is_ascii_digit()) {
        // The resolver would read the bare number 10809 as the address 0.0.42.57.
        return Err("names no host".to_owned());
    }
    let has_port = text
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let found = if has_port {
        text.to_socket_addrs()
    } else {
        (text, PORT).to_socket_addrs()
    };
    match found.map(|mut all| all.next()) {
        Ok(Some(address)) => Ok(address),
        Ok(None) => Err("is the name of no machine".to_owned()),
        Err(cause) => Err(cause.to_string()),
    }
}

/// The name of the export that a part of a URI encodes. The error says what is wrong with the part.
fn export_of(text: &str) -> Result<String, &'static str> {
    let bytes = decoded(text).ok_or("has a broken escape")?;
    String::from_utf8(bytes).map_err(|_| "names an export that is not UTF-8")
}

/// Decodes the percent escapes in a part of a URI. Returns `None` if an escape is broken.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| (byte? as char).to_digit(16);
        bytes.push((digit(rest.next())? * 16 + digit(rest.next())?) as u8);
    }
    Some(bytes)
}

/// Encodes `bytes` as a part of a URI, with percent escapes where they are needed.
fn encoded(bytes: &[u8]) -> String {
    let mut uri = String::new();
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~/:".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let export = encoded(self.export.as_bytes());
        match &self.place {
            Place::Unix(path) => {
                let socket = encoded(path.as_os_str().as_bytes());
                write!(out, "nbd+unix:///{export}?socket={socket}")
            }
            Place::Tcp(address) => write!(out, "nbd://{address}/{export}"),
        }
    }
}

impl Place {
    /// The Unix socket at `path`.
    #[must_use]
    pub fn unix(path: &Path) -> Self {
        Self::Unix(path.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for (place, export) in [
            (Place::Unix("/tmp/a b&c%.sock".into()), "x?y"),
            (Place::Unix("rel.sock".into()), ""),
            (
                Place::Unix(OsString::from_vec(b"/tmp/\xff.sock".to_vec()).into()),
                "",
            ),
            (Place::Tcp(([127, 0, 0, 1], 7).into()), "disk"),
        ] {
            let address = Address {
                place,
                export: export.to_owned(),
            };
            assert_eq!(Address::parse(&address.to_string()).unwrap(), address);
        }
    }

    #[test]
    fn what_names_no_server_is_refused() {
        for text in [
            "nbd+unix:///",
            "nbd+unix://host/?socket=a",
            "nbd+unix:///?socket=%zz",
            "nbd+unix:///%ff?socket=a",
            "http://localhost/",
            "nbd://localhost:99999/",
            "nbd://10809",
            "nbd://10809:10809/",
            "nbd://:10809/",
            "/tmp/socket",
        ] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(error.contains("expected nbd+unix:"), "{error}");
        }
    }
}
