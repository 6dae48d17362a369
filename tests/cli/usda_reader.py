"""Reads the USD text files of `barchan export`, strictly: a line that is not as USD has it is an error."""

import json
import re

# The numbers of one value, by type; 1: not in brackets.
ARITY = {"float3": 3, "point3f": 3, "vector3f": 3, "normal3f": 3, "color3f": 3, "double3": 3,
         "quatd": 4, "float": 1, "int": 1, "int64": 1, "token": 1, "string": 1}

PRIM = re.compile(r'def (\w+) "([A-Za-z_]\w*)"')
ATTRIBUTE = re.compile(r"(?:custom |uniform )?(\w+)((?:\[\])?) ([A-Za-z_][\w:]*)(?: = (.*?))?( \()?")
SAMPLES = re.compile(r"(\w+)((?:\[\])?) ([A-Za-z_][\w:]*)\.timeSamples = \{")
SAMPLE = re.compile(r"(\d+): (.*),")
METADATA = re.compile(r"(\w+) = (.*)")


def value_of(text, kind, array):
    value = json.loads(text.replace("(", "[").replace(")", "]"))
    assert isinstance(value, list) == (array or ARITY[kind] > 1), text[:80]
    for entry in value if array else [value]:
        if ARITY[kind] > 1:
            assert len(entry) == ARITY[kind], entry
        if kind in ("int", "int64"):
            assert isinstance(entry, int), entry
    return value


class Reader:
    """`stage`: the layer's metadata. `prims`: path -> {"type", attribute: value, or {frame: value}}.
    `interpolation`: (path, attribute) -> how values lie on a prim."""

    def __init__(self, text):
        self.lines = iter(line.strip() for line in text.split("\n") if line.strip())
        self.stage, self.prims, self.interpolation = {}, {}, {}
        assert next(self.lines) == "#usda 1.0"
        assert next(self.lines) == "("
        self.stage = self.metadata()
        for line in self.lines:
            self.prim(line, "")

    def metadata(self):
        found = {}
        for line in self.lines:
            if line == ")":
                return found
            key, value = METADATA.fullmatch(line).groups()
            assert key not in found, line
            found[key] = json.loads(value)
        raise AssertionError("metadata without an end")

    def prim(self, line, parent):
        kind, name = PRIM.fullmatch(line).groups()
        path = f"{parent}/{name}"
        assert path not in self.prims, path
        prim = self.prims[path] = {"type": kind}
        assert next(self.lines) == "{"
        for line in self.lines:
            if line == "}":
                return
            if line.startswith("def "):
                self.prim(line, path)
            elif SAMPLES.fullmatch(line):
                kind, array, attribute = SAMPLES.fullmatch(line).groups()
                assert attribute not in prim, attribute
                prim[attribute] = self.samples(kind, bool(array))
                if attribute == "extent":
                    assert all(len(corners) == 2 for corners in prim[attribute].values())
            else:
                kind, array, attribute, value, more = ATTRIBUTE.fullmatch(line).groups()
                assert attribute not in prim, attribute
                if value is not None:
                    prim[attribute] = value_of(value, kind, bool(array))
                if more:
                    self.interpolation[path, attribute] = self.metadata()["interpolation"]
        raise AssertionError(f"{path} has no end")

    def samples(self, kind, array):
        found = {}
        for line in self.lines:
            if line == "}":
                assert list(found) == sorted(found), "time must go on"
                return found
            frame, value = SAMPLE.fullmatch(line).groups()
            assert int(frame) not in found, frame
            found[int(frame)] = value_of(value, kind, array)
        raise AssertionError("samples without an end")
