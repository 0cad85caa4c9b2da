// Specialised shaders with constants inserted. All other tests of this folder check that pictures keep the same bits.
#include "render/vk/pipeline.h"

#include <gtest/gtest.h>

#include <array>

#include "compute/error.h"
#include "shaders/shared/raycast.h"
#include "shaders/spirv.h"

namespace echolux::test {
namespace {

std::array<std::int32_t, shared::constant_count> constants_of(int mode) {
    std::array<std::int32_t, shared::constant_count> constants{};
    constants[shared::constant_mode] = mode;
    constants[shared::constant_software] = 1;
    return constants;
}

TEST(Specialized, RemovesBranchesExcludedByConstants) {
    const auto composite = gpu::specialized(spirv::raycast_as_written, constants_of(shared::mode_composite));
    const auto maximum = gpu::specialized(spirv::raycast_as_written, constants_of(shared::mode_mip));
    EXPECT_LT(composite.size(), std::size(spirv::raycast_as_written) / 2);
    EXPECT_LT(maximum.size(), composite.size()) << "it is not lit";
    EXPECT_EQ(gpu::specialized(spirv::raycast_as_written, constants_of(shared::mode_composite)), composite);
}

TEST(Specialized, RejectsInvalidShaders) {
    constexpr std::array<std::uint32_t, 3> words{1, 2, 3};
    EXPECT_THROW(gpu::specialized(words, {}), Error);
}

}  // namespace
}  // namespace echolux::test
