//! Digits to numbers, eight at a time.
//!
//! A byte loop spends its time not on the digits but on the unpredictable length of each field. One load, one
//! mask and one shift find it without a branch.

/// Powers of ten that fit in 64 bits.
pub(crate) const POWERS_OF_TEN: [u64; 20] = {
    let mut powers = [1; 20];
    let mut exponent = 1;
    while exponent < powers.len() {
        powers[exponent] = powers[exponent - 1] * 10;
        exponent += 1;
    }
    powers
};

/// Any number of this many digits fits in 64 bits.
pub(crate) const DIGITS_SAFE: usize = 19;

/// The value of the digits from `at` on, and how many there are. The value of more than 19 digits is meaningless.
#[inline(always)]
pub(crate) fn digits(bytes: &[u8], at: usize) -> (u64, usize) {
    // Nearly every field has less than eight, and more than eight bytes follow.
    if let Some(word) = eight_bytes(bytes, at)
        && let odd = no_digits(word)
        && odd != 0
    {
        return leading_digits(word, odd);
    }
    many_digits(bytes, at)
}

/// Eight bytes from `at` on, the first in the lowest byte, if there are so many. Digits are 0 to 9.
#[inline(always)]
fn eight_bytes(bytes: &[u8], at: usize) -> Option<u64> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let eight = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*eight) ^ ZEROS)
}

/// The top bit of each byte of `word` that is no digit. A carry can only disturb bytes after the first of them.
#[inline(always)]
fn no_digits(word: u64) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    (word.wrapping_add(0x7676_7676_7676_7676) | word) & HIGH
}

/// The digits of `word` before the first of its bytes that are `odd`, of which there are some.
#[inline(always)]
fn leading_digits(word: u64, odd: u64) -> (u64, usize) {
    let bit = odd.trailing_zeros();
    // Moves the digits up, so that zeros stand before them; in two steps, as there may be none.
    let value = eight_digits(word << (63 - bit) << 8);
    (value, (bit / 8) as usize)
}

/// [`digits`] of any number of them.
#[inline(never)]
fn many_digits(bytes: &[u8], at: usize) -> (u64, usize) {
    let mut value = 0u64;
    let mut length = 0;
    while let Some(word) = eight_bytes(bytes, at + length) {
        let odd = no_digits(word);
        if odd != 0 {
            let (tail, count) = leading_digits(word, odd);
            value = value.wrapping_mul(POWERS_OF_TEN[count]).wrapping_add(tail);
            return (value, length + count);
        }
        value = value
            .wrapping_mul(100_000_000)
            .wrapping_add(eight_digits(word));
        length += 8;
    }
    for byte in bytes.get(at + length..).unwrap_or_default() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        length += 1;
    }
    (value, length)
}

/// The number whose eight digits, the first in the lowest byte, are the bytes of `word`.
#[inline(always)]
fn eight_digits(word: u64) -> u64 {
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xFFFF_FFFF
}

/// The number that at most [`DIGITS_SAFE`] digits stand for.
pub(crate) fn plain_digits(digits: &[u8]) -> u64 {
    digits
        .iter()
        .fold(0, |value, digit| value * 10 + u64::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_that_is_no_digit_ends_a_number_wherever_it_stands() {
        for length in 0..=19 {
            let text = &b"9081726354657483920"[..length];
            for stop in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
                for after in [
                    &b""[..],
                    b"7777777777777777",
                    b"\xff\xff\xff\xff\xff\xff\xff\xff",
                ] {
                    let bytes = [text, &[stop], after].concat();
                    assert_eq!(digits(&bytes, 0), (plain_digits(text), length), "{bytes:?}");
                }
            }
        }
    }
}
