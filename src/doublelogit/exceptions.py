"""Warnings that a user may want to tell apart."""


class LabelOrderWarning(UserWarning):
    """The labels do not say which of them means labelled, and ``pos_label`` was not given."""


class SeparationWarning(UserWarning):
    """Labelled and unlabelled rows are separable and nothing bounds the coefficients."""


class OrientationWarning(UserWarning):
    """Nothing tells the model of the class from the model of the label clearly enough."""


class BootstrapWarning(UserWarning):
    """Some resamples could not be fitted and were left out."""


class WeakIdentificationWarning(UserWarning):
    """The labels hardly determine the prevalence, so that an interval is not to be relied on."""


class MisfitWarning(UserWarning):
    """The labels speak against the model, so that its numbers may be wrong beyond their errors."""


class TableError(ValueError):
    """A table, a column or its values are not what was said of them."""


class SheetError(TableError):
    """The sheet of an audit is none, or its chances and classes cannot all be true."""


class UsageError(ValueError):
    """What was asked for cannot be done whatever the table, such as writing onto what is read."""


class ModelFileError(ValueError):
    """A model file is damaged, altered, of a newer release, or no model file at all."""


class FileChangedError(OSError):
    """A file was changed or replaced while it was being read in several passes."""


class ClusterLostError(ConnectionError):
    """The scheduler or the workers of a Dask cluster were lost in the middle of the work."""


class TableWarning(UserWarning):
    """A table is doubtful, or new rows differ from those of fit: columns absent, new levels."""
