"""Fit a table, save the model, load it elsewhere and predict."""

from pathlib import Path

import doublelogit
from doublelogit import Roles, TableClassifier

clinic = Path(__file__).parent / "clinic.csv"
roles = Roles(label="diagnosed", id="patient", ignore=["sick"], propensity_features=["distance"])
TableClassifier(roles).fit(clinic).save("clinic.dlm")

model = doublelogit.load("clinic.dlm")  # JSON and arrays: nothing in the file is executed
print(model.rank(clinic, top=5))
