#!/usr/bin/python3
# coords_files.py make FOLDER: lists of places as CLAM and TRIDENT write them, with h5py.
# coords_files.py bags FOLDER: features as CLAM and TRIDENT write them, with h5py, and bags.txt, what they are.
# coords_files.py read FILE: what h5py finds in one: dataset, then its attributes in order of their names, a line each.
import sys

import h5py
import numpy


def clam(path, coords, level, size, downsample):
    # As CLAM's save_hdf5 does: a dataset of one row that grows, with attributes of the dataset.
    with h5py.File(path, "w") as file:
        data = numpy.array(coords)
        dataset = file.create_dataset("coords", shape=data.shape, maxshape=(None, 2), chunks=(1, 2), dtype=data.dtype)
        dataset[:] = data
        attributes = {"patch_size": size, "patch_level": level, "downsample": downsample, "downsampled_level_dim": (200, 150), "level_dim": (200, 150), "name": "a", "save_path": "/x"}
        for name, value in attributes.items():
            dataset.attrs[name] = value


def trident(path, coords, size, level_0, target, more):
    with h5py.File(path, "w") as file:
        data = numpy.array(coords, dtype=numpy.int64).reshape(-1, 2)
        dataset = file.create_dataset("coords", data=data, maxshape=(None, 2), chunks=(1, 2))
        attributes = {"patch_size": size, "level0_magnification": level_0, "target_magnification": target, "overlap": 0, "name": "b", "savetodir": "/x", **more}
        for name, value in attributes.items():
            dataset.attrs[name] = value


def make(folder):
    places = [(0, 0), (128, 64), (33, 17)]
    clam(f"{folder}/a.h5", places, 1, 32, (2.0, 2.0))
    trident(f"{folder}/b_patches.h5", places, 32, 40, 20, {"level0_width": 400, "level0_height": "None"})
    trident(f"{folder}/c_patches.h5", [], 32, 40, 20, {"patch_size_level0": 64})
    # TRIDENT's of a slide without tissue.
    with h5py.File(f"{folder}/none_patches.h5", "w") as file:
        file["coords"] = numpy.array([])
        file["coords"].attrs["patch_size"] = 32
    with open(f"{folder}/._a.h5", "w") as file:
        file.write("what a Mac leaves")
    with h5py.File(f"{folder}/huge.hdf5", "w") as file:
        file.create_dataset("coords", (2**31, 2), "i8", chunks=(1024, 2))
    with h5py.File(f"{folder}/small.hdf5", "w") as file:
        file["coords"] = numpy.array([(5, 6)], "u1")
        file["coords"].attrs["patch_size"] = [64, 64]
        file["coords"].attrs["patch_level"] = "1"
    with h5py.File(f"{folder}/d.h5", "w") as file:
        file["features"] = numpy.zeros((2, 4), "f4")
        file["coords"] = numpy.array([(5, 6), (7, 8)], "i4")
    with h5py.File(f"{folder}/old.hdf5", "w") as file:
        file["imgs"] = numpy.zeros((1, 2, 2, 3), "u1")
        file["coords"] = numpy.array([(5, 6)], "i4")
    with h5py.File(f"{folder}/floats.hdf5", "w") as file:
        file["coords"] = numpy.zeros((3, 2))
    with h5py.File(f"{folder}/wide.hdf5", "w") as file:
        file["coords"] = numpy.zeros((3, 3), "i8")
    with h5py.File(f"{folder}/far.hdf5", "w") as file:
        file["coords"] = numpy.array([(0, 2**40)])
    with h5py.File(f"{folder}/other.hdf5", "w") as file:
        file["places"] = numpy.zeros((3, 2), "i8")


def features(rows, dimension, seed, dtype="f4"):
    # Numbers that f16 has.
    return numpy.random.default_rng(seed).integers(-64, 64, (rows, dimension)).astype(dtype) / numpy.asarray(4, dtype)


def places(rows, dtype):
    return numpy.arange(2 * rows).reshape(rows, 2).astype(dtype) * 256


def clam_features(path, data, coords, chunk):
    # As CLAM's save_hdf5 does: datasets of one batch that grow by the next.
    with h5py.File(path, "w") as file:
        for name, values in (("features", data), ("coords", coords)):
            dataset = file.create_dataset(name, shape=(0,) + values.shape[1:], maxshape=(None,) + values.shape[1:], chunks=(chunk,) + values.shape[1:], dtype=values.dtype)
            for first in range(0, len(values), 7):
                part = values[first : first + 7]
                dataset.resize(len(dataset) + len(part), axis=0)
                dataset[-len(part) :] = part


def trident_features(path, data, coords):
    # As TRIDENT's save_h5 does: chunks of one row.
    with h5py.File(path, "w") as file:
        for name, values in (("features", data), ("coords", coords)):
            file.create_dataset(name, data=values, maxshape=(None,) + values.shape[1:], chunks=(1,) + values.shape[1:])
        file["features"].attrs["name"] = "s"
        file["coords"].attrs["patch_size"] = 256


def bags(folder):
    slides = {}

    def keep(name, data, coords):
        slides[name] = (data.reshape(-1, data.shape[-1]) if data.size else numpy.zeros((0, 0)), coords.reshape(-1, 2))

    for name, rows, chunk in (("a.1", 100, 32), ("b", 5, 32), ("c", 64, 1)):
        data, coords = features(rows, 24, len(slides)), places(rows, "i4")
        clam_features(f"{folder}/{name}.h5", data, coords, chunk)
        keep(name, data, coords)
    for name, shape in (("d", (33, 24)), ("e", (1, 40, 24)), ("f", (1, 1, 24))):
        data, coords = features(shape[-2], 24, len(slides)).reshape(shape), places(shape[-2], "i8")
        trident_features(f"{folder}/{name}.h5", data, coords)
        keep(name, data, coords)
    # Other types, packed, in one piece, of another byte order, and of slides without tissue.
    others = {"g": ("f2", {"chunks": (16, 24), "compression": "gzip", "shuffle": True}), "h": ("f4", {}), "i": (">f4", {"chunks": (10, 7)})}
    for name, (dtype, more) in others.items():
        data, coords = features(50, 24, len(slides), dtype), places(50, "u2")
        with h5py.File(f"{folder}/{name}.h5", "w") as file:
            file.create_dataset("features", data=data, **more)
            file["coords"] = coords
        keep(name, data, coords)
    empty = {"j": ((0, 24), "i8"), "k": ((0, 0), "i8"), "l": ((0,), "f8")}
    for name, (shape, dtype) in empty.items():
        with h5py.File(f"{folder}/{name}.h5", "w") as file:
            file["features"] = numpy.zeros(shape, "f4")
            file["coords"] = numpy.zeros((0, 2) if dtype == "i8" else (0,), dtype)
        keep(name, numpy.zeros((0, 0)), numpy.zeros((0, 2)))
    with open(f"{folder}/bags.txt", "w") as file:
        for name, (data, coords) in slides.items():
            print(name, len(data), *data.astype("f8").ravel().tolist(), *coords.astype("i8").ravel().tolist(), file=file)


def bad_bags(folder):
    good = features(4, 8, 1)
    with h5py.File(f"{folder}/a_good.h5", "w") as file:
        file["features"], file["coords"] = good, places(4, "i8")
    bad = {
        "wide": (features(4, 9, 1), places(4, "i8")),
        "doubles": (good.astype("f8"), places(4, "i8")),
        "whole": (good.astype("i4"), places(4, "i8")),
        "cube": (numpy.zeros((2, 4, 8), "f4"), places(2, "i8")),
        "vector": (numpy.zeros(8, "f4"), places(8, "i8")),
        "scalar": (numpy.float32(1), places(1, "i8")),
        "fewer": (good, places(3, "i8")),
        "floats": (good, places(4, "f8")),
        "one_more": (good[None], places(4, "i8")[None]),
        "triples": (good, numpy.zeros((4, 3), "i8")),
        "far": (good, numpy.full((4, 2), 2**63, "u8")),
    }
    for name, (data, coords) in bad.items():
        with h5py.File(f"{folder}/{name}.h5", "w") as file:
            file["features"], file["coords"] = data, coords
    with h5py.File(f"{folder}/no_coords.h5", "w") as file:
        file["features"] = good
    with h5py.File(f"{folder}/no_features.h5", "w") as file:
        file["coords"] = places(4, "i8")
    with h5py.File(f"{folder}/huge.h5", "w") as file:
        file.create_dataset("features", (2**40, 8), "f4", chunks=(1024, 8))
        file["coords"] = places(4, "i8")


def read(path):
    with h5py.File(path) as file:
        print(list(file), file["coords"].dtype, file["coords"].shape, file["coords"].maxshape, file["coords"][:].tolist())
        for name, value in sorted(file["coords"].attrs.items()):
            kind = value.dtype.name if hasattr(value, "dtype") else type(value).__name__
            print(name, kind, value.tolist() if hasattr(value, "tolist") else value)


if __name__ == "__main__":
    {"make": make, "bags": bags, "bad_bags": bad_bags, "read": read}[sys.argv[1]](sys.argv[2])
