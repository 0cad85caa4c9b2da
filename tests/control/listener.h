// A connection that stores what it is sent instead of using a network.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ui/net/connection.h"

namespace echolux::test {

class Listener : public Connection {
  public:
    using Json = nlohmann::json;

    explicit Listener(std::uint64_t id = 1, bool may_steer = true) : id_(id), may_steer_(may_steer) {}

    std::uint64_t id() const override { return id_; }
    bool may_steer() const override { return may_steer_; }
    bool is_page() const override { return false; }
    const std::string& peer() const override { return peer_; }
    void send_text(std::string text) override { heard.push_back(Json::parse(text)); }
    void send_binary(SharedBytes bytes) override { data = *bytes; }
    void send_both(std::string text, SharedBytes bytes) override {
        send_text(std::move(text));
        send_binary(std::move(bytes));
    }
    std::size_t waiting_bytes() const override { return 0; }
    void close(const std::string&) override { is_open_ = false; }
    bool is_open() const override { return is_open_; }

    std::vector<Json> heard;
    std::vector<std::byte> data;

  private:
    std::uint64_t id_;
    bool may_steer_, is_open_ = true;
    std::string peer_ = "test";
};

}  // namespace echolux::test
