"""Models of the class and of the labelling of a table: lines, splines, boosted trees.

A spline is further features of a column, which every method takes. Trees are added to a
spline by classifiers of their own. Names and features are settled here; nothing is fitted.
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
        return method.bends[wanted[0]]

    def at_width(self, method: Method, encoding: TableEncoding) -> Method:
        """The method for the features of an encoding; only lines have another for wide tables."""
        lines = self._both == (LINEAR, LINEAR)
        return method.at_width(len(encoding.names)) if lines else method

    @property
    def smooth(self) -> "Learners":
        """These learners, with splines in the place of trees."""
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
        settings: dict[str, Any] = {}
        if encoding.curves and LINEAR in self._both:
            settings["smooth_features"] = list(encoding.curves)
        if BOOSTING in self._both:
            models = ("outcome", "propensity")
            boosted = [name for name in models if vars(self)[name] == BOOSTING]
            settings["trees_of"] = "both" if len(boosted) == 2 else boosted[0]
            settings["categorical_features"] = list(encoding.codes)
            settings["tree_features"] = self._tree_features(encoding, roles)
        return settings

    def _labelling(self, encoding: TableEncoding, roles: Roles) -> tuple[str, ...]:
        """Columns named for labelling, along which the class is no more than a straight line.

        Labels show the product of class and labelling. A bend of the class along a column of both
        would make up for whatever labelling is not: where hardly anything is labelled, any class
        fits. If all columns are named, nothing tells them apart, and all may bend.
        """
        named = tuple(roles.propensity_features or ())
        every = {column.name for column in encoding.used}
        return () if every <= set(named) else named

    def _tree_features(self, encoding: TableEncoding, roles: Roles) -> list[str]:
        """Numbers as they are, and of categories levels, which need no indicators."""
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
            for name in ((column.code,) if isinstance(column, Coded) else plain[column.name])
        ]


STRAIGHT = Learners()
