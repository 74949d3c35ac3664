// SPDX-License-Identifier: Apache-2.0
// Messages of ranks by MPI: an envelope says number and length of each, small ones lie in it.
#include "engine/dist/mpi/world.hpp"

#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/dist/mpi/control.hpp"
#include "engine/dist/mpi/datatype.hpp"
#include "engine/dist/transport/agree.hpp"

#include <cstring>
#include <deque>
#include <limits>
#include <numeric>
#include <vector>

namespace lodestone::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t largest_in_envelope = 4096;  // bytes; larger messages are not copied
constexpr int last_tag = 32767;                     // any MPI allows it

/// The number and length of a message, sent before it or with it.
struct Envelope {
  std::uint64_t number = 0;
  std::int64_t bytes = 0;
  std::int32_t tag = 0;  ///< tag of the elements; 0: they follow
};

/// A message whose envelope has come.
struct Arrival {
  std::int64_t bytes = 0;
  int tag = 0;
  std::vector<std::byte> elements;
};

/// An exchange that has begun.
struct Open {
  std::uint64_t number = 0;
  std::vector<Message> receives;  ///< whose envelopes have not come
  std::vector<MPI_Request> requests;
  std::deque<std::vector<std::byte>> envelopes;  ///< until they are sent
  int waits_for = -1;                            ///< a rank, for the table of who waits for whom
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(MPI_Comm comm, const MpiWorldOptions& options)
      : rank_(core::rank_of(comm)),
        size_(core::size_of(comm)),
        options_(options),
        next_tags_(static_cast<std::size_t>(size_), 0),
        control_(comm) {
    MPI_Comm_dup(comm, &envelopes_);
    MPI_Comm_dup(comm, &elements_);
  }
  ~MpiTransport() override {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over != 0 || control_.failure()) return;  // ranks that fail need not meet
    abandon();
    MPI_Comm_free(&envelopes_);
    MPI_Comm_free(&elements_);
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  Ticket start(std::span<const Message> send, std::span<const Message> receive,
               std::uint64_t number) override {
    check_peers(send);
    check_peers(receive);
    const Ticket ticket = ++n_started_;
    Open& open = open_[ticket];
    open.number = number;
    open.receives.assign(receive.begin(), receive.end());
    if (!send.empty()) open.waits_for = send.front().peer;
    for (const Message& message : send) post(message, open);
    count_sent(send);
    return ticket;
  }

  bool test(Ticket ticket) override {
    make_progress();
    return !open_.contains(ticket);
  }

  void fail(const Failure& failure) noexcept override {
    if (!control_.failure()) control_.tell(failure);
    abandon();
  }

 protected:
  void has_waited(Ticket ticket, double seconds) override {
    waiting_s_ = seconds;
    if (seconds < options_.patience_s) return;
    const std::string others = control_.ask(options_.answer_s, state_of(ticket));
    throw core::SolverError(
        "mpi_world#hang",
        "expected that ranks exchange with each other in the same order, got no end of an "
        "exchange in {:.3g} s: {}",
        seconds, others);
  }

 private:
  /// Sends an envelope, with or before its elements.
  void post(const Message& message, Open& open) {
    Envelope envelope{open.number, static_cast<std::int64_t>(message.elements.bytes()), 0};
    const bool fits = envelope.bytes <= largest_in_envelope;
    if (!fits) envelope.tag = next_tag(message.peer);
    std::vector<std::byte>& bytes =
        open.envelopes.emplace_back(sizeof(Envelope) + (fits ? static_cast<std::size_t>(envelope.bytes) : 0));
    std::memcpy(bytes.data(), &envelope, sizeof(Envelope));
    if (fits) copy(message.elements, without_gaps(bytes.data() + sizeof(Envelope), message.elements));
    MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, message.peer, 0, envelopes_,
              &open.requests.emplace_back());
    if (fits) return;
    const MessageType type(message.elements);
    MPI_Isend(message.elements.data, 1, type.get(), message.peer, envelope.tag, elements_,
              &open.requests.emplace_back());
  }
  int next_tag(int peer) {
    int& tag = next_tags_[static_cast<std::size_t>(peer)];
    return tag = tag % last_tag + 1;
  }
  /// Returns the place of elements that lie one behind the other.
  static Strided without_gaps(std::byte* data, const Strided& like) {
    return {data, like.shape, contiguous_strides(like.shape), like.item};
  }

  void make_progress() {
    const auto state = [&] { return open_.empty() ? std::string() : state_of(open_.begin()->first); };
    control_.listen(state);
    if (control_.failure()) {
      abandon();
      throw_failure(*control_.failure());
    }
    take_envelopes();
    for (auto& [_, open] : open_) {
      std::erase_if(open.receives, [&](const Message& message) { return receive(message, open); });
    }
    for (auto each = open_.begin(); each != open_.end();) {
      const bool is_over = each->second.receives.empty() && are_over(each->second);
      each = is_over ? open_.erase(each) : std::next(each);
    }
  }
  static bool are_over(Open& open) {
    int done = 0;
    MPI_Testall(static_cast<int>(open.requests.size()), open.requests.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  }

  void take_envelopes() {
    for (;;) {
      int found = 0, n_bytes = 0;
      MPI_Message arrived = MPI_MESSAGE_NULL;
      MPI_Status status;
      MPI_Improbe(MPI_ANY_SOURCE, 0, envelopes_, &found, &arrived, &status);
      if (found == 0) return;
      MPI_Get_count(&status, MPI_BYTE, &n_bytes);
      std::vector<std::byte> bytes(static_cast<std::size_t>(n_bytes));
      MPI_Mrecv(bytes.data(), n_bytes, MPI_BYTE, &arrived, MPI_STATUS_IGNORE);
      Envelope envelope;
      std::memcpy(&envelope, bytes.data(), sizeof(Envelope));
      bytes.erase(bytes.begin(), bytes.begin() + sizeof(Envelope));
      arrivals_[{status.MPI_SOURCE, envelope.number}].push_back(
          {envelope.bytes, envelope.tag, std::move(bytes)});
    }
  }

  /// Takes or awaits the elements of a message whose envelope has come. Returns whether it has.
  bool receive(const Message& message, Open& open) {
    const auto found = arrivals_.find({message.peer, open.number});
    if (found == arrivals_.end()) return false;
    Arrival arrival = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) arrivals_.erase(found);
    if (arrival.bytes != static_cast<std::int64_t>(message.elements.bytes()))
      throw core::InvalidArgument("Transport#wrong_length",
                                  "expected {} bytes from rank {} for rank {}, got {}",
                                  message.elements.bytes(), message.peer, rank_, arrival.bytes);
    if (arrival.tag == 0) {
      copy(without_gaps(arrival.elements.data(), message.elements), message.elements);
      return true;
    }
    const MessageType type(message.elements);
    MPI_Irecv(message.elements.data, 1, type.get(), message.peer, arrival.tag, elements_,
              &open.requests.emplace_back());
    return true;
  }

  /// Gives up what has begun: elements may be freed afterwards. What MPI does not give back makes the end of
  /// the program an abort.
  void abandon() noexcept {
    for (auto& [_, open] : open_) {
      for (MPI_Request& request : open.requests) {
        if (request != MPI_REQUEST_NULL) MPI_Cancel(&request);
      }
      const auto end = Clock::now() + std::chrono::milliseconds(200);
      bool over = are_over(open);
      while (!over && Clock::now() < end) over = are_over(open);
      if (over) continue;
      core::abort_after_failure();
      left_.push_back(std::move(open.envelopes));
    }
    open_.clear();
  }

  [[nodiscard]] std::string state_of(Ticket ticket) const {
    const auto found = open_.find(ticket);
    const int peer = found == open_.end()             ? rank_
                     : found->second.receives.empty() ? found->second.waits_for
                                                      : found->second.receives.front().peer;
    return fmt::format("waits for rank {} since {:.3g} s", peer, waiting_s_);
  }

  int rank_, size_;
  MpiWorldOptions options_;
  MPI_Comm envelopes_ = MPI_COMM_NULL, elements_ = MPI_COMM_NULL;
  std::vector<int> next_tags_;  ///< per rank, of the last message
  MpiControl control_;
  std::map<Ticket, Open> open_;
  Ticket n_started_ = 0;
  std::map<std::pair<int, std::uint64_t>, std::deque<Arrival>> arrivals_;  // of a rank, by number
  std::deque<std::deque<std::vector<std::byte>>> left_;                    ///< MPI may still read them
  double waiting_s_ = 0.0;
};

}  // namespace

World mpi_world(MPI_Comm comm, const MpiWorldOptions& options) {
  if (!(options.patience_s > 0.0 && options.answer_s > 0.0))
    throw core::InvalidArgument("mpi_world#no_patience", "expected times above 0 s, got {:g} and {:g} s",
                                options.patience_s, options.answer_s);
  return std::make_shared<MpiTransport>(comm, options);
}

void with_mpi_world(MPI_Comm comm, const std::function<void(const World&)>& f,
                    const MpiWorldOptions& options) {
  const World world = mpi_world(comm, options);
  try {
    f(world);
    std::vector<int> all(static_cast<std::size_t>(world->size()));
    std::iota(all.begin(), all.end(), 0);
    agree(*world, all, std::numeric_limits<std::uint64_t>::max(), "the end of the world", "");
  } catch (...) {
    Failure failure = failure_of(std::current_exception());
    failure.text = core::of_rank(world->rank(), world->size(), failure.text);
    world->fail(failure);  // of one that another rank has told it says nothing
    throw;
  }
}

}  // namespace lodestone::engine
