"""Mechanisms: how labels may be given, in the order in which posteriors are explored."""

from doublelogit.averaged.mechanisms.at_random import AtRandom
from doublelogit.averaged.mechanisms.following import Following
from doublelogit.averaged.mechanisms.named import Named
from doublelogit.averaged.mechanisms.own_slopes import OwnSlopes
from doublelogit.averaged.mechanisms.protocol import Arguments, Mechanism, Odds
from doublelogit.averaged.mechanisms.sources import PAIRS, SHARED_EFFORT

# Labels at random come first: their posterior is where the search of others begins.
MECHANISMS: tuple[Mechanism, ...] = (
    AtRandom(),
    Following(),
    OwnSlopes(),
    Named(),
    PAIRS,
    SHARED_EFFORT,
)


def mechanism_named(name: str) -> Mechanism:
    """The mechanism of a name in ``evidence_`` or a model file."""
    for mechanism in MECHANISMS:
        if mechanism.name == name:
            return mechanism
    raise ValueError(f"there is no mechanism of labelling {name!r}. Upgrade doublelogit.")


__all__ = ["MECHANISMS", "Arguments", "Mechanism", "Odds", "mechanism_named"]
