"""Optional packages: imported where they are used, asked for in one sentence."""

from importlib.util import find_spec


def needs(package: str, what: str, extra: str) -> None:
    """Raise an error with the pip command if a package that something needs is not there."""
    if find_spec(package) is None:
        raise ImportError(f"{what} needs {package}: pip install 'doublelogit[{extra}]'")
