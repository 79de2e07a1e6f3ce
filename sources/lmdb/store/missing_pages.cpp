#include "store/missing_pages.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <vector>

#include <penstock/extend/file_descriptor.hpp>

namespace penstock::lmdb {

namespace {

// How LMDB lays out its file, version 1 of its format: numbers are the machine's.
constexpr std::uint64_t page_header = 16, node_header = 8, first_tree_page = 2;
constexpr std::uint16_t branch_page = 0x01, leaf_page = 0x02, large_value = 0x01;
constexpr std::uint64_t no_root = ~std::uint64_t{0};
// In a page of the header, after what begins each page.
constexpr std::size_t root_of_free_at = page_header + 24 + 40, transaction_at = page_header + 128;
constexpr std::size_t header_bytes_read = transaction_at + 8;
constexpr unsigned deepest_tree = 32;

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t at) noexcept {
  T number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

struct Damaged {};
void require(bool right) {
  if (!right) throw Damaged();
}

// Goes through the tree whose values are lists of free pages.
class FreePages {
 public:
  explicit FreePages(const ShortFile& file) : file_(file), pages_(file.bytes / file.page_bytes), left_(pages_) {}

  // Those from `first` to the last one, each once.
  std::uint64_t count_from(std::uint64_t first) {
    first_ = first;
    std::vector<std::byte> header(header_bytes_read);
    read(header, file_.transaction % 2 * file_.page_bytes);
    require(number_at<std::uint64_t>(header, transaction_at) == file_.transaction);
    const auto root = number_at<std::uint64_t>(header, root_of_free_at);
    if (root != no_root) visit(root, 0);
    std::ranges::sort(found_);
    return static_cast<std::uint64_t>(std::unique(found_.begin(), found_.end()) - found_.begin());
  }

 private:
  void read(std::span<std::byte> to, std::uint64_t offset) const {
    require(read_whole(file_.descriptor, to, offset) == to.size());
  }

  void visit(std::uint64_t number, unsigned depth) {
    // No page comes twice, so there are no more than the file has.
    require(number >= first_tree_page && number < pages_ && depth < deepest_tree && left_-- != 0);
    std::vector<std::byte> page(file_.page_bytes);
    read(page, number * file_.page_bytes);
    require(number_at<std::uint64_t>(page, 0) == number);
    const auto kind = number_at<std::uint16_t>(page, 10), lower = number_at<std::uint16_t>(page, 12);
    require(((kind & branch_page) != 0) != ((kind & leaf_page) != 0) && lower >= page_header && lower <= page.size());
    for (std::size_t at = page_header; at + 2 <= lower; at += 2) {
      const std::size_t node = number_at<std::uint16_t>(page, at);
      require(node >= lower && node + node_header <= page.size());
      const auto low = number_at<std::uint16_t>(page, node), high = number_at<std::uint16_t>(page, node + 2),
                 flags = number_at<std::uint16_t>(page, node + 4), key_bytes = number_at<std::uint16_t>(page, node + 6);
      const std::uint64_t small = low | std::uint64_t{high} << 16;
      if ((kind & branch_page) != 0)
        visit(small | std::uint64_t{flags} << 32, depth + 1);
      else
        take_value(page, node + node_header + key_bytes, small, (flags & large_value) != 0);
    }
  }

  void take_value(std::span<const std::byte> page, std::size_t at, std::uint64_t bytes, bool large) {
    if (!large) {
      require(at <= page.size() && bytes <= page.size() - at);
      return take(page.subspan(at, static_cast<std::size_t>(bytes)));
    }
    require(at <= page.size() && page.size() - at >= sizeof(std::uint64_t));
    const auto first = number_at<std::uint64_t>(page, at);
    require(first < pages_ && bytes <= file_.bytes - first * file_.page_bytes - page_header);
    std::vector<std::byte> value(static_cast<std::size_t>(bytes));
    read(value, first * file_.page_bytes + page_header);
    take(value);
  }

  // How many, and then these.
  void take(std::span<const std::byte> list) {
    constexpr std::size_t width = sizeof(std::uint64_t);
    require(list.size() >= width);
    const auto count = number_at<std::uint64_t>(list, 0);
    require(count <= list.size() / width - 1);
    for (std::uint64_t i = 1; i <= count; ++i)
      if (const auto page = number_at<std::uint64_t>(list, i * width); page >= first_ && page <= file_.last_page)
        found_.push_back(page);
  }

  const ShortFile& file_;
  const std::uint64_t pages_;
  std::uint64_t left_, first_ = 0;
  std::vector<std::uint64_t> found_;
};

}  // namespace

bool lacks_free_pages_only(const ShortFile& file) noexcept try {
  const std::uint64_t whole = file.bytes / file.page_bytes;
  if (whole > file.last_page) return true;
  return FreePages(file).count_from(whole) == file.last_page - whole + 1;
} catch (const Damaged&) {
  return false;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace penstock::lmdb
