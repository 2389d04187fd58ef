"""Makes census_formatN.dlm, with rows and their predictions. Run once per format, never again."""

from pathlib import Path

from doublelogit import Roles, TableClassifier
from doublelogit.common.archive import FORMAT
from doublelogit.datasets import load_census


def main():
    here = Path(__file__).parent
    census = load_census(n_rows=2000)
    roles = Roles("on_record", id="person", propensity_features=census.drivers)
    model = TableClassifier(roles).fit(census.frame)
    model.save(here / f"census_format{FORMAT}.dlm")
    census.frame.head(50).to_csv(here / "census_rows.csv", index=False)
    model.predict(here / "census_rows.csv").to_csv(here / "census_predictions.csv", index=False)


if __name__ == "__main__":
    main()
