"""Optional packages: imported where they are used, asked for in one sentence."""

from importlib.util import find_spec


def needs(package: str, what: str, extra: str) -> None:
    """Raise an error with the pip command if a package that something needs is not there."""
    if not _found(package):
        raise ImportError(f"{what} needs {package}: pip install 'doublelogit[{extra}]'")


def _found(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # from whoever hides it
        return False
