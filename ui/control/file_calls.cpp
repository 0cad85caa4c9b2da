// Saving of the current view and volume to files in the allowed folders. Existing files are kept unless "overwrite" is
// true.
#include <fmt/format.h>

#include <utility>

#include "app/movie/movie_plan.h"
#include "engine/io/allowed_folders.h"
#include "ui/control/control_parts.h"

namespace echolux {
namespace {

// Throws Error{output} if the name is in use and "overwrite" is not set.
void require_new(const nlohmann::json& params, const std::filesystem::path& file) {
    std::error_code problem;
    if (params.value("overwrite", false) || !std::filesystem::exists(file, problem)) return;
    throw Error(ErrorCode::output, "already exists", file.string(), "choose another name, or say \"overwrite\": true");
}

// Returns the figure style from settings that were set by requests.
FigureStyle figure_style(const Values& values) {
    FigureStyle style;
    Settings settings;
    settings.bind("figure", style);
    for (const auto& [key, value] : values) {
        if (section_of(key) == "figure") settings.take({{key, value, "settings"}});
    }
    return style;
}

// Converts a checked name to its enumerator. `names` are in the order of the enumerators.
template <class E>
E enumerator(const nlohmann::json& params, const char* name, std::initializer_list<std::string_view> names) {
    const std::string wanted = params.value(name, "");
    int number = 0, found = 0;
    for (const std::string_view one : names) {
        if (one == wanted) found = number;
        ++number;
    }
    return static_cast<E>(found);
}

}  // namespace

void Control::Parts::save(Call& call) {
    const std::filesystem::path file = file_of(call, "file");
    const std::string what = call.params.at("what");
    require_new(call.params, file);
    const auto begin = [&] {
        if (what == "volume") return work.save_volume(file);
        if (what == "kept") return work.save_kept(file, call.params.value("seconds", 0.0));
        if (what == "session") return work.save_session(file);
        if (what == "picture") return work.take_screenshot(file);
        if (what == "figure") return work.save_figure(file, {}, figure_style(settings.waiting()));
        work.save_table(file, what == "a_scan" ? Workspace::TableKind::a_scan : Workspace::TableKind::echoes);
    };
    operate(call, begin, [file]() -> Result { return {{{"file", file.string()}}}; });
}

// File names of key frames within "path" must be in the allowed folders, too.
void Control::Parts::movie(Call& call) {
    const std::filesystem::path file = file_of(call, "file");
    require_new(call.params, file);
    MovieSpec spec;
    const std::string path = call.params.value("path", spec.path);
    spec.path.clear();
    for (std::size_t from = 0; from <= path.size();) {
        const std::size_t plus = std::min(path.find('+', from), path.size());
        std::string part = path.substr(from, plus - from);
        if (part.ends_with(".toml")) part = options.folders->within(part).string();
        spec.path += (spec.path.empty() ? "" : "+") + part;
        from = plus + 1;
    }
    spec.seconds = call.params.value("seconds", 0.0);
    if (call.params.contains("fps")) spec.fps = fmt::format("{:.6g}", call.params["fps"].get<double>());
    spec.along = call.params.contains("along")
                     ? enumerator<SweepAxis>(call.params, "along", {"depth", "a-scans", "b-scans"})
                     : spec.along;
    spec.plane = enumerator<SweptPlane>(call.params, "plane", {"slice", "clip"});
    operate(
        call, [&] { work.make_movie(file, spec); },
        [file]() -> Result {
            return {{{"file", file.string()}}};
        });
}

}  // namespace echolux
