"""Model files: open, checked, and unable to do anything but describe a model."""

import hashlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import doublelogit
from doublelogit import JointClassifier, ModelFileError, Roles, TableClassifier, TwoModelsClassifier
from doublelogit.common import archive
from doublelogit.datasets import load_census
from doublelogit.registry import METHODS

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    s = ((X[:, 0] + rng.normal(size=300) > 0) & (rng.random(300) < 0.6)).astype(int)
    return X, s


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", METHODS)
def test_every_classifier_comes_back_the_same(method, rows, tmp_path):
    X, s = rows
    model = getattr(doublelogit, METHODS[method].class_name)().fit(X, s)
    model.save(tmp_path / "m.dlm")
    again = doublelogit.load(tmp_path / "m.dlm")
    assert again.get_params() == model.get_params()
    assert np.array_equal(again.predict_hidden(X), model.predict_hidden(X))
    assert again.classes_.dtype == model.classes_.dtype
    if method == "joint":
        assert again.orientation_.rule == model.orientation_.rule
        assert np.array_equal(again.swapped().coef_, model.swapped().coef_)


def test_names_words_and_infinities_come_back(rows, tmp_path):
    X, s = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    words = np.where(s == 1, "sick", "unknown")
    model = JointClassifier(
        C=np.inf, pos_label="sick", propensity_features=["a"], prevalence=(0.5, 0.1)
    ).fit(frame, words)
    model.save(tmp_path / "m.dlm")
    again = doublelogit.load(tmp_path / "m.dlm")
    assert np.inf == again.C
    assert again.prevalence == (0.5, 0.1)
    assert (again.predict(frame) == model.predict(frame)).all()


def test_the_same_model_makes_the_same_bytes(rows, tmp_path):
    model = JointClassifier().fit(*rows)
    for name in ("a", "b"):
        model.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_loaded_model_is_one_for_inference(rows, tmp_path):
    model = JointClassifier(propensity_features=[1]).fit(*rows)
    model.save(tmp_path / "m.dlm")
    one, two = (
        str(doublelogit.infer(m, *rows).summary())
        for m in (model, doublelogit.load(tmp_path / "m.dlm"))
    )
    assert one == two


def test_a_stored_model_predicts_as_it_did():
    expected = pd.read_csv(GOLDEN / "census_predictions.csv")
    model = doublelogit.load(GOLDEN / f"census_format{archive.FORMAT}.dlm")
    found = model.predict(GOLDEN / "census_rows.csv")
    assert found["person"].tolist() == expected["person"].tolist()
    for name in ("positive", "propensity", "label", "hidden"):
        assert np.allclose(found[name], expected[name], rtol=1e-9)


@pytest.mark.parametrize(
    ("version", "remedy"), [(1, "Fit the model again"), (99, "Upgrade doublelogit")]
)
def test_a_file_of_another_format_is_refused_with_one_sentence(
    version, remedy, rows, tmp_path, monkeypatch
):
    model = JointClassifier(n_starts=1).fit(*rows)
    with monkeypatch.context() as patch:
        patch.setattr(archive, "FORMAT", version)
        model.save(tmp_path / "m.dlm")
    said = rf"in format {version}; this release reads format {archive.FORMAT}\. {remedy}\."
    with pytest.raises(ModelFileError, match=said):
        doublelogit.load(tmp_path / "m.dlm")


def test_classifiers_of_others_are_kept_by_skops(rows, tmp_path):
    X, s = rows
    model = TwoModelsClassifier(
        outcome=RandomForestClassifier(n_estimators=3, max_depth=3, random_state=0),
        propensity=LogisticRegression(),
        tol=0,
        max_iter=2,
    ).fit(X, s)
    model.save(tmp_path / "m.dlm")
    try:
        again = doublelogit.load(tmp_path / "m.dlm")
    except ModelFileError as error:  # which types skops trusts by itself differs by release
        types = str(error).partition("trusted: ")[2].partition(". If")[0].split(", ")
        again = doublelogit.load(tmp_path / "m.dlm", trusted=types)
    assert np.array_equal(again.predict_positive(X), model.predict_positive(X))


class Untrusted(LogisticRegression):
    pass


def test_types_that_nobody_trusts_are_refused(rows, tmp_path):
    X, s = rows
    model = TwoModelsClassifier(propensity=Untrusted(), tol=0, max_iter=2).fit(X, s)
    model.save(tmp_path / "m.dlm")
    with pytest.raises(ModelFileError, match=r"not trusted.*Untrusted"):
        doublelogit.load(tmp_path / "m.dlm")


def test_parts_of_another_scikit_learn_are_refused(rows, tmp_path):
    X, s = rows
    model = TwoModelsClassifier(propensity=LogisticRegression(), tol=0, max_iter=2).fit(X, s)
    model.save(tmp_path / "m.dlm")
    rewrite(
        tmp_path / "m.dlm", lambda text: text.replace('"scikit-learn": "', '"scikit-learn": "0')
    )
    with pytest.raises(ModelFileError, match="for one version only"):
        doublelogit.load(tmp_path / "m.dlm")


def test_table_models_come_back_the_same(tmp_path):
    frame = load_census(n_rows=600).frame
    model = TableClassifier(Roles("on_record", id="person", by="sex")).fit(frame)
    model.save(tmp_path / "m.dlm")
    again = doublelogit.load(tmp_path / "m.dlm")
    assert again.roles_ == model.roles_
    assert again.roles_.positive == "yes"
    assert again.method == model.method
    pd.testing.assert_frame_equal(again.predict(frame), model.predict(frame))


def test_a_failed_save_leaves_the_old_file(rows, tmp_path):
    model = JointClassifier().fit(*rows)
    path = tmp_path / "m.dlm"
    model.save(path)
    before = path.read_bytes()
    model.random_state = np.random.RandomState(0)
    with pytest.raises(TypeError, match="cannot hold"):
        model.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.dlm"]


# What may be done to a file


@pytest.fixture
def saved(rows, tmp_path):
    path = tmp_path / "m.dlm"
    JointClassifier().fit(*rows).save(path)
    return path


def members(path):
    with zipfile.ZipFile(path) as file:
        return {info.filename: file.read(info) for info in file.infolist()}


def pack(path, contents, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in contents.items():
            file.writestr(name, content)


def seal(contents):
    digest = hashlib.sha256(contents["model.json"]).hexdigest()
    return {**contents, "SHA256": f"{digest}  model.json".encode()}


def rewrite(path, change):
    """What one who knows the format can do: change the header and its checksum."""
    contents = members(path)
    contents["model.json"] = change(contents["model.json"].decode()).encode()
    pack(path, seal(contents))


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.7, 0.99])
def test_a_truncated_file_is_refused(saved, share):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ModelFileError, match="not a model file as it was saved"):
        doublelogit.load(saved)


def test_any_altered_byte_of_the_contents_is_noticed(saved):
    content = saved.read_bytes()
    with zipfile.ZipFile(saved) as file:
        starts = {i.filename: content.index(file.read(i)) for i in file.infolist() if i.file_size}
    for start in starts.values():
        altered = bytearray(content)
        altered[start + 1] ^= 1
        saved.write_bytes(bytes(altered))
        with pytest.raises(ModelFileError):
            doublelogit.load(saved)


def test_altered_arrays_are_noticed_by_their_checksums(saved):
    contents = members(saved)
    name = next(n for n in contents if n.startswith("arrays/"))
    contents[name] = bytes(len(contents[name]))
    pack(saved, contents)
    with pytest.raises(ModelFileError, match="checksum of a member"):
        doublelogit.load(saved)


def test_a_huge_header_is_refused_before_it_is_read(saved):
    contents = members(saved)
    contents["model.json"] = b" " * (archive.LARGEST_HEADER + 1)
    pack(saved, contents)
    with pytest.raises(ModelFileError, match="header claims 16 MiB"):
        doublelogit.load(saved)


def test_a_header_that_lies_about_its_size_is_refused(saved):
    content = bytearray(saved.read_bytes())
    at = content.rindex(b"model.json") - 46  # its entry in the central directory
    assert content[at : at + 4] == b"PK\x01\x02"
    content[at + 20 : at + 28] = (2**30).to_bytes(4, "little") * 2  # both sizes: 1 GB
    saved.write_bytes(bytes(content))
    with pytest.raises(ModelFileError):
        doublelogit.load(saved)


def test_zip_bombs_are_refused(saved):
    contents = members(saved)
    pack(saved, {**contents, "arrays/9": bytes(10**8)}, zipfile.ZIP_DEFLATED)
    assert saved.stat().st_size < 10**6
    with pytest.raises(ModelFileError, match="is compressed"):
        doublelogit.load(saved)


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/passwd", "arrays/../x", "C:\\x", "model.pkl", "arrays/0\n", "a" * 500]
)
def test_path_tricks_are_refused(saved, name):
    pack(saved, {**members(saved), name: b"x"})
    with pytest.raises(ModelFileError, match="has a member"):
        doublelogit.load(saved)


def test_two_members_of_one_name_are_refused(saved):
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(saved, "a") as file:
        file.writestr("model.json", b"{}")
    with pytest.raises(ModelFileError, match="two members"):
        doublelogit.load(saved)


def change_state(key, value):
    def change(text):
        header = json.loads(text)
        header["state"][key] = value
        return json.dumps(header)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_state("class", "os.system"), "no classifier"),
        (change_state("class", "__builtins__"), "no classifier"),
        (change_state("fitted", {"__class__": "x"}), "no attribute"),
        (change_state("fitted", {"_features": "x"}), "no attribute"),
        (change_state("params", {"nonsense": 1}), "makes no sense"),
        (change_state("fitted", {"x_": {"$record": "Popen", "fields": {}}}), "makes no sense"),
        (change_state("fitted", {"x_": {"$array": "arrays/77"}}), "makes no sense"),
        (
            change_state("fitted", {"x_": {"$array": "arrays/0", "dtype": "|O", "shape": [1]}}),
            "array of the type",
        ),
        (
            change_state(
                "fitted", {"x_": {"$array": "arrays/0", "dtype": "<f8", "shape": [10**12]}}
            ),
            "makes no sense",
        ),
        (lambda text: text.replace('"kind": "classifier"', '"kind": "virus"'), "does not know"),
        (lambda text: "[" * 100_000, "cannot be read"),
        (lambda text: "{}", "cannot be read"),
        (lambda text: f'{{"format": {archive.FORMAT}, "versions": {{}}}}', "incomplete"),
    ],
)
def test_a_forged_header_runs_nothing(saved, change, message):
    rewrite(saved, change)
    with pytest.raises(ModelFileError, match=message):
        doublelogit.load(saved)


def test_a_pickle_is_no_model_file(tmp_path):
    import pickle

    path = tmp_path / "m.dlm"
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ModelFileError):
        doublelogit.load(path)
    with pytest.raises(ModelFileError, match="there is no model file"):
        doublelogit.load(tmp_path / "none.dlm")


def test_a_bomb_inside_a_part_is_refused(rows, tmp_path):
    X, s = rows
    path = tmp_path / "m.dlm"
    model = TwoModelsClassifier(propensity=LogisticRegression(), tol=0, max_iter=2).fit(X, s)
    model.save(path)
    contents = members(path)
    name = next(n for n in contents if n.endswith(".skops"))
    bomb = io.BytesIO()
    pack(bomb, {"schema.json": b" " * 10**7}, zipfile.ZIP_DEFLATED)
    header = json.loads(contents["model.json"])
    header["members"][name] = hashlib.sha256(bomb.getvalue()).hexdigest()
    contents[name], contents["model.json"] = bomb.getvalue(), json.dumps(header).encode()
    pack(path, seal(contents))
    with pytest.raises(ModelFileError, match="compressed"):
        doublelogit.load(path)
