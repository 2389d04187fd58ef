"""``infer``: how sure a fitted model is of its coefficients and of the numbers people act on."""

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from doublelogit.common.threads import with_paying_threads
from doublelogit.fitted.sources import SourcesPair
from doublelogit.inference.base import Inference
from doublelogit.inference.likelihood import likelihood_inference
from doublelogit.inference.posterior import posterior_inference
from doublelogit.registry import METHODS, method_of

INFERENCES = {"likelihood": likelihood_inference, "posterior": posterior_inference}


@with_paying_threads
def infer(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    audited_y: Any = None,
    cov_type: str = "observed",
    groups: Any = None,
) -> Inference:
    """Inference for a fitted model that has a likelihood or a posterior.

    Parameters
    ----------
    model : AveragedClassifier, JointClassifier or EMClassifier
        Fitted.
    X, y, sample_weight, audited_y : array-like
        The rows it was fitted to, as in ``fit``; also Dask inputs and scans of Parquet files.
    cov_type : {"observed", "robust", "cluster"}, default="observed"
        Covariance of a maximum-likelihood model: from the observed information, robust to a wrong
        model (sandwich), or robust to dependence within clusters as well.
    groups : array-like of shape (n_samples,), default=None
        The cluster of each row; implies ``cov_type="cluster"``.

    Returns
    -------
    result : LikelihoodInference or PosteriorInference
        Of labels by several sources a SourcesInference, which adds ``dependence``, ``overlaps`` and
        ``curve``. All offer ``prevalence``, ``label_frequency``, ``hidden``, ``summary`` and
        ``diagnose``.

    Examples
    --------
    >>> import numpy as np
    >>> from doublelogit import JointClassifier, infer
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = rng.random(2000) < 1 / (1 + np.exp(-2 * X[:, 0]))
    >>> s = y & (rng.random(2000) < 1 / (1 + np.exp(-X[:, 1])))
    >>> model = JointClassifier(outcome_features=[0], propensity_features=[1]).fit(X, s)
    >>> print(infer(model, X, s).prevalence())
    prevalence 0.451, 95% interval 0.392 to 0.509 (profile likelihood)
    """
    if isinstance(model, Pipeline):
        raise TypeError(
            "inference is of a classifier and the features that it was fitted to: "
            f"infer(pipe[-1], pipe[:-1].transform(X), y); got a {type(model).__name__}."
        )
    kind = method_of(model).intervals
    check_is_fitted(model)
    bent = any(coef is None for coef in model.model_.coefficients())
    if kind is None or (kind == "likelihood" and bent):  # a posterior is one of the straight part
        raise _refusal(model)
    data = {"X": X, "y": y, "sample_weight": sample_weight, "audited_y": audited_y}
    return INFERENCES[str(kind)](model, data, cov_type=cov_type, groups=groups)


def _refusal(model: Any) -> TypeError:
    name = type(model).__name__
    if isinstance(model.model_, SourcesPair):
        return TypeError(
            f"{name} takes the dependence of several sources as given, so it has no intervals that "
            "hold. Use AveragedClassifier, which averages over it."
        )
    if method_of(model).intervals is not None:
        return TypeError(
            f"standard errors need logistic models; this {name} has another classifier in the "
            "place of one. Use doublelogit.inference.bootstrap."
        )
    able = [method.class_name for method in METHODS.values() if method.intervals is not None]
    return TypeError(
        "inference needs a likelihood or a posterior, which "
        f"{', '.join(able[:-1])} and {able[-1]} have; got {name}. For other methods use "
        "doublelogit.inference.bootstrap."
    )
