// SPDX-License-Identifier: Apache-2.0
#include "nvjpeg.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <penstock/error.hpp>

namespace penstock::jpeg {

namespace {

// The parts of nvJPEG's interface that are used here. The numbers are the same in its versions 12 and 13.
using Handle = struct HandleOfNvjpeg*;
using State = struct StateOfNvjpeg*;
struct Destination {
  unsigned char* channel[4];
  std::size_t pitch[4];
};
constexpr int success = 0, allocator_failure = 5, hardware_backend = 3, interleaved_rgb = 5;
// The statuses of four kinds of files: damaged files, files that nvJPEG does not support, files that the chosen backend
// does not support, and incomplete files.
constexpr int of_a_file[] = {3, 4, 9, 10};
// Interpolates chroma, like libjpeg by default. Without this flag, nvJPEG repeats chroma values.
constexpr unsigned upsampling_with_interpolation = 1u << 5;

struct Library {
  void* file = nullptr;
  std::string why;  // why the library can't be used; empty if it can
  int (*create)(int backend, void* device_allocator, void* pinned_allocator, unsigned flags, Handle*) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*hardware)(Handle, unsigned* engines, unsigned* cores) = nullptr;
  int (*create_state)(Handle, State*) = nullptr;
  int (*destroy_state)(State) = nullptr;
  int (*initialize)(Handle, State, int batch, int threads, int format) = nullptr;
  int (*decode)(Handle, State, const unsigned char* const* data, const std::size_t* lengths, Destination*,
                void* stream) = nullptr;

  Library() {
    for (const char* name : {"libnvjpeg.so.13", "/usr/local/cuda/lib64/libnvjpeg.so.13", "libnvjpeg.so.12"})
      if (file == nullptr) file = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr) {
      const char* const said = ::dlerror();
      why = std::string("libnvjpeg.so.13 is not there") + (said != nullptr ? std::string(": ") + said : "");
      return;
    }
    get("nvjpegCreateEx", create);
    get("nvjpegDestroy", destroy);
    get("nvjpegGetHardwareDecoderInfo", hardware);
    get("nvjpegJpegStateCreate", create_state);
    get("nvjpegJpegStateDestroy", destroy_state);
    get("nvjpegDecodeBatchedInitialize", initialize);
    get("nvjpegDecodeBatched", decode);
  }

 private:
  template <class Function>
  void get(const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(file, name));
    if (function == nullptr && why.empty()) why = std::string("libnvjpeg lacks ") + name;
  }
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

void check(int status, const char* what) {
  if (status == success) return;
  throw Error(status == allocator_failure ? Errc::out_of_memory : Errc::device,
              std::string(what) + " failed with status " + std::to_string(status) + " of nvJPEG");
}

// The handle of a GPU. Making a handle takes a quarter of a second. So the handle of each GPU is made on first use and
// kept.
struct GpuHandle {
  Handle handle = nullptr;
  std::string why;
};
GpuHandle open_on(Device gpu) {
  static std::mutex mutex;
  static std::map<int, GpuHandle>& all = *new std::map<int, GpuHandle>;
  const std::lock_guard lock(mutex);
  if (const auto known = all.find(gpu.index); known != all.end()) return known->second;
  GpuHandle opened{nullptr, library().why};
  if (opened.why.empty()) {
    unsigned engines = 0, cores = 0;
    const int created =
        library().create(hardware_backend, nullptr, nullptr, upsampling_with_interpolation, &opened.handle);
    if (created == allocator_failure) check(created, "nvjpegCreateEx");
    if (created != success || library().hardware(opened.handle, &engines, &cores) != success || engines == 0) {
      if (created == success) library().destroy(opened.handle);
      opened = {nullptr, to_string(gpu) + " has no engine that decodes JPEGs (status " + std::to_string(created) +
                             " of nvJPEG)"};
    }
  }
  all.emplace(gpu.index, opened);
  return opened;
}

class Batches final : public BatchDecoding {
 public:
  explicit Batches(Handle handle) : handle_(handle) {}
  ~Batches() override {
    for (const Prepared& prepared : states_)
      if (prepared.state != nullptr) library().destroy_state(prepared.state);
  }
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  bool decode(std::span<const Image> images, StreamRef stream) override {
    data_.clear();
    lengths_.clear();
    destinations_.clear();
    for (const Image& image : images) {
      data_.push_back(reinterpret_cast<const unsigned char*>(image.encoded.data()));
      lengths_.push_back(image.encoded.size());
      Destination& to = destinations_.emplace_back();
      to.channel[0] = reinterpret_cast<unsigned char*>(image.pixels);
      to.pitch[0] = static_cast<std::size_t>(image.shape.width) * static_cast<std::size_t>(image.shape.channels);
    }
    // Two states take turns, because a state is in use until its batch is decoded. The caller has waited for the batch
    // before the last one, so the state of that batch is free.
    Prepared& next = states_[std::exchange(next_, (next_ + 1) % 2)];
    if (next.state == nullptr) check(library().create_state(handle_, &next.state), "nvjpegJpegStateCreate");
    if (next.images != images.size()) {
      next.images = 0;
      check(library().initialize(handle_, next.state, static_cast<int>(images.size()), 1, interleaved_rgb),
            "nvjpegDecodeBatchedInitialize");
      next.images = images.size();
    }
    const int status =
        library().decode(handle_, next.state, data_.data(), lengths_.data(), destinations_.data(), stream.handle());
    if (std::ranges::find(of_a_file, status) != std::end(of_a_file)) {
      // The engines may be decoding some images of the batch. Destroying the state waits for them.
      library().destroy_state(std::exchange(next, {}).state);
      return false;
    }
    check(status, "nvjpegDecodeBatched");
    return true;
  }

 private:
  struct Prepared {
    State state = nullptr;
    std::size_t images = 0;  // number of images that the state is initialised for
  };
  Handle handle_;
  Prepared states_[2];
  std::size_t next_ = 0;
  std::vector<const unsigned char*> data_;
  std::vector<std::size_t> lengths_;
  std::vector<Destination> destinations_;
};

}  // namespace

std::unique_ptr<BatchDecoding> nvjpeg_batches(Device gpu, std::string& why) {
  const GpuHandle opened = open_on(gpu);
  if (opened.handle == nullptr) {
    why = opened.why;
    return nullptr;
  }
  return std::make_unique<Batches>(opened.handle);
}

}  // namespace penstock::jpeg
