//! Merges of a data block and its log block into one block.

use crate::NoSpace;
use crate::blocks::Blocks;
use crate::blocks::data::DataBlocks;
use crate::blocks::log_block::LogBlock;
use destage_nand::operation::{Cause, MergeCause, MergeKind, Operations, Purpose, Role};

/// Merges `log` with the data block of its owner, and releases `log`.
///
/// # Errors
/// [`NoSpace`] if a full merge finds no free block.
pub(super) fn merge(
    log: &mut LogBlock,
    kind: MergeKind,
    cause: MergeCause,
    blocks: &mut Blocks,
    data: &mut DataBlocks,
    operations: &mut Operations,
) -> Result<(), NoSpace> {
    let owner = log.owner;
    let (copies, erases) = match kind {
        MergeKind::Switch => (0, take_over(log, blocks, data, operations)),
        MergeKind::Partial => {
            let copies = complete(log, blocks, data, operations);
            (copies, take_over(log, blocks, data, operations))
        }
        MergeKind::Full => rewrite(log, blocks, data, operations)?,
    };
    log.release();
    blocks.emit_merge(owner, kind, cause, copies, erases, operations);
    Ok(())
}

/// Copies those pages from the data block into the sequential `log` that have higher offsets than the pages in
/// `log`. Returns the number of copied pages.
fn complete(
    log: &LogBlock,
    blocks: &mut Blocks,
    data: &DataBlocks,
    operations: &mut Operations,
) -> u32 {
    let owner = log.owner;
    let Some(source) = data.get(owner) else {
        return 0;
    };
    let (first, next) = (log.len(), blocks.programmed(log.block));
    let count = data.copied().count_from(owner, first);
    let wanted = (first..blocks.pages()).filter(|offset| data.copied().get(owner, *offset));
    for offset in wanted.clone() {
        blocks.nand.program(log.block, offset);
    }
    let copies = wanted.map(|offset| (blocks.ppn(source, offset), blocks.ppn(log.block, offset)));
    let transfer = blocks.copy_transfer([source].into_iter(), log.block);
    let purpose = Purpose::owned(Role::Data, owner);
    let mark = operations.mark();
    operations.push_copies(Cause::Copy, transfer, count, purpose, copies);
    blocks.copied(log.block, next, purpose, mark, operations);
    count
}

/// Copies all pages of the logical block to a new block, and erases the old data block and the log block. Returns
/// the number of copied pages and the number of erased blocks.
fn rewrite(
    log: &LogBlock,
    blocks: &mut Blocks,
    data: &mut DataBlocks,
    operations: &mut Operations,
) -> Result<(u32, u32), NoSpace> {
    let owner = log.owner;
    let target = blocks.allocate(owner, operations)?;
    let old = data.get(owner);
    for offset in log.live_offsets() {
        data.set_newest(owner, offset);
    }
    let newest = |offset: u32| match (log.page_of(offset), old) {
        (Some(page), _) => Some(blocks.ppn(log.block, page)),
        (None, Some(old)) if data.copied().get(owner, offset) => Some(blocks.ppn(old, offset)),
        _ => None,
    };
    let count = data.copied().count(owner);
    let copies = (0..blocks.pages())
        .filter_map(|offset| Some((newest(offset)?, blocks.ppn(target, offset))));
    let sources = [Some(log.block), old].into_iter().flatten();
    let transfer = blocks.copy_transfer(sources, target);
    let purpose = Purpose::owned(Role::Data, owner);
    let mark = operations.mark();
    operations.push_copies(Cause::Copy, transfer, count, purpose, copies);
    blocks.nand.program_row(target, data.copied(), owner);
    blocks.copied(target, 0, purpose, mark, operations);
    data.put(owner, target);
    if let Some(old) = old {
        blocks.erase(old, 0, Cause::Copy, operations);
    }
    blocks.erase(log.block, 0, Cause::Copy, operations);
    Ok((count, 1 + u32::from(old.is_some())))
}

/// Makes the sequential `log` the data block of its owner; returns the number of erased blocks.
fn take_over(
    log: &LogBlock,
    blocks: &mut Blocks,
    data: &mut DataBlocks,
    operations: &mut Operations,
) -> u32 {
    for offset in log.live_offsets() {
        data.set_newest(log.owner, offset);
    }
    match data.put(log.owner, log.block) {
        Some(old) => {
            blocks.erase(old, 0, Cause::Copy, operations);
            1
        }
        None => 0,
    }
}
