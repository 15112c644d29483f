"""What an installed wheel brought, in the Python that runs this: packages.py SDIST EXTRA PACKAGE ...

All that is installed must be the packages, or what one of them asks for; the metadata say what they should.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path


def asked(name: str) -> set[str]:
    """Of a distribution, the ones that it asks for, and they for, without extras."""
    found: set[str] = set()
    for line in metadata.requires(name) or ():
        requirement, _, marker = line.partition(";")
        if "extra ==" not in marker:
            found.add(plain(re.split(r"[\s<>=!~(\[]", requirement.strip(), maxsplit=1)[0]))
    return found


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(sdist: Path, extra: str, wanted: list[str]) -> None:
    import numlite

    assert str(sdist) not in str(numlite.__file__) and sys.prefix in str(numlite.__file__), numlite.__file__
    installed = {plain(d.metadata["Name"]) for d in metadata.distributions()} - {"pip", "setuptools", "wheel"}
    allowed, more = {"numlite"}, set(wanted)
    while more:
        allowed |= more
        more = {other for name in more for other in asked(name)} - allowed
    assert {"numlite", *wanted} <= installed <= allowed, (sorted(installed), sorted(allowed))
    about = metadata.metadata("numlite")
    versions = [
        c for c in about.get_all("Classifier") or () if c.startswith("Programming Language :: Python :: 3.")
    ]
    assert f"Programming Language :: Python :: 3.{sys.version_info[1]}" in versions, versions
    assert about.get_all("Project-URL") and "all" in (about.get_all("Provides-Extra") or ())
    assert about["Version"] in (sdist / "CHANGELOG.md").read_text()
    print(
        f"   numlite{f'[{extra}]' if extra else ''} {about['Version']} brought {', '.join(sorted(installed))}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
