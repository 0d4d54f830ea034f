// A client of the two commands that are needed: a request is written whole, an answer is one short line or bulk.
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <thread>

#include "base/descriptor.h"
#include "must.h"
#include "peers.h"
#include "stores.h"

namespace tenure::bench {
namespace {

constexpr std::string_view kDelete =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

std::string request(std::initializer_list<std::string_view> words) {
  std::string text = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string_view word : words) {
    text += "$" + std::to_string(word.size()) + "\r\n" + std::string(word) + "\r\n";
  }
  return text;
}

class Redis final : public Way {
 public:
  Redis() : socket_(must(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket")) {
    const std::string path = std::getenv(kRedisVariable);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) stop_here("redis: the path of the socket is too long");
    path.copy(address.sun_path, path.size());
    must(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect to redis");
    const std::string owner = std::to_string(::getpid());
    take_ = request({"SET", "bench", owner, "NX", "PX", "30000"});
    const std::string loaded = answer(request({"SCRIPT", "LOAD", kDelete}));  // "$40", the digest
    if (loaded.size() < 45) stop_here("redis: " + loaded);
    give_ = request({"EVALSHA", loaded.substr(5, 40), "1", "bench", owner});
  }

  void take() override {
    while (answer(take_) != "+OK\r\n") std::this_thread::sleep_for(kPollInterval);
  }
  void give() override {
    if (answer(give_) != ":1\r\n") stop_here("redis: the lock is gone");
  }

 private:
  std::string answer(const std::string& question) {
    if (must(::write(socket_.get(), question.data(), question.size()), "write to redis") !=
        static_cast<ssize_t>(question.size())) {
      stop_here("redis: short write");
    }
    std::string text;
    std::array<char, 256> bytes{};
    const auto lines = [&] { return std::count(text.begin(), text.end(), '\n'); };
    while (lines() < (text.starts_with('$') && !text.starts_with("$-") ? 2 : 1)) {
      const auto size = must(::read(socket_.get(), bytes.data(), bytes.size()), "read from redis");
      if (size == 0) stop_here("redis: gone");
      text.append(bytes.data(), static_cast<std::size_t>(size));
    }
    if (text.starts_with('-')) stop_here("redis: " + text);
    return text;
  }

  base::Descriptor socket_;
  std::string take_;
  std::string give_;
};

}  // namespace

std::unique_ptr<Way> make_redis() {
  return std::make_unique<Redis>();
}

}  // namespace tenure::bench
