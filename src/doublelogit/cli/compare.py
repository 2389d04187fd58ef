"""``doublelogit compare``: all methods side by side."""

from doublelogit.cli import options
from doublelogit.cli.options import Common, on_table

EXAMPLE = "Example: [bold]doublelogit compare patients.csv --label diagnosed --id patient[/bold]"


@on_table()
def compare(
    table: options.TablePath,
    common: Common,
    label_model: options.LabelModel = options.ANY_SHAPE,
    seed: options.Seed = 0,
    resamples: options.Resamples = None,
) -> None:
    """Fit all methods; show prevalence, likelihood of held-out labels, and whether they agree."""
    from doublelogit.cli.terminal import print_json, print_table, progress, say
    from doublelogit.report.comparison import compare_methods

    with progress(common.json, ("testing SCAR", "fitting")) as step:
        rows = common.table(table)
        comparison = compare_methods(
            rows,
            random_state=seed,
            n_resamples=resamples,
            parameters=common.known(),
            label_model=label_model,
            progress=step,
        )
    if common.json:
        print_json(comparison.to_dict())
        return
    print_table(
        ["method", "positive", "held-out", "difference", "s.e.", "ranks", "top 5%"],
        [
            [
                line.method,
                f"{line.prevalence:.1%}",
                f"{line.log_likelihood:.4f}",
                f"{line.difference:+.4f}",
                f"{line.standard_error:.4f}",
                f"{line.rank_correlation:.2f}",
                f"{line.same_top:.0%}",
            ]
            for line in comparison.lines
        ],
    )
    for finding in comparison.findings:
        say(finding.level, finding.text)
