#include "ui/web/web_pages.h"

#include "assets/assets.h"

namespace echolux {

WebContent web_pages() {
    constexpr const char* script = "text/javascript; charset=utf-8";
    WebContent content;
    content.login = shipped_file("web/login.html");
    content.pages = {{"/", "text/html; charset=utf-8", shipped_file("web/index.html")},
                     {"/style.css", "text/css; charset=utf-8", shipped_file("web/style.css")},
                     {"/icon.svg", "image/svg+xml", shipped_file("web/icon.svg")}};
    for (const char* name : {"main", "connection", "video", "input", "touch", "files", "shown"}) {
        const std::string file = std::string(name) + ".js";
        content.pages.push_back({"/" + file, script, shipped_file("web/" + file)});
    }
    return content;
}

}  // namespace echolux
