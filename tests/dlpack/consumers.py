"""consumers.py SHIM: NumPy, and PyTorch where it is installed, read batches and are read, through capsules of both kinds."""
import gc
import sys
import weakref

import numpy as np

from penstock_shim import Loader, Shim, ShimError, Tensor

FIELDS = [("u8", (5, 3), "uint8"), ("i8", (2,), "int8"), ("u16", (3,), "uint16"), ("i16", (), "int16"),
          ("u32", (2,), "uint32"), ("i32", (4,), "int32"), ("u64", (1, 2), "uint64"), ("i64", (), "int64"),
          ("f16", (6,), "float16"), ("f32", (7,), "float32"), ("f64", (2, 2, 2), "float64"), ("bool", (9,), "bool")]
NAMES = {numpy: ours for ours, _, numpy in FIELDS}
RELEASE = tuple(int(n) for n in np.__version__.split(".")[:3] if n.isdigit())
VERSIONED = RELEASE >= (2, 1)
WRITES = RELEASE >= (2, 2, 5)  # those before take what they borrow for read-only always
shim = Shim(sys.argv[1])


def check(what, detail=""):
    if not what:
        raise AssertionError(detail)


def refused(f, *kinds):
    try:
        f()
    except kinds as error:
        return str(error)
    raise AssertionError("not refused")


def numbers(records=40, rows=8, depth=4):
    return Loader(shim, shim.loader_of_numbers(records, rows, depth))


def wanted(indices, number):
    """Field `number` of these records, as the shim's source makes it."""
    name, shape, dtype = FIELDS[number]
    count = int(np.prod(shape, dtype=np.int64))
    i = np.array(indices, dtype=np.int64)[:, None]
    values = (i * 31 + np.arange(count)[None, :] * 7 + number * 13) % 101
    if name == "bool":
        values = values % 2
    return values.astype(dtype).reshape((len(indices),) + shape)


def readable_by(old_numpy_too, name):
    return VERSIONED or (old_numpy_too and name != "bool")


def test_values(versioned):
    seen = []
    for batch in numbers():
        indices = batch.indices(8)
        seen += indices
        for number, (name, shape, dtype) in enumerate(FIELDS):
            if not readable_by(True, name):
                refused(lambda: np.from_dlpack(batch.field(name, versioned)), BufferError, RuntimeError)
                continue
            field = batch.field(name, versioned)
            array = np.from_dlpack(field)
            check(array.dtype == dtype and array.shape == (8,) + shape, f"{name}: {array.dtype}{array.shape}")
            check(array.flags.c_contiguous and array.flags.aligned)
            check(np.array_equal(array, wanted(indices, number)), name)
            check((field.asked["max_version"] is not None) == VERSIONED)
    check(sorted(seen) == list(range(40)), "every record once")


def test_lease(versioned):
    loader = numbers(depth=2)
    first, second = loader.next(), loader.next()
    indices = first.indices(8)
    x, y = (np.from_dlpack(first.field(name, versioned)) for name in ("f32", "u8"))
    part = y[2:5, 1]  # a view of NumPy's own
    first.end()
    refuse = lambda: check("leases_exhausted" in refused(loader.next, ShimError))
    refuse()
    del x
    refuse()
    del y
    refuse()
    check(np.array_equal(part, wanted(indices, 0)[2:5, 1]))
    del part
    gc.collect()
    third = loader.next()
    check(third is not None)
    # Ours outlives the loader, and goes last.
    x = np.from_dlpack(third.field("i64", versioned))
    indices = third.indices(8)
    third.end()
    second.end()
    loader.end()
    check(np.array_equal(x, wanted(indices, 7)))


def test_unused_capsules():
    loader = numbers(depth=2)
    held, batch = loader.next(), loader.next()
    before = shim.capsules_unused()
    capsules = [batch.field("f32", versioned).__dlpack__(max_version=(1, 0)) for versioned in (True, False)]
    batch.end()
    check("leases_exhausted" in refused(loader.next, ShimError))
    del capsules
    check(shim.capsules_unused() == before + 2)
    check(loader.next() is not None)
    held.end()
    check("schema_mismatch" in refused(lambda: loader.next().field("nothing").__dlpack__(), ShimError))


def test_writing():
    batch = numbers().next()
    array, again = (np.from_dlpack(batch.field("f32")) for _ in range(2))
    check(array.flags.writeable == WRITES)
    if not WRITES:
        return
    check(array.flags.writeable)
    array[3, 2] = -5
    check(again[3, 2] == -5, "one memory")
    fixed = np.from_dlpack(batch.field("f32", read_only=True))
    check(fixed[3, 2] == -5)
    check(not fixed.flags.writeable)
    refused(lambda: fixed.__setitem__((0, 0), 1), ValueError)


def capsules_of(array):
    out = []
    if VERSIONED:
        out.append(lambda: array.__dlpack__(max_version=(1, 0)))
    if array.flags.writeable and readable_by(True, NAMES[str(array.dtype)]):
        out.append(lambda: array.__dlpack__())
    return out


class Watched(np.ndarray):
    """An array that can be seen to end."""


def watched(values):
    array = np.ascontiguousarray(values).view(Watched)
    return array, weakref.ref(array)


def test_import():
    for number, (name, shape, dtype) in enumerate(FIELDS):
        values = wanted(range(6), number)
        for kind in range(2):
            array, alive = watched(values)
            makers = capsules_of(array)
            if kind >= len(makers):
                continue
            tensor = Tensor(shim, makers[kind]())
            check(shim.tensor_dtype(tensor.pointer).decode() == name, name)
            check(tensor.shape() == array.shape)
            check(shim.tensor_data(tensor.pointer) == array.ctypes.data)
            check(shim.tensor_on_host(tensor.pointer) == 1)
            check(shim.tensor_read_only(tensor.pointer) == 0)
            del array, makers
            gc.collect()
            check(alive() is not None, "kept")
            tensor.end()
            gc.collect()
            check(alive() is None, "let go")
    check(Tensor(shim, np.zeros((0, 3)).__dlpack__()).shape() == (0, 3))
    check(Tensor(shim, np.array(3.5).__dlpack__()).shape() == ())


def test_import_read_only():
    if not VERSIONED:
        return
    array = np.arange(4)
    array.flags.writeable = False
    tensor = Tensor(shim, array.__dlpack__(max_version=(1, 0)))
    check(shim.tensor_read_only(tensor.pointer) == 1)


def test_import_refused():
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    unaligned = np.zeros(17, dtype=np.uint8)[1:].view(np.float32)
    cases = [(whole.T, "contiguous"), (whole[:, ::2], "contiguous"), (whole[::-1], "contiguous"),
             (np.zeros(3, dtype=np.complex64), "dtype"), (np.zeros((1,) * 9), "dimensions"), (unaligned, "aligned")]
    for array, word in cases:
        array = array.view(Watched)
        alive = weakref.ref(array)
        try:
            capsule = array.__dlpack__()
        except BufferError:
            continue  # NumPy itself does not lend it
        text = refused(lambda: Tensor(shim, capsule), ShimError)
        check(word in text or word == "dtype" and "imported" in text, text)
        del capsule, array
        gc.collect()
        check(alive() is None, "let go where it was refused")


def test_there_and_back():
    """NumPy's rows are records of a loader whose batches are NumPy's."""
    values = np.random.default_rng(1).standard_normal((23, 3, 2))
    array, alive = watched(values)
    tensor = Tensor(shim, array.__dlpack__())
    loader = Loader(shim, shim.loader_of_tensor(tensor.give(), 5))
    del array
    gc.collect()
    got = np.concatenate([np.from_dlpack(batch.field("x")).copy() for batch in loader])
    check(np.array_equal(got, values))
    check(alive() is not None)
    loader.end()
    gc.collect()
    check(alive() is None)
    three = Tensor(shim, np.array(3.0).__dlpack__())
    check("invalid_argument" in refused(lambda: Loader(shim, shim.loader_of_tensor(three.give(), 5)), ShimError))


def test_torch(versioned):
    import torch

    for batch in numbers():
        indices = batch.indices(8)
        for number, (name, shape, _) in enumerate(FIELDS):
            try:
                tensor = torch.from_dlpack(batch.field(name, versioned))
            except (BufferError, RuntimeError) as error:
                check(name in ("u16", "u32", "u64", "bool"), f"{name}: {error}")  # older ones lack these
                continue
            check(tuple(tensor.shape) == (8,) + shape and tensor.is_contiguous(), name)
            check(np.array_equal(tensor.numpy(), wanted(indices, number)), name)
    loader = numbers(depth=2)
    held, batch = loader.next(), loader.next()
    tensor = torch.from_dlpack(batch.field("f32", versioned))
    batch.end()
    check("leases_exhausted" in refused(loader.next, ShimError))
    del tensor
    check(loader.next() is not None)
    held.end()
    lent = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    imported = Tensor(shim, lent.__dlpack__())
    check(imported.shape() == (3, 4) and shim.tensor_data(imported.pointer) == lent.data_ptr())


def main():
    kinds = [True, False] if VERSIONED else [False]
    print(f"NumPy {np.__version__}: " + ("versioned and unversioned capsules" if VERSIONED else "unversioned capsules"))
    tests = [(test_values, kinds), (test_lease, kinds), (test_unused_capsules, None), (test_writing, None),
             (test_import, None), (test_import_read_only, None), (test_import_refused, None), (test_there_and_back, None)]
    try:
        import torch

        print(f"PyTorch {torch.__version__}")
        tests.append((test_torch, [True, False]))
    except ImportError:
        print("SKIPPED in part: no PyTorch here")
    for test, arguments in tests:
        for argument in [()] if arguments is None else [(a,) for a in arguments]:
            test(*argument)
            print(f"{test.__name__}{argument or ''}: ok", flush=True)


main()
