// SPDX-License-Identifier: Apache-2.0
// penstock-hdf5-reader: reads an HDF5 file for a process that does not trust the file. Only Penstock starts this
// program.
#include "serve.hpp"

int main(int count, char** arguments) { return penstock::hdf5::serve_reader(count, arguments); }
