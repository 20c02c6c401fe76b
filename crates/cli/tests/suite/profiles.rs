//! Every profile with every way of using a device: served, killed, watched and explained. The power of each is cut in
//! `every_profile_holds_what_was_promised` of the crate `destage`. `make profiles` kills and cuts each a hundred and a
//! thousand times.
#![cfg(unix)]

use crate::{common, kills, serve};

use common::Place;
use destage_sim::profiles::{PROFILES, Profile};
use destage_sim::settings::Settings;
use serde_json::Value;
use serve::{Server, URI, mixed};

/// The options for a small and empty device of `profile`, on which power may fail.
fn small(profile: &Profile) -> Vec<&'static str> {
    let mut pairs = vec![
        "flash.dies=4",
        "buffer.capacity_bytes=1MiB",
        "sim.precondition=none",
        "device.power_may_fail=true",
        "trace.align=rmw",
        // A served device has these values in any case, so a run that is compared with it needs them.
        "sim.costing=event",
        "sim.write_order=strict",
        "sim.clock=exact",
    ];
    if profile.text.contains("\nchannels = ") {
        pairs.push("flash.channels=2");
    }
    // A block must hold several program units.
    pairs.extend(match profile.text.contains("\nprogram_unit = ") {
        true => ["flash.blocks_per_plane=64", "flash.pages_per_block=192"],
        false => ["flash.blocks_per_plane=256", "flash.pages_per_block=48"],
    });
    if profile.name == "mqsim-match" {
        pairs.push("flash.multi_plane=in_order");
    }
    let pairs = pairs.iter().flat_map(|pair| ["--set", pair]);
    ["--profile", profile.name]
        .into_iter()
        .chain(pairs)
        .collect()
}

const CLOSED: [&str; 10] = [
    "--set",
    "host.replay=closed",
    "--set",
    "host.queue_depth=1",
    "--set",
    "host.saturation=0",
    "--set",
    "sim.window=complete",
    "--set",
    "host.attribution=request",
];

#[test]
fn a_live_device_of_every_profile_does_what_a_run_does() {
    let place = Place::new();
    place.write("t.csv", mixed() + "400000,0,flush,0,0,0,0\n");
    let mut destages = 0;
    for profile in PROFILES {
        let (name, mut device) = (profile.name, small(profile));
        if profile.text.contains("kind = \"mqsim\"") {
            // This buffer sends each page to the flash at once, and a capacitor that replaces flushes lets the last
            // pages be under way when the last request is answered. A run waits for them, but nothing makes a served
            // device do so. With the last flush, both wait.
            device.extend(["--set", "buffer.flush_mode=honor"]);
        }
        let log = ["--destage-log", "run.csv", "--json"];
        let run = place.json(&[&["run", "t.csv"], &device[..], &CLOSED, &log].concat());
        let live = ["--unix", "s.sock", "--control", "c.sock", "--json"];
        let live = [&device[..], &live, &["--destage-log", "live.csv"]].concat();
        let server = Server::start(&place, &live);
        place.succeed(&["replay", "t.csv", "--to", URI, "--closed"]);
        let stats = place.json(&["device", "c.sock", "stats", "--json"]);
        assert_eq!(stats["metrics"], run["metrics"], "{name}");
        place.succeed(&["device", "c.sock", "stop"]);
        let (status, _, errors) = server.wait();
        assert_eq!((status, errors.as_str()), (0, ""), "{name}");
        let (run, live) = (place.read("run.csv"), place.read("live.csv"));
        assert!(live.starts_with(&run), "{name}");
        destages += run.lines().count() - 1;
    }
    // The capacitor of some profiles replaces flushes, so that they destage nothing here.
    assert!(destages > 0);
}

/// Servers with an image are killed. After each start the contents are those that were promised, so the device was
/// mounted rightly.
#[test]
fn an_image_of_every_profile_keeps_what_was_promised() {
    let device = |profile: &'static Profile| {
        let mut settings = Settings::new();
        settings.load_profile(profile.name).unwrap();
        let typed = settings.resolve().unwrap().typed;
        let page_bytes = match typed.ftl.map_unit_bytes {
            0 => typed.flash.page_bytes,
            unit => unit,
        };
        // A capacitor that replaces flushes saves nothing if the server is killed.
        let honor = ["--set", "buffer.flush_mode=honor"];
        let options = [&small(profile)[..], &kills::IMAGE, &honor].concat();
        (options, (page_bytes / 512) as usize)
    };
    let devices: Vec<_> = PROFILES.iter().map(device).collect();
    kills::all(&devices, &[]);
}

/// A run that is watched or explained has the results of the plain run. The parts of each response time that is
/// explained alone add up to the response time, in ticks.
#[test]
fn a_run_of_every_profile_can_be_watched_and_explained() {
    let place = Place::new();
    place.write("t.csv", mixed());
    for profile in PROFILES {
        let (name, device) = (profile.name, small(profile));
        let run = [&["run", "t.csv", "--json"], &device[..], &CLOSED].concat();
        let plain = place.json(&run);
        let page = format!("{name}.html");
        let watched = place.json(&[&run[..], &["--watch", &page]].concat());
        assert_eq!(watched["metrics"], plain["metrics"], "{name}");
        assert!(place.read(&page).contains("<html"), "{name}");
        let explained = place.json(&[&run[..], &["--explain"]].concat());
        assert_eq!(explained["metrics"], plain["metrics"], "{name}");
        let explained = &explained["explained"];
        // A tick is 0.1 ns.
        let ticks = |value: &Value| (value.as_f64().unwrap() * 1e7).round() as u64;
        let worst = &explained["worst"];
        let responses = worst["response_ms"].as_array().unwrap();
        assert!(!responses.is_empty(), "{name}");
        for (index, response) in responses.iter().enumerate() {
            let parts = explained["parts"].as_array().unwrap().iter();
            let of = |part: &Value| ticks(&worst[format!("{}_ms", part.as_str().unwrap())][index]);
            assert_eq!(parts.map(of).sum::<u64>(), ticks(response), "{name}");
        }
    }
}
