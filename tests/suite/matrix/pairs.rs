//! Small devices for every pair of a scheme and a layer that has flash.

use destage_base::Random;
use destage_ftl::FTLS;

use crate::ftl_kit;
use crate::kit::Stack;
use crate::matrix::requests::SECTORS;

/// The layers with flash, and further variants of some layers. The device handles these variants differently.
pub fn layers() -> Vec<(&'static str, &'static str)> {
    let rows = FTLS.iter().filter(|row| row.has_flash);
    let mut layers: Vec<_> = rows.map(|row| (row.name, "")).collect();
    layers.extend([
        ("page", "batches"),
        ("page", "placed"),
        ("pslc", "dynamic"),
        ("zns", "few"),
    ]);
    layers
}

/// A device with `scheme` over `layer`. `shape` can change the geometry, which is otherwise the smallest one; all
/// other settings are random.
pub fn stack<'a>(
    scheme: &'a str,
    layer: (&'a str, &'a str),
    random: &mut Random,
    shape: impl FnOnce(&mut Stack<'a>, &mut Random),
) -> Stack<'a> {
    let capacity = [12, 1, 2, 12][random.below(4) as usize];
    let dies = 1 + random.below(3) as u32 + u32::from(layer.1 == "placed");
    let mut stack = Stack::new(scheme, capacity, layer.0, dies, 20);
    shape(&mut stack, random);
    let mut draw = |count: u64| random.below(count);
    stack.layer_settings = ftl_kit::small_settings(layer.0).to_vec();
    match layer.1 {
        "batches" => {
            (stack.geometry.planes, stack.parallel_units) = (2, 2);
            stack.geometry.blocks_per_plane = 14;
            stack.copy_back = true;
        }
        "placed" => stack.layer_settings.push(("placement", "dynamic")),
        "few" => stack
            .layer_settings
            .extend([("open_zones", "2"), ("finish_percent", "60")]),
        "dynamic" => stack.layer_settings.extend([
            ("cache_size", "dynamic"),
            ("cache_full", "fold"),
            ("cache_fold_pages", "1"),
        ]),
        _ => {}
    }
    stack.sectors = SECTORS as usize;
    stack.filled = draw(3) > 0;
    stack.config.blocks_per_die = stack.geometry.blocks_per_die();
    stack.config.volatile_cache = draw(6) > 0;
    stack.config.strict_trim = draw(3) == 0;
    stack.scheme_settings = vec![
        ("release", ["complete", "issue"][draw(2) as usize]),
        ("bypass_pages", ["0", "4"][draw(2) as usize]),
        ("pad_charge_reads", ["true", "false"][draw(2) as usize]),
        ("pad_unwritten", ["fill", "stop_at_last"][draw(2) as usize]),
        ("bg_destage", ["false", "true"][draw(2) as usize]),
        ("bg_high", "0.4"),
        ("bg_low", "0.1"),
        ("bg_again", ["record", "page"][draw(2) as usize]),
    ];
    stack
}
