// Reads files in a separate process behind the usual ImageReader interface. While the program works on some slices, the
// process reads the next ones, so that sequential reading is as fast as in this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/io/contained/descriptor.h"
#include "engine/io/image_stream.h"

namespace echolux {

// A file and the limits for reading it.
struct ContainedFile {
    std::string kind;                     // see engine/reader/main.cpp
    std::filesystem::path path;           // for messages
    std::string part{};                   // part of the file, for kinds that have parts
    std::vector<std::int64_t> numbers{};  // further parameters of the kind
    std::int64_t max_bytes = 0;           // memory limit, in addition to what the process has before reading
    std::int64_t longest_s = 20;          // timeout per answer, in addition to time for the data's size
};

// Starts the process and reads the header. Throws Error{bad_file, bad_setting, out_of_memory, device (no reader
// process)}.
std::unique_ptr<ImageReader> open_contained(ContainedFile what, Descriptor file);

// Opens what.path, which must be a regular file.
std::unique_ptr<ImageReader> open_contained(ContainedFile what);

}  // namespace echolux
