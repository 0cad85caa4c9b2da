"""Settings as attributes: scan.recipe.window = "hann". The classes of the sections are generated from the library's
descriptions, so help(scan.recipe) documents each setting with meaning, unit and range.
"""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import BadSetting

_FLAG, _INTEGER, _NUMBER, _TEXT, _NUMBERS = range(5)


def spelled(value: object) -> str:
    """Spells a value as the library reads it."""
    if getattr(value, "shape", None) == ():  # NumPy scalars and arrays of one number
        value = value.item()  # type: ignore[attr-defined]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, Iterable):
        return "[" + ", ".join(repr(float(one)) for one in value) + "]"
    if hasattr(value, "__index__"):
        return str(int(value))
    if hasattr(value, "__float__"):
        return repr(float(value))
    return str(value)


def text_of(value: object, kind: int | None) -> str:
    """Spells a value for a setting of this kind; None: unknown kind."""
    text = spelled(value)
    return {"0": "false", "1": "true"}.get(text, text) if kind == _FLAG else text


@lru_cache(maxsize=None)
def scan_kinds() -> dict[str, int]:
    """Kinds of all settings of scans."""
    return {setting.key: setting.kind for setting in _core.Scan.create(16, 1, 1, "u16", []).settings().all()}


def assignments(sections: Mapping[str, Mapping[str, object]], kinds: Mapping[str, int] | None = None) -> list[str]:
    """Converts {"recipe": {"window": "hann"}} to ["recipe.window=hann"]. kinds: of settings; None: those of scans."""
    kinds = scan_kinds() if kinds is None else kinds
    every = []
    for section, settings in sections.items():
        if not isinstance(settings, Mapping):
            raise BadSetting("is not a mapping of settings", section, f'write {section}={{"key": value}}')
        every += [f"{section}.{name}={text_of(value, kinds.get(f'{section}.{name}'))}" for name, value in settings.items()]
    return every


def described(setting: _core.Setting) -> str:
    """Returns the docstring of a setting."""
    bounds = (setting.low, setting.high) if setting.kind in (_INTEGER, _NUMBER) else None
    return explained(setting.help, setting.unit, setting.choices, bounds, setting.default) + "."


def explained(text: str, unit: str, choices: Sequence[str], bounds: tuple[float, float] | None, default: str | None) -> str:
    """Returns the meaning of a setting with what is known of its values. default: None if there is none."""
    facts = []
    if choices:
        facts.append("one of " + ", ".join(choices))
    elif bounds and bounds[1] <= 1e5:
        facts.append(f"from {bounds[0]:g} to {bounds[1]:g}")
    if unit:
        facts.append(f"in {unit}")
    if default is not None:
        facts.append(f"default {default or 'empty'}")
    return text[:1].upper() + text[1:] + (f" ({'; '.join(facts)})" if facts else "")


class Section:
    """The settings of one section as attributes."""

    _names: dict[str, _core.Setting] = {}
    _section = ""

    _settings: _core.Settings

    def __init__(self, settings: _core.Settings) -> None:
        object.__setattr__(self, "_settings", settings)

    def _get(self, name: str) -> Any:
        setting = self._names[name]
        settings = self._settings
        if setting.kind == _FLAG:
            return settings.number(setting.key) != 0
        if setting.kind == _INTEGER:
            return int(settings.number(setting.key))
        if setting.kind == _NUMBER:
            return settings.number(setting.key)
        text = settings.text(setting.key)
        if setting.kind == _NUMBERS:
            return tuple(float(one) for one in text.strip("[]").split(",") if one.strip())
        return text

    def _set(self, name: str, value: object) -> None:
        kind = self._names[name].kind
        if kind == _TEXT and not isinstance(value, (str, os.PathLike)):
            raise BadSetting(f"is a text, not {type(value).__name__}", f"{self._section}.{name}", self._remedy(name))
        self._settings.set_text(f"{self._section}.{name}", text_of(value, kind))

    def _remedy(self, name: str) -> str:
        return ""

    def _unknown(self, name: str) -> AttributeError:
        from difflib import get_close_matches

        near = get_close_matches(name, self._names, 1)
        return AttributeError(f"there is no setting {self._section}.{name}" +
                              (f"; did you mean {near[0]}?" if near else ""))

    if not TYPE_CHECKING:  # type checkers find the names in _sections.pyi

        def __getattr__(self, name: str) -> Any:  # for unknown settings
            raise self._unknown(name)

        def __setattr__(self, name: str, value: object) -> None:
            if name not in self._names:
                raise self._unknown(name)
            self._set(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._names})

    def __repr__(self) -> str:
        values = (f"{name}={self._get(name)!r}" for name in self._names)
        return f"{type(self).__name__}({', '.join(values)})"


def _property(name: str, setting: _core.Setting) -> property:
    return property(lambda self: self._get(name), lambda self, value: self._set(name, value), doc=described(setting))


_classes: dict[tuple[str, type[Section]], type[Section]] = {}


def sections(settings: _core.Settings, bases: Mapping[str, type[Section]] = {}) -> dict[str, type[Section]]:
    """Creates a class per section; `bases` adds base classes for some of them."""
    by_section: dict[str, dict[str, _core.Setting]] = {}
    for setting in settings.all():
        section, _, name = setting.key.partition(".")
        by_section.setdefault(section, {})[name] = setting
    made = {}
    for section, names in by_section.items():
        base = bases.get(section, Section)
        if (section, base) not in _classes:
            body: dict[str, Any] = {"_names": names, "_section": section,
                                    "__doc__": f"Settings of the section [{section}]."}
            body.update((name, _property(name, setting)) for name, setting in names.items())
            _classes[section, base] = type(section.capitalize(), (base,), body)
        made[section] = _classes[section, base]
    return made
