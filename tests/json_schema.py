"""A check of JSON against the few words of JSON Schema that schema.json uses."""

from collections.abc import Iterator

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}
WORDS = {
    "$ref",
    "type",
    "enum",
    "minimum",
    "maximum",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "description",
}


def violations(value, rule, root=None, at="$") -> Iterator[str]:
    """Every place where a value departs from its rule, undescribed keys among them."""
    root = root or rule
    if "$ref" in rule:
        rule = root["$defs"][rule["$ref"].rpartition("/")[2]]
    assert rule is root or rule.keys() <= WORDS, f"{at}: a word that this check does not know"
    types = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
    fits = [t for t in types if isinstance(value, TYPES[t])]
    if not fits or (isinstance(value, bool) and "boolean" not in types):
        yield f"{at}: {value!r:.40} is not {' or '.join(types)}"
        return
    if value not in rule.get("enum", [value]):
        yield f"{at}: {value!r} is not in {rule['enum']}"
    if value is not None and not isinstance(value, str | list | dict):
        low, high = rule.get("minimum", value), rule.get("maximum", value)
        if not low - 1e-9 <= value <= high + 1e-9:
            yield f"{at}: {value} is beyond {low} to {high}"
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from violations(item, rule["items"], root, f"{at}[{i}]")
    if isinstance(value, dict) and (rule.keys() & {"properties", "additionalProperties"}):
        yield from _of_object(value, rule, root, at)


def _of_object(value, rule, root, at) -> Iterator[str]:
    properties, other = rule.get("properties", {}), rule.get("additionalProperties")
    for key in set(rule.get("required", ())) - value.keys():
        yield f"{at}.{key} is missing"
    for key, entry in value.items():
        if key not in properties and other is None:
            yield f"{at}.{key} is not described"
        else:
            yield from violations(entry, properties.get(key, other), root, f"{at}.{key}")
