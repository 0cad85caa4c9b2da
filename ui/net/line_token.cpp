#include "ui/net/line_token.h"

#include <nlohmann/json.hpp>

#include "compute/error.h"
#include "engine/io/json_text.h"

namespace echolux {

std::string token_of_line(std::string_view line) {
    try {
        const nlohmann::json first = parsed_json(line, "", "");
        if (!first.is_object()) return {};
        const auto token = first.find("token");
        return token != first.end() && token->is_string() ? token->get<std::string>() : std::string();
    } catch (const Error&) {
        return {};
    }
}

}  // namespace echolux
