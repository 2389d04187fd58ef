"""``--config``: options from a TOML file, in which a typo is never passed over."""

import inspect
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer


def _config(context: typer.Context, path: Path | None) -> Path | None:
    """Defaults from a TOML file: of all commands, or of one in its own table."""
    if path is None:
        return None
    try:
        given = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise typer.BadParameter(f"{path} cannot be read as TOML: {error}.") from None
    command, commands = context.info_name or "", _options_of_commands(context)
    for name in (name for name, value in given.items() if isinstance(value, dict)):
        if name not in commands:
            raise _typo(path, "there is no command", name, list(commands))
    mine = given.get(command, {})
    if not isinstance(mine, dict):
        raise typer.BadParameter(f"{path}: {command} must be a table of options; got {mine!r:.60}.")
    common = {key: value for key, value in given.items() if not isinstance(value, dict)}
    every = sorted({name for options in commands.values() for name in options})
    context.default_map = {
        **(context.default_map or {}),
        **_defaults(path, "there is no option", common, every),
        **_defaults(path, f"the command {command} has no option", mine, commands[command]),
    }
    return path


def _options_of_commands(context: typer.Context) -> dict[str, list[str]]:
    """Names of the options that a file may give, by command."""
    assert context.parent is not None
    commands: dict[str, Any] = vars(context.parent.command)["commands"]
    return {
        name: [
            str(p.name)
            for p in command.params
            if p.param_type_name == "option" and p.name != "config"
        ]
        for name, command in commands.items()
    }


def _defaults(path: Path, problem: str, given: dict[str, Any], known: list[str]) -> dict[str, Any]:
    """Values of options as a command line would give them; a name that is unknown is a typo."""
    defaults = {}
    for key, value in given.items():
        name = key.replace("-", "_")
        if name not in known:
            raise _typo(path, problem, key, [name.replace("_", "-") for name in known])
        if isinstance(value, dict):
            raise typer.BadParameter(f"{path}: {key} must be a value; got a table.")
        defaults[name] = ",".join(map(str, value)) if isinstance(value, list) else value
    return defaults


def _typo(path: Path, problem: str, name: str, known: list[str]) -> typer.BadParameter:
    """An unknown name in a file of options, and the name that may have been meant."""
    near = get_close_matches(name.lower().replace("_", "-"), known, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return typer.BadParameter(f"{path}: {problem} {name!r}.{hint}")


CONFIG = inspect.Parameter(
    "config",
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        Path | None,
        typer.Option("--config", is_eager=True, callback=_config, help="Options from a TOML file."),
    ],
)
