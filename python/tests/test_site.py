"""Tests of the programs that build the site. All pages must be in the table of contents, the reference must be complete, and wrong links must be found."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import destage
import pytest
from conftest import ROOT, command

SITE = ROOT / "docs/site"


def part(name: str) -> ModuleType:
    """Loads the program `name` of the site as a module."""
    spec = importlib.util.spec_from_file_location(name, SITE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


reference = part("reference")
stage = part("stage")
check = part("check")


def test_every_metric_has_a_formula_and_every_formula_a_metric() -> None:
    metrics = [row["name"] for row in json.loads(command("list", "metrics", "--json"))]
    known = reference.formulas()
    assert [name for name in metrics if reference.formula(name, known) is None] == []
    # In the name of a formula, `N` stands for any number.
    names = {*metrics, *(re.sub(r"_\d+$", "_N", name) for name in metrics)}
    assert [name for name in known if name not in names] == []


def test_the_reference_has_every_row(tmp_path: Path) -> None:
    pages = reference.pages(set(stage.pages()))
    registries = {
        "buffers": destage.buffers(),
        "ftls": destage.ftls(),
        "profiles": destage.profiles(),
        "workloads": destage.workloads(),
        "formats": destage.formats(),
        "experiments": destage.experiments(),
        "metrics": destage.metrics(),
        "parameters": destage.parameters(),
    }
    assert set(pages) == set(registries)
    for name, rows in registries.items():
        for row in rows.values():
            found = f"## {row.name}\n" in pages[name] or f"`{row.name}`" in pages[name]
            assert found, f"{name}: {row.name}"
            for parameter in row.parameters:
                assert f"`{parameter}` = " in pages[name], f"{name}: {row.name}: {parameter}"


def test_a_parameter_has_unit_range_default_and_source() -> None:
    text = reference.parameter(destage.parameters()["flash.page_bytes"])
    assert text.startswith("`flash.page_bytes` = `4096 bytes`\n: Bytes of data in a page")
    assert "Expected: a size in bytes from 512 to 16777216" in text and "Source: DiskSim 4.0" in text


def test_text_is_shown_as_it_is() -> None:
    assert reference.plain("a*b_c <d> `e_f`|") == r"a\*b\_c \<d\> `e_f`\|"


def test_the_table_of_contents_has_every_guide() -> None:
    index = (SITE / "index.md").read_text()
    guides = [f"docs/guides/{path.stem}" for path in (ROOT / "docs/guides").glob("*.md")]
    assert guides and [name for name in guides if f"\n{name}\n" not in index] == []


def test_pages_are_laid_out_as_in_the_repository(tmp_path: Path) -> None:
    stage.main(tmp_path / "pages")
    assert (tmp_path / "pages/docs/guides/start.md").read_text() == (ROOT / "docs/guides/start.md").read_text()
    # The site has no page for a folder, so a link to a folder becomes a link to the reference.
    assert "](../reference/buffers.md)" in (tmp_path / "pages/docs/SPEC.md").read_text()
    assert (tmp_path / "pages/docs/cost-over-size.svg").is_file()


def test_a_link_to_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "README.md").write_text("[there](nowhere.md)")
    monkeypatch.setattr(stage, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match=r"README.md: link to nowhere.md, which is no file"):
        stage.staged(Path("README.md"), set(), set())


def test_a_built_page_is_checked(tmp_path: Path) -> None:
    (tmp_path / "good.html").write_text('<p id="a"><a href="#a">x</a><a href="https://elsewhere">y</a>')
    assert check.wrong(tmp_path) == []
    (tmp_path / "bad.html").write_text(
        '<a href="gone.html">x</a><a href="good.html#b">y</a><script src="https://elsewhere/x.js"></script>'
    )
    assert check.wrong(tmp_path) == [
        "bad.html: no file for gone.html",
        "bad.html: no place for good.html#b",
        "bad.html: fetches https://elsewhere/x.js",
    ]
