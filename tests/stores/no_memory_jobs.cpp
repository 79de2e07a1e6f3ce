// SPDX-License-Identifier: Apache-2.0
#include "no_memory_jobs.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include <penstock/emulated_gpu.hpp>
#include <penstock/extend/device_stage.hpp>
#include <penstock/join.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/coco.hpp>
#include <penstock/sources/csv.hpp>
#include <penstock/sources/feature_bags.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/sources/hdf5_sink.hpp>
#include <penstock/sources/json_lines.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_cache.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/sources/voc.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/yolo.hpp>
#include <penstock/write.hpp>

#include "store_jobs.hpp"
#ifdef PENSTOCK_TEST_TILES
#include <penstock/sources/coords.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "sources/slide/slide_files.hpp"
#endif

namespace penstock_test {

namespace {

using namespace penstock;

constexpr std::int64_t count = 24;

// FNV-1a: nothing of the test itself takes memory meanwhile.
struct Digest {
  std::uint64_t value = 0xcbf29ce484222325;
  void add(const void* data, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; ++i)
      value = (value ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3;
  }
  void add(const TensorView& tensor) noexcept {
    for (const std::int64_t dim : tensor.shape.dims()) add(&dim, sizeof dim);
    add(tensor.data, tensor.bytes());
  }
  void add(const Batch& batch) {
    const std::uint64_t rows = batch.size();
    add(&rows, sizeof rows);
    add(batch.indices().data(), batch.indices().size_bytes());
    add(batch.mask().data(), batch.mask().size_bytes());
    for (const Field& field : batch.schema()) {
      if (field.collate.kind != Collate::Kind::ragged) {
        add(batch[field.name]);
        continue;
      }
      const RaggedRows ragged = batch.ragged(field.name);
      for (std::uint64_t row = 0; row < rows; ++row) add(ragged[row]);
    }
  }
};

std::uint64_t epochs(const Pipeline& pipeline, LoaderOptions options = {.threads = 2}, int number = 1) {
  options.epochs = static_cast<std::uint64_t>(number);
  Loader loader(pipeline, options);
  Digest digest;
  for (int epoch = 0; epoch < number; ++epoch)
    while (std::optional<Batch> batch = loader.next()) digest.add(*batch);
  return digest.value;
}

Memory numbers() {
  std::vector<float> x(static_cast<std::size_t>(count) * 16);
  std::vector<std::int64_t> y(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 101);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<std::int64_t>(i % 5);
  Memory memory;
  memory.add("x", {16}, std::move(x)).add("y", {}, std::move(y));
  return memory;
}

struct Numbers {
  std::int64_t at = 0;
  Schema schema() const { return {{"y", DType::i64, {}}}; }
  void reset(std::uint64_t) { at = 0; }
  bool next(SampleBuilder& out) {
    if (at == count) return false;
    if (at++ % 7 == 3) throw Error(Errc::corrupt, "this one is bad");
    out.scalar<std::int64_t>(0, at);
    return true;
  }
};

// Two of each record.
struct Two {
  Schema schema(const Schema& in) const { return in.with({"part", DType::u32, {}}); }
  std::string name() const { return "two"; }
  std::uint32_t count(const Sample&, Context&) const { return 2; }
  void child(const Sample&, std::uint32_t number, Sample& out, Context&) const {
    out.emplace<std::uint32_t, 0>("part", {})() = number;
  }
};

// Doubles x, on whatever the stream belongs to.
struct Doubled {
  Schema schema(const Schema& in) const { return in; }
  std::vector<std::string> writes() const { return {"x"}; }
  void run(BatchView in, BatchView out, StreamRef stream) const {
    const TensorView from = in["x"], to = out["x"];
    launch_on_host(stream, "double", [from, to] {
      const auto* const x = reinterpret_cast<const float*>(from.data);
      for (std::size_t i = 0; i < from.bytes() / sizeof(float); ++i) reinterpret_cast<float*>(to.data)[i] = 2 * x[i];
    });
  }
};

Stage odd() {
  return filter("y", [](View<const std::int64_t, 0> y) { return y() % 2 == 1; });
}

void write_csv(const std::string& file) {
  std::ofstream out(file);
  out << "id,a,b,word\n";
  for (int i = 0; i < count; ++i) out << "k" << i << "," << i * 3 << "," << 0.25 * i << ",word" << i << "\n";
}

void write_json_lines(const std::string& file) {
  std::ofstream out(file);
  for (int i = 0; i < count; ++i)
    out << "{\"id\":\"k" << i << "\",\"of\":{\"label\":\"" << (i % 2 == 0 ? "a" : "b\\n") << "\"},\"word\":\"\\u00e4"
        << i << "\",\"x\":[[" << i << ",0.5]]}\n";
}

// Four pictures with an object each, as COCO, VOC and YOLO have them.
void write_boxes(const std::string& folder) {
  for (const char* name : {"Annotations", "JPEGImages", "labels"})
    std::filesystem::create_directory(folder + "/" + name);
  std::string images, annotations;
  for (int i = 0; i < 4; ++i) {
    const std::string number = std::to_string(i);
    std::ofstream(folder + "/JPEGImages/picture-with-a-long-name-" + number + ".jpg") << "picture " << i;
    std::ofstream(folder + "/Annotations/picture-with-a-long-name-" + number + ".xml")
        << "<annotation><object><name>a class with a long name</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax>"
           "<ymax>3</ymax></bndbox></object></annotation>";
    std::ofstream(folder + "/labels/picture-with-a-long-name-" + number + ".txt") << "0 0.5 0.5 1 1\n";
    images += (i == 0 ? "{\"id\":" : ",{\"id\":") + number + ",\"file_name\":\"picture-with-a-long-name-" + number +
              ".jpg\",\"width\":4,\"height\":3}";
    annotations += (i == 0 ? "{\"id\":" : ",{\"id\":") + number + ",\"image_id\":" + number +
                   ",\"category_id\":1,\"bbox\":[0,0,2,2],\"keypoints\":[1,1,2],\"segmentation\":" +
                   (i == 0 ? "{\"size\":[3,4],\"counts\":[2,10]}" : "[[0,0,3,0,3,3]]") + "}";
  }
  std::ofstream(folder + "/a.json")
      << "{\"images\":[" << images << "],\"annotations\":[" << annotations
      << "],\"categories\":[{\"id\":1,\"name\":\"a class with a long n\\u0061me\",\"keypoints\":[\"x\"]}]}";
}

const StoreJob& store_job(const std::string& name) {
  for (const StoreJob& job : store_jobs())
    if (job.name == name) return job;
  throw std::runtime_error("no job " + name);
}

void prepared(const std::string& name, const std::string& data) { store_job(name).write(data, {.sync = false}); }

MemoryJob reads(std::string name, std::function<void(const std::string&)> prepare,
                std::function<Pipeline(const std::string&)> pipeline, LoaderOptions options = {.threads = 2},
                int number = 1) {
  MemoryJob job;
  job.name = std::move(name);
  job.prepare = std::move(prepare);
  job.run = [pipeline = std::move(pipeline), options, number](const std::string& data, const std::string&) {
    return epochs(pipeline(data), options, number);
  };
  return job;
}

std::function<void(const std::string&)> by(const std::string& store) {
  return [store](const std::string& data) { prepared(store, data); };
}

Stage four() { return batch(4); }

void add_sources(std::vector<MemoryJob>& jobs) {
  jobs.push_back(reads("memory, shuffled, mapped", {}, [](const std::string&) {
    return from(numbers()) | shuffle() | map("y", [](View<std::int64_t, 0> y) { y() += 1; }) | four();
  }));
  jobs.push_back(reads("memory, filter, flat_map", {}, [](const std::string&) {
    return from(numbers()) | drop_fields({"x"}) | odd() | flat_map(Two{}) | four();
  }));
  jobs.push_back(reads("stream, bad ones dropped", {}, [](const std::string&) {
    return from(Numbers{}) | on_error({.policy = OnError::drop}) | four();
  }));
  jobs.push_back(reads("stream, shuffled, bad ones masked", {}, [](const std::string&) {
    return from(Numbers{}) | shuffle({.window = 8}) | on_error({.policy = OnError::mask}) | four();
  }));
  jobs.push_back(reads("LMDB", by("lmdb"), [](const std::string& data) {
    return from(Lmdb{.path = data + "/store"}) | shuffle() | ragged("image") | four();
  }));
  jobs.push_back(reads("LMDB, raw values", by("lmdb raw"), [](const std::string& data) {
    return from(Lmdb{.path = data + "/store.lmdb", .values = LmdbValues::raw, .access = FileAccess::read}) |
           ragged(LmdbSource({.path = data + "/store.lmdb", .values = LmdbValues::raw}).schema()[0].name) | four();
  }));
  jobs.push_back(reads("tar", by("webdataset"), [](const std::string& data) {
    return from(WebDataset{.path = data + "/part-*.tar"}) | shuffle() | ragged("bin") | four();
  }));
  jobs.push_back(reads("files", by("files"), [](const std::string& data) {
    return from(Files{.root = data + "/out", .labels = data + "/out/records.csv"}) | shuffle() | ragged("image") |
           four();
  }));
  jobs.push_back(reads(
      "csv", [](const std::string& data) { write_csv(data + "/t.csv"); },
      [](const std::string& data) {
        return from(Csv{.path = data + "/t.csv", .key = "id"}) | shuffle() | ragged("word") | four();
      }));
  jobs.push_back(reads(
      "json", [](const std::string& data) { write_json_lines(data + "/t.jsonl"); },
      [](const std::string& data) {
        return from(JsonLines{.path = data + "/t.jsonl",
                              .key = "id",
                              .fields = {{.member = "of.label", .type = JsonType::classes, .field = "label"},
                                         {.member = "word", .type = JsonType::text},
                                         {.member = "x", .shape = {dynamic, 2}}}}) |
               shuffle() | ragged("word") | ragged("x") | four();
      }));
  jobs.push_back(reads("COCO", write_boxes, [](const std::string& data) {
    return from(Coco{
               .annotations = data + "/a.json", .images = data + "/JPEGImages", .masks = true, .keypoints = true}) |
           shuffle() | ragged("image") | ragged("boxes") | ragged("classes") | ragged("masks") | ragged("keypoints") |
           batch(2);
  }));
  jobs.push_back(reads("VOC", write_boxes, [](const std::string& data) {
    return from(Voc{.root = data}) | shuffle() | ragged("image") | ragged("boxes") | ragged("classes") |
           ragged("difficult") | batch(2);
  }));
  jobs.push_back(reads("YOLO", write_boxes, [](const std::string& data) {
    return from(Yolo{.images = data + "/JPEGImages", .labels = data + "/labels"}) | shuffle() | ragged("image") |
           ragged("boxes") | ragged("classes") | batch(2);
  }));
  jobs.push_back(reads("HDF5, sequences", by("hdf5"), [](const std::string& data) {
    return from(Hdf5{.paths = {data + "/part-000000.h5", data + "/part-000001.h5", data + "/part-000002.h5"}}) |
           shuffle() | ragged("image") | four();
  }));
  for (const bool isolate : {false, true})
    for (const unsigned deflate : {0u, 4u})
      jobs.push_back(reads(
          std::string("HDF5, ") + (deflate != 0 ? "packed chunks" : "not packed") + (isolate ? ", isolated" : ""),
          [deflate](const std::string& data) {
            write(from(numbers()),
                  Hdf5Sink({.path = data + "/x.h5", .single_file = true, .deflate = deflate, .sync = false}),
                  {.threads = 1});
          },
          [isolate](const std::string& data) {
            return from(Hdf5{.path = data + "/x.h5", .max_kept_bytes = 0, .isolate = isolate}) | shuffle() | four();
          }));
  jobs.push_back(reads("bags of features", by("features"), [](const std::string& data) {
    return from(FeatureBags{.path = data + "/out/h5_files"}) | shuffle() | ragged("features") | ragged("coords") |
           batch(2);
  }));
  jobs.push_back(reads("joins", by("lmdb"), [](const std::string& data) {
    const Lmdb store{.path = data + "/store"};
    return from(zip({concat(store, store), {interleave(store, store), "b_"}}, {.by = PairBy::position})) | shuffle() |
           ragged("image") | ragged("b_image") | four();
  }));
}

void add_caches(std::vector<MemoryJob>& jobs) {
  jobs.push_back(reads(
      "cache in memory", {},
      [](const std::string&) {
        return from(numbers()) | cache({.max_bytes = 1 << 20, .allows = {.unversioned = true}}) | shuffle() | four();
      },
      {.threads = 2}, 2));
}

void add_devices(std::vector<MemoryJob>& jobs) {
  MemoryJob job;
  job.name = "the host as a device";
  job.run = [](const std::string&, const std::string&) {
    return epochs(from(numbers()) | shuffle() | four() | device_stage(Doubled{}), {.threads = 2}, 2);
  };
  jobs.push_back(job);
  for (const auto mode : {EmulatedGpuOptions::Mode::threaded, EmulatedGpuOptions::Mode::late}) {
    const bool late = mode == EmulatedGpuOptions::Mode::late;
    job.name = std::string("emulated device") + (late ? ", late, checked" : "");
    job.run = [=](const std::string&, const std::string&) {
      EmulatedGpu gpu({.mode = mode, .checked = late});
      return epochs(from(numbers()) | shuffle() | four() | device_stage(Doubled{}),
                    {.device = gpu.device(), .threads = 2}, 2);
    };
    jobs.push_back(job);
    job.name = std::string("emulated device, a stream of the caller's") + (late ? ", late, checked" : "");
    job.run = [=](const std::string&, const std::string&) {
      EmulatedGpu gpu({.mode = mode, .checked = late});
      EmulatedGpu::Stream stream = gpu.make_stream("training");
      Loader loader(from(numbers()) | shuffle() | four(),
                    {.device = gpu.device(), .threads = 2, .growth = Growth::on_demand, .epochs = 1});
      Digest digest;
      while (std::optional<Batch> batch = loader.next(stream.ref())) {
        const TensorView x = (*batch)["x"];
        stream.launch("look", [&digest, x] { digest.add(x); }, {{x.data, x.bytes(), false}});
        stream.synchronize();
      }
      return digest.value;
    };
    jobs.push_back(job);
  }
}

void add_states(std::vector<MemoryJob>& jobs) {
  MemoryJob job;
  job.name = "saved and resumed";
  job.run = [](const std::string&, const std::string& work) {
    const Pipeline pipeline = from(numbers()) | shuffle() | odd() | four();
    const std::string file = work + "/state";
    Digest digest;
    {
      Loader loader(pipeline, {.threads = 2});
      digest.add(*loader.next());
      loader.save(file);
    }
    Loader loader(pipeline, {.threads = 2, .epochs = 1});
    loader.resume(file);
    while (std::optional<Batch> batch = loader.next()) digest.add(*batch);
    return digest.value;
  };
  job.content = [](const std::string& work) {
    const State state = load_state(work + "/state");
    return std::string(reinterpret_cast<const char*>(&state), sizeof state);
  };
  jobs.push_back(job);
}

void add_sinks(std::vector<MemoryJob>& jobs) {
  for (const StoreJob& store : store_jobs()) {
    MemoryJob job;
    job.name = (store.cache ? "cache of LMDB" : "sink: " + store.name);
    job.run = [&store](const std::string&, const std::string& work) {
      store.write(work, {.sync = false});
      return std::uint64_t{0};
    };
    job.content = store.content;
    if (store.cache) job.runs_to_finish = 2;
    jobs.push_back(job);
  }
  MemoryJob job;
  job.name = "write: filtered, into LMDB";
  job.run = [](const std::string&, const std::string& work) {
    write(from(numbers()) | odd(), LmdbSink({.path = work + "/store", .job = "test", .sync = false}),
          {.threads = 2, .commit_every = 3});
    return std::uint64_t{0};
  };
  job.content = [](const std::string& work) {
    const std::uint64_t digest = epochs(from(Lmdb{.path = work + "/store"}) | four());
    return std::to_string(digest);
  };
  jobs.push_back(job);
}

#ifdef PENSTOCK_TEST_TILES
void write_slide_with_regions(const std::string& data) {
  write_slide(data + "/a.svs", {.width = 187, .height = 96, .tile_width = 32, .tile_height = 32, .per_unit = 10'000});
  std::filesystem::create_directory(data + "/regions");
  std::ofstream(data + "/regions/a.geojson")
      << R"({"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Polygon",)"
      << R"("coordinates":[[[0,0],[130,0],[130,90],[0,90],[0,0]]]},)"
      << R"("properties":{"classification":{"name":"tumor"}}}]})";
}

Slides slide_in(const std::string& data) {
  return {.files = data + "/a.svs",
          .size = 32,
          .regions = {.folder = data + "/regions",
                      .include = {"*"},
                      .field = "region",
                      .mpp = 1,
                      .origin = SlideRegions::Origin::slide}};
}

void add_slides(std::vector<MemoryJob>& jobs) {
  jobs.push_back(reads("slide, regions", write_slide_with_regions,
                       [](const std::string& data) { return from(slide_in(data)) | shuffle() | four(); }));
  jobs.push_back(reads(
      "slide, places of a list",
      [](const std::string& data) {
        write_slide_with_regions(data);
        write_coords(SlideSource(slide_in(data)), data + "/coords", false);
      },
      [](const std::string& data) {
        Slides slide = slide_in(data);
        slide.regions = {};
        slide.coords = read_coords(data + "/coords");
        return from(std::move(slide)) | random_crop("image", {24, 24}) | four();
      }));
}
#endif

}  // namespace

std::vector<MemoryJob> memory_jobs() {
  std::vector<MemoryJob> jobs;
  add_sources(jobs);
  add_caches(jobs);
  add_devices(jobs);
  add_states(jobs);
  add_sinks(jobs);
#ifdef PENSTOCK_TEST_TILES
  add_slides(jobs);
#endif
  return jobs;
}

}  // namespace penstock_test
