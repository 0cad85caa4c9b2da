// Compares packed messages with the specification byte by byte, and reads arbitrary input in pieces of any size.
#include "engine/igtl/messages.h"

#include <cmath>

#include "compute/error.h"
#include "igtl_case.h"

namespace echolux::test {
namespace {

using igtl::MessageReader;
using igtl::Request;

std::string text_of(const Bytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<Request> read_all(const std::string& text) {
    MessageReader reader;
    return reader.read(bytes_of_text(text));
}

TEST(IgtlMessages, ChecksumMatchesStandard) {
    EXPECT_EQ(igtl::crc64(bytes_of_text("123456789")), 0x6C40DF5F0B497347U);  // published check value
    std::string text;
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(igtl::crc64(bytes_of_text(text)), slow_crc64(text)) << i;
        text += static_cast<char>(i * 37);
    }
}

TEST(IgtlMessages, PacksStringsBySpecification) {
    const std::string body = big(106, 2) + big(5, 2) + "hallo";
    const std::string wanted = big(1, 2) + field("STRING", 12) + field("Echolux", 20) + big(1000, 4) +
                               big(0x80000000U, 4) + big(body.size(), 8) + big(slow_crc64(body), 8) + body;
    EXPECT_EQ(text_of(igtl::string({"Echolux", 1000.5}, "hallo")), wanted);
    EXPECT_EQ(igtl::string({"Echolux", 1}, std::string(100'000, 'x')).size(), 58U + 4 + 65535);
}

TEST(IgtlMessages, AnswerHasNumberNameAndVersionOfCommand) {
    const Request request{Request::Kind::command, 2, "Slicer", 77, "get", ""};
    const std::string content = big(77, 4) + field("get", 128) + big(106, 2) + big(2, 4) + "{}";
    const std::string body = big(12, 2) + big(0, 2) + big(0, 4) + big(77, 4) + content;
    const std::string packed = text_of(igtl::answer_to(request, 5, "{}"));
    EXPECT_EQ(packed.substr(0, 14), big(2, 2) + field("RTS_COMMAND", 12));
    EXPECT_EQ(packed.substr(14, 20), field("Slicer", 20));
    EXPECT_EQ(packed.substr(58), body);
    Request old = request;
    old.version = 1;
    EXPECT_EQ(text_of(igtl::answer_to(old, 5, "{}")).substr(58), content);
}

TEST(IgtlMessages, PoseMatchesFile) {
    const igtl::Pose pose = igtl::pose_of(small_grid());
    using Three = std::array<double, 3>;
    EXPECT_EQ(pose.directions[0], (Three{-1, 0, 0}));  // A-scans: to the left
    EXPECT_EQ(pose.directions[1], (Three{0, -1, 0}));  // depth: to the back
    EXPECT_EQ(pose.directions[2], (Three{0, 0, 1}));   // B-scans: to the head
    EXPECT_EQ(pose.spacing_mm, (Three{0.01, 0.003, 0.02}));
    EXPECT_EQ(pose.origin_mm, (Three{0, -0.05, 0}));
    const igtl::Pose other = igtl::pose_of(small_grid(), "IRA");
    EXPECT_EQ(other.directions[0], (Three{1, 0, 0}));
    EXPECT_EQ(other.directions[1], (Three{0, 0, -1}));
    EXPECT_EQ(other.directions[2], (Three{0, 1, 0}));
    EXPECT_EQ(other.origin_mm, (Three{0, 0, -0.05}));
}

TEST(IgtlMessages, RejectsUnsupportedImages) {
    for (const VoxelType type : {VoxelType::f16, VoxelType::complex64, VoxelType::phasor8})
        EXPECT_THROW(igtl::check_image(small_grid(type)), Error);
    VolumeGrid wide = small_grid();
    wide.a_scans = 65536;
    EXPECT_THROW(igtl::check_image(wide), Error);
    wide.a_scans = 65535;
    EXPECT_NO_THROW(igtl::check_image(wide));
    EXPECT_THROW(igtl::image({}, small_grid(), igtl::pose_of(small_grid()), Bytes(3)), Error);
}

TEST(IgtlReader, ReadsRequestsOfAllVersionsInPiecesOfAnySize) {
    const std::string text = message("IMAGE", std::string(1000, 'x')) +
                             message("STRING", string_body("view.mode=mip")) +
                             message("COMMAND", extended(command_body(9, "get", "view.mode")), 2, "Slicer") +
                             message("TRANSFORM", "") + message("GET_STATUS", "") +
                             message("STRING", extended(string_body("view.zoom")), 3) + message("GET_CAPABIL", "");
    for (std::size_t piece = 1; piece < 400; piece += piece < 70 ? 1 : 41) {
        MessageReader reader;
        std::vector<Request> requests;
        for (std::size_t at = 0; at < text.size(); at += piece) {
            for (Request& one : reader.read(bytes_of_text(text.substr(at, piece)))) requests.push_back(std::move(one));
        }
        ASSERT_EQ(requests.size(), 5U) << piece;
        EXPECT_EQ(requests[0].text, "view.mode=mip");
        EXPECT_EQ(requests[1].kind, Request::Kind::command);
        EXPECT_EQ(requests[1].id, 9U);
        EXPECT_EQ(requests[1].name, "get");
        EXPECT_EQ(requests[1].text, "view.mode");
        EXPECT_EQ(requests[1].device, "Slicer");
        EXPECT_EQ(requests[1].version, 2);
        EXPECT_EQ(requests[2].kind, Request::Kind::status);
        EXPECT_EQ(requests[3].text, "view.zoom");
        EXPECT_EQ(requests[4].kind, Request::Kind::capability);
    }
}

TEST(IgtlReader, RejectsInvalidMessages) {
    std::string wrong_sum = message("STRING", string_body("x"));
    wrong_sum.back() = 'y';
    std::string huge = message("STRING", "");
    huge.replace(42, 8, big(std::uint64_t{1} << 40, 8));
    std::string skipped_for_ever = message("IMAGE", "");
    skipped_for_ever.replace(42, 8, big(~std::uint64_t{0}, 8));
    const std::vector<std::string> all{
        "GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://elsewhere\r\nUpgrade: x\r\n\r\n",
        message("STRING", string_body("x"), 0),
        message("STRING", string_body("x"), 4),
        wrong_sum,
        huge,
        skipped_for_ever,
        message("STRING", ""),
        message("STRING", big(3, 2)),
        message("STRING", big(3, 2) + big(10, 2) + "short"),
        message("COMMAND", command_body(1, "get", "x").substr(0, 100)),
        message("COMMAND", big(1, 4) + field("get", 128) + big(3, 2) + big(0xFFFFFFFFU, 4) + "x"),
        message("STRING", string_body("x"), 2),
        message("STRING", big(11, 2) + big(0, 2) + big(0, 4) + big(0, 4) + string_body("x"), 2),
        message("STRING", big(12, 2) + big(0xFFFF, 2) + big(0xFFFFFFFFU, 4) + big(0, 4) + string_body("x"), 2),
        message("STRING", big(0xFFFF, 2) + big(0, 2) + big(0, 4) + big(0, 4) + string_body("x"), 2),
    };
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_THROW(read_all(all[i]), Error) << i;
}

TEST(IgtlTimes, KeepDistancesAndUseShortestDelay) {
    igtl::UnixTimes times;
    EXPECT_DOUBLE_EQ(times.of(1, 1000.3), 1000.3);
    EXPECT_DOUBLE_EQ(times.of(2, 1001.1), 1001.1);  // arrived with a shorter delay
    EXPECT_DOUBLE_EQ(times.of(3, 1002.9), 1002.1);  // arrived late
    EXPECT_DOUBLE_EQ(times.of(4, 1013), 1013);      // was halted
    EXPECT_DOUBLE_EQ(times.of(0, 1014), 1014);      // started again
}

}  // namespace
}  // namespace echolux::test
