// Detects the version of a .mat file and selects the variable with the volume.
#include "engine/io/formats.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/error.h"
#include "engine/io/file_name.h"
#include "engine/io/foreign/matlab_array.h"
#include "engine/io/volume_file.h"

namespace echolux {

bool MatlabArray::is_picture() const {
    return sizes.size() >= 2 && sizes.size() <= 4 &&
           std::ranges::all_of(sizes, [](std::int64_t size) { return size > 0; });
}

ImageHeader MatlabArray::header() const {
    ImageHeader header;
    header.size = {sizes[1], sizes[0], sizes.size() > 2 ? sizes[2] : 1};
    header.time_points = sizes.size() > 3 ? sizes[3] : 1;
    header.type = voxel_type(whole_type());
    header.has_unit = false;
    add_provenance(header, "variable", name);
    return header;
}

// Arrays of three or four dimensions are preferred over larger matrices.
const MatlabArray& chosen_array(const std::vector<MatlabArray>& arrays, const std::string& name,
                                const std::filesystem::path& file) {
    std::string names;
    const MatlabArray* largest = nullptr;
    const auto rank = [](const MatlabArray& array) {
        double voxels = 1;
        for (const std::int64_t size : array.sizes) voxels *= static_cast<double>(size);
        return std::pair(array.sizes.size() > 2, voxels);
    };
    for (const MatlabArray& array : arrays) {
        if (!array.is_picture()) continue;
        if (array.name == name) return array;
        if (names.size() < 200) names += (names.empty() ? "" : ", ") + array.name;
        if (!largest || rank(array) > rank(*largest)) largest = &array;
    }
    if (!largest) {
        throw Error(ErrorCode::bad_file, "holds no array of numbers with two to four dimensions", file.string(),
                    "structures, cells and sparse arrays are not read");
    }
    if (!name.empty()) {
        throw Error(ErrorCode::bad_setting, fmt::format("has no array of numbers named \"{}\"", name), file.string(),
                    "it has " + names);
    }
    return *largest;
}

std::unique_ptr<ImageReader> open_matlab(const std::filesystem::path& path) {
    const auto [file, variable] = file_part(path);
    FileBytes bytes(file);
    constexpr std::int64_t hdf5_place = 512;  // MATLAB writes its text header before the HDF5 data
    constexpr std::string_view hdf5_magic = "\x89HDF\r\n\x1a\n";
    const auto starts_at = [&](std::int64_t place) {
        return bytes.size() >= place + 8 && bytes.text(place, 8) == hdf5_magic;
    };
    if (starts_at(hdf5_place) || starts_at(0)) return open_matlab73(file, variable);
    return open_matlab5(file, variable);
}

}  // namespace echolux
