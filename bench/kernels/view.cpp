#include "kernels/view.h"

#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "view/bytes_pool.h"
#include "view/frame_message.h"
#include "view/server.h"

namespace barchan {

namespace {

struct Crowd {
  explicit Crowd(std::size_t n)
      : x(n), y(n), z(n), v(n), density(n), pressure(n), material(n), id(n) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto f = static_cast<float>(i);
      x[i] = f * 1e-6f, y[i] = f * 3e-6f, z[i] = 1.0f - f * 2e-6f;
      v[i] = static_cast<float>(i % 1000) * 1e-3f;
      density[i] = 1000.0f, pressure[i] = v[i];
      id[i] = i;
    }
  }
  ViewParticles view() const { return {x, y, z, v, v, v, density, pressure, {}, material, id}; }
  std::vector<float> x, y, z, v, density, pressure;
  std::vector<std::uint8_t> material;
  std::vector<std::uint64_t> id;
};

ViewMoment moment() {
  ViewMoment moment;
  moment.rest_density = {1000.0};
  return moment;
}

void encode(benchmark::State& state) {
  const Crowd crowd(static_cast<std::size_t>(state.range(0)));
  const ViewMoment now = moment();
  std::string message;
  for (auto _ : state) {
    encode_frame(crowd.view(), now, message);
    benchmark::DoNotOptimize(message.data());
  }
}

// A reader that has asked for the WebSocket, and knows how many bytes a frame takes.
class Reader {
 public:
  explicit Reader(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string request =
        "GET /ws?token=t HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
        "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0 ||
        ::send(socket_, request.data(), request.size(), 0) < 0) {
      fail("no connection to the server");
    }
    std::string head;
    while (!head.ends_with("\r\n\r\n")) {
      char c = 0;
      if (::recv(socket_, &c, 1, 0) != 1) fail("no answer from the server");
      head += c;
    }
  }
  ~Reader() { ::close(socket_); }
  void take(std::size_t bytes) {
    buffer_.resize(1 << 20);
    while (bytes > 0) {
      const ssize_t n = ::recv(socket_, buffer_.data(), std::min(bytes, buffer_.size()), 0);
      if (n <= 0) fail("the server hung up");
      bytes -= static_cast<std::size_t>(n);
    }
  }

 private:
  int socket_;
  std::vector<char> buffer_;
};

void encode_and_send(benchmark::State& state) {
  const Crowd crowd(static_cast<std::size_t>(state.range(0)));
  ViewServerOptions options;
  options.token = "t";
  ViewServer server(options, {});
  Reader reader(server.port());
  while (server.counts().viewers == 0) ::usleep(1000);
  const ViewMoment now = moment();
  BytesPool pool;
  for (auto _ : state) {
    const std::shared_ptr<std::string> frame = pool.blank();
    encode_frame(crowd.view(), now, *frame);
    server.publish(frame);
    reader.take(frame->size() + 10);  // and the head of a long message
  }
}

}  // namespace

void add_view_benchmarks() {
  for (const int n : {100000, 1000000}) {
    benchmark::RegisterBenchmark("view/encode", encode)->Arg(n)->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark("view/encode_and_send", encode_and_send)
        ->Arg(n)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace barchan
