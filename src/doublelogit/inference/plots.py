"""Pictures of a diagnosis."""

from typing import Any

import numpy as np

STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "legend.frameon": False,
}
BLUE, RED, GREY = "#0072B2", "#D55E00", "#999999"


def diagnosis_figure(diagnosis: Any) -> Any:
    """All findings on one page of six panels."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 5.0), layout="constrained")
        axes = figure.subplots(2, 3)
        for ax, draw in zip(axes.flat, PANELS, strict=True):
            draw(ax, diagnosis)
    return figure


def plot_profile(ax: Any, diagnosis: Any) -> None:
    """Profile likelihood of the prevalence, with what fits within two units."""
    found = diagnosis.profile
    low, high = found.within(2.0)
    ax.axvspan(low, high, color=BLUE, alpha=0.12, lw=0)
    ax.plot(found.prevalence, -found.drop, "o-", ms=2.5, lw=1.2, color=BLUE)
    ax.axhline(-2, color=GREY, lw=0.8, ls="--")
    ax.axvline(found.bounds[0], color=GREY, lw=0.8)
    middle = float(np.mean(ax.get_ylim()))
    ax.text(found.bounds[0], middle, "labelled share", fontsize=7, color=GREY, rotation=90)
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
    ax.axhline(1e-4, color=RED, lw=0.8, ls="--")
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
    """Chances of a label, of labelled rows and of the others."""
    bins = np.linspace(0, 1, 31)
    for value, name, tint in ((0, "unlabelled", GREY), (1, "labelled", BLUE)):
        chances = diagnosis.label_chance[diagnosis.labelled == value]
        ax.hist(chances, bins, density=True, alpha=0.6, color=tint, label=name)
    ax.legend()
    ax.set(title="Do labelled rows stand apart", xlabel="chance of a label, s(x)", ylabel="density")


def plot_propensity(ax: Any, diagnosis: Any) -> None:
    """Chances of a positive to be labelled."""
    ax.hist(diagnosis.propensity, np.linspace(0, 1, 31), color=BLUE)
    ax.axvline(0.05, color=RED, lw=0.8, ls="--")
    ax.set(title="Who gets a label", xlabel="propensity e(x)", ylabel="rows")


PANELS = (plot_profile, plot_starts, plot_overlap, plot_flatness, plot_flattest, plot_propensity)
