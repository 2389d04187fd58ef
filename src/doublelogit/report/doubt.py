"""How far an answer hangs on its method and its model: what a page claims, what others say."""

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from doublelogit.common.thresholds import ANOTHER_LIST, ANOTHER_PRECISION, BEYOND, CLEARLY_BETTER
from doublelogit.inference.misfit import Misfit, worst_misfit
from doublelogit.registry import CAUTIOUS
from doublelogit.report.answers import Answer
from doublelogit.report.claims import LEVEL, Claim, claim_of
from doublelogit.report.drivers import Coefficient, turned_round
from doublelogit.report.flexible import CURVES, Flexible
from doublelogit.report.opinions import FirstRows, Opinion
from doublelogit.report.residuals import Residuals


@dataclass(frozen=True)
class Doubt:
    """Opinions on the answer of a page."""

    main: Answer
    own: Opinion
    first: FirstRows
    methods: list[Opinion]
    flexible: list[Flexible]
    misfits: list[Misfit]
    residuals: Residuals | None
    drivers: list[Coefficient] = field(default_factory=list)  # of labelling, if settled

    @cached_property
    def claim(self) -> Claim:
        """The precision of the first rows, with an interval over methods and models."""
        others = [*self.methods, *(f.opinion for f in self.flexible)]
        return claim_of(self.own, others, len(self.first.rows))

    @property
    def bent(self) -> Flexible | None:
        """The flexible class that predicts labels best."""
        return max(self.flexible, key=lambda f: f.better, default=None)

    @property
    def broken(self) -> Flexible | None:
        """A flexible class that is clearly better and gives another answer."""
        better = [f for f in self.flexible if f.better > CLEARLY_BETTER and self.differs(f.opinion)]
        return max(better, key=lambda f: f.better, default=None)

    @property
    def survives(self) -> bool:
        """Whether a flexible class was tried and gives the same answer."""
        return self.broken is None and self.bent is not None and not self.differs(self.bent.opinion)

    @property
    def curves(self) -> Flexible | None:
        """The class of smooth curves."""
        return next((f for f in self.flexible if f.opinion.name == CURVES), None)

    @property
    def turned(self) -> list[str]:
        """Drivers of labelling whose direction a class of curves turns round."""
        return [] if self.curves is None else turned_round(self.drivers, self.curves.labelling)

    def differs(self, opinion: Opinion) -> bool:
        """Whether an opinion is another answer: another share, list or precision."""
        return (
            self._outside(opinion, 0.0)
            or opinion.overlap < ANOTHER_LIST
            or abs(opinion.precision - self.own.precision) > ANOTHER_PRECISION
        )

    @property
    def dissenters(self) -> list[Opinion]:
        """Cautious opinions whose prevalence is clearly beyond the interval."""
        said = [o for o in self.methods if o.name in CAUTIOUS[:1]]
        said += [] if self.curves is None else [self.curves.opinion]
        return [o for o in said if self._outside(o, BEYOND)]

    @property
    def worst_misfit(self) -> Misfit | None:
        """What of the model the labels speak against most."""
        return worst_misfit(self.misfits)

    def _outside(self, opinion: Opinion, margin: float) -> bool:
        if self.main.low is None or self.main.high is None:
            return abs(opinion.prevalence - self.main.value) > BEYOND + margin
        low, high = self.main.low - margin, self.main.high + margin
        return not low <= opinion.prevalence <= high


def doubt_numbers(doubt: Doubt) -> dict[str, Any]:
    """All opinions as the page shows them: methods, then flexible classes with their gain."""
    better = {f.opinion.name: {"gain": f.gain, "error": f.error} for f in doubt.flexible}
    said = [doubt.own, *doubt.methods, *(f.opinion for f in doubt.flexible)]
    nothing = {"gain": None, "error": None}
    astray = doubt.residuals
    return {
        "claim": {**asdict(doubt.claim), "level": LEVEL},
        "opinions": [asdict(o) | better.get(o.name, nothing) for o in said],
        "misfits": [asdict(m) for m in doubt.misfits if m.rejects],
        "residuals": None if astray is None else asdict(astray),
    }
