"""A graph and the model that it was made of take a category for the same level."""

import warnings

import numpy as np
import pandas as pd
import pytest

from doublelogit import Roles, TableClassifier, to_onnx

needs_onnx = "onnx and onnxruntime are not installed, so graphs are not run"
pytest.importorskip("onnx", reason=needs_onnx)
onnxruntime = pytest.importorskip("onnxruntime", reason=needs_onnx)

LEVELS = ["full-time (old)", "part time", "Łódź \\d", "a|b", "x.y"]
SPACES = "".join(c for c in map(chr, range(0x110000)) if c.isspace())
SPACED = ["{}", " {}", "{} ", "\t{}", "{}\u00a0", "\u3000{}\n", f"{SPACES}{{}}{SPACES}"]


def towns(n=400, missing=True):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=n), "town": rng.choice(LEVELS, n)})
    if missing:
        frame.loc[rng.random(n) < 0.2, "town"] = None
    odds = frame["x"] + frame["town"].isin(LEVELS[:2]) * 2 - 1
    return frame.assign(s=(rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int))


def answers(model, frame):
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    given = {
        "x": frame[["x"]].to_numpy(),
        "town": frame[["town"]].fillna("").to_numpy(dtype=object),
    }
    return session.run(["positive"], given)[0]


@pytest.mark.parametrize("missing", [True, False])
def test_spaces_about_a_category_change_neither_graph_nor_prediction(missing):
    frame = towns(missing=missing)
    model = TableClassifier(Roles("s"), "naive").fit(frame)
    levels = [*LEVELS, "", "(missing)", "new"]
    texts = [spaced.format(level) for level in levels for spaced in SPACED]
    new = pd.DataFrame({"x": np.linspace(-2, 2, len(texts)), "town": texts})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.predict(new)["positive"]
        bare = model.predict(new.assign(town=[text.strip() for text in texts]))["positive"]
    np.testing.assert_allclose(answers(model, new), expected, rtol=1e-12)
    np.testing.assert_array_equal(bare, expected)
    assert expected.groupby(np.arange(len(texts)) // len(SPACED)).agg(np.ptp).gt(0).all()
