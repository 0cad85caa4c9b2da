// Checks sent messages with the receiver of the OpenIGTLink library, which shares no code with ours: volumes bit by bit
// with spacing, pose and time, over a link in both directions.
#include "compute/indexing.h"
#include "igtl_case.h"

#ifdef ECHOLUX_OPENIGTLINK

#include <igtlClientSocket.h>
#include <igtlImageMessage.h>
#include <igtlMessageHeader.h>
#include <igtlServerSocket.h>
#include <igtlStatusMessage.h>
#include <igtlStringMessage.h>
#include <igtlTransformMessage.h>

namespace echolux::test {
namespace {

// The message as unpacked by the library; nullptr if none arrived or its checksum was wrong.
template <class Message>
typename Message::Pointer received(::igtl::Socket::Pointer socket, const std::string& type, const std::string& device) {
    for (;;) {
        auto header = ::igtl::MessageHeader::New();
        header->InitPack();
        if (socket->Receive(header->GetPackPointer(), header->GetPackSize()) != header->GetPackSize()) return nullptr;
        header->Unpack();
        if (header->GetDeviceType() != type || header->GetDeviceName() != device) {
            socket->Skip(header->GetBodySizeToRead(), 0);
            continue;
        }
        auto message = Message::New();
        message->SetMessageHeader(header);
        message->AllocatePack();
        if (socket->Receive(message->GetPackBodyPointer(), message->GetPackBodySize()) != message->GetPackBodySize())
            return nullptr;
        const int unpacked = message->Unpack(1);
        EXPECT_TRUE(unpacked & ::igtl::MessageHeader::UNPACK_BODY) << type << ": the checksum";
        return message;
    }
}

const igtl::LinkOptions own_port{true, {"127.0.0.1", 0}, false};

void check_voxels(::igtl::ImageMessage& image, const VolumeGrid& grid, const Bytes& voxels) {
    int size[3];
    image.GetDimensions(size);
    ASSERT_EQ(size[0], grid.a_scans);
    ASSERT_EQ(size[1], grid.depth);
    ASSERT_EQ(size[2], grid.b_scans);
    ASSERT_EQ(image.GetImageSize(), grid.bytes());
    const auto* received = static_cast<const std::byte*>(image.GetScalarPointer());
    const std::int64_t bytes = bytes_of(grid.type);
    for (std::int64_t b = 0; b < grid.b_scans; ++b) {
        for (std::int64_t z = 0; z < grid.depth; ++z) {
            for (std::int64_t a = 0; a < grid.a_scans; ++a) {
                const std::int64_t there = ((b * grid.depth + z) * grid.a_scans + a) * bytes;
                const std::int64_t here = ((b * grid.a_scans + a) * grid.depth + z) * bytes;
                ASSERT_EQ(0, std::memcmp(received + there, voxels.data() + here, index(bytes)))
                    << "B-scan " << b << ", A-scan " << a << ", depth " << z;
            }
        }
    }
}

TEST(IgtlReceiver, ReceivesExactVolumesWithSpacingPoseAndTime) {
    igtl::Link link(own_port, [](const auto&, const auto&, const auto&) {});
    auto socket = ::igtl::ClientSocket::New();
    ASSERT_EQ(0, socket->ConnectToServer("127.0.0.1", link.port()));
    const std::pair<VoxelType, int> types[] = {{VoxelType::u8, ::igtl::ImageMessage::TYPE_UINT8},
                                               {VoxelType::i16, ::igtl::ImageMessage::TYPE_INT16},
                                               {VoxelType::u16, ::igtl::ImageMessage::TYPE_UINT16},
                                               {VoxelType::f32, ::igtl::ImageMessage::TYPE_FLOAT32}};
    std::int64_t number = 0;
    for (const auto& [type, wanted] : types) {
        const VolumeGrid grid = small_grid(type);
        ASSERT_TRUE(becomes_true([&] { return link.is_hungry(); }));
        link.offer(offered(grid, ++number));
        const Bytes voxels = voxels_of(grid, static_cast<int>(number));

        auto transform = received<::igtl::TransformMessage>(socket.GetPointer(), "TRANSFORM", "Echolux_pose");
        ASSERT_TRUE(transform.IsNotNull());
        ::igtl::Matrix4x4 pose;
        transform->GetMatrix(pose);
        const float expected[3][4] = {{-1, 0, 0, 0}, {0, -1, 0, -0.05F}, {0, 0, 1, 0}};
        for (int row = 0; row < 3; ++row) {
            for (int column = 0; column < 4; ++column) EXPECT_EQ(pose[row][column], expected[row][column]);
        }

        auto slice = received<::igtl::ImageMessage>(socket.GetPointer(), "IMAGE", "Echolux_BScan");
        ASSERT_TRUE(slice.IsNotNull());
        VolumeGrid one = grid;
        one.b_scans = 1;
        check_voxels(*slice, one,
                     Bytes(voxels.begin() + grid.b_scan_bytes(), voxels.begin() + 2 * grid.b_scan_bytes()));
        float at[3];
        slice->GetOrigin(at);  // centre: 3 steps of 10 um, 4 of 3 um behind 50 um, second B-scan
        EXPECT_FLOAT_EQ(at[0], -0.015F);
        EXPECT_FLOAT_EQ(at[1], -0.056F);
        EXPECT_FLOAT_EQ(at[2], 0.02F);

        auto image = received<::igtl::ImageMessage>(socket.GetPointer(), "IMAGE", "Echolux");
        ASSERT_TRUE(image.IsNotNull());
        EXPECT_EQ(image->GetScalarType(), wanted);
        EXPECT_EQ(image->GetNumComponents(), 1);
        EXPECT_EQ(image->GetEndian(), ::igtl::ImageMessage::ENDIAN_LITTLE);
        EXPECT_EQ(image->GetCoordinateSystem(), ::igtl::ImageMessage::COORDINATE_RAS);
        check_voxels(*image, grid, voxels);
        float spacing[3], normals[3][3];
        image->GetSpacing(spacing);
        EXPECT_FLOAT_EQ(spacing[0], 0.01F);
        EXPECT_FLOAT_EQ(spacing[1], 0.003F);
        EXPECT_FLOAT_EQ(spacing[2], 0.02F);
        image->GetNormals(normals);
        EXPECT_FLOAT_EQ(normals[0][0], -1);
        EXPECT_FLOAT_EQ(normals[1][1], -1);
        EXPECT_FLOAT_EQ(normals[2][2], 1);
        image->GetOrigin(at);
        EXPECT_FLOAT_EQ(at[0], -0.015F);
        EXPECT_FLOAT_EQ(at[1], -0.056F);
        EXPECT_FLOAT_EQ(at[2], 0.02F);
        auto time = ::igtl::TimeStamp::New();
        image->GetTimeStamp(time);
        EXPECT_NEAR(time->GetTimeStamp(), igtl::unix_now(), 5);
    }
}

TEST(IgtlReceiver, FindsServerAndAnswersStrings) {
    auto server = ::igtl::ServerSocket::New();
    int port = 0;
    for (port = 28944; port < 28964 && server->CreateServer(port) != 0;) ++port;
    igtl::Link link({false, {"127.0.0.1", static_cast<std::uint16_t>(port)}, false},
                    [](const auto& from, const igtl::Request& request, const auto&) {
                        from->send(igtl::answer_to(request, 1, "heard " + request.text));
                    });
    auto socket = server->WaitForConnection(10000);
    ASSERT_TRUE(socket.IsNotNull());
    auto status = received<::igtl::StatusMessage>(socket.GetPointer(), "STATUS", "Echolux");
    ASSERT_TRUE(status.IsNotNull());
    EXPECT_EQ(status->GetCode(), ::igtl::StatusMessage::STATUS_OK);
    EXPECT_EQ(std::string(status->GetStatusString()).rfind("echolux ", 0), 0U);

    auto string = ::igtl::StringMessage::New();
    string->SetDeviceName("Slicer");
    string->SetString("view.mode=mip");
    string->Pack();
    socket->Send(string->GetPackPointer(), string->GetPackSize());
    auto answer = received<::igtl::StringMessage>(socket.GetPointer(), "STRING", "Slicer");
    ASSERT_TRUE(answer.IsNotNull());
    EXPECT_EQ(std::string(answer->GetString()), "heard view.mode=mip");
    socket->CloseSocket();
}

}  // namespace
}  // namespace echolux::test

#else

TEST(IgtlReceiver, ReceivesExactVolumesWithSpacingPoseAndTime) {
    GTEST_SKIP() << "built without OpenIGTLink (libopenigtlink-dev)";
}

#endif
