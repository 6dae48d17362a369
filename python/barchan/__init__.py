"""Barchan: sand, water and other granular matter for animation.

    import barchan
    sim = barchan.Simulation("dam-break")
    sim.step()
    sim.positions        # (N, 3), a view of the simulation's own memory

A scene is the name of a shipped one, a file, or a dict of what a scene file says.
"""

import os
import re
import sys

try:
    import numpy as _  # arrays come with it
    from ._barchan import Body, Error, InputError, StepInfo, __version__
    from ._barchan import Simulation as _Simulation
except ImportError as fault:
    raise ImportError(f"{fault}; barchan is built for the system's Python with NumPy (on Debian /usr/bin/python3 and "
                      f"python3-numpy), and this is {sys.executable}") from fault

__all__ = ["Body", "Error", "InputError", "Simulation", "StepInfo", "to_toml", "__version__"]


def _plain(value):
    """Numbers, lists and texts of Python; NumPy's arrays and numbers become these."""
    return value.tolist() if hasattr(value, "tolist") else value


def _key(key):
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value):
    """A value as TOML on one line."""
    value = _plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value).replace("\\", "\\\\").replace('"', '\\"')
        return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda c: f"\\u{ord(c.group()):04x}", text) + '"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    raise InputError(f"a scene cannot hold {value!r}")


def _is_tables(value):
    return isinstance(value, (list, tuple)) and value and all(isinstance(v, dict) for v in value)


def to_toml(scene):
    """The text of a scene file that says what the dict says; `barchan run` takes it, too."""
    plain, tables = [], []
    for key, value in scene.items():
        if key == "material" and isinstance(value, dict):
            tables += [(f"[material.{_key(name)}]", table) for name, table in value.items()]
        elif isinstance(value, dict):
            tables.append((f"[{_key(key)}]", value))
        elif _is_tables(value):
            tables += [(f"[[{_key(key)}]]", table) for table in value]
        else:
            plain.append(f"{_key(key)} = {_value(value)}")
    for heading, table in tables:
        plain += ["", heading] + [f"{_key(k)} = {_value(v)}" for k, v in table.items()]
    return "\n".join(plain) + "\n"


def _settings(given):
    """{"resolution": 0.02, "granular_sph": {"cohesion": 1}} as --set takes them."""
    flat = []
    for key, value in given.items():
        section = "granular-sph" if key == "granular_sph" else key
        if isinstance(value, dict):
            flat += [f"{section}.{path}" for path in _settings(value)]
        else:
            flat.append(f"{section}={_value(value)}")
    return flat


class Simulation(_Simulation):
    """A simulation to step.

    scene is the name of a shipped scene, a file, or a dict. Keywords change what it says, as --set
    does: Simulation("dam-break", resolution=0.05, pbf={"iterations": 4}).

    Arrays are views of the moment they were asked for: they keep their numbers when the simulation
    goes on, or is gone. They cannot be written to. On a GPU they are copies.
    """

    def __init__(self, scene, *, device="cpu", threads=0, **settings):
        text_name = ""
        if isinstance(scene, dict):
            scene, text_name = to_toml(scene), "barchan.to_toml(scene)"
        super().__init__(os.fspath(scene), text_name, device, threads, _settings(settings))

    @classmethod
    def from_toml(cls, text, *, device="cpu", threads=0, **settings):
        """From the text of a scene file."""
        self = cls.__new__(cls)
        _Simulation.__init__(self, text, "scene", device, threads, _settings(settings))
        return self

    def run(self, until=None, each_step=None):
        """Steps to the time `until` [s], the scene's end by default.

        each_step is called with the simulation after each step; where it returns False, that was the
        last one.
        """
        until = self.duration if until is None else until
        self._run_until(until, lambda: each_step is None or each_step(self) is not False)

    def __repr__(self):
        return f"<barchan.Simulation: t = {self.time:.4g} s, {len(self)} particles>"
