//! `standin-iometer-random`: uniformly random writes over the whole device. It replaces workload W4 of the BPLRU
//! paper.

use crate::shared::{
    FOOTPRINT_PAGES, MAX_PAGES, MEAN_INTERARRIVAL_MS, MIN_PAGES, PAGE_BYTES, REQUESTS,
    WRITE_PERCENT,
};
use crate::{Workload, uniform};
use destage_base::parameter::Parameter;

pub(crate) const WORKLOAD: Workload = Workload {
    name: "standin-iometer-random",
    about: "Stand-in for Iometer's random writes (BPLRU W4): the workload `uniform` over a device of 1 GB.",
    parameters: &[
        Parameter {
            default: "1000000",
            ..REQUESTS
        },
        Parameter {
            default: "261120",
            source: "BPLRU (FAST 2008), section 4: a device of 1 GB, less the size of its log blocks",
            ..FOOTPRINT_PAGES
        },
        PAGE_BYTES,
        WRITE_PERCENT,
        MIN_PAGES,
        MAX_PAGES,
        Parameter {
            default: "0.5",
            ..MEAN_INTERARRIVAL_MS
        },
    ],
    make: |values, seed| {
        let own = uniform::Parameters::from_values(values);
        uniform::make_as("standin-iometer-random", &own, seed)
    },
};
