//! Stretches a trace in time or address by an exact ratio.

use crate::request::{Operation, Request, SECTORS_MAX};
use std::str::FromStr;

/// A ratio of whole numbers.
///
/// ```
/// use destage_trace::transform::Ratio;
/// let half: Ratio = "0.5".parse().unwrap();
/// assert_eq!(half, "1/2".parse().unwrap());
/// assert_eq!(half.of(7), Some(3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    numerator: u64,
    denominator: u64,
}

impl Ratio {
    /// The ratio 1, which changes nothing.
    pub const ONE: Self = Self {
        numerator: 1,
        denominator: 1,
    };

    /// `value` times the ratio, rounded down; `None` if the result does not fit in 64 bits.
    #[must_use]
    pub fn of(self, value: u64) -> Option<u64> {
        let product = u128::from(value) * u128::from(self.numerator);
        u64::try_from(product / u128::from(self.denominator)).ok()
    }
}

impl FromStr for Ratio {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "a ratio above 0 such as 2, 0.25 or 3/7";
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse::<u64>().ok()).flatten()
        };
        let (numerator, denominator) = if let Some((above, below)) = text.split_once('/') {
            (number(above), number(below))
        } else if let Some((whole, rest)) = text.split_once('.') {
            let places = u32::try_from(rest.len()).unwrap_or(u32::MAX);
            number(whole).and(number(rest)).ok_or(EXPECTED)?;
            (number(&format!("{whole}{rest}")), 10u64.checked_pow(places))
        } else {
            (number(text), Some(1))
        };
        match (numerator, denominator) {
            (Some(numerator @ 1..), Some(denominator @ 1..)) => {
                let mut divisor = (numerator, denominator);
                while divisor.1 != 0 {
                    divisor = (divisor.1, divisor.0 % divisor.1);
                }
                Ok(Self {
                    numerator: numerator / divisor.0,
                    denominator: denominator / divisor.0,
                })
            }
            _ => Err(EXPECTED),
        }
    }
}

/// Stretches time and address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// The factor for times.
    pub time: Ratio,
    /// The factor for page numbers. A request keeps its length and its offset within its first page. With a
    /// factor below 1, several pages become one page, so the trace contains more rewrites.
    pub address: Ratio,
    /// The number of sectors in a page.
    pub page_sectors: u64,
}

impl Scale {
    /// `request` with scaled time and address; `None` if the scaled time or address is too large.
    #[must_use]
    pub fn apply(&self, request: &Request) -> Option<Request> {
        let mut scaled = *request;
        scaled.arrival = self.time.of(request.arrival)?;
        if request.operation != Operation::Flush && self.address != Ratio::ONE {
            let page = self.address.of(request.sector / self.page_sectors)?;
            scaled.sector = page
                .checked_mul(self.page_sectors)?
                .checked_add(request.sector % self.page_sectors)
                .filter(|sector| *sector <= SECTORS_MAX - u64::from(request.sectors))?;
        }
        Some(scaled)
    }
}
