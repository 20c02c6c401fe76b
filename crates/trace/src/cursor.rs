//! Reads the fields of a line, byte by byte.
//!
//! The speed of decoding text depends mainly on this module and on `digits`. A [`Cursor`] walks over a block of
//! complete lines. Every block ends with a newline, and only [`Cursor::end`] and [`Cursor::rest_of_line`] step
//! past a newline, so code that reads a field never needs the position of the end of the line. Every field is
//! checked. If a check fails, cold functions continue, which may be slow.

use crate::digits::{DIGITS_SAFE, POWERS_OF_TEN, digits, plain_digits};
use crate::error::Fault;

/// A column: its name in error messages, and the content that is expected in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub name: &'static str,
    pub expected: &'static str,
}

impl Column {
    pub const fn new(name: &'static str, expected: &'static str) -> Self {
        Self { name, expected }
    }
}

/// The error of a line, without the name of the file and the line number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Problem {
    pub fault: Fault,
    /// The position in the block where the wrong field starts; `None` if the line as a whole is wrong.
    pub field: Option<usize>,
    /// The content that is expected. With `None`, the error message shows what the fault expects, or the
    /// columns of the format.
    pub expected: Option<&'static str>,
    /// The length of the field in bytes. In text, 0 means that a separator ends the field.
    pub width: usize,
    /// For a binary record, the length of the record in bytes, if it is known in spite of the error. A record
    /// of known length can be skipped.
    pub record: Option<usize>,
}

impl Problem {
    #[cold]
    pub(crate) fn line(fault: Fault) -> Self {
        Self {
            fault,
            field: None,
            expected: None,
            width: 0,
            record: None,
        }
    }
}

/// Walks over a block of complete lines.
pub(crate) struct Cursor<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
    /// The position of the field that was read last.
    field: usize,
    /// Whether digits below the tick were rounded in a decimal number.
    pub rounded: bool,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the line that begins at `at`. `bytes` must end with a newline.
    #[inline(always)]
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Self {
            bytes,
            at,
            field: at,
            rounded: false,
        }
    }

    /// The byte under the cursor.
    #[inline(always)]
    pub fn peek(&self) -> u8 {
        byte(self.bytes, self.at)
    }

    /// Reads a whole number.
    #[inline(always)]
    pub fn number(&mut self, column: &'static Column) -> Result<u64, Problem> {
        self.field = self.at;
        let (value, digits) = digits(self.bytes, self.at);
        self.at += digits;
        if digits.wrapping_sub(1) < DIGITS_SAFE {
            return Ok(value);
        }
        odd_number(self.bytes, (self.field, digits), column)
    }

    /// Reads a whole number in a column where nearly every number has one digit.
    #[inline(always)]
    pub fn short_number(&mut self, column: &'static Column) -> Result<u64, Problem> {
        let two = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk);
        if let Some([digit @ b'0'..=b'9', b' ' | b'\n']) = two {
            self.field = self.at;
            self.at += 1;
            return Ok(u64::from(digit - b'0'));
        }
        self.number(column)
    }

    /// Reads a whole number below 2^32.
    #[inline(always)]
    pub fn number32(&mut self, column: &'static Column) -> Result<u32, Problem> {
        let value = self.number(column)?;
        u32::try_from(value).map_err(|_| self.bad_field(Fault::TooLarge(column.name), column))
    }

    /// Reads a whole number in hexadecimal, with 0x in front.
    #[inline(always)]
    pub fn hexadecimal(&mut self, column: &'static Column) -> Result<u64, Problem> {
        self.field = self.at;
        if self.peek() != b'0' || !matches!(self.bytes.get(self.at + 1), Some(b'x' | b'X')) {
            return Err(match self.peek() {
                b'\n' | b'\r' => Problem::line(Fault::FewFields),
                _ => self.not_a_number(column),
            });
        }
        self.at += 2;
        let (start, mut value) = (self.at, 0u64);
        while let Some(digit) = hexadecimal_digit(self.peek()) {
            if value >> 60 != 0 {
                return Err(self.bad_field(Fault::TooLarge(column.name), column));
            }
            value = value << 4 | digit;
            self.at += 1;
        }
        if self.at == start {
            return Err(self.not_a_number(column));
        }
        Ok(value)
    }

    /// Reads a whole number, in hexadecimal if it begins with 0x.
    #[inline(always)]
    pub fn number_of_any_base(&mut self, column: &'static Column) -> Result<u64, Problem> {
        match self.bytes.get(self.at + 1) {
            Some(b'x' | b'X') => self.hexadecimal(column),
            _ => self.number(column),
        }
    }

    /// Reads a decimal number in units of 10^`exponent` ticks. Returns the whole units, and the fraction in
    /// ticks, rounded half up.
    ///
    /// After rounding, the fraction can be as large as a whole unit.
    #[inline(always)]
    pub fn decimal(
        &mut self,
        exponent: u32,
        column: &'static Column,
    ) -> Result<(u64, u64), Problem> {
        let whole = self.number(column)?;
        if self.peek() != b'.' {
            return Ok((whole, 0));
        }
        self.at += 1;
        let (value, digits) = digits(self.bytes, self.at);
        if digits == 0 {
            return Err(self.bad_field(Fault::NotANumber(column.name), column));
        }
        self.at += digits;
        let exponent = exponent as usize;
        if digits <= exponent {
            return Ok((whole, value * POWERS_OF_TEN[exponent - digits]));
        }
        let (value, digits) = if digits <= DIGITS_SAFE {
            (value, digits)
        } else {
            // Rounding half up needs only one digit below the tick; later digits cannot change the result.
            let start = self.at - digits;
            (
                plain_digits(&self.bytes[start..start + DIGITS_SAFE]),
                DIGITS_SAFE,
            )
        };
        let unit = POWERS_OF_TEN[digits - exponent];
        self.rounded |= !value.is_multiple_of(unit);
        Ok((whole, value / unit + u64::from(value % unit >= unit / 2)))
    }

    /// Skips a decimal number, perhaps with an exponent, whose value is not used. The text must still be a
    /// valid number.
    #[inline(always)]
    pub fn ignored_decimal(&mut self, column: &'static Column) -> Result<(), Problem> {
        self.field = self.at;
        let (_, whole) = digits(self.bytes, self.at);
        self.at += whole;
        let mut sound = whole > 0;
        if self.peek() == b'.' {
            let (_, fraction) = digits(self.bytes, self.at + 1);
            self.at += 1 + fraction;
            sound &= fraction > 0;
        }
        if self.peek() | 0x20 == b'e' {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            let (_, exponent) = digits(self.bytes, self.at);
            self.at += exponent;
            sound &= exponent > 0;
        }
        if sound {
            Ok(())
        } else {
            Err(self.not_a_number(column))
        }
    }

    /// Reads the bytes up to `separator` or the end of the line. The cursor stops in front of the separator or
    /// the end of the line.
    #[inline(always)]
    pub fn word(&mut self, separator: u8) -> &'a [u8] {
        self.field = self.at;
        let start = self.at;
        while !matches!(self.peek(), b'\n' | b'\r') && self.peek() != separator {
            self.at += 1;
        }
        &self.bytes[start..self.at]
    }

    /// Skips the separator after the number or word that was just read in `column`.
    #[inline(always)]
    pub fn separator(&mut self, separator: u8, column: &'static Column) -> Result<(), Problem> {
        if self.peek() == separator {
            self.at += 1;
            return Ok(());
        }
        Err(self.no_separator(column))
    }

    /// Skips the blanks after the number or word that was just read in `column`. There must be at least one.
    #[inline(always)]
    pub fn blanks(&mut self, column: &'static Column) -> Result<(), Problem> {
        if self.peek() != b' ' && self.peek() != b'\t' {
            return Err(self.no_separator(column));
        }
        self.at += 1;
        self.skip_blanks();
        Ok(())
    }

    /// Skips blanks and tabs, if there are any.
    #[inline(always)]
    pub fn skip_blanks(&mut self) {
        // Most bytes are larger than a blank, and need only the first comparison.
        while self.peek() <= b' ' && matches!(self.peek(), b' ' | b'\t') {
            self.at += 1;
        }
    }

    /// Skips spaces, if there are any. Tabs are not skipped, because they can separate fields.
    #[inline(always)]
    pub fn skip_spaces(&mut self) {
        while self.peek() == b' ' {
            self.at += 1;
        }
    }

    /// Skips the end of the line after the field that was just read in `column`. The cursor moves to the next
    /// line.
    #[inline(always)]
    pub fn end(&mut self, column: &'static Column) -> Result<(), Problem> {
        if self.peek() == b'\n' {
            self.at += 1;
            return Ok(());
        }
        let start = self.at;
        self.skip_blanks();
        if self.peek() == b'\r' && self.bytes.get(self.at + 1) == Some(&b'\n') {
            self.at += 1;
        }
        if self.peek() == b'\n' {
            self.at += 1;
            return Ok(());
        }
        self.at = start;
        Err(self.no_end(column))
    }

    /// Skips the rest of the line, whatever it contains. The cursor moves to the next line.
    pub fn rest_of_line(&mut self) {
        self.at = next_line(self.bytes, self.at);
    }

    /// A problem with the field that was read last.
    #[inline(always)]
    pub fn bad_field(&self, fault: Fault, column: &'static Column) -> Problem {
        bad_field(self.field, fault, column)
    }

    /// The problem of a field whose word is missing or unknown.
    #[cold]
    #[inline(never)]
    pub fn unknown_word(&self, column: &'static Column) -> Problem {
        match self.bytes.get(self.field) {
            None | Some(b'\n' | b'\r') => Problem::line(Fault::FewFields),
            Some(_) => self.bad_field(Fault::UnknownWord(column.name), column),
        }
    }

    #[inline(always)]
    fn not_a_number(&self, column: &'static Column) -> Problem {
        not_a_number(self.bytes, self.field, column)
    }

    /// The problem of a missing separator: the line has ended, or the field contains a character that it must
    /// not contain.
    #[inline(always)]
    fn no_separator(&self, column: &'static Column) -> Problem {
        no_separator(self.bytes, (self.field, self.at), column)
    }

    #[inline(always)]
    fn no_end(&self, column: &'static Column) -> Problem {
        no_end(self.bytes, (self.field, self.at), column)
    }
}

// The functions below handle errors and unusual input. They get the fields of a cursor by value, so that the
// compiler can keep the cursor in registers.

#[cold]
#[inline(never)]
fn bad_field(field: usize, fault: Fault, column: &'static Column) -> Problem {
    Problem {
        fault,
        field: Some(field),
        expected: Some(column.expected),
        width: 0,
        record: None,
    }
}

/// Reads the number at `field`. The number has no digits, or it is so long that the sum may overflow.
#[cold]
#[inline(never)]
fn odd_number(
    bytes: &[u8],
    (field, digits): (usize, usize),
    column: &'static Column,
) -> Result<u64, Problem> {
    if digits == 0 {
        return Err(match byte(bytes, field) {
            b'\n' | b'\r' => Problem::line(Fault::FewFields),
            _ => not_a_number(bytes, field, column),
        });
    }
    // Leading zeros are legal, so a number with many digits can be small.
    bytes[field..field + digits]
        .iter()
        .try_fold(0u64, |value, digit| {
            value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        })
        .ok_or_else(|| bad_field(field, Fault::TooLarge(column.name), column))
}

#[cold]
#[inline(never)]
fn not_a_number(bytes: &[u8], field: usize, column: &'static Column) -> Problem {
    let negative = bytes[field] == b'-' && bytes.get(field + 1).is_some_and(u8::is_ascii_digit);
    let fault = if negative {
        Fault::Negative(column.name)
    } else {
        Fault::NotANumber(column.name)
    };
    bad_field(field, fault, column)
}

#[cold]
#[inline(never)]
fn no_separator(bytes: &[u8], (field, at): (usize, usize), column: &'static Column) -> Problem {
    match byte(bytes, at) {
        b'\n' | b'\r' => Problem::line(Fault::FewFields),
        _ => not_a_number(bytes, field, column),
    }
}

#[cold]
#[inline(never)]
fn no_end(bytes: &[u8], (field, at): (usize, usize), column: &'static Column) -> Problem {
    match byte(bytes, at) {
        b' ' | b'\t' | b',' => Problem::line(Fault::ManyFields),
        _ => not_a_number(bytes, field, column),
    }
}

/// The byte at `at`. Past the end of the block the result is a newline, with which every block ends.
#[inline(always)]
fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(b'\n')
}

#[inline(always)]
fn hexadecimal_digit(byte: u8) -> Option<u64> {
    match byte {
        b'0'..=b'9' => Some(u64::from(byte - b'0')),
        b'a'..=b'f' => Some(u64::from(byte - b'a') + 10),
        b'A'..=b'F' => Some(u64::from(byte - b'A') + 10),
        _ => None,
    }
}

/// The start of the line after the line that contains the byte `at`.
pub(crate) fn next_line(bytes: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: Column = Column::new("field", "digits");

    fn number(text: &str) -> Result<u64, Fault> {
        Cursor::new(text.as_bytes(), 0)
            .number(&ANY)
            .map_err(|problem| problem.fault)
    }

    #[test]
    fn numbers_of_every_length_are_exact_wherever_they_stand() {
        let digits = "12345678901234567890";
        for length in 1..=20 {
            let text = &digits[..length];
            for tail in ["\n", " \n", ",777777777777\n", "x99999999\n", "\u{ff}:/~\n"] {
                assert_eq!(
                    number(&format!("{text}{tail}")),
                    Ok(text.parse().unwrap()),
                    "{text}{tail}"
                );
            }
        }
        assert_eq!(number("18446744073709551615\n"), Ok(u64::MAX));
        assert_eq!(number("000000000000000000000000000012 \n"), Ok(12));
        assert_eq!(
            number("18446744073709551616\n"),
            Err(Fault::TooLarge("field"))
        );
        assert_eq!(
            number("99999999999999999999999999999\n"),
            Err(Fault::TooLarge("field"))
        );
    }

    #[test]
    fn hexadecimal_numbers_are_exact_up_to_64_bits() {
        let hexadecimal = |text: &str| {
            Cursor::new(text.as_bytes(), 0)
                .hexadecimal(&ANY)
                .map_err(|problem| problem.fault)
        };
        for (text, value) in [
            ("0x0,\n", 0),
            ("0x6c80556e00,\n", 0x6c_8055_6e00),
            ("0XDEADbeef\n", 0xdead_beef),
            ("0x0000fffffade6b0a2010\n", 0xffff_fade_6b0a_2010),
            ("0xffffffffffffffff \n", u64::MAX),
        ] {
            assert_eq!(hexadecimal(text), Ok(value), "{text}");
        }
        assert_eq!(
            hexadecimal("0x10000000000000000\n"),
            Err(Fault::TooLarge("field"))
        );
        for wrong in ["0x\n", "0xg\n", "12\n", "x12\n", "- 1\n", ",\n"] {
            assert_eq!(
                hexadecimal(wrong),
                Err(Fault::NotANumber("field")),
                "{wrong}"
            );
        }
        assert_eq!(hexadecimal("-0x1\n"), Err(Fault::Negative("field")));
        assert_eq!(hexadecimal("\n"), Err(Fault::FewFields));
        for (text, value) in [("0x10\n", 16), ("10\n", 10), ("0\n", 0)] {
            let any = Cursor::new(text.as_bytes(), 0).number_of_any_base(&ANY);
            assert_eq!(any.ok(), Some(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_told_apart() {
        assert_eq!(number("-5 \n"), Err(Fault::Negative("field")));
        for wrong in ["x\n", "-\n", "- 5\n", "+5\n", ",\n", "\u{1d7d9}\n"] {
            assert_eq!(number(wrong), Err(Fault::NotANumber("field")), "{wrong}");
        }
        assert_eq!(number("\n"), Err(Fault::FewFields));
    }

    #[test]
    fn fractions_are_rounded_half_up_at_the_tick() {
        let decimal = |text: &str, exponent| {
            Cursor::new(text.as_bytes(), 0)
                .decimal(exponent, &ANY)
                .unwrap()
        };
        assert_eq!(decimal("5265.313 \n", 7), (5265, 3_130_000));
        assert_eq!(decimal("0.00000004\n", 7), (0, 0));
        assert_eq!(decimal("0.00000005\n", 7), (0, 1));
        assert_eq!(decimal("0.00000014999999999999999999999999\n", 7), (0, 1));
        assert_eq!(decimal("0.00000015000000000000000000000000\n", 7), (0, 2));
        assert_eq!(decimal("1.99999999\n", 7), (1, 10_000_000));
        assert_eq!(decimal("7 \n", 1), (7, 0));
        assert_eq!(decimal("7.25\n", 1), (7, 3));
        for wrong in ["1.\n", ".5\n", "1.-5\n", "-1.5\n"] {
            assert!(
                Cursor::new(wrong.as_bytes(), 0).decimal(7, &ANY).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn an_ignored_decimal_is_still_checked() {
        for right in ["0 \n", "7.3902e-05 \n", "1E+3 \n", "0.000122793 \n"] {
            let mut cursor = Cursor::new(right.as_bytes(), 0);
            assert!(cursor.ignored_decimal(&ANY).is_ok(), "{right}");
            assert_eq!(cursor.peek(), b' ', "{right}");
        }
        for wrong in ["x \n", "1. \n", "1e \n", "1e- \n", "-1 \n", "e5 \n"] {
            assert!(
                Cursor::new(wrong.as_bytes(), 0)
                    .ignored_decimal(&ANY)
                    .is_err(),
                "{wrong}"
            );
        }
    }
}
