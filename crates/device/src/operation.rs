//! A page operation: the work on one page that a request or a record needs.

use destage_base::Lpn;
use destage_buffer::destage::Slot;
use destage_nand::Cause;

/// The kind of a page operation, with the number of the request or record for which it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// A host request reads the page.
    HostRead(u32),
    /// A host request writes the page, and the write bypasses the buffer.
    HostWrite(u32),
    /// A host request trims the page.
    Trim(u32),
    /// A record writes the page. The bytes of the page are in this slot.
    Destage(u32, Slot),
    /// A record reads the page for padding.
    PadRead(u32),
    /// A record writes the page as padding.
    PadWrite(u32),
    /// A host request writes the page, the write bypasses the buffer, and a flush has to wait for it. The write is
    /// part of this record.
    OwedWrite(u32),
    /// A trim of the page that was answered before it took effect. The trim is this record.
    OwedTrim(u32),
    /// A host request that writes only some sectors of the page reads the other sectors.
    Fill(u32),
}

/// A page and the [`Work`] on this page, in two machine words. Millions of these values pass through queues. A value
/// of two words is passed in registers, whereas a larger value would be stored to memory and loaded again at every
/// step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PageOperation {
    page: Lpn,
    /// From the lowest bit on: 4 bits for the kind, 1 bit for a long write, 27 bits for the number of the request or
    /// record, 32 bits for the slot.
    packed: u64,
}

const KIND_BITS: u32 = 4;
const KIND_MASK: u64 = (1 << KIND_BITS) - 1;
// The kinds. They are tested with bit masks, because a jump on the kind would be mispredicted at every change of the
// kind.
const HOST_READ: u64 = 0;
const HOST_WRITE: u64 = 1;
const TRIM: u64 = 2;
const DESTAGE: u64 = 3;
const PAD_READ: u64 = 4;
const PAD_WRITE: u64 = 5;
const OWED_WRITE: u64 = 6;
const OWED_TRIM: u64 = 7;
const FILL: u64 = 8;
const WRITES: u64 = 1 << HOST_WRITE | 1 << DESTAGE | 1 << PAD_WRITE | 1 << OWED_WRITE;
const TRIMS: u64 = 1 << TRIM | 1 << OWED_TRIM;
/// The bit that marks a long write.
const LONG: u64 = 1 << KIND_BITS;
/// The position of the lowest bit of the number.
const NUMBER_AT: u32 = KIND_BITS + 1;
const NUMBER_BITS: u32 = 27;

impl PageOperation {
    /// The largest number of a request or record.
    pub const LARGEST_NUMBER: u32 = (1 << NUMBER_BITS) - 1;

    /// `work` on `page`.
    ///
    /// # Panics
    /// In debug builds, if 2^27 requests or records are in flight. Numbers are reused, so the panic occurs only with
    /// more than 4 GiB of requests in flight.
    #[inline(always)]
    pub fn new(page: Lpn, work: Work) -> Self {
        let (kind, number, slot) = match work {
            Work::HostRead(number) => (HOST_READ, number, 0),
            Work::HostWrite(number) => (HOST_WRITE, number, 0),
            Work::Trim(number) => (TRIM, number, 0),
            Work::Destage(number, slot) => (DESTAGE, number, slot.0),
            Work::PadRead(number) => (PAD_READ, number, 0),
            Work::PadWrite(number) => (PAD_WRITE, number, 0),
            Work::OwedWrite(number) => (OWED_WRITE, number, 0),
            Work::OwedTrim(number) => (OWED_TRIM, number, 0),
            Work::Fill(number) => (FILL, number, 0),
        };
        debug_assert!(
            number < 1 << NUMBER_BITS,
            "{number} requests or records in flight"
        );
        let packed =
            kind | u64::from(number) << NUMBER_AT | u64::from(slot) << (NUMBER_AT + NUMBER_BITS);
        Self { page, packed }
    }

    /// This operation, marked as part of a [long write](destage_ftl::PageWrite::is_long) if `is_long`.
    #[inline]
    #[must_use]
    pub fn with_long(mut self, is_long: bool) -> Self {
        self.packed = self.packed & !LONG | if is_long { LONG } else { 0 };
        self
    }

    /// Whether the operation is part of a long write.
    #[inline]
    pub fn is_long(self) -> bool {
        self.packed & LONG != 0
    }

    /// The page.
    #[inline]
    pub fn page(self) -> Lpn {
        self.page
    }

    /// The work on the page.
    #[inline]
    pub fn work(self) -> Work {
        let number = (self.packed >> NUMBER_AT) as u32 & ((1 << NUMBER_BITS) - 1);
        let slot = Slot((self.packed >> (NUMBER_AT + NUMBER_BITS)) as u32);
        match self.packed & KIND_MASK {
            HOST_READ => Work::HostRead(number),
            HOST_WRITE => Work::HostWrite(number),
            TRIM => Work::Trim(number),
            DESTAGE => Work::Destage(number, slot),
            PAD_READ => Work::PadRead(number),
            PAD_WRITE => Work::PadWrite(number),
            OWED_WRITE => Work::OwedWrite(number),
            OWED_TRIM => Work::OwedTrim(number),
            _ => Work::Fill(number),
        }
    }

    /// Whether the kind of the operation is one of `kinds`, which has a bit for each kind.
    #[inline]
    fn is_one_of(self, kinds: u64) -> bool {
        kinds >> (self.packed & KIND_MASK) & 1 != 0
    }

    /// The cause by which a write is counted; `None` for reads and trims.
    #[inline]
    pub fn write_cause(self) -> Option<Cause> {
        let cause = if self.is_one_of(1 << PAD_WRITE) {
            Cause::Pad
        } else {
            Cause::Host
        };
        self.is_one_of(WRITES).then_some(cause)
    }

    /// Whether the operation trims the page.
    #[inline]
    pub fn is_trim(self) -> bool {
        self.is_one_of(TRIMS)
    }

    /// Whether the operation reads the page.
    #[inline]
    pub fn is_read(self) -> bool {
        !self.is_one_of(WRITES | TRIMS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_loses_nothing() {
        let largest = (1 << NUMBER_BITS) - 1;
        for work in [
            Work::HostRead(0),
            Work::HostWrite(largest),
            Work::Trim(5),
            Work::Destage(largest, Slot(u32::MAX)),
            Work::PadRead(7),
            Work::PadWrite(largest),
            Work::OwedWrite(1),
            Work::OwedTrim(largest),
            Work::Fill(2),
        ] {
            for is_long in [false, true] {
                let operation = PageOperation::new(Lpn(u64::MAX), work).with_long(is_long);
                assert_eq!((operation.page(), operation.work()), (Lpn(u64::MAX), work));
                assert_eq!(operation.is_long(), is_long);
            }
        }
    }
}
