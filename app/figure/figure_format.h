// The formats of figures, told by the ending of a name.
#pragma once

#include <filesystem>

namespace echolux {

enum class FigureFormat { none, pdf, svg, png };

FigureFormat figure_format_of(const std::filesystem::path& path);

// Throws Error{bad_setting} for a name of none, and Error{output}.
void check_figure_name(const std::filesystem::path& path);

}  // namespace echolux
