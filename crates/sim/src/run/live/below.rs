//! The media that hold the bytes of a live device: flash, or a disk that is not simulated.

use std::sync::Arc;

use destage_base::Lpn;
use destage_device::RequestKind;
use destage_device::backed::{Backed, Backing, Fault, Holds};
use destage_device::payload::Payload;
use destage_ftl::Ftl;
use destage_nand::medium::image::Damage;
use destage_nand::medium::{ImageKind, Store};
use destage_trace::request::SECTOR_BYTES;

use crate::config::Config;
use crate::error::SimError;

/// The medium that holds the bytes of a device.
pub enum Media {
    /// Simulated flash whose bytes are in RAM.
    Ram,
    /// Simulated flash whose bytes are in a file. This number of bytes at the start of the file belong to the owner
    /// of the file. The contents of the file are mounted.
    Image(Arc<dyn Store>, u64),
    /// A disk and its size in bytes. The buffer destages to this disk. Times and counts are still computed for the
    /// simulated layer and its flash.
    Disk(Box<dyn Backing>, u64),
}

#[expect(
    clippy::large_enum_variant,
    reason = "a device has one of these, and a box would put a pointer between it and its bytes"
)]
pub(super) enum Below {
    Flash(Payload),
    Disk(Backed),
}

impl Config {
    /// The bytes of a device with `ftl`, and the number of sectors that the device offers. For an image, `ftl` must
    /// be without contents, and this function mounts it.
    pub(super) fn below(&self, media: Media, ftl: &mut dyn Ftl) -> Result<(Below, u64), SimError> {
        let page_bytes = self.geometry().page_bytes;
        let sectors_per_page = page_bytes / SECTOR_BYTES;
        let sizes = (page_bytes as usize, sectors_per_page as usize);
        let sectors = ftl.pages() * sectors_per_page;
        match media {
            Media::Ram => {
                let payload = Payload::new(self.medium(ftl), sizes.0, sizes.1);
                Ok((Below::Flash(payload), sectors))
            }
            Media::Image(store, base) => {
                let mut medium = self.empty_medium();
                let layout = self.image_layout(base)?;
                let kept = medium.keep_in(store, layout, ftl.pages(), ftl.pools());
                kept.map_err(SimError::Image)?;
                let mut payload = Payload::new(medium, sizes.0, sizes.1);
                let mounted = payload.mount(ftl, &self.timing(), &mut |_, _| {});
                mounted.map_err(|error| self.no_mount(&error))?;
                if payload.medium().is_damaged() {
                    return Err(SimError::Image(Damage::Data));
                }
                Ok((Below::Flash(payload), sectors))
            }
            Media::Disk(_, bytes) if sectors < bytes / SECTOR_BYTES => {
                let offered = sectors * SECTOR_BYTES;
                Err(SimError::Config(format!(
                    "flash.blocks_per_plane: makes a device of {offered} bytes, and the disk behind the buffer has {bytes}; expected no value, so that the size follows from the disk"
                )))
            }
            Media::Disk(disk, bytes) => {
                let backed = Backed::new(disk, sizes.0, sizes.1);
                Ok((Below::Disk(backed), bytes / SECTOR_BYTES))
            }
        }
    }
}

impl Below {
    /// The reason why a completed request of this `kind` has failed; `None` on success. For a flush, and for a trim,
    /// which may have made room on the disk, the data that the disk did not accept are first written to it again.
    pub fn fault_of(&mut self, kind: RequestKind) -> Option<Fault> {
        match (self, kind) {
            (_, RequestKind::Read) => None,
            (Self::Flash(payload), _) => payload.medium().fault(),
            (Self::Disk(backed), RequestKind::Flush | RequestKind::Trim) => backed.settle().err(),
            (Self::Disk(backed), _) => backed.fault(),
        }
    }

    /// Appends `sectors` sectors from `sector` on to `out`. Pages have `sectors_per_page` sectors.
    pub fn read(
        &self,
        sectors_per_page: u64,
        sector: u64,
        sectors: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let payload = match self {
            Self::Flash(payload) => payload,
            Self::Disk(backed) => {
                let bytes = sectors as usize * SECTOR_BYTES as usize;
                return backed.read(sector * SECTOR_BYTES, bytes, out);
            }
        };
        let begin = out.len();
        let (mut at, end) = (sector, sector + u64::from(sectors));
        while at < end {
            let (page, first) = (at / sectors_per_page, at % sectors_per_page);
            let last = (end - page * sectors_per_page).min(sectors_per_page);
            let bytes = payload.look(Lpn(page)).bytes;
            out.extend_from_slice(
                &bytes[(first * SECTOR_BYTES) as usize..(last * SECTOR_BYTES) as usize],
            );
            at = page * sectors_per_page + last;
        }
        if payload.medium().forgive_damage() {
            out.truncate(begin);
            return Err(Fault::Io);
        }
        Ok(())
    }

    /// The kind of contents of `page`, and the first later page that may have another kind. The range may end early,
    /// so that it can be determined quickly.
    pub fn holds(&self, page: Lpn) -> (Holds, Lpn) {
        let payload = match self {
            Self::Flash(payload) => payload,
            Self::Disk(backed) => return backed.holds(page),
        };
        let holds = match payload.kind(page) {
            ImageKind::Fill => Holds::Nothing,
            ImageKind::Zeros => Holds::Zeros,
            ImageKind::Host | ImageKind::Copy => Holds::Data,
        };
        (holds, Lpn(page.0 + 1))
    }
}
