// The formats of figures, told by the ending of a name.
#pragma once

#include <filesystem>
#include <string>

namespace echolux {

enum class FigureFormat { none, pdf, svg, png };

FigureFormat figure_format_of(const std::filesystem::path& path);

// Whether this program drew what is there.
bool is_own_figure(const std::filesystem::path& path);

// A line of our own in every SVG; cairo writes none.
std::string svg_mark();

// Throws Error{bad_setting} for a name of none, and Error{output}.
void check_figure_name(const std::filesystem::path& path);

}  // namespace echolux
