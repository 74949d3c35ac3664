// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/pipeline/follow.hpp"

#include <deque>
#include <map>

namespace lodestone::engine {
namespace {

class Follower {
 public:
  Follower(Transport& transport, const PipelineSchedule& schedule, const PipelineSteps& steps,
           std::uint64_t number, int n_buffers)
      : transport_(transport), schedule_(schedule), steps_(steps), number_(number), n_buffers_(n_buffers) {}

  void run() {
    for (const PipelineItem& item : schedule_.ranks[static_cast<std::size_t>(transport_.rank())].items) {
      switch (item.action) {
        case PipelineAction::compute:
          steps_.compute(item);
          break;
        case PipelineAction::send:
          send(item);
          break;
        case PipelineAction::receive:
          receive(item);
          break;
      }
      finish_sends();
    }
    for (auto& [_, open] : open_) {
      while (!open.empty()) wait_for_first(open);
    }
  }

 private:
  /// A message under way.
  struct Sent {
    Transport::Ticket ticket;
    PipelineItem item;
  };
  using Channel = std::deque<Sent>;

  static std::vector<Message> messages(int peer, const std::vector<Strided>& arrays) {
    std::vector<Message> all;
    for (const Strided& array : arrays) all.push_back({peer, array});
    return all;
  }

  void send(const PipelineItem& item) {
    const bool is_forward = item.pass == PipelinePass::forward;
    const int to = schedule_.rank_of(is_forward ? item.chunk + 1 : item.chunk - 1);
    Channel& open = open_[to];
    while (static_cast<std::int64_t>(open.size()) >= n_buffers_) wait_for_first(open);
    open.push_back({transport_.start(messages(to, steps_.outgoing(item)), {}, number_), item});
  }

  void receive(const PipelineItem& item) {
    transport_.exchange({}, messages(schedule_.rank_of(item.chunk), steps_.incoming(item)), number_);
    steps_.received(item);
  }

  void wait_for_first(Channel& open) {
    const Sent first = open.front();
    transport_.wait(first.ticket);
    open.pop_front();
    steps_.sent(first.item);
  }

  /// Makes progress with messages under way, which some transports do not do by themselves.
  void finish_sends() {
    for (auto& [_, open] : open_) {
      while (!open.empty() && transport_.test(open.front().ticket)) {
        steps_.sent(open.front().item);
        open.pop_front();
      }
    }
  }

  Transport& transport_;
  const PipelineSchedule& schedule_;
  const PipelineSteps& steps_;
  std::uint64_t number_;
  int n_buffers_;
  std::map<int, Channel> open_;  ///< by the rank that receives
};

}  // namespace

void follow(Transport& transport, const PipelineSchedule& schedule, const PipelineSteps& steps,
            std::uint64_t number, int n_buffers) {
  Follower(transport, schedule, steps, number, n_buffers).run();
}

}  // namespace lodestone::engine
