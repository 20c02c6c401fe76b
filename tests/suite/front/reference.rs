//! A naive model of the front end. All events are in one unsorted list, and each step searches this list for the
//! earliest event.
//!
//! The device behind the front end accepts every write at once and reads each page from flash. Each die reads its
//! pages one by one, in order.

use std::collections::VecDeque;

use destage_trace::{Operation, Request};

/// Settings of the front end; times are in ticks of 0.1 ns.
#[derive(Clone, Debug)]
pub struct Drive {
    pub weights: Vec<u64>,
    pub burst: u64,
    pub per_queue: usize,
    pub depth: usize,
    pub by_volume: bool,
    /// Lanes, GB/s of a lane, payload and overhead of a packet in bytes; `None`: messages take no time.
    pub link: Option<(u64, f64, u64, u64)>,
    pub cores: usize,
    pub command: u64,
    pub read: u64,
    pub page: u64,
    pub dram: u64,
    pub dies: u64,
    pub flash_read: u64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum What {
    Arrives,
    Rings,
    AskedFor,
    EntryThere,
    DataAsked,
    AtDevice,
    CoreDone,
    InDone,
    PageRead(usize),
    OutDone,
    Nothing,
    Complete,
}

/// A server that serves its entries in order, `free` at a time.
#[derive(Default)]
struct Clerk {
    free: usize,
    line: VecDeque<(What, usize, u64)>,
}

const CORE: usize = 0;
const DRAM: usize = 1;
const DOWN: usize = 2;
const UP: usize = 3;

struct World<'a> {
    drive: &'a Drive,
    requests: &'a [Request],
    now: u64,
    number: u64,
    /// Time, number in the order of insertion, server, event, request.
    list: Vec<(u64, u64, Option<usize>, What, usize)>,
    clerks: Vec<Clerk>,
    dies: Vec<VecDeque<usize>>,
    queues: Vec<VecDeque<usize>>,
    inside: Vec<usize>,
    pointer: usize,
    credit: u64,
    left: Vec<u64>,
    completions: Vec<u64>,
}

/// The completion time of each of `requests`.
pub fn completions(drive: &Drive, requests: &[Request]) -> Vec<u64> {
    let clerk = |free| Clerk {
        free,
        line: VecDeque::new(),
    };
    let mut world = World {
        drive,
        requests,
        now: 0,
        number: 0,
        list: Vec::new(),
        clerks: vec![clerk(drive.cores), clerk(1), clerk(1), clerk(1)],
        dies: vec![VecDeque::new(); drive.dies as usize],
        queues: vec![VecDeque::new(); drive.weights.len()],
        inside: vec![0; drive.weights.len()],
        pointer: 0,
        credit: drive.weights[0] * drive.burst,
        left: vec![0; requests.len()],
        completions: vec![0; requests.len()],
    };
    world.put(requests[0].arrival, None, What::Arrives, 0);
    while let Some(place) =
        (0..world.list.len()).min_by_key(|at| (world.list[*at].0, world.list[*at].1))
    {
        let (time, _, clerk, what, id) = world.list.swap_remove(place);
        world.now = time;
        world.happens(what, id);
        if let Some(clerk) = clerk {
            match world.clerks[clerk].line.pop_front() {
                Some((what, id, takes)) => world.put(time + takes, Some(clerk), what, id),
                None => world.clerks[clerk].free += 1,
            }
        }
    }
    world.completions
}

impl World<'_> {
    fn put(&mut self, time: u64, clerk: Option<usize>, what: What, id: usize) {
        self.number += 1;
        self.list.push((time, self.number, clerk, what, id));
    }

    fn serve(&mut self, clerk: usize, what: What, id: usize, takes: u64) {
        if self.clerks[clerk].free > 0 {
            self.clerks[clerk].free -= 1;
            self.put(self.now + takes, Some(clerk), what, id);
        } else {
            self.clerks[clerk].line.push_back((what, id, takes));
        }
    }

    /// Sends a message of `bytes` bytes; 0 bytes means that the message is a question.
    fn say(&mut self, clerk: usize, what: What, id: usize, bytes: u64) {
        let Some((lanes, speed, payload, overhead)) = self.drive.link else {
            return self.happens(what, id);
        };
        let mut on_link = 32;
        if bytes > 0 {
            on_link = 0;
            let mut rest = bytes;
            while rest > 0 {
                on_link += rest.min(payload) + overhead;
                rest -= rest.min(payload);
            }
        }
        let nanoseconds = (on_link.div_ceil(lanes) as f64 / speed) as u64;
        self.serve(clerk, what, id, 10 * nanoseconds);
    }

    fn is_read(&self, id: usize) -> bool {
        self.requests[id].operation == Operation::Read
    }

    fn pages(&self, id: usize) -> u64 {
        u64::from(self.requests[id].sectors) / 8
    }

    fn queue_of(&self, id: usize) -> usize {
        let number = match self.drive.by_volume {
            true => self.requests[id].volume as usize,
            false => id,
        };
        number % self.queues.len()
    }

    fn send(&mut self) {
        if self.inside.iter().sum::<usize>() == self.drive.depth {
            return;
        }
        let (mut pointer, mut credit) = (self.pointer, self.credit);
        for _ in 0..=self.queues.len() {
            let may = credit > 0 && self.inside[pointer] < self.drive.per_queue;
            if may && !self.queues[pointer].is_empty() {
                let id = self.queues[pointer].pop_front().expect("a request");
                self.inside[pointer] += 1;
                (self.pointer, self.credit) = (pointer, credit - 1);
                return self.say(UP, What::AskedFor, id, 0);
            }
            pointer = (pointer + 1) % self.queues.len();
            credit = self.drive.weights[pointer] * self.drive.burst;
        }
    }

    fn happens(&mut self, what: What, id: usize) {
        let data = u64::from(self.requests[id].sectors) * 512;
        let pages = self.pages(id);
        match what {
            What::Arrives => {
                if id + 1 < self.requests.len() {
                    let at = self.requests[id + 1].arrival;
                    self.put(at, None, What::Arrives, id + 1);
                }
                self.say(DOWN, What::Rings, id, 2);
            }
            What::Rings => {
                let queue = self.queue_of(id);
                self.queues[queue].push_back(id);
                self.send();
            }
            What::AskedFor => self.say(DOWN, What::EntryThere, id, 72),
            What::EntryThere if self.is_read(id) => self.happens(What::AtDevice, id),
            What::EntryThere => self.say(UP, What::DataAsked, id, 0),
            What::DataAsked => self.say(DOWN, What::AtDevice, id, data),
            What::AtDevice => {
                let command = match self.is_read(id) {
                    true => self.drive.read,
                    false => self.drive.command,
                };
                let takes = command + pages * self.drive.page;
                self.serve(CORE, What::CoreDone, id, takes);
            }
            What::CoreDone if self.is_read(id) => {
                let first = self.requests[id].sector / 8;
                self.left[id] = pages;
                for page in first..first + pages {
                    let die = (page % self.drive.dies) as usize;
                    self.dies[die].push_back(id);
                    if self.dies[die].len() == 1 {
                        self.put(
                            self.now + self.drive.flash_read,
                            None,
                            What::PageRead(die),
                            id,
                        );
                    }
                }
            }
            What::CoreDone => self.serve(DRAM, What::InDone, id, pages * self.drive.dram),
            What::InDone => self.leaves(id),
            What::PageRead(die) => self.page_read(die, id),
            What::OutDone => self.leaves(id),
            What::Nothing => {}
            What::Complete => {
                if self.drive.link.is_some() {
                    self.say(DOWN, What::Nothing, id, 2);
                }
                self.completions[id] = self.now;
                if self.drive.link.is_none() {
                    let queue = self.queue_of(id);
                    self.inside[queue] -= 1;
                    self.send();
                }
            }
        }
    }

    fn page_read(&mut self, die: usize, id: usize) {
        self.dies[die].pop_front();
        self.serve(DRAM, What::Nothing, id, self.drive.dram);
        self.left[id] -= 1;
        if self.left[id] == 0 {
            self.serve(DRAM, What::OutDone, id, self.pages(id) * self.drive.dram);
        }
        if let Some(next) = self.dies[die].front().copied() {
            self.put(
                self.now + self.drive.flash_read,
                None,
                What::PageRead(die),
                next,
            );
        }
    }

    fn leaves(&mut self, id: usize) {
        if self.drive.link.is_none() {
            return self.happens(What::Complete, id);
        }
        let queue = self.queue_of(id);
        self.inside[queue] -= 1;
        if self.is_read(id) {
            self.say(
                UP,
                What::Nothing,
                id,
                u64::from(self.requests[id].sectors) * 512,
            );
        }
        self.send();
        self.say(UP, What::Complete, id, 16);
    }
}
