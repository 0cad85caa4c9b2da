// Descriptions and outputs that the operations calibrate_*.cpp share.
#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/calibrate/calibration.h"
#include "app/figure/figure_page.h"
#include "app/operations/operation.h"
#include "engine/io/number_file.h"

namespace echolux {

// Like choice(), for a member that may be unset: an empty text.
template <class S, class E>
Field<S> optional_choice(std::string_view name, std::optional<E> S::*member, std::vector<std::string_view> names,
                         std::string_view help) {
    Field<S> field{{name, "", help, Effect::file, 0, 0, std::move(names)}, {}, {}, {}};
    field.get = [member, list = field.choices](const S& one) {
        return Value(one.*member ? std::string(list.at(static_cast<std::size_t>(*(one.*member)))) : std::string());
    };
    field.set = [member, list = field.choices](S& one, const Value& value) {
        const auto found = std::ranges::find(list, std::get<std::string>(value));
        (one.*member).reset();
        if (found != list.end()) one.*member = static_cast<E>(found - list.begin());
    };
    return field;
}

// A text file of numbers, or raw numbers.
template <CalibrationKind kind>
OutputText calibration_output(std::string_view name, std::string_view help, bool is_required = false) {
    return {.name = name,
            .kind = OutputKind::table,
            .help = help,
            .is_required = is_required,
            .is_own = [](const std::filesystem::path& path) { return is_own_calibration(path, kind); },
            .endings = {".csv", ".txt", ".f32", ".f64"}};
}

inline OutputText plot_output(std::string_view help) {
    return {.name = "plot", .kind = OutputKind::figure, .help = help, .placeholder = "FILE.png|.svg|.pdf"};
}

// `comment` is one line.
inline void write_calibration(Context& context, OperationOutput& output, CalibrationKind kind,
                              const std::vector<double>& values, const std::string& comment) {
    context.write(output, ".csv",
                  [&](const std::filesystem::path& path) { write_calibration(path, kind, values, comment); });
}

// Returns an absolute path, which is valid in a scan TOML in any folder; empty: only in memory.
inline std::string pasted(const OperationOutput& output) {
    return output.file.empty() ? "" : std::filesystem::absolute(output.file).lexically_normal().string();
}

}  // namespace echolux
