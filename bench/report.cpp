#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/build.h"

namespace echolux {
namespace {

// Quantile of at least one value, by linear interpolation between the sorted values.
double quantile(const std::vector<double>& sorted, double part) {
    const double place = part * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// A power of a thousand, to print amounts with few digits.
struct Prefix {
    double min = 1;
    const char* letter = "";
};

// Shares, factors and grey levels have no prefix. All numbers of a range share that of the median (spelled_range()).
Prefix prefix_of(double value, const std::string& unit) {
    constexpr std::array prefixes{Prefix{1e9, "G"}, Prefix{1e6, "M"},  Prefix{1e3, "k"},
                                  Prefix{1, ""},    Prefix{1e-3, "m"}, Prefix{1e-6, "u"}};
    if (value == 0 || !std::isfinite(value) || unit == "%" || unit == "x" || unit == "of 255") return {};
    for (const Prefix& prefix : prefixes) {
        if (std::abs(value) >= prefix.min * 0.9995) return prefix;  // values that round to 1.00
    }
    return prefixes.back();
}

std::string three_digits(double value) {
    if (value == 0 || !std::isfinite(value)) return fmt::format("{}", value);
    constexpr double rounding_up = 0.000217;  // 9.995 is printed with the digits of 10
    const int decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(std::abs(value)) + rounding_up)), 0, 2);
    return fmt::format("{:.{}f}", value, decimals);
}

// "ms" and "GB/s", but "M A-scans/s".
std::string with_prefix(const Prefix& prefix, const std::string& unit) {
    const bool is_joined = unit == "s" || unit == "B" || unit == "B/s" || *prefix.letter == '\0';
    return fmt::format("{}{}{}", prefix.letter, is_joined ? "" : " ", unit);
}

// Omits the length, as in "linear/2048", if the figure beside it has the same.
std::string limit_name(const BenchRatio& ratio, const BenchFigure& figure) {
    const std::size_t slash = figure.key.rfind('/');
    if (slash == std::string::npos) return ratio.of;
    const std::string length = figure.key.substr(slash + 1);
    if (ratio.of.size() <= length.size() + 1 || !ratio.of.ends_with(length)) return ratio.of;
    const std::size_t mark = ratio.of.size() - length.size() - 1;
    return ratio.of[mark] == '/' || ratio.of[mark] == '.' ? ratio.of.substr(0, mark) : ratio.of;
}

// Ratios to a limit are shares, such as "81.2 % of link.to_device". Larger ones are factors, such as "2.61 x separate".
std::string ratio_text(const BenchFigure& figure) {
    std::string text;
    for (const BenchRatio& ratio : figure.ratios) {
        const std::string value = ratio.value < 1.5 ? three_digits(ratio.value * 100) + " % of"
                                                    : fmt::format("{} x", three_digits(ratio.value));
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", value, limit_name(ratio, figure));
    }
    return text;
}

const char* relation_of(const Check& target) {
    return target.bound == Bound::at_least ? ">=" : "<=";
}

const char* verdict_on(const Check& target) {
    return target.passed() ? "met" : "MISSED";
}

std::string row(const BenchFigure& figure) {
    const Spread& s = figure.spread;
    return fmt::format("| {} | {} | {} | {} | {} |\n", figure.key, figure.meaning,
                       spelled_amount(s.median, figure.unit), spelled_range(s, figure.unit), ratio_text(figure));
}

std::string table(const std::string& title, const std::vector<BenchFigure>& figures) {
    std::string text = fmt::format("| {} | what | median | 10 % .. 90 % | beside its limits |\n", title);
    text += "|---|---|---|---|---|\n";
    std::string missing;
    for (const BenchFigure& figure : figures) {
        if (figure.skipped.empty()) {
            text += row(figure);
        } else {
            missing +=
                fmt::format("{}{} ({})", missing.empty() ? "\nNot measured: " : ", ", figure.key, figure.skipped);
        }
    }
    return missing.empty() ? text : text + missing + ".\n";
}

std::string machine_lines(const BenchReport& report) {
    const BenchMachine& machine = report.machine;
    std::string text = fmt::format("{}; {}, {} threads", machine.backend, machine.processor, machine.threads);
    if (!machine.remark.empty()) text += "; " + machine.remark;
    if (!machine.driver.empty()) text += "; NVIDIA driver " + machine.driver;
    if (!machine.display.empty()) text += "; display: " + machine.display;
    return text + fmt::format(".\n{}{}{}.\n", report.conditions,
                              report.quick ? "; quick: the figures say only that it runs" : "",
                              report.is_interrupted ? "; interrupted: later figures are missing" : "");
}

std::string sheet(const BenchSheet& sheet) {
    std::string text = fmt::format("\n| {} |", sheet.title);
    std::string line = "\n|---|";
    for (const std::string& column : sheet.columns) {
        text += fmt::format(" {} |", column);
        line += "---|";
    }
    text += line + "\n";
    for (const BenchSheet::Row& row : sheet.rows) {
        text += fmt::format("| {} |", row.name);
        for (const double value : row.values) {
            // Zero means not measured.
            text += value > 0 ? fmt::format(" {} |", spelled_amount(value, sheet.unit)) : " |";
        }
        text += "\n";
    }
    return text;
}

// "81.2 %", or "not measured" without a ceiling.
std::string share_text(const BenchPipeline::Step& stage) {
    return stage.ceiling > 0 ? three_digits(100 * stage.share()) + " %" : "not measured";
}

std::string ceiling_text(const BenchPipeline::Step& stage) {
    return stage.ceiling > 0 ? spelled_amount(stage.ceiling, stage.unit) : "";
}

std::string stages_table(const BenchPipeline& of) {
    std::string text = fmt::format("\n| {} | reached | ceiling | share | of |\n|---|---|---|---|---|\n", of.title);
    for (const BenchPipeline::Step& stage : of.stages) {
        text += fmt::format("| {} | {} | {} | {} | {} |\n", stage.name, spelled_amount(stage.reached, stage.unit),
                            ceiling_text(stage), share_text(stage), stage.of);
    }
    return text;
}

std::string stages_lines(const BenchPipeline& of) {
    std::string text = fmt::format("\n{:<36} {:>18} {:>18} {:>8}\n", of.title, "reached", "ceiling", "share");
    for (const BenchPipeline::Step& stage : of.stages) {
        text +=
            fmt::format("  {:<34} {:>18} {:>18} {:>8} of {}\n", stage.name, spelled_amount(stage.reached, stage.unit),
                        ceiling_text(stage), share_text(stage), stage.of);
    }
    return text;
}

std::string factor_text(double factor) {
    return factor > 0 ? three_digits(factor) + " x" : "not measured";
}

std::string comparisons(const std::vector<BenchComparison>& rows) {
    std::string text = "\n| paper | what | on | published | ours | factor | figure |\n|---|---|---|---|---|---|---|\n";
    for (const BenchComparison& row : rows) {
        text +=
            fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", row.paper, row.what, row.hardware,
                        spelled_amount(row.published, row.unit), row.ours > 0 ? spelled_amount(row.ours, row.unit) : "",
                        factor_text(row.factor), row.figure);
    }
    return text;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    return {quantile(values, 0.5), quantile(values, 0.1), quantile(values, 0.9), std::ssize(values)};
}

// Skipped figures count as absent, so that nothing is compared with them.
const BenchFigure* BenchReport::find(const std::string& key) const {
    for (const auto* list : {&ceilings, &figures}) {
        for (const BenchFigure& figure : *list) {
            if (figure.key == key) return figure.skipped.empty() ? &figure : nullptr;
        }
    }
    return nullptr;
}

std::string spelled_amount(double value, const std::string& unit) {
    const Prefix prefix = prefix_of(value, unit);
    return three_digits(value / prefix.min) + " " + with_prefix(prefix, unit);
}

std::string spelled_range(const Spread& spread, const std::string& unit) {
    const Prefix prefix = prefix_of(spread.median, unit);
    return fmt::format("{} .. {} {}", three_digits(spread.low / prefix.min), three_digits(spread.high / prefix.min),
                       with_prefix(prefix, unit));
}

std::string markdown_of(const BenchReport& report) {
    std::string text = machine_lines(report) + "\n";
    if (!report.ceilings.empty()) text += table("ceiling", report.ceilings) + "\n";
    text += table("figure", report.figures);
    for (const BenchSheet& of : report.sheets) text += sheet(of);
    for (const BenchPipeline& of : report.stages) text += stages_table(of);
    if (!report.published.empty()) text += comparisons(report.published);
    if (report.targets.empty()) return text;
    text += "\n| target | reached | wanted | |\n|---|---|---|---|\n";
    for (const Check& target : report.targets) {
        text += fmt::format("| {} | {} | {} {} | {} |\n", target.what, spelled_amount(target.found, target.unit),
                            relation_of(target), spelled_amount(target.limit, target.unit), verdict_on(target));
    }
    return text;
}

std::string text_of(const BenchReport& report) {
    std::string text = machine_lines(report);
    for (const auto* list : {&report.ceilings, &report.figures}) {
        if (!list->empty()) text += "\n";
        for (const BenchFigure& figure : *list) {
            const std::string amount = figure.skipped.empty() ? spelled_amount(figure.spread.median, figure.unit)
                                                              : "not measured: " + figure.skipped;
            text += fmt::format("{:<19} {:<22} {}{}\n", figure.key, amount, ratio_text(figure),
                                figure.remark.empty() ? "" : "(" + figure.remark + ")");
        }
    }
    for (const BenchPipeline& of : report.stages) text += stages_lines(of);
    if (!report.published.empty()) text += "\n";
    for (const BenchComparison& row : report.published) {
        text += fmt::format("{:<16} {:<55} {:<15} {:>15} {:>16} {}\n", row.paper, row.what, row.hardware,
                            spelled_amount(row.published, row.unit),
                            row.ours > 0 ? spelled_amount(row.ours, row.unit) : "", factor_text(row.factor));
    }
    for (const Check& target : report.targets) {
        text += fmt::format("{:<7} {}: {}; target {} {}\n", verdict_on(target), target.what,
                            spelled_amount(target.found, target.unit), relation_of(target),
                            spelled_amount(target.limit, target.unit));
    }
    return text;
}

namespace {

// ---- JSON; docs/performance.md lists the keys.

using Json = nlohmann::ordered_json;

// Amounts are in the figure's unit without a prefix. A skipped figure has a reason instead of amounts.
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

Json object_of(const Check& target) {
    return {{"name", target.what},   {"reached", target.found},
            {"unit", target.unit},   {"relation", relation_of(target)},
            {"bound", target.limit}, {"met", target.passed()}};
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
        {"schema", 1},  // increase it when a key changes its meaning
        {"machine", object_of(report.machine)},
        {"volume", {{"a_scans", report.a_scans}, {"b_scans", report.b_scans}, {"block_b_scans", report.block_b_scans}}},
        {"conditions", report.conditions},
        {"quick", report.quick},
        {"interrupted", report.is_interrupted},
        {"ceilings", array_of(report.ceilings)},
        {"figures", array_of(report.figures)},
        {"sheets", array_of(report.sheets)},
        {"stages", array_of(report.stages)},
        {"published", array_of(report.published)},
        {"targets", array_of(report.targets)}};
    return json.dump(1);
}

}  // namespace echolux
