"""What inference offers, whatever it rests on: a likelihood or a posterior."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from doublelogit.averaged.readings import ShapeShare
from doublelogit.inference.diagnosis import Diagnosis
from doublelogit.inference.estimate import Estimate
from doublelogit.inference.misfit import Misfit
from doublelogit.inference.profile import Profile
from doublelogit.inference.summary import Summary


class Inference(ABC):
    """How sure a fitted model is of the numbers people act on; made by :func:`infer`."""

    @abstractmethod
    def prevalence(self, *, by: Any = None, level: float = 0.95, **options: Any) -> Any:
        """P(Y=1) over the rows, or over each group of ``by``, with an interval.

        Parameters
        ----------
        by : array-like of shape (n_samples,), default=None
            Group of each row; the answer is then a dict by group.
        level : float, default=0.95
            Nominal coverage.

        Returns
        -------
        estimate : Estimate or dict of Estimate
        """

    @abstractmethod
    def label_frequency(self, *, by: Any = None, level: float = 0.95, **options: Any) -> Any:
        """P(S=1 | Y=1), the share of positives that are labelled; see :meth:`prevalence`."""

    @abstractmethod
    def hidden(self, *, by: Any = None, level: float = 0.95, **options: Any) -> Any:
        """Number of positives among the unlabelled rows; see :meth:`prevalence`."""

    @abstractmethod
    def summary(self, level: float = 0.95) -> Summary:
        """Coefficients of both models with their uncertainty, as a table."""

    @abstractmethod
    def diagnose(self) -> Diagnosis:
        """What in this fit may not be trusted; prints as sentences, ``plot()`` shows it."""

    @abstractmethod
    def reliable_prevalence(self) -> Estimate:
        """The prevalence with the 95% interval that holds best and can be afforded."""

    @property
    @abstractmethod
    def weak(self) -> bool:
        """Whether the labels hardly determine the prevalence."""

    @property
    def shapes(self) -> Sequence[ShapeShare]:
        """The shapes of the class that the answer is an average of; empty if it is no average."""
        return ()

    @property
    @abstractmethod
    def undetermined(self) -> bool:
        """Whether intervals of single groups would not hold."""

    @property
    def misfits(self) -> list[Misfit]:
        """What the labels say of the model itself; nothing where a posterior averages models."""
        return []

    @property
    @abstractmethod
    def profile(self) -> Profile | None:
        """Profile likelihood of the prevalence; None for a posterior."""
