//! One flash device with a write buffer: host requests in, flash commands out, completions in.
//!
//! The device owns the buffer, the translation layer and the queue of each die. It alone knows in which order
//! programs of one page take effect, what each request waits for, and what a flush covers. It has no clock, no
//! sockets and no bytes: time is an argument, a [`Driver`] carries out commands, and a driver that moves bytes
//! keeps them in a [`payload::Payload`]. The event engine, the op-count run, the test matrix and a live server are
//! drivers; none of them repeats a rule of the device.
//!
//! A write that misses in a full buffer passes, once each and in this order: [`Device::submit`], the buffer,
//! [`Driver::note`] for its victim, the queue of a die, [`Driver::begin`], [`Device::complete`] and
//! [`Driver::answer`].
#![no_std]
extern crate alloc;

pub mod backed;
mod batching;
mod device;
mod dies;
mod driver;
mod idle;
pub mod ledger;
pub mod operation;
mod order;
pub mod payload;
pub mod power;
mod record;
mod request;
pub mod slab;

pub use device::{Device, DeviceConfig, Ordering, Outcome, Wording};
pub use dies::{Handover, ServiceOrder, Units, gc_limit, only_collects};
pub use driver::{BatchStep, Driver, Note, Progress, Token, Transaction};
pub use operation::{PageOperation, Work};
pub use request::{Request, RequestKind, Span};
