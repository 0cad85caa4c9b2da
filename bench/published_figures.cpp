#include "bench/published_figures.h"

#include "assets/table.h"

namespace echolux {

const std::vector<PublishedFigure>& published_figures() {
    static const std::vector<PublishedFigure> figures = [] {
        std::vector<PublishedFigure> all;
        for (const std::vector<std::string>& row : shipped_table("published/rates.txt")) {
            all.push_back(
                {row.at(0), row.at(1), row.at(2), row.at(3), std::stod(row.at(4)), std::stoll(row.at(5)), row.at(6)});
        }
        return all;
    }();
    return figures;
}

}  // namespace echolux
