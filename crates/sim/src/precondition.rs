//! The contents of the device before the first request.

use destage_base::{Lpn, Random};
use destage_ftl::{Ftl, NoSpace, PageWrite};
use destage_nand::Operations;

use crate::error::SimError;
use crate::observer::Observer;
use destage_device::{gc_limit, only_collects};

/// The possible values of `sim.precondition`, for error messages.
pub const EXPECTED: &str = "none, sequential_fill, random_fill:k with k passes of random overwrites from 1 to 1000, or file:PATH with a state that `destage precondition` wrote";

/// The number of page writes between two calls of [`Observer::preparing`].
const PROGRESS_STEP: u64 = 1 << 16;

/// The contents of the device before the first request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precondition {
    /// No page has contents.
    None,
    /// Every page was written once, in ascending order.
    SequentialFill,
    /// Every page was written once, in ascending order. Then random pages were overwritten. The number of overwrites
    /// is this number times the number of pages of the device.
    RandomFill(u64),
}

impl Precondition {
    /// Reads a value of `sim.precondition`; `None` if it is not one of [`EXPECTED`].
    ///
    /// ```
    /// use destage_sim::precondition::Precondition;
    /// assert_eq!(Precondition::read("random_fill:2"), Some(Precondition::RandomFill(2)));
    /// assert_eq!(Precondition::read("random_fill"), None);
    /// ```
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "none" => Some(Self::None),
            "sequential_fill" => Some(Self::SequentialFill),
            _ => {
                let passes = text.strip_prefix("random_fill:")?.parse().ok()?;
                (1..=1000)
                    .contains(&passes)
                    .then_some(Self::RandomFill(passes))
            }
        }
    }

    /// The number of passes: the fill in ascending order, and the passes of random overwrites. Each pass has as many
    /// page writes as the device has pages.
    #[must_use]
    pub fn passes(self) -> u64 {
        match self {
            Self::None => 0,
            Self::SequentialFill => 1,
            Self::RandomFill(passes) => passes + 1,
        }
    }

    /// Whether every page has contents when the device is built.
    #[must_use]
    pub fn fills(self) -> bool {
        self != Self::None
    }
}

/// A device that is being preconditioned.
pub(crate) struct Preparation<'a> {
    pub ftl: &'a mut dyn Ftl,
    pub blocks_per_die: u32,
    pub seed: u64,
}

impl Preparation<'_> {
    /// Overwrites random pages. The number of overwrites is `passes` times the number of pages of the device. Neither
    /// these operations nor their wear appear in any result.
    ///
    /// # Errors
    /// If the device has no space left, or `observer` stops the run.
    pub fn overwrite(mut self, passes: u64, observer: &mut dyn Observer) -> Result<(), SimError> {
        let pages = self.ftl.pages();
        let total = pages.saturating_mul(passes);
        let mut random = Random::new(self.seed);
        let mut operations = Operations::default();
        for done in 0..total {
            if done % PROGRESS_STEP == 0 && !observer.preparing(done, total) {
                return Err(SimError::Interrupted);
            }
            let page = Lpn(random.below(pages));
            self.write(page, &mut operations)
                .map_err(|shortage| SimError::FullBefore {
                    passes,
                    done,
                    total,
                    shortage,
                })?;
        }
        self.ftl.reset_wear();
        self.ftl.reset_figures();
        if observer.preparing(total, total) {
            Ok(())
        } else {
            Err(SimError::Interrupted)
        }
    }

    /// Carries out the garbage collections that are due, and then writes `page`. All operations happen at time 0.
    fn write(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
        let die = self.ftl.place(page, &|_| 0);
        let most_collections = gc_limit(self.blocks_per_die, self.ftl.properties().gc_steps);
        for collected in 0.. {
            operations.clear();
            let at = self.ftl.collects_at(die);
            if !self.ftl.collect_garbage(at, 0, operations)? {
                break;
            }
            if collected > most_collections {
                return Err(only_collects(die, collected));
            }
        }
        operations.clear();
        self.ftl.write(PageWrite::host(page), operations)
    }
}
