#include "app/operations/operation_page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "app/operations/operation_json.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

std::string cell(const Json& text) {
    std::string escaped;
    for (const char c : text.get_ref<const std::string&>()) {
        if (c == '|') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

std::string marks_of(const Json& one) {
    std::string marks = one.value("required", false) ? "required" : "";
    if (one.value("many", false)) marks += marks.empty() ? "several" : ", several";
    return marks.empty() ? "" : " (" + marks + ")";
}

// Bounds beyond any practical value are not listed.
std::string range_of(double min, double max) {
    constexpr double unlimited = 1e9;
    const std::string from = min > -unlimited ? fmt::format(" from {:g}", min) : "";
    return max < unlimited ? from + fmt::format(" to {:g}", max) : from;
}

std::string type_of(const Json& argument) {
    std::string choices;
    if (argument.contains("choices")) {
        for (const Json& one : argument["choices"]) choices += (choices.empty() ? "" : ", ") + cell(one);
        return choices;
    }
    const std::string range = argument.contains("min") ? range_of(argument["min"], argument["max"]) : "";
    std::string type = argument["type"].get<std::string>() + range;
    if (const std::string unit = argument["unit"]; !unit.empty()) type += (range.empty() ? " in " : " ") + unit;
    if (!argument.contains("special")) return type;
    const Json& special = argument["special"];
    return type + fmt::format("; {:g}: {}", special["value"].get<double>(), cell(special["meaning"]));
}

// Arguments of the operation itself, and a line about the settings of its sections, which docs/settings.md lists.
std::string arguments_of(const Json& operation) {
    std::string rows, last, sections;
    for (const Json& one : operation["arguments"]) {
        const std::string section = one["section"];
        if (section.empty()) {
            rows += fmt::format("| `{}`{} | {} | `{}` | {} |\n", cell(one["name"]), marks_of(one), type_of(one),
                                one["default"].dump(), cell(one["help"]));
        } else if (section != last) {
            sections += fmt::format("{}`[{}]`", sections.empty() ? "" : ", ", section);
            last = section;
        }
    }
    std::string text = rows.empty() ? "" : "| argument | type | default | meaning |\n|---|---|---|---|\n" + rows + "\n";
    if (!sections.empty()) text += "Settings: " + sections + " ([list](settings.md)).\n\n";
    return text;
}

std::string chapter(const Json& operation) {
    std::string text = fmt::format("## `{}`\n\n{}.\n\n", operation["name"].get<std::string>(),
                                   operation["summary"].get<std::string>());
    if (operation["command"] != operation["name"])
        text += fmt::format("Command: `echolux {}`.\n\n", operation["command"].get<std::string>());
    if (const std::string details = operation["details"]; !details.empty()) text += details + "\n\n";
    if (!operation["inputs"].empty()) text += "| input | meaning |\n|---|---|\n";
    for (const Json& one : operation["inputs"])
        text += fmt::format("| `{}`{} | {} |\n", cell(one["name"]), marks_of(one), cell(one["help"]));
    if (!operation["inputs"].empty()) text += "\n";
    text += arguments_of(operation);
    if (!operation["outputs"].empty()) text += "| output | kind | meaning |\n|---|---|---|\n";
    for (const Json& one : operation["outputs"]) {
        text += fmt::format("| `{}`{} | {} | {} |\n", cell(one["name"]), marks_of(one), cell(one["kind"]),
                            cell(one["help"]));
    }
    if (!operation["results"].empty()) text += "\n| result | type | unit | meaning |\n|---|---|---|---|\n";
    for (const Json& one : operation["results"]) {
        text += fmt::format("| `{}` | {} | {} | {} |\n", cell(one["name"]), cell(one["type"]), cell(one["unit"]),
                            cell(one["help"]));
    }
    return text;
}

}  // namespace

std::string operations_page(const std::vector<const OperationInfo*>& some) {
    std::string text;
    for (const OperationInfo* info : some) text += (text.empty() ? "" : "\n") + chapter(description_of(*info));
    return text;
}

}  // namespace echolux
