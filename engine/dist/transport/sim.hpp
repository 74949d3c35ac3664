// SPDX-License-Identifier: Apache-2.0
// SIM: ranks with clocks. Times are modelled, whatever the load of the machine; elements arrive as ever.
#pragma once

#include "engine/dist/transport/transport.hpp"

#include <functional>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace lodestone::engine {

/// The speed of a link: a message of n bytes takes alpha_s + n / bytes_per_s.
struct LinkSpeed {
  double alpha_s = 0.0;
  double bytes_per_s = std::numeric_limits<double>::infinity();
  [[nodiscard]] double seconds(double bytes) const { return alpha_s + bytes / bytes_per_s; }
};
/// Returns the speed of the link from one rank to another.
using Links = std::function<LinkSpeed(int from, int to)>;

class SimTransport;
using SimWorld = std::shared_ptr<SimTransport>;
/// The end of a rank's run.
struct SimRank {
  double end_s = 0.0;  ///< modelled
  TransportCounts counts;
};
/// Runs f on n threads as `run_ranks` does, each with a clock that begins at 0. Returns how each rank ended.
/// errors: those of `run_ranks`.
std::vector<SimRank> run_simulated_ranks(int n, const Links& links,
                                         const std::function<void(const SimWorld&)>& f);

/// A rank's end of a connection with a clock of its own, and one for each link.
///
/// A message leaves when its link is free and its sender has started it, and carries the time of its arrival.
/// When an exchange is over, the clock of the receiver becomes the latest arrival, if that is later. Sending
/// takes the sender no time. Only `advance` lets time pass beside that. Programs that wait have the same
/// clocks in every run; those that ask by `test` take real time into account.
class SimTransport final : public Transport {
 public:
  /// `under`: the connection that carries the messages, each behind its time. All ranks must have clocks.
  SimTransport(World under, Links links);

  [[nodiscard]] int rank() const override { return under_->rank(); }
  [[nodiscard]] int size() const override { return under_->size(); }
  Ticket start(std::span<const Message> send, std::span<const Message> receive,
               std::uint64_t number) override;
  bool test(Ticket ticket) override;
  void wait(Ticket ticket) override;
  void fail(const Failure& failure) noexcept override { under_->fail(failure); }

  [[nodiscard]] double now_s() const { return now_s_; }
  /// Adds the modelled time of a computation. errors: InvalidArgument for a negative time.
  void advance(double seconds);

 private:
  /// The times of the messages of an open exchange; they stay in place while it lasts.
  struct Times {
    std::vector<double> sent, received;
  };
  [[nodiscard]] double arrival_of(const Message& message);
  void note_arrivals(Ticket ticket);
  friend std::vector<SimRank> run_simulated_ranks(int n, const Links& links,
                                                  const std::function<void(const SimWorld&)>& f);

  World under_;
  Links links_;
  double now_s_ = 0.0;
  std::map<int, double> link_s_;  ///< by the other rank: until when the link to it is busy
  /// Others may read from here until they are told that this rank has failed.
  std::shared_ptr<std::map<Ticket, Times>> open_ = std::make_shared<std::map<Ticket, Times>>();
};

}  // namespace lodestone::engine
