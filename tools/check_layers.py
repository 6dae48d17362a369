#!/usr/bin/env python3
"""Who may include whom: folders of src/ only look downward, and third-party headers stay in .cpp files.
And no two types have the same name: kernels are templates over them, of which a linker keeps one a name.

The rules are those of docs/architecture.md. Exit code 1 and one line a violation."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

# What each folder may include, beside itself.
BELOW = {
    "base": set(),
    "math": {"base"},
    "compute": {"base", "math"},
    "params": {"base", "math"},
}
BELOW["geometry"] = {"base", "math", "compute", "params"}
BELOW["spatial"] = {"base", "math", "compute", "params"}
BELOW["rigid"] = BELOW["geometry"] | {"geometry", "spatial"}
BELOW["scene"] = BELOW["rigid"] | {"rigid"}
BELOW["sim"] = BELOW["scene"] | {"scene"}
BELOW["solvers"] = (BELOW["sim"] | {"sim"}) - {"scene"}
BELOW["cache"] = BELOW["sim"] | {"sim"}
BELOW["surface"] = BELOW["geometry"] | {"geometry", "spatial"}
BELOW["render"] = BELOW["geometry"] | {"geometry", "spatial"}
BELOW["view"] = BELOW["geometry"] | {"geometry", "spatial"}
BELOW["export"] = BELOW["cache"] | {"cache", "surface"}
BELOW["api"] = set(BELOW) | {"solvers", "cache", "surface", "render", "view", "export"}

BELOW["harness"] = BELOW["api"] | {"api"}

# The one file among the solvers that knows scenes and all solvers: it chooses one.
WIRING = {"solvers/make_solver.h", "solvers/make_solver.cpp"}

THIRD_PARTY = re.compile(
    r"^(tbb|oneapi|hdf5|hdf5\.h|openvdb|embree|toml\+\+|boost|bullet|btBullet\w*\.h|Bullet|LinearMath|nlohmann|png\.h|OpenEXR|OpenImageIO)\b")
CUDA_HEADER = re.compile(r"^(cuda|cub/|thrust/|cooperative_groups)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
IFDEF = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b")


def check_own(rel, folder, target, faults):
    if target.startswith("barchan/"):
        return  # the public door is below everything
    to = target.split("/")[0]
    if to not in BELOW:
        faults.append(f'{rel}: includes "{target}", which is in no known folder')
    elif rel in WIRING and to in BELOW["solvers"] | {"scene", "solvers"}:
        return
    elif to != folder and to not in BELOW[folder]:
        faults.append(f'{rel}: {folder}/ may not include {to}/ ("{target}")')
    elif folder == "solvers" and to == "solvers" and target.split("/")[1] != rel.split("/")[1]:
        faults.append(f'{rel}: solvers may not include each other ("{target}")')


def check(path):
    faults = []
    rel = path.relative_to(SRC).as_posix()
    folder = rel.split("/")[0]
    is_source = path.suffix == ".cpp"
    is_cuda = path.suffix in (".cu", ".cuh")
    if folder not in BELOW:
        return [f"{rel}: folder {folder}/ is in no layer; add it to tools/check_layers.py"]
    for line in path.read_text().splitlines():
        include = INCLUDE.match(line)
        if include:
            kind, target = include.groups()
            if kind == '"':
                check_own(rel, folder, target, faults)
            elif THIRD_PARTY.match(target) and not is_source:
                faults.append(f"{rel}: <{target}> belongs in a .cpp file")
            elif CUDA_HEADER.match(target) and not is_cuda:
                faults.append(f"{rel}: <{target}> belongs in a .cu or .cuh file")
        elif IFDEF.match(line) and folder != "compute" and rel != "base/hd.h":
            faults.append(f"{rel}: '{line.strip()}': conditional compilation belongs in compute/")
    return faults


COMMENT_OR_TEXT = re.compile(r"""//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])'""")
SCOPE = re.compile(r"\bnamespace\s*([\w:]*)\s*\{|"
                   r"\b(?:struct|class|union)\s+(?:alignas\(\w+\)\s*)?(\w+)(?:\s+final)?\s*(?::(?!:)[^;{]*)?\{|"
                   r"[{}]")


def types_of(path):
    """The types that a file defines in namespaces, by their full names."""
    scopes, types = [], []
    for match in SCOPE.finditer(COMMENT_OR_TEXT.sub("", path.read_text())):
        text, namespace, name = match.group(0), match.group(1), match.group(2)
        if text == "}":
            if scopes:
                scopes.pop()
            continue
        if name and None not in scopes:
            types.append("::".join(scopes + [name]))
        # A namespace without a name is the file's own.
        scopes.append((namespace or str(path)) if text.startswith("namespace") else None)
    return types


def check_names(files):
    seen, faults = {}, []
    for path in files:
        for name in types_of(path):
            first = seen.setdefault(name, path)
            if first != path:
                faults.append(f"{path.relative_to(SRC)}: {name} is in {first.relative_to(SRC)}, too; name one of them anew")
    return faults


def main():
    faults = []
    files = [p for p in sorted(SRC.rglob("*")) if p.suffix in (".h", ".cpp", ".cu", ".cuh")]
    for path in files:
        faults += check(path)
    faults += check_names(files)
    for fault in faults:
        print(fault)
    print(f"layers: {len(files)} files, {len(faults)} violations")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
