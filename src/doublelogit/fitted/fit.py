"""What every method returns."""

from dataclasses import dataclass, replace

from doublelogit._types import Floats
from doublelogit.fitted import FittedModel


@dataclass(frozen=True)
class Orientation:
    """What told class and labelling apart, and how clearly.

    Parameters
    ----------
    rule : str
        What decided: "sources", "features", "audit", "prevalence", "false labels", "penalty",
        "curves", "norm" or "likeness".
    gap : float
        How clearly: how much worse the swapped solution fits in log-likelihood (inf if it is no
        optimum of its own), or by how many standard errors the outcome model is the stronger.
    unit : {"log-likelihood", "log-evidence", "standard errors"}
        Unit of the gap.
    clear : bool
        Whether the gap is wide enough to rely on.
    """

    rule: str
    gap: float
    unit: str
    clear: bool

    def swapped(self) -> "Orientation":
        """The orientation as seen from the swapped solution."""
        return replace(self, gap=-self.gap, clear=False)


@dataclass(frozen=True)
class PUFit:
    """A fitted model and how it was reached.

    ``trace`` holds the (minimised) objective after each round; ``stalled`` is the share of a
    posterior in components whose optimisation used up its steps.
    """

    model: FittedModel
    n_iter: int
    converged: bool
    trace: tuple[float, ...] = ()
    orientation: Orientation | None = None
    stalled: float = 0.0

    @property
    def beta(self) -> Floats | None:
        """Coefficients of the outcome model, full length; None if it is not linear."""
        return self.model.coefficients().beta

    @property
    def gamma(self) -> Floats | None:
        """Coefficients of the propensity model, full length; None if it is not linear."""
        return self.model.coefficients().gamma

    def uncentred(self, shift: Floats | None) -> "PUFit":
        """The fit of features x, given that this is the fit of x - shift."""
        if shift is None:
            return self
        return replace(self, model=self.model.uncentred(shift))
