"""Growing columns of numbers, kept flat so that a hundred thousand tokens cost megabytes and not objects."""

from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
Int8Array = npt.NDArray[np.int8]
UInt8Array = npt.NDArray[np.uint8]
Int32Array = npt.NDArray[np.int32]
Float64Array = npt.NDArray[np.float64]
Float32Array = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]

_Number = TypeVar("_Number", bound=np.number[Any])


class Column(Generic[_Number]):
    """An append-only array of one type; appending is amortised O(1)."""

    def __init__(self, kind: type[_Number]) -> None:
        self._data: npt.NDArray[_Number] = np.empty(256, dtype=kind)
        self._length = 0

    def append(self, value: float) -> None:
        """Add one value at the end."""
        if self._length == len(self._data):
            self._data = np.concatenate([self._data, np.empty_like(self._data)])
        self._data[self._length] = value
        self._length += 1

    def extend(self, values: "npt.NDArray[np.generic] | list[int]") -> None:
        """Add many values at the end; shape (m,)."""
        length = self._length + len(values)
        if length > len(self._data):
            grown = np.empty(max(length, 2 * len(self._data)), dtype=self._data.dtype)
            grown[: self._length] = self._data[: self._length]
            self._data = grown
        self._data[self._length : length] = values
        self._length = length

    def put(self, place: int, value: float) -> None:
        """Change the value at ``place``, from 0."""
        self._data[: self._length][place] = value

    @property
    def values(self) -> npt.NDArray[_Number]:
        """The values so far, shape (n,), as a read-only view that the next append may leave behind."""
        view = self._data[: self._length]
        view.flags.writeable = False
        return view

    def __len__(self) -> int:
        return self._length


class Series(Column[np.int64]):
    """A column of whole numbers, such as nanoseconds."""

    def __init__(self) -> None:
        super().__init__(np.int64)
