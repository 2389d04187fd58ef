"""``PUPipeline``: scikit-learn's pipeline with the predictions of our classifiers."""

from typing import Any

from sklearn.pipeline import Pipeline

from doublelogit._types import Floats


class PUPipeline(Pipeline):
    """A pipeline whose last step is a classifier of this library.

    scikit-learn's own passes on the predictions that it knows of, ``predict``, ``predict_proba``
    and ``score``; this one those of positive-unlabelled data too. Parameters, ``steps`` and
    routing are scikit-learn's: audited classes are given to a fit as ``name__audited_y``.

    Parameters
    ----------
    steps : list of (name, estimator)
        Transformers, and a classifier of this library at the end.
    memory, verbose
        As in :class:`sklearn.pipeline.Pipeline`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from doublelogit import JointClassifier, PUPipeline
    >>> X, s = np.arange(8.0)[:, None], [0, 0, 0, 1, 0, 1, 0, 1]
    >>> pipe = PUPipeline([("scale", StandardScaler()), ("joint", JointClassifier(n_starts=1))])
    >>> pipe.fit(X, s).predict_hidden(X).shape
    (8,)
    """

    def predict_positive(self, X: Any) -> Floats:
        """Probability of the class y(x) = P(Y=1 | x), as one column."""
        return self._last_step().predict_positive(self._transformed(X))

    def predict_propensity(self, X: Any) -> Floats:
        """Propensity e(x) = P(S=1 | Y=1, x)."""
        return self._last_step().predict_propensity(self._transformed(X))

    def predict_label_proba(self, X: Any) -> Floats:
        """Probability of a label s(x) = P(S=1 | x)."""
        return self._last_step().predict_label_proba(self._transformed(X))

    def predict_hidden(self, X: Any) -> Floats:
        """Probability that an unlabelled row is positive, P(Y=1 | x, S=0)."""
        return self._last_step().predict_hidden(self._transformed(X))

    def _last_step(self) -> Any:
        return self.steps[-1][1]

    def _transformed(self, X: Any) -> Any:
        """What the last step is shown of some rows."""
        return self[:-1].transform(X) if len(self.steps) > 1 else X
