"""Batches and tensors of the shim, as a binding would have them: capsules, __dlpack__, and who ends what."""
import ctypes
from ctypes import CDLL, c_char_p, c_int, c_int64, c_uint64, c_void_p, py_object, pythonapi

# Capsules keep the pointers to their names: these live as long as the program.
VERSIONED, UNVERSIONED = b"dltensor_versioned", b"dltensor"
USED = {VERSIONED: b"used_dltensor_versioned", UNVERSIONED: b"used_dltensor"}


def function(library, name, result, *arguments):
    f = getattr(library, name)
    f.restype, f.argtypes = result, arguments
    return f


new_capsule = function(pythonapi, "PyCapsule_New", py_object, c_void_p, c_char_p, c_void_p)
set_name = function(pythonapi, "PyCapsule_SetName", c_int, py_object, c_char_p)
pointer_in = function(pythonapi, "PyCapsule_GetPointer", c_void_p, py_object, c_char_p)
is_named = function(pythonapi, "PyCapsule_IsValid", c_int, py_object, c_char_p)


class ShimError(Exception):
    pass


class Shim:
    def __init__(self, path):
        lib = CDLL(path)
        for name, result, *arguments in [
            ("last_error", c_char_p),
            ("loader_of_numbers", c_void_p, c_uint64, c_uint64, ctypes.c_uint),
            ("loader_of_tensor", c_void_p, c_void_p, c_uint64),
            ("loader_end", None, c_void_p),
            ("loader_next", c_void_p, c_void_p),
            ("batch_end", None, c_void_p),
            ("batch_index", c_int64, c_void_p, c_uint64),
            ("batch_versioned", c_void_p, c_void_p, c_char_p, c_int),
            ("batch_unversioned", c_void_p, c_void_p, c_char_p),
            ("capsules_unused", c_int64),
            ("import_versioned", c_void_p, c_void_p),
            ("import_unversioned", c_void_p, c_void_p),
            ("tensor_end", None, c_void_p),
            ("tensor_data", c_void_p, c_void_p),
            ("tensor_dtype", c_char_p, c_void_p),
            ("tensor_rank", c_int, c_void_p),
            ("tensor_dim", c_int64, c_void_p, c_int),
            ("tensor_on_host", c_int, c_void_p),
            ("tensor_read_only", c_int, c_void_p),
        ]:
            setattr(self, name, function(lib, name, result, *arguments))
        self.capsule_end = ctypes.cast(lib.capsule_end, c_void_p)

    def need(self, pointer):
        if not pointer:
            raise ShimError(self.last_error().decode())
        return pointer


class Batch:
    def __init__(self, shim, pointer):
        self.shim, self.pointer = shim, pointer

    def __del__(self):
        self.end()

    def end(self):
        if self.pointer:
            self.shim.batch_end(self.pointer)
            self.pointer = None

    def indices(self, rows):
        return [self.shim.batch_index(self.pointer, row) for row in range(rows)]

    def field(self, name, versioned=True, read_only=False):
        return Field(self, name, versioned, read_only)


class Field:
    """What from_dlpack takes. `asked` is what the consumer asked for last."""

    def __init__(self, batch, name, versioned, read_only):
        self.batch, self.name, self.versioned, self.read_only = batch, name.encode(), versioned, read_only
        self.asked = None

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.asked = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        if stream is not None or copy or dl_device not in (None, (1, 0)):
            raise BufferError("a batch on the host is lent as it is")
        shim, batch = self.batch.shim, self.batch.pointer
        if self.versioned and max_version is not None and max_version[0] >= 1:
            name, tensor = VERSIONED, shim.need(shim.batch_versioned(batch, self.name, int(self.read_only)))
        else:
            name, tensor = UNVERSIONED, shim.need(shim.batch_unversioned(batch, self.name))
        return new_capsule(tensor, name, shim.capsule_end)


class Loader:
    def __init__(self, shim, pointer):
        self.shim, self.pointer = shim, shim.need(pointer)

    def __del__(self):
        self.end()

    def end(self):
        if getattr(self, "pointer", None):
            self.shim.loader_end(self.pointer)
            self.pointer = None

    def next(self):
        batch = self.shim.loader_next(self.pointer)
        if not batch:
            if self.shim.last_error():
                raise ShimError(self.shim.last_error().decode())
            return None
        return Batch(self.shim, batch)

    def __iter__(self):
        while (batch := self.next()) is not None:
            yield batch


class Tensor:
    """An array of another library, imported."""

    def __init__(self, shim, capsule):
        self.shim, self.pointer = shim, None
        name = next(n for n in USED if is_named(capsule, n))
        managed = pointer_in(capsule, name)
        set_name(capsule, USED[name])  # it is the shim's from here on, whatever comes
        take = shim.import_versioned if name == VERSIONED else shim.import_unversioned
        self.pointer = shim.need(take(managed))

    def __del__(self):
        self.end()

    def end(self):
        if self.pointer:
            self.shim.tensor_end(self.pointer)
            self.pointer = None

    def give(self):
        pointer, self.pointer = self.pointer, None
        return pointer

    def shape(self):
        return tuple(self.shim.tensor_dim(self.pointer, axis) for axis in range(self.shim.tensor_rank(self.pointer)))
