"""A scheme written in Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from destage._core import Access, Need


class Scheme:
    """Decides which pages of the buffer are evicted next. An instance of a subclass can replace the name of a buffer.

    The instance itself is only a template. Each run uses a deep copy of the instance. In the copy, the attributes
    from `capacity_pages` to `seed` are set before the first call of a method.

    `insert` gets a page that is not resident. `touch` and `remove` get resident pages. The pages that `evict` returns
    are no longer resident. `remove` is not called for them, so `evict` itself has to delete them from the scheme's
    data.
    """

    #: The name of the scheme in results and errors; the default is the name of the class in lower case. Each instance
    #: in a comparison needs a name of its own.
    name: str = ""
    #: The version of the scheme. `destage.fleet` stores results of the scheme under this version. Without a version
    #: it stores none. Any value with a text (`str()`) is a version.
    version: object = None
    #: Whether a read that misses puts its page into the buffer.
    allocates_reads: bool = False
    #: The number of pages that the buffer can hold.
    capacity_pages: int
    #: The number of pages of a logical block.
    cluster_pages: int
    #: The number of dies over which pages are striped.
    dies: int
    #: A seed for random choices: `random.Random(self.seed)` makes the same choices in every run.
    seed: int

    def insert(self, page: int, access: Access) -> None:
        """`page` becomes resident. The buffer already has room for the page."""
        raise NotImplementedError(f"{type(self).__name__}.insert(page, access)")

    def touch(self, page: int, access: Access) -> None:
        """The resident `page` is read or written again (`access.write`)."""
        raise NotImplementedError(f"{type(self).__name__}.touch(page, access)")

    def remove(self, page: int) -> None:
        """A trim removes the resident `page`. This method is not called for pages that `evict` returns."""
        raise NotImplementedError(f"{type(self).__name__}.remove(page)")

    def evict(self, need: Need, access: Access) -> Iterable[int]:
        """Returns the pages to evict now, at least one, in the order in which they are written to flash.

        `need.kind` is `evict` (room for `need.page`), `flush` (all pages have to be written to flash; `evict` is
        called until no page is left) or `flush_page` (the resident `need.page` must be among the returned pages).
        """
        raise NotImplementedError(f"{type(self).__name__}.evict(need, access)")
