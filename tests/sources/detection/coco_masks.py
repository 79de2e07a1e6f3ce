#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coco_masks.py COUNT SEED > coco_masks.json

A file of annotations with COUNT random segmentations: polygons, run lengths, packed run lengths. The member `expected` of
each annotation has the run lengths of the mask that pycocotools makes of it. Needs pycocotools; the file beside this one
is from 2.0.11, with "160 1".
"""
import json
import random
import sys

import numpy
from pycocotools import mask as masks


def coordinate(rng, size, kind):
    if kind == 0:
        return round(rng.uniform(0, size), 2)
    if kind == 1:
        return rng.randint(-2, size + 2)
    if kind == 2:
        return rng.randint(-4, 4 * size + 4) / 4
    if kind == 3:
        return round(rng.uniform(-3 * size, 4 * size), 1)
    return rng.choice([0, size, -0.1, -0.5, size - 0.5, size + 1000.25, -70000.3, 1e6, size / 2, 0.3, 0.7, 1e-7])


def polygon(rng, height, width):
    kind, shape = rng.randrange(5), rng.randrange(4)
    points = [(coordinate(rng, width, kind), coordinate(rng, height, kind)) for _ in range(rng.randint(3, 9))]
    if shape == 0:  # a small one
        x, y, size = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(0.1, 4)
        points = [(round(x + rng.uniform(-size, size), 2), round(y + rng.uniform(-size, size), 2)) for _ in points]
    if shape == 1:  # points twice, edges along the axes
        points = [p for p in points for _ in range(rng.randint(1, 2))]
        points += [(points[-1][0], points[0][1])]
    return [number for point in points for number in point]


def polygons(rng, height, width):
    found = [polygon(rng, height, width) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    if len(found) == 3:
        found[1] = found[1][:4]  # an edge, which has no area
    return found


def random_mask(rng, height, width):
    kind = rng.randrange(4)
    if kind == 0:
        bits = [rng.random() < 0.5 for _ in range(height * width)]
    elif kind == 1:
        bits = [rng.random() < 0.02 for _ in range(height * width)]
    elif kind == 2:
        bits = [rng.random() < 0.98] * (height * width)
    else:
        top, left = rng.randrange(height), rng.randrange(width)
        bits = [y >= top and x >= left for x in range(width) for y in range(height)]
    return numpy.array(bits, numpy.uint8).reshape((height, width), order="F")


def runs_of(mask):
    runs, value, length = [], 0, 0
    for bit in mask.flatten(order="F").tolist():
        if bit != value:
            runs.append(length)
            value, length = bit, 0
        length += 1
    return runs + [length]


def main():
    count, rng = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    images, annotations = [], []
    for number in range(count):
        if number % 4 == 0:
            height, width = rng.choice([(1, 1), (1, 40), (40, 1), (7, 5), (24, 32), (33, 17), (48, 64)])
            images.append({"id": number, "file_name": f"{number}.jpg", "height": height, "width": width})
        form = rng.randrange(5)
        if form < 3:
            segmentation = polygons(rng, height, width)
            packed = masks.merge(masks.frPyObjects(segmentation, height, width))
        else:
            packed = masks.encode(numpy.asfortranarray(random_mask(rng, height, width)))
            if form == 3:
                segmentation = {"size": [height, width], "counts": packed["counts"].decode()}
            else:
                runs = runs_of(masks.decode(packed))
                if rng.random() < 0.5:  # runs of no length
                    cut = rng.randrange(len(runs))
                    runs[cut : cut + 1] = [runs[cut], 0, 0]
                segmentation = {"counts": runs, "size": [height, width]}
                packed = masks.frPyObjects(segmentation, height, width)
        annotations.append({"id": number, "image_id": images[-1]["id"], "category_id": 1, "bbox": [0, 0, 1, 1], "iscrowd": 0,
                            "segmentation": segmentation, "expected": runs_of(masks.decode(packed))})
    print('{"images": [', ",\n".join(json.dumps(i) for i in images), "],", sep="\n")
    print('"categories": [{"id": 1, "name": "thing"}],', '"annotations": [', sep="\n")
    print(",\n".join(json.dumps(a, separators=(",", ":")) for a in annotations), "]}", sep="\n")


main()
