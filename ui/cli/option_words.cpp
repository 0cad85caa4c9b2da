#include "ui/cli/option_words.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace echolux {
namespace {

struct OptionWord {
    std::string_view key, option;
};

constexpr std::array<OptionWord, 54> option_words{{
    {"ECHOLUX_DATA_FOLDERS", "--data-folder"},
    {"a_scan", "--a-scan"},
    {"attenuation_db", "--attenuation-db"},
    {"b_scan", "--b-scan"},
    {"backend", "--backend"},
    {"below_lower", "--below-lower"},
    {"below_upper", "--below-upper"},
    {"between", "--between"},
    {"calibrate dispersion", "`echolux calibrate dispersion`"},
    {"centre_wavelength", "--centre-wavelength"},
    {"convert", "`echolux convert`"},
    {"depths", "--depths"},
    {"displacement", "--displacement"},
    {"each", "--each"},
    {"en_face", "--en-face"},
    {"flow", "--flow"},
    {"fps", "--fps"},
    {"frames", "--frames"},
    {"gpus", "--gpus"},
    {"guess", "`echolux info --guess`"},
    {"igtl", "--igtl"},
    {"input", "--input"},
    {"layout", "--layout"},
    {"lines", "--lines"},
    {"ome_version", "--ome-version"},
    {"output", "--output"},
    {"overwrite", "--overwrite"},
    {"part.blocks", "--blocks"},
    {"part.volume", "--volume"},
    {"path", "--path"},
    {"preset", "--preset"},
    {"presets", "`echolux info --presets`"},
    {"processed", "--processed"},
    {"psf", "--psf"},
    {"range", "--range"},
    {"recipe", "--recipe"},
    {"reconstruct", "`echolux reconstruct`"},
    {"reference_volume", "--reference-volume"},
    {"region", "--region"},
    {"render", "`echolux render`"},
    {"repeats", "--repeats"},
    {"rolling", "--rolling"},
    {"rows", "--rows"},
    {"scan", "--scan"},
    {"seconds", "--seconds"},
    {"sources", "`echolux info --sources`"},
    {"step_s", "--step"},
    {"step_time", "--step-time"},
    {"stripes", "--stripe"},
    {"surfaces", "--surfaces"},
    {"through", "--through"},
    {"time", "--time"},
    {"towards", "--towards"},
    {"type", "--type"},
}};

// Returns the option or command for a key, or an empty view for other words.
std::string_view option_of(std::string_view key) {
    const auto found = std::ranges::find(option_words, key, &OptionWord::key);
    return found == option_words.end() ? std::string_view() : found->option;
}

// Replaces keys in `backticks` and keeps all other text.
std::string with_options(std::string_view text) {
    std::string told;
    std::size_t at = 0;
    for (std::size_t begin = text.find('`'); begin != text.npos; begin = text.find('`', at)) {
        const std::size_t end = text.find('`', begin + 1);
        if (end == text.npos) break;
        const std::string_view option = option_of(text.substr(begin + 1, end - begin - 1));
        told += text.substr(at, begin - at);
        told += option.empty() ? text.substr(begin, end + 1 - begin) : option;
        at = end + 1;
    }
    return told.append(text.substr(at));
}

std::string place_in_options(const std::string& where) {
    const std::string_view option = option_of(where);
    return option.empty() ? with_options(where) : std::string(option);
}

}  // namespace

std::string in_options(const std::string& line) {
    const std::size_t end_of_where = line.find(": ");
    if (end_of_where == line.npos) return with_options(line);
    return place_in_options(line.substr(0, end_of_where)) + with_options(std::string_view(line).substr(end_of_where));
}

// The `where` of a file error is a path, which may look like a key, so it is kept.
Error in_options(const Error& error) {
    const bool is_of_file = error.code() == ErrorCode::bad_file || error.code() == ErrorCode::output;
    return {error.code(), with_options(error.problem()), is_of_file ? error.where() : place_in_options(error.where()),
            with_options(error.remedy())};
}

}  // namespace echolux
