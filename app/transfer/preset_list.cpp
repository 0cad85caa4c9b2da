#include "app/transfer/preset_list.h"

#include <functional>

#include "app/transfer/transfer_file.h"
#include "assets/assets.h"
#include "compute/error.h"
#include "engine/layers/layers.h"
#include "engine/simulate/scene.h"
#include "render/view/curve.h"

namespace echolux {
namespace {

PresetList list_of(const std::string& title, const AssetKind& kind, const std::function<void(const Asset&)>& read) {
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

}  // namespace

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
