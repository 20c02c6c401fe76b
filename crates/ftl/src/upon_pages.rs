//! A macro for layers that are built on page mapping. Such a layer has a [`PageFtl`](super::page::PageFtl) as its
//! field `data` and forwards calls to this field.

/// Implements the named methods of [`Ftl`](super::Ftl) by forwarding them to `self.data`.
macro_rules! left_to_pages {
    (@ pages) => {
        fn pages(&self) -> u64 {
            self.data.pages()
        }
    };
    (@ die_of) => {
        fn die_of(&self, page: Lpn) -> u32 {
            self.data.die_of(page)
        }
    };
    (@ read) => {
        fn read(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
            self.data.read(page, operations)
        }
    };
    (@ peek) => {
        fn peek(&self, page: Lpn, operations: &mut Operations) {
            self.data.peek(page, operations);
        }
    };
    (@ write) => {
        fn write(&mut self, write: PageWrite, operations: &mut Operations) -> Result<(), NoSpace> {
            self.data.write(write, operations)
        }
    };
    (@ trim) => {
        fn trim(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
            self.data.trim(page, operations)
        }
    };
    (@ trim_all) => {
        fn trim_all(&mut self, pages: Range<u64>, emit: &mut dyn FnMut(Range<u64>)) {
            self.data.trim_all(pages, emit);
        }
    };
    (@ is_written) => {
        fn is_written(&self, page: Lpn) -> bool {
            self.data.is_written(page)
        }
    };
    (@ mapped) => {
        fn mapped(&self, pages: Range<u64>, emit: &mut dyn FnMut(Lpn)) {
            self.data.mapped(pages, emit);
        }
    };
    (@ collect_garbage) => {
        fn collect_garbage(
            &mut self,
            die: u32,
            now: Ticks,
            operations: &mut Operations,
        ) -> Result<bool, NoSpace> {
            self.data.collect_garbage(die, now, operations)
        }
    };
    (@ collects_before_writes) => {
        fn collects_before_writes(&self, die: u32) -> bool {
            self.data.collects_before_writes(die)
        }
    };
    (@ fill_unit) => {
        fn fill_unit(&mut self, die: u32, at: Ppn, unit_pages: u32, operations: &mut Operations) {
            self.data.fill_unit(die, at, unit_pages, operations);
        }
    };
    (@ pools) => {
        fn pools(&self) -> Pools {
            self.data.pools()
        }
    };
    (@ mount) => {
        fn mount(&mut self, scan: &Scan, take: &mut dyn FnMut(Place)) {
            self.data.mount(scan, take);
        }
    };
    (@ mount_step) => {
        fn mount_step(&mut self, die: u32, operations: &mut Operations) -> Result<bool, NoSpace> {
            self.data.mount_step(die, operations)
        }
    };
    (@ wear) => {
        fn wear(&self) -> Wear {
            self.data.wear()
        }
    };
    (@ retired) => {
        fn retired(&self) -> u64 {
            self.data.retired()
        }
    };
    (@ erases) => {
        fn erases(&self, emit: &mut dyn FnMut(u32, u32, u32)) {
            self.data.erases(emit);
        }
    };
    (@ reset_wear) => {
        fn reset_wear(&mut self) {
            self.data.reset_wear();
        }
    };
    (@ derived) => {
        fn derived(&self) -> alloc::string::String {
            self.data.derived()
        }
    };
    (@ map_bytes) => {
        fn map_bytes(&self) -> u64 {
            self.data.map_bytes()
        }
    };
    ($($call:ident),+) => {
        $( crate::upon_pages::left_to_pages!(@ $call); )+
    };
}

pub(super) use left_to_pages;
