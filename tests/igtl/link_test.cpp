// Tests of the link with programs at its other end: quick, slow, silent, hostile, too many, and reconnecting.
#include "engine/igtl/link.h"

#include <atomic>
#include <nlohmann/json.hpp>

#include "compute/error.h"
#include "compute/indexing.h"
#include "igtl_case.h"

namespace echolux::test {
namespace {

using igtl::Link;
using igtl::Request;

const igtl::LinkOptions any_port{true, {"127.0.0.1", 0}, false};

// Answers every request with its text reversed.
std::unique_ptr<Link> echoing(const igtl::LinkOptions& wanted = any_port) {
    return std::make_unique<Link>(wanted, [](const auto& from, const Request& request, const auto&) {
        from->send(igtl::answer_to(request, 1, std::string(request.text.rbegin(), request.text.rend())));
    });
}

std::int64_t number_of(const RawProgram::Got& note) {
    return note.type.empty() ? -1 : nlohmann::json::parse(note.body.substr(4)).at("volume").get<std::int64_t>();
}

TEST(IgtlLink, AddressesOfServersAndClients) {
    const igtl::LinkOptions own = igtl::parsed_link("18944", "x");
    EXPECT_TRUE(own.listens);
    EXPECT_EQ(own.address.text(), "127.0.0.1:18944");
    const igtl::LinkOptions all = igtl::parsed_link("listen:0.0.0.0:18944", "x");
    EXPECT_TRUE(all.listens);
    EXPECT_EQ(all.address.text(), "0.0.0.0:18944");
    const igtl::LinkOptions other = igtl::parsed_link("theatre-3:18945", "x");
    EXPECT_FALSE(other.listens);
    EXPECT_EQ(other.address.text(), "theatre-3:18945");
    for (const char* wrong : {"", "x", "host:", "host:99999", "listen:", "-1"})
        EXPECT_THROW(igtl::parsed_link(wrong, "x"), Error) << wrong;
}

TEST(IgtlLink, SendsVolumeWithNotePoseAndBScan) {
    const auto link = echoing();
    RawProgram program(link->port());
    EXPECT_EQ(program.next().type, "STATUS");
    ASSERT_TRUE(becomes_true([&] { return link->is_hungry(); }));
    link->offer(offered(small_grid(), 7));
    const RawProgram::Got note = program.next();
    EXPECT_EQ(note.device, "Echolux_note");
    const auto json = nlohmann::json::parse(note.body.substr(4));
    EXPECT_EQ(json["volume"], 7);
    EXPECT_EQ(json["unit"], "dB above noise floor");
    EXPECT_EQ(json["scale"], 0.5);
    EXPECT_EQ(json["spacing_um"], (nlohmann::json{20.0, 10.0, 3.0}));
    EXPECT_EQ(program.next().device, "Echolux_pose");
    EXPECT_EQ(program.next().device, "Echolux_BScan");
    const RawProgram::Got volume = program.next();
    EXPECT_EQ(volume.device, "Echolux");
    EXPECT_EQ(volume.body.size(), 72U + 60);
    EXPECT_NEAR(volume.unix_s, igtl::unix_now(), 5);
    EXPECT_TRUE(becomes_true([&] { return link->stats().volumes == 1; }));

    link->look_at(2);
    const RawProgram::Got b_scan = program.next();
    EXPECT_EQ(b_scan.device, "Echolux_BScan");
    EXPECT_EQ(b_scan.body.substr(72), volume.body.substr(72 + 40, 20));
}

TEST(IgtlLink, LaterProgramGetsLastVolume) {
    const auto link = echoing();
    RawProgram first(link->port());
    ASSERT_TRUE(becomes_true([&] { return link->is_hungry(); }));
    link->offer(offered(small_grid(), 3));
    EXPECT_EQ(number_of(first.next("STRING", "Echolux_note")), 3);
    RawProgram second(link->port());
    EXPECT_EQ(number_of(second.next("STRING", "Echolux_note")), 3);
    EXPECT_EQ(second.next("IMAGE", "Echolux").body.size(), 132U);
}

TEST(IgtlLink, SlowProgramGetsNewestWithoutDelayingOthers) {
    VolumeGrid grid = small_grid();
    grid.a_scans = 2000;
    grid.b_scans = 800;  // 8 MB: more than the socket buffers hold
    const auto link = echoing();
    RawProgram slow(link->port());
    RawProgram quick(link->port());
    ASSERT_TRUE(becomes_true([&] { return link->stats().connected == 2 && link->is_hungry(); }));
    constexpr std::int64_t last = 8;
    for (std::int64_t number = 1; number <= last; ++number) {
        link->offer(offered(grid, number));
        EXPECT_EQ(number_of(quick.next("STRING", "Echolux_note")), number);
        EXPECT_EQ(quick.next("IMAGE", "Echolux").type, "IMAGE");
    }
    std::vector<std::int64_t> seen;
    while (seen.empty() || seen.back() != last) {
        const std::int64_t number = number_of(slow.next("STRING", "Echolux_note"));
        ASSERT_GT(number, seen.empty() ? 0 : seen.back());
        seen.push_back(number);
    }
    EXPECT_LE(seen.size(), 3U);
    RawProgram::Got image = slow.next("IMAGE", "Echolux");
    EXPECT_EQ(image.body.size(), 72U + index(grid.bytes()));
    EXPECT_GE(link->stats().left_out, last - 4);
}

TEST(IgtlLink, RequestsNoVolumeWithoutReader) {
    VolumeGrid grid = small_grid();
    grid.a_scans = 2000;
    grid.b_scans = 2000;
    std::atomic<int> asked = 0;
    Link link(any_port, [&](const auto&, const Request&, const auto&) { ++asked; });
    EXPECT_FALSE(link.is_hungry());
    RawProgram silent(link.port());
    ASSERT_TRUE(becomes_true([&] { return link.is_hungry(); }));
    link.offer(offered(grid, 1));
    for (int i = 0; i < 10; ++i) {  // the link has time to send more, and continues to listen
        silent.send(message("STRING", string_body("x")));
        ASSERT_TRUE(becomes_true([&] { return asked > i; }));
    }
    EXPECT_FALSE(link.is_hungry());
}

TEST(IgtlLink, AnswersRequestsInOrderDuringVolume) {
    const auto link = echoing();
    RawProgram program(link->port());
    for (int i = 0; i < 200; ++i) program.send(message("STRING", string_body("word " + std::to_string(i))));
    for (int i = 0; i < 200; ++i) {
        std::string text = "word " + std::to_string(i);
        std::reverse(text.begin(), text.end());
        EXPECT_EQ(program.next("STRING").body.substr(4), text);
    }
    program.send(message("GET_STATUS", "", 1, "me"));
    EXPECT_EQ(program.next("STATUS", "me").body.substr(0, 2), big(1, 2));
    program.send(message("GET_CAPABIL", ""));
    EXPECT_NE(program.next("CAPABILITY").body.find("IMAGE"), std::string::npos);
}

TEST(IgtlLink, TellsStrangersReasonWhileOthersContinue) {
    const auto link = echoing();
    RawProgram good(link->port());
    for (const std::string& bad : {std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n") + std::string(100, ' '),
                                   message("STRING", std::string(1 << 20, 'x')), message("STRING", "?")}) {
        RawProgram stranger(link->port());
        EXPECT_EQ(stranger.next().type, "STATUS");
        stranger.send(bad);
        const RawProgram::Got why = stranger.next("STATUS");
        if (!why.type.empty()) {
            EXPECT_EQ(why.body.substr(0, 2), big(12, 2));
        }
        EXPECT_TRUE(becomes_true([&] { return stranger.next(50ms).type.empty() && stranger.is_closed; }));
    }
    EXPECT_GE(link->stats().refused, 3);
    good.send(message("STRING", string_body("abc")));
    EXPECT_EQ(good.next("STRING").body.substr(4), "cba");
}

TEST(IgtlLink, RejectsTooManyPrograms) {
    const auto link = echoing();
    std::vector<std::unique_ptr<RawProgram>> programs;
    for (int i = 0; i < 4; ++i) {
        programs.push_back(std::make_unique<RawProgram>(link->port()));
        EXPECT_EQ(programs.back()->next().type, "STATUS");
    }
    RawProgram one_more(link->port());
    EXPECT_TRUE(becomes_true([&] { return one_more.next(50ms).type.empty() && one_more.is_closed; }));
    programs.pop_back();
    EXPECT_TRUE(becomes_true([&] {
        RawProgram again(link->port());
        return again.next(500ms).type == "STATUS";
    }));
}

TEST(IgtlLink, DelaysReadingOfFastPrograms) {
    std::vector<std::shared_ptr<void>> kept;
    std::mutex mutex;
    std::atomic<int> others = 0;
    Link link(any_port, [&](const auto&, const Request& request, std::shared_ptr<void> waiting) {
        if (request.text == "other") {
            ++others;
            return;
        }
        const std::scoped_lock lock(mutex);
        kept.push_back(std::move(waiting));
    });
    const auto count = [&] {
        const std::scoped_lock lock(mutex);
        return kept.size();
    };
    RawProgram program(link.port());
    for (int i = 0; i < 3000; ++i) program.send(message("STRING", string_body("x")));
    ASSERT_TRUE(becomes_true([&] { return count() >= 64; }));
    RawProgram other(link.port());
    for (int i = 0; i < 10; ++i) {
        other.send(message("STRING", string_body("other")));
        ASSERT_TRUE(becomes_true([&] { return others > i; }));
    }
    EXPECT_LT(count(), 2000U);  // requests from one read are handled; nothing more is read while others are served
    ASSERT_TRUE(becomes_true([&] {
        const std::scoped_lock lock(mutex);
        for (auto& one : kept) one.reset();
        return kept.size() == 3000;
    }));
}

TEST(IgtlLink, ClientReconnects) {
    auto listener = std::make_unique<TcpListener>(NetAddress{"127.0.0.1", 0}, "test");
    const std::uint16_t port = listener->port();
    const auto link = echoing({false, {"127.0.0.1", port}, false});
    for (int round = 0; round < 2; ++round) {
        std::optional<TcpConnection> came;
        ASSERT_TRUE(becomes_true([&] { return (came = listener->accept(50ms)).has_value(); }));
        RawProgram program(std::move(*came));
        EXPECT_EQ(program.next().type, "STATUS");
        ASSERT_TRUE(becomes_true([&] { return link->is_hungry(); }));
        link->offer(offered(small_grid(), round));
        EXPECT_EQ(number_of(program.next("STRING", "Echolux_note")), round);
        listener.reset();
        if (round == 0) listener = std::make_unique<TcpListener>(NetAddress{"127.0.0.1", port}, "test");
    }
    EXPECT_TRUE(becomes_true([&] { return link->stats().connected == 0; }));
}

TEST(IgtlLink, SkipsVolumeLostOnDevice) {
    const auto link = echoing();
    RawProgram program(link->port());
    ASSERT_TRUE(becomes_true([&] { return link->is_hungry(); }));
    igtl::OfferedVolume lost = offered(small_grid(), 1);
    lost.voxels = []() -> igtl::SharedBytes { throw Error(ErrorCode::device, "is lost", "GPU"); };
    link->offer(lost);
    ASSERT_TRUE(becomes_true([&] { return link->stats().left_out == 1 && link->is_hungry(); }));
    link->offer(offered(small_grid(), 2));
    EXPECT_EQ(number_of(program.next("STRING", "Echolux_note")), 2);
    EXPECT_EQ(program.next("IMAGE", "Echolux").body.size(), 132U);  // statuses overtake waiting volumes
    link->report(Error(ErrorCode::bad_setting, "has voxels of a type", "x"));
    link->report(Error(ErrorCode::bad_setting, "has voxels of a type", "x"));
    EXPECT_EQ(program.next("STATUS").body.substr(0, 2), big(2, 2));
    EXPECT_EQ(program.next(300ms).type, "");
}

}  // namespace
}  // namespace echolux::test
