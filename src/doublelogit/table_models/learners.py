"""What models the class and the labelling of a table: lines, splines, boosted trees, networks.

A spline is further features of a column, which every method takes. Trees and networks are added to
a spline by classifiers of their own. Names and features are settled here; nothing is fitted.
"""

from dataclasses import dataclass
from typing import Any

from doublelogit.exceptions import TableError
from doublelogit.findings import Finding
from doublelogit.findings.methods import learner_chosen, too_few_to_choose
from doublelogit.registry import (
    BENDING,
    BOOSTING,
    LEARNERS,
    LINEAR,
    METHODS,
    NETWORK,
    SPLINE,
    Method,
)
from doublelogit.tables import Roles, TableEncoding
from doublelogit.tables.expansion import Coded, Parts


@dataclass(frozen=True)
class Gain:
    """How much better than lines a learner foretells held-out labels, per row."""

    learner: str
    gain: float
    standard_error: float


@dataclass(frozen=True)
class LearnerChoice:
    """What ``learner="auto"`` has chosen, and how each learner compares with lines."""

    learner: str
    gains: tuple[Gain, ...]

    @property
    def finding(self) -> Finding:
        """The choice in words."""
        if not self.gains:
            return too_few_to_choose()
        gains = [(gain.learner, gain.gain, gain.standard_error) for gain in self.gains]
        return learner_chosen(self.learner, gains)

    @classmethod
    def from_state(cls, state: dict[str, Any] | None) -> "LearnerChoice | None":
        """The choice that a file has kept."""
        if state is None:
            return None
        return cls(state["learner"], tuple(Gain(**gain) for gain in state["gains"]))


@dataclass(frozen=True)
class Learners:
    """What models the class, and what the labelling."""

    outcome: str = LINEAR
    propensity: str = LINEAR

    def check(self) -> "Learners":
        """These learners, if there are such."""
        for name, value in (("learner", self.outcome), ("propensity_learner", self.propensity)):
            if value not in LEARNERS:
                raise TableError(f"`{name}` must be one of {', '.join(LEARNERS)}; got {value!r}.")
        return self

    @property
    def _both(self) -> tuple[str, str]:
        return self.outcome, self.propensity

    @property
    def _bending(self) -> list[str]:
        """Learners among these that need a classifier of their own."""
        return [name for name in self._both if name in BENDING]

    def _served_by(self, method: Method) -> bool:
        """Whether a method has classifiers for these learners."""
        labelling = self.propensity not in BENDING or method.bends_labelling
        return labelling and all(name in method.bends for name in self._bending)

    def asked(self, method: Method) -> Method:
        """The method asked for, or its stand-in if it lacks these learners."""
        if self._served_by(method) or method.stand_in is None:
            return method
        return METHODS[method.stand_in]

    def method(self, method: Method) -> Method:
        """The method with the classifier of these learners."""
        wanted = self._bending
        if not wanted:
            return method
        if not self._served_by(method):
            able = [other.name for other in METHODS.values() if other.bends]
            raise TableError(
                f"`learner` {wanted[0]} is fitted by the likelihood of the labels, so `method` "
                f"must be one of {', '.join(able)}; got {method.name!r}."
            )
        if len(set(wanted)) > 1:
            raise TableError(
                f"`learner` and `propensity_learner` are fitted together: trees go with trees, "
                f"networks with networks, and either with linear or spline; got {wanted[0]} and "
                f"{wanted[1]}."
            )
        return method.bends[wanted[0]]

    @property
    def smooth(self) -> "Learners":
        """These learners, with splines in the place of trees and networks."""
        return Learners(*(LINEAR if name == LINEAR else SPLINE for name in self._both))

    def expanded(self, encoding: TableEncoding, parts: Parts, roles: Roles) -> TableEncoding:
        """An encoding with what the learners need beyond plain features."""
        if self._both != (LINEAR, LINEAR):
            straight = self._labelling(encoding, roles) if self.propensity == LINEAR else ()
            encoding = encoding.with_curves(parts, straight)
        return encoding.with_codes() if BOOSTING in self._both else encoding

    def features(self, encoding: TableEncoding) -> dict[str, TableEncoding]:
        """Features of each model before trees bend it: plain ones, and curves unless linear."""
        models = {"outcome_features": self.outcome, "propensity_features": self.propensity}
        bent = encoding.without_codes
        return {name: encoding.plain if who == LINEAR else bent for name, who in models.items()}

    def settings(self, encoding: TableEncoding, roles: Roles) -> dict[str, Any]:
        """Parameters of classifiers that take curves or trees."""
        found: dict[str, Any] = {}
        if encoding.curves and LINEAR in self._both:
            found["smooth_features"] = list(encoding.curves)
        if BOOSTING in self._both:
            found["trees_of"] = self._which(BOOSTING)
            found["categorical_features"] = list(encoding.codes)
            found["tree_features"] = self._features_of(encoding, roles, codes=True)
        if NETWORK in self._both:
            found["network_of"] = self._which(NETWORK)
            found["network_features"] = self._features_of(encoding, roles, codes=False)
        return found

    def _labelling(self, encoding: TableEncoding, roles: Roles) -> tuple[str, ...]:
        """Columns named for labelling, along which the class is no more than a straight line.

        Labels show the product of class and labelling. A bend of the class along a column of both
        would make up for whatever labelling is not: where hardly anything is labelled, any class
        fits. If all columns are named, nothing tells them apart, and all may bend.
        """
        named = tuple(roles.propensity_features or ())
        every = {column.name for column in encoding.used}
        return () if every <= set(named) else named

    def _which(self, learner: str) -> str:
        """Which of the models a learner is."""
        which = [name for name in ("outcome", "propensity") if vars(self)[name] == learner]
        return "both" if len(which) == 2 else which[0]

    def _features_of(self, encoding: TableEncoding, roles: Roles, codes: bool) -> list[str]:
        """Numbers as they are, and of categories levels (which need no indicators) or these."""
        allowed, left_out = roles.outcome_features, self._labelling(encoding, roles)
        columns = [
            column
            for column in encoding.columns
            if (allowed is None or column.name in allowed) and column.name not in left_out
        ]
        plain = {column.name: column.names for column in encoding.plain.columns}
        return [
            name
            for column in columns
            for name in (
                (column.code,) if codes and isinstance(column, Coded) else plain[column.name]
            )
        ]


LINES = Learners()
