// What pi and OpenClaw share. OpenClaw writes its transcripts with pi's session manager.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "transcript/model/agent.h"

namespace bough::transcript {

/// `customType` of a line that only says where the session continues.
inline constexpr std::string_view kHeadType = "bough.head";

bool isPiRecord(std::string_view object);
bool isPiHeader(std::string_view object);
std::string piMismatch(const Sample& sample);
std::unique_ptr<Reader> makePiReader(std::string_view agent);

}  // namespace bough::transcript
