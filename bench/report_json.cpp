// Bench report as JSON; docs/performance.md lists the keys.
#include "bench/report.h"

#include <nlohmann/json.hpp>

#include "engine/build.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

Json object_of(const BenchFigure& figure) {
    Json json{{"key", figure.key}, {"meaning", figure.meaning}};
    if (!figure.skipped.empty()) {
        json["skipped"] = figure.skipped;
        return json;
    }
    json["unit"] = figure.unit;
    json["median"] = figure.spread.median;
    json["low"] = figure.spread.low;
    json["high"] = figure.spread.high;
    json["repetitions"] = figure.spread.count;
    json["ratios"] = Json::object();
    for (const BenchRatio& ratio : figure.ratios) json["ratios"][ratio.of] = ratio.value;
    return json;
}

Json object_of(const BenchTarget& target) {
    return {{"name", target.name},         {"reached", target.reached}, {"unit", target.unit},
            {"relation", target.relation}, {"bound", target.bound},     {"met", target.met}};
}

Json object_of(const BenchSheet& sheet) {
    Json json{{"title", sheet.title}, {"unit", sheet.unit}, {"columns", sheet.columns}, {"rows", Json::array()}};
    for (const BenchSheet::Row& row : sheet.rows) json["rows"].push_back({{"name", row.name}, {"values", row.values}});
    return json;
}

Json object_of(const BenchPipeline& of) {
    Json json{{"title", of.title}, {"stages", Json::array()}};
    for (const BenchPipeline::Step& stage : of.stages) {
        json["stages"].push_back({{"name", stage.name},
                                  {"unit", stage.unit},
                                  {"reached", stage.reached},
                                  {"of", stage.of},
                                  {"ceiling", stage.ceiling},
                                  {"share", stage.share()}});
    }
    return json;
}

Json object_of(const BenchComparison& row) {
    return {{"paper", row.paper},         {"what", row.what},     {"hardware", row.hardware}, {"unit", row.unit},
            {"published", row.published}, {"figure", row.figure}, {"ours", row.ours},         {"factor", row.factor}};
}

Json object_of(const BenchMachine& machine) {
    return {{"processor", machine.processor}, {"threads", machine.threads}, {"backend", machine.backend},
            {"remark", machine.remark},       {"driver", machine.driver},   {"display", machine.display}};
}

template <class Item>
Json array_of(const std::vector<Item>& items) {
    Json json = Json::array();
    for (const Item& item : items) json.push_back(object_of(item));
    return json;
}

}  // namespace

std::string json_of(const BenchReport& report) {
    const Json json{
        {"echolux", version},
        {"schema", 1},
        {"machine", object_of(report.machine)},
        {"volume", {{"a_scans", report.a_scans}, {"b_scans", report.b_scans}, {"block_b_scans", report.block_b_scans}}},
        {"conditions", report.conditions},
        {"quick", report.quick},
        {"ceilings", array_of(report.ceilings)},
        {"figures", array_of(report.figures)},
        {"sheets", array_of(report.sheets)},
        {"stages", array_of(report.stages)},
        {"published", array_of(report.published)},
        {"targets", array_of(report.targets)}};
    return json.dump(1);
}

}  // namespace echolux
