//! Converts digits to numbers, eight bytes at a time.
//!
//! A loop over single bytes loses most of its time to mispredicted branches, because the lengths of fields
//! vary. The functions here need no branch for the length of a number: they load eight bytes, mark the bytes
//! that are not digits, and shift the digits into position.

/// All powers of ten that fit in 64 bits.
pub(crate) const POWERS_OF_TEN: [u64; 20] = {
    let mut powers = [1; 20];
    let mut exponent = 1;
    while exponent < powers.len() {
        powers[exponent] = powers[exponent - 1] * 10;
        exponent += 1;
    }
    powers
};

/// Every number with at most this many digits fits in 64 bits.
pub(crate) const DIGITS_SAFE: usize = 19;

/// The value of the digits from `at` on, and their count. The value is meaningless for more than 19 digits.
#[inline(always)]
pub(crate) fn digits(bytes: &[u8], at: usize) -> (u64, usize) {
    // Nearly every field has fewer than eight digits, and nearly always at least eight bytes remain.
    if let Some(word) = eight_bytes(bytes, at)
        && let odd = no_digits(word)
        && odd != 0
    {
        return leading_digits(word, odd);
    }
    many_digits(bytes, at)
}

/// The value of the one to seven digits from `at` on, and the position after the byte `end`, which must follow
/// the digits. `None` if the text has another form, or if fewer than eight bytes remain.
#[inline(always)]
pub(crate) fn digits_before(end: u8, bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let word = eight_bytes(bytes, at)?;
    let odd = no_digits(word);
    if odd == 0 {
        return None;
    }
    let (value, length) = leading_digits(word, odd);
    (length > 0 && bytes.get(at + length) == Some(&end)).then_some((value, at + length + 1))
}

/// The value of the digit at `at`, and the position after the byte `end`, which must follow the digit. `None`
/// if the text has another form.
#[inline(always)]
pub(crate) fn digit_before(end: u8, bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    match bytes.get(at..)?.first_chunk()? {
        [digit @ b'0'..=b'9', behind] if *behind == end => Some((u64::from(digit - b'0'), at + 2)),
        _ => None,
    }
}

/// The values of two digits, if the bytes from `at` on are a blank, a digit, a blank, a digit and a newline.
/// `None` if the text has another form, or if fewer than eight bytes remain.
#[inline(always)]
pub(crate) fn two_single_digits(bytes: &[u8], at: usize) -> Option<(u64, u64)> {
    // The two blanks and the newline, as `eight_bytes` returns them, in bytes 0, 2 and 4.
    const FIXED: u64 = 0xFF_00FF_00FF;
    const LINE: u64 = 0x3A_0010_0010;
    // The top bits of bytes 1 and 3, which hold the two digits. The top bit of a digit is clear, also after
    // 0x76 is added. The top bit of any other byte is set, either before or after 0x76 is added.
    const OTHERS: u32 = 0x8000_8000;
    const SIX: u32 = 0x7600_7600;
    let word = eight_bytes(bytes, at)?;
    let low = word as u32;
    let digits_only = (low.wrapping_add(SIX) | low) & OTHERS == 0;
    (word & FIXED == LINE && digits_only).then_some((word >> 8 & 0xFF, word >> 24 & 0xFF))
}

/// The eight bytes from `at` on, each XOR 0x30, so that a digit becomes its value 0 to 9. The first byte is the
/// lowest byte of the result. `None` if fewer than eight bytes remain.
#[inline(always)]
fn eight_bytes(bytes: &[u8], at: usize) -> Option<u64> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let eight = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*eight) ^ ZEROS)
}

/// Sets the top bit of each byte of `word` that is not a digit, and clears all other bits. Because of carries,
/// the bytes after the first one that is not a digit can be wrong.
#[inline(always)]
fn no_digits(word: u64) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    (word.wrapping_add(0x7676_7676_7676_7676) | word) & HIGH
}

/// The value and the number of the digits of `word` before its first byte that is not a digit. `odd` is the
/// result of `no_digits` for `word`, and must not be 0.
#[inline(always)]
fn leading_digits(word: u64, odd: u64) -> (u64, usize) {
    let bit = odd.trailing_zeros();
    // Shifts the digits up, so that zeros precede them. Two shifts are needed, because a single shift would be
    // by 64 bits if there are no digits.
    let value = eight_digits(word << (63 - bit) << 8);
    (value, (bit / 8) as usize)
}

/// Does the same as [`digits`] for any number of digits.
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

/// The number whose eight digits are the bytes of `word`, with the first digit in the lowest byte.
#[inline(always)]
fn eight_digits(word: u64) -> u64 {
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xFFFF_FFFF
}

/// The number that `digits` represent, of which there are at most [`DIGITS_SAFE`].
pub(crate) fn plain_digits(digits: &[u8]) -> u64 {
    digits
        .iter()
        .fold(0, |value, digit| value * 10 + u64::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_before_an_end_are_one_to_seven_and_that_end() {
        let digits = b"9081726354657483920";
        for (length, end) in (0..=digits.len()).flat_map(|length| {
            (0..=u8::MAX)
                .filter(|end| !end.is_ascii_digit())
                .map(move |end| (length, end))
        }) {
            for behind in [
                &b" \n"[..],
                b"777777777",
                b"\xff\xff\xff\xff\xff\xff\xff\xff",
            ] {
                let text = [&digits[..length], &[end], behind].concat();
                let whole = (plain_digits(&digits[..length]), length + 1);
                // `digits_before` loads eight bytes at once, so it finds nothing if fewer bytes remain.
                let is_usual = (1..8).contains(&length) && text.len() >= 8;
                assert_eq!(
                    digits_before(end, &text, 0),
                    is_usual.then_some(whole),
                    "{text:?}"
                );
                let is_usual = length == 1;
                assert_eq!(
                    digit_before(end, &text, 0),
                    is_usual.then_some(whole),
                    "{text:?}"
                );
                let others = [end ^ 1, end ^ 0x80].into_iter();
                for other in others.filter(|other| !other.is_ascii_digit()) {
                    assert_eq!(digits_before(other, &text, 0), None, "{text:?}");
                    assert_eq!(digit_before(other, &text, 0), None, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn two_single_digits_are_just_that() {
        let line = *b" 7 1\nabcd";
        assert_eq!(two_single_digits(&line, 0), Some((7, 1)));
        assert_eq!(
            two_single_digits(&line[..7], 0),
            None,
            "at the very end of what is in sight"
        );
        for (place, byte) in (0..5).flat_map(|place| (0..=u8::MAX).map(move |byte| (place, byte))) {
            let mut other = line;
            other[place] = byte;
            let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
            let expected = match place {
                1 => digit.map(|digit| (digit, 1)),
                3 => digit.map(|digit| (7, digit)),
                _ => (byte == line[place]).then_some((7, 1)),
            };
            assert_eq!(two_single_digits(&other, 0), expected, "{other:?}");
        }
    }

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
