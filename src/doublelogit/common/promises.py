"""Packages that a command may need, imported when it does.

scikit-learn imports all of scipy.stats for a function or two, a third of the time in which a
command starts. Until something of it is used, a module of promises stands in its place.
"""

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class Promise:
    """A name of a module that is not imported yet; it is when the name is called or looked into."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._kept()(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kept(), name)

    def _kept(self) -> Any:
        return getattr(real(self._module), self._name)


class Later(ModuleType):
    """A package whose names are promises; its path is the real one, for submodules."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        # a package whose parent is not imported for it, as find_spec would
        package = find_spec(name.partition(".")[0])
        assert package is not None
        self.__spec__ = PathFinder.find_spec(name, package.submodule_search_locations)
        assert self.__spec__ is not None
        self.__path__ = self.__spec__.submodule_search_locations or []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Promise(self.__name__, name)


def real(name: str) -> ModuleType:
    """The module itself, imported now if it was not."""
    if isinstance(sys.modules.get(name), Later):
        del sys.modules[name]
    return import_module(name)


def later(*names: str) -> None:
    """Import these modules no sooner than something of them is used."""
    for name in names:
        if name not in sys.modules:
            sys.modules[name] = Later(name)
