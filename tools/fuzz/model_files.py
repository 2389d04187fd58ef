"""Model files: bytes altered, and edits of what they say under seals that are right again."""

import hashlib
import io
import json
import tempfile
import warnings
import zipfile
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tools.fuzz.contract import proper
from tools.fuzz.targets import Case, Target, spoiled

HOSTILE = (
    *(None, True, -1, 0, 1, 2**63, 10**400, 1e308, -0.0, "", "x" * 5000, "../../x", "\x1b[31m"),
    *([], {}, [[]] * 50, {"$float": "nan"}, {"$float": "inf"}, {"$float": "x"}, {"$items": []}),
    {"$array": "arrays/0", "dtype": "<f8", "shape": [10**9, 10**9]},
    {"$array": "arrays/0", "dtype": "|O", "shape": [1]},
    {"$array": "arrays/99", "dtype": "<f8", "shape": [1]},
    {"$record": "LinearPair", "fields": {}},
    {"$record": "os.system", "fields": {"command": "true"}},
    {"$skops": "parts/0.skops", "scikit-learn": "1.0"},
    {"$items": ["a" * 1000] * 300, "object": False},
    {"$tuple": [1, 2]},
)


@cache
def originals() -> dict[str, bytes]:
    """Small models of every kind, as their files."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    import doublelogit as dl

    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    s = (X[:, 0] + rng.standard_normal(60) > 0.5).astype(int)
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "u", "v"), "s": s})
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(60) * 20, unit="D")
    plugged = dl.EMClassifier(outcome=LogisticRegression(), max_iter=2, tol=0)
    classifiers = [
        *(dl.NaiveClassifier(), dl.TwoModelsClassifier(max_iter=5), dl.JointClassifier(n_starts=1)),
        *(
            dl.EMClassifier(max_iter=5, tol=0),
            dl.LBEClassifier(max_iter=5),
            dl.AveragedClassifier(),
        ),
        *(dl.TwoModelsSimpleClassifier(), plugged),
    ]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path, files = Path(folder) / "model.dlm", {}
        for i, classifier in enumerate(classifiers):
            classifier.fit(X, s).save(path)
            files[f"{type(classifier).__name__} {i}"] = path.read_bytes()
        dl.TableClassifier(dl.Roles("s"), "joint", parameters={"n_starts": 1}).fit(frame).save(path)
        files["table"] = path.read_bytes()
    return files


@st.composite
def resealed(draw: Any) -> bytes:
    """A file whose JSON or arrays are edited, with checksums made right again."""
    original = draw(st.sampled_from(sorted(originals())))
    with zipfile.ZipFile(io.BytesIO(originals()[original])) as file:
        members = {name: file.read(name) for name in file.namelist()}
    header = json.loads(members["model.json"])
    for _ in range(draw(st.integers(1, 3))):
        _edit(draw, header)
    arrays = [name for name in members if name.startswith(("arrays/", "parts/"))]
    if arrays and draw(st.booleans()):
        name = draw(st.sampled_from(arrays))
        members[name] = draw(st.one_of(spoiled(st.just(members[name])), _numbers(members[name])))
    if draw(st.integers(0, 9)):
        header["members"] = {n: hashlib.sha256(members[n]).hexdigest() for n in arrays}
    text = json.dumps(header).encode()
    seal = f"{hashlib.sha256(text).hexdigest()}  model.json\n".encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, content in {**members, "SHA256": seal, "model.json": text}.items():
            file.writestr(name, content)
    return packed.getvalue()


def _numbers(content: bytes) -> st.SearchStrategy[bytes]:
    count = max(len(content) // 8, 1)
    return st.lists(st.floats(), min_size=count, max_size=count).map(
        lambda values: np.array(values).tobytes()
    )


def _edit(draw: Any, value: Any) -> None:
    """Change something in a JSON value: at the end of a walk into it."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = draw(st.sampled_from(keys))
        if isinstance(value[key], dict | list) and value[key] and draw(st.integers(0, 4)):
            value = value[key]
            continue
        edit = draw(st.sampled_from(["replace", "replace", "delete", "move"]))
        if edit == "replace":
            value[key] = deepcopy(draw(st.sampled_from(HOSTILE)))  # it may be edited next
        elif edit == "delete":
            del value[key]
        elif isinstance(value, dict):
            value[draw(st.sampled_from(["format", "$array", "$items", "fields", "coef"]))] = (
                value.pop(key)
            )
        return


@st.composite
def cases(draw: Any) -> Case:
    """Half of the files are damaged, half are forged."""
    if draw(st.booleans()):
        return ".dlm", draw(spoiled(st.sampled_from(sorted(originals().values()))))
    return ".dlm", draw(resealed())


def check(path: Path) -> str:
    """Load the file, and ask the model for probabilities if it is one."""
    import doublelogit as dl

    model = dl.load(path)
    if isinstance(model, dl.TableClassifier):
        proper(model.predict(_frame())["positive"])
    else:
        proper(model.predict_proba(np.ones((2, model.n_features_in_))))
    return "answered"


def _frame() -> Any:
    import pandas as pd

    return pd.DataFrame({"a": [0.5, 1.0], "b": ["u", "w"], "day": pd.Timestamp("2021-05-05")})


TARGET = Target("model files", cases, check)
