#include "ui/cli/option_words.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace echolux {
namespace {

struct OptionWord {
    std::string_view key, option;
};

constexpr std::array<OptionWord, 20> option_words{{
    {"a_scan", "--a-scan"},
    {"b_scan", "--b-scan"},
    {"backend", "--backend"},
    {"calibrate dispersion", "echolux calibrate dispersion"},
    {"depths", "--depths"},
    {"each", "--each"},
    {"en_face", "--en-face"},
    {"flow", "--flow"},
    {"gpus", "--gpus"},
    {"guess", "echolux info --guess"},
    {"lines", "--lines"},
    {"ome_version", "--ome-version"},
    {"overwrite", "--overwrite"},
    {"part.blocks", "--blocks"},
    {"part.volume", "--volume"},
    {"range", "--range"},
    {"region", "--region"},
    {"rows", "--rows"},
    {"sources", "echolux info --sources"},
    {"type", "--type"},
}};

// Empty: it is none.
std::string_view option_of(std::string_view key) {
    const auto found = std::ranges::find(option_words, key, &OptionWord::key);
    return found == option_words.end() ? std::string_view() : found->option;
}

}  // namespace

std::string in_options(const std::string& line) {
    const std::size_t end_of_where = line.find(": ");
    const std::string_view where = std::string_view(line).substr(0, end_of_where == line.npos ? 0 : end_of_where);
    std::string text(option_of(where));
    std::size_t at = text.empty() ? 0 : end_of_where;
    for (std::size_t begin = line.find('`', at); begin != line.npos; begin = line.find('`', at)) {
        const std::size_t end = line.find('`', begin + 1);
        if (end == line.npos) break;
        const std::string_view option = option_of(std::string_view(line).substr(begin + 1, end - begin - 1));
        text.append(line, at, begin - at);
        text += option.empty() ? std::string_view(line).substr(begin, end + 1 - begin) : option;
        at = end + 1;
    }
    return text.append(line, at);
}

}  // namespace echolux
