//! Every layer of the registry has a scenario, and the operations of the layer cost what the scenario expects.

use crate::kit;

use destage_ftl::FTLS;

#[test]
fn every_layer_has_a_scenario_and_does_what_it_says() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    for row in FTLS.iter().filter(|row| row.has_flash) {
        let path = folder.join(format!("{}.txt", row.name));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| {
            panic!("{}: {error}: a layer needs a scenario", path.display())
        });
        kit::scenario::play(row.name, &text);
    }
    for entry in std::fs::read_dir(folder).expect("scenarios") {
        let path = entry.expect("a scenario").path();
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .expect("a name");
        assert!(
            destage_ftl::find(name).is_some(),
            "{} belongs to no layer",
            path.display()
        );
    }
}
