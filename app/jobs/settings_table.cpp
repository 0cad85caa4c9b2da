#include "app/jobs/settings_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/transfer/transfer_file.h"
#include "assets/assets.h"
#include "compute/error.h"
#include "engine/acquire/source.h"
#include "engine/attenuation/attenuation.h"
#include "engine/catheter/rotation.h"
#include "engine/contrast/displacement.h"
#include "engine/contrast/dynamics.h"
#include "engine/contrast/polarisation.h"
#include "engine/flow/cross_section.h"
#include "engine/geometry/dewarp.h"
#include "engine/layers/layers.h"
#include "engine/registration/registration.h"
#include "engine/scan/scan.h"
#include "engine/simulate/scene.h"
#include "engine/simulate/simulator.h"
#include "engine/speckle/speckle_filter.h"
#include "engine/stitching/tile_alignment.h"
#include "render/view/curve.h"

#ifdef ECHOLUX_RENDER
#include "app/figure/figure_page.h"
#include "app/settings/settings_book.h"
#include "compute/plan/describe.h"
#include "render/view/view.h"
#endif

namespace echolux {

// ---- Settings

namespace {

using Json = nlohmann::ordered_json;

// Settings of all parts of the program, at their defaults.
struct AllSettings {
    AllSettings() {
        bind(settings, scan);
#ifdef ECHOLUX_RENDER
        settings.bind("view", view);
        settings.bind("window", window);
        settings.bind("figure", figure);
        bind(settings, tissue);
#endif
        settings.bind("simulation", simulation);
        settings.bind("source", source);
    }
    AllSettings(const AllSettings&) = delete;
    AllSettings& operator=(const AllSettings&) = delete;

    Scan scan;
    Simulation simulation;
    SourceSettings source;
#ifdef ECHOLUX_RENDER
    View view;
    WindowSettings window;
    FigureStyle figure;
    TissueSettings tissue;
#endif
    Settings settings;
};

// Settings used only by commands. Without a window, also those that the window would have.
struct CommandSettings {
    CommandSettings() {
#ifndef ECHOLUX_RENDER
        settings.bind("layers", layers);
        settings.bind("filter", filter);
        settings.bind("registration", registration);
#endif
        settings.bind("attenuation", attenuation);
        settings.bind("catheter", catheter);
        settings.bind("cross_section", cross_section);
        settings.bind("dewarp", dewarp);
        settings.bind("geometry", geometry);
        settings.bind("stitch", stitch);
        settings.bind("dynamics", dynamics);
        settings.bind("displacement", displacement);
        settings.bind("polarisation", polarisation);
    }
    CommandSettings(const CommandSettings&) = delete;
    CommandSettings& operator=(const CommandSettings&) = delete;

#ifndef ECHOLUX_RENDER
    LayerRecipe layers;
    SpeckleFilter filter;
    RegistrationSettings registration;
#endif
    AttenuationRecipe attenuation;
    CatheterRecipe catheter;
    CrossSectionRecipe cross_section;
    DewarpRecipe dewarp;
    BeamGeometry geometry;
    StitchRecipe stitch;
    DynamicsRecipe dynamics;
    DisplacementRecipe displacement;
    PolarisationRecipe polarisation;
    Settings settings;
};

bool has_range(const BoundField& field) {
    return field.choices.empty() && !std::holds_alternative<bool>(field.default_value) &&
           !std::holds_alternative<std::string>(field.default_value);
}

std::string range_text(const BoundField& field) {
    if (!field.choices.empty()) return fmt::format("{}", fmt::join(field.choices, ", "));
    if (std::holds_alternative<bool>(field.default_value)) return "true, false";
    if (!has_range(field)) return "text";
    return fmt::format("{:g} .. {:g}", field.low, field.high);
}

std::string_view effect_text(Effect effect) {
    switch (effect) {
        case Effect::file: return "file";
        case Effect::plan: return "plan";
        case Effect::table: return "table";
        case Effect::view: return "view";
    }
    return "";
}

std::vector<ListedSetting> listed(const Settings& settings) {
    std::vector<ListedSetting> all;
    for (const BoundField& field : settings.fields())
        all.push_back({field, std::string(effect_text(field.effect)), has_range(field)});
    return all;
}

// "`recipe.voxel` is u8, u16 or i16"
std::string condition_text(const Condition& condition) {
    std::string values;
    for (std::size_t i = 0; i < condition.values.size(); ++i) {
        const std::string_view value = condition.values[i].empty() ? "empty" : condition.values[i];
        values += fmt::format("{}{}", i == 0 ? "" : i + 1 < condition.values.size() ? ", " : " or ", value);
    }
    std::string text = fmt::format("`{}` is {}{}", condition.key, condition.excluded ? "not " : "", values);
    for (const Condition& other : condition.otherwise) text += " or " + condition_text(other);
    return text;
}

std::string condition_text(const FieldText& field) {
    std::string text;
    for (const Condition& condition : field.only_if) text += (text.empty() ? "" : "; ") + condition_text(condition);
    return text;
}

}  // namespace

void check_assignment(std::string_view assignment) {
    const std::string_view section = section_of(assignment.substr(0, assignment.find('=')));
    CommandSettings of_commands;
    if (std::ranges::count(of_commands.settings.fields(), section, &BoundField::section) > 0)
        return of_commands.settings.set_assignment(assignment);
    AllSettings().settings.set_assignment(assignment);
}

std::vector<ListedSetting> all_settings() {
    const AllSettings every;
    return listed(every.settings);
}

std::vector<ListedSetting> settings_of_commands() {
    const CommandSettings every;
    return listed(every.settings);
}

Json object_of(const Value& value) {
    return std::visit([](const auto& one) { return Json(one); }, value);
}

Json object_of(const ListedSetting& setting) {
    const BoundField& field = setting.field;
    Json json{{"key", field.key()},
              {"default", object_of(field.default_value)},
              {"unit", field.unit},
              {"effect", setting.effect},
              {"meaning", field.help}};
    if (!field.choices.empty()) json["choices"] = field.choices;
    if (setting.has_range) json["range"] = {field.low, field.high};
    return json;
}

std::string settings_rows(const Settings& settings) {
    std::string rows;
    for (const BoundField& field : settings.fields()) {
        rows += fmt::format("| `{}` | `{}` | {} | {} | {} | {} | {} | {} |\n", field.key(),
                            spelled(field.default_value), range_text(field), field.unit, effect_text(field.effect),
                            field.group, condition_text(field), field.help);
    }
    return rows;
}

std::string settings_table() {
    return "| setting | default | range | unit | effect | group | only if | meaning |\n"
           "|---|---|---|---|---|---|---|---|\n" +
           settings_rows(AllSettings().settings) + settings_rows(CommandSettings().settings);
}

// ---- Presets

static PresetList list_of(const std::string& title, const AssetKind& kind,
                          const std::function<void(const Asset&)>& read) {
    PresetList list{title, {}};
    for (const Asset& asset : assets_of(kind)) {
        list.presets.push_back({asset.name, origin_of(asset), {}});
        try {
            read(asset);
        } catch (const Error& error) {
            list.presets.back().problem = error.line();
        }
    }
    return list;
}

std::vector<PresetList> preset_lists() {
    std::vector<PresetList> lists;
#ifdef ECHOLUX_RENDER
    lists.push_back(list_of("transfer functions (view.preset)", transfer_files, [](const Asset& asset) {
        if (!asset.own.empty()) read_transfer(asset.own);
    }));
    lists.push_back(
        list_of("colour maps (view.colour_map)", colour_map_files, [](const Asset& asset) { colour_map(asset.name); }));
#endif
    lists.push_back(
        list_of("scenes (simulation.scene, sim:NAME)", scene_files, [](const Asset& asset) { scene_of(asset); }));
    lists.push_back(list_of("boundaries of layers (section [layers])", layer_files,
                            [](const Asset& asset) { layer_preset_of(asset); }));
    return lists;
}

}  // namespace echolux
