#!/usr/bin/env python3
"""Links of the documents: each file and heading that one names is there. Exit code 1 and one line a
broken link."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page):
    """The names that headings have, as GitHub makes them."""
    names = set()
    for line in page.read_text().splitlines():
        heading = re.match(r"#+ +(.*)", line)
        if heading:
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
            names.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return names


def faults_of(page):
    faults = []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("    "):
            continue  # code
        for target in LINK.findall(re.sub(r"`[^`]*`(?!\])", "", line)):
            if re.match(r"\w+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            where = f"{page.relative_to(ROOT)}:{number}: "
            if not file.exists():
                faults.append(where + f"no file {target}")
            elif anchor and anchor not in anchors(file):
                faults.append(where + f"no heading {target}")
    return faults


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout.split()
    faults = [fault for name in listed for fault in faults_of(ROOT / name)]
    print("\n".join(faults + [f"links: {len(listed)} documents, {len(faults)} broken"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
