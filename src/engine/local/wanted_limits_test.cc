#include "engine/local/wanted_limits.h"

#include <gtest/gtest.h>

#include <bit>

namespace tenure::local {
namespace {

TEST(WantedLimits, ComeBackAsTheyWere) {
  for (const WantedLimits& wanted : {WantedLimits{}, WantedLimits{.cells = 64}, WantedLimits{.members = kMaxMembers},
                                     WantedLimits{.cells = cells_for(kMostKeys), .members = 1}}) {
    const auto read = decode_limits(encode(wanted));
    ASSERT_TRUE(read) << encode(wanted);
    EXPECT_EQ(*read, wanted);
  }
}

TEST(WantedLimits, WhatCannotBeUnderstoodIsRefused) {
  for (const char* text :
       {"", "\n", "tenure limits 2\n", "cells 5\n", "tenure limits 1\ncells 0\n", "tenure limits 1\ncells x\n",
        "tenure limits 1\ncells 5\ncells 5\n", "tenure limits 1\nmembers 16383\n", "tenure limits 1\nx\n",
        "tenure limits 1\ncells 4294967296\n", "tenure limits 1\ncells 5 \n", "tenure limits 1\n\n"}) {
    EXPECT_EQ(decode_limits(text) ? Code::internal : decode_limits(text).error().code, Code::damaged) << text;
  }
}

TEST(WantedLimits, ATableIsMadeForThem) {
  const Limits usual;
  EXPECT_EQ(fulfil({}, usual).cells, usual.cells);
  for (const std::uint32_t keys : {1U, 64U, 65U, 1'000'000U, kMostKeys}) {
    const Limits limits = fulfil({.cells = cells_for(keys), .members = 3}, usual);
    EXPECT_GE(limits.cells, keys);
    EXPECT_LE(limits.first_cells, limits.cells);
    EXPECT_TRUE(std::has_single_bit(limits.buckets));
    EXPECT_EQ(limits.members, 3U);
    EXPECT_EQ(limits.events, usual.events);
  }
}

}  // namespace
}  // namespace tenure::local
