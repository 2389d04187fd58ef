"""What a new user meets: ids that are numbers, pipelines, names that are not told apart."""

import numpy as np
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from tables_of_tests import clinic
from typer.testing import CliRunner

from doublelogit import JointClassifier, PUPipeline, Roles, infer
from doublelogit.cli import app
from doublelogit.table_models.table_doubts import TableDoubts
from doublelogit.tables import Table


def numbered(n=300):
    return clinic(n).assign(patient=np.arange(n) * 7 + 100_003)


def test_a_column_with_another_whole_number_in_every_row_is_named_before_a_fit(tmp_path):
    path = tmp_path / "t.csv"
    numbered().to_csv(path, index=False)
    command = ["fit", str(path), "--label", "diagnosed", "--ignore", "sick", "--method", "naive"]
    out = ["--out", str(tmp_path / "m.dlm")]
    done = CliRunner().invoke(app, [*command, *out], env={"COLUMNS": "300"})
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "'patient' has another whole number in each of 300 rows. If it names them" in said
    assert "(--id)" in said
    done = CliRunner().invoke(app, [*command, *out, "--id", "patient"], env={"COLUMNS": "300"})
    assert "another whole number" not in done.output


@pytest.mark.parametrize(
    "values",
    [
        lambda n: np.arange(n) // 2,  # two rows share each
        lambda n: np.arange(n) + 0.5,  # a measurement
        lambda n: [f"N{i}" for i in range(n)],  # a text, which is ignored with a reason
    ],
)
def test_other_columns_are_no_ids(values):
    frame = clinic(300).assign(patient=values(300))
    assert not TableDoubts.of(Table.from_frame(frame, Roles("diagnosed"))).ids


@pytest.mark.parametrize("kind", [Pipeline, PUPipeline])
def test_inference_of_a_pipeline_says_what_to_write(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    s = (rng.random(300) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
    steps = StandardScaler(), JointClassifier(propensity_features=[1], n_starts=1)
    pipe = kind([("scale", steps[0]), ("joint", steps[1])])
    pipe.fit(X, s)
    with pytest.raises(TypeError) as caught:
        infer(pipe, X, s)
    assert len(str(caught.value)) < 160
    assert "infer(pipe[-1], pipe[:-1].transform(X), y)" in str(caught.value)
    assert infer(pipe[-1], pipe[:-1].transform(X), s).prevalence().value > 0


def test_inference_of_something_else_is_refused_in_a_line():
    with pytest.raises(TypeError, match=r"such as AveragedClassifier; got StandardScaler\.$"):
        infer(StandardScaler(), [[0.0]], [0])
