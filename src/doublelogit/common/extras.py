"""Optional packages: imported where they are used, asked for in one sentence."""

from importlib.util import find_spec


def needs(package: str, what: str, extra: str) -> None:
    """Raise an error with the pip command if a package that something needs is not there."""
    if not has(package):
        raise ImportError(f"{what} needs {package}: pip install 'doublelogit[{extra}]'")


def has(package: str) -> bool:
    """Whether an optional package is there."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # from whoever hides it
        return False
