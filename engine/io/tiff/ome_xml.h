// OME-XML (docs.openmicroscopy.org, schema 2016-06): the description of an OME-TIFF file, stored with its first page.
// Our texts are a map annotation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/io/image_header.h"

namespace echolux {

// Returns the description to store in a file.
std::string ome_xml(const ImageHeader& header);

// Assignment of pages to slices and time points.
struct PageOrder {
    std::int64_t slices = 1;
    std::int64_t time_points = 1;
    bool time_first = false;  // pages of the same slice are adjacent
};

// Parses a description and adds spacings, times and texts to `header`. Returns std::nullopt if the text is not OME-XML.
// Throws Error{bad_file} naming `where` if it is damaged or has several channels.
std::optional<PageOrder> read_ome_xml(const std::string& text, ImageHeader& header, const std::string& where);

}  // namespace echolux
