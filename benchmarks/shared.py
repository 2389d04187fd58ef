"""What several simulation studies need."""

from doublelogit.core.likelihood import sigmoid


def chance(logit):
    """The logistic function (scipy's does not travel to worker processes from a script)."""
    return sigmoid(logit).p


def measured(interval, truth, level):
    """Whether an interval covers, its width, and its score (Gneiting & Raftery)."""
    low, high = interval
    miss = max(low - truth, truth - high, 0.0)
    score = high - low + 2 / (1 - level) * miss
    return {"covers": miss == 0, "width": high - low, "score": score}
