//! The flash addresses of pages. The page number selects channel, die and plane. Within a plane, pages are
//! allocated in the order of their arrival.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::DirectConfig;

/// A digit of a page number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Digit {
    Channel,
    /// The chip of the channel.
    Way,
    /// The die of the chip; a chip has one die.
    Die,
    Plane,
}

/// The digits of a page number, lowest first: `CWDP`, or any other order of channel, way, die of the way, and plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order([Digit; 4]);

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits: Option<Vec<Digit>> = text
            .chars()
            .map(|letter| match letter {
                'C' => Some(Digit::Channel),
                'W' => Some(Digit::Way),
                'D' => Some(Digit::Die),
                'P' => Some(Digit::Plane),
                _ => None,
            })
            .collect();
        let digits: Option<[Digit; 4]> = digits.and_then(|digits| digits.try_into().ok());
        let each_once = |digits: &[Digit; 4]| {
            let mut sorted = *digits;
            sorted.sort_unstable();
            sorted.windows(2).all(|pair| pair[0] != pair[1])
        };
        match digits.filter(each_once) {
            Some(digits) => Ok(Self(digits)),
            None => Err(format!(
                "{text}: expected the letters C, W, D and P in some order, as CWDP"
            )),
        }
    }
}

/// A page of flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The number of the die. Dies are numbered channel by channel.
    pub die: u32,
    /// The plane of the die.
    pub plane: u32,
    /// The block of the plane.
    pub block: u32,
    /// The page of the block.
    pub page: u32,
}

/// The place of each logical page.
pub(super) struct Places {
    order: Order,
    channels: u64,
    ways: u64,
    planes: u64,
    pages_per_block: u64,
    /// For each plane, the number of pages that are allocated.
    given: Vec<u64>,
    /// For each logical page, the number of its page within the plane.
    map: BTreeMap<u64, u64>,
}

impl Places {
    pub fn new(config: &DirectConfig) -> Self {
        let flash = &config.flash;
        let planes = flash.channels as usize * flash.dies_per_channel as usize;
        Self {
            order: config.order,
            channels: flash.channels.into(),
            ways: flash.dies_per_channel.into(),
            planes: flash.planes.into(),
            pages_per_block: config.pages_per_block.into(),
            given: vec![0; planes * flash.planes as usize],
            map: BTreeMap::new(),
        }
    }

    /// The place of logical `page`. A write, or the first access, allocates the next page of its plane.
    pub fn of(&mut self, page: u64, is_written: bool) -> Place {
        let (mut channel, mut way, mut plane) = (0, 0, 0);
        let mut rest = page;
        for digit in self.order.0 {
            let (value, radix) = match digit {
                Digit::Channel => (&mut channel, self.channels),
                Digit::Way => (&mut way, self.ways),
                Digit::Plane => (&mut plane, self.planes),
                Digit::Die => continue,
            };
            *value = rest % radix;
            rest /= radix;
        }
        let die = channel * self.ways + way;
        let given = &mut self.given[(die * self.planes + plane) as usize];
        let mut give = || {
            *given += 1;
            *given - 1
        };
        let number = if is_written {
            let number = give();
            self.map.insert(page, number);
            number
        } else {
            *self.map.entry(page).or_insert_with(give)
        };
        Place {
            die: die as u32,
            plane: plane as u32,
            block: (number / self.pages_per_block) as u32,
            page: (number % self.pages_per_block) as u32,
        }
    }
}
