"""From a table to a report, in Python."""

from pathlib import Path

from doublelogit import Roles, read_table
from doublelogit.report import analyse, summarise, write_report
from doublelogit.tables import prepare

here = Path(__file__).parent
roles = Roles(
    label="diagnosed",
    id="patient",
    by="smoker",
    propensity_features=("distance",),  # the far away are diagnosed less often
    ignore=("sick",),  # the truth, which you would not have
)
table = prepare(read_table(here / "clinic.csv"), roles)
analysis = analyse(table, method="joint", n_resamples=39)
summary = summarise(analysis, source="clinic.csv")
for sentence in summary["verdict"]:
    print(f"{sentence['level']:9} {sentence['text']}")
write_report(summary, "clinic-report.html")
