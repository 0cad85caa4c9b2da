#include "app/operations/operation_json.h"

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
                          {"positional", text.is_positional || (is_first && !text.is_option)}});
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
    return {{"name", info.name},       {"command", info.command}, {"summary", info.summary},
            {"details", info.details}, {"inputs", inputs},        {"arguments", arguments},
            {"outputs", outputs},      {"results", results},      {"backend", info.backend}};
}

Json descriptions_of_operations() {
    Json all = Json::array();
    for (const OperationInfo* info : operations()) all.push_back(description_of(*info));
    return all;
}

}  // namespace echolux
