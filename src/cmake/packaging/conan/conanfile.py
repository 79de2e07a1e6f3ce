# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe. An option for each component: True builds the component and all that it needs. The libraries that
Penstock uses are the system's packages, which `system_requirements` names. From the top of the tree:

    conan create src/cmake/packaging/conan -s compiler.cppstd=20 -o "&:tool=True"

Programs use the package by `find_package(penstock COMPONENTS ...)`.
"""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

# What a component needs: other components, and Debian's packages.
COMPONENTS = {
    "image": (["libhwy-dev"], []),
    "jpeg": (["libjpeg-dev"], ["image"]),
    "png": (["libpng-dev", "zlib1g-dev", "libdeflate-dev"], ["image"]),
    "webp": (["libwebp-dev"], ["image"]),
    "tiff": (["libtiff-dev"], ["image"]),
    "numeric": ([], []),
    "codecs": ([], ["jpeg", "png"]),
    "csv": ([], []),
    "detection": (["libpugixml-dev"], []),
    "files": (["nlohmann-json3-dev"], []),
    "hdf5": (["libhdf5-dev", "libdeflate-dev", "nlohmann-json3-dev"], []),
    "json": ([], []),
    "lmdb": (["liblmdb-dev", "nlohmann-json3-dev"], []),
    "remote": (["libcurl4-openssl-dev"], []),
    "slide": (["libopenjp2-7-dev", "libpugixml-dev", "libzstd-dev", "nlohmann-json3-dev"], ["jpeg", "png"]),
    "coords": ([], ["hdf5", "slide"]),
    "webdataset": (["nlohmann-json3-dev"], []),
    "testing": ([], []),
}
CORE = ["libtbb-dev", "librandom123-dev", "libxxhash-dev"]
DEFAULT = ["image", "jpeg", "png", "codecs", "files", "lmdb"]
FILTERS = ["liblzf-dev", "liblz4-dev", "libzstd-dev", "libblosc-dev"]
TOOL = ["libcli11-dev", "libfmt-dev", "nlohmann-json3-dev", "libtomlplusplus-dev", "zlib1g-dev"]


class Penstock(ConanFile):
    name = "penstock"
    license = "Apache-2.0"
    description = "Asynchronous data loading for C++ training loops"
    topics = ("data-loading", "machine-learning", "pathology", "cuda")
    package_type = "library"
    test_package_folder = "../../../../tests/package/conan"
    settings = "os", "arch", "compiler", "build_type"
    # None: decided by the other options. Conan changes no option that has a value.
    options = {"shared": [True, False], "tool": [True, False], "cuda": [True, False], "hdf5_filters": [None, True, False],
               **{name: [None, True, False] for name in COMPONENTS}}
    default_options = {"shared": False, "tool": False, "cuda": False}

    def top(self):
        return os.path.join(self.recipe_folder, *[os.pardir] * 4)

    def set_version(self):
        header = load(self, os.path.join(self.top(), "include/penstock/version.hpp"))
        self.version = ".".join(re.findall(r"#define PENSTOCK_VERSION_\w+ (\d+)", header))

    def export(self):
        copy(self, "version.hpp", os.path.join(self.top(), "include/penstock"), os.path.join(self.export_folder, "include/penstock"))

    def export_sources(self):
        for name in ("CMakeLists.txt", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "NOTICE", "include/*", "src/*", "sources/*", "transforms/*", "docs/*", "examples/*"):
            copy(self, name, self.top(), self.export_sources_folder)

    def configure(self):
        def undecided(name): return getattr(self.options, name) == None  # an object of Conan's, which is never None itself

        def switch_on(name, wanted_by):
            if undecided(name): setattr(self.options, name, True)
            if not getattr(self.options, name): raise ConanInvalidConfiguration(f"{wanted_by} needs the option {name}")

        if self.options.tool:
            for name in ["hdf5_filters", *COMPONENTS]:
                if name != "testing": switch_on(name, "tool")
        if self.options.hdf5_filters: switch_on("hdf5", "hdf5_filters")
        # The table lists what a component needs before the component, so this order meets each component before its needs.
        for name in reversed(list(COMPONENTS)):
            if undecided(name) and name in DEFAULT: setattr(self.options, name, True)
            if getattr(self.options, name):
                for needed in COMPONENTS[name][1]: switch_on(needed, name)
        for name in ["hdf5_filters", *COMPONENTS]:
            if undecided(name): setattr(self.options, name, False)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def system_requirements(self):
        packages = set(CORE)
        for name, (own, _) in COMPONENTS.items():
            if getattr(self.options, name): packages |= set(own)
        if self.options.hdf5_filters: packages |= set(FILTERS)
        if self.options.tool: packages |= set(TOOL)
        Apt(self).install(sorted(packages), update=True, check=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name in COMPONENTS: toolchain.cache_variables["PENSTOCK_" + name.upper()] = bool(getattr(self.options, name))
        toolchain.cache_variables["PENSTOCK_HDF5_FILTERS"] = bool(self.options.hdf5_filters)
        toolchain.cache_variables["PENSTOCK_CUDA"] = bool(self.options.cuda)
        toolchain.cache_variables["PENSTOCK_TOOL"] = bool(self.options.tool)
        toolchain.cache_variables["CMAKE_UNITY_BUILD"] = True
        toolchain.cache_variables["CMAKE_UNITY_BUILD_BATCH_SIZE"] = "16"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        for name in ("LICENSE", "NOTICE"): copy(self, name, self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # The package's own CMake files are found, not ones that Conan would write.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/penstock"]
        self.cpp_info.bindirs = ["bin"]
        if self.options.tool: self.runenv_info.prepend_path("PATH", os.path.join(self.package_folder, "bin"))
