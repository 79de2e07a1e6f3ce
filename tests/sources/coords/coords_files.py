#!/usr/bin/python3
# coords_files.py make FOLDER: lists of places as CLAM and TRIDENT write them, with h5py.
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


def read(path):
    with h5py.File(path) as file:
        print(list(file), file["coords"].dtype, file["coords"].shape, file["coords"].maxshape, file["coords"][:].tolist())
        for name, value in sorted(file["coords"].attrs.items()):
            kind = value.dtype.name if hasattr(value, "dtype") else type(value).__name__
            print(name, kind, value.tolist() if hasattr(value, "tolist") else value)


if __name__ == "__main__":
    {"make": make, "read": read}[sys.argv[1]](sys.argv[2])
