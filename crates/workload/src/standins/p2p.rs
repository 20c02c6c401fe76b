//! `standin-p2p`: a large file is received in pieces from several peers. It replaces workload W6 of the BPLRU paper.
//!
//! Space for the whole file is allocated at the start. The file is divided into parts, and a part into chunks. Each
//! peer sends the chunks of one part in order. For each chunk, a random peer is chosen. When a peer has sent its
//! part, it gets a random new part. A small status file lists the received chunks, and is overwritten from time to
//! time. When the file is complete, another file begins. Files remain on the volume until it is full, and then the
//! volume is formatted.
//!
//! For each chunk, the random draws are in this order: the peer, and the next part if the peer has finished its part.
//! For each request, there is a draw for the gap.

use super::parameters::{BLOCK_BYTES, COMMIT_PAGES, GAP_MS, MAX_REQUEST_PAGES, VOLUME_PAGES};
use super::{Activity, requests, volume};
use crate::WorkloadError;
use crate::files::{Disk, File, FileSystem, fat::Fat};
use crate::shared::{Arrivals, REQUESTS, contradiction, pick};
use crate::{Requests, Workload};
use destage_base::parameter::{Kind, Values};
use destage_base::{Random, parameters};

const BYTES: Kind = Kind::Bytes {
    min: 1,
    max: 1 << 40,
};

parameters! {
    /// The parameters of `standin-p2p`.
    struct Parameters {
        requests: u64 as REQUESTS { default: "11500" };
        footprint_pages: u64 as VOLUME_PAGES;
        page_bytes: u64 as BLOCK_BYTES;
        mean_interarrival_ms: f64 as GAP_MS;
        /// Size of the file.
        file_bytes: u64 = "634MB" in BYTES, "bytes", "BPLRU (FAST 2008), W6";
        /// Size of a part; the paper has 9.28 MB, with 1024 x 1024 bytes each.
        part_bytes: u64 = "9728000" in BYTES, "bytes", "BPLRU (FAST 2008), W6";
        /// Size of a chunk.
        chunk_bytes: u64 = "180KiB" in BYTES, "bytes", "BPLRU (FAST 2008), W6";
        /// Number of peers that send at the same time.
        peers: u64 = "8" in Kind::Integer { min: 1, max: 1 << 16 }, "peers", "";
        /// Number of chunks after which the status file is written again.
        status_chunks: u64 = "8" in Kind::Integer { min: 1, max: 1 << 32 }, "chunks", "";
        commit_pages: u64 as COMMIT_PAGES { about: "Data written between two write-backs of the allocation table and the directory." };
        max_request_pages: u64 as MAX_REQUEST_PAGES { default: "16" };
    }
}

pub(crate) const WORKLOAD: Workload = Workload {
    name: "standin-p2p",
    about: "Stand-in for a peer-to-peer download to FAT (BPLRU W6): chunks of a large file in random order of its parts, so that blocks fill slowly and all at once.",
    parameters: Parameters::ROWS,
    make,
};

/// The position of a peer in its part, and the end of the part, in bytes of the file.
#[derive(Clone, Copy, Debug)]
struct Peer {
    offset: u64,
    end: u64,
}

struct Download {
    system: Fat,
    file_bytes: u64,
    part_bytes: u64,
    chunk_bytes: u64,
    status_chunks: u64,
    status_bytes: u64,
    peer_count: u64,
    file: File,
    status: File,
    /// The parts that no peer has begun to send.
    parts: Vec<u64>,
    peers: Vec<Peer>,
    chunks: u64,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let (name, own) = (WORKLOAD.name, Parameters::from_values(values));
    let (file_bytes, part_bytes, chunk_bytes) = (own.file_bytes, own.part_bytes, own.chunk_bytes);
    for (inner_name, inner, outer_name, outer) in [
        ("part_bytes", part_bytes, "file_bytes", file_bytes),
        ("chunk_bytes", chunk_bytes, "part_bytes", part_bytes),
    ] {
        if inner > outer {
            let expected = format!("at most {outer_name}, {outer}");
            return Err(contradiction(name, inner_name, inner, expected));
        }
    }
    let page_bytes = own.page_bytes;
    // A header of 512 bytes, and a checksum of 16 bytes for each part.
    let status_bytes = 512 + 16 * file_bytes.div_ceil(part_bytes);
    let made = Fat::new(own.footprint_pages, page_bytes, own.commit_pages);
    let needed = file_bytes + status_bytes + 8 * page_bytes.max(32 << 10);
    let system = volume(name, own.footprint_pages, needed, made)?;
    let download = Download {
        system,
        file_bytes,
        part_bytes,
        chunk_bytes,
        status_chunks: own.status_chunks,
        status_bytes,
        peer_count: own.peers,
        file: File::default(),
        status: File::default(),
        parts: Vec::new(),
        peers: Vec::new(),
        chunks: 0,
    };
    let disk = Disk::new(own.max_request_pages, own.max_request_pages);
    Ok(requests(
        Arrivals::new(name, own.requests, own.mean_interarrival_ms, own.page_bytes)?,
        seed,
        disk,
        download,
    ))
}

impl Download {
    /// Allocates space for another file, and assigns a part to each peer.
    fn begin(&mut self, random: &mut Random, disk: &mut Disk) {
        let needed = self.file_bytes + self.status_bytes;
        if !self.system.fits(needed + 4 * self.system.page_bytes()) {
            self.system.format(disk);
        }
        let directory = self.system.make_directory();
        self.status = self.system.create(directory);
        self.system
            .append(&mut self.status, self.status_bytes, disk);
        self.file = self.system.create(directory);
        self.file.bytes = self.file_bytes;
        let pages = self.file_bytes.div_ceil(self.system.page_bytes());
        self.system.grow(&mut self.file, pages);
        self.system.sync(disk);
        self.parts = (0..self.file_bytes.div_ceil(self.part_bytes)).collect();
        for _ in 0..self.peer_count {
            let peer = self.next_part(random);
            self.peers.extend(peer);
        }
    }

    /// Chooses a random part that no peer has begun to send; `None` if there is no such part.
    fn next_part(&mut self, random: &mut Random) -> Option<Peer> {
        let count = self.parts.len() as u64;
        let index = (count > 0).then(|| pick(random, count))?;
        let offset = self.parts.swap_remove(index as usize) * self.part_bytes;
        let end = self.file_bytes.min(offset + self.part_bytes);
        Some(Peer { offset, end })
    }
}

impl Activity for Download {
    fn step(&mut self, random: &mut Random, disk: &mut Disk) {
        if self.peers.is_empty() {
            self.begin(random, disk);
        }
        let index = pick(random, self.peers.len() as u64) as usize;
        let peer = self.peers[index];
        let bytes = self.chunk_bytes.min(peer.end - peer.offset);
        self.system.overwrite(&self.file, peer.offset, bytes, disk);
        self.peers[index].offset += bytes;
        if self.peers[index].offset == peer.end {
            match self.next_part(random) {
                Some(next) => self.peers[index] = next,
                None => {
                    self.peers.swap_remove(index);
                }
            }
        }
        self.chunks += 1;
        if self.chunks.is_multiple_of(self.status_chunks) {
            self.system
                .overwrite(&self.status, 0, self.status_bytes, disk);
        }
    }
}
