// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/transport/sim.hpp"

#include "engine/dist/transport/local.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

Message time_message(int peer, double& time) {
  return {peer, {reinterpret_cast<std::byte*>(&time), {1}, {1}, sizeof(double)}};
}

/// Puts a message with its time in front of each message.
std::vector<Message> with_times(std::span<const Message> messages, std::vector<double>& times) {
  std::vector<Message> all;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    all.push_back(time_message(messages[i].peer, times[i]));
    all.push_back(messages[i]);
  }
  return all;
}

}  // namespace

SimTransport::SimTransport(World under, Links links) : under_(std::move(under)), links_(std::move(links)) {}

double SimTransport::arrival_of(const Message& message) {
  if (message.peer == rank()) return now_s_;
  double& link = link_s_[message.peer];
  link = std::max(link, now_s_) +
         links_(rank(), message.peer).seconds(static_cast<double>(message.elements.bytes()));
  return link;
}

Transport::Ticket SimTransport::start(std::span<const Message> send, std::span<const Message> receive,
                                      std::uint64_t number) {
  Times times;
  for (const Message& message : send) times.sent.push_back(arrival_of(message));
  times.received.resize(receive.size());
  // The arrays of the vectors stay where they are when the vectors move.
  const Ticket ticket =
      under_->start(with_times(send, times.sent), with_times(receive, times.received), number);
  open_->emplace(ticket, std::move(times));
  count_sent(send);
  return ticket;
}

bool SimTransport::test(Ticket ticket) {
  if (!under_->test(ticket)) return false;
  note_arrivals(ticket);
  return true;
}

void SimTransport::wait(Ticket ticket) {
  const double before_s = under_->counts().seconds;
  const std::int64_t waits = under_->counts().waits;
  under_->wait(ticket);
  counts_.waits += under_->counts().waits - waits;
  counts_.seconds += under_->counts().seconds - before_s;
  note_arrivals(ticket);
}

void SimTransport::note_arrivals(Ticket ticket) {
  const auto found = open_->find(ticket);
  if (found == open_->end()) return;
  for (const double arrival : found->second.received) now_s_ = std::max(now_s_, arrival);
  open_->erase(found);
}

void SimTransport::advance(double seconds) {
  if (!(seconds >= 0.0))
    throw core::InvalidArgument("SimTransport#negative_time", "expected a time of 0 s or more, got {} s",
                                seconds);
  now_s_ += seconds;
}

std::vector<SimRank> run_simulated_ranks(int n, const Links& links,
                                         const std::function<void(const SimWorld&)>& f) {
  std::vector<SimRank> ends(static_cast<std::size_t>(std::max(n, 0)));
  std::vector<std::shared_ptr<const void>> times(ends.size());  // outlive the ranks
  run_ranks(n, [&](const World& world) {
    const SimWorld sim = std::make_shared<SimTransport>(world, links);
    const auto rank = static_cast<std::size_t>(world->rank());
    times[rank] = sim->open_;
    f(sim);
    ends[rank] = {sim->now_s(), sim->counts()};
  });
  return ends;
}

}  // namespace lodestone::engine
