"""torch_gpu.py SHIM: torch takes batches on a GPU through DLPack, late, on streams of its own, and trains on them."""
import ctypes
import sys
from ctypes import CDLL, c_char_p, c_int, c_uint, c_uint64, c_void_p, py_object, pythonapi

try:
    import torch
except ImportError:
    print("SKIPPED: no torch")
    sys.exit(4)
if not torch.cuda.is_available():
    print("SKIPPED: torch has no GPU")
    sys.exit(4)

new_capsule = pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = py_object, (c_void_p, c_char_p, c_void_p)
lib = CDLL(sys.argv[1])
for name, result, *arguments in [
    ("gpu_last_error", c_char_p),
    ("gpu_loader", c_void_p, c_uint64, c_uint64, c_uint, c_int),
    ("gpu_loader_end", None, c_void_p),
    ("gpu_next", c_void_p, c_void_p, c_uint64),
    ("gpu_batch_end", None, c_void_p),
    ("gpu_versioned", c_void_p, c_void_p, c_char_p, c_uint64),
    ("gpu_unversioned", c_void_p, c_void_p, c_char_p, c_uint64),
]:
    f = getattr(lib, name)
    f.restype, f.argtypes = result, arguments


def need(pointer):
    if not pointer:
        raise RuntimeError(lib.gpu_last_error().decode())
    return pointer


class Field:
    """What torch.from_dlpack takes. No capsule of it is left unused here, so none needs a destructor."""

    def __init__(self, batch, name):
        self.batch, self.name = batch, name.encode()

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        stream = {None: 1, 0: 1}.get(stream, stream)  # the legacy default stream
        if max_version is not None and max_version[0] >= 1:
            return new_capsule(need(lib.gpu_versioned(self.batch, self.name, stream)), b"dltensor_versioned", None)
        return new_capsule(need(lib.gpu_unversioned(self.batch, self.name, stream)), b"dltensor", None)


def batches(records, rows, device_depth=2, epochs=1):
    """Tensors of each batch, on the current stream."""
    loader = need(lib.gpu_loader(records, rows, device_depth, epochs))
    try:
        for _ in range(epochs):
            while batch := lib.gpu_next(loader, torch.cuda.current_stream().cuda_stream or 1):
                tensors = tuple(torch.from_dlpack(Field(batch, name)) for name in ("image", "label", "number"))
                lib.gpu_batch_end(batch)  # the tensors have it now
                yield tensors
                del tensors
            if lib.gpu_last_error():
                raise RuntimeError(lib.gpu_last_error().decode())
    finally:
        lib.gpu_loader_end(loader)


def images_of(numbers):
    """What the shim's source makes, normalised as the loader does it."""
    i = numbers.view(-1, 1, 1, 1)
    y = torch.arange(32, device="cuda").view(1, 1, -1, 1)
    x = torch.arange(32, device="cuda").view(1, 1, 1, -1)
    c = torch.arange(3, device="cuda").view(1, -1, 1, 1)
    label = i % 4
    bright = ((y >= 16) == (label // 2 == 1)) & ((x >= 16) == (label % 2 == 1))
    u8 = torch.where(bright, 160, 60) + (i * 31 + y * 7 + x * 13 + c) % 60
    scale, bias = torch.tensor(1 / (255 * 0.25), dtype=torch.float32), torch.tensor(-0.5 / 0.25, dtype=torch.float32)
    return (u8.float() * scale.cuda() + bias.cuda()).to(torch.bfloat16)


def test_late_readers():
    """A stream that reads each batch long after it was taken, with two batches on the GPU, sees that batch."""
    side = torch.cuda.Stream()
    wrong = torch.zeros((), dtype=torch.int64, device="cuda")
    seen = []
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        for image, label, number in batches(64 * 16, 16):
            torch.cuda._sleep(20_000_000)  # about 10 ms
            wrong += (image != images_of(number)).sum() + (label != number % 4).sum()
            seen.append(number.clone())
    side.synchronize()
    assert wrong.item() == 0, f"{wrong.item()} elements are wrong"
    assert torch.equal(torch.cat(seen).sort().values, torch.arange(64 * 16, device="cuda"))


def test_default_stream():
    wrong = 0
    for image, label, number in batches(320, 32):
        wrong += (image != images_of(number)).sum().item() + (label != number % 4).sum().item()
    assert wrong == 0, f"{wrong} elements are wrong"


def test_graph_beside():
    """A graph that torch captures while a loader runs beside it is whole."""
    graph, x = torch.cuda.CUDAGraph(), torch.ones(1000, device="cuda")
    running = batches(640, 32, device_depth=3)
    first = next(running)
    del first
    with torch.cuda.graph(graph):
        y = x * 2
    for tensors in running:
        del tensors
    x.fill_(4)
    graph.replay()
    torch.cuda.synchronize()
    assert y.sum().item() == 8000


def test_training():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=2), torch.nn.ReLU(), torch.nn.Flatten(),
                                torch.nn.Linear(8 * 15 * 15, 4)).cuda().to(torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    losses, right, rows = [], 0, 0
    for step, (image, label, _) in enumerate(batches(4096, 64, epochs=2)):
        optimizer.zero_grad()
        out = model(image)
        loss = torch.nn.functional.cross_entropy(out.float(), label)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step >= 64:
            right, rows = right + (out.argmax(1) == label).sum().item(), rows + len(label)
    assert losses[-1] < losses[0] / 2, (losses[0], losses[-1])
    assert right > 0.9 * rows, (right, rows)
    return f"loss {losses[0]:.3f} to {losses[-1]:.3f}, {100 * right / rows:.1f} % right in the second epoch"


tests = [f for name, f in list(globals().items()) if name.startswith("test_")]
for test in tests:
    said = test()
    print(f"{test.__name__}: ok{'; ' + said if said else ''}", flush=True)
print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}: {len(tests)} passed")
