// Runs one reader under libFuzzer. It receives untrusted bytes and may only read them or throw echolux::Error. All
// targets are in one program, so that it is linked once; ECHOLUX_FUZZ_TARGET selects the target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "engine/io/image_stream.h"

namespace echolux::fuzz {

using Bytes = std::span<const std::byte>;
using Target = void (*)(Bytes);

// Registers a target; a static object in each target's file.
struct Registration {
    Registration(const char* name, Target target);
};

// Writes the file `name` to an in-memory folder of this process. It is rewritten for each input.
std::filesystem::path file_with(const std::string& name, Bytes bytes);

// Unpacks several files from the input into a folder of that name. Each file is stored as "NAME SIZE" on one line and
// then its bytes. Unpacking ends at a name with other characters than lower-case letters, digits, dots and slashes.
std::filesystem::path folder_with(const std::string& name, Bytes bytes);

// Reads everything a reader offers if it is small: header, levels, slices, boxes.
void read_all(ImageReader& reader);

// Reads the bytes in a format of the table, selected by the file name.
void read_image_file(const std::string& name, Bytes bytes);

}  // namespace echolux::fuzz
