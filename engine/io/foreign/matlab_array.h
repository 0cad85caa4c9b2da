// What both kinds of .mat files say of a variable, and how one is chosen.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/io/foreign/file_bytes.h"
#include "engine/io/image_stream.h"

namespace echolux {

struct MatlabArray {
    std::string name;
    std::vector<std::int64_t> sizes;  // the first runs fastest
    StoredType type = StoredType::f64;
    bool is_complex = false;
    std::int64_t place = 0;  // of the variable in a file of version 5

    bool is_picture() const;     // two to four dimensions, none of them empty
    ImageHeader header() const;  // of a picture
    StoredType whole_type() const { return is_complex ? StoredType::complex64 : type; }
};

// By its name, else the largest. Throws Error{bad_file, bad_setting} naming what there is.
const MatlabArray& chosen_array(const std::vector<MatlabArray>& arrays, const std::string& name,
                                const std::filesystem::path& file);

std::unique_ptr<ImageReader> open_matlab5(const std::filesystem::path& file, const std::string& variable);
std::unique_ptr<ImageReader> open_matlab73(const std::filesystem::path& file, const std::string& variable);

}  // namespace echolux
