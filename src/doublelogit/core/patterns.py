"""Which sources label a positive: laws of the patterns of their labels, given b_j = x'gamma_j.

A positive row is labelled by some of m sources, s = (s_1, ..., s_m). Two laws say how likely each
pattern is; both are independent sources where their dependence is zero.

    pairs          P(s | Y=1, x) proportional to exp(sum_j s_j b_j + sum_{j<k} lambda_jk s_j s_k
                   + sum_{j<k<l} lambda_jkl s_j s_k s_l)
    shared effort  P(s | Y=1, x) = E prod_j sigma(b_j + u)^{s_j} (1 - sigma(b_j + u))^{1 - s_j},
                   u ~ N(0, exp(2 phi)): some positives are easier to find for every source

A row counts by the pattern of its labels given that there is one, which is free of y(x); a source
that did not look at a row is summed over. 1 - p*(x) is the chance that no source labels a positive.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp

from doublelogit._types import Floats

POINTS = 21  # of the rule of Gauss and Hermite, for a common effect
MOST_SOURCES = 6  # 63 patterns


class PatternLoss(NamedTuple):
    """Minus the log-likelihood of the patterns of some rows, with derivatives by b and phi.

    Those by the parameters that rows share are summed over rows by their weights, as the value is.
    """

    value: float
    d_b: Floats  # (n, m)
    d_phi: Floats  # (k,)
    h_bb: Floats  # (n, m, m)
    h_bphi: Floats  # (n, m, k)
    h_phi: Floats  # (k, k)


class Law(Protocol):
    """How likely each pattern of labels is for a positive row."""

    @property
    def n_sources(self) -> int: ...
    @property
    def size(self) -> int:
        """Number of parameters phi of dependence."""

    def loss(
        self, s: Floats, b: Floats, phi: Floats, weight: Floats, curved: bool = True
    ) -> PatternLoss:
        """Loss of the patterns of labelled rows, given that they are labelled.

        Unless ``curved``, second derivatives are left at zero.
        """

    def log_none(self, b: Floats, phi: Floats, seen: Floats) -> Floats:
        """log(1 - p*): that none of the sources that look at a row labels it, were it positive."""

    def none_slopes(self, b: Floats, phi: Floats, seen: Floats) -> tuple[Floats, Floats, Floats]:
        """log(1 - p*) and its derivatives by b, (n, m), and by phi, (n, k)."""

    def each(self, b: Floats, phi: Floats) -> Floats:
        """P(S_j=1 | Y=1, x) of every source, (n, m)."""


@dataclass(frozen=True)
class Pairs:
    """Log-linear patterns: log odds ratios lambda of pairs of sources and, if so, of triples."""

    n_sources: int
    triples: bool = False

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The sources of each parameter of dependence, pairs first."""
        numbers = range(self.n_sources)
        three = tuple(combinations(numbers, 3)) if self.triples else ()
        return (*combinations(numbers, 2), *three)

    @property
    def size(self) -> int:
        return len(self.groups)

    @cached_property
    def patterns(self) -> Floats:
        """All patterns of labels, (2^m, m), the empty one first."""
        return np.array(list(product((0.0, 1.0), repeat=self.n_sources)))

    @cached_property
    def together(self) -> Floats:
        """Whether a pattern has all labels of a group, (2^m, groups)."""
        columns = [self.patterns[:, list(group)].prod(axis=1) for group in self.groups]
        return np.column_stack(columns) if columns else np.zeros((len(self.patterns), 0))

    def loss(
        self, s: Floats, b: Floats, phi: Floats, weight: Floats, curved: bool = True
    ) -> PatternLoss:
        seen, eta = ~np.isnan(s), self._logits(b, phi)
        agree = self._agreeing(s, seen)
        some = seen.astype(float) @ self.patterns.T > 0
        (log_some, among), (log_these, these) = (_shares(eta, kept) for kept in (some, agree))
        mean, m = among @ self._all - these @ self._all, self.n_sources
        value, grad = float(weight @ (log_some - log_these)), (mean[:, :m], weight @ mean[:, m:])
        if not curved:
            return PatternLoss(value, *grad, *_flat(len(s), m, self.size))
        moments = zip(self._moments(among, weight), self._moments(these, weight), strict=True)
        h_bb, h_bphi, h_phi = (first - second for first, second in moments)
        return PatternLoss(value, *grad, h_bb, h_bphi, h_phi)

    def log_none(self, b: Floats, phi: Floats, seen: Floats) -> Floats:
        return self.none_slopes(b, phi, seen)[0]

    def none_slopes(self, b: Floats, phi: Floats, seen: Floats) -> tuple[Floats, Floats, Floats]:
        eta = self._logits(b, phi)
        none = seen @ self.patterns.T == 0
        (log_none, among), (total, every) = (_shares(eta, kept) for kept in (none, none | True))
        slopes = (among - every) @ self._all
        m = self.n_sources
        return np.minimum(log_none - total, 0.0), slopes[:, :m], slopes[:, m:]

    def each(self, b: Floats, phi: Floats) -> Floats:
        eta = self._logits(b, phi)
        share = np.exp(eta - logsumexp(eta, axis=1, keepdims=True))
        return np.asarray(share @ self.patterns)

    @cached_property
    def _all(self) -> Floats:
        return np.hstack([self.patterns, self.together])

    def _logits(self, b: Floats, phi: Floats) -> Floats:
        return np.asarray(b @ self.patterns.T + self.together @ phi)

    def _agreeing(self, s: Floats, seen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The patterns that a row may have, by the sources that looked at it."""
        differs = np.where(seen, s, 0.0) @ (1 - self.patterns).T
        differs += np.where(seen, 1 - s, 0.0) @ self.patterns.T
        return np.asarray(differs == 0)

    def _moments(self, share: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
        """Covariances of labels, of labels with groups, and of groups summed over rows."""
        P, F = self.patterns, self.together
        p, f = share @ P, share @ F
        bb = (share @ _products(P, P)).reshape(-1, P.shape[1], P.shape[1])
        bf = (share @ _products(P, F)).reshape(-1, P.shape[1], F.shape[1])
        bb -= p[:, :, None] * p[:, None, :]
        bf -= p[:, :, None] * f[:, None, :]
        ff = F.T @ ((weight @ share)[:, None] * F) - f.T @ (weight[:, None] * f)
        return bb, bf, ff


@dataclass(frozen=True)
class SharedEffort:
    """A common effect among positives; phi is the logarithm of its standard deviation."""

    n_sources: int
    size: int = 1

    def loss(
        self, s: Floats, b: Floats, phi: Floats, weight: Floats, curved: bool = True
    ) -> PatternLoss:
        seen = ~np.isnan(s)
        these = self._expanded(np.where(seen, s, 0.0), seen, b, phi, curved)
        none = self._expanded(np.zeros_like(s), seen, b, phi, curved)
        # log(1 - exp(L0)) of the empty pattern, and its derivatives by L0
        some = np.maximum(-np.expm1(none.log), np.finfo(float).tiny)
        odds = np.exp(none.log) / some
        grad = -these.grad - odds[:, None] * none.grad
        value, m = float(weight @ (np.log(some) - these.log)), self.n_sources
        slopes = grad[:, :m], weight @ grad[:, m:]
        if not curved:
            return PatternLoss(value, *slopes, *_flat(len(s), m, 1))
        hess = -these.hess - odds[:, None, None] * none.hess
        square = none.grad[:, :, None] * none.grad[:, None, :]
        hess -= (odds * (1 + odds))[:, None, None] * square
        h_phi = np.reshape(weight @ hess[:, m, m], (1, 1))
        return PatternLoss(value, *slopes, hess[:, :m, :m], hess[:, :m, m:], h_phi)

    def log_none(self, b: Floats, phi: Floats, seen: Floats) -> Floats:
        effort, log_weight = effort_points(phi)
        each = log_expit(-(b[:, None, :] + effort[None, :, None]))
        log_none = np.einsum("nqm,nm->nq", each, seen)
        return np.asarray(logsumexp(log_none + log_weight, axis=1))

    def none_slopes(self, b: Floats, phi: Floats, seen: Floats) -> tuple[Floats, Floats, Floats]:
        none = self._expanded(np.zeros_like(b), seen != 0, b, phi, curved=False)
        return none.log, none.grad[:, :-1], none.grad[:, -1:]

    def each(self, b: Floats, phi: Floats) -> Floats:
        effort, log_weight = effort_points(phi)
        return np.einsum("nqm,q->nm", expit(b[:, None, :] + effort[:, None]), np.exp(log_weight))

    def _expanded(
        self, s: Floats, seen: NDArray[np.bool_], b: Floats, phi: Floats, curved: bool
    ) -> "_Expanded":
        """Log P(s) to second order in (b, phi)."""
        effort, log_weight = effort_points(phi)
        z = b[:, None, :] + effort[None, :, None]
        looked, p = seen[:, None, :], expit(z)
        log_p = np.where(looked, s[:, None, :] * z + log_expit(-z), 0.0).sum(axis=2) + log_weight
        total = logsumexp(log_p, axis=1, keepdims=True)
        share = np.exp(log_p - total)
        off = np.where(looked, s[:, None, :] - p, 0.0)
        grad = np.concatenate([off, (effort * off.sum(axis=2))[..., None]], axis=2)
        mean = np.einsum("nq,nqi->ni", share, grad)
        if not curved:
            return _Expanded(total[:, 0], mean, np.zeros((len(s), 0, 0)))
        bend = np.where(looked, -p * (1 - p), 0.0)
        hess = np.einsum("nq,nqi,nqj->nij", share, grad, grad, optimize=True)
        hess -= mean[:, :, None] * mean[:, None, :]
        own = np.einsum("nq,nqm->nm", share, bend)
        mixed = np.einsum("nq,nqm->nm", share * effort, bend)
        m = self.n_sources
        hess[:, np.arange(m), np.arange(m)] += own
        hess[:, :m, m] += mixed
        hess[:, m, :m] += mixed
        along = effort**2 * bend.sum(axis=2) + effort * off.sum(axis=2)
        hess[:, m, m] += np.einsum("nq,nq->n", share, along)
        return _Expanded(total[:, 0], mean, hess)


class _Expanded(NamedTuple):
    log: Floats
    grad: Floats
    hess: Floats


def effort_points(phi: Floats) -> tuple[Floats, Floats]:
    """Efforts at the points of a rule, and the logarithms of their weights."""
    points, weight = np.polynomial.hermite_e.hermegauss(POINTS)
    return np.exp(phi[0]) * points, np.log(weight / weight.sum())


def _flat(n: int, m: int, k: int) -> tuple[Floats, Floats, Floats]:
    """Second derivatives that were not asked for."""
    return np.zeros((n, m, m)), np.zeros((n, m, k)), np.zeros((k, k))


def _products(left: Floats, right: Floats) -> Floats:
    """Products of all pairs of columns, one line a pattern."""
    return np.einsum("si,sj->sij", left, right).reshape(len(left), -1)


def _shares(eta: Floats, kept: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Logarithm of the sum over some patterns, and the share of each in it."""
    inside = np.where(kept, eta, -np.inf)
    with np.errstate(invalid="ignore"):  # a row at which no source looked has no pattern
        total = logsumexp(inside, axis=1)
        share = np.exp(inside - total[:, None])
    return np.asarray(total), np.nan_to_num(share)


LAWS: dict[str, Callable[[int], Law]] = {
    "pairs": lambda m: Pairs(m, triples=m > 2),
    "shared effort": SharedEffort,
}


def law_named(name: str, n_sources: int) -> Law:
    """The law of a name in a model file, for some sources."""
    if name not in LAWS:
        raise ValueError(f"there is no law of label sources {name!r}. Upgrade doublelogit.")
    return LAWS[name](n_sources)
