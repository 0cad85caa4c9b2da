#include "bench/published_figures.h"

#include "assets/table.h"

namespace echolux {
namespace {

std::vector<PublishedFigure> figures_of(const char* file) {
    std::vector<PublishedFigure> all;
    for (const std::vector<std::string>& row : shipped_table(file)) {
        all.push_back(
            {row.at(0), row.at(1), row.at(2), row.at(3), std::stod(row.at(4)), std::stoll(row.at(5)), row.at(6)});
    }
    return all;
}

}  // namespace

const std::vector<PublishedFigure>& published_figures() {
    static const std::vector<PublishedFigure> figures = figures_of("published/rates.txt");
    return figures;
}

const std::vector<PublishedFigure>& published_tissue_figures() {
    static const std::vector<PublishedFigure> figures = figures_of("published/tissue.txt");
    return figures;
}

}  // namespace echolux
