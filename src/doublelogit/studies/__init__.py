"""Studies: methods of others, the corpus and the experiments that compare them.

Nothing else of the library imports this package but ``doublelogit reproduce``. Importing it adds
its classifiers to the registry, so that their model files can be read.
"""

from doublelogit.studies import registry as registry
