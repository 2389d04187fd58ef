"""TM with other classifiers in the place of the two logistic regressions."""

from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from doublelogit import TwoModelsClassifier
from doublelogit.datasets import load_benchmark
from doublelogit.labelling import LogisticSar, draw

X, y = load_benchmark("diabetes", return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
s = draw(y, LogisticSar(g=1.0).propensity(X), random_state=0)

model = TwoModelsClassifier(
    outcome=RandomForestClassifier(n_estimators=50, min_samples_leaf=10, random_state=0),
    propensity=LogisticRegression(),
    tol=0,
    max_iter=5,
).fit(X, s)
print(f"true share {y.mean():.2f}, estimated {model.predict_positive(X).mean():.2f}")
