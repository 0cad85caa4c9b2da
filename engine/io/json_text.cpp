#include "engine/io/json_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compute/error.h"

namespace echolux {
namespace {

// Limit for the nesting of arrays and objects.
constexpr int deepest = 64;

// Returns the deepest nesting of brackets outside strings, without parsing.
int depth_of(std::string_view text) {
    int depth = 0, most = 0;
    bool is_text = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_text && text[i] == '\\')
            ++i;  // skip the escaped character
        else if (text[i] == '"')
            is_text = !is_text;
        else if (!is_text && (text[i] == '[' || text[i] == '{'))
            most = std::max(most, ++depth);
        else if (!is_text && (text[i] == ']' || text[i] == '}'))
            --depth;
    }
    return most;
}

}  // namespace

nlohmann::json parsed_json(std::string_view text, const std::string& where, const std::string& remedy) {
    if (depth_of(text) > deepest)
        throw Error(ErrorCode::bad_file, fmt::format("is JSON nested more than {} deep", deepest), where, remedy);
    nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_discarded()) return json;
    throw Error(ErrorCode::bad_file, "is not JSON", where, remedy);
}

}  // namespace echolux
