// Raw spectra of adaptive-optics OCT instruments: NAME.unp with only u16 samples, and NAME.xml with the numbers of
// samples, A-scans, B-scans and repeats.
#pragma once

#include <filesystem>

namespace echolux {

struct Scan;

// Returns whether the path is NAME.unp with such a NAME.xml beside it.
bool is_unp(const std::filesystem::path& path);

// Fills file and geometry. Throws Error{bad_file} if the XML file lacks sizes or they do not match the file.
void describe_unp(const std::filesystem::path& path, Scan& scan);

// Returns the path of the XML file.
std::filesystem::path xml_of_unp(const std::filesystem::path& path);

}  // namespace echolux
