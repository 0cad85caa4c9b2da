// Messages from pages: JSON objects with a "type", described in docs/serve.md. Parsing is a pure function and a fuzz
// target: any text yields a message or an Error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/io/movie_file.h"
#include "ui/window/native_window.h"

namespace echolux {

struct PageHello {
    std::vector<StreamCodec> codecs;  // codecs that the page decodes, best first
    std::string page;                 // identifies a loaded page across connections; empty if unknown
};
struct PageSize {
    std::int64_t width = 0, height = 0;  // of the picture in pixels; even
    double scale = 1;                    // scale of text and controls
};
struct PageInput {
    std::uint32_t number = 0;  // counts messages of this page from 1
    std::vector<WindowEvent> events;
};
struct PageAcknowledgement {
    std::uint32_t picture = 0;  // number of the acknowledged picture
};
// Requests control, hands it over, or keeps it.
struct PageSteer {
    enum class Command { request, release, keep };
    Command what = Command::request;
};
struct PageClipboard {
    std::string text;  // text of the browser's clipboard
};
struct PageDropped {
    std::vector<std::string> names;  // names of uploaded files
};
struct PageAction {
    std::string id;  // id in Workspace::actions()
};
struct PageQuality {
    std::optional<int> level;  // nullopt: chosen from the connection
};
using PageMessage = std::variant<PageHello, PageSize, PageInput, PageAcknowledgement, PageSteer, PageClipboard,
                                 PageDropped, PageAction, PageQuality>;

// Throws Error{bad_setting} if the text is not a valid message or exceeds a limit.
PageMessage parsed_page_message(std::string_view text);

// Returns true if the text is for the control interface: an object with "jsonrpc", or a list. Does not parse the text.
bool is_for_control(std::string_view text);

}  // namespace echolux
