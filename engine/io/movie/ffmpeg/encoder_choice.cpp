#include "engine/io/movie/ffmpeg/encoder_choice.h"

#include <fmt/format.h>

#include <algorithm>

namespace echolux {
namespace {

// Quality as CRF; `fine` is the default.
std::string crf_or(const MovieFormat& format, double fine) {
    return fmt::format("{:g}", format.crf >= 0 ? format.crf : fine);
}

// Hardware encoders use the CRF as a constant quantiser, which must be an integer.
std::string qp_or(const MovieFormat& format, double fine) {
    return fmt::format("{:.0f}", format.crf >= 0 ? format.crf : fine);
}

void add_hardware(std::vector<EncoderChoice>& choices, const MovieFormat& format, const char* nvenc, const char* vaapi,
                  double fine) {
    if (!format.may_use_hardware) return;
    const std::string qp = qp_or(format, fine);
    if (nvenc != nullptr)
        choices.push_back({nvenc, AV_PIX_FMT_YUV420P, {{"preset", "p5"}, {"rc", "constqp"}, {"qp", qp}}});
    choices.push_back({vaapi, AV_PIX_FMT_VAAPI, {{"rc_mode", "CQP"}, {"qp", qp}, {"global_quality", qp}}});
}

}  // namespace

std::vector<EncoderChoice> encoders_for(const MovieFormat& format) {
    constexpr AVPixelFormat yuv = AV_PIX_FMT_YUV420P;
    std::vector<EncoderChoice> choices;
    switch (format.codec) {
        case MovieCodec::h264:
            add_hardware(choices, format, "h264_nvenc", "h264_vaapi", 14);
            choices.push_back({"libx264", yuv, {{"preset", "medium"}, {"crf", crf_or(format, 8)}}});
            break;
        case MovieCodec::h265:
            add_hardware(choices, format, "hevc_nvenc", "hevc_vaapi", 14);
            choices.push_back({"libx265",
                               yuv,
                               {{"preset", "medium"}, {"crf", crf_or(format, 10)}, {"x265-params", "log-level=none"}}});
            break;
        case MovieCodec::av1:
            add_hardware(choices, format, "av1_nvenc", "av1_vaapi", 40);
            if (std::min(format.width, format.height) >= 64)  // SVT-AV1's minimum size
                choices.push_back({"libsvtav1", yuv, {{"preset", "8"}, {"crf", crf_or(format, 6)}}});
            choices.push_back(
                {"libaom-av1", yuv, {{"cpu-used", "6"}, {"row-mt", "1"}, {"crf", crf_or(format, 8)}, {"b", "0"}}});
            break;
        case MovieCodec::vp9:
            add_hardware(choices, format, nullptr, "vp9_vaapi", 40);
            choices.push_back(
                {"libvpx-vp9",
                 yuv,
                 {{"deadline", "good"}, {"cpu-used", "4"}, {"row-mt", "1"}, {"crf", crf_or(format, 8)}, {"b", "0"}}});
            break;
        case MovieCodec::prores:
            choices.push_back({"prores_ks",
                               format.has_alpha ? AV_PIX_FMT_YUVA444P10 : AV_PIX_FMT_YUV444P10,
                               {{"profile", "4444"}, {"vendor", "apl0"}, {"alpha_bits", "16"}}});
            break;
        case MovieCodec::gif: choices.push_back({"gif", AV_PIX_FMT_PAL8, {}}); break;
        case MovieCodec::webp:
            choices.push_back({"libwebp_anim", AV_PIX_FMT_BGRA, {{"quality", "95"}, {"compression_level", "4"}}});
            break;
        case MovieCodec::automatic:
        case MovieCodec::png: break;
    }
    return choices;
}

}  // namespace echolux
