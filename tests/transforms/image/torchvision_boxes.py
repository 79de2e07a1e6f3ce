# SPDX-License-Identifier: Apache-2.0
"""torchvision_boxes.py > torchvision_boxes.hpp: what torchvision makes of boxes, key points and their formats.

Run it with torchvision 0.29 to make the file again.
"""

import random

import torch
import torchvision
from torchvision import tv_tensors
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as f

HEIGHT, WIDTH = 67, 91
random.seed(7)

BOXES = []
for _ in range(12):
    x, y = random.uniform(0, WIDTH - 2), random.uniform(0, HEIGHT - 2)
    BOXES.append([x, y, random.uniform(x + 1, WIDTH), random.uniform(y + 1, HEIGHT)])
BOXES = torch.tensor(BOXES, dtype=torch.float32)
POINTS = torch.stack([BOXES[:, 0] + 0.25, BOXES[:, 3] - 0.5], 1)

STAGES = {
    "crop": lambda b: f.crop(b, 9, 13, 40, 50),
    "center_crop": lambda b: f.center_crop(b, [41, 61]),
    "resize": lambda b: f.resize(b, [150, 333], antialias=True),
    "flip_horizontal": f.horizontal_flip,
    "flip_vertical": f.vertical_flip,
    "resized_crop": lambda b: f.resized_crop(b, 9, 13, 40, 50, [64, 128]),
    "letterbox": lambda b: f.pad(f.resize(b, [128, 174], antialias=True), [41, 0, 41, 0]),
}


def rows(values):
    return ",\n".join("     {" + ", ".join(f"{v:.9g}f" if "." in f"{v:.9g}" or "e" in f"{v:.9g}" else f"{v:.1f}f" for v in row) + "}"
                      for row in values.tolist())


print("// SPDX-License-Identifier: Apache-2.0")
print(f"// Made by torchvision_boxes.py with torchvision {torchvision.__version__.split('+')[0]}. Images are {HEIGHT} x {WIDTH}.")
print("#pragma once\n\n#include <vector>\n\nnamespace torchvision {\n\nusing Rows = std::vector<std::vector<float>>;\n")
print("// clang-format off")
print("inline const Rows boxes_before{")
print(rows(BOXES) + "};")
print("inline const Rows points_before{")
print(rows(POINTS) + "};")
print("struct Expected {\n  const char* stage;\n  Rows boxes, points;\n};")
print("inline const Expected expected[] = {")
for name, stage in STAGES.items():
    boxes = tv_tensors.BoundingBoxes(BOXES.clone(), format="XYXY", canvas_size=(HEIGHT, WIDTH))
    points = tv_tensors.KeyPoints(POINTS.clone(), canvas_size=(HEIGHT, WIDTH))
    print(f'    {{"{name}",\n    {{\n{rows(torch.as_tensor(stage(boxes)))}}},\n    {{\n{rows(torch.as_tensor(stage(points)))}}}}},')
print("};")
print("struct Format {\n  const char* name;\n  Rows boxes;\n};")
print("inline const Format formats[] = {")
for name in ("XYWH", "CXCYWH"):
    boxes = tv_tensors.BoundingBoxes(BOXES.clone(), format="XYXY", canvas_size=(HEIGHT, WIDTH))
    print(f'    {{"{name.lower()}",\n    {{\n{rows(torch.as_tensor(v2.ConvertBoundingBoxFormat(name)(boxes)))}}}}},')
print("};")
print("// clang-format on\n\n}  // namespace torchvision")
