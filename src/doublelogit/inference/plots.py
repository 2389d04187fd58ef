"""Pictures of a diagnosis."""

from typing import Any

import numpy as np

from doublelogit.common.extras import needs
from doublelogit.common.thresholds import FITS_UNITS, FLAT, RARE_PROPENSITY
from doublelogit.estimators.plots import posterior_of_prevalence

STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "legend.frameon": False,
}
BLUE, RED, GREY = "#0072B2", "#D55E00", "#999999"


def likelihood_figure(diagnosis: Any) -> Any:
    """All findings at a maximum of the likelihood, on one page of six panels."""
    return _figure(diagnosis, LIKELIHOOD_PANELS, (2, 3), (9.0, 5.0))


def posterior_figure(diagnosis: Any) -> Any:
    """All findings in a posterior, on one page of three panels."""
    return _figure(diagnosis, POSTERIOR_PANELS, (1, 3), (9.0, 2.7))


def _figure(diagnosis: Any, panels: Any, shape: tuple[int, int], size: tuple[float, float]) -> Any:
    needs("matplotlib", "a picture", "report")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        axes = np.atleast_2d(figure.subplots(*shape))
        for ax, draw in zip(axes.flat, panels, strict=True):
            draw(ax, diagnosis)
    return figure


def plot_posterior(ax: Any, diagnosis: Any) -> None:
    """Posterior of the prevalence, by what is assumed of the labelling."""
    posterior_of_prevalence(diagnosis.mixture, ax, 0.95)


def plot_profile(ax: Any, diagnosis: Any) -> None:
    """Profile likelihood of the prevalence, with what fits within two units."""
    profile = diagnosis.profile
    for low, high in profile.fitting(FITS_UNITS):
        ax.axvspan(low, high, color=BLUE, alpha=0.12, lw=0)
    ax.plot(profile.prevalence, -profile.drop, "o-", ms=2.5, lw=1.2, color=BLUE)
    ax.axhline(-FITS_UNITS, color=GREY, lw=0.8, ls="--")
    ax.axvline(profile.bounds[0], color=GREY, lw=0.8)
    middle = float(np.mean(ax.get_ylim()))
    ax.text(profile.bounds[0], middle, "labelled share", fontsize=7, color=GREY, rotation=90)
    ax.set(title="Which prevalences fit", xlabel="prevalence", ylabel="log-likelihood, best = 0")


def plot_starts(ax: Any, diagnosis: Any) -> None:
    """Where the starts end: one cluster at zero is what one hopes for."""
    ax.plot(diagnosis.start_prevalence, -diagnosis.start_drop, "o", color=BLUE, alpha=0.6)
    ax.set(
        title="Where the starts lead",
        xlabel="prevalence of the optimum",
        ylabel="log-likelihood, best = 0",
        xlim=(0, 1),
        ylim=(min(-3.0, -1.1 * diagnosis.start_drop.max()), 0.3),
    )


def plot_flatness(ax: Any, diagnosis: Any) -> None:
    """Eigenvalues of the information."""
    values = np.maximum(diagnosis.eigenvalues, 1e-12)
    ax.bar(np.arange(len(values)), values / values[-1], color=BLUE)
    ax.axhline(FLAT, color=RED, lw=0.8, ls="--")
    ax.set(
        yscale="log",
        title="Curvature by direction",
        xlabel="direction",
        ylabel="relative to largest",
    )


def plot_flattest(ax: Any, diagnosis: Any) -> None:
    """What the flattest direction moves."""
    names, shares = zip(*diagnosis.flattest[:8][::-1], strict=True)
    ax.barh(names, shares, color=[RED if share < 0 else BLUE for share in shares])
    ax.axvline(0, color="black", lw=0.8)
    ax.set(title="The flattest direction moves", xlabel="share")


def plot_overlap(ax: Any, diagnosis: Any) -> None:
    """Probability of a label, of labelled rows and of the others."""
    bins = np.linspace(0, 1, 31)
    for value, name, tint in ((0, "unlabelled", GREY), (1, "labelled", BLUE)):
        label = diagnosis.rows.label[diagnosis.rows.labelled == value]
        ax.hist(label, bins, density=True, alpha=0.6, color=tint, label=name)
    ax.legend()
    ax.set(
        title="Do labelled rows stand apart",
        xlabel="probability of a label, s(x)",
        ylabel="density",
    )


def plot_propensity(ax: Any, diagnosis: Any) -> None:
    """Propensities of the rows."""
    ax.hist(diagnosis.rows.propensity, np.linspace(0, 1, 31), color=BLUE)
    ax.axvline(RARE_PROPENSITY, color=RED, lw=0.8, ls="--")
    ax.set(title="Who gets a label", xlabel="propensity e(x)", ylabel="rows")


LIKELIHOOD_PANELS = (
    plot_profile,
    plot_starts,
    plot_overlap,
    plot_flatness,
    plot_flattest,
    plot_propensity,
)
POSTERIOR_PANELS = (plot_posterior, plot_overlap, plot_propensity)
