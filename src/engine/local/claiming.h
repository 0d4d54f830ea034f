// Claiming: one claim, from its first look at the key to a grant or a refusal. claim.cc has what it does with a key,
// waiting.cc how it waits for one, reclaim.cc what it does with a key that is its own already, handing.cc how it adopts
// one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/local/local_engine.h"
#include "engine/local/slots.h"

namespace tenure::local {

// A sleep in line ends after so long at the latest, and is doubled with the place in line.
inline constexpr Duration kFirstBound = std::chrono::milliseconds(250);
inline constexpr std::uint32_t kDoublings = 7;
inline constexpr std::size_t kWatchedTogether = 60;  // of those who hold a key together; the kernel takes 128 in all

class Claiming {
 public:
  // `wait`: nullptr for one try.
  Claiming(LocalEngine& engine, const ClaimRequest& request, const Wait* wait);
  ~Claiming();
  Claiming(const Claiming&) = delete;
  Claiming& operator=(const Claiming&) = delete;

  Result<Grant> run();

 private:
  // For an adoption, in handing.cc.
  friend class LocalEngine;
  Result<bool> adopt(const HoldingView& offered);

  // What one look inside the section came to.
  enum class Look : std::uint8_t {
    granted,
    another_has_it,
    no_epoch,      // the durable ceiling must be raised first
    other_number,  // others hold it as another number of slots
    superseded,    // another claim with the same ticket has our place
    again,         // something changed under our hands
  };

  Result<void> prepare();
  Result<Look> look();
  Look look_at(CellIndex slot, Wakes& wakes);
  Result<void> take_spare();
  void get_ready_to_wait() const;
  // Into the line of the slot, with the spare node. Inside the section.
  Result<void> stand(CellIndex slot);
  Result<void> enter();
  Look take_free(Section& section);
  Look take_offered(CellIndex slot);
  bool may_take_beside(const Cell& slot, const Kept& kept) const;
  bool may_accept(const Cell& slot) const;
  void give_up_at_last() const;
  bool may_change(const Cell& slot, const HoldingView& own) const;
  void hold(CellIndex slot, Epoch epoch, std::uint32_t number);
  std::uint32_t give_up(Cell& slot, CellIndex own);
  void see_holder(const Cell& slot);
  void see_due(const Cell& lease);
  void see_those_together(const Cell& slot);
  void see_line();
  void accept(CellIndex slot, Wakes& wakes);
  bool is_our_node(CellIndex slot) const;
  void record_grant() const;
  Result<bool> act_on_facts(const SlotView& seen);
  Result<bool> reclaim(const SlotView& seen);
  const HoldingView* own_of(const SlotView& seen) const;
  Observation observe_over(const SlotView& seen, const Facts::Over& over) const;
  // Whether another in line waits, as we would, for those to go who hold the key with it.
  bool another_gives_up(const Cell& slot) const;
  bool find_ticket(Cell& slot, Wakes& wakes);
  void forget_place();

  Error refusal(const SlotView& seen);
  Error other_number();
  Result<bool> clear_other_number();
  // From the moment that we stand in line.
  void tell(const SlotView& seen);
  bool needs_judging() const;
  // Sleeps until something may have changed. Code::timed_out, Code::cancelled.
  Result<void> sleep();
  std::optional<env::Watched> watch(MemberId member) const;
  void relay_death(MemberId member) const;
  bool one_is_dying() const;
  template <std::size_t Others>
  bool sleep_watching(Duration at_most) const;
  bool sleep_for_death(Duration at_most);
  std::optional<Error> over(MonotonicTime now) const;
  Duration bound_of_place() const;
  // Of a sleep that begins now.
  Duration longest_sleep(MonotonicTime now) const;
  // Writes down when we look again at the latest. Inside the section.
  void say_until_when(Cell& node) const;
  // Out of the line, or absent with a ticket. True: it was granted in the last moment after all.
  // `held_up`: the section is not waited for again.
  bool leave(bool held_up);
  // Of the section, for one look.
  Bound bound() const;
  bool outlasts(const Error& error);
  Grant grant();
  Now read_clocks() const;

  Core& core_;
  LocalEngine& engine_;
  const ClaimRequest& request_;
  const Wait* wait_;
  const Wanted wanted_;
  const std::uint32_t bucket_;
  const MonotonicTime begun_;

  Claim claim_;
  std::string text_;
  std::unique_ptr<env::PassedByte> passed_;
  CellIndex rest_ = 0;        // the rest of a long key, until a slot has it
  CellIndex cell_ = 0;        // for a new slot, until it is one
  CellIndex spare_node_ = 0;  // for a place in line, until it is one
  CellIndex holding_ = 0;     // for a lease together with others, until it is one
  CellIndex node_ = 0;        // our place in line
  Epoch epoch_;               // granted
  CellIndex slot_ = 0;        // granted: the cell of the lease
  std::uint32_t number_ = 0;  // granted: which of several slots
  Now now_;
  bool reclaimed_ = false;
  bool own_looked_for_ = false;
  struct {
    CellIndex holding = 0;
    Epoch epoch;
  } gives_up_;  // what the same process and part holds together with others, and gives up for this claim
  bool by_line_ = false;
  std::optional<Observation> displaced_;
  Spent spent_;

  // As of the last look, for sleeping.
  std::uint32_t node_value_ = 0;
  MemberId predecessor_;
  std::vector<MemberId> beside_;     // of the first in line: those who hold the key together
  std::optional<std::int64_t> due_;  // monotonic: when the holder's TTL, a guard or the grace of a ticket runs out
  std::uint32_t place_ = 0;
  std::uint32_t quiet_ = 0;  // sleeps to the bound in a row, as far as they count
  bool further_proofs_ = false;
  bool holder_is_ours_ = false;
  bool slept_to_the_bound_ = false;
  Duration death_poll_{0};
  int death_looks_ = 0;
  Epoch told_;
  bool told_of_hold_up_ = false;
};

}  // namespace tenure::local
