// Description of a variable, shared by both kinds of .mat files, and its selection.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/io/file_bytes.h"
#include "engine/io/image_stream.h"

namespace echolux {

struct MatlabArray {
    std::string name;
    std::vector<std::int64_t> sizes;  // the first dimension is the fastest
    StoredType type = StoredType::f64;
    bool is_complex = false;
    std::int64_t place = 0;  // offset of the variable in files of version 5

    bool is_picture() const;     // two to four dimensions, none empty
    ImageHeader header() const;  // only for pictures
    StoredType whole_type() const { return is_complex ? StoredType::complex64 : type; }
};

// Returns the array called `name`, by default the largest. Throws Error{bad_file, bad_setting}, listing the arrays.
const MatlabArray& chosen_array(const std::vector<MatlabArray>& arrays, const std::string& name,
                                const std::filesystem::path& file);

// Open a variable; an empty name selects the largest. Throw as chosen_array().
std::unique_ptr<ImageReader> open_matlab5(const std::filesystem::path& file, const std::string& variable);
std::unique_ptr<ImageReader> open_matlab73(const std::filesystem::path& file, const std::string& variable);

}  // namespace echolux
