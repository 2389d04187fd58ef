"""Small networks that bend the two logistic models, a few steps further in every round.

Guards are those of ``guarded.py``. ::

    M   a(x) <- x'beta + net(x), some Adam steps further down the log-loss of soft targets t

The last layer starts at zero: a network that has learned nothing leaves the line as it is.
PyTorch fits it and is not needed afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from doublelogit._types import Floats, Ints
from doublelogit.bends.guarded import Guarded, Guards, Kept, Maker, guarded
from doublelogit.common.extras import needs
from doublelogit.fitted import Layer, Network
from doublelogit.methods.problem import Problem

BATCH = 4096  # rows of a step; fewer rows are taken all together


@dataclass(frozen=True)
class Training:
    """The size of a network and how it is fitted."""

    hidden_units: int = 32
    n_steps: int = 20
    learning_rate: float = 0.01
    weight_decay: float = 0.01


@dataclass(frozen=True)
class Inputs:
    """Some columns of X, standardised."""

    columns: Ints
    centre: Floats
    scale: Floats

    @classmethod
    def learn(cls, X: Floats, columns: Ints) -> "Inputs":
        """Means and standard deviations; constant columns become zero."""
        centre, scale = X[:, columns].mean(axis=0), X[:, columns].std(axis=0)
        return cls(columns, centre, np.where(scale > 0, scale, 1.0))

    def tensor(self, X: Floats) -> Any:
        """The columns as a network takes them."""
        import torch

        return torch.from_numpy((X[:, self.columns] - self.centre) / self.scale)

    def network(self, layers: Sequence[Layer]) -> Network:
        """A network of these columns as plain arrays."""
        return Network(self.columns, self.centre, self.scale, tuple(layers))


def new_network(n_inputs: int, hidden_units: int, seed: int) -> Any:
    """A network with one hidden layer; weights are drawn without a trace in torch's own state."""
    needs("torch", "a network", "network")
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = [(n_inputs, hidden_units), (hidden_units, 1)]
        first, last = (torch.nn.Linear(*sizes, dtype=torch.float64) for sizes in layers)
    return torch.nn.Sequential(first, torch.nn.Tanh(), last)


def layers_of(network: Any) -> list[Layer]:
    """Weights and biases of a network of torch as they are now."""
    return [
        Layer(part.weight.detach().numpy().copy(), part.bias.detach().numpy().copy())
        for part in network
        if hasattr(part, "weight")
    ]


@dataclass
class Net:
    """The line of a half and the network that bends it."""

    inputs: Inputs
    X: Any  # of every row, as a tensor
    coef: Floats
    line: Floats
    train: Ints
    network: Any
    optimiser: Any
    n_steps: int
    rng: np.random.Generator

    def predictor(self) -> Floats:
        """Logit of every row."""
        import torch

        with torch.no_grad():
            return self.line + self.network(self.X)[:, 0].numpy()

    def grow(self, target: Floats, weight: Floats) -> None:
        """Some steps down the log-loss of soft targets."""
        import torch

        columns = [torch.from_numpy(np.asarray(c, float)) for c in (self.line, target, weight)]
        for _ in range(self.n_steps):
            rows = self.train
            if len(rows) > BATCH:
                rows = self.rng.choice(rows, BATCH, replace=False)
            line, wanted, w = (column[rows] for column in columns)
            a = line + self.network(self.X[rows])[:, 0]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                a, wanted, weight=w, reduction="sum"
            )
            self.optimiser.zero_grad()
            (loss / w.sum()).backward()
            self.optimiser.step()

    def moment(self) -> list[Layer] | None:
        """Its layers; none before the first step, when it adds nothing."""
        return layers_of(self.network) if self.optimiser.state else None

    def kept(self, moment: list[Layer] | None) -> Kept:
        """Coefficients of the line, and the network that was."""
        return self.coef, None if moment is None else self.inputs.network(moment)


def networked(
    problem: Problem,
    X: Floats,
    inputs: tuple[Inputs | None, Inputs | None],
    training: Training,
    guards: Guards,
) -> Guarded:
    """Bend the outcome, the propensity or both by networks; rows in memory."""
    one, other = (None if own is None else _maker(X, own, training, guards) for own in inputs)
    return guarded(problem, (one, other), guards)


def _maker(X: Floats, inputs: Inputs, training: Training, guards: Guards) -> Maker:
    """What begins to bend the line of a half; each half gets weights of its own."""
    needs("torch", "a network", "network")
    import torch

    values, rng = inputs.tensor(X), np.random.default_rng(guards.random_state)

    def make(train: Ints, coef: Floats, line: Floats) -> Net:
        seed = int(rng.integers(2**31))
        network = new_network(len(inputs.columns), training.hidden_units, seed)
        torch.nn.init.zeros_(network[-1].weight)
        torch.nn.init.zeros_(network[-1].bias)
        optimiser = torch.optim.AdamW(
            network.parameters(), lr=training.learning_rate, weight_decay=training.weight_decay
        )
        own = np.random.default_rng(seed)
        return Net(inputs, values, coef, line, train, network, optimiser, training.n_steps, own)

    return make
