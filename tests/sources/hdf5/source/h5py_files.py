"""Writes HDF5 files with h5py, and beside each what h5py reads from it: FOLDER CASE...

NAME.expected holds for each field a line "name<tab>dtype<tab>dimensions<tab>rows", and for each row the number of its
bytes (8 bytes, little-endian) and its bytes. FOLDER/names lists the files.
"""
import glob
import os
import struct
import sys

import h5py
import numpy as np

folder = sys.argv[1]
random = np.random.default_rng(1)
names = []
dtypes = {"uint8": "u8", "int8": "i8", "uint16": "u16", "int16": "i16", "uint32": "u32", "int32": "i32", "uint64": "u64",
          "int64": "i64", "float16": "f16", "float32": "f32", "float64": "f64", "bool": "bool"}


def path_of(name):
    return f"{folder}/{name}.h5"


def column(name, rows, dimensions=None):
    """A field: an array, or a list of rows of any length."""
    if isinstance(rows, list):
        rows = [np.frombuffer(row, np.uint8) if isinstance(row, bytes) else np.asarray(row) for row in rows]
        kind, dimensions = (rows[0].dtype if rows else np.dtype(np.uint8)), (-1,)
    else:
        kind, dimensions = rows.dtype, rows.shape[1:]
    native = kind.newbyteorder("=")
    return name, dtypes[native.name], dimensions, [np.ascontiguousarray(row.astype(native)).tobytes() for row in rows]


def columns_of(name, dataset):
    """What h5py reads."""
    kind = h5py.check_vlen_dtype(dataset.dtype)
    if isinstance(kind, np.dtype) and kind.byteorder == ">":
        # h5py gives the bytes as they are stored, but says that they are of the machine's order.
        return [column(name, [row.view(kind) for row in (dataset[i] for i in range(len(dataset)))])]
    if h5py.check_string_dtype(dataset.dtype) or kind:
        return [column(name, [row if not isinstance(row, str) else row.encode() for row in (dataset[i] for i in range(len(dataset)))])]
    rows = dataset[:]
    if rows.dtype.kind == "c":
        return [column(name + "/r", rows.real), column(name + "/i", rows.imag)]
    if rows.dtype.names:
        return [column(f"{name}/{member}", rows[member]) for member in rows.dtype.names]
    if rows.dtype.kind == "V":
        return [column(name, np.frombuffer(rows.tobytes(), np.uint8).reshape(*rows.shape, -1))]
    return [column(name, rows)]


def expect(name, fields=None):
    """Dumps what h5py reads from all datasets of a file, or from {field: (file, dataset)}."""
    columns = []
    if fields is None:
        found = []
        with h5py.File(path_of(name), "r") as file:
            file.visititems(lambda path, item: found.append(path) if isinstance(item, h5py.Dataset) else None)
        fields = {path: (name, path) for path in found}
    for field, (file_name, path) in fields.items():
        with h5py.File(path_of(file_name), "r") as file:
            columns += columns_of(field, file[path])
    with open(f"{folder}/{name}.expected", "wb") as out:
        for field, dtype, dimensions, rows in columns:
            out.write(f"{field}\t{dtype}\t{','.join(map(str, dimensions))}\t{len(rows)}\n".encode())
            for row in rows:
                out.write(struct.pack("<Q", len(row)) + row)
    names.append(name)


def numbers(shape, dtype):
    if np.dtype(dtype).kind in "fc":
        return random.normal(size=shape).astype(dtype)
    return random.integers(0, 100, size=shape).astype(dtype)


def pcam():
    for name, rows, options in [("rows32", 70, {"chunks": (32, 96, 96, 3), "compression": "gzip"}),
                                ("rows1", 70, {"chunks": (1, 96, 96, 3), "compression": "gzip"}),
                                ("rows1024", 1050, {"chunks": (1024, 96, 96, 3), "compression": "gzip", "compression_opts": 1}),
                                ("flat", 70, {})]:
        # Some rows repeat: it is the layout that matters, and this is deflated faster.
        images = np.repeat(random.integers(0, 256, (rows, 96, 1, 3), np.uint8), 96, axis=2)
        images[:, 5, :, 1] = random.integers(0, 256, (rows, 96), np.uint8)
        labels = random.integers(0, 2, (rows, 1, 1, 1), np.uint8)
        with h5py.File(path_of(name), "w") as file:
            file.create_dataset("x", data=images, **options)
        with h5py.File(path_of(name + "_y"), "w") as file:
            if options:
                file.create_dataset("y", data=labels, chunks=(min(rows, 64), 1, 1, 1), compression="gzip")
            else:
                file.create_dataset("y", data=labels)
        expect(name, {"image": (name, "x"), "label": (name + "_y", "y")})


def slides():
    def coords(name, rows, dtype, attributes):
        with h5py.File(path_of(name), "w") as file:
            dataset = file.create_dataset("coords", shape=(rows, 2), maxshape=(None, 2), chunks=(1, 2), dtype=dtype)
            dataset[:] = random.integers(0, 100000, (rows, 2))
            for key, value in attributes.items():
                dataset.attrs[key] = value
        expect(name)

    coords("clam", 37, np.int64, {"patch_size": 256, "patch_level": 0, "downsample": np.array([1.0, 1.0]),
                                  "downsampled_level_dim": np.array([46000, 32914]), "level_dim": np.array([46000, 32914]),
                                  "name": "slide_1", "save_path": "/out/patches"})
    trident = {"patch_size": 256, "patch_size_level0": 512, "level0_magnification": 40, "target_magnification": 20,
               "overlap": 0, "name": "slide_ü", "savetodir": "/out", "level0_width": 46000, "level0_height": "None"}
    coords("trident", 41, np.int64, trident)
    coords("empty", 0, np.int64, trident)
    with h5py.File(path_of("features"), "w") as file:
        features = file.create_dataset("features", shape=(1, 1024), maxshape=(None, 1024), chunks=(32, 1024), dtype=np.float32)
        places = file.create_dataset("coords", shape=(1, 2), maxshape=(None, 2), chunks=(32, 2), dtype=np.int32)
        for rows in (40, 99):  # grows as CLAM writes it
            features.resize(rows, axis=0)
            places.resize(rows, axis=0)
            features[-30:] = random.normal(size=(30, 1024))
            places[-30:] = random.integers(0, 100000, (30, 2))
    expect("features")
    with h5py.File(path_of("images"), "w") as file:
        file.create_dataset("imgs", data=numbers((9, 16, 16, 3), np.uint8), maxshape=(None, 16, 16, 3), chunks=(1, 16, 16, 3))
        file.create_dataset("coords", data=numbers((9, 2), np.int32), maxshape=(None, 2), chunks=(1, 2))
    expect("images")


def storage():
    n = 45
    with h5py.File(path_of("filters"), "w") as file:
        file.create_dataset("scaled", data=numbers((n, 20), np.int32), chunks=(8, 20), scaleoffset=0)
        file.create_dataset("scaled_float", data=numbers((n, 20), np.float32), chunks=(8, 20), scaleoffset=3)
        file.create_dataset("all", data=numbers((n, 20), np.float64), chunks=(8, 7), shuffle=True, compression=9, fletcher32=True)
        for szip in (("nn", 8), ("ec", 16)):
            try:
                file.create_dataset("szip_" + szip[0], data=numbers((n, 64), np.uint16), chunks=(8, 64), compression="szip", compression_opts=szip)
            except ValueError:
                pass  # the library has none
    expect("filters")
    for part in (0, 1):
        with h5py.File(path_of(f"part{part}"), "w") as file:
            file.create_dataset("x", data=numbers((20 + part, 6), np.int16))
    with h5py.File(path_of("virtual"), "w") as file:
        layout = h5py.VirtualLayout(shape=(n, 6), dtype=np.int16)
        layout[:20] = h5py.VirtualSource(path_of("part0"), "x", shape=(20, 6))
        layout[20:41] = h5py.VirtualSource(path_of("part1"), "x", shape=(21, 6))
        file.create_virtual_dataset("x", layout, fillvalue=-7)
    expect("virtual")
    with h5py.File(path_of("external"), "w") as file:
        data = file.create_dataset("x", shape=(n, 5), dtype=np.float32, external=[(f"{folder}/outside.raw", 100, n * 20)])
        data[:] = numbers((n, 5), np.float32)
    expect("external")
    with h5py.File(path_of("compact"), "w") as file:
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_layout(h5py.h5d.COMPACT)
        made = h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((n, 3)), creation)
        h5py.Dataset(made)[:] = numbers((n, 3), np.int32)
    expect("compact")
    with h5py.File(path_of("user_block"), "w", userblock_size=1024) as file:
        file["flat"] = numbers((n, 3), np.uint16)
        file.create_dataset("chunks", data=numbers((n, 3), np.uint16), chunks=(4, 2), compression="gzip")
    expect("user_block")
    for name, libver in (("never", None), ("never_latest", "latest")):
        with h5py.File(path_of(name), "w", libver=libver) as file:
            file.create_dataset("chunks", shape=(n, 3), maxshape=(None, None), chunks=(4, 3), dtype=np.int32)
            file.create_dataset("packed", shape=(n, 3), maxshape=(None, 3), chunks=(4, 3), dtype=np.int32, compression="gzip", fillvalue=-5)
            file.create_dataset("flat", shape=(n, 3), dtype=np.float32, fillvalue=0.5)
            some = file.create_dataset("some", shape=(n, 3), maxshape=(None, 3), chunks=(4, 3), dtype=np.int32, compression="gzip", fillvalue=9)
            some[8:13] = numbers((5, 3), np.int32)
            grown = file.create_dataset("grown", data=numbers((5, 3), np.int32), maxshape=(None, 3), chunks=(4, 3), compression="gzip", fillvalue=3)
            grown.resize(n, axis=0)
            shrunk = file.create_dataset("shrunk", data=numbers((n + 30, 3), np.int32), maxshape=(None, 3), chunks=(4, 3), compression="gzip")
            shrunk.resize(n, axis=0)
        expect(name)


def packed():
    """Filters beyond HDF5's own: h5py has lzf, others come as plugins of the library."""
    n = 45
    try:
        import hdf5plugin  # brings more of them
    except ImportError:
        pass
    kinds = [("lzf", "lzf", None), ("lz4", 32004, ()), ("lz4_small", 32004, (1024,)), ("zstd", 32015, (5,)),
             ("bitshuffle", 32008, (0, 0)), ("bitshuffle_lz4", 32008, (0, 2)), ("bitshuffle_small", 32008, (128, 2))]
    # Not bitshuffle with Zstandard: a plugin built without that stores what isn't compressed, and says it is.
    kinds += [(f"blosc_{c}_{s}", 32001, (0, 0, 0, 0, 5, s, c)) for c in (0, 1, 2, 4, 5) for s in (0, 1, 2)]
    for path, some in (("packed", kinds[:1]), ("plugins", kinds[1:])):
        with h5py.File(path_of(path), "w") as file:
            file.create_dataset("deflate", data=numbers((n, 20), np.int32), chunks=(8, 20), compression=1)
            for name, kind, options in some:
                if kind != "lzf" and not h5py.h5z.filter_avail(kind):
                    continue
                for dtype in ("u1", "<i2", ">i4", "<f4", "<f8"):
                    for shape, chunks in (((n, 20), (8, 20)), ((n, 33, 3), (7, 10, 3)), ((n,), (19,))):
                        for more in ({}, {"shuffle": True}, {"fletcher32": True}) if kind == "lzf" else ({},):
                            label = f"{name}_{dtype[-2:]}{'b' if dtype[0] == '>' else ''}_{len(shape)}{''.join(more)}"
                            try:
                                file.create_dataset(label, data=numbers(shape, dtype), chunks=chunks, compression=kind, compression_opts=options, **more)
                            except (ValueError, OSError) as error:  # a plugin without this compressor
                                print(label, error)
                                if label in file:
                                    del file[label]
        expect(path)


def types():
    n = 33
    with h5py.File(path_of("types"), "w") as file:
        for kind in ("<i2", ">i2", ">u4", ">i8", "<f2", ">f2", ">f4", ">f8", "u1", "i1"):
            file.create_dataset("plain" + kind, data=numbers((n, 3), kind))
            file.create_dataset("packed" + kind, data=numbers((n, 3), kind), chunks=(4, 3), compression="gzip", shuffle=True)
        file["bool"] = random.integers(0, 2, (n, 4)).astype(bool)
        file.create_dataset("bool_packed", data=random.integers(0, 2, (n, 4)).astype(bool), chunks=(5, 4), compression="gzip")
        file["complex64"] = (numbers((n, 4), np.float32) + 1j * numbers((n, 4), np.float32)).astype(np.complex64)
        file.create_dataset("complex128", data=numbers((n,), np.float64) + 1j * numbers((n,), np.float64), chunks=(5,), compression="gzip")
        file["opaque"] = np.frombuffer(random.bytes(n * 5), "V5")
        file["record"] = np.array([(i, i / 2, -i) for i in range(n)], [("a", ">u2"), ("b", "f8"), ("c", "i1")])
        enumeration = h5py.enum_dtype({"RED": 0, "GREEN": 1, "BLUE": 42}, basetype="i2")
        file.create_dataset("enum", data=random.choice([0, 1, 42], (n, 2)).astype("i2"), dtype=enumeration)
    expect("types")
    words = ["", "a", "zwölf", "日本", "x" * 300] + [f"word {i}" for i in range(n - 5)]
    with h5py.File(path_of("texts"), "w") as file:
        file.create_dataset("variable", data=words, dtype=h5py.string_dtype())
        file.create_dataset("ascii", data=[w.encode("ascii", "replace") for w in words], dtype=h5py.string_dtype("ascii"))
        file.create_dataset("fixed", data=np.array([w.encode()[:12] for w in words], "S12"))
        file.create_dataset("fixed_packed", data=np.array([w.encode()[:12] for w in words], "S12"), chunks=(7,), compression="gzip")
        file.create_dataset("variable_packed", data=words, dtype=h5py.string_dtype(), chunks=(7,), compression="gzip")
        # Of every padding, with NULs anywhere.
        parts = [b"a\0b\0\0", b"\0\0\0a\0", b"\0" * 5, b" ab  ", b"abcde", b"ab\0  ", b"     "]
        for name, padding in (("nul_term", h5py.h5t.STR_NULLTERM), ("nul_pad", h5py.h5t.STR_NULLPAD), ("space_pad", h5py.h5t.STR_SPACEPAD)):
            kind = h5py.h5t.C_S1.copy()
            kind.set_size(5)
            kind.set_strpad(padding)
            made = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple((n,)))
            values = b"".join(parts[i % len(parts)] for i in range(n))
            made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.frombuffer(values, "V5"), kind)
        # Text as PyTables stores it, on machines of both byte orders.
        for name, kind in (("utf32_little", "<u4"), ("utf32_big", ">u4")):
            text = file.create_dataset(name, shape=(n,), dtype=h5py.vlen_dtype(np.dtype(kind)))
            for i in range(n):
                text[i] = np.array([ord(c) for c in words[i]], kind)
        ragged = file.create_dataset("ragged", shape=(n,), dtype=h5py.vlen_dtype(np.float32))
        bytes_of = file.create_dataset("encoded", shape=(n,), dtype=h5py.vlen_dtype(np.uint8))
        for i in range(n):
            ragged[i] = numbers((i * 7 % 5,), np.float32)
            bytes_of[i] = numbers((1 + i * 31,), np.uint8)
    expect("texts")


def features():
    """What h5py sees of a slide's file: features.txt."""
    with h5py.File(f"{folder}/h5_files/slide ü.h5", "r") as file, open(f"{folder}/features.txt", "w") as out:
        for name in ("features", "coords"):
            data = file[name]
            print(name, data.dtype, data.shape, data.chunks, data.maxshape, file=out)
            for key in sorted(data.attrs):
                value = data.attrs[key]
                print(" ", key, type(value).__name__, value.tolist() if hasattr(value, "tolist") else value, file=out)
        print(float(file["features"][:].sum()), file["coords"][:].sum(), file=out)


def stored():
    """Files that somebody else has written, and how they are stored: NAME.storage."""
    for path in sorted(glob.glob(f"{folder}/*.h5")):
        name = os.path.basename(path)[:-3]
        with h5py.File(path, "r") as file, open(f"{folder}/{name}.storage", "w") as out:
            found = []
            file.visititems(lambda at, item: found.append((at, item)) if isinstance(item, h5py.Dataset) else None)
            for at, item in found:
                print(at, item.dtype, item.shape, item.chunks, item.compression, item.compression_opts, item.shuffle, item.fletcher32, file=out)
                if "classes" in item.attrs:
                    print(at, list(item.attrs["classes"]), file=out)
        expect(name)


for case in sys.argv[2:]:
    {"pcam": pcam, "slides": slides, "storage": storage, "packed": packed, "types": types, "features": features, "stored": stored}[case]()
with open(f"{folder}/names", "w") as out:
    out.write("\n".join(names))
