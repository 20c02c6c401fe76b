//! A scheme written in Python. Its contract is checked at each call.
//!
//! The Rust trait of a scheme cannot return errors, but Python code can raise exceptions. So the first exception is
//! stored, and stops the run. Until the run stops, this module calls no more Python code, and evicts pages in an
//! arbitrary order. The same holds once the user has interrupted the call.

use std::sync::Arc;

use destage::base::Lpn;
use destage::base::time::TICKS_PER_MS;
use destage::buffer::page_map::PageMap;
use destage::buffer::scheme::{
    Access as CoreAccess, AccessKind, Entry, Need as CoreNeed, Properties, Victim,
};
use destage::buffer::{Scheme, SchemeConfig, SchemeRow, Sees, View};
use pyo3::prelude::*;

use crate::errors::InputError;
use crate::work::Watch;

/// A page request, as a scheme sees it.
#[pyclass(frozen, get_all, module = "destage")]
#[derive(PartialEq)]
pub(crate) struct Access {
    /// True if the host writes the page, false if the host reads the page.
    write: bool,
    /// The number of page writes so far, including this one.
    virtual_time: u64,
    /// The simulated time in ms.
    now_ms: f64,
    /// The number of the host request. All page requests of one host request have the same number.
    request: u64,
    /// The number of pages of the host request.
    request_pages: u32,
}

/// The reason why pages have to leave the buffer.
#[pyclass(frozen, get_all, module = "destage")]
pub(crate) struct Need {
    /// `evict` (room for a page is needed), `flush` (all pages have to be written to flash) or `flush_page` (`page`
    /// has to be written to flash).
    kind: &'static str,
    /// The page that needs room, or that has to be written to flash. None for `flush`.
    page: Option<u64>,
}

/// A Python object that was passed to a call of the package. The scheme of each run of this call is a copy of the
/// object.
pub(crate) struct Prototype {
    name: String,
    object: Py<PyAny>,
    allocates_reads: bool,
    watch: Arc<Watch>,
}

/// A registry row for `object`. The scheme of each run is a copy of `object`. The row is leaked, which costs a few
/// hundred bytes of memory for each call of this function. `object` is released together with the prototype.
pub(crate) fn row(
    name: &str,
    object: Bound<'_, PyAny>,
    watch: &Arc<Watch>,
) -> PyResult<(&'static SchemeRow, Arc<Prototype>)> {
    let prototype = Arc::new(Prototype {
        name: name.to_owned(),
        allocates_reads: object.getattr("allocates_reads")?.is_truthy()?,
        object: object.unbind(),
        watch: Arc::clone(watch),
    });
    let weak = Arc::downgrade(&prototype);
    let build = move |config: &SchemeConfig<'_>| -> Box<dyn Scheme> {
        Box::new(Copied::new(weak.upgrade(), config))
    };
    let row = SchemeRow {
        name: String::leak(name.to_owned()),
        family: "python",
        about: "A scheme written in Python.",
        sees: &[Sees::Clusters, Sees::Time, Sees::Queues],
        ..SchemeRow::of(Box::leak(Box::new(build)))
    };
    Ok((Box::leak(Box::new(row)), prototype))
}

/// The properties of the buffer and the device, and the seed. They become attributes of a copy.
#[derive(Clone, Copy)]
struct Surroundings {
    capacity_pages: u32,
    cluster_pages: u32,
    dies: u32,
    seed: u64,
}

/// The methods of a copy of the Python object.
struct Methods {
    insert: Py<PyAny>,
    touch: Py<PyAny>,
    remove: Py<PyAny>,
    evict: Py<PyAny>,
    /// The Python object for the latest access. Calls with equal accesses use the same object, because one request
    /// causes many calls.
    access: Py<Access>,
}

/// The scheme of one run.
struct Copied {
    /// The prototype, or `None` if the Python call that started the run has ended.
    prototype: Option<Arc<Prototype>>,
    surroundings: Surroundings,
    /// The methods of the copy. The Python object is copied only at the first call of a method, because some schemes
    /// are built only to read their properties.
    methods: Option<Methods>,
    resident: Resident,
    /// Whether an exception was raised, the call has to stop, or the prototype is missing. Then no more Python code is
    /// called.
    has_failed: bool,
}

/// The pages in the buffer.
struct Resident {
    slots: PageMap<()>,
    /// The entries, in no particular order.
    entries: Vec<Entry>,
    /// For each slot, the position of its entry in `entries`.
    places: Vec<usize>,
}

impl Resident {
    fn insert(&mut self, entry: Entry) {
        let slot = entry.slot.0 as usize;
        if self.places.len() <= slot {
            self.places.resize(slot + 1, 0);
        }
        self.places[slot] = self.entries.len();
        self.entries.push(entry);
        let (position, _) = self.slots.locate(entry.page);
        self.slots.set_at(position, entry.page, entry.slot.0, ());
    }

    /// Removes `page` and returns its entry, or `None` if the page is not in the buffer.
    fn remove(&mut self, page: Lpn) -> Option<Entry> {
        let slot = self.slots.remove(page)?;
        let place = self.places[slot as usize];
        let entry = self.entries.swap_remove(place);
        if let Some(moved) = self.entries.get(place) {
            self.places[moved.slot.0 as usize] = place;
        }
        Some(entry)
    }
}

impl Copied {
    fn new(prototype: Option<Arc<Prototype>>, config: &SchemeConfig<'_>) -> Self {
        Self {
            has_failed: prototype.is_none(),
            prototype,
            surroundings: Surroundings {
                capacity_pages: config.capacity_pages,
                cluster_pages: config.cluster_pages,
                dies: config.dies,
                seed: config.seed,
            },
            methods: None,
            resident: Resident {
                slots: PageMap::with_capacity(0),
                entries: Vec::new(),
                places: Vec::new(),
            },
        }
    }

    /// Calls `what` with the methods, and returns its result. Returns `None` if `what` raises an exception, which
    /// stops the run, if an earlier call has raised one, or if the run has to stop.
    fn call<T>(
        &mut self,
        what: impl FnOnce(Python<'_>, &mut Self, &mut Methods) -> PyResult<T>,
    ) -> Option<T> {
        if self.has_failed {
            return None;
        }
        let prototype = Arc::clone(self.prototype.as_ref()?);
        // The thread that waited for the run may have returned after an interrupt. Then the interpreter may end at any
        // time, and would end this thread in the middle of a call.
        if prototype.watch.is_stopped() {
            self.has_failed = true;
            return None;
        }
        let result = Python::attach(|py| {
            let mut methods = match self.methods.take() {
                Some(methods) => methods,
                None => prototype.methods(py, self.surroundings)?,
            };
            let result = what(py, self, &mut methods);
            self.methods = Some(methods);
            result
        });
        match result {
            Ok(result) => Some(result),
            Err(error) => {
                prototype.watch.fail(error);
                self.has_failed = true;
                None
            }
        }
    }

    fn violation(&self, text: &str) -> PyErr {
        let name = self
            .prototype
            .as_ref()
            .map_or("", |prototype| &prototype.name);
        InputError::new_err(format!("scheme {name:?}: {text}"))
    }
}

impl Prototype {
    /// Copies the Python object, and returns the methods of the copy.
    fn methods(&self, py: Python<'_>, of: Surroundings) -> PyResult<Methods> {
        let copy = py
            .import("copy")?
            .call_method1("deepcopy", (self.object.bind(py),))?;
        copy.setattr("capacity_pages", of.capacity_pages)?;
        copy.setattr("cluster_pages", of.cluster_pages)?;
        copy.setattr("dies", of.dies)?;
        copy.setattr("seed", of.seed)?;
        let method = |name: &str| copy.getattr(name).map(Bound::unbind);
        let none = Access {
            write: false,
            virtual_time: 0,
            now_ms: 0.0,
            request: u64::MAX,
            request_pages: 0,
        };
        Ok(Methods {
            insert: method("insert")?,
            touch: method("touch")?,
            remove: method("remove")?,
            evict: method("evict")?,
            access: Py::new(py, none)?,
        })
    }
}

impl Methods {
    /// The Python object for `access`.
    fn access(&mut self, py: Python<'_>, access: &CoreAccess) -> PyResult<&Py<Access>> {
        let access = Access {
            write: access.kind == AccessKind::Write,
            virtual_time: access.virtual_time,
            now_ms: access.now as f64 / TICKS_PER_MS as f64,
            request: access.request,
            request_pages: access.request_pages,
        };
        if *self.access.get() != access {
            self.access = Py::new(py, access)?;
        }
        Ok(&self.access)
    }
}

impl Scheme for Copied {
    fn properties(&self) -> Properties {
        let of = self.prototype.as_ref();
        Properties {
            allocates_reads: of.is_some_and(|prototype| prototype.allocates_reads),
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, access: &CoreAccess) {
        self.resident.insert(entry);
        self.call(|py, _, methods| {
            let access = methods.access(py, access)?.clone_ref(py);
            methods.insert.call1(py, (entry.page.0, access)).map(drop)
        });
    }

    fn touch(&mut self, entry: Entry, access: &CoreAccess) {
        self.call(|py, _, methods| {
            let access = methods.access(py, access)?.clone_ref(py);
            methods.touch.call1(py, (entry.page.0, access)).map(drop)
        });
    }

    fn remove(&mut self, entry: Entry) {
        self.resident.remove(entry.page);
        self.call(|py, _, methods| methods.remove.call1(py, (entry.page.0,)).map(drop));
    }

    fn evict(&mut self, need: CoreNeed, access: &CoreAccess, _: &dyn View, victim: &mut Victim) {
        let named = self.call(|py, own, methods| {
            let wanted = Need::of(&need);
            let access = methods.access(py, access)?.clone_ref(py);
            let (kind, page) = (wanted.kind, wanted.page);
            let answer = methods.evict.call1(py, (wanted, access))?;
            let answer = answer.bind(py);
            own.take(answer, kind, page, &mut victim.entries)
        });
        if named.is_some() {
            return;
        }
        // The run is going to stop. The victim keeps the pages that were read from the answer before the error. If
        // the victim is empty, or lacks the page that must be flushed, one page is added.
        let forced = match need {
            CoreNeed::FlushPage(entry) => Some(entry.page),
            CoreNeed::Evict(_) | CoreNeed::Flush => None,
        };
        let any = self.resident.entries.last().map(|entry| entry.page);
        let is_named =
            forced.is_some_and(|page| victim.entries.iter().any(|entry| entry.page == page));
        if victim.entries.is_empty() || (forced.is_some() && !is_named) {
            let entry = forced.or(any).and_then(|page| self.resident.remove(page));
            victim.entries.extend(entry);
        }
    }

    fn len(&self) -> usize {
        self.resident.entries.len()
    }
}

impl Copied {
    /// Moves the pages that the Python code has returned in `answer` from the resident pages to `entries`.
    fn take(
        &mut self,
        answer: &Bound<'_, PyAny>,
        kind: &str,
        page: Option<u64>,
        entries: &mut Vec<Entry>,
    ) -> PyResult<()> {
        let asked = || match page {
            Some(page) => format!("evict(need={kind}, page {page})"),
            None => format!("evict(need={kind})"),
        };
        let given = || {
            answer
                .repr()
                .map_or_else(|_| "an object".to_owned(), |text| text.to_string())
        };
        let refusal = |own: &Self, text: String| {
            own.violation(&format!("{} answered {}: {text}", asked(), given()))
        };
        let Ok(pages) = answer.try_iter() else {
            return Err(refusal(self, "expected pages, such as [7]".to_owned()));
        };
        for page in pages {
            let page = page?;
            let Ok(number) = page.extract::<u64>() else {
                return Err(refusal(
                    self,
                    format!("{page} is no page; expected page numbers"),
                ));
            };
            let Some(entry) = self.resident.remove(Lpn(number)) else {
                let is_twice = entries.iter().any(|entry| entry.page.0 == number);
                return Err(refusal(
                    self,
                    match is_twice {
                        true => {
                            format!("page {number} is named twice; expected each page once")
                        }
                        false => format!(
                            "page {number} is not resident; expected pages that were inserted and have not left"
                        ),
                    },
                ));
            };
            entries.push(entry);
        }
        if entries.is_empty() && !self.resident.entries.is_empty() {
            let count = self.resident.entries.len();
            return Err(refusal(
                self,
                format!(
                    "nothing leaves, although {count} pages are resident; expected at least one page"
                ),
            ));
        }
        if kind == FLUSH_PAGE && !entries.iter().any(|entry| Some(entry.page.0) == page) {
            return Err(refusal(
                self,
                "the page that has to reach the flash is not among the returned pages; expected this page among them"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

const FLUSH_PAGE: &str = "flush_page";

impl Need {
    fn of(need: &CoreNeed) -> Self {
        let (kind, page) = match need {
            CoreNeed::Evict(page) => ("evict", Some(page.0)),
            CoreNeed::Flush => ("flush", None),
            CoreNeed::FlushPage(entry) => (FLUSH_PAGE, Some(entry.page.0)),
        };
        Self { kind, page }
    }
}
