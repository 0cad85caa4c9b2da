// OME-XML (docs.openmicroscopy.org, schema 2016-06): what OME-TIFF files say of their pages in the first page's
// description. Our texts are a map annotation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/io/image_header.h"

namespace echolux {

std::string ome_xml(const ImageHeader& header);

// How pages make up volumes.
struct PageOrder {
    std::int64_t slices = 1;
    std::int64_t time_points = 1;
    bool time_first = false;  // pages of one slice follow each other
};

// Spacings, times and texts go into `header`. Nothing: the text is no OME-XML. Throws Error{bad_file} naming `where`:
// it is damaged, or describes colours.
std::optional<PageOrder> read_ome_xml(const std::string& text, ImageHeader& header, const std::string& where);

}  // namespace echolux
