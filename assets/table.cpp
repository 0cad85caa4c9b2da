#include "assets/table.h"

#include <sstream>

#include "assets/assets.h"

namespace echolux {
namespace {

std::string without_spaces_around(const std::string& text) {
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(without_spaces_around(cell));
    return cells;
}

}  // namespace

std::vector<std::vector<std::string>> shipped_table(std::string_view path) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream text{std::string(shipped_file(path))};
    for (std::string line; std::getline(text, line);) {
        if (!line.empty() && line.front() != '#') rows.push_back(cells_of(line));
    }
    return rows;
}

std::vector<PublishedNufftError> published_nufft_errors() {
    std::vector<PublishedNufftError> errors;
    for (const std::vector<std::string>& row : shipped_table("published/nufft_errors.txt")) {
        errors.push_back({std::stod(row.at(0)),
                          std::stol(row.at(1)),
                          {std::stod(row.at(2)), std::stod(row.at(3)), std::stod(row.at(4))}});
    }
    return errors;
}

}  // namespace echolux
