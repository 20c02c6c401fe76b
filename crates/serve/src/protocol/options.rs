//! Options, by which client and server negotiate before the first command.

use super::wire::{self, Fields, Put};
use super::{BLOCK_MIN, Export, PAYLOAD_MAX, STRING_MAX};

/// The largest number of bytes of the data of an option that contains names and queries.
const DATA_MAX: usize = 1 << 14;

/// The negotiated features.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Negotiated {
    /// Whether replies are structured.
    pub structured: bool,
    /// Whether block status reports which ranges are allocated.
    pub allocation: bool,
}

/// The state of the connection after an option.
pub(super) enum Next {
    Options,
    Commands,
    Close,
}

/// The largest number of bytes of data of `option` that are read; 0 for an unknown option.
pub(super) fn data_max(option: u32) -> usize {
    match option {
        wire::OPT_EXPORT_NAME => STRING_MAX,
        wire::OPT_INFO
        | wire::OPT_GO
        | wire::OPT_LIST_META_CONTEXT
        | wire::OPT_SET_META_CONTEXT => DATA_MAX,
        // These options should have no data. The server reads any data nevertheless. Then it refuses the option, or
        // ignores the data.
        wire::OPT_ABORT | wire::OPT_LIST | wire::OPT_STARTTLS | wire::OPT_STRUCTURED_REPLY => {
            STRING_MAX
        }
        _ => 0,
    }
}

/// The error for an option with more data than `data_max` allows.
pub(super) fn refusal_of_length(option: u32) -> u32 {
    if data_max(option) == 0 {
        wire::REP_ERR_UNSUP
    } else {
        wire::REP_ERR_TOO_BIG
    }
}

/// Appends a reply to `option`.
pub(super) fn reply(option: u32, kind: u32, data: &[u8], out: &mut Vec<u8>) {
    out.put64(wire::OPTION_REPLY);
    out.put32(option);
    out.put32(kind);
    out.put32(data.len() as u32);
    out.extend_from_slice(data);
}

impl Negotiated {
    /// Carries out `option` with its `data`. `client` are the handshake flags of the client.
    pub(super) fn take(
        &mut self,
        export: &Export,
        client: u16,
        option: u32,
        data: &[u8],
        out: &mut Vec<u8>,
    ) -> Next {
        match option {
            wire::OPT_EXPORT_NAME => {
                if !export.is_called(data) {
                    return Next::Close;
                }
                out.put64(export.bytes);
                out.put16(export.transmission_flags(self.structured));
                if client & wire::NO_ZEROES == 0 {
                    out.extend_from_slice(&[0; 124]);
                }
                return Next::Commands;
            }
            wire::OPT_ABORT => {
                reply(option, wire::REP_ACK, &[], out);
                return Next::Close;
            }
            wire::OPT_LIST if data.is_empty() => {
                let mut entry = Vec::new();
                entry.put32(export.name.len() as u32);
                entry.extend_from_slice(export.name.as_bytes());
                entry.extend_from_slice(export.about.as_bytes());
                reply(option, wire::REP_SERVER, &entry, out);
                reply(option, wire::REP_ACK, &[], out);
            }
            wire::OPT_STRUCTURED_REPLY if data.is_empty() => {
                self.structured = true;
                reply(option, wire::REP_ACK, &[], out);
            }
            wire::OPT_STARTTLS if data.is_empty() => {
                reply(option, wire::REP_ERR_UNSUP, b"no encryption here", out);
            }
            wire::OPT_LIST | wire::OPT_STRUCTURED_REPLY | wire::OPT_STARTTLS => {
                reply(option, wire::REP_ERR_INVALID, b"has no data", out);
            }
            wire::OPT_INFO | wire::OPT_GO => return self.inform(export, option, data, out),
            wire::OPT_LIST_META_CONTEXT | wire::OPT_SET_META_CONTEXT => {
                self.contexts(export, option, data, out);
            }
            _ => reply(option, wire::REP_ERR_UNSUP, &[], out),
        }
        Next::Options
    }

    fn inform(&self, export: &Export, option: u32, data: &[u8], out: &mut Vec<u8>) -> Next {
        let Some((name, wanted)) = name_and_facts(data) else {
            let why = b"expected a name and the numbers of facts";
            reply(option, wire::REP_ERR_INVALID, why, out);
            return Next::Options;
        };
        if !export.is_called(name) {
            reply(option, wire::REP_ERR_UNKNOWN, b"no such export", out);
            return Next::Options;
        }
        let mut fact = Vec::new();
        fact.put16(wire::INFO_EXPORT);
        fact.put64(export.bytes);
        fact.put16(export.transmission_flags(self.structured));
        reply(option, wire::REP_INFO, &fact, out);
        let asks = |number: u16| {
            wanted
                .chunks_exact(2)
                .any(|fact| fact == number.to_be_bytes())
        };
        for (number, text) in [
            (wire::INFO_NAME, &export.name),
            (wire::INFO_DESCRIPTION, &export.about),
        ] {
            if asks(number) {
                fact.clear();
                fact.put16(number);
                fact.extend_from_slice(text.as_bytes());
                reply(option, wire::REP_INFO, &fact, out);
            }
        }
        // The block sizes are always sent, because they also apply to a client that does not request them.
        fact.clear();
        fact.put16(wire::INFO_BLOCK_SIZE);
        fact.put32(BLOCK_MIN);
        fact.put32(export.preferred_block);
        fact.put32(PAYLOAD_MAX);
        reply(option, wire::REP_INFO, &fact, out);
        reply(option, wire::REP_ACK, &[], out);
        if option == wire::OPT_GO {
            Next::Commands
        } else {
            Next::Options
        }
    }

    fn contexts(&mut self, export: &Export, option: u32, data: &[u8], out: &mut Vec<u8>) {
        let sets = option == wire::OPT_SET_META_CONTEXT;
        if sets {
            // The option clears the earlier selection, even if the option fails.
            self.allocation = false;
        }
        if !self.structured {
            let why = b"needs structured replies";
            return reply(option, wire::REP_ERR_INVALID, why, out);
        }
        let Some((name, queries)) = name_and_queries(data) else {
            let why = b"expected a name and queries with a colon";
            return reply(option, wire::REP_ERR_INVALID, why, out);
        };
        if !export.is_called(name) {
            return reply(option, wire::REP_ERR_UNKNOWN, b"no such export", out);
        }
        let is_listed = |query: &&[u8]| *query == b"base:" && !sets;
        let mut found = queries
            .iter()
            .any(|query| *query == wire::ALLOCATION.as_bytes() || is_listed(query));
        found |= queries.is_empty() && !sets;
        if found {
            let mut context = Vec::new();
            context.put32(if sets {
                super::session::ALLOCATION_ID
            } else {
                0
            });
            context.extend_from_slice(wire::ALLOCATION.as_bytes());
            reply(option, wire::REP_META_CONTEXT, &context, out);
            self.allocation |= sets;
        }
        reply(option, wire::REP_ACK, &[], out);
    }
}

/// The name in the data of `INFO` or `GO`, and the numbers of the requested facts, two bytes per number. `None` if
/// the data are malformed.
fn name_and_facts(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut fields = Fields(data);
    let length = fields.u32()? as usize;
    let name = fields.bytes(length)?;
    let count = usize::from(fields.u16()?);
    let facts = fields.bytes(2 * count)?;
    (fields.0.is_empty() && length <= STRING_MAX).then_some((name, facts))
}

/// The name and the queries in the data of an option about metadata contexts; `None` if the data are malformed.
fn name_and_queries(data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let mut fields = Fields(data);
    let length = fields.u32()? as usize;
    let name = fields.bytes(length)?;
    let mut queries = Vec::new();
    for _ in 0..fields.u32()? {
        let length = fields.u32()? as usize;
        let query = fields.bytes(length)?;
        if length > STRING_MAX || !query.contains(&b':') {
            return None;
        }
        queries.push(query);
    }
    (fields.0.is_empty() && length <= STRING_MAX).then_some((name, queries))
}
