//! One flash device with a write buffer: host requests in, flash commands out, completions in.
//!
//! The device owns the buffer, the translation layer and the queue of each die. Only the device knows in which order
//! programs of one page take effect, which operations each request waits for, and which writes a flush covers. The
//! device has no clock: the caller passes the time as an argument. It carries out no commands: a [`Driver`] does
//! this. It stores no bytes: a driver that moves bytes stores them in a [`payload::Payload`].
//!
//! The event engine, the op-count run, the test matrix and a live server are drivers. None of them repeats a rule of
//! the device.
//!
//! A write of one page that misses in a full buffer passes through these steps: [`Device::submit`], the buffer,
//! [`Driver::note`] for the victim, the queue of a die, [`Driver::begin`], [`Device::complete`] and
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
