// Ideas that must not mix do not mix: checked when this file is compiled.
#include <gtest/gtest.h>

#include <concepts>
#include <type_traits>

#include "rules/ownership.h"

namespace tenure {
namespace {

template <class A, class B>
concept Assignable = requires(A a, B b) { a = b; };
template <class A, class B>
concept Subtractable = requires(A a, B b) { a - b; };
template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };
template <class A, class B>
concept Comparable = requires(A a, B b) { a < b; };
template <class A, class B>
concept EqualityComparable = requires(A a, B b) { a == b; };

template <class A, class B>
constexpr bool apart() {
  return !std::is_convertible_v<A, B> && !std::is_convertible_v<B, A> && !Assignable<A&, B> && !Assignable<B&, A> &&
         !Subtractable<A, B> && !Comparable<A, B> && !EqualityComparable<A, B>;
}

template <class A>
constexpr bool apart_from_numbers() {
  return apart<A, int>() && apart<A, std::uint64_t>() && apart<A, std::int64_t>() && apart<A, double>();
}

// The checks can fail: they accept what does mix.
static_assert(!apart<int, long>());
static_assert(!apart<MonotonicTime, MonotonicTime>());
static_assert(Subtractable<MonotonicTime, MonotonicTime> && Addable<MonotonicTime, Duration>);
static_assert(Comparable<Epoch, Epoch>);

static_assert(apart<MonotonicTime, BootTime>());
static_assert(apart<MonotonicTime, WallTime>());
static_assert(apart<BootTime, WallTime>());
static_assert(apart_from_numbers<MonotonicTime>() && apart_from_numbers<BootTime>() && apart_from_numbers<WallTime>());
static_assert(!Addable<MonotonicTime, MonotonicTime> && !Addable<WallTime, BootTime>);
// An instant is no span: "now" cannot stand where "how long" is asked. (An instant less a span is an instant.)
static_assert(!std::is_convertible_v<MonotonicTime, Duration> && !std::is_convertible_v<BootTime, Duration> &&
              !std::is_convertible_v<WallTime, Duration>);
static_assert(!Comparable<MonotonicTime, Duration> && !Comparable<WallTime, Duration>);

static_assert(apart_from_numbers<Epoch>());
static_assert(apart<Epoch, MonotonicTime>() && apart<Epoch, BootTime>() && apart<Epoch, WallTime>());
static_assert(apart<Epoch, Duration>() && apart<Epoch, ClaimId>());
static_assert(!Addable<Epoch, int> && !Addable<Epoch, Epoch>);
static_assert(std::constructible_from<Epoch, std::uint64_t>);

// A bare number is no span either: its unit would be guessed.
static_assert(!std::is_convertible_v<int, Duration> && !std::is_convertible_v<std::int64_t, Duration>);
// The answers are no numbers and no booleans.
static_assert(!std::is_convertible_v<Liveness, bool> && !std::is_convertible_v<rules::Expiry, int>);
static_assert(!std::is_convertible_v<rules::ClaimVerdict, bool>);

TEST(Types, an_epoch_orders_only_with_epochs) {
  EXPECT_LT(Epoch{1}, Epoch{2});
  EXPECT_TRUE(Epoch{}.none());
  EXPECT_TRUE(Epoch{Epoch::kLimit - 1}.credible());
  EXPECT_FALSE(Epoch{Epoch::kLimit}.credible());
}

}  // namespace
}  // namespace tenure
