// SPDX-License-Identifier: Apache-2.0
#include "library/direct_access.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>

#include <penstock/error.hpp>

#include "library/conversion.hpp"
#include "library/dataset_facts.hpp"
#include "library/driver.hpp"
#include "library/fill_value.hpp"
#include "library/link_target.hpp"
#include "library/open_file.hpp"

namespace penstock::hdf5 {

namespace {

// Memory into which the library writes strings. The destructor frees the memory, and the library frees none.
class RoomForTexts {
 public:
  explicit RoomForTexts(std::uint64_t bytes) : left_(bytes) {}
  bool was_full() const noexcept { return full_; }

  static void* give(std::size_t bytes, void* room) noexcept {
    try {
      return static_cast<RoomForTexts*>(room)->take(bytes);
    } catch (...) {
      return nullptr;  // out of memory
    }
  }
  static void keep(void*, void*) noexcept {}

 private:
  void* take(std::size_t bytes) {
    full_ = full_ || bytes > left_;
    if (full_) return nullptr;
    left_ -= bytes;
    if (bytes > in_block_) {
      in_block_ = std::max(bytes, usual_block);
      blocks_.push_back(std::make_unique<char[]>(in_block_));
      next_ = blocks_.back().get();
    }
    in_block_ -= bytes;
    return std::exchange(next_, next_ + bytes);
  }

  static constexpr std::size_t usual_block = 1u << 16;
  std::uint64_t left_;
  bool full_ = false;
  std::size_t in_block_ = 0;
  char* next_ = nullptr;
  std::deque<std::unique_ptr<char[]>> blocks_;
};

// Returns whether the library may leave memory unwritten for values that were never written to the file. The library
// does so if the file asks for it. Every virtual dataset counts, because one of its sources may ask for it, or its
// mappings may overlap.
bool may_leave_places(hid_t dataset) {
  const Handle creation = own_list(H5Dget_create_plist(dataset));
  H5D_fill_time_t when = H5D_FILL_TIME_ERROR;
  return !creation || H5Pget_fill_time(creation.get(), &when) < 0 || when == H5D_FILL_TIME_NEVER ||
         H5Pget_layout(creation.get()) == H5D_VIRTUAL;
}

}  // namespace

DirectAccess::DirectAccess(const std::string& path) {
  const LibraryLock lock;
  file_ = open_file(path);
  void* descriptor = nullptr;
  if (H5Fget_vfd_handle(file_.get(), H5P_DEFAULT, &descriptor) < 0 || descriptor == nullptr)
    throw Error(Errc::io, "the file's descriptor is not to be had: " + library_says());
  descriptor_ = *static_cast<const int*>(descriptor);
}

std::vector<ListedDataset> DirectAccess::list() {
  const LibraryLock lock;
  return datasets_in(file_.get());
}

DatasetFacts DirectAccess::dataset(const std::string& path) {
  const LibraryLock lock;
  OpenDataset opened;
  const OpenRecorder opens;
  opened.id = Handle(H5Dopen2(file_.get(), path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!opened.id) {
    const std::string why = later_version();
    throw Error(why.empty() ? Errc::not_found : Errc::unsupported,
                "dataset '" + path + "': " + (why.empty() ? why_no_dataset(file_.get(), path) : why));
  }
  opened.type = own_type(H5Dget_type(opened.id.get()));
  DatasetFacts facts;
  try {
    if (!opened.type) throw Error(Errc::corrupt, library_says());
    facts = facts_of(file_.get(), opened.id.get(), opened.type.get());
    opened.elsewhere = find_outside_values(file_.get(), opened.id.get(), opens);
    opened.leaves_places = may_leave_places(opened.id.get());
    opened.fill = facts.fill;
  } catch (const Error& error) {
    throw Error(error.code(), "dataset '" + path + "': " + error.cause());
  }
  if (opened.elsewhere) {
    facts.files = opened.elsewhere->files;
    facts.absent = opened.elsewhere->absent;
    facts.faults = opened.elsewhere->faults.words();
    facts.lost = opened.elsewhere->faults.stretches();
    facts.told = opened.elsewhere->told;
  }
  facts.number = datasets_.size();
  datasets_.push_back(std::move(opened));
  return facts;
}

ElementFacts DirectAccess::element(std::size_t dataset, const std::string& member) {
  const LibraryLock lock;
  OpenElement opened;
  try {
    opened.element = element_of(datasets_.at(dataset).type.get(), member);
  } catch (const NoElement& none) {
    throw Error(none.no_member ? Errc::not_found : Errc::unsupported, none.reason);
  }
  const Element& element = opened.element;
  opened.alone = nested_in(element.path,
                           element.form == ElementFacts::Form::variable ? element.memory.get() : element.stored.get());
  if (const OpenDataset& of = datasets_.at(dataset); of.leaves_places && element.form != ElementFacts::Form::variable) {
    // A virtual dataset's creation list has all its mappings, so it may be large. So it is fetched here, and not at
    // each read.
    const Handle creation = own_list(H5Dget_create_plist(of.id.get()));
    opened.fill = fill_of(creation.get(), opened.alone.get(), H5Tget_size(opened.alone.get()));
  }
  ElementFacts facts = element;
  facts.number = elements_.size();
  elements_.push_back(std::move(opened));
  return facts;
}

std::optional<StoredChunk> DirectAccess::find_chunk(std::size_t dataset, std::span<const std::uint64_t> first) {
  const LibraryLock lock;
  const hid_t id = datasets_.at(dataset).id.get();
  std::array<hsize_t, H5S_MAX_RANK> at{};
  std::copy(first.begin(), first.end(), at.begin());
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(id, at.data(), &bytes) < 0) {
    const std::string wrong = library_says();
    // For a chunk that was never written, some versions of the library return a size of 0, others fail with these
    // words.
    if (wrong.find("storage is not allocated") != std::string::npos) return std::nullopt;
    throw Error(Errc::corrupt, wrong);
  }
  if (bytes == 0) return std::nullopt;
  StoredChunk chunk;
  std::byte nothing{};
  const ReadProbe where;
  if (H5Dread_chunk(id, H5P_DEFAULT, at.data(), &chunk.mask, &nothing) < 0) throw Error(Errc::corrupt, library_says());
  const auto piece = where.piece();
  if (!piece || piece->bytes != bytes) throw Error(Errc::corrupt, "the HDF5 library does not say where it lies");
  chunk.offset = piece->offset;
  chunk.bytes = piece->bytes;
  return chunk;
}

void DirectAccess::read_filled(const Slab& slab, hid_t memory, std::span<const std::byte> fill,
                               std::span<std::byte> out) {
  if (datasets_.at(slab.dataset).leaves_places) repeat_over(out, fill);
  read_slab(slab, memory, out, own_list(H5Pcreate(H5P_DATASET_XFER)));
}

void DirectAccess::read_slab(const Slab& slab, hid_t memory, std::span<std::byte> out, const Handle& transfer) {
  if (out.empty()) return;
  const OpenDataset& dataset = datasets_.at(slab.dataset);
  const hid_t id = dataset.id.get();
  const auto& elsewhere = dataset.elsewhere;
  if (elsewhere && !slab.lost_too) elsewhere->require_rows(slab.first.front(), slab.count.front());
  std::array<hsize_t, H5S_MAX_RANK> at{}, extent{};
  std::copy(slab.first.begin(), slab.first.end(), at.begin());
  std::copy(slab.count.begin(), slab.count.end(), extent.begin());
  const Handle file_space = own_space(H5Dget_space(id));
  const Handle memory_space = own_space(H5Screate_simple(static_cast<int>(slab.count.size()), extent.data(), nullptr));
  if (!slab.verify_checksum) H5Pset_edc_check(transfer.get(), H5Z_DISABLE_EDC);
  bool unfit = false;
  if (elsewhere && elsewhere->converted) H5Pset_type_conv_cb(transfer.get(), refuse_what_does_not_fit, &unfit);
  const OpenRecorder opens;
  if (H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, at.data(), nullptr, extent.data(), nullptr) < 0 ||
      H5Dread(id, memory, memory_space.get(), file_space.get(), transfer.get(), out.data()) < 0)
    throw Error(Errc::corrupt,
                unfit ? "a value does not fit the dataset's type, which is another than its source's" : library_says());
  if (elsewhere) elsewhere->require_unchanged(opens, slab.first.front(), slab.count.front(), slab.lost_too);
}

void DirectAccess::read(const Slab& slab, std::span<std::byte> out) {
  const LibraryLock lock;
  const OpenDataset& dataset = datasets_.at(slab.dataset);
  read_filled(slab, dataset.type.get(), dataset.fill, out);
}

void DirectAccess::read_column(const Slab& slab, std::size_t element, std::span<std::byte> out) {
  const LibraryLock lock;
  const OpenElement& of = elements_.at(element);
  read_filled(slab, of.alone.get(), of.fill, out);
}

void DirectAccess::read_variable(const Slab& slab, std::size_t element,
                                 const std::function<std::span<std::byte>(std::uint64_t)>& memory_for) {
  union {
    char* text;
    hvl_t sequence;
  } value{};
  const LibraryLock lock;  // the library's memory must also be given back under the lock
  const OpenElement& of = elements_.at(element);
  const bool is_text = of.element.string;
  const std::size_t bytes = is_text ? sizeof value.text : sizeof value.sequence;
  read_slab(slab, of.alone.get(), {reinterpret_cast<std::byte*>(&value), bytes}, own_list(H5Pcreate(H5P_DATASET_XFER)));
  const hsize_t one = 1;
  const Handle space = own_space(H5Screate_simple(1, &one, nullptr));
  struct Reclaim {
    hid_t type, space;
    void* value;
    ~Reclaim() { H5Dvlen_reclaim(type, space, H5P_DEFAULT, value); }
  } reclaim{of.alone.get(), space.get(), &value};
  const void* data = is_text ? value.text : value.sequence.p;
  const std::size_t length = !is_text ? value.sequence.len : value.text == nullptr ? 0 : std::strlen(value.text);
  const std::span<std::byte> to = memory_for(length);
  if (!to.empty()) std::memcpy(to.data(), data, to.size());
}

// Reads element `number` of the slab.
void DirectAccess::read_one(const Slab& slab, std::uint64_t number, hid_t memory, const char*& out,
                            const Handle& transfer) {
  std::vector<std::uint64_t> first(slab.first.begin(), slab.first.end());
  for (std::size_t d = slab.count.size(); d-- > 0; number /= slab.count[d]) first[d] += number % slab.count[d];
  const std::vector<std::uint64_t> one(slab.count.size(), 1);
  read_slab({slab.dataset, first, one, slab.verify_checksum, slab.lost_too}, memory,
            std::as_writable_bytes(std::span(&out, 1)), transfer);
}

Texts DirectAccess::read_texts(const Slab& slab, std::size_t element, std::uint64_t max_bytes) {
  std::uint64_t rows = 1;
  for (const std::uint64_t n : slab.count) rows *= n;
  std::vector<const char*> found(rows, nullptr);
  RoomForTexts room(max_bytes + rows);  // each string ends with a NUL
  const LibraryLock lock;
  const OpenElement& of = elements_.at(element);
  if (!of.element.string) throw Error(Errc::corrupt, "it has no strings");
  const Handle transfer = own_list(H5Pcreate(H5P_DATASET_XFER));
  H5Pset_vlen_mem_manager(transfer.get(), RoomForTexts::give, &room, RoomForTexts::keep, &room);
  try {
    read_slab(slab, of.alone.get(), std::as_writable_bytes(std::span(found)), transfer);
    // The library may have left values without a mapping unwritten. It fills such a value if the value's row is read
    // alone.
    if (const auto& elsewhere = datasets_.at(slab.dataset).elsewhere; elsewhere && elsewhere->unfilled)
      for (std::uint64_t row = 0; rows > 1 && row < rows; ++row)
        if (found[row] == nullptr) read_one(slab, row, of.alone.get(), found[row], transfer);
  } catch (const Error&) {
    if (!room.was_full()) throw;
    throw Error(Errc::limit_exceeded, "they have more than " + std::to_string(max_bytes) + " bytes");
  }
  Texts texts;
  for (const char* text : found) {
    texts.bytes += text == nullptr ? "" : text;
    texts.ends.push_back(texts.bytes.size());
  }
  return texts;
}

void DirectAccess::convert(std::size_t element, std::uint64_t count, std::span<const std::byte> stored,
                           std::span<std::byte> out) {
  const LibraryLock lock;
  const Element& of = elements_.at(element).element;
  std::vector<std::byte> work(std::max(stored.size(), out.size()));
  std::copy(stored.begin(), stored.end(), work.begin());
  if (H5Tconvert(of.stored.get(), of.memory.get(), count, work.data(), nullptr, H5P_DEFAULT) < 0)
    throw Error(Errc::unsupported, library_says());
  std::copy_n(work.begin(), out.size(), out.begin());
}

}  // namespace penstock::hdf5
