//! Mutations that make new inputs from existing ones.

use destage_base::Random;

/// Bytes that occur in the lines of traces, and some other bytes.
const BYTES: &[u8] =
    b"0123456789012345678901234567890123456789.,-+ \t\r\n#;|eEDCQRWFNrwTSMABx\x00\x0c\xff";

/// Words of trace formats, and numbers at the limits of fields.
const WORDS: [&[u8]; 24] = [
    b"0",
    b"1",
    b"-1",
    b"65536",
    b"4294967295",
    b"4294967296",
    b"9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"99999999999999999999999",
    b"0.00000000000001",
    b"1844674407.3709551615",
    b"\n",
    b"\n\n",
    b"\r\n",
    b"# ",
    b"write",
    b"FWFS",
    b"wait",
    b"CPU0 (8,0):",
    b"fio version 2 iolog\n",
    b"time,op,sector,sectors\n",
    b"\0\0\0\0",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
];

/// The largest length of a mutated input, in bytes.
const LENGTH_MAX: usize = 1 << 20;

/// Applies one to eight random changes to `input`.
pub fn mutate(input: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(8) {
        let place = index(input.len() + 1, random);
        let length = (1 + index(64, random)).min(input.len() - place);
        match random.below(9) {
            0 if length > 0 => input[place] ^= 1 << random.below(8),
            1 if length > 0 => input[place] = BYTES[index(BYTES.len(), random)],
            2 => input.insert(place, BYTES[index(BYTES.len(), random)]),
            3 => drop(input.drain(place..place + length)),
            4 => {
                let word = WORDS[index(WORDS.len(), random)];
                input.splice(place..place, word.iter().copied());
            }
            5 => {
                let word = WORDS[index(WORDS.len(), random)];
                let end = place + length.min(word.len());
                input.splice(place..end, word.iter().copied());
            }
            6 => {
                let piece = input[place..place + length].to_vec();
                let other = index(input.len() + 1, random);
                input.splice(other..other, piece);
            }
            // Inputs are cut off rarely, so that a reader reads most inputs to their end.
            7 if random.below(4) == 0 => input.truncate(place),
            8 if random.below(64) == 0 => {
                let times = 2 + index(2000, random);
                let times = times.min(LENGTH_MAX / input.len().max(1)).max(1);
                *input = input.repeat(times);
            }
            _ => {}
        }
    }
    input.truncate(LENGTH_MAX);
}

/// A random index below `bound`, which is not 0.
fn index(bound: usize, random: &mut Random) -> usize {
    usize::try_from(random.below(bound as u64)).unwrap_or(0)
}
