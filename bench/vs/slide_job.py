"""slide_job.py LOADER SLIDE WORKERS

One library's slide job: all whole tiles of 256 x 256 of a slide's largest level in order, as RGB arrays, by a pool of
threads with a handle each. Prints tiles a second. Exits with 3 where the library is not installed.
"""

import concurrent.futures
import sys
import threading
import time

SIDE = 256


def open_slide(loader, path):
    if loader == "OpenSlide":
        import openslide

        return openslide.OpenSlide(path)
    if loader == "tiffslide":
        import tiffslide

        return tiffslide.TiffSlide(path)
    from cucim import CuImage

    return CuImage(path)


def read_tile(loader, slide, x, y):
    import numpy

    if loader == "cuCIM":
        return numpy.asarray(slide.read_region((x, y), (SIDE, SIDE), 0))
    if loader == "tiffslide":
        return slide.read_region((x, y), 0, (SIDE, SIDE), as_array=True)
    return numpy.asarray(slide.read_region((x, y), 0, (SIDE, SIDE)).convert("RGB"))


def main():
    loader, path, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    own = threading.local()

    def tile(place):
        if not hasattr(own, "slide"):
            own.slide = open_slide(loader, path)
        return read_tile(loader, own.slide, *place).shape[0]

    try:
        slide = open_slide(loader, path)
        width, height = slide.size("XY") if loader == "cuCIM" else slide.dimensions
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(3)
    places = [(x, y) for y in range(0, height - SIDE + 1, SIDE) for x in range(0, width - SIDE + 1, SIDE)]
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(tile, places[:64]))
        begin = time.monotonic()
        done = sum(1 for _ in pool.map(tile, places))
        print(f"{done / (time.monotonic() - begin):.1f}")


if __name__ == "__main__":
    main()
