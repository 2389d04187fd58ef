"""A guarded network as a scikit-learn classifier."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from doublelogit._types import Floats
from doublelogit.bends.guarded import Guarded, Guards
from doublelogit.bends.network import Inputs, Training, networked
from doublelogit.estimators.base import COUNT, FEATURES, NON_NEGATIVE, POSITIVE
from doublelogit.estimators.guarded import WHICH, GuardedClassifier, columns_of
from doublelogit.methods import Problem


class NetworkClassifier(GuardedClassifier):
    """Two logistic models, bent by small networks as far as held-out labels ask for it.

    As :class:`BoostedClassifier`, with networks of one hidden layer in the place of trees. PyTorch
    fits them (``pip install 'doublelogit[network]'``); predictions and model files do without.

    Parameters
    ----------
    network_of : {"outcome", "propensity", "both"}, default="outcome"
        Which models networks may bend; the other stays logistic.
    network_features : array-like of names or indices, default=None
        Features that networks of the outcome see; None is what the outcome may use. Networks of the
        propensity see what the propensity may use.
    hidden_units : int, default=32
        Units of the hidden layer.
    n_steps, max_rounds : int, default=20, 30
        Steps that a round makes, and rounds at most.
    learning_rate, weight_decay : float, default=0.01
        Of AdamW.
    n_folds : int, default=3
        Parts of the rows, each judged by models of the others. 1 judges models by the rows that
        they were fitted to.
    cross_fit : bool, default=True
        Whether the E-step of a row is made by models that have not seen it.
    patience : int, default=3
        Rounds without a gain in the likelihood of held-out labels after which it stops, and goes
        back to the best; 0 makes all rounds.
    start : {"best", "line", "constant"}, default="best"
        Where networks begin: at the logistic models, at a class and a labelling that depend on
        nothing, or at either, as held-out labels prefer.
    C, propensity_C : float, default=1.0
        Inverse strength of the L2 penalty on the slopes of the logistic models.
    outcome_features, propensity_features : array-like of names or indices, default=None
        Features that the models may use; None is all, an empty list a constant.
    smooth_features : array-like of names or indices, default=None
        Features of the outcome that bend others; see :class:`JointClassifier`.
    random_state : int, RandomState instance or None, default=0
        Draws folds and first weights.
    pos_label : object, default=None
        The value of y that means labelled. Not needed for 0/1, -1/1 and booleans.

    Attributes
    ----------
    trace_ : ndarray
        Mean negative log-likelihood of held-out labels, of the lines and after each round.
    n_iter_ : int
        Rounds made.
    classes_ : ndarray of shape (2,)
        The values of y: unlabelled (negative) first, labelled (positive) second.
    orientation_ : Orientation
        What told class and labelling apart, before any step.
    model_ : LinearPair
        Both fitted models; networks are plain arrays, which a model file keeps for ever.
    findings_ : tuple of Finding
        What a user must know of the fit.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had string names for all.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GuardedClassifier._parameter_constraints,
        "network_of": WHICH,
        "network_features": FEATURES,
        "hidden_units": COUNT,
        "n_steps": COUNT,
        "learning_rate": POSITIVE,
        "weight_decay": NON_NEGATIVE,
    }

    def __init__(
        self,
        *,
        network_of: str = "outcome",
        network_features: Sequence[Any] | None = None,
        hidden_units: int = 32,
        n_steps: int = 20,
        max_rounds: int = 30,
        learning_rate: float = 0.01,
        weight_decay: float = 0.01,
        n_folds: int = 3,
        cross_fit: bool = True,
        patience: int = 3,
        start: str = "best",
        C: float = 1.0,
        propensity_C: float = 1.0,
        outcome_features: Sequence[Any] | None = None,
        propensity_features: Sequence[Any] | None = None,
        smooth_features: Sequence[Any] | None = None,
        random_state: Any = 0,
        pos_label: Any = None,
    ) -> None:
        self.network_of = network_of
        self.network_features = network_features
        self.hidden_units = hidden_units
        self.n_steps = n_steps
        self.max_rounds = max_rounds
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.n_folds = n_folds
        self.cross_fit = cross_fit
        self.patience = patience
        self.start = start
        self.C = C
        self.propensity_C = propensity_C
        self.outcome_features = outcome_features
        self.propensity_features = propensity_features
        self.smooth_features = smooth_features
        self.random_state = random_state
        self.pos_label = pos_label

    def _bent(self, problem: Problem, X: Floats, guards: Guards) -> Guarded:
        given = self._index("network_features", problem.rows)
        outcome = columns_of(problem.outcome) if given is None else np.asarray(given)
        columns = {"outcome": outcome, "propensity": columns_of(problem.propensity)}
        one, other = (
            None if own is None else Inputs.learn(X, own)
            for own in self._sides(self.network_of, columns)
        )
        training = Training(
            hidden_units=self.hidden_units,
            n_steps=self.n_steps,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
        )
        return networked(problem, X, (one, other), training, guards)
