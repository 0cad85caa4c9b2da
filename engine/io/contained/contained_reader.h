// Files that are read in a process of their own, looking like any other reader. While the program works on some slices,
// the process reads the next ones, so that files that are read in their order cost no more than here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/io/contained/descriptor.h"
#include "engine/io/image_stream.h"

namespace echolux {

struct ContainedFile {
    std::string kind;                     // engine/reader/readers.cpp lists them
    std::filesystem::path path;           // for messages
    std::string part{};                   // of the file, for kinds that have some
    std::vector<std::int64_t> numbers{};  // what else the kind needs
    std::int64_t max_bytes = 0;           // of memory, beside what the process has before it reads
    std::int64_t longest_s = 20;          // of one answer, beside what the sizes of file and voxels add
};

// Reads the header. Throws Error{bad_file, bad_setting, out_of_memory, device (no reader process)}.
std::unique_ptr<ImageReader> open_contained(ContainedFile what, Descriptor file);

// The file at what.path, which must be a regular one.
std::unique_ptr<ImageReader> open_contained(ContainedFile what);

}  // namespace echolux
