"""Names for the array types that signatures speak of."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]

# Features of some rows: a dense array or a scipy CSR matrix. Only design.py looks inside.
Matrix: TypeAlias = Any

# One value per row, held by the engine that holds the rows: an array in memory, a file on disk,
# pieces on workers. Whoever is not the engine passes it on and does not look inside.
Column: TypeAlias = Any
