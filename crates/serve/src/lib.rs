//! The device, live: an NBD server in front of the simulator's device, in real time.
//!
//! | module | holds |
//! | --- | --- |
//! | [`protocol`] | NBD without sockets: bytes in, commands out, replies as bytes |
//! | [`device`] | the device behind the server, and how its time relates to the clock on the wall |
//! | [`configuration`](configuration()) | from settings to the device's configuration |
//! | [`media`] | where bytes are: RAM, a disk, an image of the flash |
//! | [`server`] | sockets, one event loop, no thread per client |
//! | [`control`] | the control socket: its requests, and its clients |
//! | [`crash`] | a program on a device whose power fails, again and again |
//! | [`write_log`] | the clients' writes, in the form of the kernel's dm-log-writes |
//! | [`client`], [`replay`] | a small client, and traces played to a server |
//! | [`measure`] | real drives as targets of the experiments of `destage drive measure` |
//! | [`address`] | where a server is |
//!
//! The behaviour of the device is decided below: the core and its rules in `destage-device`, its host and its clock in `destage-sim`. Here are
//! clients, real time, and bytes on their way.
#![cfg(unix)]

pub mod address;
pub mod client;
mod configuration;
pub mod control;
pub mod crash;
pub mod device;
pub mod measure;
pub mod media;
pub mod protocol;
pub mod replay;
pub mod server;
pub mod write_log;

pub use configuration::configuration;
