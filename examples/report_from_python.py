"""From a table to a report, in Python."""

from pathlib import Path

from doublelogit import Roles, TableClassifier

clinic = Path(__file__).parent / "clinic.csv"
roles = Roles(
    label="diagnosed",
    id="patient",
    by="smoker",
    propensity_features=["distance"],  # the far away are diagnosed less often
    ignore=["sick"],  # the truth, which you would not have
)
model = TableClassifier(roles).fit(clinic)
report = model.report(clinic, source="clinic.csv", n_resamples=39)
for finding in report.findings:
    print(finding)
report.write_html("clinic-report.html")
