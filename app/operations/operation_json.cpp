#include "app/operations/operation_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace echolux {

namespace {

using Json = nlohmann::ordered_json;

std::string_view word_for(OutputKind kind) {
    switch (kind) {
        case OutputKind::volume: return "volume";
        case OutputKind::table: return "table";
        case OutputKind::figure: return "figure";
        case OutputKind::volume_or_figure: return "volume_or_figure";
        case OutputKind::volume_or_table: return "volume_or_table";
        case OutputKind::file: return "file";
    }
    return "file";
}

std::string_view type_of(const Value& value) {
    constexpr std::array<std::string_view, std::variant_size_v<Value>> types = {"bool", "integer", "number", "text",
                                                                                "numbers"};
    return types[value.index()];
}

bool is_of_scan(const OperationInfo& info, std::string_view section) {
    const auto found = std::ranges::find(info.sections, section, &SectionText::name);
    return found != info.sections.end() && found->is_of_scan;
}

Json object_of(const OperationInfo& info, const BoundField& field) {
    const bool is_own = field.section == info.name &&
                        std::ranges::find(info.arguments, field.name, &FieldText::name) != info.arguments.end();
    Json one{{"key", field.key()},
             {"name", field.name},
             {"section", is_own ? "" : field.section},
             {"scan", !is_own && is_of_scan(info, field.section)},
             {"unit", field.unit},
             {"type", type_of(field.default_value)},
             {"help", field.help},
             {"default", std::visit([](const auto& value) { return Json(value); }, field.default_value)},
             {"required", is_own && field.name == info.first_argument}};
    if (!field.choices.empty()) one["choices"] = field.choices;
    const bool is_number =
        !std::holds_alternative<bool>(field.default_value) && !std::holds_alternative<std::string>(field.default_value);
    if (is_number) {
        one["min"] = field.low;
        one["max"] = field.high;
    }
    if (field.control.special_value)
        one["special"] = {{"value", *field.control.special_value}, {"meaning", field.control.special_text}};
    return one;
}

}  // namespace

Json description_of(const OperationInfo& info) {
    Json inputs = Json::array(), arguments = Json::array(), outputs = Json::array(), results = Json::array();
    for (const InputText& text : info.inputs) {
        const bool is_first = &text == &info.inputs.front();
        inputs.push_back({{"name", text.name},
                          {"help", text.help},
                          {"required", text.is_required},
                          {"many", text.takes_many},
                          {"scans", text.takes_scans},
                          {"file", text.is_file},
                          {"positional", text.is_positional || (is_first && text.is_required)}});
    }
    const std::unique_ptr<Operation> operation = info.make();
    for (const BoundField& field : operation->settings().fields()) arguments.push_back(object_of(info, field));
    for (const OutputText& text : info.outputs) {
        outputs.push_back({{"name", text.name},
                           {"kind", word_for(text.kind)},
                           {"help", text.help},
                           {"required", text.is_required},
                           {"file", text.is_file}});
    }
    for (const ResultText& text : info.results)
        results.push_back({{"name", text.name}, {"type", text.type}, {"unit", text.unit}, {"help", text.help}});
    return {{"name", info.name},       {"command", info.command},   {"summary", info.summary},
            {"details", info.details}, {"examples", info.examples}, {"inputs", inputs},
            {"arguments", arguments},  {"outputs", outputs},        {"results", results},
            {"backend", info.backend}};
}

Json descriptions_of_operations() {
    Json all = Json::array();
    for (const OperationInfo* info : operations()) all.push_back(description_of(*info));
    return all;
}

// ---- Markdown

static std::string cell(const Json& text) {
    std::string escaped;
    for (const char c : text.get_ref<const std::string&>()) {
        if (c == '|') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

static std::string marks_of(const Json& one) {
    std::string marks = one.value("required", false) ? "required" : "";
    if (one.value("many", false)) marks += marks.empty() ? "several" : ", several";
    return marks.empty() ? "" : " (" + marks + ")";
}

// Bounds beyond any practical value are not listed.
static std::string range_of(double min, double max) {
    constexpr double unlimited = 1e9;
    const std::string from = min > -unlimited ? fmt::format(" from {:g}", min) : "";
    return max < unlimited ? from + fmt::format(" to {:g}", max) : from;
}

static std::string type_text(const Json& argument) {
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
static std::string arguments_of(const Json& operation) {
    std::string rows, last, sections;
    for (const Json& one : operation["arguments"]) {
        const std::string section = one["section"];
        if (section.empty()) {
            rows += fmt::format("| `{}`{} | {} | `{}` | {} |\n", cell(one["name"]), marks_of(one), type_text(one),
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

static std::string chapter(const Json& operation) {
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

std::string operations_page(const std::vector<const OperationInfo*>& some) {
    std::string text;
    for (const OperationInfo* info : some) text += (text.empty() ? "" : "\n") + chapter(description_of(*info));
    return text;
}

}  // namespace echolux
