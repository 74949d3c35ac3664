// SPDX-License-Identifier: Apache-2.0
// Ranks as threads: a room in which senders leave what receivers fetch.
#include "engine/dist/transport/local.hpp"

#include "engine/memory/device.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

namespace lodestone::engine {
namespace {

/// An exchange that a rank has started.
struct Open {
  std::uint64_t number = 0;
  std::vector<Message> receives;  ///< those that were not fetched yet
  std::vector<int> peers;         ///< to whom it sends
  std::size_t n_sent = 0;         ///< messages that receivers have not copied yet; guarded by the room
};

/// The place where ranks meet. The mutex guards everything else.
struct Room {
  struct Post {
    Strided elements;
    Open* sender;
  };
  struct Rank {
    bool has_ended = false;
    std::uint64_t blocked_at = 0;  ///< the count of changes at which it found nothing to do; 0: it runs
    int waits_for = 0;             ///< another rank, when it is blocked
    int n_copied = 0;              ///< messages from it that are being copied
  };
  using Key = std::tuple<int, int, std::uint64_t>;  // from, to, number

  explicit Room(int n) : ranks(static_cast<std::size_t>(n)) {}
  Rank& at(int rank) { return ranks[static_cast<std::size_t>(rank)]; }
  void note_change() {
    ++n_changes;
    changed.notify_all();
  }
  void check() const {
    if (failure) throw_failure(*failure);
  }
  [[nodiscard]] bool is_standstill() const {
    return std::all_of(ranks.begin(), ranks.end(),
                       [&](const Rank& each) { return each.has_ended || each.blocked_at == n_changes; });
  }
  [[nodiscard]] Failure standstill() const {
    std::string who;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      who += fmt::format("{}rank {} ", i == 0 ? "" : ", ", i);
      who += ranks[i].has_ended ? "has ended" : fmt::format("waits for rank {}", ranks[i].waits_for);
    }
    const core::InvalidArgument error(
        "run_ranks#standstill",
        "expected that ranks exchange with each other in the same order, got a standstill: {}", who);
    return {error.exit_code(), error.what(), error.place()};
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t n_changes = 1;
  std::map<Key, std::deque<Post>> posts;
  std::vector<Rank> ranks;
  std::optional<Failure> failure;
};

class LocalTransport final : public Transport {
 public:
  LocalTransport(std::shared_ptr<Room> room, int rank) : room_(std::move(room)), rank_(rank) {}
  ~LocalTransport() override {
    std::unique_lock lock(room_->mutex);
    withdraw(lock);
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(room_->ranks.size()); }

  Ticket start(std::span<const Message> send, std::span<const Message> receive,
               std::uint64_t number) override {
    check_peers(send);
    check_peers(receive);
    const Ticket ticket = ++n_started_;
    Open& open = open_[ticket];
    open.number = number;
    open.receives.assign(receive.begin(), receive.end());
    open.n_sent = send.size();
    for (const Message& message : send) open.peers.push_back(message.peer);
    std::unique_lock lock(room_->mutex);
    check(lock);
    for (const Message& message : send)
      room_->posts[{rank_, message.peer, number}].push_back({message.elements, &open});
    room_->note_change();
    count_sent(send);
    return ticket;
  }

  bool test(Ticket ticket) override {
    // A message may arrive during this loop. It belongs to the earliest receive that waits for it, so later
    // ones do not look for it again.
    std::set<std::pair<int, std::uint64_t>> missing;
    for (auto& [_, open] : open_) {
      std::erase_if(open.receives, [&, number = open.number](const Message& message) {
        if (missing.contains({message.peer, number})) return false;
        if (fetch(message, number)) return true;
        missing.insert({message.peer, number});
        return false;
      });
    }
    std::unique_lock lock(room_->mutex);
    if (misfit_) withdraw(lock);
    if (misfit_) throw core::InvalidArgument(*misfit_);
    check(lock);
    std::erase_if(open_,
                  [](const auto& each) { return each.second.receives.empty() && each.second.n_sent == 0; });
    return !open_.contains(ticket);
  }

  void wait(Ticket ticket) override {
    using namespace std::chrono;
    std::optional<steady_clock::time_point> begin;
    for (;;) {
      std::unique_lock lock(room_->mutex);
      const std::uint64_t seen = room_->n_changes;
      lock.unlock();
      if (test(ticket)) break;
      if (!begin) begin = steady_clock::now();
      lock.lock();
      if (room_->n_changes == seen) block(lock, seen, open_.at(ticket));
    }
    if (!begin) return;
    ++counts_.waits;
    counts_.seconds += duration<double>(steady_clock::now() - *begin).count();
  }

  void fail(const Failure& failure) noexcept override {
    std::unique_lock lock(room_->mutex);
    if (!room_->failure) room_->failure = failure;
    room_->note_change();
    withdraw(lock);
  }

 private:
  /// Throws what another rank has failed with, when nobody reads from this one any more: the caller's arrays
  /// may go with the exception.
  void check(std::unique_lock<std::mutex>& lock) {
    if (room_->failure) withdraw(lock);
    room_->check();
  }

  /// Copies a message if its sender has left it. Returns whether it did.
  bool fetch(const Message& message, std::uint64_t number) {
    std::unique_lock lock(room_->mutex);
    if (room_->failure) return false;
    const auto found = room_->posts.find({message.peer, rank_, number});
    if (found == room_->posts.end()) return false;
    const Room::Post post = found->second.front();
    found->second.pop_front();
    if (found->second.empty()) room_->posts.erase(found);
    ++room_->at(message.peer).n_copied;
    lock.unlock();
    const bool fits = post.elements.bytes() == message.elements.bytes();
    if (fits) copy(post.elements, message.elements);
    lock.lock();
    --room_->at(message.peer).n_copied;
    --post.sender->n_sent;
    room_->note_change();
    if (!fits)
      misfit_ = core::InvalidArgument("Transport#wrong_length",
                                      "expected {} bytes from rank {} for rank {}, got {}",
                                      message.elements.bytes(), message.peer, rank_, post.elements.bytes());
    return true;
  }

  /// Sleeps until something has changed. If all ranks sleep then, nothing will.
  void block(std::unique_lock<std::mutex>& lock, std::uint64_t seen, const Open& open) {
    Room::Rank& own = room_->at(rank_);
    own.waits_for = open.receives.empty() ? open.peers.front() : open.receives.front().peer;
    own.blocked_at = seen;
    if (room_->is_standstill()) {
      room_->failure = room_->standstill();
      room_->note_change();
    }
    room_->changed.wait(lock, [&] { return room_->n_changes != seen; });
    own.blocked_at = 0;
  }

  /// Takes back what others have not fetched, and waits until nobody copies from this rank any more.
  void withdraw(std::unique_lock<std::mutex>& lock) {
    for (auto each = room_->posts.begin(); each != room_->posts.end();)
      each = std::get<0>(each->first) == rank_ ? room_->posts.erase(each) : std::next(each);
    room_->changed.wait(lock, [&] { return room_->at(rank_).n_copied == 0; });
    open_.clear();
  }

  std::shared_ptr<Room> room_;
  int rank_;
  std::map<Ticket, Open> open_;
  Ticket n_started_ = 0;
  std::optional<core::InvalidArgument> misfit_;  ///< a message of another length than expected
};

/// Runs f as a rank. Returns what it threw, if that was the first failure of all.
std::exception_ptr run_rank(const std::shared_ptr<Room>& room, int rank,
                            const std::function<void(const World&)>& f) {
  std::exception_ptr first;
  {
    const World world = std::make_shared<LocalTransport>(room, rank);
    try {
      f(world);
    } catch (...) {
      const std::exception_ptr error = std::current_exception();
      {
        const std::lock_guard lock(room->mutex);
        if (!room->failure) first = error;
      }
      world->fail(failure_of(error));
    }
  }
  const std::lock_guard lock(room->mutex);
  room->at(rank).has_ended = true;
  room->note_change();
  return first;
}

}  // namespace

void run_ranks(int n, const std::function<void(const World&)>& f) {
  if (n < 1) throw core::InvalidArgument("run_ranks#no_ranks", "expected 1 rank or more, got {}", n);
  const auto room = std::make_shared<Room>(n);
  const Device device = default_device();
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < n; ++rank) {
    threads.emplace_back([&, rank] {
      const DefaultDevice scope(device);
      const std::exception_ptr error = run_rank(room, rank, f);
      const std::lock_guard lock(mutex);
      if (error && !first) first = error;
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
  room->check();  // a standstill is no rank's own failure
}

World lone_rank() { return std::make_shared<LocalTransport>(std::make_shared<Room>(1), 0); }

}  // namespace lodestone::engine
