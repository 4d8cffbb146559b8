// Answers without any recorded usage.
#include "agent/loop_fixture.h"
#include "bough/catalog.h"

namespace bough::agent {
namespace {

TEST_F(LoopTest, WhatAnAnswerUsedIsUnknownWhenItsStreamEndsBeforeThat) {
  LoopbackServer server([&](const HttpIn&, Reply& reply) {
    const std::string stream = streamOf(Dialect::OpenaiChat, {"", "Here it is.", {}}, 1);
    reply.stream(stream.substr(0, stream.rfind("data: {")));
  });
  provider_ = makeHttpProvider(loopbackEndpoint(server, Dialect::OpenaiChat), {}, {.attempts = 1});
  const auto report = runTurn(agent(), here(), "hello");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->text, "Here it is.");
  EXPECT_EQ(report->totals.withoutUsage, 1U);
  EXPECT_EQ(json::findMember(entries()[entries().size() - 2].meta, "usage"), "null");
  EXPECT_EQ(json::findUnsigned(entries().back().payload, "withoutUsage"), 1U);
  auto catalog = Catalog::open(*store_, {.inMemory = true});
  ASSERT_TRUE(catalog.has_value() && (*catalog)->catchUp().has_value());
  for (const UsageBy by : {UsageBy::Day, UsageBy::Session}) {
    const auto usage = (*catalog)->usage({.by = by});
    ASSERT_TRUE(usage.has_value());
    EXPECT_EQ(usage->total.messages, 1U);
    EXPECT_EQ(usage->total.withoutUsage, 1U);
    EXPECT_FALSE(usage->total.costKnown);
  }
}

}  // namespace
}  // namespace bough::agent
