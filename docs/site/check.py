"""Holds a built site to what a reader without a network needs: every link has its end, and nothing is fetched from elsewhere.

usage: check.py FOLDER
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Names, links and things that are fetched, of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names = set[str]()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Takes a tag."""
        of = {name: value or "" for name, value in attrs}
        self.names |= {of[name] for name in ("id", "name") if name in of}
        if tag == "a" and "href" in of:
            self.links.append(of["href"])
        elif tag == "link" and of.get("rel") in ("stylesheet", "icon", "preload"):
            self.fetched.append(of["href"])
        elif "src" in of:
            self.fetched.append(of["src"])


def wrong(folder: Path) -> list[str]:
    """What is wrong with the site in `folder`."""
    pages = {path: Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for link in page.links + page.fetched:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.fetched and parts.scheme != "data":
                    found.append(f"{path.relative_to(folder)}: fetches {link}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                found.append(f"{path.relative_to(folder)}: no file for {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                found.append(f"{path.relative_to(folder)}: no place for {link}")
    if not pages:
        found.append(f"{folder}: no page")
    return found


if __name__ == "__main__":
    failures = wrong(Path(sys.argv[1]).resolve())
    print("\n".join(failures), end="\n" if failures else "")
    sys.exit(bool(failures))
