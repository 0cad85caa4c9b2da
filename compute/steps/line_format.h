// Selects the ReadSample functor that matches a sample format, once per line rather than per sample.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/plan/params.h"
#include "compute/steps/sample.h"

namespace echolux {

// Layout of the lines of a block and of their samples.
class LineFormat {
  public:
    LineFormat() = default;
    LineFormat(const RawFormat& format, const ScanGeometry& geometry)
        : format_(format), samples_(geometry.samples), line_bytes_(echolux::line_bytes(format, geometry)) {}

    ECHOLUX_HD std::int64_t samples() const { return samples_; }
    ECHOLUX_HD std::int64_t line_bytes() const { return line_bytes_; }

    // Calls use(read), where read(line, sample) returns a sample.
    ECHOLUX_HD_CALLER
    template <class Use>
    ECHOLUX_HD void with_reader(const Use& use) const {
        switch (format_.sample_format) {
            case SampleFormat::u8: return in_order<SampleFormat::u8, ByteOrder::little>(use);
            case SampleFormat::u16: return ordered<SampleFormat::u16>(use);
            case SampleFormat::u32: return ordered<SampleFormat::u32>(use);
            case SampleFormat::i16: return ordered<SampleFormat::i16>(use);
            case SampleFormat::f32: return ordered<SampleFormat::f32>(use);
            case SampleFormat::packed12: return ordered<SampleFormat::packed12>(use);
        }
    }

  private:
    ECHOLUX_HD_CALLER
    template <SampleFormat format, class Use>
    ECHOLUX_HD void ordered(const Use& use) const {
        if (format_.byte_order == ByteOrder::little) return in_order<format, ByteOrder::little>(use);
        return in_order<format, ByteOrder::big>(use);
    }

    ECHOLUX_HD_CALLER
    template <SampleFormat format, ByteOrder order, class Use>
    ECHOLUX_HD void in_order(const Use& use) const {
        if (format_.channels == 1) return use(ReadSample<format, order, UnitStride>{{}, shift(), mask()});
        const ChannelStride stride = format_.channel_layout == ChannelLayout::interleaved
                                         ? ChannelStride{format_.channel, format_.channels}
                                         : ChannelStride{format_.channel * samples_, 1};
        return use(ReadSample<format, order, ChannelStride>{stride, shift(), mask()});
    }

    ECHOLUX_HD int shift() const { return static_cast<int>(format_.shift); }
    ECHOLUX_HD std::uint32_t mask() const {
        return format_.bits == 0 || format_.bits >= 32 ? 0xffffffffu : (1u << format_.bits) - 1u;
    }

    RawFormat format_;
    std::int64_t samples_ = 0;
    std::int64_t line_bytes_ = 0;
};

}  // namespace echolux
