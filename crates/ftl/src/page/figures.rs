//! Figures of writes that are divided into streams.

use super::die::{Die, Separation};
use super::parameters::MOST_HANDLES;

/// Names of the figures of each placement handle: the number of written pages, and the sum of written and moved
/// pages per written page.
const OF_HANDLE: [[&str; 2]; MOST_HANDLES as usize] = [
    ["handle_0_writes", "handle_0_waf"],
    ["handle_1_writes", "handle_1_waf"],
    ["handle_2_writes", "handle_2_waf"],
    ["handle_3_writes", "handle_3_waf"],
    ["handle_4_writes", "handle_4_waf"],
    ["handle_5_writes", "handle_5_waf"],
    ["handle_6_writes", "handle_6_waf"],
    ["handle_7_writes", "handle_7_waf"],
    ["handle_8_writes", "handle_8_waf"],
    ["handle_9_writes", "handle_9_waf"],
    ["handle_10_writes", "handle_10_waf"],
    ["handle_11_writes", "handle_11_waf"],
    ["handle_12_writes", "handle_12_waf"],
    ["handle_13_writes", "handle_13_waf"],
    ["handle_14_writes", "handle_14_waf"],
    ["handle_15_writes", "handle_15_waf"],
];

/// Emits the figures of all `dies` together.
pub(super) fn report(
    dies: &[Die],
    separation: Separation,
    emit: &mut dyn FnMut(&'static str, f64),
) {
    let of_dies = || dies.iter().filter_map(|die| die.extras.streams.as_ref());
    let sum = |stream: usize| {
        let counts = of_dies().filter_map(|streams| streams.counts().get(stream));
        counts.fold([0, 0], |sum, count| [sum[0] + count[0], sum[1] + count[1]])
    };
    let handles = separation.handles as usize;
    if separation.window > 0 {
        let hot = (handles..2 * handles).map(|stream| sum(stream)[0]);
        emit("hot_writes", hot.sum::<u64>() as f64);
    }
    if handles == 1 {
        return;
    }
    for (handle, [writes, waf]) in OF_HANDLE.iter().enumerate().take(handles) {
        let [cold, moved] = sum(handle);
        let written = cold + sum(handle + handles)[0];
        emit(writes, written as f64);
        if written > 0 {
            emit(waf, (written + moved) as f64 / written as f64);
        }
    }
}
