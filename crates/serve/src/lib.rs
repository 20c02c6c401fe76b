//! An NBD server that serves the simulated device in real time.
//!
//! | module | contents |
//! | --- | --- |
//! | [`protocol`] | the NBD protocol without sockets: received bytes become commands, replies become bytes |
//! | [`device`] | the device behind the server, and the relation of model time to wall-clock time |
//! | [`configuration`](configuration()) | the configuration of the device, made from settings |
//! | [`media`] | where the bytes of the device are stored: in RAM, on a disk, or in an image of the flash in a file |
//! | [`server`] | sockets and one event loop, without a thread for each client |
//! | [`control`] | the control socket: its orders, and a client for it |
//! | [`crash`] | the test of a program on a device whose power fails again and again |
//! | [`write_log`] | the clients' writes in the format of the kernel's dm-log-writes |
//! | [`client`], [`replay`] | a small NBD client, and the replay of traces against a server |
//! | [`measure`] | real drives as targets of the experiments of `destage drive measure` |
//! | [`address`] | the address of a server |
//!
//! Other crates define the behaviour of the device: `destage-device` contains the core and its rules, `destage-sim`
//! contains the host model and model time. This crate adds the clients, the wall clock, and the transport of bytes.
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
