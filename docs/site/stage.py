"""Puts the pages of the site into a folder, as they lie in the repository, and those that are made of the registries beside them.

usage: stage.py FOLDER
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import reference

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs/**/*.md", "experiments/**/README.md"]
#: Folders that a page links to, and what the site has for them.
FOLDERS = {"docs/schemes": "reference/buffers.md", "docs/ftls": "reference/ftls.md"}
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")


def pages() -> list[Path]:
    """All pages, from the root."""
    found = {path.relative_to(ROOT) for pattern in PAGES for path in ROOT.glob(pattern)}
    return sorted(path for path in found if HERE.relative_to(ROOT) not in path.parents)


def staged(page: Path, known: set[Path], beside: set[Path]) -> str:
    """The text of `page`. Files that it links to are added to `beside`."""

    def link(match: re.Match[str]) -> str:
        before, target, after = match.groups()
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        path = (ROOT / page.parent / target).resolve().relative_to(ROOT)
        if str(path) in FOLDERS:
            return before + "../" * len(page.parent.parts) + FOLDERS[str(path)] + after
        if path not in known:
            if not (ROOT / path).is_file():
                sys.exit(f"{page}: link to {target}, which is no file")
            beside.add(path)
        return match[0]

    return LINK.sub(link, (ROOT / page).read_text())


def main(folder: Path) -> None:
    """Fills `folder`, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("conf.py", "index.md"):
        shutil.copy(HERE / name, folder / name)
    shutil.copytree(HERE / "_static", folder / "_static")
    shutil.copytree(ROOT / "docs/pictures", folder / "docs/pictures")
    known, beside = set(pages()), set[Path]()
    for page in known:
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        (folder / page).write_text(staged(page, known, beside))
    for path in beside:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    (folder / "reference").mkdir()
    for name, text in reference.pages(known).items():
        (folder / "reference" / f"{name}.md").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
