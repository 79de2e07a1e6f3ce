# SPDX-License-Identifier: Apache-2.0
# Reads C++ files and says where they break the folder rules. Works in any awk.
# Arguments (-v): files = list of all files of the tree, facts = what CMake knows of the components (may be empty),
# folders = list of the folders with a component of their own. Run from the top of the tree.

function report(text) { printf "%s:%d: %s\n", file, line, text; bad++ }

# a/b/../c -> a/c; a path that leaves the tree keeps its leading ..
function normal(path,    n, parts, i, out, depth) {
  n = split(path, parts, "/"); depth = 0
  for (i = 1; i <= n; i++) {
    if (parts[i] == "" || parts[i] == ".") continue
    if (parts[i] == ".." && depth > 0 && out[depth] != "..") { depth--; continue }
    out[++depth] = parts[i]
  }
  path = ""
  for (i = 1; i <= depth; i++) path = path (i > 1 ? "/" : "") out[i]
  return path
}

function folder_of(path) { return match(path, /\/[^\/]*$/) ? substr(path, 1, RSTART - 1) : "" }

# The part of the tree that may be included with quotes from this file.
function home_of(path,    folder) {
  for (folder = folder_of(path); folder != ""; folder = folder_of(folder)) if (folder in own_folder) return folder
  match(path, /^[^\/]*/)
  return substr(path, 1, RLENGTH)
}

# The part of the tree with floors that a file stands in, and its folder there.
function house_of(path,    house, found) {
  for (house in houses) if (starts(path, house "/") && length(house) > length(found)) found = house
  return found
}
function room_of(path,    house) {
  house = house_of(path)
  if (house == "" || starts(path, "src/testing/")) return ""
  path = substr(path, length(house) + 2)
  return index(path, "/") ? house "/" substr(path, 1, index(path, "/") - 1) : ""
}
# What a pipeline says knows nothing of what runs it, nor of what a run is asked and answers.
function check_wing(path, name) {
  if (!(room_of(file) in said)) return
  if (room_of(path) in floor && !(room_of(path) in said) || name ~ /^penstock\/(loader|report|write)\.hpp$/)
    report(room_of(file) "/ belongs to what is said and may not include what runs it: " name)
}
# A private name tells its wing: what is said lives in penstock::detail, what runs it in penstock::detail::runtime.
function check_namespace(code) {
  if (code !~ /^namespace (penstock::)?detail(::runtime)? \{/) return
  if (room_of(file) in said && code ~ /::runtime /) report(room_of(file) "/ belongs to what is said: its names live in penstock::detail")
  if (room_of(file) in floor && !(room_of(file) in said) && code !~ /::runtime /)
    report(room_of(file) "/ runs what is said: its names live in penstock::detail::runtime")
}
function check_floor(path, name) {
  if (room_of(path) in floor && room_of(file) in floor && house_of(path) == house_of(file) && floor[room_of(path)] > floor[room_of(file)])
    report(room_of(file) "/ stands below " room_of(path) "/ and may not include \"" name "\"")
}
function build_house(house, rooms,    i, n, words) {
  houses[house] = 1
  n = split(rooms, words, " ")
  for (i = 1; i <= n; i++) floor[house "/" words[i]] = i
}

function starts(text, prefix) { return substr(text, 1, length(prefix)) == prefix }

# Where a quoted include leads: beside the file, or below one of the include folders its target may have.
function resolve(name,    home, n, roots, i, path, first) {
  home = home_of(file)
  n = split(folder_of(file) "|" home "|" top "|src|" folder_of(file) "/..|.|include", roots, "|")
  first = ""
  for (i = 1; i <= n; i++) {
    path = normal(roots[i] "/" name)
    if (!(path in exists)) continue
    if (first == "") first = path
    # A compiler's cache does not look for a header that comes to stand before the one that it knows.
    else if (path != first) { report("\"" name "\" may be " first " or " path ": give one another name"); break }
  }
  return first != "" ? first : normal(folder_of(file) "/" name)
}

# Comments and the insides of string literals out; block comments and line state are kept between lines.
function strip(text,    out, i, c, two, quote) {
  # Most lines need no walk through their characters.
  if (in_comment) { if (!index(text, "*/")) return "" }
  else if (!index(text, "/*") && text !~ /["']/) { sub(/\/\/.*/, "", text); return text }
  else if (!index(text, "/*") && top != "include") return text
  out = ""; quote = ""
  for (i = 1; i <= length(text); i++) {
    c = substr(text, i, 1); two = substr(text, i, 2)
    if (in_comment) { if (two == "*/") { in_comment = 0; i++ } continue }
    if (quote != "") { if (c == "\\") i++; else if (c == quote) { quote = ""; out = out c } continue }
    if (two == "//") break
    if (two == "/*") { in_comment = 1; i++; continue }
    if (c == "\"" || (c == "'" && out !~ /[A-Za-z0-9_]$/)) quote = c
    out = out c
  }
  return out
}

function is_third_party(name) {
  return name ~ /^(tbb|oneapi|hwy|Random123|CLI|fmt|nlohmann|benchmark|catch2|hdf5|openslide|tiff|libyuv|turbojpeg|libspng|openjpeg-[0-9.]*|nvtx3|thrust|cub|webp)\// ||
         name ~ /^(lmdb|mpi|xxhash|xxh3|jpeglib|jerror|jmorecfg|turbojpeg|png|spng|hdf5|hdf5_hl|H5[A-Za-z]*|openslide|tiff[a-z]*|libdeflate|archive|archive_entry|openjpeg|libyuv|cuda[a-z_]*|nvToolsExt)\.h(pp)?$/
}
function is_tbb(name) { return name ~ /^(tbb|oneapi)\// }
function is_cuda(name) { return name ~ /^(cuda[a-z_]*\.h|cuda\/|nvtx3\/|nvToolsExt|thrust\/|cub\/)/ }

# Kernels of a transform: where CUDA may be named outside of the core.
function is_kernel(file) { return file ~ /^transforms\/(.*\/)?cuda\/[^\/]*\.cu$/ }

# Does a component's closure hold this one? Depth: a circle of components must not send us around for ever.
function reaches(from, to, depth,    i, n, list) {
  if (from == to) return 1
  if (depth > 10) return 0
  n = split(depends[from], list, " ")
  for (i = 1; i <= n; i++) if (reaches(list[i], to, depth + 1)) return 1
  return 0
}

# What the library keeps to itself. The export macro is everybody's.
function is_glue(name) { return name ~ /^penstock\/detail\// && name != "penstock/detail/export.hpp" }
function is_part(file) { return file ~ /^(sources|transforms|include\/penstock\/(sources|transforms))\// }

function check_public_header(angled, name) {
  if (!angled) { report("public headers include each other as <penstock/...>, not \"" name "\""); return }
  if (starts(name, "penstock/")) {
    if (!(("include/" name) in exists)) report("<" name "> does not exist")
    if (is_part(file) && is_glue(name)) report("what is built in lives on what a stranger gets: not <" name ">")
    if (file !~ /^include\/penstock\/interop\/cuda/ && name ~ /^penstock\/interop\/cuda/) report("include/penstock/interop/cuda.hpp is for those who have CUDA: <" name ">")
    return
  }
  if (name in standard) return
  if (file ~ /^include\/penstock\/interop\/cuda/ && is_cuda(name)) return
  report("a public header may include the standard library and <penstock/...> only, not <" name ">")
}

function check_include(angled, name,    path, home) {
  path = ""
  if (top == "include") { check_public_header(angled, name); check_owner(name); return }
  if (angled) {
    if (name ~ /^\.\.?\// || name ~ /^(src|sources|transforms|include|tests|examples|bench)\//) report("<" name "> reaches into the tree; only <penstock/...> is public")
    if (starts(name, "penstock/") && !(("include/" name) in exists)) report("<" name "> does not exist")
    if (starts(name, "penstock/")) check_owner(name)
  } else {
    path = resolve(name)
    if (starts(path, "include/")) report("public headers are included as <penstock/...>, not \"" name "\"")
  }
  home = home_of(file)
  if (!angled) check_floor(path, name)
  if (top == "src") check_wing(path, name)

  if (file ~ /^src\/cli\//) {
    if (!angled && !starts(path, "src/cli/")) report("the tool uses public headers and its own only, not \"" name "\"")
    if (angled && (is_tbb(name) || is_cuda(name))) report("the tool uses public headers only, not <" name ">")
  } else if (file ~ /^src\/testing\//) {
    if (!angled && !starts(path, "src/testing/")) report("the conformance suites use public headers and their own only, not \"" name "\"")
    if (is_third_party(name)) report("the conformance suites use the standard library only, not <" name ">")
  } else if (top == "src") {
    if (name ~ /^penstock\/(sources|transforms)\//) report("src/ knows no particular source or transform: <" name ">")
    if (name ~ /^penstock\/interop\/cuda/) report("src/ is below the component cuda: <" name ">")
    if (is_tbb(name) && file != "src/base/executor.cpp") report("TBB may be included by src/base/executor.cpp only: <" name ">")
    else if (file !~ /^src\/(device|image)\/cuda\//) {
      if (is_cuda(name) && !(path in exists)) report("CUDA may be included by src/device/cuda/, src/image/cuda/ and by kernels, transforms/*/cuda/*.cu, only: <" name ">")
      if (path ~ /^src\/(device|image)\/cuda\// && path !~ /^src\/(device\/cuda\/cuda|image\/cuda\/kernels)\.hpp$/) report("of src/*/cuda/ others may include device/cuda/cuda.hpp and image/cuda/kernels.hpp only, which name no CUDA: \"" name "\"")
    }
    if (is_third_party(name) && !is_tbb(name) && !is_cuda(name) && name !~ /^(Random123\/|xxhash\.h$)/) report("the core uses TBB, Random123 and xxHash only, not <" name ">")
    if (!angled && (!starts(path, "src/") || starts(path, "src/cli/") || starts(path, "src/testing/"))) report("src/ uses its own headers and <penstock/...> only, not \"" name "\"")
  } else if (top == "sources" || top == "transforms") {
    if (starts(file, "sources/common/")) home = "sources/common"
    if (is_glue(name)) report("what is built in lives on what a stranger gets: not <" name ">")
    if (!angled && !starts(path, home "/") && !(top == "sources" && starts(path, "sources/common/"))) report(home "/ uses public headers and its own only, not \"" name "\"")
    if (is_tbb(name)) report("TBB may be included by src/base/executor.cpp only: <" name ">")
    if (!is_kernel(file) && ((is_cuda(name) && !(path in exists)) || name ~ /^penstock\/interop\/cuda/)) report("CUDA may be included by src/device/cuda/, src/image/cuda/ and by kernels, transforms/*/cuda/*.cu, only: <" name ">")
  } else if (top == "examples" || top == "bench") {
    if (!angled && !starts(path, top "/")) report(top "/ uses public headers and its own only, not \"" name "\"")
  } else if (top == "tests") {
    if (!angled && !starts(path, "tests/") && !(file ~ /^tests\/(core|cuda)\// && starts(path, "src/") && !starts(path, "src/cli/") && !starts(path, "src/testing/")))
      report((starts(path, "src/") ? "only tests/core and tests/cuda may look into src/, and not into src/cli/: \"" : "tests use public headers and their own only, not \"") name "\"")
    if (file !~ /^tests\/cuda\// && (is_cuda(name) || name ~ /^penstock\/interop\/cuda/ || starts(path, "src/device/cuda/"))) report("of the tests, tests/cuda alone may include CUDA: " name)
  }
}

# With CMake's facts: a file may include headers of its own component and of those it depends on.
function check_owner(name,    mine, theirs) {
  if (!have_facts || !starts(name, "penstock/")) return
  mine = (top == "include") ? owner[substr(file, 9)] : component_at[home_of(file)]
  if (top == "src" && file !~ /^src\/(cli|testing)\//) mine = "core"
  if (mine == "") return
  theirs = owner[name]
  if (theirs == "cuda" && is_kernel(file)) return  # a build without kernels has no such component
  if (theirs != "" && !reaches(mine, theirs, 0)) report("component " mine " does not depend on " theirs ", whose header <" name "> is")
}

BEGIN {
  n = split("algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex span sstream stack stdexcept stop_token streambuf string string_view syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version", words, " ")
  for (i = 1; i <= n; i++) standard[words[i]] = 1
  # The lowest floor first. What stands at the edges (dlpack) uses public headers only, so it is below them all.
  build_house("src", "dlpack base data order join device image pipeline ring chain stages blocks reorder engine delivery report loader write")
  n = split("base data order join device image pipeline", words, " ")
  for (i = 1; i <= n; i++) said["src/" words[i]] = 1
  build_house("src/cli", "console stages slides stores look tile bench")
  build_house("sources/hdf5", "filters library isolation source sink")
  build_house("sources/lmdb", "store source sink cache")
  build_house("sources/slide", "file index pixels table tissue regions stain source picture")
  while ((getline text < files) > 0) exists[text] = 1
  while ((getline text < folders) > 0) own_folder[text] = 1
  if (facts != "") while ((getline text < facts) > 0) {
    have_facts = 1
    split(text, f, " ")
    if (f[1] == "DEPENDS") depends[f[2]] = depends[f[2]] " " f[3]
    if (f[1] == "HEADERS") owner[f[3]] = f[2]
    if (f[1] == "SOURCES") { listed[f[3]] = f[2]; if (is_kernel(f[3])) kernels[f[2]] = 1; if (f[2] != "core" && !starts(f[3], "sources/common/")) component_at[home_of(f[3])] = f[2] }
    if (f[1] == "PRIVATE_LIBS") libs[f[2]] = libs[f[2]] " " f[3]
    if (f[1] == "component") components[f[2]] = 1
    if (f[1] == "complete") complete = 1
  }
}

FNR == 1 {
  file = FILENAME; in_comment = 0; match(file, /^[^\/]*/); top = substr(file, 1, RLENGTH)
  line = 1
  if (house_of(file) != "" && file !~ /^src\/testing\// && file !~ /^src\/cli\/(main\.cpp|commands\.hpp)$/ && !(room_of(file) in floor)) report("a file of " house_of(file) "/ stands in one of its folders: see ARCHITECTURE.md")
  if ((top == "sources" || top == "transforms") && !(home_of(file) in own_folder) && !starts(file, "sources/common/")) report("belongs to no component: no CMakeLists.txt with penstock_component() above it")
  if (complete) {
    if (top == "include" && !(substr(file, 9) in owner)) report("no component installs this header: list it in HEADERS")
    if (file ~ /^(src|sources|transforms)\/.*\.(cpp|cu)$/ && file !~ /^src\/cli\// && !(file in listed)) report("no component compiles this file: list it in SOURCES")
  }
}

{
  line = FNR
  was_comment = in_comment
  code = strip($0)
  if (!was_comment && $0 ~ /^[ \t]*#[ \t]*(include|include_next|import)[ \t]*[<"]/) {
    text = $0; sub(/^[^<"]*/, "", text)
    angled = substr(text, 1, 1) == "<"
    text = substr(text, 2); sub(/[>"].*/, "", text)
    check_include(angled, text)
    next
  }
  if (code ~ /^[ \t]*#[ \t]*include/) report("an include must be written out, so that it can be checked")
  # They return a std::ranges::subrange of the library of g++ 12, which clang 14 and 15 can't compile.
  if (code ~ /(^|[^A-Za-z0-9_])ranges::(unique|remove|remove_if|search|search_n|find_end|partition|stable_partition|rotate|equal_range)[ \t]*\(/)
    report("clang 14 can't compile this; take the algorithm of std:: that returns an iterator: " code)
  if (top == "src") check_namespace(code)
  if (is_part(file) && code ~ /(^|[^A-Za-z0-9_])detail::/) report("what is built in lives on what a stranger gets: " code)
  if (top == "include") {
    if (code ~ /(^|[^A-Za-z0-9_])(tbb|oneapi|hwy|r123|fmt|nlohmann|CLI)::/ ||
        code ~ /(^|[^A-Za-z0-9_])namespace[ \t]+(tbb|oneapi|hwy|r123|fmt|nlohmann|CLI)([^A-Za-z0-9_]|$)/ ||
        code ~ /(^|[^A-Za-z0-9_])(MDB_[A-Za-z]|mdb_[a-z]|jpeg_[a-z]*_struct|j_(de)?compress_ptr|tjhandle|hid_t|herr_t|hsize_t|H5[A-Z][a-z]|_?openslide_|png_struct|png_info|spng_ctx|XXH[0-9]|XXH_|libdeflate_|opj_|TIFF[^A-Za-z0-9_]|WebP[A-Z])/)
      report("a public header names no third-party type: " code)
    if (file !~ /^include\/penstock\/interop\/cuda/ && code ~ /(^|[^A-Za-z0-9_])(cuda[A-Z][A-Za-z]*|CU(stream|event|context|device)|nvtx[A-Z])/)
      report("CUDA's names may stand in include/penstock/interop/cuda.hpp only: " code)
  }
}

END {
  file = "CMake"; line = 0
  for (c in components) {
    if (c == "core" && depends[c] != "") report("the core depends on no component, not on" depends[c])
    if (c != "core" && libs[c] ~ / TBB::/) report("component " c " links TBB; the core alone does")
    if (c != "core" && c != "cuda" && !(c in kernels) && libs[c] ~ / CUDA::/) report("component " c " links CUDA; the core, the component cuda and those with kernels do")
  }
  for (h in owner) if (!(("include/" h) in exists)) report("component " owner[h] " lists <" h ">, which does not exist")
  exit bad > 0
}
