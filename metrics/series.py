"""A growing column of integers, kept flat so that a hundred thousand tokens cost megabytes and not objects."""

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]


class Series:
    """An append-only int64 array; appending is amortised O(1)."""

    def __init__(self) -> None:
        self._data: Int64Array = np.empty(256, dtype=np.int64)
        self._length = 0

    def append(self, value: int) -> None:
        """Add one value at the end."""
        if self._length == len(self._data):
            self._data = np.concatenate([self._data, np.empty_like(self._data)])
        self._data[self._length] = value
        self._length += 1

    @property
    def values(self) -> Int64Array:
        """The values so far, shape (n,), as a read-only view that the next append may leave behind."""
        view = self._data[: self._length]
        view.flags.writeable = False
        return view

    def __len__(self) -> int:
        return self._length
