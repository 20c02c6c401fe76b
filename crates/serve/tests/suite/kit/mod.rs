//! A server in a thread, and commands for tests.
#![allow(dead_code, reason = "every test program uses another part of the kit")]
#![allow(clippy::unwrap_used, reason = "a test says where it failed")]

use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use destage_serve::address::{Address, Place};
use destage_serve::client::{Answer, Client};
use destage_serve::configuration;
use destage_serve::device::{Front, Pace, Sync};
use destage_serve::media;
use destage_serve::protocol::wire;
use destage_serve::server::{Ended, Server, Settings, Stopper};
use destage_sim::observer::Silent;
use destage_sim::run::live::{Live, Media};
use tempfile::TempDir;

/// The size of the device in bytes. It is small, so that garbage collection happens.
pub const BYTES: u64 = 1 << 20;

/// The settings of a test server.
pub struct Rig<'a> {
    pub pairs: Vec<&'a str>,
    pub pace: Pace,
    pub read_only: bool,
    pub export: &'a str,
    pub tcp: bool,
    /// How long a handshake or a farewell may take; `None` for the default.
    pub patience: Option<Duration>,
}

impl Default for Rig<'_> {
    fn default() -> Self {
        Self {
            pairs: vec![
                "device.capacity_bytes=1MiB",
                "flash.dies=2",
                "flash.planes_per_die=1",
                "flash.pages_per_block=8",
                "buffer.capacity_bytes=64KiB",
            ],
            pace: Pace::None,
            read_only: false,
            export: "",
            tcp: false,
            patience: None,
        }
    }
}

/// A running server.
pub struct Running {
    pub folder: TempDir,
    pub address: Address,
    pub control: PathBuf,
    pub stopper: Stopper,
    thread: JoinHandle<Ended>,
}

impl<'a> Rig<'a> {
    pub fn with(pairs: &[&'a str]) -> Self {
        let mut rig = Self::default();
        rig.pairs.extend(pairs);
        rig
    }

    fn settings(&self) -> destage_sim::settings::Settings {
        let mut settings = destage_sim::settings::Settings::new();
        for pair in &self.pairs {
            settings.set_pair(pair).unwrap();
        }
        settings
    }

    pub fn start(&self) -> Running {
        self.start_over(|| (Media::Ram, None))
    }

    pub fn start_over(
        &self,
        media: impl FnOnce() -> (Media, Option<Sync>) + Send + 'static,
    ) -> Running {
        let (config, _) = configuration(&self.settings()).unwrap();
        self.start_with(config, media)
    }

    pub fn start_at(&self, place: media::Place<'_>) -> Running {
        let opened = media::open(&self.settings(), place, self.read_only).unwrap();
        self.start_with(opened.config, move || (opened.media, opened.sync))
    }

    fn start_with(
        &self,
        config: destage_sim::settings::Config,
        media: impl FnOnce() -> (Media, Option<Sync>) + Send + 'static,
    ) -> Running {
        let folder = tempfile::tempdir().unwrap();
        let control = folder.path().join("control");
        let settings = Settings {
            place: if self.tcp {
                Place::Tcp(([127, 0, 0, 1], 0).into())
            } else {
                Place::Unix(folder.path().join("socket"))
            },
            control: Some(control.clone()),
            export: self.export.to_owned(),
            read_only: self.read_only,
            anywhere: false,
            about: "a test".to_owned(),
            in_use: Vec::new(),
        };
        let (pace, patience) = (self.pace, self.patience);
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let (media, sync) = media();
            let live = Live::on(&config, media, Box::new(Silent)).unwrap();
            let front = Front::lasting(live, pace, sync);
            let mut server = Server::bind(&settings, front, None).unwrap();
            if let Some(patience) = patience {
                server.set_patience(patience);
            }
            tell.send((server.address().clone(), server.stopper()))
                .unwrap();
            server.run().unwrap()
        });
        let (address, stopper) = told.recv().unwrap();
        Running {
            folder,
            address,
            control,
            stopper,
            thread,
        }
    }
}

impl Running {
    pub fn client(&self) -> Client {
        let client = Client::connect(&self.address, true).unwrap();
        client.set_timeout(Some(Duration::from_secs(20))).unwrap();
        client
    }

    pub fn stop(self) -> Ended {
        self.stopper.stop();
        self.thread.join().unwrap()
    }
}

pub const FUA: u16 = wire::CMD_FLAG_FUA;

/// Sends commands and checks their answers.
pub trait Asks {
    fn told(&mut self, command: (u16, u16), range: (u64, u32), data: &[u8]) -> Answer;

    fn done(&mut self, command: (u16, u16), range: (u64, u32), data: &[u8]) -> Vec<u8> {
        let answer = self.told(command, range, data);
        assert_eq!(answer.error, 0, "{command:?} {range:?}");
        answer.data
    }

    fn write(&mut self, offset: u64, data: &[u8]) {
        self.done((wire::CMD_WRITE, 0), (offset, data.len() as u32), data);
    }

    fn read(&mut self, offset: u64, length: u32) -> Vec<u8> {
        self.done((wire::CMD_READ, 0), (offset, length), &[])
    }

    fn flush(&mut self) {
        self.done((wire::CMD_FLUSH, 0), (0, 0), &[]);
    }

    /// The extents in `range`: their lengths in bytes, and their states.
    fn status(&mut self, flags: u16, range: (u64, u32)) -> Vec<(u32, u32)> {
        let data = self.done((wire::CMD_BLOCK_STATUS, flags), range, &[]);
        let words = data.chunks(4).map(|word| word.try_into().unwrap());
        let words: Vec<u32> = words.map(u32::from_be_bytes).collect();
        assert_eq!(words[0], 1, "context");
        let pairs = words[1..].chunks(2).map(|pair| (pair[0], pair[1]));
        pairs.collect()
    }

    fn error(&mut self, command: (u16, u16), range: (u64, u32), data: &[u8]) -> u32 {
        self.told(command, range, data).error
    }
}

impl Asks for Client {
    fn told(&mut self, command: (u16, u16), range: (u64, u32), data: &[u8]) -> Answer {
        self.ask(command, range, data).unwrap()
    }
}
