// Raw spectra of adaptive-optics OCT instruments: NAME.unp, u16 and nothing else, with NAME.xml beside it that says how
// many samples, A-scans, B-scans and repeats there are.
#pragma once

#include <filesystem>

namespace echolux {

struct Scan;

// Whether it is NAME.unp with a NAME.xml of that kind beside it.
bool is_unp(const std::filesystem::path& path);

// Fills file and geometry. Throws Error{bad_file} where sizes are missing in the XML file, or do not fit the file.
void describe_unp(const std::filesystem::path& path, Scan& scan);

// The XML file beside it.
std::filesystem::path xml_of_unp(const std::filesystem::path& path);

}  // namespace echolux
