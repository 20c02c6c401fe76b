//! Checks what the NBD server promises for any bytes that a client sends.

use destage_base::Random;
use destage_serve::protocol::{
    BLOCK_MIN, Command, CommandKind, Export, PAYLOAD_MAX, Session, Step,
};

/// The largest number of bytes that a session may wait for, which is a header with the largest payload.
const MESSAGE_MAX: usize = 28 + PAYLOAD_MAX as usize;
/// The largest number of bytes of all answers to one message.
const ANSWER_MAX: usize = 1 << 14;

/// A random export. The name and the size have a few different values, and a quarter of the exports are read-only.
#[must_use]
pub fn export(random: &mut Random) -> Export {
    Export {
        name: ["", "disk"][usize::from(random.below(2) == 0)].to_owned(),
        bytes: [1 << 20, 512, 1 << 62][usize::try_from(random.below(3)).unwrap_or(0)],
        read_only: random.below(4) == 0,
        preferred_block: 4096,
        about: "fuzz".to_owned(),
    }
}

/// Overwrites up to three numbers in `content` with values at the limits of fields.
pub fn distort(content: &mut [u8], random: &mut Random) {
    const EDGES: [u64; 12] = [
        0,
        1,
        2,
        511,
        512,
        4096,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        1 << 25,
        u64::MAX - 511,
        u64::MAX,
    ];
    for _ in 0..random.below(4) {
        let bytes =
            EDGES[usize::try_from(random.below(EDGES.len() as u64)).unwrap_or(0)].to_be_bytes();
        let width = [1, 2, 4, 8][usize::try_from(random.below(4)).unwrap_or(0)];
        if content.len() < width {
            return;
        }
        let places = (content.len() - width + 1) as u64;
        let at = usize::try_from(random.below(places)).unwrap_or(0);
        content[at..at + width].copy_from_slice(&bytes[8 - width..]);
    }
}

/// Passes `input` to a session in pieces of `piece()` bytes. Returns all answers of the session and the number of
/// commands.
///
/// # Errors
/// If the session breaks a promise. The text says which. A panic is a broken promise too.
pub fn speaks(
    export: &Export,
    input: &[u8],
    piece: impl FnMut() -> usize,
) -> Result<(Vec<u8>, u64), String> {
    let mut out = Vec::new();
    let mut session = Session::new(&mut out);
    let (mut start, mut end, mut commands) = (0, 0, 0);
    let mut piece = piece;
    loop {
        let before = out.len();
        let step = session.step(export, &input[start..end], &mut out);
        if out.len() - before > ANSWER_MAX {
            return Err(format!(
                "{} bytes in answer to one message",
                out.len() - before
            ));
        }
        let taken = match step {
            Step::Needs(count) if count <= end - start => {
                return Err(format!("it needs {count} bytes, and has them"));
            }
            Step::Needs(count) if count > MESSAGE_MAX => {
                return Err(format!("it waits for {count} bytes"));
            }
            Step::Needs(_) if end == input.len() => return Ok((out, commands)),
            Step::Needs(_) => {
                end = (end + piece().max(1)).min(input.len());
                continue;
            }
            Step::Closed => return Ok((out, commands)),
            Step::Took(count) => count,
            Step::Command(count, command, reply) => {
                legal(export, &command)?;
                commands += 1;
                reply.done(&mut out);
                count
            }
        };
        if taken == 0 || taken > end - start {
            return Err(format!("it took {taken} of {} bytes", end - start));
        }
        start += taken;
    }
}

fn legal(export: &Export, command: &Command<'_>) -> Result<(), String> {
    let Command {
        kind,
        offset,
        length,
        ..
    } = *command;
    let has_payload = matches!(kind, CommandKind::Read | CommandKind::Write);
    let changes = matches!(
        kind,
        CommandKind::Write | CommandKind::WriteZeroes | CommandKind::Trim
    );
    let is_without_range = matches!(kind, CommandKind::Flush | CommandKind::Disconnect);
    let block = u64::from(BLOCK_MIN);
    let ends = offset.checked_add(length.into());
    let is_legal = is_without_range
        || (length > 0
            && offset.is_multiple_of(block)
            && u64::from(length).is_multiple_of(block)
            && ends.is_some_and(|end| end <= export.bytes)
            && !(changes && export.read_only)
            && !(has_payload && length > PAYLOAD_MAX));
    let has_data = command.data.len()
        == if kind == CommandKind::Write {
            length as usize
        } else {
            0
        };
    match is_legal && has_data {
        true => Ok(()),
        false => Err(format!(
            "{kind:?} of {length} bytes at {offset}, with {} bytes",
            command.data.len()
        )),
    }
}

/// Checks that a session keeps all promises, and that its answers do not depend on how its input is divided into
/// pieces. Returns the number of commands.
///
/// # Errors
/// The errors of [`speaks`], or that the answers differ.
pub fn survives(input: &[u8], random: &mut Random) -> Result<u64, String> {
    let export = export(random);
    let whole = speaks(&export, input, || input.len())?;
    let most = 1 + random.below(64);
    let pieces = speaks(&export, input, || {
        usize::try_from(1 + random.below(most)).unwrap_or(1)
    })?;
    match whole == pieces {
        true => Ok(whole.1),
        false => Err("it says something else where the bytes come in pieces".to_owned()),
    }
}
