#include "app/figure/figure_format.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "app/figure/drawing/figure_drawing.h"
#include "compute/error.h"
#include "engine/build.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/output_rule.h"

namespace echolux {
namespace {

#ifdef ECHOLUX_FIGURES
constexpr bool has_figures = true;
#else
constexpr bool has_figures = false;
#endif

}  // namespace

FigureFormat figure_format_of(const std::filesystem::path& path) {
    const std::string ending = lower_ending(path);
    if (ending == ".pdf") return FigureFormat::pdf;
    if (ending == ".svg") return FigureFormat::svg;
    return ending == ".png" ? FigureFormat::png : FigureFormat::none;
}

std::string svg_mark() {
    return std::string("<!-- Echolux ") + version + " -->\n";
}

bool is_own_figure(const std::filesystem::path& path) {
    switch (figure_format_of(path)) {
        case FigureFormat::pdf: return holds_near_an_end(path, "/Creator (Echolux ");
        case FigureFormat::svg: return holds_near_an_end(path, "<!-- Echolux ");
        case FigureFormat::png: return is_own_picture(path);
        case FigureFormat::none: break;
    }
    return false;
}

void check_figure_name(const std::filesystem::path& path) {
    if (figure_format_of(path) == FigureFormat::none) {
        throw Error(ErrorCode::bad_setting, "figures are PDF, SVG or PNG files", path.string(),
                    "name it *.pdf, *.svg or *.png; `a_scan` and `psf` write *.csv");
    }
    if (!has_figures) {
        throw Error(ErrorCode::bad_setting, "this build cannot write figures", path.string(),
                    "write a plain picture, or build with -DECHOLUX_FIGURES=ON (libcairo2-dev)");
    }
    check_can_be_written(path);
}

void write_figure(const std::filesystem::path& path, const std::vector<FigureRow>& rows, const FigureStyle& style,
                  const PictureTexts& texts) {
    check_figure_name(path);
    if constexpr (has_figures) draw_figure(path, rows, style, texts);
}

}  // namespace echolux
