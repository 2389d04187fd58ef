"""LBE as its authors fit it: h = y(x) and eta = e(x) are networks (Gong et al., 2021).

Algorithm::

    h, eta <- networks of 100 units, each fitted to S with balanced weights by 100 Adam steps
    20 times
        E   q_i <- P(Y=1 | x_i, s_i) = 1 if s_i = 1, else y(1-e) / (1-ye)
        M   40 Adam steps, each on a tenth of the rows, down
            -[q log h + (1-q) log(1-h)], the mean over the 80% of the rows with the smallest loss,
            -q [s log eta + (1-s) log(1-eta)], the mean over all

The number of steps is the regulariser, as in ``lbe.py``. PyTorch fits it and is not needed
afterwards.
"""

from typing import Any

import numpy as np

from doublelogit._types import Floats, Ints
from doublelogit.bends.network import Inputs, layers_of, new_network
from doublelogit.core.likelihood import double_logistic, positive_given_label
from doublelogit.engines.memory import MemoryRows
from doublelogit.fitted import BentSide, LinearPair
from doublelogit.fitted.fit import PUFit
from doublelogit.methods.problem import Problem

UNITS = 100
FIRST_STEPS, ROUNDS, STEPS = 100, 20, 40
SHARE = 0.1  # of the rows in a step
TRUSTED = 0.8  # of these, by loss
LEARNING_RATE, WEIGHT_DECAY = 1e-3, 1e-2


class _Model:
    """One of the two networks, with rows of its own columns."""

    def __init__(self, X: Floats, columns: Ints, seed: int) -> None:
        import torch

        self.inputs = Inputs.learn(X, columns)
        self.network = new_network(len(columns), UNITS, seed)
        self.X = self.inputs.tensor(X)
        self.optimiser = torch.optim.Adam(
            self.network.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY
        )

    def losses(self, rows: Any, target: Any) -> Any:
        """Log-loss of some rows against soft targets."""
        import torch

        a = self.network(self.X[rows])[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits
        return loss(a, target[rows], reduction="none")

    def step(self, loss: Any) -> None:
        """One step of Adam."""
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()

    def predictor(self) -> Floats:
        """Logit of every row."""
        import torch

        with torch.no_grad():
            return np.asarray(self.network(self.X)[:, 0].numpy())

    def side(self, n_features: int) -> BentSide:
        """The network, added to no line."""
        return BentSide(np.zeros(n_features + 1), (self.inputs.network(layers_of(self.network)),))


def lbe_network(problem: Problem, X: Floats, columns: tuple[Ints, Ints], seed: int) -> PUFit:
    """Fit both networks to features as they are; rows in memory."""
    rows = problem.rows
    assert isinstance(rows, MemoryRows)
    rng = np.random.default_rng(seed)
    h, eta = (_Model(X, own, int(rng.integers(2**31))) for own in columns)
    _first_fit(rows, (h, eta))
    trace = []
    for _ in range(ROUNDS):
        a, b = h.predictor(), eta.predictor()
        trace.append(_mean_loss(rows, a, b))
        _steps(rows, h, eta, positive_given_label(rows.labels.known, a, b), rng)
    model = LinearPair(h.side(X.shape[1]), eta.side(X.shape[1]))
    return PUFit(model, ROUNDS, True, tuple(trace))


def _first_fit(rows: MemoryRows, models: tuple[_Model, _Model]) -> None:
    """Fit both networks to the labels, which weigh as much as the rest."""
    import torch

    share = float(rows.weight @ rows.labels.any / rows.weight.sum())
    weight = torch.from_numpy(
        rows.weight * np.where(rows.labels.any == 1, 0.5 / share, 0.5 / (1 - share))
    )
    s = torch.from_numpy(rows.labels.any.astype(float))
    for model in models:
        for _ in range(FIRST_STEPS):
            model.step((weight * model.losses(slice(None), s)).sum() / weight.sum())


def _steps(rows: MemoryRows, h: _Model, eta: _Model, q: Floats, rng: np.random.Generator) -> None:
    """The M-step."""
    import torch

    size = max(1, round(SHARE * len(rows)))
    s, t, weight = (
        torch.from_numpy(np.asarray(c, float)) for c in (rows.labels.any, q, rows.weight)
    )
    for _ in range(STEPS):
        some = rng.choice(len(rows), size, replace=False)
        losses, w = h.losses(some, t), weight[some]
        least = torch.argsort(losses)[: max(1, round(TRUSTED * size))]
        total = w[least].sum().clamp_min(np.finfo(float).tiny)  # rows may all be without weight
        h.step((w[least] * losses[least]).sum() / total)
        eta.step((w * t[some] * eta.losses(some, s)).mean())


def _mean_loss(rows: MemoryRows, a: Floats, b: Floats) -> float:
    losses = double_logistic(rows.labels, a, b).value
    return float(rows.weight @ losses / rows.weight.sum())
