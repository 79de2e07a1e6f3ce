# SPDX-License-Identifier: Apache-2.0
"""decoders.py JOB FOLDER

A job with each image in FOLDER by Pillow and by OpenCV, those that this Python has, on one thread. The files are in memory
already. JOB is `pixels`: decoding alone, or `small`: decoded at the scale that suits, shrunk to 256 pixels on the short
side, the middle 224 x 224 of that, or `encode`: encoding alone, as a PNG with the library's defaults. Prints a line for each way, with its images a second: the median of seven rounds, in
turns.
"""

import functools
import io
import pathlib
import statistics
import sys
import time

SHORT, CROP = 256, 224


def sizes(width, height):
    """The size with the short side, and the corner of the middle of it."""
    short = min(width, height)
    width, height = SHORT * width // short, SHORT * height // short
    return width, height, (width - CROP) // 2, (height - CROP) // 2


def pillow_ways(image):
    def small(data, draft):
        opened = image.open(io.BytesIO(data))
        width, height, left, top = sizes(*opened.size)
        if draft:
            opened.draft("RGB", (width, height))
        return opened.resize((width, height), image.BILINEAR).crop((left, top, left + CROP, top + CROP))

    @functools.cache
    def pixels(data):
        return image.open(io.BytesIO(data)).copy()

    yield "pixels", "", lambda data: image.open(io.BytesIO(data)).load()
    yield "encode", "", lambda data: pixels(data).save(io.BytesIO(), "PNG")
    yield "small", ", all pixels", lambda data: small(data, False)
    yield "small", ", draft", lambda data: small(data, True)


def opencv_ways(cv2, numpy):
    def small(data, flags):
        pixels = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), flags)
        width, height, left, top = sizes(pixels.shape[1], pixels.shape[0])
        resized = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_LINEAR)
        return resized[top : top + CROP, left : left + CROP].copy()

    @functools.cache
    def pixels(data):
        return cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_UNCHANGED)

    yield "pixels", "", lambda data: cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_UNCHANGED)
    yield "encode", "", lambda data: cv2.imencode(".png", pixels(data))
    yield "small", ", all pixels", lambda data: small(data, cv2.IMREAD_COLOR)
    yield "small", ", REDUCED_8", lambda data: small(data, cv2.IMREAD_REDUCED_COLOR_8)


def ways():
    try:
        import PIL.Image

        yield from ((job, f"Pillow {PIL.__version__}{how}", way) for job, how, way in pillow_ways(PIL.Image))
    except ImportError:
        pass
    try:
        import cv2
        import numpy

        cv2.setNumThreads(1)
        yield from ((job, f"OpenCV {cv2.__version__}{how}", way) for job, how, way in opencv_ways(cv2, numpy))
    except ImportError:
        pass


files = [path.read_bytes() for path in sorted(pathlib.Path(sys.argv[2]).iterdir()) if path.suffix in (".png", ".jpg")]
found = {name: way for job, name, way in ways() if job == sys.argv[1]}
rates = {name: [] for name in found}
for _ in range(7):
    for name, way in found.items():
        begun = time.perf_counter()
        for data in files:
            way(data)
        rates[name].append(len(files) / (time.perf_counter() - begun))
for name, of in rates.items():
    print(f"{name}: {statistics.median(of):.1f} images/s")
if not found:
    print("neither Pillow nor OpenCV is installed")
