// SPDX-License-Identifier: Apache-2.0
#include "store/missing_pages.hpp"

#include <cstddef>
#include <new>
#include <span>
#include <vector>

#include <penstock/extend/file_descriptor.hpp>

#include "store/bytes.hpp"
#include "store/header.hpp"

namespace penstock::lmdb {

namespace {

// The layout of a file in version 1 of LMDB's format. Numbers are in the machine's byte order.
constexpr std::uint64_t page_header = 16, node_header = 8, first_tree_page = 2;
constexpr std::uint16_t branch_page = 0x01, leaf_page = 0x02, large_value = 0x01;
constexpr std::uint64_t no_root = ~std::uint64_t{0};
constexpr std::size_t number_bytes = sizeof(std::uint64_t);
// Offsets in each of the two pages of the file's header. Like every page, both pages begin with a page header.
constexpr std::size_t root_of_free_at = page_header + 24 + 40, root_of_main_at = root_of_free_at + 48,
                      transaction_at = page_header + 128;
constexpr std::size_t header_bytes_read = transaction_at + number_bytes;
constexpr unsigned deepest_tree = 32;

struct Damaged {};
void require(bool right) {
  if (!right) throw Damaged();
}

// Goes through both trees of a file. No page is in them twice. So if they have more pages together than the file has, a
// tree is damaged.
class Trees {
 public:
  explicit Trees(const ShortFile& file)
      : file_(file), pages_(file.bytes / file.page_bytes), left_(pages_), missing_(file.last_page - pages_ + 1) {}

  bool lack_free_pages_only() {
    // The file lists each free page as a number. If more pages are missing than numbers fit into the file, the list
    // can't have all of them.
    require(missing_ != 0 && missing_ <= file_.bytes / number_bytes);
    is_free_.resize(static_cast<std::size_t>(missing_));
    std::vector<std::byte> header(header_bytes_read);
    read(header, file_.transaction % 2 * file_.page_bytes);
    require(number_at<std::uint64_t>(header, transaction_at) == file_.transaction);
    go_through(number_at<std::uint64_t>(header, root_of_free_at), true);
    if (found_ != missing_) return false;
    go_through(number_at<std::uint64_t>(header, root_of_main_at), false);
    return true;
  }

 private:
  void read(std::span<std::byte> to, std::uint64_t offset) const {
    require(read_whole(file_.descriptor, to, offset) == to.size());
  }

  // Counts `count` pages of a tree, from page `first` on. Throws Damaged if not all of them are in the file, or if all
  // pages counted so far are more than the file has.
  void use(std::uint64_t first, std::uint64_t count) {
    require(first >= first_tree_page && first < pages_ && count <= pages_ - first && count <= left_);
    left_ -= count;
  }

  void go_through(std::uint64_t root, bool of_free) {
    of_free_ = of_free;
    if (root != no_root) visit(root, 0);
  }

  void visit(std::uint64_t number, unsigned depth) {
    require(depth < deepest_tree);
    use(number, 1);
    std::vector<std::byte> page(static_cast<std::size_t>(file_.page_bytes));
    read(page, number * file_.page_bytes);
    require(number_at<std::uint64_t>(page, 0) == number);
    const auto kind = number_at<std::uint16_t>(page, 10), lower = number_at<std::uint16_t>(page, 12);
    require(((kind & branch_page) != 0) != ((kind & leaf_page) != 0) && lower >= page_header && lower <= page.size());
    std::size_t room = page.size() - lower;  // nodes don't overlap, so together they have at most this many bytes
    for (std::size_t at = page_header; at + 2 <= lower; at += 2) {
      const std::size_t node = number_at<std::uint16_t>(page, at);
      require(node >= lower && node + node_header <= page.size());
      const auto low = number_at<std::uint16_t>(page, node), high = number_at<std::uint16_t>(page, node + 2),
                 flags = number_at<std::uint16_t>(page, node + 4), key_bytes = number_at<std::uint16_t>(page, node + 6);
      const std::uint64_t small = low | std::uint64_t{high} << 16;
      const bool leaf = (kind & leaf_page) != 0, large = (flags & large_value) != 0;
      const std::uint64_t value_bytes = !leaf ? 0 : large ? number_bytes : small;
      const std::uint64_t node_bytes = node_header + key_bytes + value_bytes;
      require(node_bytes <= room && node_bytes <= page.size() - node);
      room -= node_bytes;
      const std::size_t value = node + node_header + key_bytes;
      if (!leaf)
        visit(small | std::uint64_t{flags} << 32, depth + 1);
      else if (large)
        take_large(number_at<std::uint64_t>(page, value), small);
      else if (of_free_)
        take(std::span(page).subspan(value, static_cast<std::size_t>(small)));
    }
  }

  void take_large(std::uint64_t first, std::uint64_t bytes) {
    use(first, (page_header + bytes - 1) / file_.page_bytes + 1);
    if (!of_free_) return;
    std::vector<std::byte> value(static_cast<std::size_t>(bytes));
    read(value, first * file_.page_bytes + page_header);
    take(value);
  }

  // Reads a list of free pages: how many there are, then the number of each page. Marks the missing pages among them.
  void take(std::span<const std::byte> list) {
    require(list.size() >= number_bytes);
    const auto count = number_at<std::uint64_t>(list, 0);
    require(count <= list.size() / number_bytes - 1);
    for (std::uint64_t i = 1; i <= count; ++i) {
      const auto page = number_at<std::uint64_t>(list, static_cast<std::size_t>(i * number_bytes));
      if (page < pages_ || page > file_.last_page) continue;
      auto bit = is_free_[static_cast<std::size_t>(page - pages_)];
      if (!bit) ++found_;
      bit = true;
    }
  }

  const ShortFile& file_;
  const std::uint64_t pages_;
  std::uint64_t left_;
  const std::uint64_t missing_;
  std::uint64_t found_ = 0;
  std::vector<bool> is_free_;  // one bit per missing page
  bool of_free_ = false;       // whether the current tree is the one whose values are lists of free pages
};

}  // namespace

bool lacks_free_pages_only(const ShortFile& file) noexcept try {
  if (!is_page_size(file.page_bytes)) return false;
  return Trees(file).lack_free_pages_only();
} catch (const Damaged&) {
  return false;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace penstock::lmdb
