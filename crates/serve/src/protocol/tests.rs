//! Tests of the protocol, byte by byte. The expected bytes are written by hand from the protocol's document.

use super::*;

fn export() -> Export {
    Export {
        name: "disk".to_owned(),
        bytes: 1 << 20,
        read_only: false,
        preferred_block: 4096,
        about: "a test".to_owned(),
    }
}

/// The result of a session whose input arrives in pieces: the output, the commands, the replies, and whether the
/// session closed the connection.
#[derive(Default)]
struct Heard {
    out: Vec<u8>,
    commands: Vec<(CommandKind, u64, u32, bool, Vec<u8>)>,
    replies: Vec<Reply>,
    closed: bool,
}

fn hear(export: &Export, input: &[u8], piece: usize) -> Heard {
    let mut heard = Heard::default();
    let mut session = Session::new(&mut heard.out);
    let mut there: Vec<u8> = Vec::new();
    for bytes in input.chunks(piece) {
        there.extend_from_slice(bytes);
        loop {
            match session.step(export, &there, &mut heard.out) {
                Step::Needs(count) => {
                    assert!(count > there.len(), "it needs what is there");
                    break;
                }
                Step::Took(count) => {
                    assert!(count > 0);
                    there.drain(..count);
                }
                Step::Command(count, command, reply) => {
                    heard.commands.push((
                        command.kind,
                        command.offset,
                        command.length,
                        command.fua,
                        command.data.to_vec(),
                    ));
                    heard.replies.push(reply);
                    there.drain(..count);
                }
                Step::Closed => {
                    heard.closed = true;
                    return heard;
                }
            }
        }
    }
    heard
}

/// The result of a session with `input`. Fails if the result depends on the size of the pieces in which the input
/// arrives.
fn said(input: &[u8]) -> Heard {
    let whole = hear(&export(), input, input.len().max(1));
    for piece in [1, 2, 7, 29] {
        let heard = hear(&export(), input, piece);
        assert_eq!(heard.out, whole.out, "pieces of {piece}");
        assert_eq!(heard.commands, whole.commands, "pieces of {piece}");
        assert_eq!(heard.closed, whole.closed, "pieces of {piece}");
    }
    whole
}

const GREETING: &[u8] = b"NBDMAGICIHAVEOPT\x00\x03";
const FIXED: &[u8] = &[0, 0, 0, 3];

fn option(number: u8, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"IHAVEOPT\0\0\0".to_vec();
    bytes.push(number);
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    bytes
}

fn go(name: &str, number: u8) -> Vec<u8> {
    let mut data = (name.len() as u32).to_be_bytes().to_vec();
    data.extend(name.as_bytes());
    data.extend([0, 0]);
    option(number, &data)
}

fn request(command: u8, flags: u8, offset: u64, length: u32) -> Vec<u8> {
    let mut bytes = vec![0x25, 0x60, 0x95, 0x13, 0, flags, 0, command];
    bytes.extend(b"COOKIE88");
    bytes.extend(offset.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes
}

/// The output after the greeting, for the input `parts`.
fn answer(parts: &[&[u8]]) -> Vec<u8> {
    let heard = said(&parts.concat());
    heard.out[GREETING.len()..].to_vec()
}

fn option_reply(number: u8, kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 3, 0xe8, 0x89, 4, 0x55, 0x65, 0xa9, 0, 0, 0, number];
    bytes.extend(kind.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    bytes
}

fn simple(error: u8) -> Vec<u8> {
    let mut bytes = vec![0x67, 0x44, 0x66, 0x98, 0, 0, 0, error];
    bytes.extend(b"COOKIE88");
    bytes
}

/// Transmission flags: bits 0, 2, 3, 5, 6, 8, 10, 11.
const FLAGS: [u8; 2] = [0b1101, 0b0110_1101];

fn facts_of_go(number: u8, flags: [u8; 2]) -> Vec<u8> {
    let size = [&[0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0], &flags[..]].concat();
    let blocks = [0, 3, 0, 0, 2, 0, 0, 0, 0x10, 0, 2, 0, 0, 0];
    [
        option_reply(number, 3, &size),
        option_reply(number, 3, &blocks),
        option_reply(number, 1, &[]),
    ]
    .concat()
}

#[test]
fn an_export_name_ends_options_with_or_without_zeros() {
    let name = option(1, b"disk");
    let plain = [&[0, 0, 0, 0, 0, 0x10, 0, 0][..], &FLAGS].concat();
    assert_eq!(answer(&[FIXED, &name]), plain);
    let with_zeros = [plain, vec![0; 124]].concat();
    assert_eq!(answer(&[&[0, 0, 0, 1], &name]), with_zeros);
    // Without fixed newstyle the export name is the only option that is accepted.
    assert_eq!(answer(&[&[0, 0, 0, 0], &name]), with_zeros);
    assert!(said(&[&[0, 0, 0, 0][..], &option(3, &[])].concat()).closed);
    assert!(said(&[FIXED, &option(1, b"other")].concat()).closed);
    assert!(said(&[FIXED, &option(1, &[b'a'; 5000])].concat()).closed);
}

#[test]
fn flags_and_magic_that_nobody_knows_end_the_connection() {
    assert!(said(&[0, 0, 0, 4]).closed);
    assert!(said(&[0, 1, 0, 3]).closed);
    assert!(said(&[FIXED, b"IHAVEOPX\0\0\0\x03\0\0\0\0"].concat()).closed);
}

#[test]
fn go_and_info_tell_size_flags_and_blocks() {
    assert_eq!(answer(&[FIXED, &go("disk", 7)]), facts_of_go(7, FLAGS));
    assert_eq!(answer(&[FIXED, &go("", 6)]), facts_of_go(6, FLAGS));
    let heard = said(&[FIXED, &go("disk", 6), &request(3, 0, 0, 0)].concat());
    assert!(heard.closed, "options go on after INFO");
    let unknown = answer(&[FIXED, &go("x", 7), &go("disk", 7)]);
    let refusal = option_reply(7, 0x8000_0006, b"no such export");
    assert_eq!(unknown, [refusal, facts_of_go(7, FLAGS)].concat());
    // The name and the description are sent only if the client asks for them.
    let asking = option(6, &[0, 0, 0, 0, 0, 2, 0, 1, 0, 2]);
    let text = answer(&[FIXED, &asking]);
    let has = |fact: &[u8]| text.windows(fact.len()).any(|part| part == fact);
    assert!(has(b"\0\x01disk") && has(b"\0\x02a test"));
}

#[test]
fn broken_data_of_options_is_refused_and_options_go_on() {
    for data in [
        &[][..],
        &[0, 0, 0, 1],
        &[0, 0, 0, 9, b'd', 0, 0],
        &[0, 0, 0, 0, 0, 1],
        &[0, 0, 0, 0, 0, 0, 7],
        &[0xff; 6],
    ] {
        let heard = said(&[FIXED, &option(7, data), &go("", 7), &request(3, 0, 0, 0)].concat());
        let reply = &heard.out[GREETING.len()..];
        assert_eq!(reply[8..16], [0, 0, 0, 7, 0x80, 0, 0, 3], "{data:?}");
        assert_eq!(heard.commands.len(), 1, "{data:?}");
    }
    for number in [3, 5, 8] {
        let reply = answer(&[FIXED, &option(number, b"x")]);
        assert_eq!(reply[12..16], [0x80, 0, 0, 3], "{number}");
    }
}

#[test]
fn what_is_not_known_is_answered_and_passed_over() {
    let long = option(99, &[7; 100_000]);
    let unknown = [option(11, b"x"), option(5, &[]), long].concat();
    let heard = said(&[FIXED, &unknown, &option(3, &[]), &option(2, b"bye")].concat());
    let listed = [&[0, 0, 0, 4][..], b"diska test"].concat();
    let expected = [
        GREETING.to_vec(),
        option_reply(11, 0x8000_0001, &[]),
        option_reply(5, 0x8000_0001, b"no encryption here"),
        option_reply(99, 0x8000_0001, &[]),
        option_reply(3, 2, &listed),
        option_reply(3, 1, &[]),
        option_reply(2, 1, &[]),
    ];
    assert_eq!(heard.out, expected.concat());
    assert!(heard.closed);
    let too_long = answer(&[FIXED, &option(7, &[0; 20_000])]);
    assert_eq!(too_long, option_reply(7, 0x8000_0009, &[]));
}

fn contexts(number: u8, name: &str, queries: &[&str]) -> Vec<u8> {
    let mut data = (name.len() as u32).to_be_bytes().to_vec();
    data.extend(name.as_bytes());
    data.extend((queries.len() as u32).to_be_bytes());
    for query in queries {
        data.extend((query.len() as u32).to_be_bytes());
        data.extend(query.as_bytes());
    }
    option(number, &data)
}

#[test]
fn metadata_contexts_need_structured_replies_and_a_colon() {
    let structured = option(8, &[]);
    let ack = |number| option_reply(number, 1, &[]);
    let context = |number, id: u8| {
        let data = [&[0, 0, 0, id][..], b"base:allocation"].concat();
        [option_reply(number, 4, &data), ack(number)].concat()
    };
    let first = contexts(10, "", &["base:allocation"]);
    assert_eq!(answer(&[FIXED, &first])[12..16], [0x80, 0, 0, 3]);
    let asked = |option: &[u8]| answer(&[FIXED, &structured, option])[20..].to_vec();
    assert_eq!(asked(&first), context(10, 1));
    assert_eq!(asked(&contexts(9, "disk", &[])), context(9, 0));
    assert_eq!(asked(&contexts(9, "", &["x:y", "base:"])), context(9, 0));
    assert_eq!(asked(&contexts(10, "", &["base:"])), ack(10));
    assert_eq!(asked(&contexts(10, "", &[])), ack(10));
    assert_eq!(
        asked(&contexts(10, "", &["nothing"]))[12..16],
        [0x80, 0, 0, 3]
    );
    assert_eq!(asked(&contexts(10, "x", &[]))[12..16], [0x80, 0, 0, 6]);
    // A selection that fails clears the earlier selection too.
    let gone = [first, contexts(10, "", &["nothing"]), go("", 7)].concat();
    let status = request(7, 0, 0, 512);
    let heard = said(&[FIXED, &structured, &gone, &status].concat());
    assert!(heard.commands.is_empty());
}

fn after_go(requests: &[u8]) -> Heard {
    let head = [FIXED, &go("", 7)].concat();
    let mut heard = said(&[&head, requests].concat());
    let start = hear(&export(), &head, 1000).out.len();
    heard.out.drain(..start);
    heard
}

#[test]
fn commands_are_understood_with_force_unit_access_on_each() {
    let write = [request(1, 1, 512, 1024), vec![9; 1024]].concat();
    let others = [
        request(0, 1, 0, 512),
        request(3, 1, 0, 0),
        request(4, 1, 4096, 4096),
        request(5, 1, 0, 512),
        request(6, 0b11, 0, 512),
        request(2, 1, 0, 0),
    ];
    let heard = after_go(&[write, others.concat()].concat());
    assert!(heard.out.is_empty(), "something was refused");
    let kinds: Vec<_> = heard.commands.iter().map(|command| command.0).collect();
    use CommandKind::{Cache, Disconnect, Flush, Read, Trim, Write, WriteZeroes};
    assert_eq!(
        kinds,
        [Write, Read, Flush, Trim, Cache, WriteZeroes, Disconnect]
    );
    assert!(heard.commands.iter().all(|command| command.3));
    assert_eq!(heard.commands[0].4, [9; 1024]);
    // Nothing after a disconnect is processed.
    let heard = after_go(&[request(2, 0, 0, 0), request(3, 0, 0, 0)].concat());
    assert_eq!(heard.commands.len(), 1);
    assert!(heard.closed);
}

#[test]
fn what_a_command_may_not_ask_is_answered_as_the_protocol_wants() {
    let end = 1 << 20;
    for (bytes, error) in [
        (request(0, 0, end, 512), 22),
        (request(0, 0, end - 512, 1024), 22),
        (request(0, 0, u64::MAX - 511, 512), 22),
        (request(4, 0, end, 512), 22),
        (request(5, 0, end, 512), 22),
        (request(6, 0, end, 512), 28),
        (request(0, 0, 1, 512), 22),
        (request(0, 0, 0, 511), 22),
        (request(0, 0, 0, 0), 22),
        (request(0, 4, 0, 512), 22),
        (request(0, 0x20, 0, 512), 22),
        (request(3, 2, 0, 0), 22),
        (request(3, 0, 512, 0), 22),
        (request(6, 0x10, 0, 512), 95),
        (request(6, 0x12, end, 512), 28),
        (request(7, 0, 0, 512), 22),
        (request(8, 0, 0, 512), 22),
        (request(200, 0, 0, 0), 22),
        ([request(1, 0, end, 512), vec![1; 512]].concat(), 28),
        ([request(1, 0, 1, 512), vec![1; 512]].concat(), 22),
        ([request(1, 2, 0, 512), vec![1; 512]].concat(), 22),
    ] {
        let heard = after_go(&[bytes.clone(), request(3, 0, 0, 0)].concat());
        assert_eq!(heard.out, simple(error), "{bytes:?}");
        assert_eq!(heard.commands.len(), 1, "{bytes:?}");
    }
}

#[test]
fn a_read_only_export_takes_nothing_and_says_so() {
    let export = Export {
        read_only: true,
        ..export()
    };
    let head = [FIXED, &go("", 7)].concat();
    for bytes in [
        [request(1, 0, 0, 512), vec![1; 512]].concat(),
        request(4, 0, 0, 512),
        request(6, 0, 0, 512),
        request(6, 0x10, 0, 512),
    ] {
        let heard = hear(&export, &[&head[..], &bytes].concat(), 1000);
        assert_eq!(heard.out[heard.out.len() - 16..], simple(1), "{bytes:?}");
        assert!(heard.commands.is_empty());
    }
    let heard = hear(&export, &head, 1000);
    // Bits 0, 1, 2, 3, 8, 10: a read-only export has neither trim nor write-zeroes.
    let flags = [0b101, 0b0000_1111];
    assert_eq!(heard.out[GREETING.len()..], facts_of_go(7, flags));
}

#[test]
fn a_payload_that_is_too_long_is_passed_over() {
    let length = PAYLOAD_MAX + 512;
    let head = [FIXED, &go("", 7), &request(1, 0, 0, length)].concat();
    let mut out = Vec::new();
    let mut session = Session::new(&mut out);
    let mut input = &head[..];
    while let Step::Took(count) = session.step(&export(), input, &mut out) {
        input = &input[count..];
    }
    assert!(input.is_empty());
    let before = out.len();
    let piece = [0; 4096];
    let mut left = length as usize;
    while left > 0 {
        let there = &piece[..left.min(4096)];
        let Step::Took(count) = session.step(&export(), there, &mut out) else {
            panic!("it is not passed over");
        };
        left -= count;
    }
    assert_eq!(out[before..], simple(22));
    let flush = request(3, 0, 0, 0);
    let next = session.step(&export(), &flush, &mut out);
    assert!(matches!(next, Step::Command(28, _, _)));
    // A read of that length has no payload to skip, and is refused at once.
    assert_eq!(after_go(&request(0, 0, 0, length)).out, simple(22));
}

#[test]
fn a_write_without_memory_for_it_is_passed_over() {
    let mut out = Vec::new();
    let mut session = Session::new(&mut out);
    let error = (ErrorCode::NoMemory, "none");
    let write = request(1, 0, 0, 4096);
    assert_eq!(session.pass_over(&write, error), None, "in a handshake");
    let head = [FIXED, &go("", 7)].concat();
    let mut input = &head[..];
    while let Step::Took(count) = session.step(&export(), input, &mut out) {
        input = &input[count..];
    }
    let before = out.len();
    for other in [&request(0, 0, 0, 4096)[..], &write[..27], &[1; 28]] {
        assert_eq!(session.pass_over(other, error), None);
    }
    assert_eq!(session.pass_over(&write, error), Some(28));
    assert_eq!(
        session.pass_over(&write, error),
        None,
        "it is at it already"
    );
    for piece in [&[0; 4000][..], &[0; 96]] {
        assert!(matches!(
            session.step(&export(), piece, &mut out),
            Step::Took(_)
        ));
    }
    assert_eq!(out[before..], simple(12));
    let flush = request(3, 0, 0, 0);
    let next = session.step(&export(), &flush, &mut out);
    assert!(matches!(next, Step::Command(28, _, _)));
}

#[test]
fn replies_are_simple_or_structured() {
    let heard = after_go(&[request(0, 0, 512, 1024), request(3, 0, 0, 0)].concat());
    let mut out = Vec::new();
    heard.replies[0].done(&mut out);
    heard.replies[1].failed(ErrorCode::Io, "why", &mut out);
    assert_eq!(out, [simple(0), simple(5)].concat());

    let negotiated = [
        option(8, &[]),
        contexts(10, "", &["base:allocation"]),
        go("", 7),
    ];
    let requests = [
        request(0, 4, 512, 1024),
        request(3, 0, 0, 0),
        request(7, 8, 0, 512),
        request(0, 0, 1 << 20, 512),
    ];
    let heard = said(&[FIXED, &negotiated.concat(), &requests.concat()].concat());
    assert_eq!(heard.commands.len(), 3);
    let chunk = |kind: [u8; 2], data: &[u8], length: u32| {
        let head = [0x66, 0x8e, 0x33, 0xef, 0, 1, kind[0], kind[1]];
        [&head[..], b"COOKIE88", &length.to_be_bytes(), data].concat()
    };
    let why = [&[0, 0, 0, 22, 0, 22][..], b"ends beyond the export"].concat();
    let refused = chunk([0x80, 1], &why, 28);
    assert!(heard.out.ends_with(&refused));

    let mut out = Vec::new();
    heard.replies[0].done(&mut out);
    assert_eq!(out, chunk([0, 1], &[0, 0, 0, 0, 0, 0, 2, 0], 8 + 1024));
    out.clear();
    heard.replies[0].failed(ErrorCode::Shutdown, "x", &mut out);
    assert_eq!(out, chunk([0x80, 1], &[0, 0, 0, 108, 0, 1, b'x'], 7));
    out.clear();
    heard.replies[1].done(&mut out);
    assert_eq!(out, simple(0));
    out.clear();
    let extents = [(512, true, true), (1024, false, true), (512, false, false)];
    let extents = extents.map(|(bytes, is_hole, is_zero)| Extent {
        bytes,
        is_hole,
        is_zero,
    });
    heard.replies[2].block_status(&extents, &mut out);
    let data = [
        [0, 0, 0, 1].to_vec(),
        vec![0, 0, 2, 0, 0, 0, 0, 3],
        vec![0, 0, 4, 0, 0, 0, 0, 2],
        vec![0, 0, 2, 0, 0, 0, 0, 0],
    ];
    assert_eq!(out, chunk([0, 5], &data.concat(), 28));
}
