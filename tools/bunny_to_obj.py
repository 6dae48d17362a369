#!/usr/bin/env python3
"""The npm package `bunny` (a JavaScript file with two arrays) as bunny.obj and a note of its origin.

    tools/bunny_to_obj.py PACKAGE_FOLDER ASSETS_FOLDER"""

import json
import pathlib
import re
import sys


def array(script, name):
    """exports.NAME=[[...], ...] of the script; nothing in it is run."""
    found = re.search(r"exports\." + name + r"\s*=\s*(\[[\[\]\s\d.,eE+-]*\])", script)
    if not found:
        sys.exit(f"index.js has no array 'exports.{name}'; the package may have changed")
    return json.loads(found.group(1))


def main():
    package, assets = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    script = (package / "index.js").read_text()
    about = json.loads((package / "package.json").read_text())
    positions, cells = array(script, "positions"), array(script, "cells")
    lines = ["v {} {} {}".format(*p) for p in positions]
    lines += ["f {} {} {}".format(*(corner + 1 for corner in c)) for c in cells]
    (assets / "bunny.obj.part").write_text("\n".join(lines) + "\n")
    (assets / "bunny.obj.part").rename(assets / "bunny.obj")
    (assets / "bunny.txt").write_text(
        f"bunny.obj: {len(positions)} vertices, {len(cells)} triangles, from the npm package "
        f"{about['name']} {about['version']} by {about['author']} (licence field: {about['license']}).\n"
        "The model is the Stanford bunny: Stanford 3D Scanning Repository, Greg Turk and Marc Levoy, 1994.\n")


if __name__ == "__main__":
    main()
