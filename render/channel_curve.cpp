#include "render/channel_curve.h"

namespace echolux {

Curve curve_of(const Channel& channel, const Curve& view) {
    Curve curve = view;
    const bool is_file = names_file(channel);
    curve.preset = is_file ? "automatic" : channel.curve;
    curve.transfer = is_file ? channel.curve : "";
    curve.transfer_curve = is_file ? channel.own_curve : std::nullopt;
    curve.own_preset = is_file ? std::nullopt : channel.own_curve;
    curve.colour_map = channel.colour_map;
    curve.low = channel.low;
    curve.high = channel.high;
    curve.opacity = channel.opacity;
    return curve;
}

TransferFunction channel_function(const View& view, const Channel& channel, const VolumeTexture& texture) {
    View of = view;
    static_cast<Curve&>(of) = curve_of(channel, view);
    if (channel.mode == ChannelMode::mip && of.show == Shown::volume) of.mode = ViewMode::mip;
    return transfer_function(of, texture.grid(), texture.range(view.range));
}

}  // namespace echolux
