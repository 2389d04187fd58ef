"""Classes that are not logistic: boosted trees beside, or within, the logistic methods."""
