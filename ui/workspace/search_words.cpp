// Synonyms of actions and settings for the command palette, see word_match.h. One line per id.
#include <algorithm>
#include <array>

#include "ui/workspace/word_match.h"

namespace echolux {
namespace {

struct KnownWords {
    std::string_view id, words;
};

constexpr std::array known_words{
    KnownWords{"source.record", "capture save acquire grab rec"},
    KnownWords{"source.start_stop", "run acquire live go halt pause"},
    KnownWords{"source.simulator", "demo example test phantom"},
    KnownWords{"source.plugin", "driver instrument hardware dll so library device camera"},
    KnownWords{"file.open_last", "recent reopen"},
    KnownWords{"file.screenshot", "screenshot image snapshot photo png"},
    KnownWords{"window.open", "load file import"},
    KnownWords{"window.picture", "export png tiff"},
    KnownWords{"window.save_session", "project state store"},
    KnownWords{"timeline.play", "movie start stop run"},
    KnownWords{"timeline.faster", "speed"},
    KnownWords{"timeline.slower", "speed"},
    KnownWords{"timeline.loop", "repeat"},
    KnownWords{"view.choose_range", "brightness contrast window level automatic auto scale"},
    KnownWords{"view.reset", "default"},
    KnownWords{"view.lighting", "shading light lamp"},
    KnownWords{"view.colour_bar", "legend scale"},
    KnownWords{"view.scale_bar", "ruler size length"},
    KnownWords{"view.no_clipping", "crop cut whole"},
    KnownWords{"camera.show_all", "fit reset home zoom"},
    KnownWords{"camera.closer", "zoom in larger"},
    KnownWords{"camera.farther", "zoom out smaller"},
    KnownWords{"camera.orthographic", "parallel projection"},
    KnownWords{"measure.distance", "length ruler size caliper thickness line"},
    KnownWords{"measure.angle", "degrees protractor"},
    KnownWords{"measure.probe", "value voxel intensity pick"},
    KnownWords{"measure.profile", "line plot graph section intensity"},
    KnownWords{"measure.clear", "delete remove"},
    KnownWords{"layout.alignment", "mirror fringe adjust spectrum align"},
    KnownWords{"layout.sections", "slices orthogonal planes mpr"},
    KnownWords{"layout.volume", "3d"},
    KnownWords{"layout.volume-and-sections", "slices orthogonal mpr"},
    KnownWords{"filter.show", "speckle denoise smooth"},
    KnownWords{"layers.search", "segment segmentation boundaries surfaces thickness"},
    KnownWords{"registration.find", "register align saccade shift stabilise"},
    KnownWords{"calibrate.dispersion", "sharpen autofocus"},
    KnownWords{"calibrate.take_background", "reference"},
    KnownWords{"window.keys", "shortcuts help mouse"},
    KnownWords{"window.tour", "help introduction tutorial"},
    KnownWords{"window.full_screen", "fullscreen maximise maximize"},
    KnownWords{"window.larger", "font size zoom"},
    KnownWords{"window.smaller", "font size zoom"},
    KnownWords{"panel.flow", "doppler velocity octa angiography blood speed perfusion vessels"},
    KnownWords{"panel.transfer", "colour brightness contrast opacity curve histogram window level"},
    KnownWords{"panel.view", "render camera light clip annotations"},
    KnownWords{"panel.layers", "overlay visibility show hide order channels"},
    KnownWords{"panel.surfaces", "segment segmentation retina boundaries thickness surface en face slab"},
    KnownWords{"panel.filters", "speckle denoise smooth median bilateral nlm non-local means"},
    KnownWords{"panel.stabilise", "motion register registration align saccade shift"},
    KnownWords{"panel.measure", "distance angle ruler length probe profile"},
    KnownWords{"panel.processing", "reconstruction recipe dispersion background window"},
    KnownWords{"panel.source", "camera instrument live record acquire simulator"},
    KnownWords{"panel.statistics", "fps rate speed performance lost"},
    KnownWords{"panel.log", "messages errors warnings notices"},
    KnownWords{"panel.export", "save movie figure picture video preset"},
    KnownWords{"flow.method", "doppler velocity octa angiography blood perfusion variance decorrelation"},
    KnownWords{"view.flow_range", "doppler velocity speed colour scale"},
    KnownWords{"view.flow_colour_map", "doppler velocity palette lut"},
    KnownWords{"view.flow_threshold", "doppler velocity noise hide"},
    KnownWords{"view.colour_map", "palette lut"},
    KnownWords{"view.preset", "colour opacity"},
    KnownWords{"view.low", "brightness contrast window level black minimum"},
    KnownWords{"view.high", "brightness contrast window level white maximum"},
    KnownWords{"view.opacity", "transparency alpha density"},
    KnownWords{"view.background", "colour"},
    KnownWords{"window.link_levels", "brightness contrast window level"},
    KnownWords{"window.section_low", "brightness contrast window level black"},
    KnownWords{"window.section_high", "brightness contrast window level white"},
    KnownWords{"window.scale", "font size dpi"},
    KnownWords{"view.clip_low", "crop cut box"},
    KnownWords{"view.clip_high", "crop cut box"},
    KnownWords{"filter.shown", "speckle denoise smooth"},
    KnownWords{"registration.shown", "stabilise motion register align"},
    KnownWords{"view.top_from", "peel surface flatten"},
    KnownWords{"view.slab_um", "thickness thick mip"},
    KnownWords{"recipe.a2_rad", "dispersion"},
    KnownWords{"recipe.average", "mean repeats"},
};

}  // namespace

std::string_view search_words(std::string_view id) {
    const auto* found = std::ranges::find(known_words, id, &KnownWords::id);
    return found == known_words.end() ? "" : found->words;
}

std::string_view id_with_words(std::size_t index) {
    return index < known_words.size() ? known_words[index].id : "";
}

}  // namespace echolux
