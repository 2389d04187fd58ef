"""Classes that are not logistic: trees and networks beside, or within, the logistic methods."""
