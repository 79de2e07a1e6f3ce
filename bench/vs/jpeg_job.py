"""jpeg_job.py LOADER FOLDER WORKERS

One loader's JPEG job: files of a folder of classes in a random order, decoded, a random-resized crop of 224 x 224, a
random flip, batches of 64 as uint8. Prints images a second, of two epochs after the first ten batches. Exits with 3
where the loader is not installed. Each is used as its own documentation shows for this job, with its fastest decoder.
"""

import pathlib
import random
import sys
import time

SIDE, BATCH, EPOCHS, WARM = 224, 64, 2, 10
SCALE, RATIO = (0.08, 1.0), (3 / 4, 4 / 3)


def files_of(folder):
    paths = sorted(str(p) for p in pathlib.Path(folder).rglob("*.jpg"))
    classes = {name: i for i, name in enumerate(sorted({pathlib.Path(p).parent.name for p in paths}))}
    return paths, [classes[pathlib.Path(p).parent.name] for p in paths]


def random_box(width, height):
    """As torchvision's RandomResizedCrop, without its ten tries: left, top, width, height."""
    area = width * height * random.uniform(*SCALE)
    ratio = random.uniform(*RATIO)
    w, h = min(width, round((area * ratio) ** 0.5)), min(height, round((area / ratio) ** 0.5))
    return random.randint(0, width - w), random.randint(0, height - h), w, h


def mlx_data(folder, workers):
    import mlx.data as dx

    paths, labels = files_of(folder)
    samples = [{"file": p.encode(), "label": n} for p, n in zip(paths, labels)]
    for _ in range(EPOCHS):
        stream = (
            dx.buffer_from_vector(samples)
            .shuffle()
            .to_stream()
            .load_image("file", output_key="image")
            .image_random_area_crop("image", SCALE, RATIO)
            .image_resize("image", SIDE, SIDE)
            .image_random_h_flip("image", 0.5)
            .batch(BATCH)
            .prefetch(4, workers)
        )
        for batch in stream:
            yield batch["image"].shape[0]


def tf_data(folder, workers):
    import tensorflow as tf

    paths, labels = files_of(folder)

    def load(path, label):
        data = tf.io.read_file(path)
        shape = tf.image.extract_jpeg_shape(data)
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            shape, tf.zeros([1, 0, 4]), min_object_covered=0, aspect_ratio_range=RATIO, area_range=SCALE,
            use_image_if_no_bounding_boxes=True)
        top, left, _ = tf.unstack(begin)
        height, width, _ = tf.unstack(size)
        image = tf.image.decode_and_crop_jpeg(data, tf.stack([top, left, height, width]), channels=3)
        image = tf.image.resize(image, [SIDE, SIDE])
        return tf.cast(tf.image.random_flip_left_right(image), tf.uint8), label

    options = tf.data.Options()
    options.threading.private_threadpool_size = workers
    data = tf.data.Dataset.from_tensor_slices((paths, labels)).shuffle(len(paths)).repeat(EPOCHS)
    data = data.map(load, num_parallel_calls=workers).batch(BATCH).prefetch(2).with_options(options)
    for images, _ in data:
        yield images.shape[0]


def dali(folder, workers):
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=BATCH, num_threads=workers, device_id=None, seed=1)
    def pipeline():
        files, labels = fn.readers.file(file_root=folder, random_shuffle=True, name="files")
        images = fn.decoders.image_random_crop(
            files, device="cpu", output_type=types.RGB, random_area=list(SCALE), random_aspect_ratio=list(RATIO))
        images = fn.resize(images, device="cpu", size=(SIDE, SIDE))
        return fn.flip(images, device="cpu", horizontal=fn.random.coin_flip()), labels

    pipe = pipeline()
    pipe.build()
    for _ in range(EPOCHS * len(files_of(folder)[0]) // BATCH):
        images, _ = pipe.run()
        yield images.as_tensor().shape()[0]


def spdl(folder, workers):
    import spdl.io
    from spdl.pipeline import PipelineBuilder

    paths, _ = files_of(folder)

    def source():
        for _ in range(EPOCHS):
            yield from random.sample(paths, len(paths))

    def decode(path):
        packets = spdl.io.demux_image(path)
        left, top, w, h = random_box(packets.codec.width, packets.codec.height)
        flip = ",hflip" if random.random() < 0.5 else ""
        return spdl.io.decode_packets(
            packets, filter_desc=f"crop={w}:{h}:{left}:{top},scale={SIDE}:{SIDE}{flip},format=pix_fmts=rgb24")

    def gather(frames):
        return spdl.io.to_numpy(spdl.io.convert_frames(frames))

    pipeline = (
        PipelineBuilder().add_source(source()).pipe(decode, concurrency=workers).aggregate(BATCH).pipe(gather)
        .add_sink(3).build(num_threads=workers))
    with pipeline.auto_stop():
        for batch in pipeline:
            yield batch.shape[0]


def pillow_image(path):
    import numpy
    from PIL import Image

    with Image.open(path) as image:
        left, top, w, h = random_box(*image.size)
        image = image.convert("RGB").resize((SIDE, SIDE), Image.BILINEAR, box=(left, top, left + w, top + h))
    if random.random() < 0.5:
        image = image.transpose(Image.FLIP_LEFT_RIGHT)
    return numpy.asarray(image)


def grain(folder, workers):
    import grain.python as pygrain

    paths, _ = files_of(folder)
    data = pygrain.MapDataset.source(paths).seed(1).shuffle().repeat(EPOCHS).map(pillow_image).batch(BATCH)
    options = pygrain.ReadOptions(num_threads=workers, prefetch_buffer_size=2 * BATCH)
    for batch in data.to_iter_dataset(options):
        yield batch.shape[0]


def torch_loader(folder, workers):
    import torch
    import torchvision

    torch.set_num_threads(1)
    transform = torchvision.transforms.Compose([
        torchvision.transforms.RandomResizedCrop(SIDE, SCALE, RATIO),
        torchvision.transforms.RandomHorizontalFlip(),
        torchvision.transforms.PILToTensor(),
    ])
    data = torchvision.datasets.ImageFolder(folder, transform)
    loader = torch.utils.data.DataLoader(data, BATCH, shuffle=True, num_workers=workers, persistent_workers=True)
    for _ in range(EPOCHS):
        for images, _ in loader:
            yield images.shape[0]


def ffcv(folder, workers):
    # It reads a file of its own, whose JPEGs it encodes itself, with the quality that these have.
    from PIL import Image
    from ffcv.fields import IntField, RGBImageField
    from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder
    from ffcv.loader import Loader, OrderOption
    from ffcv.transforms import RandomHorizontalFlip
    from ffcv.writer import DatasetWriter

    class Pictures:
        def __init__(self):
            self.paths, self.labels = files_of(folder)

        def __len__(self):
            return len(self.paths)

        def __getitem__(self, i):
            return Image.open(self.paths[i]).convert("RGB"), self.labels[i]

    store = folder.rstrip("/") + ".beton"
    if not pathlib.Path(store).exists():
        fields = {"image": RGBImageField(write_mode="jpg", jpeg_quality=90), "label": IntField()}
        DatasetWriter(store, fields, num_workers=1).from_indexed_dataset(Pictures())
    pipelines = {
        "image": [RandomResizedCropRGBImageDecoder((SIDE, SIDE), SCALE, RATIO), RandomHorizontalFlip()],
        "label": [IntDecoder()],
    }
    loader = Loader(store, batch_size=BATCH, num_workers=workers, order=OrderOption.RANDOM, os_cache=True, seed=1,
                    drop_last=False, pipelines=pipelines)
    for _ in range(EPOCHS):
        for images, _ in loader:
            yield images.shape[0]


LOADERS = {"mlx-data": mlx_data, "tf.data": tf_data, "DALI": dali, "SPDL": spdl, "Grain": grain, "torch": torch_loader,
           "FFCV": ffcv}


def main():
    loader, folder, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    random.seed(1)
    images = begin = 0
    try:
        for number, count in enumerate(LOADERS[loader](folder, workers)):
            if number == WARM:
                begin, images = time.monotonic(), 0
            images += int(count)
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(3)
    if images == 0:
        sys.exit(f"{loader} gave no images")
    print(f"{images / (time.monotonic() - begin):.1f}")


if __name__ == "__main__":
    main()
