#include "app/figure/figure_format.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/lower_case.h"

namespace echolux {

FigureFormat figure_format_of(const std::filesystem::path& path) {
    const std::string ending = lower_ending(path);
    if (ending == ".pdf") return FigureFormat::pdf;
    if (ending == ".svg") return FigureFormat::svg;
    return ending == ".png" ? FigureFormat::png : FigureFormat::none;
}

void check_figure_name(const std::filesystem::path& path) {
    if (figure_format_of(path) == FigureFormat::none) {
        throw Error(ErrorCode::bad_setting, "figures are PDF, SVG or PNG files", path.string(),
                    "name it *.pdf, *.svg or *.png; --a-scan and --psf write *.csv");
    }
#ifndef ECHOLUX_FIGURES
    throw Error(ErrorCode::bad_setting, "this program was built without figures", path.string(),
                "build it with cairo and text (libcairo2-dev), or write a plain picture by echolux reconstruct");
#endif
    check_can_be_written(path);
}

}  // namespace echolux
