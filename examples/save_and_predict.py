"""Fit a table, save the model, load it elsewhere and predict."""

from pathlib import Path

import doublelogit
from doublelogit import Roles, fit_table

here = Path(__file__).parent
roles = Roles(label="diagnosed", id="patient", ignore=("sick",), propensity_features=("distance",))
fit_table(here / "clinic.csv", roles).save("clinic.dlm")

model = doublelogit.load("clinic.dlm")  # JSON and arrays: nothing in the file is executed
predictions = model.predict(here / "clinic.csv")
print(predictions.sort_values("hidden", ascending=False).head())
