"""A scheme written in Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from destage._core import Access, Need


class Scheme:
    """Chooses which buffered pages leave next. An instance of a subclass goes where a buffer's name goes.

    The instance itself is only a template: each run works on a deep copy of it, as it is when the run begins. Before
    the first call, the attributes below tell the copy about its buffer.

    `insert` names a page that is not resident, `touch` and `remove` resident ones. The pages that `evict` names have left; a
    scheme forgets them itself.
    """

    #: The name of the scheme in results and errors; by default the name of the class, in small letters.
    name: str = ""
    #: The version that tells the scheme from its earlier forms. Results are kept under it (`destage.fleet`); of a scheme
    #: without a version none are.
    version: str | None = None
    #: Whether a read that misses puts its page into the buffer.
    allocates_reads: bool = False
    #: Pages that the buffer holds.
    capacity_pages: int
    #: Pages of a logical block.
    cluster_pages: int
    #: Dies over which pages are striped.
    dies: int
    #: Fixes random choices: `random.Random(self.seed)` chooses the same in every run.
    seed: int

    def insert(self, page: int, access: Access) -> None:
        """`page` becomes resident. Room has been made."""
        raise NotImplementedError(f"{type(self).__name__}.insert(page, access)")

    def touch(self, page: int, access: Access) -> None:
        """The resident `page` is read or written again (`access.write`)."""
        raise NotImplementedError(f"{type(self).__name__}.touch(page, access)")

    def remove(self, page: int) -> None:
        """The resident `page` leaves without being chosen (trim)."""
        raise NotImplementedError(f"{type(self).__name__}.remove(page)")

    def evict(self, need: Need, access: Access) -> Iterable[int]:
        """The pages that leave now, at least one, in the order in which they are issued.

        `need.kind` is `evict` (room for `need.page`), `flush` (all pages have to reach the flash: asked until none is left) or
        `flush_page` (the resident `need.page` has to be among them).
        """
        raise NotImplementedError(f"{type(self).__name__}.evict(need, access)")
