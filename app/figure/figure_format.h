// Formats of figures, selected by the file name extension.
#pragma once

#include <filesystem>
#include <string>

namespace echolux {

enum class FigureFormat { none, pdf, svg, png };

FigureFormat figure_format_of(const std::filesystem::path& path);

// Returns true if this file was drawn by Echolux.
bool is_own_figure(const std::filesystem::path& path);

// A line that marks our SVG files; cairo writes none.
std::string svg_mark();

// Throws Error{bad_setting} for an unknown extension, and Error{output}.
void check_figure_name(const std::filesystem::path& path);

}  // namespace echolux
