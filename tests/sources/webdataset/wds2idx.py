# SPDX-License-Identifier: Apache-2.0
"""Writes index files in the form v1.2 that DALI documents for its wds2idx: wds2idx.py SHARD.tar INDEX.idx ...

The members are those that Python's tarfile finds.
"""

import sys
import tarfile


def samples_of(shard):
    samples, last = [], None
    with tarfile.open(shard, "r:") as tar:
        for member in tar:
            if member.type != tarfile.REGTYPE:
                continue
            name = member.name.encode("utf-8", "surrogateescape")
            dot = name.find(b".", name.rfind(b"/") + 1)
            key, extension = name[:dot], name[dot + 1:]
            if not key or key.endswith(b"/"):
                continue
            if key != last:
                samples.append([])
                last = key
            samples[-1].append(b"%s %d %d %s" % (extension, member.offset_data, member.size, name))
    return samples


def main():
    for shard, index in zip(sys.argv[1::2], sys.argv[2::2]):
        samples = samples_of(shard)
        if not samples:
            raise ValueError(f"{shard} has no samples")
        with open(index, "wb") as out:
            out.write(b"v1.2 %d\n" % len(samples))
            out.writelines(b" ".join(sample) + b"\n" for sample in samples)


if __name__ == "__main__":
    main()
