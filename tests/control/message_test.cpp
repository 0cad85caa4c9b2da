// Parsing of JSON-RPC 2.0: malformed requests are refused with the error codes of the specification.
#include "ui/control/message.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "compute/error.h"
#include "ui/control/methods.h"

namespace echolux::test {
namespace {

// Error code of a text that contains a single, refused request.
RpcCode code_of(const std::string& text) {
    const Message message = parsed_message(text);
    if (message.requests.size() != 1 || !message.requests[0].refusal) {
        ADD_FAILURE() << text << " is taken for a request";
        return RpcCode::internal_error;
    }
    return message.requests[0].refusal->code;
}

TEST(Message, DistinguishesInvalidJsonFromInvalidRequest) {
    for (const char* text : {"", "{", "nonsense", "{\"jsonrpc\": \"2.0\",}", "\xff\xfe", "[1, 2"}) {
        EXPECT_EQ(code_of(text), RpcCode::parse_error) << text;
    }
    for (const char* text :
         {"1", "null", "[]", "{}", R"({"jsonrpc": "1.0", "method": "get"})", R"({"jsonrpc": "2.0", "id": 1})",
          R"({"jsonrpc": "2.0", "id": 1, "method": 3})", R"({"jsonrpc": "2.0", "id": {}, "method": "get"})",
          R"({"jsonrpc": "2.0", "id": 1, "method": "get", "params": 3})"}) {
        EXPECT_EQ(code_of(text), RpcCode::invalid_request) << text;
    }
    EXPECT_EQ(code_of(std::string(100'000, '[')), RpcCode::parse_error);
}

TEST(Message, RequestsKeepTheirIds) {
    for (const char* id : {"7", "\"seven\"", "7.5", "null"}) {
        const Message message =
            parsed_message(R"({"jsonrpc": "2.0", "method": "state", "id": )" + std::string(id) + "}");
        ASSERT_EQ(message.requests.size(), 1U);
        EXPECT_FALSE(message.requests[0].refusal);
        EXPECT_FALSE(message.requests[0].is_notification);
        EXPECT_EQ(message.requests[0].id.dump(), id);
    }
    EXPECT_TRUE(parsed_message(R"({"jsonrpc": "2.0", "method": "state"})").requests[0].is_notification);
    EXPECT_EQ(parsed_message(R"({"jsonrpc": "2.0", "id": 9})").requests[0].id, 9);
}

TEST(Message, BatchesKeepInvalidRequests) {
    const Message message = parsed_message(R"([{"jsonrpc": "2.0", "id": 1, "method": "state"}, 5])");
    EXPECT_TRUE(message.is_batch);
    ASSERT_EQ(message.requests.size(), 2U);
    EXPECT_FALSE(message.requests[0].refusal);
    EXPECT_EQ(message.requests[1].refusal->code, RpcCode::invalid_request);
    std::string long_one = "[0";
    for (int i = 0; i < 1000; ++i) long_one += ",0";
    EXPECT_EQ(code_of(long_one + "]"), RpcCode::too_many);
}

TEST(Message, EveryErrorHasUniqueCodeAndName) {
    std::set<std::string_view> names;
    std::set<int> codes;
    for (const RpcCode code : all_rpc_codes()) {
        names.insert(name_of(code));
        codes.insert(static_cast<int>(code));
    }
    EXPECT_EQ(names.size(), all_rpc_codes().size());
    EXPECT_EQ(codes.size(), all_rpc_codes().size());
    for (const ErrorCode code : {ErrorCode::bad_setting, ErrorCode::bad_file, ErrorCode::output,
                                 ErrorCode::out_of_memory, ErrorCode::device, ErrorCode::cancelled}) {
        EXPECT_NE(rpc_code(code), RpcCode::internal_error);
        const nlohmann::ordered_json answer = error_answer(3, Refusal(Error(code, "what", "where", "remedy")));
        EXPECT_EQ(answer["error"]["code"], static_cast<int>(rpc_code(code)));
        EXPECT_EQ(answer["error"]["data"]["what"], "what");
        EXPECT_EQ(answer["error"]["data"]["where"], "where");
        EXPECT_EQ(answer["error"]["data"]["remedy"], "remedy");
    }
}

TEST(Message, EncodesBytesByStandard) {  // RFC 4648, section 10
    const auto text_of = [](std::string_view text) { return base64_of(std::as_bytes(std::span(text))); };
    EXPECT_EQ(text_of(""), "");
    EXPECT_EQ(text_of("f"), "Zg==");
    EXPECT_EQ(text_of("fo"), "Zm8=");
    EXPECT_EQ(text_of("foo"), "Zm9v");
    EXPECT_EQ(text_of("foobar"), "Zm9vYmFy");
}

TEST(Methods, TableChecksParameters) {
    const auto refusal = [](const char* method, const char* params) {
        try {
            checked_params(method_named(method), nlohmann::json::parse(params));
        } catch (const Refusal& refused) {
            return std::string(name_of(refused.code)) + ": " + refused.error.line();
        }
        return std::string("taken");
    };
    EXPECT_EQ(refusal("get", R"({"keys": ["view.mode"]})"), "taken");
    EXPECT_EQ(refusal("get", R"(["view.mode"])"), "taken");
    EXPECT_EQ(refusal("probe", "[1, 2]"), "taken");
    EXPECT_EQ(refusal("gett", "{}"), "method_not_found: gett: is not a method (did you mean \"get\"?)");
    EXPECT_EQ(refusal("get", R"({"kesy": []})"),
              "invalid_params: get, kesy: is not a parameter (did you mean \"keys\"?)");
    EXPECT_EQ(refusal("set", "{}"),
              "invalid_params: set, values: is missing (values by key; null restores the default)");
    EXPECT_EQ(refusal("probe", R"({"x": 1.5, "y": 2})"), "invalid_params: probe, x: must be of type integer");
    EXPECT_NE(refusal("probe", "[1, 2, 3]"), "taken");
    EXPECT_NE(refusal("snapshot", R"({"of": "windw"})"), "taken");
    EXPECT_NE(refusal("set", R"({"values": []})"), "taken");
}

// Run `ECHOLUX_WRITE=1 control_tests --gtest_filter=*Reference*` to update the documentation.
TEST(Methods, DocumentedReferenceMatchesTable) {
    const std::string path = ECHOLUX_SOURCE_DIR "/docs/control.md", begin = "<!-- made from the table of methods -->\n";
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    const std::size_t at = text.str().find(begin);
    ASSERT_NE(at, std::string::npos);
    const std::string whole = text.str().substr(0, at) + begin + "\n" + methods_reference();
    if (std::getenv("ECHOLUX_WRITE") != nullptr) std::ofstream(path) << whole;
    EXPECT_TRUE(text.str() == whole)
        << "docs/control.md is not what the table says: run this test with ECHOLUX_WRITE=1";
}

}  // namespace
}  // namespace echolux::test
