// The struct behind a view: settings of section view. Files named by settings are read when they are set.
#pragma once

#include "app/open/channel_files.h"
#include "app/transfer/transfer_file.h"
#include "library/call.h"
#include "render/renderer.h"

namespace echolux::library {

inline void read_files(View& view) {
    if (view.transfer.empty()) view.transfer_curve.reset();
    load_transfer(view);
    load_channels(view);
}

}  // namespace echolux::library

struct echolux_view : echolux::library::Handle<echolux::library::Kind::view> {
    echolux_view() {
        settings.settings.bind("view", view);
        settings.change = [this](const std::string& key, const std::function<void()>& set) {
            const echolux::View before = view;
            try {
                set();
                if (key == "view.transfer" || key == "view.preset" || key == "view.sky_picture" ||
                    key.starts_with("view.channel_"))
                    echolux::library::read_files(view);
                check_view(view);
            } catch (...) {
                view = before;
                throw;
            }
        };
        settings.finish();
    }

    echolux::View view;
    echolux_settings settings;
};
