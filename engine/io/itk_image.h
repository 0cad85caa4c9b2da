// NRRD, TIFF and MetaImage files through ITK: the only door to that library.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/io/image_header.h"

namespace echolux {

enum class ItkFormat { nrrd, tiff, meta };

// Throws Error{bad_file, out_of_memory} naming the file.
ImageHeader read_itk(const std::filesystem::path& path, ItkFormat format, std::vector<std::byte>& voxels);

// TIFF keeps no texts, of the spacings only those of columns and rows (as resolution; not where has_unit is false).
// Throws Error{output} naming `where`, also when the disk fills up without ITK noticing.
void write_itk(const std::filesystem::path& path, ItkFormat format, const ImageHeader& header,
               const std::vector<std::byte>& voxels, const std::string& where);

}  // namespace echolux
