// One reader under libFuzzer: it is given bytes that a stranger may have sent, and may do nothing but read them or
// throw echolux::Error. All targets are in one program, so that it is linked once: ECHOLUX_FUZZ_TARGET names the one to
// run.
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

// Made known by a static object in each target's file.
struct Registration {
    Registration(const char* name, Target target);
};

// A file of that name in a folder of this process, in memory. Written anew for each input.
std::filesystem::path file_with(const std::string& name, Bytes bytes);

// A folder of that name with several files, which the input holds one after the other: a line "NAME SIZE", then so many
// bytes. Names with anything but small letters, digits, dots and slashes end it.
std::filesystem::path folder_with(const std::string& name, Bytes bytes);

// All that a reader can be asked for, as far as it is small: header, levels, slices, boxes.
void read_all(ImageReader& reader);

// A format of the table, by the name of its file.
void read_image_file(const std::string& name, Bytes bytes);

}  // namespace echolux::fuzz
