// SPDX-License-Identifier: Apache-2.0
#include "sources/hdf5/random.hpp"

#include <algorithm>

namespace penstock_test {

namespace {

using Kind = H5Type::Kind;

H5Type random_number(H5Draw& draw) {
  constexpr std::size_t sizes[] = {1, 2, 4, 8};
  const bool big = draw.one_in(3);
  if (draw.one_in(3)) return h5_real(sizes[1 + draw.below(3)], big);
  return h5_integer(sizes[draw.below(4)], draw.one_in(2), big);
}

H5Type random_value(H5Draw& draw) {
  constexpr std::size_t sizes[] = {1, 2, 4, 8};
  H5Type type = random_number(draw);
  const bool big = type.big;
  const std::size_t bytes = sizes[draw.below(4)];
  switch (draw.below(12)) {
    case 0:
      return {.kind = Kind::boolean, .bytes = 1, .is_signed = true};
    case 1:
      return {.kind = Kind::enumeration, .bytes = bytes, .is_signed = draw.one_in(2), .big = big};
    case 2:
      return {.kind = Kind::bits, .bytes = bytes, .big = big};
    case 3:
      return {.kind = Kind::opaque, .bytes = 1 + draw.below(9)};
    case 4:
      return {.kind = Kind::brain, .bytes = 2, .big = big};
    case 5:
      if (type.kind != Kind::integer) return type;
      type.precision = static_cast<unsigned>(1 + type.is_signed + draw.below(type.bytes * 8 - 1));
      return type;
    default:
      return type;
  }
}

// Something that is a row by itself.
H5Type random_varying(H5Draw& draw) {
  constexpr H5T_str_t paddings[] = {H5T_STR_NULLTERM, H5T_STR_NULLPAD, H5T_STR_SPACEPAD};
  switch (draw.below(3)) {
    case 0:
      return {.kind = Kind::fixed_text, .bytes = 1 + draw.below(12), .padding = paddings[draw.below(3)]};
    case 1:
      return {.kind = Kind::text};
    default: {
      H5Type type{.kind = Kind::sequence};
      type.members.emplace_back("", random_number(draw));
      H5Type& of = type.members[0].second;
      if (of.kind == Kind::real && of.bytes == 2) of.big = false;  // the others are refused
      return type;
    }
  }
}

H5Type random_type(H5Draw& draw, bool may_vary, int depth = 0) {
  if (may_vary && draw.one_in(6)) return random_varying(draw);
  if (depth < 2 && draw.one_in(4)) {
    std::vector<std::pair<std::string, H5Type>> members;
    const std::uint64_t count = 1 + draw.below(4);
    for (std::uint64_t i = 0; i < count; ++i)
      members.emplace_back(std::string(1, static_cast<char>('a' + i)), random_type(draw, may_vary, depth + 1));
    return h5_compound(std::move(members));
  }
  if (draw.one_in(8)) {
    std::vector<hsize_t> dims(1 + draw.below(2));
    for (hsize_t& n : dims) n = 1 + draw.below(4);
    return h5_array(random_value(draw), dims);
  }
  return random_value(draw);
}

// Any bytes are a value of it.
bool is_plain(const H5Type& type) {
  switch (type.kind) {
    case Kind::boolean:
    case Kind::enumeration:
    case Kind::fixed_text:
    case Kind::text:
    case Kind::sequence:
      return false;
    default:
      return std::ranges::all_of(type.members, [](const auto& member) { return is_plain(member.second); });
  }
}

// True where bytes that no one wrote have no agreed meaning.
bool padded_with_spaces(const H5Type& type) {
  return (type.kind == Kind::fixed_text && type.padding == H5T_STR_SPACEPAD) ||
         std::ranges::any_of(type.members, [](const auto& member) { return padded_with_spaces(member.second); });
}

// Values that are stored elsewhere; the library gives them no checksum.
bool points_elsewhere(const H5Type& type) {
  return type.kind == Kind::text || type.kind == Kind::sequence ||
         std::ranges::any_of(type.members, [](const auto& member) { return points_elsewhere(member.second); });
}

std::vector<H5Filter> random_filters(H5Draw& draw, const H5Type& type) {
  using enum H5Filter;
  const bool integer = type.kind == Kind::integer;
  switch (draw.below(12)) {
    case 0:
      return {};
    case 1:
    case 2:
      return {deflate};
    case 3:
    case 4:
      return {shuffle, deflate};
    case 5:
      return {fletcher32};
    case 6:
      return {shuffle, deflate, fletcher32};
    case 7:
      return {shuffle};
    case 8:
      if (integer && type.precision == 0)
        return draw.one_in(2) ? std::vector{scaleoffset} : std::vector{scaleoffset, deflate};
      return {deflate, fletcher32};
    case 9:
      return integer ? std::vector{nbit} : std::vector{fletcher32, deflate};
    case 10:
      // Values of any length that were compressed twice are refused.
      return draw.one_in(2) || type.varies() ? std::vector{deflate, shuffle} : std::vector{deflate, deflate};
    default:
      return {fletcher32, shuffle, deflate};
  }
}

void choose_chunks(H5Draw& draw, const H5Files& files, H5Data& data) {
  data.chunk.clear();
  std::uint64_t chunks = 1;
  for (std::size_t axis = 0; axis < data.shape.size(); ++axis) {
    const hsize_t n = data.shape[axis];
    // Mostly whole images, as is usual.
    const bool whole = axis != 0 && !draw.one_in(3);
    hsize_t each = whole ? std::max<hsize_t>(n, 1) : 1 + draw.below(std::max<hsize_t>(n, 1));
    if (draw.one_in(12)) each = n + 1 + draw.below(4);
    if (each > n) data.resizable = true;
    data.chunk.push_back(each);
    chunks *= (n + each - 1) / each;
  }
  if (draw.one_in(3)) data.resizable = true;
  data.filters = random_filters(draw, data.type);
  if (points_elsewhere(data.type)) std::erase(data.filters, H5Filter::fletcher32);
  data.level = static_cast<unsigned>(draw.below(10));
  data.edges_unfiltered = files.latest && draw.one_in(3);
  if (draw.one_in(3) && !padded_with_spaces(data.type))
    for (std::uint64_t i = 0; i < chunks; ++i)
      if (draw.one_in(3)) data.left_out.insert(i);
  if (draw.one_in(3) && !data.edges_unfiltered && is_plain(data.type)) {
    unsigned refused = 0;  // filters that only the library can apply
    for (std::size_t i = 0; i < data.filters.size(); ++i)
      if (data.filters[i] != H5Filter::shuffle && data.filters[i] != H5Filter::deflate) refused |= 1u << i;
    for (std::uint64_t i = 0; i < chunks; ++i)
      if (draw.one_in(2)) data.stored_as[i] = refused | static_cast<unsigned>(draw.below(1u << data.filters.size()));
  }
}

// How a dataset is stored, anew.
void choose_storage(H5Draw& draw, const H5Files& files, H5Data& data) {
  data.layout = H5D_CONTIGUOUS;
  data.chunk.clear();
  data.filters.clear();
  data.resizable = data.edges_unfiltered = data.never_written = false;
  data.left_out.clear();
  data.stored_as.clear();
  data.fill.reset();
  data.seed = draw.bits();
  data.dense = draw.one_in(2);
  const std::uint64_t layout = draw.below(8);
  constexpr std::size_t max_compact = 60'000;
  if (layout == 0 && data.elements() * H5Tget_size(stored_type(data.type)) <= max_compact) data.layout = H5D_COMPACT;
  if (layout > 2) {
    data.layout = H5D_CHUNKED;
    choose_chunks(draw, files, data);
  }
  // Chunks written past the library over others that have their place already make files that it can't read.
  data.early = data.layout != H5D_COMPACT && data.stored_as.empty() && draw.one_in(5);
  if (is_plain(data.type) && draw.one_in(2)) {
    std::string fill(H5Tget_size(stored_type(data.type)), '\0');
    for (char& byte : fill) byte = static_cast<char>(draw.bits());
    data.fill = fill;
  }
  data.never_written = draw.one_in(12) && !padded_with_spaces(data.type);
}

void choose_format(H5Draw& draw, H5Files& files) {
  constexpr hsize_t user_blocks[] = {512, 1024, 4096};
  files.user_block = draw.one_in(5) ? user_blocks[draw.below(3)] : 0;
  files.latest = draw.one_in(3);
  files.narrow = !files.latest && draw.one_in(4);  // together the library makes files it can't open
}

hsize_t random_rows(H5Draw& draw) {
  if (draw.one_in(15)) return draw.below(2);
  return 1 + draw.below(30);
}

}  // namespace

H5Files random_files(H5Draw& draw) {
  constexpr const char* paths[] = {"x", "/train/images", "a b/c"};
  H5Files files;
  choose_format(draw, files);
  const std::uint64_t count = 1 + draw.below(3);
  const hsize_t rows = random_rows(draw);
  for (std::uint64_t i = 0; i < count; ++i) {
    H5Data data{.path = paths[i]};
    data.type = random_type(draw, draw.one_in(2));
    data.shape = {rows};
    std::uint64_t elements = 1;
    const std::uint64_t rank = data.type.varies() ? 1 : 1 + draw.below(5);
    while (data.shape.size() < rank) {
      const hsize_t n = draw.one_in(20) ? 0 : draw.one_in(4) ? 1 : 1 + draw.below(7);
      data.shape.push_back(elements * n > 80 ? 1 : n);
      elements *= data.shape.back();
    }
    choose_storage(draw, files, data);
    files.data.push_back(std::move(data));
  }
  return files;
}

H5Files like(const H5Files& files, H5Draw& draw) {
  H5Files other = files;
  choose_format(draw, other);
  const hsize_t rows = random_rows(draw);
  for (H5Data& data : other.data) {
    data.shape[0] = rows;
    choose_storage(draw, other, data);
  }
  return other;
}

std::string description(const H5Files& files) {
  constexpr const char* kinds[] = {"integer", "real",       "brain", "boolean",  "enumeration", "bits",
                                   "opaque",  "fixed_text", "text",  "sequence", "array",       "compound"};
  constexpr const char* filters[] = {"deflate", "shuffle", "fletcher32", "scaleoffset", "nbit", "szip"};
  constexpr const char* layouts[] = {"compact", "contiguous", "chunked"};
  std::string text;
  const auto list = [&](const auto& numbers) {
    text += "[";
    for (const auto n : numbers) text += std::to_string(n) + " ";
    text += "] ";
  };
  if (files.user_block != 0) text += "user block, ";
  if (files.latest) text += "latest, ";
  if (files.narrow) text += "narrow, ";
  for (const H5Data& data : files.data) {
    text += "\n  " + data.path + ": " + kinds[static_cast<int>(data.type.kind)] + " " +
            std::to_string(data.type.bytes) + (data.type.is_signed ? " signed" : "") + (data.type.big ? " big" : "");
    if (data.type.precision != 0) text += " of " + std::to_string(data.type.precision) + " bits";
    for (const auto& [name, member] : data.type.members)
      text += " " + name + ":" + kinds[static_cast<int>(member.kind)] + std::to_string(member.bytes);
    list(data.shape);
    text += layouts[data.layout];
    if (!data.chunk.empty()) list(data.chunk);
    for (const H5Filter filter : data.filters) text += std::string(" ") + filters[static_cast<int>(filter)];
    for (const auto& [flag, word] : {std::pair{data.resizable, " resizable"},
                                     {data.early, " early"},
                                     {data.edges_unfiltered, " edges_unfiltered"},
                                     {data.fill.has_value(), " fill"},
                                     {data.never_written, " never_written"},
                                     {data.dense, " dense"}})
      if (flag) text += word;
    if (!data.left_out.empty()) text += " " + std::to_string(data.left_out.size()) + " chunks left out";
    if (!data.stored_as.empty()) text += " " + std::to_string(data.stored_as.size()) + " chunks with a mask";
  }
  return text;
}

}  // namespace penstock_test
