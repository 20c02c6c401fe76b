//! Where pages lie: spread over channels, dies and planes by their numbers, in each plane in the order of their coming.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::DirectConfig;

/// A digit of a page number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Digit {
    Channel,
    /// Of the channel: the chip of it.
    Way,
    /// Of the chip, which has one.
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
    /// The die, counted through the dies of a channel, then the channels.
    pub die: u32,
    /// Plane of it.
    pub plane: u32,
    /// Block of that.
    pub block: u32,
    /// Page of that.
    pub page: u32,
}

/// Where each page lies.
pub(super) struct Places {
    order: Order,
    channels: u64,
    ways: u64,
    planes: u64,
    pages_per_block: u64,
    /// Pages given out, plane by plane.
    given: Vec<u64>,
    /// Which page of its plane each logical page has.
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

    /// Where logical `page` lies, or from now on lies if it is written or was never touched.
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
